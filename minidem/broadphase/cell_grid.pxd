"""Cell list by spatial hash, of spheres or of bounding spheres of clumps, all of about one size."""
from libc.math cimport ceil, llrint

from minidem.core.openmp cimport Barrier
from minidem.core.vectors cimport IntVector
from minidem.state.periodic_box cimport BoxPose, wrap_position

cdef enum:
    MOST_RANGES = 27
    COLUMNS = 5                 # of an entry: see CellGrid
    SLOT = 4                    # the last of them
    MOST_LEVELS = 16
    LOG_UNITS = 16              # a cell is 2^16 units wide

cdef struct CellGrid:
    IntVector items             # slots of its items
    double largest_diameter     # of the items [m]
    double scale                # units to a metre
    const BoxPose *box          # periodic: the items are at their positions within it; NULL: none
    int skin                    # with a margin [units], see cell_grid.pyx
    int log_side                # the table has 2^log_side cells in each direction, repeated periodically
    IntVector cell              # (items,): cell of each item
    IntVector start             # (cells + 1): cell c has the entries start[c] <= p < start[c + 1]
    IntVector entries           # (COLUMNS, stride): centres x, y, z modulo 2^32 units, radii rounded up, slots
    Py_ssize_t stride           # entries, and some more that a search may read

cdef struct CellRanges:               # ranges of entries
    int count
    int total                   # entries in them
    int first[MOST_RANGES]
    int last[MOST_RANGES]

cdef struct FixedSphere:        # a sphere in the fixed-point units of a grid
    int x, y, z
    int radius                  # rounded up

cdef struct Levels:
    int count
    CellGrid grid[MOST_LEVELS]      # from the smallest spheres to the largest

cdef Py_ssize_t entry_after(const CellGrid *grid, double part) noexcept nogil
cdef void empty_levels(Levels *levels) noexcept nogil
cdef void sort_by_size(Levels *levels, const double *spheres, const int *numbers, Py_ssize_t n_slots) noexcept nogil
cdef void reserve_levels(Levels *levels, double skin, const BoxPose *box) noexcept nogil
cdef void fill_levels(Levels *levels, const double *spheres, Barrier *barrier, int n_threads, double part_before,
                      double part_end) noexcept nogil
cdef void free_levels(Levels *levels) noexcept nogil


cdef inline const double *item_in_box(const BoxPose *box, const double *sphere, double *within) noexcept nogil:
    """Centre and radius, the centre moved into the box; without a box `sphere` itself."""
    if box == NULL:
        return sphere
    wrap_position(box, sphere, within)
    within[3] = sphere[3]
    return within


cdef inline int fixed_point(double length, double scale) noexcept nogil:
    """A coordinate in fixed-point units modulo 2^32, rounded to the nearest; clamped, so that 64 bits do not
    overflow."""
    cdef double u = length * scale
    u = 9e18 if u > 9e18 else u
    u = -9e18 if u < -9e18 else u
    return <int> llrint(u)


cdef inline FixedSphere fixed_sphere_of(const CellGrid *grid, const double *sphere) noexcept nogil:
    """A sphere (centre, radius) [m] in the units of the grid."""
    return FixedSphere(fixed_point(sphere[0], grid.scale), fixed_point(sphere[1], grid.scale),
                       fixed_point(sphere[2], grid.scale), <int> ceil(sphere[3] * grid.scale))


cdef inline FixedSphere fixed_sphere_at(const CellGrid *grid, Py_ssize_t entry) noexcept nogil:
    cdef const int *column = grid.entries.data + entry
    return FixedSphere(column[0], column[grid.stride], column[2 * grid.stride], column[3 * grid.stride])


cdef inline double cell_width(const CellGrid *grid) noexcept nogil:
    """[m]"""
    return (1 << LOG_UNITS) / grid.scale


cdef inline int cell_of(const CellGrid *grid, const FixedSphere *fixed) noexcept nogil:
    cdef int mask = (1 << grid.log_side) - 1
    return (((((fixed.z >> LOG_UNITS) & mask) << grid.log_side) | ((fixed.y >> LOG_UNITS) & mask)) << grid.log_side) \
        | ((fixed.x >> LOG_UNITS) & mask)


cdef inline void add_range(CellRanges *ranges, const CellGrid *grid, int cell, int n_cells) noexcept nogil:
    ranges.first[ranges.count] = grid.start.data[cell]
    ranges.last[ranges.count] = grid.start.data[cell + n_cells]
    ranges.total += grid.start.data[cell + n_cells] - grid.start.data[cell]
    ranges.count += 1


cdef inline void add_row(CellRanges *ranges, const CellGrid *grid, int row, int x) noexcept nogil:
    """The cells x - 1, x, x + 1 of a row whose first cell is `row`: adjacent in memory, unless they are periodic."""
    cdef int mask = (1 << grid.log_side) - 1, k
    if 0 < x < mask:
        add_range(ranges, grid, row + x - 1, 3)
    else:
        for k in range(-1, 2):
            add_range(ranges, grid, row + ((x + k) & mask), 1)


cdef inline int row_at(const CellGrid *grid, int y, int z) noexcept nogil:
    cdef int mask = (1 << grid.log_side) - 1
    return (((z & mask) << grid.log_side) + (y & mask)) << grid.log_side


cdef inline void ranges_ahead(CellRanges *ranges, const CellGrid *grid, int cell) noexcept nogil:
    """A cell and the thirteen after it: the next in x, three of the next row and nine of the next layer.

    The first range begins with the cell itself.
    """
    cdef int mask = (1 << grid.log_side) - 1
    cdef int x = cell & mask, y = (cell >> grid.log_side) & mask, z = cell >> (2 * grid.log_side), k
    ranges.count = ranges.total = 0
    add_range(ranges, grid, cell, 1 if x == mask else 2)
    if x == mask:
        add_range(ranges, grid, row_at(grid, y, z), 1)
    add_row(ranges, grid, row_at(grid, y + 1, z), x)
    for k in range(-1, 2):
        add_row(ranges, grid, row_at(grid, y + k, z + 1), x)


cdef inline void ranges_around(CellRanges *ranges, const CellGrid *grid, int cell) noexcept nogil:
    """A cell and the twenty-six around it."""
    cdef int mask = (1 << grid.log_side) - 1
    cdef int x = cell & mask, y = (cell >> grid.log_side) & mask, z = cell >> (2 * grid.log_side), k, m
    ranges.count = ranges.total = 0
    for k in range(-1, 2):
        for m in range(-1, 2):
            add_row(ranges, grid, row_at(grid, y + m, z + k), x)
