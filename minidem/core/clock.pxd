"""Monotonic time, for the load balance and the phases of a step."""
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec


cdef inline double clock() noexcept nogil:
    """[s]"""
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec + 1e-9 * now.tv_nsec
