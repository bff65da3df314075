"""Contacts: memory, the copy from which a step is undone, and which contacts of a law with history begin and end.

Of a law with history, a pair of spheres is either in the inner list or a contact, never both. A pair that touches
becomes a contact, and returns to the list when the contact ends; so only pairs that do not touch are tested. The
elements of walls near a sphere stay in their list, because of neighbouring triangles only the nearest one counts
(wall_contacts.pyx): a contact with a wall lasts as long as it is found there.
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport select_near
from minidem.contact.blocks cimport (
    CACHE_LINE, Blocks, ContactBlock, block_of, clear_blocks, clear_numbers, copy_blocks, free_lane, posix_memalign,
    release_blocks, set_bodies, take_lane,
)
from minidem.contact.law cimport pair_of
from minidem.contact.mobility cimport inverse_mass_of, mobility
from minidem.contact.wall_contacts cimport find_wall_pairs
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vec3 cimport Vec3, dot, scale, sub, vec3
from minidem.core.vectors cimport release, reserve
from minidem.state.periodic_box cimport nearest_image
from minidem.state.pose cimport write_motions
from minidem.walls.surface cimport touch_wall


cdef bint save_contacts(Contacts *contacts) noexcept nogil:
    """Copy the contacts. False: memory exhausted."""
    cdef int group
    for group in range(<int> GROUPS):
        if not copy_blocks(&contacts.saved[group], &contacts.groups[group]):
            return False
    contacts.saved_ledger, contacts.has_saved = contacts.ledger, True
    return True


cdef void restore_contacts(Contacts *contacts) noexcept nogil:
    """Undo a step that is not complete, if there is a copy. The lists must be rebuilt before the next one."""
    cdef Blocks blocks
    cdef int group
    if contacts.has_saved:
        for group in range(<int> GROUPS):
            blocks = contacts.groups[group]
            contacts.groups[group], contacts.saved[group] = contacts.saved[group], blocks
        contacts.ledger, contacts.has_saved = contacts.saved_ledger, False


cdef void own_slots(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Set the range of slots that this thread owns; the sums are not ready."""
    contacts.first_slot = <int> state.first_member[mine.first_block] * LANES
    contacts.n_slots = <int> state.first_member[mine.last_block] * LANES - contacts.first_slot
    contacts.ready, contacts.sent.size = False, 0


cdef bint reset_sums(Contacts *contacts, Py_ssize_t n_sent) noexcept nogil:
    """Sums of zero for the own spheres and n_sent others. False: memory exhausted."""
    cdef void *data = NULL
    cdef Py_ssize_t n = contacts.n_slots + 1 + n_sent, sums = n * contacts.width * <Py_ssize_t> sizeof(int64_t)
    cdef Py_ssize_t size = sums + n // LANES + 1
    if size > contacts.capacity:
        free(contacts.sums)
        contacts.sums, contacts.capacity = NULL, 0
        if posix_memalign(&data, CACHE_LINE, size) != 0:
            return False
        contacts.sums, contacts.capacity = <int64_t *> data, size
    contacts.touched, contacts.sent.size = <unsigned char *> contacts.sums + sums, 0
    memset(contacts.sums, 0, size)
    return reserve(&contacts.sent, n_sent)


cdef void clear_contacts(Contacts *contacts) noexcept nogil:
    """Discard the contacts of a law without history, before a new pose."""
    cdef int group
    for group in range(<int> GROUPS):
        clear_blocks(&contacts.groups[group])
        contacts.ends[group].size = 0
    contacts.list_cursor = contacts.n_found = 0
    contacts.box_work[0] = contacts.box_work[1] = 0


