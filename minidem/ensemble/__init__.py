'''Parameter studies: one function over a grid of parameters, on this machine or on a cluster::

    import numpy as np
    import minidem as md
    from minidem.ensemble import run_ensemble

    def energy_change(rotation, dt, seed):
        rng = np.random.default_rng(seed)
        rod = md.ClumpTemplate([(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], [0.03] * 3, density=2500.0)
        sim = md.Simulation(md.Material(young=1e9, poisson=0.1), md.box((0, 0, 0), (1, 1, 1)), rotation, dt=dt)
        sim.add_clumps(rod, [(0.3, 0.5, 0.5), (0.7, 0.5, 0.5)], velocity=rng.normal(size=(2, 3)))
        start = sim.energy().total
        sim.run_until(1.0)
        return {"relative": sim.energy().total / start - 1, "steps": sim.step_count}

    if __name__ == "__main__":
        rows = run_ensemble(energy_change, folder="results/study", grid={
            "rotation": ["spiral", "omelyan"], "dt": [1e-5, 2e-5], "seed": range(5)})
        print(max(abs(row["relative"]) for row in rows if row["error"] is None))

By default one process per core of this machine makes runs with one thread each; with scheduler="tcp://host:8786" the
workers of a dask.distributed cluster do. Every finished run is stored in a file: after any interruption the same call
continues with the missing runs.

Data flow: study.py (parameters of all runs, progress) -> workers.py or cluster.py (distribution) -> child.py (the
subprocess that makes the runs) -> store.py (records and table). reference.py names the function for other processes.
'''

from minidem.ensemble.study import run_ensemble

__all__ = ["run_ensemble"]
