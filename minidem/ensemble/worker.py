"""Processes that make the runs of a study, on this machine and on the workers of a dask cluster.

Such a process takes tasks, (reference of a function, parameters), from a socket and returns records. Standard input is
empty, and what it prints is kept for the record of a run that kills it. When the socket is closed, the process group is
killed, within a run too. A reference, "module:function" or "path/script.py:function", names a function to import.
"""
import importlib.util
import math
import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from minidem.core.checks import short_repr

ATTEMPTS = 2            # of a run whose process dies, which may have been killed by chance
POLL = 1.0              # [s] between looks at a process that does not answer
CONNECT = 10            # timeout for reaching a scheduler [s]
OWN_COLUMNS = ("run_seconds", "error")
PROGRAM = "from minidem.ensemble.worker import main; main()"
loading: list = []      # references being imported
_of_thread = threading.local()


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


class Worker:
    """A process that makes one run after the other with `threads` OpenMP threads, replaced when it dies."""

    def __init__(self, threads=1):
        self.threads, self._process, self._stopped = threads, None, False
        self._output = tempfile.TemporaryFile()

    def run(self, function, parameters, timeout=None):
        """The record of a run. It has failed if its process dies, or takes longer than `timeout` [s] with its start."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        for _ in range(ATTEMPTS):
            if self._process is None and not self._stopped:
                self._process = self._start()
            if self._stopped:                           # perhaps meanwhile
                self.stop()
                raise InterruptedError
            self._output.seek(0)                        # the offset is shared with the process
            self._output.truncate()
            try:
                return self._attempt((function, parameters), deadline)
            except TimeoutError:
                self._discard()
                end = f"the run was ended after timeout = {timeout:g} s"
                break
            except (OSError, EOFError):
                end = f"the process of the run {self._discard()}, {ATTEMPTS} times"
        self._output.seek(0)
        return failure(end, self._output.read().decode(errors="replace")[-4000:])

    def stop(self):
        """Kill the process and its process group at once, for another thread too, and start no other."""
        self._stopped, process = True, self._process
        if process:
            _kill(process)

    def _start(self):
        self._socket, theirs = multiprocessing.Pipe()
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads), "PYTHONUNBUFFERED": "1",
                       "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        with theirs:                                    # in a new session Ctrl-C of the terminal does not reach it
            return subprocess.Popen([sys.executable, "-c", PROGRAM, str(theirs.fileno())], env=environment,
                                    pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=self._output,
                                    stderr=self._output, start_new_session=True)

    def _attempt(self, task, deadline):
        """The record; TimeoutError, EOFError if the process died, OSError."""
        def send():
            with suppress(OSError, TypeError):          # closed before, or within, when its number is None
                self._socket.send(task)

        # The task may be larger than a socket holds, and the process may not read.
        threading.Thread(target=send, daemon=True).start()
        while not self._socket.poll(min(POLL, deadline - time.monotonic())):
            if time.monotonic() >= deadline:
                raise TimeoutError
            number = self._process.pid
            if self._process.poll() is not None:        # and a process that it started holds the socket
                raise EOFError
            with suppress(AttributeError, ChildProcessError):       # macOS; it ended meanwhile
                if os.waitid(os.P_PID, number, os.WSTOPPED | os.WNOHANG):
                    warnings.warn(f"process {number} of a run is stopped, and the study waits for it: continue it by "
                                  f"kill -CONT {number}, or give a timeout", RuntimeWarning, stacklevel=2)
        return self._socket.recv()

    def _discard(self):
        """Kill the process if it is alive; returns how it ended."""
        process, self._process = self._process, None
        status = _kill(process)
        self._socket.close()
        names = {-each.value: f"was killed by {each.name}" for each in signal.Signals}      # but for real-time signals
        return names.get(status, f"ended with status {status}" if status >= 0 else f"was killed by signal {-status}")


def _kill(process):
    """Kill the process group; returns the exit status of the process."""
    with suppress(ProcessLookupError, PermissionError):     # ended already; macOS denies it then
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


@contextmanager
def local(workers, threads, timeout):
    """Yield submit(function, parameters) -> Future of a record, made on this machine."""
    made = [Worker(threads) for _ in range(workers)]
    idle = iter(made)                                   # each thread of the pool takes one
    executor = ThreadPoolExecutor(workers, initializer=lambda: setattr(_of_thread, "worker", next(idle)))
    try:
        yield lambda *task: executor.submit(_run, *task, threads, timeout)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in made:
            worker.stop()


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
        yield lambda *task: client.submit(_run, *task, threads, timeout, pure=False)
    finally:
        client.close()                                  # runs that have not started are cancelled


def _run(function, parameters, threads, timeout):
    """Make a run in the process of this thread, which outlives a crash: one of our own pool, or of a dask worker."""
    worker = getattr(_of_thread, "worker", None)
    if worker is None or worker.threads != threads:
        if worker:
            worker.stop()
        worker = _of_thread.worker = Worker(threads)
    return worker.run(function, parameters, timeout)


def perform(reference, parameters, find=load):
    """Make a run in this process; returns its record, in types of JSON that a table can hold."""
    start, own = time.perf_counter(), os.getpid()
    try:
        result = find(reference)(**parameters)
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
    """Make runs until the socket, whose number is the argument, is closed."""
    socket, tasks, find = Connection(int(sys.argv[1])), queue.SimpleQueue(), lru_cache(load)

    def receive():
        with suppress(EOFError, OSError):
            while True:
                tasks.put(socket.recv())
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=receive, daemon=True).start()
    while True:
        socket.send(perform(*tasks.get(), find))