cdef void release_contacts(Contacts *contacts) noexcept nogil:
    """Free all memory, also of fractures not taken; energies and the size of a block stay."""
    cdef int group
    for group in range(<int> GROUPS):
        release_blocks(&contacts.groups[group])
        release_blocks(&contacts.spare[group])
        release_blocks(&contacts.saved[group])
        release(&contacts.ends[group])
        release(&contacts.onset[group])
    free(contacts.sums)
    contacts.sums, contacts.capacity, contacts.list_cursor, contacts.n_found = NULL, 0, 0, 0
    contacts.has_saved = contacts.ready = False
    contacts.ledger.n_fractures = 0
    release(&contacts.fractures)
    release(&contacts.row_contacts)
    release(&contacts.sent)
    release(&contacts.sent_rates)
    release(&contacts.start)
    release(&contacts.entries)
    release(&contacts.order)
    release(&contacts.contact_at)
    release(&contacts.seen)
    release(&contacts.found_pairs)
    release(&contacts.found_numbers)
    release(&contacts.facets)
    release(&contacts.noted)


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


cdef void count_contact(Contacts *contacts, const StateView *state, int sphere) noexcept nogil:
    """A contact of an own sphere begins: from now on the motions of its row are written in each step.

    Those of rows that are in the lists of other threads are written anyway.
    """
    cdef unsigned int own = <unsigned int> (sphere - contacts.first_slot)
    cdef int row
    if own >= <unsigned int> contacts.n_slots:
        return
    if contacts.row_contacts.data[row_of(own)] == 0:
        row = <int> row_of(sphere)
        write_motions(state, state.block_of_member[row], &row, 1)
    contacts.row_contacts.data[row_of(own)] += 1


cdef Py_ssize_t begin_contact(Contacts *contacts, const Law *law, const StateView *state, int group, int i,
                              int j) noexcept nogil:
    """A new contact, with a history of zeros. Returns its lane; -1: memory exhausted.

    Of two spheres, the one with the lower number of the user comes first for the life of the contact.
    """
    cdef Blocks *blocks = &contacts.groups[group]
    cdef Py_ssize_t lane = take_lane(blocks)
    if lane < 0:
        return -1
    if j >= 0 and state.sphere_number[i] > state.sphere_number[j]:
        i, j = j, i
    set_bodies(blocks, lane, i, j, -1, pair_of(law, state, i, j))
    clear_numbers(blocks, lane)                         # which an evaluated hole may have
    set_inertia(law, state, i, j, block_of(blocks, lane), lane_of(lane))
    count_contact(contacts, state, i)
    count_contact(contacts, state, j)
    return lane


cdef inline void remove_pair(Neighbours *mine, Py_ssize_t k) noexcept nogil:
    """Remove the pair at k from the inner list; the last one takes its place."""
    mine.pairs.size -= 2
    memcpy(mine.pairs.data + k, mine.pairs.data + mine.pairs.size, 2 * sizeof(int))


cdef int find_known(const Contacts *contacts, int i, int j) noexcept nogil:
    """1 + lane of a contact that was known when the lists were rebuilt; 0: none."""
    cdef int key = min(i, j) if j >= 0 else i, e
    cdef int other = j if key == i else i
    cdef const int *start = contacts.start.data + (key - contacts.first_slot)
    for e in range(start[0], start[1]):
        if contacts.entries.data[2 * e] == other:
            return contacts.entries.data[2 * e + 1] + 1
    return 0


