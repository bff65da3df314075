"""Grids of several cell sizes: a few large spheres among many small ones do not widen all cells."""
from minidem.broadphase.cell_grid cimport CellGrid
from minidem.core.openmp cimport Barrier

cdef enum:
    MOST_LEVELS = 16

cdef struct Levels:
    int count
    bint ready                      # the grids are allocated
    CellGrid grid[MOST_LEVELS]      # from the smallest spheres to the largest

cdef bint sort_by_size(Levels *levels, const double *spheres, const int *numbers, Py_ssize_t n_slots) noexcept nogil
cdef bint reserve_levels(Levels *levels, double skin, const double *box) noexcept nogil
cdef void fill_levels(Levels *levels, const double *spheres, Barrier *barrier, int n_threads, double part_before,
                      double part_end) noexcept nogil
cdef void free_levels(Levels *levels) noexcept nogil
