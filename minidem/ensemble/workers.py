"""Subprocesses that make runs (child.py) on this machine, each with a thread that waits for its result."""

import json
import math
import os
import queue
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

ATTEMPTS = 2            # of a run whose process dies, which may have been killed by chance
POLL = 1.0              # [s] between checks for a dead process whose pipe another process holds open


class Stopped(Exception):
    """The worker was stopped during a run."""


class Worker:
    """A subprocess that makes one run after the other with `threads` OpenMP threads, replaced when it dies."""

    def __init__(self, threads=1):
        self.threads = threads
        self._process = None
        self._busy = self._stopped = False
        self._tasks = 0                                 # number of tasks so far, the id of the last
        self._lock = threading.Lock()                   # `stop` is called by another thread
        self._stderr = tempfile.TemporaryFile()

    def run(self, function, parameters, timeout=None):
        """The record of a run, see child.py; raises Stopped after `stop`.

        A run fails if its process dies, or takes longer than `timeout` [s] including its start; the process group is
        killed then.
        """
        try:
            for _ in range(ATTEMPTS):
                record = self._attempt(function, parameters, math.inf if timeout is None else timeout)
                if record:
                    return record
                end = f"the process of the run {self._discard()}, {ATTEMPTS} times"
        except TimeoutError:
            self._discard()
            end = f"the run was ended after timeout = {timeout:g} s"
        return {"result": {}, "seconds": None, "error": end, "traceback": self._stderr_tail()}

    def stop(self):
        """Kill the subprocess and its process group at once."""
        with self._lock:
            self._stopped = True
            if self._process:
                _kill(self._process)
                if not self._busy:                      # else `_attempt` closes its pipes
                    _close(self._process)

    def _attempt(self, function, parameters, timeout):
        """The record, or None if the process died; TimeoutError after `timeout`."""
        deadline = time.monotonic() + timeout
        with self._lock:
            if self._stopped:
                raise Stopped
            if self._process is None:
                self._process = self._start()
            process, self._busy = self._process, True
        self._stderr.seek(0)                              # the offset is shared with the subprocess
        self._stderr.truncate()
        self._tasks += 1
        task = json.dumps({"id": self._tasks, "function": function, "parameters": parameters}) + "\n"
        try:
            return _answer(process, self._tasks, task.encode(), deadline)
        except TimeoutError:
            raise
        except (OSError, ValueError):                   # a broken pipe, or an invalid line
            return None
        finally:
            with self._lock:
                self._busy = False
                if self._stopped:
                    _close(process)

    def _start(self):
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads), "PYTHONUNBUFFERED": "1",
                       "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        # In a new session the subprocess does not receive Ctrl-C of the terminal.
        process = subprocess.Popen([sys.executable, "-m", "minidem.ensemble.child"], env=environment, bufsize=0,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr,
                                   start_new_session=True)
        os.set_blocking(process.stdin.fileno(), False)
        return process

    def _discard(self):
        """Kill the process if it is alive; returns how it ended."""
        with self._lock:
            if self._stopped:
                raise Stopped
            process, self._process = self._process, None
        status = _kill(process)
        _close(process)
        if status >= 0:
            return f"ended with status {status}"
        names = {each.value: each.name for each in signal.Signals}      # without most of the real-time signals
        return f"was killed by {names.get(-status, f'signal {-status}')}"

    def _stderr_tail(self):
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace")[-4000:]


def _answer(process, number, task, deadline):
    """The record with this id; None if the process died."""
    received = b""
    with selectors.DefaultSelector() as pipes:
        pipes.register(process.stdin, selectors.EVENT_WRITE)
        pipes.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise TimeoutError
            ready = [key.fileobj for key, _ in pipes.select(min(left, POLL))]
            if not ready and process.poll() is not None:
                return None
            if not ready:
                _warn_if_stopped(process)
            if process.stdin in ready:
                task = task[process.stdin.write(task):]
                if not task:
                    pipes.unregister(process.stdin)
            if process.stdout in ready:
                chunk = process.stdout.read(1 << 16)
                if not chunk:
                    return None
                *lines, received = (received + chunk).split(b"\n")
                for line in lines:
                    record = json.loads(line)
                    if record.pop("id") == number:
                        return record


def _warn_if_stopped(process):
    """Warn of a process that was stopped since the last call."""
    try:
        stopped = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG)
    except (AttributeError, ChildProcessError):         # macOS; it ended meanwhile
        return
    if stopped is not None:
        warnings.warn(f"process {process.pid} of a run is stopped, and the study waits for it: continue it by "
                      f"kill -CONT {process.pid}, or give a timeout", RuntimeWarning, stacklevel=2)


def _kill(process):
    """Kill the process group; returns the exit status of the process."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):       # ended already; macOS denies it then
        pass
    return process.wait()


def _close(process):
    process.stdin.close()
    process.stdout.close()


def records(function, runs, workers, threads, timeout, wait):
    """Yield (index into runs, record) as runs end, and None after `wait` [s] without one.

    function : reference; runs : parameters of each; workers : number of simultaneous runs; timeout : of a run [s], or
    None. Closing the generator ends all subprocesses at once.
    """
    tasks, done = queue.SimpleQueue(), queue.SimpleQueue()
    for task in enumerate(runs):
        tasks.put(task)
    pool = [Worker(threads) for _ in range(min(workers, len(runs)))]

    def serve(worker):
        try:
            while True:
                index, parameters = tasks.get_nowait()
                done.put((index, worker.run(function, parameters, timeout)))
        except (queue.Empty, Stopped):
            pass
        except BaseException as failure:                # a subprocess cannot be started: raised in the main thread
            done.put(failure)

    waiting = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in pool]
    try:
        for thread in waiting:
            thread.start()
        left = len(runs)
        while left:
            try:
                outcome = done.get(timeout=wait)
            except queue.Empty:
                yield None
                continue
            if isinstance(outcome, BaseException):
                raise outcome
            left -= 1
            yield outcome
    finally:
        for worker in pool:
            worker.stop()
