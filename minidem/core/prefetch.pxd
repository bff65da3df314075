"""Prefetching, for states that are larger than the caches."""
from minidem.core.lanes cimport LANES

cdef extern from *:
    """
    /* The empty assembly: gcc removes a function that does nothing but prefetch. */
    #define minidem_prefetch(address) do { __asm__ volatile (""); __builtin_prefetch(address); } while (0)
    """
    void prefetch "minidem_prefetch"(const void *address) nogil

cdef enum:
    BLOCKS_AHEAD = 3            # the time of three blocks is about the latency of memory
    BLOCKS_IN_CACHE = 512       # about a megabyte


cdef inline void prefetch_rows(const double *rows, int count) noexcept nogil:
    cdef int k
    for k in range(count):
        prefetch(rows + k * LANES)
