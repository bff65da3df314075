# distutils: extra_compile_args = -Og
"""Number of threads that a process may use, and their end before it forks."""
import os
import warnings

from minidem.core.checks import MOST_THREADS, whole
from minidem.core.processors import available_processors

from minidem.core cimport openmp


def has_openmp():
    """Whether this build can use more than one thread."""
    return openmp.has_openmp()


def most_threads():
    """Default number of threads of a run.

    One per processor that this process may use (affinity mask, quota of a container), and no more than OMP_NUM_THREADS
    and OMP_THREAD_LIMIT allow; 1 in a build without OpenMP.
    """
    return max(1, min(available_processors(), openmp.processors(), openmp.wanted_threads(), openmp.thread_limit()))


def checked_threads(given):
    """The argument `threads` of a simulation, None for the default; a warning without OpenMP."""
    threads = most_threads() if given is None else whole("threads", given, 1, MOST_THREADS)
    if threads > 1 and not has_openmp():
        warnings.warn(f"threads = {threads}: this minidem was built without OpenMP and uses one thread; "
                      "see MINIDEM_OPENMP in minidem/guide/build.md", UserWarning, stacklevel=3)
    return threads


def end_idle_threads():
    """End the idle threads of OpenMP.

    A forked process does not have them, but the runtime of gcc would wait for them there.
    """
    openmp.release_threads()


os.register_at_fork(before=end_idle_threads)
