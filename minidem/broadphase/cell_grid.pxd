"""Cell list by spatial hash, of spheres or of the bounding spheres of clumps, all of about one size."""
from minidem.arrays cimport Ints

cdef enum:
    MOST_RUNS = 27

cdef struct CellGrid:
    Ints items                  # slots of what it holds
    double largest_diameter     # of these [m]
    double inverse_cell         # 1 / edge of a cell [1/m]
    int log_side                # the table has 2^log_side cells in each direction, repeated periodically
    Ints start                  # (cells + 1): what is in cell c has the places start[c] <= p < start[c + 1]
    Ints cell                   # (items,): cell of each place
    Ints slot                   # (items,): slot of what is there
    double *x                   # (items + 7,): centres and radii, a place for a place
    double *y
    double *z
    double *radius
    Py_ssize_t capacity         # places for which there is room

cdef struct Runs:               # ranges of places
    int count
    int first[MOST_RUNS]
    int last[MOST_RUNS]

cdef bint fill_grid(CellGrid *grid, const double *spheres, double skin) noexcept nogil
cdef void free_grid(CellGrid *grid) noexcept nogil
cdef int cell_of(const CellGrid *grid, const double *centre) noexcept nogil


cdef inline void add_run(Runs *runs, const CellGrid *grid, int cell, int n_cells) noexcept nogil:
    runs.first[runs.count] = grid.start.data[cell]
    runs.last[runs.count] = grid.start.data[cell + n_cells]
    runs.count += 1


cdef inline void add_row(Runs *runs, const CellGrid *grid, int row, int x) noexcept nogil:
    """The cells x - 1, x, x + 1 of a row whose first cell is `row`: adjacent in memory, unless they wrap round."""
    cdef int mask = (1 << grid.log_side) - 1, k
    if 0 < x < mask:
        add_run(runs, grid, row + x - 1, 3)
    else:
        for k in range(-1, 2):
            add_run(runs, grid, row + ((x + k) & mask), 1)


cdef inline int row_at(const CellGrid *grid, int y, int z) noexcept nogil:
    cdef int mask = (1 << grid.log_side) - 1
    return (((z & mask) << grid.log_side) + (y & mask)) << grid.log_side


cdef inline void runs_ahead(Runs *runs, const CellGrid *grid, int cell) noexcept nogil:
    """A cell and the thirteen ahead of it: the next in x, and those of the next row and of the next layer.

    The first run begins with the cell itself.
    """
    cdef int mask = (1 << grid.log_side) - 1
    cdef int x = cell & mask, y = (cell >> grid.log_side) & mask, z = cell >> (2 * grid.log_side), k
    runs.count = 0
    add_run(runs, grid, cell, 1 if x == mask else 2)
    if x == mask:
        add_run(runs, grid, row_at(grid, y, z), 1)
    add_row(runs, grid, row_at(grid, y + 1, z), x)
    for k in range(-1, 2):
        add_row(runs, grid, row_at(grid, y + k, z + 1), x)


cdef inline void runs_around(Runs *runs, const CellGrid *grid, int cell) noexcept nogil:
    """A cell and the twenty-six around it."""
    cdef int mask = (1 << grid.log_side) - 1
    cdef int x = cell & mask, y = (cell >> grid.log_side) & mask, z = cell >> (2 * grid.log_side), k, m
    runs.count = 0
    for k in range(-1, 2):
        for m in range(-1, 2):
            add_row(runs, grid, row_at(grid, y + m, z + k), x)
