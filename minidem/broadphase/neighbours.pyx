"""Verlet lists on two levels.

The *outer* list holds every pair of spheres of different clumps whose gap is below the outer
skin; it comes from the cell grid and is made anew when a sphere may have moved by half the
difference of the skins. The *inner* list is pruned from it with a narrow skin, more often, and is
what a step reads. Spheres near walls have lists of the same two kinds.

Every thread owns a range of blocks. A pair goes into the list of the owner of either clump, so
that each thread finds all forces on its own clumps and none on others'.
"""
from minidem.arrays cimport Ints, reserve
from minidem.rows cimport LANES
from minidem.state cimport StateView


cdef inline bint push_pair(Ints *list, int a, int b) noexcept nogil:
    """Append a pair. False: memory exhausted."""
    if not reserve(list, list.size + 2):
        return False
    list.data[list.size] = a
    list.data[list.size + 1] = b
    list.size += 2
    return True


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
    cdef int source
    for source in range(n_threads):
        total += all[source].found[thread].size
    if not (reserve(&mine.pairs, total + BEYOND) and reserve(&mine.walls, mine.outer_walls.size)):
        return False
    for source in range(n_threads):
        found = &all[source].found[thread]
        kept += select_near(state.spheres, found.data, found.size, skin, mine.pairs.data + kept)
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
