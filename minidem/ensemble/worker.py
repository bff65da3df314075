"""Processes that make the runs of a study, one for each run, on this machine and on the workers of a dask cluster.

Such a process reads its task from a file and writes its record to another. Its standard input is a pipe that the study
holds open. When it closes, the process kills itself and the processes that it has started. A reference,
"module:function" or "path/script.py:function", names a function to import.
"""
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
from operator import attrgetter
from pathlib import Path

import numpy as np

from minidem.contact import registry as contact_laws
from minidem.core.checks import short_repr
from minidem.ensemble.own_code import absolute, import_own
from minidem.rotation import registry as rotation_schemes

ATTEMPTS = 2            # of a run whose process dies, which may have been killed by chance
CONNECT = 10            # timeout for reaching a scheduler [s]
OWN_COLUMNS = ("run_seconds", "error")
PROGRAM = "from minidem.ensemble.worker import main; main()"
REGISTERED = "minidem.ensemble.worker:registered"


def reference_to(function):
    """The reference of a function, or one given as text; ValueError for what another process cannot import."""
    if isinstance(function, str):
        where, colon, name = function.rpartition(":")
        if not colon:
            raise ValueError(f"function = {function!r}: give 'module:function' or 'script.py:function'")
        return f"{absolute(where)}:{name}"
    name, module = getattr(function, "__name__", ""), sys.modules.get(getattr(function, "__module__", ""))
    if getattr(module, name, None) is function:
        if module.__spec__:                             # that of python -m package.study has the name of the module
            return f"{module.__spec__.name}:{name}"
        if Path(getattr(module, "__file__", "")).is_file():
            return f"{Path(module.__file__).absolute()}:{name}"
    raise ValueError(f"function = {function!r}: other processes import it by its name; give a function that is defined "
                     "at the top level of a module or script, not in a session, or the name that it has there, "
                     "'module:function' or 'script.py:function'")


def load(reference):
    """Import a function; ValueError if it fails."""
    where, _, name = reference.rpartition(":")
    module = import_own(where, f"function = {reference!r}")
    try:
        return attrgetter(name)(module)
    except AttributeError as error:
        raise ValueError(f"function = {reference!r}: cannot be imported (AttributeError: {error})") from error


def own_names():
    """Names of the rotation schemes and contact laws that users have registered in this process."""
    return rotation_schemes.own_names() | contact_laws.own_names()


def registered(reference):
    """A run that returns the `own_names` of a process that has imported a function."""
    load(reference)
    return {"names": " ".join(sorted(own_names()))}


def plain(name, value):
    """`value` as a Python number, text, True, False or None; ValueError for what no table can hold."""
    value = value.item() if isinstance(value, np.generic) else value
    if not (value is None or isinstance(value, (bool, int, float, str))):
        raise ValueError(f"{name} = {value!r}: give a number, text, True, False or None, which a table can hold")
    str(value)                                          # ValueError for an integer of too many digits
    return value


def make(reference, parameters, threads, timeout, imports=(), alive=subprocess.PIPE):
    """The record of a run, failed if its process dies twice or exceeds the timeout [s].

    imports : modules and scripts that the process imports first;  alive : its standard input
    """
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONUNBUFFERED": "1",
                   "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    with tempfile.TemporaryDirectory() as folder:
        task, record, output = (Path(folder, name) for name in ("task", "record", "output"))
        task.write_text(json.dumps([reference, parameters, list(imports)]))
        for _ in range(ATTEMPTS):
            with open(output, "wb") as printed, subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, folder], env=environment, stdin=alive, stdout=printed,
                    stderr=printed, start_new_session=True) as process:         # which Ctrl-C does not reach
                try:
                    status = process.wait(timeout)
                    how = (f"ended with status {status}" if status >= 0 else
                           f"was killed by signal {-status} ({signal.strsignal(-status)})")
                    reason = f"the process of the run {how}, {ATTEMPTS} times"
                except subprocess.TimeoutExpired:
                    reason = f"the run was ended after timeout = {timeout:g} s"
                    break
                finally:
                    with suppress(ProcessLookupError, PermissionError):     # ended already; macOS denies it then
                        os.killpg(process.pid, signal.SIGKILL)              # and the processes that it has started
            with suppress(FileNotFoundError, ValueError):                   # it has died, also while writing
                return json.loads(record.read_text())
        return {"result": {}, "seconds": None, "error": reason, "traceback": output.read_text(errors="replace")[-4000:]}


@contextmanager
def local(workers, *how):
    """Yield submit(reference, parameters) -> Future of a record, made here; how : threads, timeout, imports."""
    executor, (alive, end) = ThreadPoolExecutor(workers), os.pipe()
    with open(alive, "rb") as alive, open(end, "wb"):       # its end is the end of all processes, and no other begins
        try:
            yield lambda *task: executor.submit(make, *task, *how, alive)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


@contextmanager
def cluster(scheduler, *how):
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
    with client:                                        # whose end cancels runs that have not started
        executor = client.get_executor(pure=False)
        yield lambda *task: executor.submit(make, *task, *how)


@contextmanager
def given_to(executor, *how):
    """The same by an executor of the user; runs that have not started in the end are cancelled."""
    futures = []

    def submit(*task):
        futures.append(executor.submit(make, *task, *how))
        return futures[-1]

    try:
        yield submit
    finally:
        for future in futures:
            with suppress(NotImplementedError):         # of Parsl
                future.cancel()


def perform(reference, parameters, imports=()):
    """Make a run in this process; returns its record, in types of JSON that a table can hold."""
    start, error, trace = time.perf_counter(), None, None
    try:
        for name in imports:
            import_own(name, f"imports: {name}")
        result = load(reference)(**parameters)
        if not isinstance(result, dict):
            raise ValueError(f"the function returned {short_repr(result)}; return a dictionary, name -> number or text")
        for name in result:
            if not isinstance(name, str) or name in parameters or name in OWN_COLUMNS:
                raise ValueError(f"the function returned a result {name!r}; take another name, the table has "
                                 f"columns {', '.join([*parameters, *OWN_COLUMNS])}")
        result = {name: plain(f"result {name!r}", value) for name, value in result.items()}
    except Exception as cause:
        result, error, trace = {}, " ".join(f"{type(cause).__name__}: {cause}".split()), traceback.format_exc()
    return {"result": result, "seconds": time.perf_counter() - start, "error": error, "traceback": trace}


def main():
    """Make the run of the task in a folder, which is the argument."""
    folder, alive, own = Path(sys.argv[1]), os.dup(0), os.getpid()
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)

    def end_with_study():
        os.read(alive, 1)                               # nothing comes before the end
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end_with_study, daemon=True).start()
    record = perform(*json.loads((folder / "task").read_text()))
    if os.getpid() == own:                              # else a process that the function has forked
        (folder / "record").write_text(json.dumps(record))
