"""The subprocess in which runs are made: `python -m minidem.ensemble.child`, driven by worker.py.

A line of JSON on standard input, {"function": reference, "parameters": {...}}, is a run; the answer is the
line {"result": {...}, "seconds": ..., "error": null or text, "traceback": ...} on what was standard output.
Whatever the function prints goes to standard error. When the other side is gone, so is this process, even
amid a run.
"""

import json
import os
import queue
import sys
import threading
import time
import traceback
from functools import lru_cache

from minidem.ensemble.grid import plain
from minidem.ensemble.reference import load
from minidem.ensemble.store import OWN_COLUMNS

load = lru_cache(load)


def perform(function, parameters):
    """The record of one run. An exception becomes part of it."""
    result, error, trace = {}, None, None
    begun = time.perf_counter()
    try:
        result = _checked(load(function)(**parameters), parameters)
    except (Exception, SystemExit) as failure:
        error = " ".join(f"{type(failure).__name__}: {failure}".split())    # one line, for the table
        trace = traceback.format_exc()
    return {"result": result, "seconds": time.perf_counter() - begun, "error": error, "traceback": trace}


def _checked(result, parameters):
    if not isinstance(result, dict):
        raise ValueError(f"the function returned {result!r}; return a dictionary, name -> number or text")
    for name in result:
        if not isinstance(name, str) or name in parameters or name in OWN_COLUMNS:
            raise ValueError(f"the function returned a result {name!r}; take another name, the table has "
                             f"columns {', '.join([*parameters, *OWN_COLUMNS])}")
    return {name: plain(f"result {name!r}", value) for name, value in result.items()}


def _read(lines, tasks):
    for line in lines:
        tasks.put(json.loads(line))
    os._exit(0)


def main():
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tasks = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin, tasks), daemon=True).start()
    while True:
        answers.write(json.dumps(perform(**tasks.get())) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
