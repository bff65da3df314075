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


cdef bint keep_pair(Neighbours *all, int thread, int n_threads, const StateView *state, int i, int j) noexcept nogil:
    """Put a pair of spheres into the lists of the owners of both."""
    cdef Ints *found = all[thread].found
    cdef int owner = owner_of(all, n_threads, state.block_of_member[i >> 3])
    cdef int second = owner_of(all, n_threads, state.block_of_member[j >> 3])
    return push_pair(found + owner, i, j) and (second == owner or push_pair(found + second, i, j))


cdef inline bint are_near(const double *a, const double *b, double skin) noexcept nogil:
    """Is the gap between two spheres (centre, radius) below `skin`?"""
    cdef double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2], reach = a[3] + b[3] + skin
    return x * x + y * y + z * z < reach * reach


cdef bint collect_near(Ints *near, const StateView *state, int clump, const double *sphere, double skin) noexcept nogil:
    """Slots of the clump's spheres near `sphere`. False: memory exhausted."""
    cdef Py_ssize_t row, block = clump >> 3
    cdef int slot
    near.size = 0
    if not reserve(near, state.first_member[block + 1] - state.first_member[block]):
        return False
    for row in range(state.first_member[block], state.first_member[block + 1]):
        slot = <int> row * LANES + (clump & (LANES - 1))
        if state.sphere_number[slot] >= 0 and are_near(state.spheres + 4 * <Py_ssize_t> slot, sphere, skin):
            near.data[near.size] = slot
            near.size += 1
    return True


cdef bint compare_clumps(Neighbours *all, int thread, int n_threads, const StateView *state, int first, int second,
                         const double *first_bound, const double *second_bound, double skin) noexcept nogil:
    """Outer pairs of two clumps whose bounding spheres are near: only spheres near the other's bounding sphere."""
    cdef Ints *near = all[thread].near
    cdef Py_ssize_t i, j
    if not (collect_near(&near[0], state, first, second_bound, skin)
            and collect_near(&near[1], state, second, first_bound, skin)):
        return False
    for i in range(near[0].size):
        for j in range(near[1].size):
            if are_near(state.spheres + 4 * <Py_ssize_t> near[0].data[i],
                        state.spheres + 4 * <Py_ssize_t> near[1].data[j], skin):
                if not keep_pair(all, thread, n_threads, state, near[0].data[i], near[1].data[j]):
                    return False
    return True


cdef bint search_pairs(Neighbours *all, int thread, int n_threads, const CellGrid *grid,
                       const StateView *state, double skin, bint clumps_first) noexcept nogil:
    """This thread's share of the grid: outer pairs, sorted by owner. False: memory exhausted.

    clumps_first : the grid holds bounding spheres of clumps, not spheres.
    """
    cdef Py_ssize_t p, q
    cdef int first[14]
    cdef int last[14]
    cdef int n_runs = 0, run, cell = -1, i, j, owner
    cdef double x, y, z, a, b, c, reach
    cdef const double *other
    for owner in range(n_threads):
        all[thread].found[owner].size = 0
    for p in range(thread * grid.n_items // n_threads, (thread + 1) * grid.n_items // n_threads):
        if grid.cell.data[p] != cell:
            cell = grid.cell.data[p]
            n_runs = neighbour_runs(grid, cell, first, last)
        i = grid.slot.data[p]
        x = grid.sorted[4 * p]
        y = grid.sorted[4 * p + 1]
        z = grid.sorted[4 * p + 2]
        reach = grid.sorted[4 * p + 3] + skin
        for run in range(-1, n_runs):                   # -1: the rest of its own cell
            for q in range(p + 1 if run < 0 else first[run],
                           grid.start.data[cell + 1] if run < 0 else last[run]):
                other = grid.sorted + 4 * q
                a = x - other[0]
                b = y - other[1]
                c = z - other[2]
                if a * a + b * b + c * c < (reach + other[3]) * (reach + other[3]):
                    j = grid.slot.data[q]
                    if clumps_first:
                        if not compare_clumps(all, thread, n_threads, state, i, j, grid.sorted + 4 * p, other, skin):
                            return False
                    elif ((i ^ j) & (LANES - 1)) != 0 or state.block_of_member[i >> 3] != state.block_of_member[j >> 3]:
                        if not keep_pair(all, thread, n_threads, state, i, j):     # never two of one clump
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
