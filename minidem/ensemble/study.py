"""Run one function over a grid of parameters; existing records are kept, missing runs are made."""
import hashlib
import itertools
import json
import math
import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Executor, as_completed
from pathlib import Path

from minidem.core.atomic import remove_leftovers, replace_text
from minidem.core.checks import check_call, flag, positive, short_repr, whole
from minidem.core.processors import available_processors
from minidem.core.progress import Line
from minidem.ensemble.own_code import NotRegistered, absolute, loading
from minidem.ensemble.worker import (
    OWN_COLUMNS,
    REGISTERED,
    cluster,
    given_to,
    load,
    local,
    make,
    own_names,
    plain,
    reference_to,
)
from minidem.output.table import write_table


def run_ensemble(function: Callable | str, grid: dict[str, Iterable], folder: Path | str, workers: int | None = None,
                 threads: int = 1, scheduler: str | None = None, progress: bool = True,
                 cost: Callable[[dict], float] | None = None, timeout: float | None = None,
                 imports: Iterable[str | Path] = (), executor: Executor | None = None,
                 part: tuple[int, int] | None = None) -> list[dict]:
    """Call ``function(**parameters)`` for every combination of the values of a grid.

    Each run is made in a process of its own, with an empty standard input. A run that raises, exceeds `timeout`, or
    whose process dies twice gives a row with its error; the others continue. Ctrl-C ends the current runs.

    Parameters
    ----------
    function : callable or str
        Takes the parameters by name, returns a dictionary of numbers and text by other names. Other processes import
        it: give one that is defined at the top level of a module or script, with the call of run_ensemble under
        `if __name__ == "__main__"`, or its name there, "module:function" or "path/script.py:function".
    grid : dict
        Parameter -> list of its values: numbers, text, True, False, None. "error" and "run_seconds" are no parameters.
    folder : path
        For ``runs/*.json``, a file per run, and table.csv. Runs that are there, of an interrupted call or another grid
        of the same parameters, are not repeated unless they failed, and stay in the table.
    workers : int, optional
        Number of simultaneous runs on this machine; default: one per processor.
    threads : int
        OpenMP threads of each run.
    scheduler : str, optional
        Address of a dask.distributed scheduler, "tcp://host:8786", whose workers make the runs instead.
    executor : concurrent.futures.Executor, optional
        What makes the runs instead, such as one of mpi4py.futures, dask, executorlib or Parsl, on machines where
        minidem is installed and the function can be imported. It is not shut down.
    part : (int, int), optional
        (k, n): the k-th of n equal shares of the grid, 1 <= k <= n, for the jobs of an array, which share the folder.
    progress : bool
        Print on standard error how many runs have ended, the estimated time left, and the first error.
    cost : callable, optional
        Parameters (a dictionary) -> estimated duration of the run in any unit. Expensive runs start first.
    timeout : float, optional
        Maximum duration of a run [s], including the start of its process (about 1 s). Default: no limit.
    imports : list of str, optional
        Modules by their names, or scripts by their paths, that each run imports before the function: those that
        register rotation schemes and contact laws, unless the module of the function does so at its top level.

    Returns
    -------
    list of dict
        The runs that have ended, in the order of the grid, its last parameter varying fastest: parameters, results,
        run_seconds (wall time, or None), error (None, or the reason). table.csv has the same rows, and below them the
        rows of other grids.

    Raises
    ------
    ValueError
        For invalid arguments, a folder with runs of another function or of other parameters, or a scheme or law in the
        grid that this process has registered and the runs have not; before any run.
    RuntimeError
        If called while `function` is imported, for want of `if __name__ == "__main__"`.
    """
    if loading:
        raise RuntimeError("run_ensemble is called while its function is imported for a run; put the call under "
                           "if __name__ == '__main__':")
    runs = _combinations(grid)
    given = {"workers": workers, "scheduler": scheduler, "executor": executor}
    if len(places := [f"{name} = {place!r}" for name, place in given.items() if place is not None]) > 1:
        raise ValueError(f"{' and '.join(places)}: a cluster has workers of its own; give one of them")
    first, parts = _checked_part(part)
    workers = whole("workers", available_processors() if workers is None else workers, 1)
    threads, progress = whole("threads", threads, 1), flag("progress", progress)
    timeout = None if timeout is None else positive("timeout", timeout)
    if not os.fspath(folder):
        raise ValueError("folder = '': give a folder, '.' for the present one")
    if cost is not None:
        check_call("cost", cost, "parameters")
    reference = reference_to(function)
    check_call("function", load(reference) if isinstance(function, str) else function, keywords=runs[0])
    imports = [absolute(one) for one in imports]
    _check_registered(runs, reference, threads, imports)
    store = Store(folder, os.path.basename(reference), runs)        # a script has another folder on other machines
    costs = {k: float(cost(parameters)) if cost else 1.0 for k, parameters in enumerate(runs)
             if k % parts == first and (not store.records[k] or store.records[k]["error"])}
    left, failed, line, total = dict(costs), 0, Line(quiet=not progress), len(range(first, len(runs), parts))
    place, where = (cluster, scheduler) if scheduler is not None else (given_to, executor) if executor is not None \
        else (local, workers)
    if progress and costs:
        line.show(f"{total - len(left)} of {total} runs")
    try:
        with place(where, threads, timeout, imports) as submit:
            futures = {submit(reference, runs[k]): k for k in sorted(costs, key=lambda k: -costs[k])}
            for future in as_completed(futures):
                k, record = futures[future], future.result()
                store.save(k, record)
                del left[k]
                failed += record["error"] is not None
                if progress and record["error"] and failed == 1:
                    line.close()
                    print(f"the first run that failed, {runs[k]}: {record['error']}", file=sys.stderr, flush=True)
                line.update(f"{total - len(left)} of {total} runs" + (f", {failed} failed" if failed else ""),
                            1.0 - sum(left.values()) / sum(costs.values()))
    except CancelledError:
        raise ConnectionError("lost the scheduler; finished runs are kept, and the same call continues with the "
                              "others") from None
    finally:
        line.close()
        if parts > 1:                                   # with what other jobs have done meanwhile
            store = Store(folder, os.path.basename(reference), runs)
        rows = store.write_table()
    if progress:
        remedy = f": {store.table} has the reasons; the same call repeats them" if failed else ""
        print(f"{len(rows)} runs, {failed} failed{remedy}", file=sys.stderr, flush=True)
    return rows