cdef bint search(Contacts *contacts, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil:
    """Candidates that touch become contacts. False: memory exhausted.

    Backwards: a pair that takes the place of a removed one has been tested.
    """
    cdef Py_ssize_t end = mine.pairs.size, begin, n, k
    cdef double skin = law.reach if law.begins_at_reach else 0.0
    cdef const int64_t *numbers = <const int64_t *> contacts.found_numbers.data
    cdef const int *pair
    while end > 0:
        begin = (end - 1) // PAIRS_AT_ONCE * PAIRS_AT_ONCE
        n = select_near(state.spheres, law.box, mine.pairs.data + begin, end - begin, skin, contacts.found_pairs.data,
                        <int64_t *> contacts.found_numbers.data) // 2
        for k in range(n - 1, -1, -1):
            pair = contacts.found_pairs.data + 2 * k
            if begin_contact(contacts, law, state, SPHERES, pair[0], pair[1]) < 0:
                return False
            remove_pair(mine, begin + 2 * numbers[k])
        end = begin
    return True


cdef void drop_known(const Contacts *contacts, Neighbours *mine) noexcept nogil:
    """Of new lists, remove the pairs that are contacts, also those that have just parted."""
    cdef Py_ssize_t k
    for k in range(mine.pairs.size - 2, -1, -2):
        if find_known(contacts, mine.pairs.data[k], mine.pairs.data[k + 1]):
            remove_pair(mine, k)


cdef bint find_at_walls(Contacts *contacts, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil:
    """Contacts with walls: which begin, and which of the known ones are still found. False: memory exhausted."""
    cdef Py_ssize_t n, k, lane, count = mine.wall_candidates.size // 2
    cdef const int *pair
    cdef const int64_t *numbers
    cdef const double *sphere
    cdef double reach = 0.0 if law.begins_at_reach else law.reach
    if not (reserve(&contacts.found_pairs, 2 * count + 2) and reserve(&contacts.found_numbers, 2 * count + 2)
            and reserve(&contacts.seen, LANES * contacts.groups[WALLS].n_blocks + 2 * count + 2 * LANES)):
        return False
    numbers = <const int64_t *> contacts.found_numbers.data
    n = find_wall_pairs(law.walls, mine, state, &contacts.facets, contacts.found_pairs.data,
                        <int64_t *> contacts.found_numbers.data, contacts, law.reach)
    if n < 0:
        return False
    memset(contacts.seen.data, 0, contacts.seen.capacity * sizeof(int))
    for k in range(n):
        pair = contacts.found_pairs.data + 2 * k
        lane = contacts.contact_at.data[numbers[k]] - 1
        if lane < 0:
            sphere = state.spheres + 4 * <Py_ssize_t> pair[0]
            if reach > 0.0 and touch_wall(law.walls, -1 - <Py_ssize_t> pair[1], sphere).height >= sphere[3]:
                continue                                # within the range, but it begins at touch
            lane = begin_contact(contacts, law, state, WALLS, pair[0], pair[1])
            if lane < 0:
                return False
            block_of(&contacts.groups[WALLS], lane).place[lane_of(lane)] = <int> numbers[k]
            contacts.contact_at.data[numbers[k]] = <int> lane + 1
        contacts.seen.data[lane] = 1
    return True


cdef bint find_new(Contacts *contacts, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil:
    """All contacts that begin at this pose. False: memory exhausted."""
    return reserve(&contacts.found_pairs, PAIRS_AT_ONCE + 16) and reserve(&contacts.found_numbers, PAIRS_AT_ONCE + 16) \
        and search(contacts, law, mine, state) and find_at_walls(contacts, law, mine, state)


cdef void end_contact(Contacts *contacts, Neighbours *mine, const StateView *state, int group,
                      Py_ssize_t lane) noexcept nogil:
    """A contact ends: its pair is a candidate again, and its lane a hole."""
    cdef const ContactBlock *block = block_of(&contacts.groups[group], lane)
    cdef unsigned int own
    cdef int side, k = lane_of(lane)
    for side in range(2):
        own = <unsigned int> ((block.second[k] if side else block.first[k]) - contacts.first_slot)
        if own < <unsigned int> contacts.n_slots:
            contacts.row_contacts.data[row_of(own)] -= 1
    if group == <int> WALLS:
        if block.place[k] >= 0:
            contacts.contact_at.data[block.place[k]] = 0
    else:
        mine.pairs.data[mine.pairs.size], mine.pairs.data[mine.pairs.size + 1] = block.first[k], block.second[k]
        mine.pairs.size += 2                            # there is room for all contacts (carry.pyx)
    free_lane(&contacts.groups[group], lane)
