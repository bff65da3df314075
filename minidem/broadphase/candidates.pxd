"""Candidates of a search: the entries of some cells of a grid, copied to one contiguous array.

All spheres of a cell have the same candidates. Contiguous, they fill whole vectors.
"""
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from minidem.broadphase.cell_grid cimport COLUMNS, CellGrid, CellRanges

cdef enum:
    AT_ONCE = 16                # ints of a vector

cdef struct Candidates:
    int *data                   # (COLUMNS, room): columns of the grid; starts on a cache line
    void *memory
    int room                    # a multiple of AT_ONCE
    int count
    bint own                    # all are own spheres of the searching thread


cdef inline bint make_room(Candidates *candidates, int count) noexcept nogil:
    """Room for so many, and for a whole vector at the end. False: memory exhausted."""
    if candidates.room >= count + AT_ONCE:
        return True
    free(candidates.memory)
    candidates.room = (2 * count + 2 * AT_ONCE) // AT_ONCE * AT_ONCE
    candidates.memory = malloc((COLUMNS * <Py_ssize_t> candidates.room + AT_ONCE) * sizeof(int))
    if candidates.memory == NULL:
        candidates.room = 0
        return False
    candidates.data = <int *> ((<size_t> candidates.memory + 63) & ~<size_t> 63)
    memset(candidates.data, 0, COLUMNS * <Py_ssize_t> candidates.room * sizeof(int))
    return True


cdef inline bint collect(Candidates *candidates, const CellGrid *grid, const CellRanges *ranges) noexcept nogil:
    """Copy the entries of the ranges, in order. False: memory exhausted."""
    cdef int r, column, vector
    cdef int *to
    cdef const int *entry
    if not make_room(candidates, ranges.total):
        return False
    candidates.count = 0
    for r in range(ranges.count):
        for vector in range((ranges.last[r] - ranges.first[r] + AT_ONCE - 1) // AT_ONCE):
            to = candidates.data + candidates.count + vector * AT_ONCE      # the next range overwrites the excess
            entry = grid.entries + ranges.first[r] + vector * AT_ONCE
            for column in range(COLUMNS):
                memcpy(to + column * candidates.room, entry + column * grid.stride, AT_ONCE * sizeof(int))
        candidates.count += ranges.last[r] - ranges.first[r]
    return True


cdef inline void free_candidates(Candidates *candidates) noexcept nogil:
    free(candidates.memory)
    candidates.memory = NULL
    candidates.room = 0
