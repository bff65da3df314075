"""One function over a grid of parameters: what is missing is run, what is there is kept."""

import os
import time
from contextlib import closing

from minidem.core.checks import positive, whole
from minidem.ensemble import cluster, local
from minidem.ensemble.grid import combinations
from minidem.ensemble.reference import importing, reference_to, short
from minidem.ensemble.store import Store, row
from minidem.scenario.progress import Line, duration

WAIT = 0.2              # seconds after which progress may be told though nothing has ended
TABLE_SECONDS = 20.0    # between tables on the way


def run_ensemble(function, grid, folder, workers=None, threads=1, scheduler=None, progress=True, cost=None,
                 timeout=None):
    """Call function(**parameters) for every combination of the grid's values; returns the rows of the table.

    Parameters
    ----------
    function : callable or str
        Takes the parameters by name, returns a dictionary of numbers and text. Of the top level of a module
        or script, since workers import it (so keep the call of run_ensemble itself under
        `if __name__ == "__main__"`); or its name, "module:function" or "path/script.py:function".
    grid : dict
        Parameter -> list of its values: numbers, text, True, False, None.
    folder : path
        For runs/*.json, a file per run, and table.csv. Runs that are there already, from a call that was
        interrupted or had a smaller grid, are not made again, except those that failed.
    workers : int, optional
        Runs at a time on this machine; default: one per processor.
    threads : int
        OpenMP threads of each run.
    scheduler : str, optional
        Address of a dask.distributed scheduler, "tcp://host:8786": run on its workers instead.
    progress : bool
        Say on standard error how many runs are done, and the time left.
    cost : callable, optional
        Of the parameters (a dictionary) -> the time of that run in any unit. Expensive runs are then begun
        first, and the time left is estimated with it.
    timeout : float, optional
        Seconds that a run may take, the start of its process (about one) included; one that takes longer is
        ended. Default: no limit.

    Returns
    -------
    list of dict
        In the order of the grid, its last parameter varying fastest: parameters, results, run_seconds (wall
        time; None where the process died or was ended), error (None, or why there is no result). The same in table.csv.

    Each run is made in a subprocess, in which standard input is empty and what is printed is kept for the record of
    a process that dies. A run that raises, that takes longer than `timeout`, or whose process dies twice, is a row
    with its error; the others go on. Ctrl-C (KeyboardInterrupt) ends the runs under way, and what is finished stays.

    Raises ValueError for arguments that make no sense, before any run; RuntimeError when it is called by the import
    of the function, for want of `if __name__ == "__main__"`.
    """
    if importing():
        raise RuntimeError("run_ensemble is called while its function is imported for a run; put the call under "
                           "if __name__ == '__main__':")
    runs = combinations(grid)
    if scheduler is not None and workers is not None:
        raise ValueError(f"workers = {workers} and scheduler = {scheduler!r}: the cluster has its own number "
                         "of workers; give one of the two")
    workers = local.cores() if workers is None else whole("workers", workers, 1)
    threads = whole("threads", threads, 1)
    timeout = None if timeout is None else positive("timeout", timeout)
    if not os.fspath(folder):
        raise ValueError("folder = '': give a folder, '.' for the present one")
    reference = reference_to(function)
    store = Store(folder, short(reference))
    found = [store.load(parameters) for parameters in runs]
    missing = [k for k, record in enumerate(found) if record is None or record["error"] is not None]
    costs = {k: float(cost(runs[k])) if cost else 1.0 for k in missing}
    missing.sort(key=lambda k: -costs[k])
    wanted = [runs[k] for k in missing]
    if scheduler is None:
        ended = local.records(reference, wanted, workers, threads, timeout, WAIT)
    else:
        ended = cluster.records(reference, wanted, scheduler, threads, timeout, WAIT)
    line, clock = _Progress(len(runs), costs, quiet=not progress), time.perf_counter()
    try:
        with closing(ended):
            for outcome in ended:
                if outcome is not None:
                    k = missing[outcome[0]]
                    found[k] = outcome[1]
                    store.save(runs[k], found[k])
                    line.count(k, found[k]["error"])
                line.update()
                if time.perf_counter() - clock > TABLE_SECONDS:
                    store.write_table(_rows(runs, found))
                    clock = time.perf_counter()
    except BaseException:                               # Ctrl-C amid a save, perhaps: what is kept is what counts
        found = [store.load(parameters) for parameters in runs]
        raise
    finally:
        line.close()
        store.write_table(_rows(runs, found))
    return _rows(runs, found)


def _rows(runs, found):
    return [row(parameters, record) for parameters, record in zip(runs, found) if record is not None]


class _Progress(Line):
    """How many of `total` runs are done. costs: of those that are still to be made."""

    def __init__(self, total, costs, quiet):
        super().__init__(quiet)
        self.total, self.costs = total, dict(costs)
        self.whole = sum(costs.values())
        self.failed = 0

    def count(self, k, error):
        self.costs.pop(k)
        self.failed += error is not None

    def update(self):
        if not self.is_due():
            return
        left = sum(self.costs.values())
        text = f"{self.total - len(self.costs)} of {self.total} runs"
        if self.failed:
            text += f", {self.failed} failed"
        if left < self.whole:
            text += f", {duration((self.last - self.start) * left / (self.whole - left))} left"
        self.show(text)
