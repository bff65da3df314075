"""Verlet lists on two levels.

The *outer* list holds every pair of spheres of different clumps whose gap is below the outer skin. It is built from the
cell grid, and again when a sphere may have moved by half the difference of the skins. The *inner* list is pruned from
it with a narrower skin, more often, and is what a step reads. Spheres near walls, that is near their
elements, have the same two lists.

Each thread owns a range of blocks. A pair is in the list of the thread that owns the sphere in the lower slot; the
other sphere may belong to another thread.

Where the state is larger than the caches, the inner list is sorted by slabs: ranges of slots. A pair belongs to the
slab of its later sphere, so that it can be tested as soon as the slab has moved and while both spheres are in cache.
Pairs with a sphere of another thread follow all others.
"""
from libc.string cimport memcpy, memset

from minidem.core.eight cimport bits_below, load_eight, store_eight
from minidem.core.lanes cimport LANES, row_of
from minidem.core.openmp cimport set_flag
from minidem.core.transpose cimport rows_from_records
from minidem.core.vectors cimport IntVector, reserve
from minidem.state.state cimport StateView
from minidem.walls.surface cimport PLANE, Shape, find_triangles, simple_height, touch_wall


cdef inline unsigned int near_plane(const double *rows, const double *point, const double *normal,
                                    double skin) noexcept nogil:
    """Bits 1 << lane of the spheres, rows of centres and radii, whose gap to a plane is below `skin`."""
    cdef double beyond[LANES]
    store_eight(beyond, (load_eight(rows) - point[0]) * normal[0] + (load_eight(rows + LANES) - point[1]) * normal[1]
                + (load_eight(rows + 2 * LANES) - point[2]) * normal[2] - (load_eight(rows + 3 * LANES) + skin))
    return bits_below(beyond, 0.0)


cdef unsigned int near_simple(const Walls *walls, Py_ssize_t element, const double *rows, const double *spheres,
                              double skin) noexcept nogil:
    """Bits 1 << lane of the spheres within `skin` of an element; rows : those of the records `spheres`."""
    cdef const Shape *shape = walls.shapes + element
    cdef unsigned int bits = 0
    cdef int lane
    if shape.kind == PLANE and not walls.moves[walls.wall_of[element]]:
        return near_plane(rows, shape.point, shape.axis, skin)
    for lane in range(LANES):
        bits |= <unsigned int> (simple_height(walls, element, spheres + 4 * lane)
                                < spheres[4 * lane + 3] + skin) << lane
    return bits


cdef bint search_walls(Neighbours *mine, const Walls *walls, const StateView *state, double skin) noexcept nogil:
    """Own spheres within the outer skin of a wall. False: memory exhausted."""
    cdef Py_ssize_t row, slot, element, k
    cdef double rows[4 * LANES]
    cdef int lanes[LANES]
    cdef int lane
    cdef unsigned int bits
    mine.outer_wall_candidates.size = 0
    mine.outer_travelled = walls.travelled
    for lane in range(LANES):
        lanes[lane] = lane
    for row in range(state.first_member[mine.first_block], state.first_member[mine.last_block]):
        rows_from_records(state.spheres + row * 4 * LANES, lanes, rows)
        for element in range(walls.n_simple):
            bits = near_simple(walls, element, rows, state.spheres + row * 4 * LANES, skin)
            for lane in range(LANES if bits else 0):
                slot = row * LANES + lane
                if bits >> lane & 1 and state.sphere_number[slot] >= 0 \
                        and not push_pair(&mine.outer_wall_candidates, <int> slot, <int> element):
                    return False
    mine.n_outer_simple = mine.outer_wall_candidates.size
    mine.triangle_diameters = 0.0
    if walls.n_meshes == 0:
        return True
    for slot in range(state.first_member[mine.first_block] * LANES, state.first_member[mine.last_block] * LANES):
        if state.sphere_number[slot] < 0:
            continue
        if not find_triangles(walls, state.spheres + 4 * slot, skin, &mine.triangles):
            return False
        mine.triangle_diameters += 2.0 * state.spheres[4 * slot + 3] * mine.triangles.size
        for k in range(mine.triangles.size):
            if not push_pair(&mine.outer_wall_candidates, <int> slot, mine.triangles.data[k]):
                return False
    return True


cdef void prune_walls(Neighbours *mine, const Walls *walls, const StateView *state, double skin) noexcept nogil:
    """The inner list of spheres near walls; there is room."""
    cdef Py_ssize_t k, element, kept = 0
    cdef const double *sphere
    cdef double height
    mine.travelled = walls.travelled
    mine.n_simple = 0
    for k in range(0, mine.outer_wall_candidates.size, 2):
        sphere = state.spheres + 4 * <Py_ssize_t> mine.outer_wall_candidates.data[k]
        element = mine.outer_wall_candidates.data[k + 1]
        mine.wall_candidates.data[kept] = mine.outer_wall_candidates.data[k]
        mine.wall_candidates.data[kept + 1] = <int> element
        height = simple_height(walls, element, sphere) if k < mine.n_outer_simple \
            else touch_wall(walls, element, sphere).height
        kept += 2 * (height < sphere[3] + skin)
        if k < mine.n_outer_simple:
            mine.n_simple = kept
    mine.wall_candidates.size = kept


