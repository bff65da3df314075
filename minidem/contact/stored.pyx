"""Contacts of a law with history: memory, the copy from which a step is undone, and which contacts begin and end.

A pair of spheres is either in the inner list or a contact, never both. A pair that touches becomes a contact, and
returns to the list when the contact ends; so only pairs that do not touch are tested. The elements of walls near a
sphere stay in their list, because of neighbouring triangles only the nearest one counts (wall_contacts.pyx): a contact
with a wall lasts as long as it is found there.
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport select_near
from minidem.contact.blocks cimport (
    CACHE_LINE, Blocks, ContactBlock, block_of, clear_numbers, copy_blocks, free_lane, posix_memalign, release_blocks,
    set_bodies, take_lane,
)
from minidem.contact.fixed_point cimport LINE
from minidem.contact.central cimport PAIRS_AT_ONCE
from minidem.contact.mobility cimport inverse_mass_of, mobility
from minidem.contact.wall_contacts cimport find_wall_pairs
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vec3 cimport Vec3, dot, scale, sub, vec3
from minidem.core.vectors cimport release, reserve
from minidem.state.periodic_box cimport nearest_image
from minidem.state.pose cimport write_motions
from minidem.state.state cimport clump_of
from minidem.walls.surface cimport touch_wall


cdef bint save_stored(Stored *stored) noexcept nogil:
    """Copy the contacts. False: memory exhausted."""
    cdef int group
    for group in range(<int> GROUPS):
        if not copy_blocks(&stored.saved[group], &stored.groups[group]):
            return False
    stored.saved_ledger, stored.has_saved = stored.ledger, True
    return True


cdef void restore_stored(Stored *stored) noexcept nogil:
    """Undo a step that is not complete, if there is a copy. The lists must be rebuilt before the next one."""
    cdef Blocks blocks
    cdef int group
    if stored.has_saved:
        for group in range(<int> GROUPS):
            blocks = stored.groups[group]
            stored.groups[group], stored.saved[group] = stored.saved[group], blocks
        stored.ledger, stored.has_saved = stored.saved_ledger, False


cdef bint reserve_lines(Stored *stored, Py_ssize_t n_sent) noexcept nogil:
    """Lines of zeros for the own spheres and n_sent others. False: memory exhausted."""
    cdef void *data = NULL
    cdef Py_ssize_t n = stored.n_slots + 1 + n_sent
    if n > stored.lines.capacity:
        free(stored.lines.fine)
        free(stored.lines.coarse)
        stored.lines.fine, stored.lines.coarse, stored.lines.capacity = NULL, NULL, 0
        if posix_memalign(&data, CACHE_LINE, n * <int> LINE * sizeof(int64_t)) != 0:
            return False
        stored.lines.fine, stored.lines.capacity = <int64_t *> data, n
    stored.lines.has_large = stored.sent_large = False
    stored.sent.size = 0
    memset(stored.lines.fine, 0, n * <int> LINE * sizeof(int64_t))
    if stored.lines.coarse != NULL:
        memset(stored.lines.coarse, 0, n * <int> LINE * sizeof(int64_t))
    return reserve(&stored.sent, n_sent)


cdef void release_stored(Stored *stored) noexcept nogil:
    """Free all memory, also of fractures not taken; the number of records, energies and the size of a block stay."""
    cdef int group
    for group in range(<int> GROUPS):
        release_blocks(&stored.groups[group])
        release_blocks(&stored.spare[group])
        release_blocks(&stored.saved[group])
    free(stored.lines.fine)
    free(stored.lines.coarse)
    stored.lines.fine, stored.lines.coarse, stored.lines.capacity = NULL, NULL, 0
    stored.has_saved = stored.ready = False
    stored.ledger.n_fractures = 0
    release(&stored.fractures)
    release(&stored.row_contacts)
    release(&stored.sent)
    release(&stored.sent_rates)
    release(&stored.start)
    release(&stored.entries)
    release(&stored.order)
    release(&stored.contact_at)
    release(&stored.seen)
    release(&stored.found_pairs)
    release(&stored.found_numbers)
    release(&stored.facets)


cdef inline int material_of(const StateView *state, int sphere) noexcept nogil:
    cdef int clump = clump_of(state, sphere)
    return <int> state.spins[(row_of(clump) * 4 + 3) * LANES + lane_of(clump)]


cdef inline Vec3 normal_of(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """Unit, to the sphere i, from the sphere or element j; zero if centres coincide."""
    cdef const double *a = state.spheres + 4 * <Py_ssize_t> i
    cdef const double *b = state.spheres + 4 * <Py_ssize_t> j
    cdef Vec3 d
    cdef double distance
    if j < 0:
        return touch_wall(law.walls, -1 - <Py_ssize_t> j, a).normal
    d = nearest_image(law.box, sub(vec3(a[0], a[1], a[2]), vec3(b[0], b[1], b[2])))
    distance = sqrt(dot(d, d))
    return scale(1.0 / distance if distance > 0.0 else 0.0, d)


cdef void set_inertia(const Law *law, const StateView *state, int i, int j, ContactBlock *block, int k) noexcept nogil:
    """Effective mass and rolling inertia of a new contact, in lane k of a block."""
    cdef double radius = state.spheres[4 * <Py_ssize_t> i + 3], rolling = inverse_mass_of(state, i) / (radius * radius)
    cdef Vec3 normal = normal_of(law, state, i, j)
    cdef double inverse = inverse_mass_of(state, i) if law.mass_of_clumps else mobility(state, i, normal)
    if j >= 0:
        radius = state.spheres[4 * <Py_ssize_t> j + 3]
        rolling += inverse_mass_of(state, j) / (radius * radius)
        inverse += inverse_mass_of(state, j) if law.mass_of_clumps else mobility(state, j, normal)
    block.mass[k], block.rolling_inertia[k] = 1.0 / inverse, 1.4 / rolling


cdef void count_contact(Stored *stored, const StateView *state, int sphere) noexcept nogil:
    """A contact of an own sphere begins: from now on the motions of its row are written in each step.

    Those of rows that are in the lists of other threads are written anyway.
    """
    cdef unsigned int own = <unsigned int> (sphere - stored.first_slot)
    cdef int row
    if own >= <unsigned int> stored.n_slots:
        return
    if stored.row_contacts.data[row_of(own)] == 0:
        row = <int> row_of(sphere)
        write_motions(state, state.block_of_member[row], &row, 1)
    stored.row_contacts.data[row_of(own)] += 1


cdef Py_ssize_t begin_contact(Stored *stored, const Law *law, const StateView *state, int group, int i,
                              int j) noexcept nogil:
    """A new contact, with a history of zeros. Returns its lane; -1: memory exhausted.

    Of two spheres, the one with the lower number of the user comes first for the life of the contact.
    """
    cdef Blocks *blocks = &stored.groups[group]
    cdef Py_ssize_t lane = take_lane(blocks)
    cdef int second
    if lane < 0:
        return -1
    if j >= 0 and state.sphere_number[i] > state.sphere_number[j]:
        i, j = j, i
    second = material_of(state, j) if j >= 0 else <int> law.walls.materials[law.walls.wall_of[-1 - j]]
    set_bodies(blocks, lane, i, j, -1, material_of(state, i) * law.n_materials + second)
    clear_numbers(blocks, lane)                         # which an evaluated hole may have
    set_inertia(law, state, i, j, block_of(blocks, lane), lane_of(lane))
    count_contact(stored, state, i)
    count_contact(stored, state, j)
    return lane


cdef inline void remove_pair(Neighbours *mine, Py_ssize_t k) noexcept nogil:
    """Remove the pair at k from the inner list; the last one takes its place."""
    mine.pairs.size -= 2
    memcpy(mine.pairs.data + k, mine.pairs.data + mine.pairs.size, 2 * sizeof(int))


cdef int find_known(const Stored *stored, int i, int j) noexcept nogil:
    """1 + lane of a contact that was known when the lists were rebuilt; 0: none."""
    cdef int key = min(i, j) if j >= 0 else i, e
    cdef int other = j if key == i else i
    cdef const int *start = stored.start.data + (key - stored.first_slot)
    for e in range(start[0], start[1]):
        if stored.entries.data[2 * e] == other:
            return stored.entries.data[2 * e + 1] + 1
    return 0


cdef bint search(Stored *stored, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil:
    """Candidates that touch become contacts. False: memory exhausted.

    Backwards: a pair that takes the place of a removed one has been tested.
    """
    cdef Py_ssize_t end = mine.pairs.size, begin, n, k
    cdef double skin = law.reach if law.begins_at_reach else 0.0
    cdef const int64_t *numbers = <const int64_t *> stored.found_numbers.data
    cdef const int *pair
    while end > 0:
        begin = (end - 1) // PAIRS_AT_ONCE * PAIRS_AT_ONCE
        n = select_near(state.spheres, law.box, mine.pairs.data + begin, end - begin, skin, stored.found_pairs.data,
                        <int64_t *> stored.found_numbers.data) // 2
        for k in range(n - 1, -1, -1):
            pair = stored.found_pairs.data + 2 * k
            if begin_contact(stored, law, state, SPHERES, pair[0], pair[1]) < 0:
                return False
            remove_pair(mine, begin + 2 * numbers[k])
        end = begin
    return True


cdef void drop_known(const Stored *stored, Neighbours *mine) noexcept nogil:
    """Of new lists, remove the pairs that are contacts, also those that have just parted."""
    cdef Py_ssize_t k
    for k in range(mine.pairs.size - 2, -1, -2):
        if find_known(stored, mine.pairs.data[k], mine.pairs.data[k + 1]):
            remove_pair(mine, k)


cdef bint find_at_walls(Stored *stored, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil:
    """Contacts with walls: which begin, and which of the known ones are still found. False: memory exhausted."""
    cdef Py_ssize_t n, k, lane, count = mine.wall_candidates.size // 2
    cdef const int *pair
    cdef const int64_t *numbers
    cdef const double *sphere
    cdef double reach = 0.0 if law.begins_at_reach else law.reach
    if not (reserve(&stored.found_pairs, 2 * count + 2) and reserve(&stored.found_numbers, 2 * count + 2)
            and reserve(&stored.seen, LANES * stored.groups[WALLS].n_blocks + 2 * count + 2 * LANES)):
        return False
    numbers = <const int64_t *> stored.found_numbers.data
    n = find_wall_pairs(law.walls, mine, state, &stored.facets, stored.found_pairs.data,
                        <int64_t *> stored.found_numbers.data, stored, law.reach)
    if n < 0:
        return False
    memset(stored.seen.data, 0, stored.seen.capacity * sizeof(int))
    for k in range(n):
        pair = stored.found_pairs.data + 2 * k
        lane = stored.contact_at.data[numbers[k]] - 1
        if lane < 0:
            sphere = state.spheres + 4 * <Py_ssize_t> pair[0]
            if reach > 0.0 and touch_wall(law.walls, -1 - <Py_ssize_t> pair[1], sphere).height >= sphere[3]:
                continue                                # within the range, but it begins at touch
            lane = begin_contact(stored, law, state, WALLS, pair[0], pair[1])
            if lane < 0:
                return False
            block_of(&stored.groups[WALLS], lane).place[lane_of(lane)] = <int> numbers[k]
            stored.contact_at.data[numbers[k]] = <int> lane + 1
        stored.seen.data[lane] = 1
    return True


cdef bint find_new(Stored *stored, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil:
    """All contacts that begin at this pose. False: memory exhausted."""
    return reserve(&stored.found_pairs, PAIRS_AT_ONCE + 16) and reserve(&stored.found_numbers, PAIRS_AT_ONCE + 16) \
        and search(stored, law, mine, state) and find_at_walls(stored, law, mine, state)


cdef void end_contact(Stored *stored, Neighbours *mine, const StateView *state, int group,
                      Py_ssize_t lane) noexcept nogil:
    """A contact ends: its pair is a candidate again, and its lane a hole."""
    cdef const ContactBlock *block = block_of(&stored.groups[group], lane)
    cdef unsigned int own
    cdef int side, k = lane_of(lane)
    for side in range(2):
        own = <unsigned int> ((block.second[k] if side else block.first[k]) - stored.first_slot)
        if own < <unsigned int> stored.n_slots:
            stored.row_contacts.data[row_of(own)] -= 1
    if group == <int> WALLS:
        if block.place[k] >= 0:
            stored.contact_at.data[block.place[k]] = 0
    else:
        mine.pairs.data[mine.pairs.size], mine.pairs.data[mine.pairs.size + 1] = block.first[k], block.second[k]
        mine.pairs.size += 2                            # there is room for all contacts (carry.pyx)
    free_lane(&stored.groups[group], lane)
