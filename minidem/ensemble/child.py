"""The subprocess in which runs are made: `python -m minidem.ensemble.child`, started by workers.py.

A task is a line of JSON on standard input, {"id": number, "function": reference, "parameters": {...}}. The reply is the
line {"id": number, "result": {...}, "seconds": ..., "error": null or text, "traceback": ...} on the original standard
output. For the function standard input is empty, and standard output is redirected to standard error. Processes forked
by the function inherit neither pipe. When the parent closes its end, the process group is killed, within a run too.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from functools import lru_cache

from minidem.ensemble.reference import load
from minidem.ensemble.store import checked, readable

load = lru_cache(load)


def perform(function, parameters):
    """Make one run; returns its record, which holds an exception."""
    result, error, trace = {}, None, None
    start, own = time.perf_counter(), os.getpid()
    try:
        try:
            returned = load(function)(**parameters)
        finally:
            if os.getpid() != own:
                _exit_fork(sys.exc_info()[1])
        result = checked(returned, parameters)
    except (Exception, SystemExit) as failure:
        error = readable(" ".join(f"{type(failure).__name__}: {failure}".split()))      # one line, for the table
        trace = readable(traceback.format_exc())
    return {"result": result, "seconds": time.perf_counter() - start, "error": error, "traceback": trace}


def _exit_fork(failure):
    """Exit a process forked by the function, after its return or exception, with the status of a script."""
    status = 0 if failure is None else 1
    if isinstance(failure, SystemExit) and (failure.code is None or isinstance(failure.code, int)):
        status = failure.code or 0
    elif failure is not None:
        traceback.print_exception(failure)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status & 255)


def _read(pipe, tasks):
    with open(pipe, "rb", closefd=False) as lines:
        for line in lines:
            tasks.put(json.loads(line))
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def main():
    pipes = incoming, outgoing = [os.dup(0), os.dup(1)]
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)

    def close_pipes():
        while pipes:
            os.close(pipes.pop())

    os.register_at_fork(after_in_child=close_pipes)
    tasks = queue.Queue()
    threading.Thread(target=_read, args=(incoming, tasks), daemon=True).start()
    with open(outgoing, "w", encoding="utf-8", closefd=False) as file:
        while True:
            task = tasks.get()
            record = perform(task["function"], task["parameters"])
            file.write(json.dumps({"id": task["id"], **record}) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
