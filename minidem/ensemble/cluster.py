"""Runs on the workers of a dask.distributed cluster (the extra `cluster`).

Each thread of a dask worker uses a subprocess (workers.py): a run that crashes leaves the dask worker alive, and its
OMP_NUM_THREADS is that of the study instead of 1, which dask's nanny sets. minidem and the file of the function must be
on every machine. Results are sent through dask; no shared file system is needed.
"""

import queue
import threading

from minidem.ensemble.workers import Worker

CONNECT = 10                # timeout for reaching the scheduler [s]

_local = threading.local()


def run_here(function, parameters, threads, timeout):
    """Make one run in the subprocess of this thread of a dask worker."""
    worker = getattr(_local, "worker", None)
    if worker is None or worker.threads != threads:
        if worker:
            worker.stop()
        worker = _local.worker = Worker(threads)
    return worker.run(function, parameters, timeout)


def records(function, runs, scheduler, threads, timeout, wait):
    """`workers.records` on the cluster at the address `scheduler`; ConnectionError if the scheduler is lost.

    Closing the generator cancels runs that have not started; the results of the others are discarded.
    """
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
                                      "call continues with the others")
            left -= 1
            yield index[future.key], _record(future)
    finally:
        client.cancel(futures)
        client.close()


def _record(future):
    """The record of a run that ended; with an error if its dask worker died repeatedly."""
    error = future.exception()
    if error is None:
        return future.result()
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return {"result": {}, "seconds": None, "error": text, "traceback": None}
