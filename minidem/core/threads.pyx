# distutils: extra_compile_args = -O1
"""How many threads a process may use; and what becomes of them when it forks."""
import os

from minidem.core cimport openmp


def has_openmp():
    """Whether this build can use more than one thread."""
    return openmp.has_openmp()


def most_threads():
    """Threads that a run takes by default.

    One per processor that this process may use, and no more than OMP_NUM_THREADS and OMP_THREAD_LIMIT allow; 1 in a
    build without OpenMP.
    """
    return max(1, min(openmp.processors(), openmp.wanted_threads(), openmp.thread_limit()))


def end_idle_threads():
    """End the threads that OpenMP keeps for the next run.

    A forked process has none of them, but gcc's runtime would wait for them there.
    """
    openmp.release_threads()


os.register_at_fork(before=end_idle_threads)
