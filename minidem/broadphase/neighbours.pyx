"""Verlet lists on two levels.

The *outer* list holds every pair of spheres of different clumps whose gap is below the outer
skin; it comes from the cell grid and is made anew when a sphere may have moved by half the
difference of the skins. The *inner* list is pruned from it with a narrow skin, more often, and is
what a step reads. Spheres near walls have lists of the same two kinds.

Every thread owns a range of blocks. A pair goes into the list of the owner of either clump, so
that each thread finds all forces on its own clumps and none on others'.
"""
from minidem.arrays cimport Ints, reserve
from minidem.broadphase.cell_grid cimport CellGrid, neighbour_runs
from minidem.rows cimport LANES
from minidem.state cimport StateView


cdef inline int owner_of(const Neighbours *all, int n_threads, int block) noexcept nogil:
    cdef int thread = 0
    while thread < n_threads - 1 and block >= all[thread].last_block:
        thread += 1
    return thread


cdef inline bint push_pair(Ints *list, int a, int b) noexcept nogil:
    if not reserve(list, list.size + 2):
        return False
    list.data[list.size] = a
    list.data[list.size + 1] = b
    list.size += 2
    return True


cdef bint search_pairs(Neighbours *all, int thread, int n_threads, const CellGrid *grid,
                       const StateView *state, double skin) noexcept nogil:
    """This thread's share of the grid: outer pairs, sorted by owner. False: memory exhausted."""
    cdef Ints *found = all[thread].found
    cdef Py_ssize_t p, q
    cdef int first[14]
    cdef int last[14]
    cdef int n_runs = 0, run, cell = -1, i, j, block, other, owner, second
    cdef double x, y, z, a, b, c, reach
    cdef const double *other_sphere
    for owner in range(n_threads):
        found[owner].size = 0
    for p in range(thread * grid.n_spheres // n_threads, (thread + 1) * grid.n_spheres // n_threads):
        if grid.cell.data[p] != cell:
            cell = grid.cell.data[p]
            n_runs = neighbour_runs(grid, cell, first, last)
        i = grid.slot.data[p]
        block = state.block_of_member[i >> 3]
        x = grid.sorted[4 * p]
        y = grid.sorted[4 * p + 1]
        z = grid.sorted[4 * p + 2]
        reach = grid.sorted[4 * p + 3] + skin
        for run in range(-1, n_runs):                   # -1: the rest of its own cell
            for q in range(p + 1 if run < 0 else first[run],
                           grid.start.data[cell + 1] if run < 0 else last[run]):
                other_sphere = grid.sorted + 4 * q
                a = x - other_sphere[0]
                b = y - other_sphere[1]
                c = z - other_sphere[2]
                if a * a + b * b + c * c < (reach + other_sphere[3]) * (reach + other_sphere[3]):
                    j = grid.slot.data[q]
                    other = state.block_of_member[j >> 3]
                    if block == other and ((i ^ j) & (LANES - 1)) == 0:
                        continue                        # spheres of one clump never touch each other
                    owner = owner_of(all, n_threads, block)
                    second = owner_of(all, n_threads, other)
                    if not push_pair(found + owner, i, j):
                        return False
                    if second != owner and not push_pair(found + second, i, j):
                        return False
    return True


cdef inline double height(const Planes *planes, Py_ssize_t wall, const double *sphere) noexcept nogil:
    """Distance of a sphere's centre from a plane, positive on the side of the normal."""
    cdef const double *point = planes.point + 3 * wall
    cdef const double *normal = planes.normal + 3 * wall
    return (sphere[0] - point[0]) * normal[0] + (sphere[1] - point[1]) * normal[1] + (sphere[2] - point[2]) * normal[2]


cdef bint search_walls(Neighbours *mine, const Planes *planes, const StateView *state, double skin) noexcept nogil:
    """Own spheres within the outer skin of a wall. False: memory exhausted."""
    cdef Py_ssize_t slot, wall
    mine.outer_walls.size = 0
    for slot in range(state.first_member[mine.first_block] * LANES, state.first_member[mine.last_block] * LANES):
        if state.sphere_number[slot] < 0:
            continue
        for wall in range(planes.count):
            if height(planes, wall, state.spheres + 4 * slot) < state.spheres[4 * slot + 3] + skin:
                if not push_pair(&mine.outer_walls, <int> slot, <int> wall):
                    return False
    return True


cdef bint prune(Neighbours *all, int thread, int n_threads, const Planes *planes, const StateView *state,
                unsigned char *marks, double skin) noexcept nogil:
    """Inner lists from the outer ones, and the member rows that they need. False: memory exhausted.

    marks : (n_members,), zero before and after; each thread touches those of its own rows only.
    """
    cdef Neighbours *mine = all + thread
    cdef const Ints *found
    cdef Py_ssize_t k, total = 0, kept = 0, slot
    cdef const double *a
    cdef const double *b
    cdef double x, y, z, reach
    cdef int source
    for source in range(n_threads):
        total += all[source].found[thread].size
    if not (reserve(&mine.pairs, total) and reserve(&mine.walls, mine.outer_walls.size)):
        return False
    for source in range(n_threads):
        found = &all[source].found[thread]
        for k in range(0, found.size, 2):
            a = state.spheres + 4 * <Py_ssize_t> found.data[k]
            b = state.spheres + 4 * <Py_ssize_t> found.data[k + 1]
            x = a[0] - b[0]
            y = a[1] - b[1]
            z = a[2] - b[2]
            reach = a[3] + b[3] + skin
            mine.pairs.data[kept] = found.data[k]
            mine.pairs.data[kept + 1] = found.data[k + 1]
            kept += 2 * (x * x + y * y + z * z < reach * reach)
    mine.pairs.size = kept
    kept = 0
    for k in range(0, mine.outer_walls.size, 2):
        slot = mine.outer_walls.data[k]
        mine.walls.data[kept] = mine.outer_walls.data[k]
        mine.walls.data[kept + 1] = mine.outer_walls.data[k + 1]
        kept += 2 * (height(planes, mine.walls.data[kept + 1], state.spheres + 4 * slot)
                     < state.spheres[4 * slot + 3] + skin)
    mine.walls.size = kept
    return collect_active(mine, state, marks)


cdef bint collect_active(Neighbours *mine, const StateView *state, unsigned char *marks) noexcept nogil:
    cdef Py_ssize_t k, row, first = state.first_member[mine.first_block], last = state.first_member[mine.last_block]
    if not reserve(&mine.active, last - first):
        return False
    for k in range(mine.pairs.size):
        row = mine.pairs.data[k] >> 3
        if first <= row < last:
            marks[row] = 1
    for k in range(0, mine.walls.size, 2):
        marks[mine.walls.data[k] >> 3] = 1
    k = 0
    for row in range(first, last):
        mine.active.data[k] = <int> row
        k += marks[row]
        marks[row] = 0
    mine.active.size = k
    return True
