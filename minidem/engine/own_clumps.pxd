"""Numbers of clumps in the order of the user, of which each thread writes those of its own clumps."""
from libc.string cimport memcpy

from minidem.core.lanes cimport LANES
from minidem.engine.time_loop cimport Loop


cdef inline void copy_own_pairs(const Loop *loop, int thread, const double *rows, int stride,
                                double *copy) noexcept nogil:
    """Copy the first two numbers of the rows (n_clumps, stride) of own clumps to (n_clumps, 2)."""
    cdef Py_ssize_t slot
    cdef int clump
    for slot in range(loop.broad.threads[thread].first_block * LANES, loop.broad.threads[thread].last_block * LANES):
        clump = loop.state.clump_number[slot]
        if clump >= 0:
            memcpy(copy + 2 * <Py_ssize_t> clump, rows + stride * <Py_ssize_t> clump, 2 * sizeof(double))
