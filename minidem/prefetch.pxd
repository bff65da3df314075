"""Rows of a block asked for before they are needed, where the state is larger than the caches."""
from minidem.rows cimport LANES

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void *address) nogil

cdef enum:
    BLOCKS_AHEAD = 2            # so many blocks take as long as memory does
    BLOCKS_IN_CACHE = 512       # about a megabyte


cdef inline void prefetch_rows(const double *block, int first, int count) noexcept nogil:
    cdef int k
    for k in range(first, first + count):
        prefetch(block + k * LANES)
