"""The subprocess in which runs are made: `python -m minidem.ensemble.child`, driven by worker.py.

A line of JSON on standard input, {"id": number, "function": reference, "parameters": {...}}, is a run; the answer is
the line {"id": the same, "result": {...}, "seconds": ..., "error": null or text, "traceback": ...} on what was
standard output. The function itself finds an empty standard input, and whatever it prints goes to standard error.
A process that the function forks has neither pipe and never answers. When the other side is gone, so are this
process and those that it started, even amid a run.
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

from minidem.ensemble.grid import readable
from minidem.ensemble.reference import load
from minidem.ensemble.store import checked

load = lru_cache(load)


def perform(function, parameters):
    """The record of one run. An exception becomes part of it."""
    result, error, trace = {}, None, None
    begun, own = time.perf_counter(), os.getpid()
    try:
        try:
            returned = load(function)(**parameters)
        finally:
            if os.getpid() != own:
                _leave(sys.exc_info()[1])
        result = checked(returned, parameters)
    except (Exception, SystemExit) as failure:
        error = readable(" ".join(f"{type(failure).__name__}: {failure}".split()))      # one line, for the table
        trace = readable(traceback.format_exc())
    return {"result": result, "seconds": time.perf_counter() - begun, "error": error, "traceback": trace}


def _leave(failure):
    """End a forked process that came back from the function, or with an exception, as if it were on its own."""
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
    held = questions, answers = [os.dup(0), os.dup(1)]
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)

    def let_go():
        while held:
            os.close(held.pop())

    os.register_at_fork(after_in_child=let_go)
    tasks = queue.Queue()
    threading.Thread(target=_read, args=(questions, tasks), daemon=True).start()
    with open(answers, "w", encoding="utf-8", closefd=False) as file:
        while True:
            task = tasks.get()
            record = perform(task["function"], task["parameters"])
            file.write(json.dumps({"id": task["id"], **record}) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
