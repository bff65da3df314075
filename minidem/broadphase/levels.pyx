"""Grids by size: spheres of different sizes are in grids of different cell widths.

The spheres of a grid differ in size by a factor of two at most. Each sphere is compared with the cells after its own in
its grid, and with all cells around it in the grids of larger spheres: every pair occurs once, and the cost of a large
sphere is that of the small ones near it.
V. Ogarko & S. Luding, Comput. Phys. Commun. 183, 931 (2012), doi 10.1016/j.cpc.2011.12.019.
"""
from minidem.broadphase.cell_grid cimport assign_cells, fill_cells, free_grid, prepare_grid
from minidem.core.vectors cimport push
from minidem.core.openmp cimport barrier_wait


cdef bint sort_by_size(Levels *levels, const double *spheres, const int *numbers, Py_ssize_t n_slots) noexcept nogil:
    """Choose the levels and assign the spheres. False: memory exhausted.

    spheres : (n_slots, 4) centres and radii [m];  numbers : (n_slots,), negative for empty slots.
    """
    cdef double smallest = 0.0, largest = 0.0, radius, bound
    cdef int level, last
    cdef Py_ssize_t s
    free_levels(levels)
    for s in range(n_slots):
        if numbers[s] >= 0:
            radius = spheres[4 * s + 3]
            if levels.count == 0 or radius < smallest:
                smallest = radius
            if levels.count == 0 or radius > largest:
                largest = radius
            levels.count = 1
    bound = 2.0 * smallest
    while bound < largest and levels.count < MOST_LEVELS:
        bound *= 2.0
        levels.count += 1
    last = levels.count - 1
    for s in range(n_slots):
        if numbers[s] >= 0:
            radius = spheres[4 * s + 3]
            level = 0
            bound = 2.0 * smallest
            while level < last and radius > bound:
                bound *= 2.0
                level += 1
            levels.grid[level].largest_diameter = max(levels.grid[level].largest_diameter, 2.0 * radius)
            if not push(&levels.grid[level].items, <int> s):
                return False
    drop_empty(levels)
    return True


cdef void drop_empty(Levels *levels) noexcept nogil:
    cdef int level, kept = 0
    cdef CellGrid empty
    for level in range(levels.count):
        if levels.grid[level].items.size > 0:
            if level != kept:                           # exchange: each array has one owner
                empty = levels.grid[kept]
                levels.grid[kept] = levels.grid[level]
                levels.grid[level] = empty
            kept += 1
    levels.count = kept


cdef bint reserve_levels(Levels *levels, double skin, const double *box) noexcept nogil:
    """Allocate the cells of all grids, box : periodic, or NULL. False: memory exhausted."""
    cdef int level
    for level in range(levels.count):
        if not prepare_grid(&levels.grid[level], skin, box):
            return False
    return True


cdef void fill_levels(Levels *levels, const double *spheres, Barrier *barrier, int n_threads, double part_before,
                      double part_end) noexcept nogil:
    """Sort all spheres into the cells of their grids. Called by all threads together, each for its part."""
    cdef int level
    for level in range(levels.count):
        assign_cells(&levels.grid[level], spheres, part_before, part_end)
    barrier_wait(barrier, n_threads)
    for level in range(levels.count):
        fill_cells(&levels.grid[level], spheres, part_before, part_end)


cdef void free_levels(Levels *levels) noexcept nogil:
    cdef int level
    for level in range(MOST_LEVELS):
        free_grid(&levels.grid[level])
        levels.grid[level].largest_diameter = 0.0
    levels.count = 0
