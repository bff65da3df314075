"""Cell list by spatial hash and counting sort.

A cell's integer coordinates, taken modulo a power of two in each direction, are its place in the
table: the domain is covered by periodic copies of one table whose size follows the number of
spheres, not the extent of space. So the domain needs no bounds, a runaway sphere costs nothing, and
neighbours in x stay neighbours in memory. Far spheres that share a cell are told apart by their
distance; with at least four cells in each direction no pair of neighbours is met twice.
The spheres of a cell stand in the order of their slots (counting sort), their centres and radii
beside one another, so that eight are tested at once.
"""
from libc.math cimport floor
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from minidem.arrays cimport Ints, release, reserve

cdef double FAR = 1e15          # cell coordinates are clamped here, well within 64 bits
cdef enum:
    BEYOND = 7                  # places that a search may read after the last
    SPHERES_PER_CELL = 4        # at most, on the average over the table


cdef int cell_of(const CellGrid *grid, const double *centre) noexcept nogil:
    cdef long long mask = (1 << grid.log_side) - 1
    cdef long long index[3]
    cdef double coordinate
    cdef int k
    for k in range(3):
        coordinate = floor(centre[k] * grid.inverse_cell)
        index[k] = <long long> (FAR if coordinate > FAR else -FAR if coordinate < -FAR else coordinate)
    return <int> (((((index[2] & mask) << grid.log_side) | (index[1] & mask)) << grid.log_side) | (index[0] & mask))


cdef bint make_room(CellGrid *grid, Py_ssize_t n) noexcept nogil:
    if n <= grid.capacity:
        return True
    free(grid.x)
    grid.capacity = 0
    grid.x = <double *> malloc(4 * (n + BEYOND) * sizeof(double))
    if grid.x == NULL:
        return False
    memset(grid.x, 0, 4 * (n + BEYOND) * sizeof(double))
    grid.y = grid.x + n + BEYOND
    grid.z = grid.y + n + BEYOND
    grid.radius = grid.z + n + BEYOND
    grid.capacity = n
    return True


cdef bint fill_grid(CellGrid *grid, const double *spheres, double skin) noexcept nogil:
    """Sort the items into cells as wide as the largest and the skin [m]. False: memory exhausted.

    spheres : (slots, 4) centres and radii [m].
    """
    cdef Py_ssize_t k, n = grid.items.size, c, n_cells
    cdef int *start
    cdef int place, total, count
    cdef const double *sphere
    grid.inverse_cell = 1.0 / (grid.largest_diameter + skin)
    grid.log_side = 2
    while grid.log_side < 10 and SPHERES_PER_CELL * (<Py_ssize_t> 1 << (3 * grid.log_side)) < n:
        grid.log_side += 1
    n_cells = <Py_ssize_t> 1 << (3 * grid.log_side)
    if not (reserve(&grid.start, n_cells + 1) and reserve(&grid.cell, n) and reserve(&grid.slot, n)
            and make_room(grid, n)):
        return False
    start = grid.start.data
    memset(start, 0, (n_cells + 1) * sizeof(int))
    for k in range(n):
        start[cell_of(grid, spheres + 4 * <Py_ssize_t> grid.items.data[k])] += 1
    total = 0
    for c in range(n_cells + 1):
        count = start[c]
        start[c] = total
        total += count
    for k in range(n):
        sphere = spheres + 4 * <Py_ssize_t> grid.items.data[k]
        c = cell_of(grid, sphere)
        place = start[c]
        start[c] += 1
        grid.cell.data[place] = <int> c
        grid.slot.data[place] = grid.items.data[k]
        grid.x[place] = sphere[0]
        grid.y[place] = sphere[1]
        grid.z[place] = sphere[2]
        grid.radius[place] = sphere[3]
    for c in range(n_cells, 0, -1):                     # each start has moved on to the next cell's
        start[c] = start[c - 1]
    start[0] = 0
    return True


cdef void free_grid(CellGrid *grid) noexcept nogil:
    release(&grid.items)
    release(&grid.start)
    release(&grid.cell)
    release(&grid.slot)
    free(grid.x)
    grid.x = NULL
    grid.capacity = 0
