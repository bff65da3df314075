"""Runs on this machine: some subprocesses side by side, each fed by a thread that waits for it."""

import os
import queue
import threading

from minidem.ensemble.worker import Stopped, Worker


def cores():
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def records(function, runs, workers, threads, timeout, wait):
    """Yield (index into runs, record) as runs end.

    function : reference; runs : parameters of each; workers : how many at once; timeout : seconds of a run, or None;
    wait : seconds after which None is yielded while nothing ends. Closing the generator ends all subprocesses at once.
    """
    tasks, done = queue.SimpleQueue(), queue.SimpleQueue()
    for task in enumerate(runs):
        tasks.put(task)
    crew = [Worker(threads) for _ in range(min(workers, len(runs)))]

    def serve(worker):
        try:
            while True:
                index, parameters = tasks.get_nowait()
                done.put((index, worker.run(function, parameters, timeout)))
        except (queue.Empty, Stopped):
            pass
        except BaseException as failure:                # a subprocess cannot be started: for the main thread
            done.put(failure)

    served = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in crew]
    try:
        for thread in served:
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
        for worker in crew:
            worker.stop()
