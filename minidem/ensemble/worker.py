"""A subprocess that makes runs, seen from the process that wants them made."""

import json
import math
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time

ATTEMPTS = 2            # of a run whose process dies: killed by chance or by itself, the second try tells
LOOK = 1.0              # seconds after which it is seen that a process is dead though its pipe is open elsewhere


class Stopped(Exception):
    """The worker was stopped during a run."""


class Worker:
    """Makes one run after the other in a subprocess of its own, which it replaces when it dies.

    threads : OpenMP threads of a run. The subprocess starts with that setting, whatever surrounds it: those
        who run workers, dask.distributed among them, set another one for their own processes.
    """

    def __init__(self, threads=1):
        self.threads = threads
        self._process = None
        self._busy = self._stopped = False
        self._asked = 0                                 # questions so far; an answer carries its number
        self._lock = threading.Lock()                   # `stop` comes from another thread
        self._said = tempfile.TemporaryFile()           # standard error: what it said before it died

    def run(self, function, parameters, timeout=None):
        """The record of a run: see child.py. Stopped after `stop`.

        A process that dies is a failed run, and so is one that takes more than `timeout` seconds, its start
        included: it is killed, with all that it started.
        """
        try:
            for _ in range(ATTEMPTS):
                record = self._attempt(function, parameters, math.inf if timeout is None else timeout)
                if record:
                    return record
                end = f"the process of the run {self._bury()}, {ATTEMPTS} times"
        except TimeoutError:
            self._bury()
            end = f"the run was ended after timeout = {timeout:g} s"
        return {"result": {}, "seconds": None, "error": end, "traceback": self._last_words()}

    def stop(self):
        """End the subprocess at once, amid a run or not, and what it started."""
        with self._lock:
            self._stopped = True
            if self._process:
                _kill(self._process)
                if not self._busy:                      # else the thread that waits for its answer closes them
                    _close(self._process)

    def _attempt(self, function, parameters, timeout):
        """The record, or None if the process died. TimeoutError if it takes too long."""
        deadline = time.monotonic() + timeout
        with self._lock:
            if self._stopped:
                raise Stopped
            if self._process is None:
                self._process = self._start()
            process, self._busy = self._process, True
        self._said.seek(0)                              # the subprocess writes at the same place of the file
        self._said.truncate()
        self._asked += 1
        task = json.dumps({"id": self._asked, "function": function, "parameters": parameters}) + "\n"
        try:
            return _answer(process, self._asked, task.encode(), deadline)
        except TimeoutError:
            raise
        except (OSError, ValueError):                   # a broken pipe; a line that is no answer
            return None
        finally:
            with self._lock:
                self._busy = False
                if self._stopped:
                    _close(process)

    def _start(self):
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads), "PYTHONUNBUFFERED": "1",
                       "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        # In a session of its own it does not get the Ctrl-C of the terminal, which is for the study.
        process = subprocess.Popen([sys.executable, "-m", "minidem.ensemble.child"], env=environment, bufsize=0,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                                   start_new_session=True)
        os.set_blocking(process.stdin.fileno(), False)
        return process

    def _bury(self):
        """Forget the process, which is dead or shall be; says how it ended."""
        with self._lock:
            if self._stopped:
                raise Stopped
            process, self._process = self._process, None
        status = _kill(process)
        _close(process)
        if status >= 0:
            return f"ended with status {status}"
        return f"was killed by {signal.Signals(-status).name}"

    def _last_words(self):
        self._said.seek(0)
        return self._said.read().decode(errors="replace")[-4000:]


def _answer(process, number, task, deadline):
    """The record with this number; None if the process died."""
    received = b""
    with selectors.DefaultSelector() as pipes:
        pipes.register(process.stdin, selectors.EVENT_WRITE)
        pipes.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise TimeoutError
            ready = [key.fileobj for key, _ in pipes.select(min(left, LOOK))]
            if not ready and process.poll() is not None:
                return None
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


def _kill(process):
    """Kill the process and those of its group; returns its status."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):       # all gone; macOS denies it for the dead
        pass
    return process.wait()


def _close(process):
    process.stdin.close()
    process.stdout.close()
