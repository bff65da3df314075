'''Parameter studies: one function over a grid of parameters, on this machine or on a cluster.

    # study.py
    import minidem as md
    from minidem.ensemble import run_ensemble

    def energy_error(rotation, dt, seed):               # one run: parameters -> numbers
        sim = ...
        sim.run_until(1.0)
        return {"error": ..., "steps": sim.step_count}

    if __name__ == "__main__":
        rows = run_ensemble(energy_error, folder="results/study", grid={
            "rotation": ["spiral", "omelyan"], "dt": [1e-5, 2e-5], "seed": range(50)})

Without further arguments a process per core of this machine, each run with one thread; with
scheduler="tcp://host:8786" the workers of a dask.distributed cluster. Every finished run is one small file:
however a study ends, the same call goes on with the runs that are missing.

Downwards: study.py (what to run, progress) -> local.py and cluster.py (where) -> worker.py, which keeps a
subprocess, child.py, that makes one run after the other. reference.py says which function, grid.py with which
parameters, store.py keeps the outcome.
'''

from minidem.ensemble.study import run_ensemble

__all__ = ["run_ensemble"]
