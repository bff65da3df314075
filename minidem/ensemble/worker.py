"""A subprocess that makes runs, seen from the process that wants them made."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

ATTEMPTS = 2            # of a run whose process dies: killed by chance or by itself, the second try tells


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
        self._stopped = False
        self._lock = threading.Lock()                   # `stop` comes from another thread
        self._said = tempfile.TemporaryFile()           # standard error: what it said before it died

    def run(self, function, parameters):
        """The record of a run: see child.py. A process that dies is a failed run; Stopped after `stop`."""
        for _ in range(ATTEMPTS):
            record = self._attempt(json.dumps({"function": function, "parameters": parameters}) + "\n")
            if record:
                return record
            end = self._bury()
        return {"result": {}, "seconds": None, "error": f"the process of the run {end}, {ATTEMPTS} times",
                "traceback": self._last_words()}

    def stop(self):
        """End the subprocess at once, amid a run or not."""
        with self._lock:
            self._stopped = True
            if self._process:
                self._process.kill()
                self._process.wait()
                self._process.stdin.close()
                self._process = None

    def _attempt(self, task):
        """The record, or None if the process died."""
        with self._lock:
            if self._stopped:
                raise Stopped
            if self._process is None:
                self._process = self._start()
            process = self._process
        self._said.seek(0)                              # the subprocess writes at the same place of the file
        self._said.truncate()
        try:
            process.stdin.write(task)
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        except (OSError, ValueError):                   # a broken pipe; the end of the file, or half a line
            return None

    def _start(self):
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads), "PYTHONUNBUFFERED": "1",
                       "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        # In a session of its own it does not get the Ctrl-C of the terminal, which is for the study.
        return subprocess.Popen([sys.executable, "-m", "minidem.ensemble.child"], env=environment, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                                start_new_session=True, encoding="utf-8")

    def _bury(self):
        """Forget the dead process; says how it ended."""
        with self._lock:
            if self._stopped:
                raise Stopped
            process, self._process = self._process, None
        process.kill()                                  # it may have closed its output without dying
        process.stdout.close()
        status = process.wait()
        if status >= 0:
            return f"ended with status {status}"
        return f"was killed by {signal.Signals(-status).name}"

    def _last_words(self):
        self._said.seek(0)
        return self._said.read().decode(errors="replace")[-4000:]
