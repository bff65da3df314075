"""Rows of a block asked for before they are needed, where the state is larger than the caches."""
from minidem.core.lanes cimport LANES

cdef extern from *:
    """
    /* The empty assembly is for gcc, which takes a function that only prefetches for useless and leaves it out. */
    #define minidem_prefetch(address) do { __asm__ volatile (""); __builtin_prefetch(address); } while (0)
    """
    void prefetch "minidem_prefetch"(const void *address) nogil

cdef enum:
    BLOCKS_AHEAD = 3            # so many blocks take as long as memory does
    FORCE_BLOCKS_AHEAD = 3              # blocks as well; 2 to 6 are equally good
    BLOCKS_IN_CACHE = 512       # about a megabyte


cdef inline void prefetch_rows(const double *block, int first, int count) noexcept nogil:
    cdef int k
    for k in range(first, first + count):
        prefetch(block + k * LANES)
