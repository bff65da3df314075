"""Runs on the workers of a dask.distributed cluster (the extra `cluster`).

A thread of a dask worker does not run the function itself: it keeps a subprocess for it (worker.py). A run
that crashes leaves the dask worker alive, and OMP_NUM_THREADS, which dask's nanny sets to 1, is what the
study asks for. minidem, and the file of the function, must be on every machine; results travel through dask,
so no file system need be shared.
"""

import queue
import threading

from minidem.ensemble.worker import Worker

CONNECT = 10                # seconds to reach the scheduler

_of_thread = threading.local()


def run_here(function, parameters, threads, timeout):
    """One run in the subprocess of this thread of a dask worker."""
    worker = getattr(_of_thread, "worker", None)
    if worker is None or worker.threads != threads:
        if worker:
            worker.stop()
        worker = _of_thread.worker = Worker(threads)
    return worker.run(function, parameters, timeout)


def records(function, runs, scheduler, threads, timeout, wait):
    """Yield (index into runs, record) as runs end: `local.records` on the cluster at the address `scheduler`.

    Closing the generator cancels what waits; what runs ends by itself, unseen. ConnectionError when the
    scheduler is lost.
    """
    distributed = _distributed()
    try:
        client = distributed.Client(scheduler, set_as_default=False, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise ValueError(f"scheduler = {scheduler!r}: cannot be reached ({error}); start one with "
                         "'dask scheduler', workers with 'dask worker ADDRESS'") from None
    futures, done = [], queue.SimpleQueue()
    try:
        futures = [client.submit(run_here, function, parameters, threads, timeout, pure=False)
                   for parameters in runs]
        index = {future.key: k for k, future in enumerate(futures)}
        for future in futures:
            future.add_done_callback(done.put)
        left = len(futures)
        while left:
            try:
                future = done.get(timeout=wait)
            except queue.Empty:
                yield None
                continue
            if future.cancelled():
                raise ConnectionError(f"lost the scheduler {scheduler}; finished runs are kept, and the same "
                                      "call goes on with the others")
            left -= 1
            yield index[future.key], _record(future)
    finally:
        client.cancel(futures)
        client.close()


def _record(future):
    """Of a run that ended: what it gave, or why there is nothing (its dask worker died again and again)."""
    error = future.exception()
    if error is None:
        return future.result()
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return {"result": {}, "seconds": None, "error": text, "traceback": None}


def _distributed():
    try:
        import distributed
    except ModuleNotFoundError:
        raise ValueError("scheduler: a cluster needs the package dask.distributed; "
                         "pip install -e '.[cluster]' in minidem's folder") from None
    return distributed
