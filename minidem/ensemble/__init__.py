'''Parameter studies: one function over a grid of parameters, on this machine or on a cluster. A script::

    import numpy as np
    import minidem as md
    from minidem.ensemble import run_ensemble

    def energy_change(rotation, dt, seed):               # one run: parameters -> numbers
        rng = np.random.default_rng(seed)
        rod = md.ClumpTemplate([(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], [0.03] * 3, density=2500.0)
        sim = md.Simulation(md.Material(young=1e9, poisson=0.1), md.box((0, 0, 0), (1, 1, 1)), rotation, dt)
        sim.add_clumps(rod, [(0.3, 0.5, 0.5), (0.7, 0.5, 0.5)], velocity=rng.normal(size=(2, 3)))
        start = sim.energy().total
        sim.run_until(1.0)
        return {"relative": sim.energy().total / start - 1, "steps": sim.step_count}

    if __name__ == "__main__":
        rows = run_ensemble(energy_change, folder="results/study", grid={
            "rotation": ["spiral", "omelyan"], "dt": [1e-5, 2e-5], "seed": range(5)})
        print(max(abs(row["relative"]) for row in rows if row["error"] is None))

Without further arguments a process per core of this machine, each run with one thread; with
scheduler="tcp://host:8786" the workers of a dask.distributed cluster. Every finished run is one small file:
however a study ends, the same call goes on with the runs that are missing.

Downwards: study.py (what to run, progress) -> local.py and cluster.py (where) -> worker.py, which keeps a
subprocess, child.py, that makes one run after the other. reference.py says which function, grid.py with which
parameters, store.py keeps the outcome.
'''

from minidem.ensemble.study import run_ensemble

__all__ = ["run_ensemble"]
