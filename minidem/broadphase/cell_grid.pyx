"""Cell list by spatial hash and counting sort.

A cell's integer coordinates, taken modulo a power of two in each direction, are its place in the
table: the domain is covered by periodic copies of one table whose size follows the number of
spheres, not the extent of space. So the domain needs no bounds, a runaway sphere costs nothing, and
neighbours in x stay neighbours in memory. Far spheres that share a place are told apart by their
distance; with at least four cells in each direction no pair of neighbours is met twice.
The spheres of a cell stand in the order of their slots (counting sort), their centres and radii
copied beside one another.
"""
from libc.math cimport floor
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from minidem.arrays cimport Ints, release, reserve

cdef double FAR = 1e15          # cell coordinates are clamped here, well within 64 bits


cdef inline int cell_of(const CellGrid *grid, const double *centre) noexcept nogil:
    cdef long long mask = (1 << grid.log_side) - 1
    cdef long long index[3]
    cdef double coordinate
    cdef int k
    for k in range(3):
        coordinate = floor(centre[k] * grid.inverse_cell)
        index[k] = <long long> (FAR if coordinate > FAR else -FAR if coordinate < -FAR else coordinate)
    return <int> (((((index[2] & mask) << grid.log_side) | (index[1] & mask)) << grid.log_side) | (index[0] & mask))


cdef bint fill_grid(CellGrid *grid, const double *spheres, const int *numbers, Py_ssize_t n_slots,
                    double cell) noexcept nogil:
    """Sort spheres into cells of edge `cell` [m]; False when memory is exhausted.

    spheres : (n_slots, 4) centres and radii [m];  numbers : (n_slots,), negative for empty slots.
    """
    cdef Py_ssize_t s, n = 0, c, n_cells
    cdef int *start
    cdef int place, total, count
    cdef double *sorted_spheres
    grid.inverse_cell = 1.0 / cell
    grid.log_side = 2
    while grid.log_side < 10 and (<Py_ssize_t> 1 << (3 * grid.log_side)) < n_slots:
        grid.log_side += 1
    n_cells = <Py_ssize_t> 1 << (3 * grid.log_side)
    if not (reserve(&grid.start, n_cells + 1) and reserve(&grid.cell, n_slots) and reserve(&grid.slot, n_slots)):
        return False
    if n_slots > grid.capacity:
        sorted_spheres = <double *> realloc(grid.sorted, n_slots * 4 * sizeof(double))
        if sorted_spheres == NULL:
            return False
        grid.sorted = sorted_spheres
        grid.capacity = n_slots
    start = grid.start.data
    memset(start, 0, (n_cells + 1) * sizeof(int))
    for s in range(n_slots):
        if numbers[s] >= 0:
            start[cell_of(grid, spheres + 4 * s)] += 1
            n += 1
    total = 0
    for c in range(n_cells + 1):
        count = start[c]
        start[c] = total
        total += count
    for s in range(n_slots):
        if numbers[s] >= 0:
            c = cell_of(grid, spheres + 4 * s)
            place = start[c]
            start[c] += 1
            grid.cell.data[place] = <int> c
            grid.slot.data[place] = <int> s
            memcpy(grid.sorted + 4 * place, spheres + 4 * s, 4 * sizeof(double))
    for c in range(n_cells, 0, -1):                     # each start has moved on to the next cell's
        start[c] = start[c - 1]
    start[0] = 0
    grid.n_items = n
    return True


cdef void free_grid(CellGrid *grid) noexcept nogil:
    release(&grid.start)
    release(&grid.cell)
    release(&grid.slot)
    free(grid.sorted)
    grid.sorted = NULL
    grid.capacity = 0
