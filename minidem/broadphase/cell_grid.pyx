"""Cell list by spatial hash and counting sort.

The cell of a point is given by its integer coordinates modulo a power of two in each direction: space is covered by
periodic copies of one table, whose size follows the number of spheres and not the size of the domain. So the domain
needs no bounds, a sphere that escapes costs nothing, and neighbours in x stay neighbours in memory. With at least four
cells in each direction no pair of neighbouring cells occurs twice.

Centres are fixed-point integers of 32 bits, 2^16 units to a cell, modulo 2^32: differences of neighbours are exact
anywhere, and the upper bits are the cell. Distant spheres in the same cell of the table are distinguished by their
distance, unless they are a multiple of 2^16 cells apart: such a pair is pruned from the inner list. Rounding to units
changes a distance by up to sqrt(3) units, the arithmetic of a search (floats of 24 bits) by a hundredth of a unit: a
search adds MARGIN to the skin, and the cells are wide enough for it.

The entries of a cell are in the order of their slots; centres, radii and slots are columns, so that sixteen are tested
at once. Each thread computes the cells of a part of the spheres, then sorts the spheres of a part of the cells: the
grid is the same for any number of threads.

Spheres of different sizes are in grids of different cell widths: spheres of one grid differ in size by a factor of two
at most. Each sphere is compared with the cells after its own in its grid, and with all cells around it in the grids of
larger spheres: every pair occurs once, and a large sphere costs as much as the small ones near it.
V. Ogarko & S. Luding, Comput. Phys. Commun. 183, 931 (2012), doi 10.1016/j.cpc.2011.12.019.
"""
from libc.math cimport INFINITY
from libc.string cimport memset

from minidem.core.openmp cimport barrier_wait
from minidem.core.vectors cimport push, release, reserve

cdef enum:
    BEYOND = 15                 # entries that a search may read after the last
    MARGIN = 3                  # units
    SPHERES_PER_CELL = 4        # at most, averaged over the table
    SAMPLE = 256                # items by which the cells are divided among threads
    ENTRIES = 64                # entries by which the search is


cdef void prepare_grid(CellGrid *grid, double skin, const BoxPose *box) noexcept nogil:
    """Set the width of the cells to largest diameter + skin [m] and allocate.

    box : see CellGrid. Its lengths are 2^30 units at most: no two images of an item have equal coordinates modulo 2^32.
    """
    cdef Py_ssize_t n = grid.items.size
    cdef int axis
    # Two radii, the skin, all rounded up, and the margin are less than a cell.
    grid.scale = ((1 << LOG_UNITS) - MARGIN - 3) / (grid.largest_diameter + skin)
    grid.box = box
    for axis in range(3 if box != NULL else 0):
        if grid.scale * box.length[axis] > 1 << 30:
            grid.scale = (1 << 30) / box.length[axis]
    grid.skin = <int> ceil(skin * grid.scale) + MARGIN
    grid.log_side = 2
    while grid.log_side < 10 and SPHERES_PER_CELL * (<Py_ssize_t> 1 << (3 * grid.log_side)) < n:
        grid.log_side += 1
    grid.stride = n + BEYOND
    reserve(&grid.entries, COLUMNS * grid.stride)
    reserve(&grid.cell, n)
    reserve(&grid.start, (<Py_ssize_t> 1 << (3 * grid.log_side)) + 1)


cdef void assign_cells(CellGrid *grid, const double *spheres, double part_before, double part_end) noexcept nogil:
    """Compute the cells of a part of the items.

    spheres : (slots, 4) centres and radii [m].
    """
    cdef Py_ssize_t k, n = grid.items.size
    cdef double within[4]
    cdef FixedSphere fixed
    for k in range(<Py_ssize_t> (part_before * n), <Py_ssize_t> (part_end * n)):
        fixed = fixed_sphere_of(grid, item_in_box(grid.box, spheres + 4 * <Py_ssize_t> grid.items.data[k], within))
        grid.cell.data[k] = cell_of(grid, &fixed)