def _checked_part(part):
    """Number of the first run of a part of a grid, and the distance of the next ones."""
    if part is None:
        return 0, 1
    if not (isinstance(part, tuple | list) and len(part) == 2):
        raise ValueError(f"part = {part!r}: give (k, n), the k-th of n parts, from 1 on")
    parts = whole("part[1]", part[1], 1)
    return whole("part[0]", part[0], 1, parts) - 1, parts


def _combinations(grid):
    """The parameters of all runs, a dictionary each; the last parameter varies fastest. ValueError if invalid."""
    values: dict = {}
    for name, given in grid.items():
        if not (isinstance(name, str) and name.isidentifier()) or name in OWN_COLUMNS:
            raise ValueError(f"grid: {name!r} is no name of a parameter; give a Python identifier other than "
                             f"{', '.join(OWN_COLUMNS)}, which are columns of each table")
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise ValueError(f"grid[{name!r}] = {given!r}: give a list of values, [{given!r}]")
        values[name] = [plain(f"grid[{name!r}][{k}]", value) for k, value in enumerate(given)]
        for k, value in enumerate(values[name]):
            if value in values[name][:k] or isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"grid[{name!r}][{k}] = {value!r}: give finite numbers, and each value once")
    if not values or not all(values.values()):
        raise ValueError(f"grid = {short_repr(grid)}: give at least one parameter, and at least one value of each")
    return [dict(zip(values, combination)) for combination in itertools.product(*values.values())]


def _check_registered(runs, reference, threads, imports):
    """ValueError if the process of a run fails to import, or does not know a scheme or law in its parameters."""
    named = {str(value).partition(":")[0]: (name, value) for parameters in runs for name, value in parameters.items()}
    here = own_names() & set(named)
    if not (here or imports):
        return
    record = make(REGISTERED, {"reference": reference}, threads, None, imports)
    if record["error"]:
        raise ValueError(record["error"].removeprefix("ValueError: "))
    for unknown in sorted(here - set(record["result"]["names"].split())):
        name, value = named[unknown]
        raise NotRegistered(f"grid[{name!r}]: {value!r} is registered in this process, and the processes of the runs "
                            "do not have it. Register it at the top level of the module of the function, or in a file, "
                            "and give imports=['file.py'], of scenarios and tools --import file.py")


class Store:
    """The folder of a study: a JSON file for each run of a function that has ended, and table.csv.

    Files are written atomically. A record holds its function, its parameters and a checksum: a damaged one counts as
    missing. ValueError if the folder has runs of another function, or with other parameters.
    """

    def __init__(self, folder, function, runs):
        self.function, self.parameters, self.table = function, runs, Path(folder, "table.csv")
        place = Path(folder, "runs")
        place.mkdir(parents=True, exist_ok=True)
        for path in (folder, place):
            remove_leftovers(path)
        there = {file: record for file in sorted(place.glob("*.json")) if (record := _record(file))}
        for record in there.values():
            if not record["error"] and (record["function"], set(record["parameters"])) != (function, set(runs[0])):
                raise ValueError(f"folder: {folder} holds runs of {record['function']} with "
                                 f"{', '.join(record['parameters'])}, not of {function} with {', '.join(runs[0])}; "
                                 "give another folder, or remove it")
        self.files = [place / f"{_checksum(parameters)[:20]}.json" for parameters in runs]
        self.records = [there.pop(file, None) for file in self.files]
        self.others = [_row(record) for record in there.values() if not record["error"]]        # of other grids

    def save(self, k, record):
        """Save the record of run k."""
        self.records[k] = record = {"function": self.function, "parameters": self.parameters[k], **record}
        replace_text(self.files[k], json.dumps({**record, "checksum": _checksum(record)}, indent=1) + "\n")

    def write_table(self):
        """Write table.csv, with missing results empty; returns the rows of the runs that have ended."""
        rows = [_row(record) for record in self.records if record]
        listed = rows + self.others
        names = [*dict.fromkeys(name for row in listed for name in row if name not in OWN_COLUMNS), *OWN_COLUMNS]
        write_table(self.table, names, [[row.get(name) for name in names] for row in listed])
        return rows


def _checksum(content):
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _record(file):
    """The record in a file, whose name depends on its parameters alone; None if it is damaged."""
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        valid = record.pop("checksum") == _checksum(record) and file.stem == _checksum(record["parameters"])[:20]
        return record if valid else None
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        return None


def _row(record):
    return {**record["parameters"], **record["result"], "run_seconds": record["seconds"], "error": record["error"]}
