"""Processes that make the runs of a study, one for each run, on this machine and on the workers of a dask cluster.

Such a process reads its task from a file and writes its record to another. When its standard input is closed, since the
study has ended or was killed, it kills itself and the processes that it has started. A reference,
"module:function" or "path/script.py:function", names a function to import.
"""
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from minidem.core.checks import short_repr

ATTEMPTS = 2            # of a run whose process dies, which may have been killed by chance
CONNECT = 10            # timeout for reaching a scheduler [s]
OWN_COLUMNS = ("run_seconds", "error")
PROGRAM = "from minidem.ensemble.worker import main; main()"
loading: list = []      # references being imported


def reference_to(function):
    """The reference of a function; one that is given as text is checked.

    ValueError for a function that another process cannot import (a local function, a notebook), or an invalid text.
    """
    if isinstance(function, str):
        where, colon, name = function.rpartition(":")
        if not colon:
            raise ValueError(f"function = {function!r}: give 'module:function' or 'script.py:function'")
        function = f"{Path(where).absolute()}:{name}" if where.endswith(".py") else function
        load(function)
        return function
    name, where = (getattr(function, attribute, "") for attribute in ("__name__", "__module__"))
    module = sys.modules.get(where)
    if getattr(module, name, None) is not function:
        raise ValueError(f"function = {function!r}: workers import it by its name; give a function that is defined at "
                         "the top level of a module or script, or the name that it has there, 'module:function' or "
                         "'script.py:function'")
    if where != "__main__" or module.__spec__:          # python -m package.study, with relative imports
        return f"{where if where != '__main__' else module.__spec__.name}:{name}"
    script = getattr(module, "__file__", None)
    if script is None or not Path(script).is_file():
        raise ValueError(f"function = {function!r}: workers cannot import it from {script or 'a session'}; put it "
                         "into a file of its own")
    return f"{Path(script).absolute()}:{name}"


def load(reference):
    """Import a function; ValueError if it fails. A script can import from its folder, as when it is run."""
    where, _, name = reference.rpartition(":")
    loading.append(reference)
    try:
        if where.endswith(".py"):
            sys.path.insert(0, str(Path(where).parent))
            spec = importlib.util.spec_from_file_location(f"_ensemble_{Path(where).stem}", where)
            module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(where)
        function = getattr(module, name)
    except (Exception, SystemExit) as error:            # any, raised by the code of the module
        raise ValueError(f"function = {reference!r}: cannot be imported ({type(error).__name__}: {error})") from error
    finally:
        loading.pop()
    if not callable(function):
        raise ValueError(f"function = {reference!r}: is {function!r}; name a function")
    return function


def plain(name, value):
    """`value` as a Python number, text, True, False or None; ValueError for what no table can hold."""
    value = value.item() if isinstance(value, np.generic) else value
    if not (value is None or isinstance(value, (bool, int, float, str))):
        raise ValueError(f"{name} = {value!r}: give a number, text, True, False or None, which a table can hold")
    if str(value) != readable(str(value)):              # a ValueError by itself if an integer has too many digits
        raise ValueError(f"{name} = {value!r}: a text with a lone surrogate, which no file can hold; give Unicode")
    return value