cdef int cell_after(const CellGrid *grid, double part) noexcept nogil:
    """The cell that ends about this part of the items, by a sample: most cells may be empty, and all at one end."""
    cdef int cells[SAMPLE]
    cdef int n_cells = 1 << (3 * grid.log_side), low = 0, high = n_cells, middle, below, k
    if part <= 0.0 or part >= 1.0 or grid.items.size == 0:
        return n_cells if part > 0.0 else 0
    for k in range(SAMPLE):
        cells[k] = grid.cell.data[k * grid.items.size // SAMPLE]
    while low < high:
        middle = low + (high - low) // 2
        below = 0
        for k in range(SAMPLE):
            below += cells[k] < middle
        if below < part * SAMPLE:
            low = middle + 1
        else:
            high = middle
    return low


cdef void fill_cells(CellGrid *grid, const double *spheres, double part_before, double part_end) noexcept nogil:
    """Sort about this part of the items into their cells, a range that no other thread has."""
    cdef Py_ssize_t k, n = grid.items.size, n_cells = <Py_ssize_t> 1 << (3 * grid.log_side), c
    cdef Py_ssize_t first = cell_after(grid, part_before), last = cell_after(grid, part_end)
    cdef const int *cell = grid.cell.data
    cdef int *start = grid.start.data
    cdef int *column = NULL
    cdef double within[4]
    cdef FixedSphere fixed
    cdef int total = 0
    memset(start + first, 0, (last - first) * sizeof(int))
    for k in range(n):
        total += cell[k] < first
        if first <= cell[k] < last:
            start[cell[k]] += 1
    for c in range(first, last):                        # ends of the cells
        total += start[c]
        start[c] = total
    if first < last == n_cells:                         # one thread alone
        start[n_cells] = total
    for k in range(n - 1, -1, -1):
        if first <= cell[k] < last:
            start[cell[k]] -= 1
            column = grid.entries.data + start[cell[k]]
            fixed = fixed_sphere_of(grid, item_in_box(grid.box, spheres + 4 * <Py_ssize_t> grid.items.data[k], within))
            column[0], column[grid.stride], column[2 * grid.stride] = fixed.x, fixed.y, fixed.z
            column[3 * grid.stride], column[SLOT * grid.stride] = fixed.radius, grid.items.data[k]


cdef Py_ssize_t entry_after(const CellGrid *grid, double part) noexcept nogil:
    """The entry that ends this part of the work, estimated by a sample: the last cells have fewer neighbors."""
    cdef Py_ssize_t n = grid.items.size, k
    cdef double work[ENTRIES]
    cdef double total = 0.0, below = 0.0
    cdef CellRanges ranges
    cdef FixedSphere fixed
    if part <= 0.0 or part >= 1.0 or n == 0:
        return n if part > 0.0 else 0
    for k in range(ENTRIES):
        fixed = fixed_sphere_at(grid, k * n // ENTRIES)
        ranges_ahead(&ranges, grid, cell_of(grid, &fixed))
        work[k] = 1.0 + ranges.total
        total += work[k]
    k = 0
    while k < ENTRIES - 1 and below + work[k] <= part * total:
        below += work[k]
        k += 1
    return min(<Py_ssize_t> ((k + (part * total - below) / work[k]) * n / ENTRIES), n)


cdef void empty_levels(Levels *levels) noexcept nogil:
    """Free the memory of the cells."""
    cdef int level
    for level in range(levels.count):
        release(&levels.grid[level].cell)
        release(&levels.grid[level].start)
        release(&levels.grid[level].entries)


cdef void sort_by_size(Levels *levels, const double *spheres, const int *numbers, Py_ssize_t n_slots) noexcept nogil:
    """Choose the levels and assign the spheres.

    spheres : (n_slots, 4) centres and radii [m];  numbers : (n_slots,), negative for empty slots.
    """
    cdef double smallest = INFINITY, radius, bound
    cdef int level
    cdef Py_ssize_t s
    for s in range(n_slots):
        if numbers[s] >= 0:
            smallest = min(smallest, spheres[4 * s + 3])
    for s in range(n_slots):
        if numbers[s] >= 0:
            radius = spheres[4 * s + 3]
            level, bound = 0, 2.0 * smallest
            while level < MOST_LEVELS - 1 and radius > bound:
                bound *= 2.0
                level += 1
            levels.count = max(levels.count, level + 1)
            levels.grid[level].largest_diameter = max(levels.grid[level].largest_diameter, 2.0 * radius)
            push(&levels.grid[level].items, <int> s)


cdef void reserve_levels(Levels *levels, double skin, const BoxPose *box) noexcept nogil:
    """Allocate the cells of all grids, box : periodic, or NULL."""
    cdef int level
    for level in range(levels.count):
        prepare_grid(&levels.grid[level], skin, box)


cdef void fill_levels(Levels *levels, const double *spheres, Barrier *barrier, int n_threads, double part_before,
                      double part_end) noexcept nogil:
    """Sort all spheres into the cells of their grids. Called by all threads together, each for its part."""
    cdef int level
    for level in range(levels.count):
        assign_cells(&levels.grid[level], spheres, part_before, part_end)
    barrier_wait(barrier, n_threads, 0)
    for level in range(levels.count):
        fill_cells(&levels.grid[level], spheres, part_before, part_end)


cdef void free_levels(Levels *levels) noexcept nogil:
    cdef int level
    empty_levels(levels)
    for level in range(levels.count):
        release(&levels.grid[level].items)