cdef bint sort_by_slab(Neighbours *mine, const StateView *state) noexcept nogil:
    """Counting sort of the pairs by the slab of the later sphere; see above. False: memory exhausted."""
    cdef int first_slot = <int> state.first_member[mine.first_block] * LANES
    cdef int n_own_slots = <int> state.first_member[mine.last_block] * LANES - first_slot
    cdef Py_ssize_t k, slab, n_slabs = ((n_own_slots - 1) >> mine.log_slab) + 1
    cdef const int *pairs = mine.pairs.data
    cdef int *ends
    cdef int total = 0, count
    if not (reserve(&mine.slab_ends, n_slabs + 1) and reserve(&mine.spare, mine.pairs.size + PADDING)):
        return False
    mine.slab_ends.size = n_slabs
    ends = mine.slab_ends.data                          # the last one of pairs of two threads
    memset(ends, 0, (n_slabs + 1) * sizeof(int))
    for k in range(0, mine.pairs.size, 2):
        ends[slab_of(mine, pairs + k, first_slot, n_own_slots, n_slabs)] += 2
    for slab in range(n_slabs + 1):                     # where each begins
        count = ends[slab]
        ends[slab] = total
        total += count
    for k in range(0, mine.pairs.size, 2):
        slab = slab_of(mine, pairs + k, first_slot, n_own_slots, n_slabs)
        memcpy(mine.spare.data + ends[slab], pairs + k, 2 * sizeof(int))
        ends[slab] += 2
    mine.spare.size = mine.pairs.size
    mine.pairs, mine.spare = mine.spare, mine.pairs
    return True


cdef inline Py_ssize_t slab_of(const Neighbours *mine, const int *pair, int first_slot, int n_own_slots,
                               Py_ssize_t n_slabs) noexcept nogil:
    cdef int later = max(pair[0], pair[1]) - first_slot
    return later >> mine.log_slab if later < n_own_slots else n_slabs


cdef void mark_rows(Neighbours *mine, const StateView *state, unsigned char *marks) noexcept nogil:
    """Mark the member rows with a sphere in the inner lists of this thread, and count spheres of other threads.

    marks : (n_members, 2): in the lists of the owner, of another thread.
    """
    cdef Py_ssize_t k, row, first = state.first_member[mine.first_block], last = state.first_member[mine.last_block]
    cdef bint foreign
    mine.n_foreign = 0
    for k in range(mine.pairs.size):
        row = row_of(mine.pairs.data[k])
        foreign = not first <= row < last
        mine.n_foreign += foreign
        set_flag(marks + 2 * row + foreign)
    for k in range(0, mine.wall_candidates.size, 2):
        set_flag(marks + 2 * row_of(mine.wall_candidates.data[k]))


cdef bint prune(Neighbours *all, int thread, int n_threads, const Walls *walls, const BoxPose *box,
                const StateView *state, unsigned char *marks, double skin) noexcept nogil:
    """Inner lists from the outer ones. False: memory exhausted.

    marks : see mark_rows; zero before. When all threads have set theirs, collect_active reads them.
    """
    cdef Neighbours *mine = all + thread
    cdef const IntVector *found
    cdef Py_ssize_t total = 0, kept = 0
    cdef int source
    for source in range(n_threads):
        total += all[source].found[thread].size
    if not (reserve(&mine.pairs, total + PADDING) and reserve(&mine.wall_candidates, mine.outer_wall_candidates.size)):
        return False
    for source in range(n_threads):
        found = all[source].found + thread
        kept += select_near(state.spheres, box, found.data, found.size, skin, mine.pairs.data + kept,
                            NULL)
    mine.pairs.size = kept
    if mine.log_slab and not sort_by_slab(mine, state):
        return False
    mine.previous_lifetime = mine.steps
    mine.steps = 0
    prune_walls(mine, walls, state, skin)
    mark_rows(mine, state, marks)
    return True


cdef bint collect_active(Neighbours *mine, const StateView *state, unsigned char *marks) noexcept nogil:
    """List own member rows with a sphere in the inner lists: only these are posed. False: memory exhausted.

    marks : see mark_rows; those of own rows are zero after it.
    """
    cdef Py_ssize_t row, first = state.first_member[mine.first_block], last = state.first_member[mine.last_block]
    mine.active.size = mine.shared.size = 0
    if not (reserve(&mine.active, last - first) and reserve(&mine.shared, last - first)):
        return False
    for row in range(first, last):
        mine.active.data[mine.active.size] = mine.shared.data[mine.shared.size] = <int> row
        mine.active.size += marks[2 * row] | marks[2 * row + 1]
        mine.shared.size += marks[2 * row + 1]
        marks[2 * row] = marks[2 * row + 1] = 0
    return True