def readable(text):
    """The text with lone surrogates, which UTF-8 cannot encode, as backslash escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def failure(error, trace="", seconds=None):
    """The record of a run without a result; error : an exception, or the reason in words."""
    words = error if isinstance(error, str) else " ".join(f"{type(error).__name__}: {error}".split())
    return {"result": {}, "seconds": seconds, "error": readable(words), "traceback": readable(trace)}


class Runs:
    """Makes runs, each in a process of its own with `threads` OpenMP threads, until it is stopped."""

    def __init__(self, threads, timeout):
        self.threads, self.timeout = threads, timeout
        self._processes, self._stopped = set(), False

    def make(self, reference, parameters):
        """The record of a run. It has failed if its process dies twice, or takes longer than the timeout."""
        end = None if self.timeout is None else time.monotonic() + self.timeout
        with tempfile.TemporaryDirectory() as folder:
            task, record, output = (Path(folder, name) for name in ("task", "record", "output"))
            task.write_text(json.dumps([reference, parameters]))
            for _ in range(ATTEMPTS):
                try:
                    status = self._run(folder, None if end is None else max(0.0, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    reason = f"the run was ended after timeout = {self.timeout:g} s"
                    break
                with suppress(FileNotFoundError, ValueError):           # it has died, also while writing
                    return json.loads(record.read_text())
                reason = f"the process of the run {_how_it_ended(status)}, {ATTEMPTS} times"
            return failure(reason, output.read_text(errors="replace")[-4000:])

    def _run(self, folder, timeout):
        """Exit status of a process for the task in a folder."""
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads), "PYTHONUNBUFFERED": "1",
                       "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        with open(Path(folder, "output"), "wb") as output:      # in a new session, which Ctrl-C does not reach
            process = subprocess.Popen([sys.executable, "-c", PROGRAM, folder], env=environment, stdin=subprocess.PIPE,
                                       stdout=output, stderr=output, start_new_session=True)
        self._processes.add(process)
        try:
            if self._stopped:
                raise InterruptedError
            return process.wait(timeout)
        finally:
            self._processes.discard(process)
            _kill(process)

    def stop(self):
        """Kill all processes, and start no other."""
        self._stopped = True
        for process in list(self._processes):
            _kill(process)


def _kill(process):
    """Kill a process and those that it has started."""
    with suppress(ProcessLookupError, PermissionError):     # ended already; macOS denies it then
        os.killpg(process.pid, signal.SIGKILL)
    process.stdin.close()
    process.wait()


def _how_it_ended(status):
    names = {-each.value: f"was killed by {each.name}" for each in signal.Signals}          # but for real-time signals
    return names.get(status, f"ended with status {status}" if status >= 0 else f"was killed by signal {-status}")


@contextmanager
def local(workers, threads, timeout):
    """Yield submit(reference, parameters) -> Future of a record, made on this machine."""
    runs, executor = Runs(threads, timeout), ThreadPoolExecutor(workers)
    try:
        yield lambda *task: executor.submit(runs.make, *task)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        runs.stop()


@contextmanager
def cluster(scheduler, threads, timeout):
    """The same on the dask.distributed cluster (extra `cluster`) at this address; ValueError if it is not reached."""
    try:
        import distributed
        client = distributed.Client(scheduler, set_as_default=False, timeout=CONNECT)
    except ModuleNotFoundError:
        raise ValueError("scheduler: a cluster needs the package dask.distributed; "
                         "pip install -e '.[cluster]' in minidem's folder") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"scheduler = {scheduler!r}: cannot be reached ({error}); start one with "
                         "'dask scheduler', workers with 'dask worker ADDRESS'") from None
    try:
        yield lambda *task: client.submit(Runs(threads, timeout).make, *task, pure=False)
    finally:
        client.close()                                  # runs that have not started are cancelled


def perform(reference, parameters):
    """Make a run in this process; returns its record, in types of JSON that a table can hold."""
    start, own = time.perf_counter(), os.getpid()
    try:
        result = load(reference)(**parameters)
        if not isinstance(result, dict):
            raise ValueError(f"the function returned {short_repr(result)}; return a dictionary, name -> number or text")
        for name in result:
            if not isinstance(name, str) or name != readable(name) or name in parameters or name in OWN_COLUMNS:
                raise ValueError(f"the function returned a result {name!r}; take another name, the table has "
                                 f"columns {', '.join([*parameters, *OWN_COLUMNS])}")
        result = {name: plain(f"result {name!r}", value) for name, value in result.items()}
    except (Exception, SystemExit) as error:
        if os.getpid() != own:                          # a process that the function has forked ends here
            raise
        return failure(error, traceback.format_exc(), time.perf_counter() - start)
    if os.getpid() != own:
        sys.exit()
    return {"result": result, "seconds": time.perf_counter() - start, "error": None, "traceback": None}


def main():
    """Make the run of the task in a folder, which is the argument."""
    folder, alive = Path(sys.argv[1]), os.dup(0)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)

    def end_with_study():
        os.read(alive, 1)                               # nothing comes before the end
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end_with_study, daemon=True).start()
    (folder / "record").write_text(json.dumps(perform(*json.loads((folder / "task").read_text()))))
