"""Cell list by spatial hash, of spheres or of the bounding spheres of clumps."""
from minidem.arrays cimport Ints

cdef struct CellGrid:
    double inverse_cell         # 1 / edge of a cell [1/m]
    int log_side                # the table has 2^log_side cells in each direction, repeated periodically
    Ints start                  # (cells + 1): what is in cell c is sorted[start[c] : start[c + 1]]
    Ints cell                   # (n_items,): cell of each sorted sphere
    Ints slot                   # (n_items,): its slot
    double *sorted              # (n_items, 4): its centre and radius
    Py_ssize_t capacity         # spheres for which `sorted` has room
    Py_ssize_t n_items

cdef bint fill_grid(CellGrid *grid, const double *spheres, const int *numbers, Py_ssize_t n_slots,
                    double cell) noexcept nogil
cdef void free_grid(CellGrid *grid) noexcept nogil


cdef inline int neighbour_runs(const CellGrid *grid, int cell, int *first, int *last) noexcept nogil:
    """Ranges of sorted spheres in the thirteen cells that lie ahead of `cell`; returns their number (<= 14).

    Ahead: the next in x, and the three in x of the next row in y and of the three rows of the
    next layer. Neighbours in x are adjacent in memory, so that most rows are one range.
    """
    cdef int side = 1 << grid.log_side, mask = side - 1
    cdef int x = cell & mask, y = (cell >> grid.log_side) & mask, z = cell >> (2 * grid.log_side)
    cdef int row, base, k, count = 0
    base = cell - x + ((x + 1) & mask)
    first[0] = grid.start.data[base]
    last[0] = grid.start.data[base + 1]
    count = 1
    for row in range(4):                                # (y, z) = (1, 0), (-1, 1), (0, 1), (1, 1)
        base = (((z + (row > 0)) & mask) << (2 * grid.log_side)) \
            + (((y + (1 if row == 0 else row - 2)) & mask) << grid.log_side)
        if 0 < x < mask:
            first[count] = grid.start.data[base + x - 1]
            last[count] = grid.start.data[base + x + 2]
            count += 1
        else:
            for k in range(-1, 2):
                first[count] = grid.start.data[base + ((x + k) & mask)]
                last[count] = grid.start.data[base + ((x + k) & mask) + 1]
                count += 1
    return count
