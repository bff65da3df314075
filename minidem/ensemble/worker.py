"""Processes that make the runs of a study, on this machine and on the workers of a dask cluster.

`python -m minidem.ensemble.worker` is such a process. It takes tasks, (reference of a function, parameters), from a
socket and returns records. Standard input is empty, and what it prints is kept for the record of a run that kills it.
When the socket is closed, the process group is killed, within a run too.
"""
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

from minidem.ensemble.reference import load
from minidem.ensemble.store import checked, readable

ATTEMPTS = 2            # of a run whose process dies, which may have been killed by chance
POLL = 1.0              # [s] between looks at a process that does not answer
CONNECT = 10            # timeout for reaching a scheduler [s]
_of_thread = threading.local()


class Worker:
    """A process that makes one run after the other with `threads` OpenMP threads, replaced when it dies."""

    def __init__(self, threads=1):
        self.threads, self._process, self._stopped = threads, None, False
        self._lock = threading.Lock()                   # `stop` is called by another thread
        self._output = tempfile.TemporaryFile()

    def run(self, function, parameters, timeout=None):
        """The record of a run. It has failed if its process dies, or takes longer than `timeout` [s] with its start."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        for _ in range(ATTEMPTS):
            self._begin()
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
        """Kill the process and its process group at once, and start no other."""
        with self._lock:
            self._stopped = True
            if self._process:
                _kill(self._process)

    def _begin(self):
        """Start a process unless there is one; OSError if it cannot be started."""
        with self._lock:
            if self._stopped:
                raise InterruptedError
            self._process = self._process or self._start()
        self._output.seek(0)                            # the offset is shared with the process
        self._output.truncate()

    def _attempt(self, task, deadline):
        """The record; TimeoutError, EOFError if the process died, OSError."""
        # The task may be larger than a socket holds, and the process may not read.
        threading.Thread(target=_send, args=(self._socket, task), daemon=True).start()
        while not self._socket.poll(min(POLL, deadline - time.monotonic())):
            if time.monotonic() >= deadline:
                raise TimeoutError
            if self._process.poll() is not None:        # and a process that it started holds the socket
                raise EOFError
            _warn_if_stopped(self._process)
        return self._socket.recv()

    def _start(self):
        self._socket, theirs = multiprocessing.Pipe()
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads), "PYTHONUNBUFFERED": "1",
                       "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        with theirs:                                    # in a new session Ctrl-C of the terminal does not reach it
            return subprocess.Popen(
                [sys.executable, "-m", "minidem.ensemble.worker", str(theirs.fileno())], env=environment,
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output,
                start_new_session=True)

    def _discard(self):
        """Kill the process if it is alive; returns how it ended."""
        with self._lock:
            process, self._process = self._process, None
        status = _kill(process)
        self._socket.close()
        if status >= 0:
            return f"ended with status {status}"
        names = {each.value: each.name for each in signal.Signals}      # without most of the real-time signals
        return f"was killed by {names.get(-status, f'signal {-status}')}"


def failure(error, trace=None):
    """The record of a run without a result."""
    return {"result": {}, "seconds": None, "error": error, "traceback": trace}


def _send(socket, task):
    with suppress(OSError):                             # closed
        socket.send(task)


def _kill(process):
    """Kill the process group; returns the exit status of the process."""
    with suppress(ProcessLookupError, PermissionError):     # ended already; macOS denies it then
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _warn_if_stopped(process):
    """Warn of a process that was stopped since the last call."""
    with suppress(AttributeError, ChildProcessError):       # macOS; it ended meanwhile
        if os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG):
            warnings.warn(f"process {process.pid} of a run is stopped, and the study waits for it: continue it by "
                          f"kill -CONT {process.pid}, or give a timeout", RuntimeWarning, stacklevel=2)


@contextmanager
def local(workers, threads, timeout):
    """Yield submit(function, parameters) -> Future of a record, made on this machine."""
    pool, idle = [Worker(threads) for _ in range(workers)], queue.SimpleQueue()
    for worker in pool:
        idle.put(worker)

    def run(function, parameters):
        worker = idle.get()
        try:
            return worker.run(function, parameters, timeout)
        finally:
            idle.put(worker)

    executor = ThreadPoolExecutor(workers)
    try:
        yield lambda *task: executor.submit(run, *task)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in pool:
            worker.stop()


@contextmanager
def cluster(scheduler, threads, timeout):
    """The same on the dask.distributed cluster (extra `cluster`) at this address; ValueError if it is not reached."""
    try:
        import distributed
    except ModuleNotFoundError:
        raise ValueError("scheduler: a cluster needs the package dask.distributed; "
                         "pip install -e '.[cluster]' in minidem's folder") from None
    try:
        client = distributed.Client(scheduler, set_as_default=False, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise ValueError(f"scheduler = {scheduler!r}: cannot be reached ({error}); start one with "
                         "'dask scheduler', workers with 'dask worker ADDRESS'") from None
    try:
        yield lambda *task: client.submit(run_here, *task, threads, timeout, pure=False)
    finally:
        client.close()                                  # runs that have not started are cancelled


def run_here(function, parameters, threads, timeout):
    """Make a run in the process of this thread of a dask worker, which so outlives a crash."""
    worker = getattr(_of_thread, "worker", None)
    if worker is None or worker.threads != threads:
        if worker:
            worker.stop()
        worker = _of_thread.worker = Worker(threads)
    return worker.run(function, parameters, timeout)


def perform(function, parameters):
    """Make a run in this process; its record holds an exception."""
    result, error, trace, start, own = {}, None, None, time.perf_counter(), os.getpid()
    try:
        result = checked(function(**parameters), parameters)
    except (Exception, SystemExit) as raised:
        error, trace = raised, traceback.format_exc()
    seconds = time.perf_counter() - start
    if os.getpid() != own:          # a process that the function forked: it ends here, with the status of a script
        code = getattr(error, "code", 1) if error else 0
        sys.stdout.flush()
        os._exit((code or 0) & 255 if isinstance(code, int | None) else 1)
    if error is None:
        return {"result": result, "seconds": seconds, "error": None, "traceback": None}
    line = " ".join(f"{type(error).__name__}: {error}".split())         # for the table
    return {"result": {}, "seconds": seconds, "error": readable(line), "traceback": readable(trace)}


def _receive(socket, tasks):
    with suppress(EOFError, OSError):
        while True:
            tasks.put(socket.recv())
    os.killpg(0, signal.SIGKILL)


def main():
    socket, tasks, find = Connection(int(sys.argv[1])), queue.SimpleQueue(), lru_cache(load)
    threading.Thread(target=_receive, args=(socket, tasks), daemon=True).start()
    while True:
        function, parameters = tasks.get()
        socket.send(perform(lambda **given: find(function)(**given), parameters))


if __name__ == "__main__":
    main()
