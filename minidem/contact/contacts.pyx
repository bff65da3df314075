"""Contacts: memory, a copy to go back to, and which contacts of a law with history begin and end.

Of a law with history, a pair of spheres is either in the inner list or a contact, never both. A pair that touches
becomes a contact, and returns to the list when the contact ends; so only pairs that do not touch are tested. The
primitives of walls near a sphere stay in their list: a contact with a wall lasts as long as it is found there. Of the
triangles near a sphere some count (walls/surface.pyx); one that was a contact and counts no more gives its history to
the one that replaced it, if their directions differ by less than the feature angle.

A rebuild of the lists moves contacts to new lanes; after a change of the shares also to another thread, that which owns
the sphere in the lower slot. Each thread collects its own from all threads, in the order of these spheres
(`collect_stored`); then new blocks replace old ones, and contacts leave the new lists (`take_collected`).

The effective mass of a contact is taken when it begins (FRICTION.md), except with `mass=shared` (`share_masses`).
"""
import numpy as np

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, qsort
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport PADDING, select_near
from minidem.contact.blocks cimport (
    ContactBlock, block_at, block_of, clear_blocks, clear_numbers, copy_blocks, copy_numbers, free_lane,
    release_blocks, reserve_blocks, set_bodies, take_lane,
)
from minidem.contact.contact cimport load3
from minidem.contact.gather cimport gather_contacts
from minidem.contact.law cimport pair_of
from minidem.core.instant cimport BETWEEN
from minidem.core.lanes cimport lane_of, row_of
from minidem.core.prefetch cimport BLOCKS_AHEAD, prefetch
from minidem.core.vec3 cimport Vec3, add, cross, dot, scale, sub, vec3
from minidem.core.vectors cimport aligned_memory, grow, push_pair, release, reserve
from minidem.state.hold cimport carrier_of, mobility_of, response, turning_of
from minidem.state.periodic_box cimport nearest_image
from minidem.state.pose cimport write_motions
from minidem.state.rows cimport HoldBlock, load
from minidem.state.state cimport State, clump_of, constants_of, hold_of
from minidem.walls.surface cimport Walls, arm_at, find_facets, overlaps_simple, replaces, touch_wall, vector

cdef extern from *:
    # Over the inverse mass of the heavier clump: mobility of a contact along whose normal no force moves it, and ...
    const double LEAST_MOBILITY "0.1"
    const double NO_MOBILITY "1e-4"     # ... below which it counts as such


cdef inline double inverse_mass_of(const StateView *state, int sphere) noexcept nogil:
    """Of the clump of a sphere [1/kg]."""
    cdef int clump = clump_of(state, sphere)
    return constants_of(state, row_of(clump)).inverse_mass[lane_of(clump)]


cdef inline double smaller_inverse_mass(const StateView *state, int i, int j) noexcept nogil:
    """Of the clumps of a contact of the sphere i with the sphere or primitive j [1/kg]."""
    cdef double inverse_mass = inverse_mass_of(state, i)
    return min(inverse_mass, inverse_mass_of(state, j)) if j >= 0 else inverse_mass


cdef inline int driven_with(const Walls *walls, const StateView *state, int body) noexcept nogil:
    """Number of the `Driven` wall that carries a sphere, or has the primitive -1 - body; -1: none."""
    cdef int wall
    if walls.drives == NULL:
        return -1
    wall = carrier_of(state, body) if body >= 0 else walls.wall_of[-1 - body]
    return wall if wall >= 0 and walls.drives[wall].mobility > 0.0 else -1


cdef inline double lever_of(const Walls *walls, int wall, const StateView *state, int i, int body,
                            Vec3 normal) noexcept nogil:
    """Part of a driven wall in a push along the normal at the sphere i: along its line, or moment about its axis.

    body : a sphere that the wall carries, or -1 - its primitive that touches the sphere i
    """
    cdef Vec3 axis = vector(walls.drives[wall].axis)
    cdef const double *x = state.spheres + 4 * <Py_ssize_t> (body if body >= 0 else i)
    if not walls.drives[wall].turns:
        return dot(axis, normal)
    return dot(axis, cross(sub(vector(x), vector(walls.now[wall].position)) if body >= 0
                           else arm_at(walls, -1 - <Py_ssize_t> body, vector(x)), normal))


cdef inline double inverse_rolling_inertia(const StateView *state, int sphere) noexcept nogil:
    """Part of a sphere in the inverse of the rolling inertia of a contact; zero if torques do not turn its clump."""
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef const HoldBlock *hold = hold_of(state, row_of(clump))
    cdef double radius = state.spheres[4 * <Py_ssize_t> sphere + 3]
    cdef Vec3 axis = vec3(0.0, 0.0, 0.0) if hold == NULL else load(hold.axis + lane)
    if hold != NULL and hold.turns[lane] == 0.0 and dot(axis, axis) == 0.0:
        return 0.0
    return inverse_mass_of(state, sphere) / (radius * radius)


cdef void save_contacts(Contacts *contacts, bint history) noexcept nogil:
    """Copy the energies, and contacts with a history."""
    cdef int group
    contacts.saved_ledger = contacts.ledger
    for group in range(<int> GROUPS if history else 0):
        if not copy_blocks(&contacts.saved[group], &contacts.groups[group]):
            return


cdef void restore_contacts(Contacts *contacts, bint history) noexcept nogil:
    """Undo what has happened since save_contacts. The lists must be rebuilt before the next step."""
    cdef Blocks blocks
    cdef int group
    contacts.ledger = contacts.saved_ledger
    for group in range(<int> GROUPS if history else 0):
        blocks = contacts.groups[group]
        contacts.groups[group], contacts.saved[group] = contacts.saved[group], blocks


cdef void release_copy(Contacts *contacts) noexcept nogil:
    """Free the memory of save_contacts."""
    cdef int group
    for group in range(<int> GROUPS):
        release_blocks(&contacts.saved[group])


cdef void own_slots(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Set the range of slots that this thread owns; the sums are not ready."""
    contacts.first_slot = <int> state.first_member[mine.first_block] * LANES
    contacts.n_slots = <int> state.first_member[mine.last_block] * LANES - contacts.first_slot
    contacts.ready, contacts.foreign.size, contacts.changed.size = False, 0, 0


cdef void reset_sums(Contacts *contacts, bint packed, Py_ssize_t n_foreign) noexcept nogil:
    """Sums of zero for the own spheres and n_foreign others, which are then ready.

    packed : few of many spheres touch, and the contacts are found slab by slab.
    """
    cdef Py_ssize_t n = contacts.n_slots, numbers = 0, free_sum = n, sums, size
    contacts.packed = packed
    if packed:
        numbers, free_sum = (n + 1) * <Py_ssize_t> sizeof(int), 2 * n + 2
    sums = (free_sum + 1 + n_foreign) * contacts.width * <Py_ssize_t> sizeof(int64_t)
    size = sums + numbers + n // LANES + 1
    if size > contacts.capacity:
        free(contacts.sums)
        contacts.sums = <int64_t *> aligned_memory(size)
        contacts.capacity = size if contacts.sums != NULL else 0
    if contacts.sums == NULL or not reserve(&contacts.foreign, n_foreign):
        return
    contacts.sum_of = <int *> (contacts.sums + sums // <Py_ssize_t> sizeof(int64_t))
    contacts.touched = <unsigned char *> contacts.sum_of + numbers
    contacts.free_sum, contacts.n_sums, contacts.foreign.size = <int> free_sum, 1, 0
    if packed:                                          # own sums are set to zero as they are given to spheres
        memset(contacts.sums, 0, 4 * sizeof(int64_t))
        memset(contacts.sums + 4 * free_sum, 0, size - 4 * free_sum * sizeof(int64_t))
        contacts.sum_of[n] = contacts.free_sum
    else:
        memset(contacts.sums, 0, size)
    contacts.ready = True


cdef void clear_contacts(Contacts *contacts) noexcept nogil:
    """Discard the contacts of a law without history, before a new pose."""
    cdef int group
    for group in range(<int> GROUPS):
        clear_blocks(&contacts.groups[group])
    contacts.list_cursor = contacts.n_found = 0
    contacts.n_sums = 1 if contacts.n_sums > contacts.n_slots + 1 else contacts.n_slots + 2     # the other place
    contacts.box_work[0] = contacts.box_work[1] = 0
    clear_observers(contacts)


cdef void clear_observers(Contacts *contacts) noexcept nogil:
    """Let the observers forget the contacts that they have seen, before all are evaluated."""
    cdef int k
    for k in range(contacts.n_observers):
        contacts.observers[k].clear(contacts, contacts.observers[k].own)


cdef void release_contacts(Contacts *contacts) noexcept nogil:
    """Free all memory."""
    cdef int group
    release_copy(contacts)
    release_room(contacts)
    release(&contacts.fractures)
    for group in range(<int> GROUPS):
        release_blocks(&contacts.groups[group])
        release_blocks(&contacts.spare[group])


cdef void release_room(Contacts *contacts) noexcept nogil:
    """Free what a rebuild of the lists makes anew: sums, and vectors about the contacts."""
    free(contacts.sums)
    contacts.sums, contacts.capacity, contacts.ready = NULL, 0, False
    release(&contacts.row_contacts)
    release(&contacts.foreign)
    release(&contacts.foreign_rates)
    release(&contacts.start)
    release(&contacts.entries)
    release(&contacts.order)
    release(&contacts.contact_at)
    release(&contacts.seen)
    release(&contacts.found_pairs)
    release(&contacts.found_wall_pairs)
    release(&contacts.facets)
    release(&contacts.changed)


cdef Vec3 normal_of(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """Unit, to the sphere i, from the sphere or primitive j; zero if centres coincide."""
    cdef const double *a = state.spheres + 4 * <Py_ssize_t> i
    cdef const double *b = state.spheres + 4 * <Py_ssize_t> j
    cdef Vec3 d
    cdef double distance
    if j < 0:
        return touch_wall(law.walls, -1 - <Py_ssize_t> j, a).normal
    d = nearest_image(law.box, sub(vec3(a[0], a[1], a[2]), vec3(b[0], b[1], b[2])))
    distance = sqrt(dot(d, d))
    return scale(1.0 / distance if distance > 0.0 else 0.0, d)


cdef double mobility_in(const Walls *walls, const StateView *state, int i, int body, Vec3 normal,
                        bint turns) noexcept nogil:
    """Acceleration of a body of a contact of the sphere i, a sphere or -1 - primitive, per force along the normal."""
    cdef int wall = driven_with(walls, state, body)
    cdef double lever
    if wall >= 0:
        lever = lever_of(walls, wall, state, i, body, normal)
        return walls.drives[wall].mobility * (lever * lever)
    return mobility_of(state, body, normal, turns) if body >= 0 else 0.0


cdef double own_mobility(const Walls *walls, const StateView *state, int i, int j, Vec3 normal,
                         bint turns) noexcept nogil:
    """Approach acceleration of the bodies of a contact per force along the normal, as if there were no other [1/kg].

    It is next to none at a hinge, or along what is held: there the mass of the normal dashpot must be bounded.
    """
    cdef double mobility = mobility_in(walls, state, i, i, normal, turns) \
        + mobility_in(walls, state, i, j, normal, turns)
    cdef double inverse_mass = smaller_inverse_mass(state, i, j)
    return mobility if mobility > NO_MOBILITY * inverse_mass else LEAST_MOBILITY * inverse_mass


cdef void find_inertia(const Walls *walls, const StateView *state, int i, int j, Vec3 normal, bint turns, double *mass,
                       double *rolling_inertia) noexcept nogil:
    """Effective mass and rolling inertia of a contact of the sphere i with the sphere or primitive j."""
    cdef double rolling = inverse_rolling_inertia(state, i), radius = state.spheres[4 * <Py_ssize_t> i + 3]
    if j >= 0:
        rolling += inverse_rolling_inertia(state, j)
    mass[0] = 1.0 / own_mobility(walls, state, i, j, normal, turns)
    rolling_inertia[0] = 1.4 / max(rolling, LEAST_MOBILITY * smaller_inverse_mass(state, i, j) / (radius * radius))


cdef object effective_inertia(const Walls *walls, State state, pairs, const double[:, :] normals, bint turns):
    """(mass, rolling inertia), (n,) each, of contacts between spheres (n, 2), the user's numbers.

    normals : (n, 3).  turns : whether the rotation of clumps counts.
    """
    cdef double[::1] mass = np.empty(len(pairs)), rolling = np.empty(len(pairs))
    cdef const int[:, ::1] slots = state.sphere_slot.take(pairs)
    cdef Py_ssize_t k
    for k in range(slots.shape[0]):
        find_inertia(walls, &state.view, slots[k, 0], slots[k, 1], vec3(normals[k, 0], normals[k, 1], normals[k, 2]),
                     turns, &mass[k], &rolling[k])
    return np.asarray(mass), np.asarray(rolling)


cdef inline int count_on_row(Contacts *contacts, int sphere, int change) noexcept nogil:
    """Change the number of contacts on the member row of a sphere; returns it, 0 for a sphere of another thread."""
    cdef unsigned int own = <unsigned int> (sphere - contacts.first_slot)
    if own >= <unsigned int> contacts.n_slots:
        return 0
    contacts.row_contacts.data[row_of(own)] += change
    return contacts.row_contacts.data[row_of(own)]


cdef void begin_on(Contacts *contacts, const StateView *state, int sphere) noexcept nogil:
    """A contact of a sphere begins: from now on the motions of its row are written in each step.

    Those of rows that are in the lists of other threads are written anyway.
    """
    cdef Py_ssize_t row = row_of(sphere)
    if count_on_row(contacts, sphere, 1) == 1:
        write_motions(state, state.block_of_member[row], row, row + 1, NULL)


cdef Py_ssize_t begin_contact(Contacts *contacts, const StateView *state, int group, int i, int j) noexcept nogil:
    """A new contact, with a history of zeros. Returns its lane; -1: memory was refused.

    Of two spheres, the one with the lower number of the user comes first for the life of the contact.
    """
    cdef Blocks *blocks = &contacts.groups[group]
    cdef Py_ssize_t lane = take_lane(blocks)
    cdef ContactBlock *block
    if lane < 0:
        return -1
    if j >= 0 and state.sphere_number[i] > state.sphere_number[j]:
        i, j = j, i
    set_bodies(blocks, lane, i, j, pair_of(contacts.law, state, i, j))
    clear_numbers(blocks, lane)                         # which an evaluated free lane may have
    block = block_of(blocks, lane)
    find_inertia(contacts.law.walls, state, i, j, normal_of(contacts.law, state, i, j), not contacts.law.mass_of_clumps,
                 block.mass + lane_of(lane), block.rolling_inertia + lane_of(lane))
    if contacts.law.shares_mass:
        block.mass[lane_of(lane)] *= -1.0               # until the mass is shared
        push_pair(&contacts.changed, i, j)
    begin_on(contacts, state, i)
    begin_on(contacts, state, j)
    return lane


cdef inline void remove_pair(Neighbours *mine, Py_ssize_t k) noexcept nogil:
    """Remove the pair at k from the inner list; the last one takes its place."""
    mine.pairs.size -= 2
    memcpy(mine.pairs.data + k, mine.pairs.data + mine.pairs.size, 2 * sizeof(int))


cdef int find_known(const Contacts *contacts, int i, int j) noexcept nogil:
    """1 + lane of a contact that was known when the lists were rebuilt; 0: none."""
    cdef int lower = min(i, j) if j >= 0 else i, e
    cdef int other = j if lower == i else i
    cdef const int *start = contacts.start.data + (lower - contacts.first_slot)
    for e in range(start[0], start[1]):
        if contacts.entries.data[2 * e] == other:
            return contacts.entries.data[2 * e + 1] + 1
    return 0


cdef void find_between_spheres(Contacts *contacts, Neighbours *mine, const StateView *state) noexcept nogil:
    """Neighbor pairs that touch become contacts.

    Backwards: a pair that takes the place of a removed one has been tested.
    """
    cdef const Law *law = contacts.law
    cdef Py_ssize_t end = mine.pairs.size, begin, k
    cdef double skin = law.reach if law.begins_at_reach else 0.0
    cdef int pairs[PAIRS_AT_ONCE + 2 * LANES]
    while end > 0:
        begin = (end - 1) // PAIRS_AT_ONCE * PAIRS_AT_ONCE
        k = select_near(state.spheres, law.box, mine.pairs.data + begin, end - begin, skin, pairs)
        while k > 0:
            k -= 2
            if begin_contact(contacts, state, SPHERES, pairs[k], pairs[k + 1]) < 0:
                return
            end -= 2
            while mine.pairs.data[end] != pairs[k] or mine.pairs.data[end + 1] != pairs[k + 1]:
                end -= 2
            remove_pair(mine, end)
        end = begin


cdef void find_at_walls(Contacts *contacts, Neighbours *mine, const StateView *state) noexcept nogil:
    """Contacts with walls: which begin, and which of the known ones are still found."""
    cdef const Law *law = contacts.law
    cdef Py_ssize_t n, k, lane, count = mine.wall_pairs.size // 2
    cdef const int *pair
    cdef const int *listed
    cdef const double *sphere
    cdef double reach = 0.0 if law.begins_at_reach else law.reach
    if not (reserve(&contacts.found_pairs, 2 * count + 2) and reserve(&contacts.found_wall_pairs, count + 1)
            and reserve(&contacts.seen, LANES * contacts.groups[WALLS].n_blocks + 2 * count + 2 * LANES)):
        return
    listed = contacts.found_wall_pairs.data
    n = find_wall_pairs(contacts, mine, state, contacts.found_pairs.data, contacts.found_wall_pairs.data, law.reach)
    memset(contacts.seen.data, 0, (LANES * (contacts.groups[WALLS].n_blocks + 1) + n) * sizeof(int))    # old and new
    for k in range(n):
        pair = contacts.found_pairs.data + 2 * k
        lane = contacts.contact_at.data[listed[k]] - 1
        if lane < 0:
            sphere = state.spheres + 4 * <Py_ssize_t> pair[0]
            if reach > 0.0 and touch_wall(law.walls, -1 - <Py_ssize_t> pair[1], sphere).height >= sphere[3]:
                continue                                # within the range, but it begins at touch
            lane = begin_contact(contacts, state, WALLS, pair[0], pair[1])
            if lane < 0:
                return
            block_of(&contacts.groups[WALLS], lane).wall_pair[lane_of(lane)] = listed[k]
            contacts.contact_at.data[listed[k]] = <int> lane + 1
        contacts.seen.data[lane] = 1


cdef void find_new(Contacts *contacts, Neighbours *mine, const StateView *state) noexcept nogil:
    """All contacts that begin at this pose."""
    find_between_spheres(contacts, mine, state)
    find_at_walls(contacts, mine, state)


cdef void end_contact(Contacts *contacts, Neighbours *mine, const StateView *state, int group,
                      Py_ssize_t lane) noexcept nogil:
    """A contact ends: its pair is a neighbor pair again, and its lane free."""
    cdef const ContactBlock *block = block_of(&contacts.groups[group], lane)
    cdef int k = lane_of(lane)
    if contacts.law.shares_mass:
        push_pair(&contacts.changed, block.first[k], block.second[k])
    count_on_row(contacts, block.first[k], -1)
    count_on_row(contacts, block.second[k], -1)
    if group == <int> WALLS:
        if block.wall_pair[k] >= 0:
            contacts.contact_at.data[block.wall_pair[k]] = 0
    else:
        mine.pairs.data[mine.pairs.size], mine.pairs.data[mine.pairs.size + 1] = block.first[k], block.second[k]
        mine.pairs.size += 2                            # there is room for all contacts, see take_collected
    free_lane(&contacts.groups[group], lane)


cdef Py_ssize_t find_own(Contacts *contacts, const Contacts *all, int n_threads) noexcept nogil:
    """List own contacts of all threads in `order`, (n, 4): own slot, thread, group, lane. Returns n.

    Those of slot k are counted in start[k + 2].
    """
    cdef const Blocks *blocks
    cdef const ContactBlock *block
    cdef int *found
    cdef Py_ssize_t lane, count = 0
    cdef int t, group, i, j, lower
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            blocks = &all[t].groups[group]
            for lane in range(LANES * blocks.n_blocks):
                block = block_of(blocks, lane)
                prefetch(block_of(blocks, lane + BLOCKS_AHEAD * LANES))
                i, j = block.first[lane_of(lane)], block.second[lane_of(lane)]
                lower = (min(i, j) if j >= 0 else i) - contacts.first_slot
                if 0 <= lower < contacts.n_slots and reserve(&contacts.order, 4 * (count + 1)):       # no free lane
                    found = contacts.order.data + 4 * count
                    found[0], found[1], found[2], found[3] = lower, t, group, <int> lane
                    contacts.start.data[lower + 2] += 1
                    count += 1
    return count


cdef void copy_contact(Contacts *contacts, const Blocks *source, Py_ssize_t from_lane,
                       Py_ssize_t entry) noexcept nogil:
    """A contact into the spare blocks and the table."""
    cdef const ContactBlock *old = block_of(source, from_lane)
    cdef int i = old.first[lane_of(from_lane)], j = old.second[lane_of(from_lane)]
    cdef Blocks *blocks = &contacts.spare[<int> WALLS if j < 0 else <int> SPHERES]
    cdef Py_ssize_t lane = take_lane(blocks)
    if lane < 0:
        return
    set_bodies(blocks, lane, i, j, old.materials[lane_of(from_lane)])
    copy_numbers(source, from_lane, blocks, lane)
    count_on_row(contacts, i, 1)
    count_on_row(contacts, j, 1)
    contacts.n_crossing += max(i, j) >= contacts.first_slot + contacts.n_slots
    contacts.entries.data[2 * entry] = j if j < 0 else max(i, j)
    contacts.entries.data[2 * entry + 1] = <int> lane


cdef void collect_stored(Contacts *all, int thread, int n_threads, const Neighbours *mine) noexcept nogil:
    """The own contacts, from all threads, into `spare`."""
    cdef Contacts *contacts = all + thread
    cdef Py_ssize_t k, n_rows = contacts.n_slots // LANES, count
    cdef const int *source
    cdef int *place
    cdef int group
    contacts.n_crossing = 0
    if not (reserve(&contacts.row_contacts, n_rows + 1) and reserve(&contacts.start, contacts.n_slots + 2)):
        return
    memset(contacts.row_contacts.data, 0, n_rows * sizeof(int))
    for k in range(mine.border.size):
        contacts.row_contacts.data[mine.border.data[k] - row_of(contacts.first_slot)] = 1
    memset(contacts.start.data, 0, (contacts.n_slots + 2) * sizeof(int))
    count = find_own(contacts, all, n_threads)
    for k in range(contacts.n_slots):
        contacts.start.data[k + 2] += contacts.start.data[k + 1]
    for group in range(<int> GROUPS):
        clear_blocks(&contacts.spare[group])
    if not (reserve(&contacts.entries, 2 * count) and reserve_blocks(&contacts.spare[SPHERES], count // LANES + 1)):
        return
    for k in range(count):                              # sorted by slots: start[k + 1] moves to the end of slot k
        place = contacts.start.data + contacts.order.data[4 * k] + 1
        contacts.entries.data[2 * place[0]] = <int> k
        place[0] += 1
    for k in range(count):
        source = contacts.order.data + 4 * <Py_ssize_t> contacts.entries.data[2 * k]
        copy_contact(contacts, &all[source[1]].groups[source[2]], source[3], k)


cdef void take_collected(Contacts *contacts, Neighbours *mine) noexcept nogil:
    """Replace the blocks by those collected; contacts leave the new lists."""
    cdef Blocks blocks
    cdef Py_ssize_t k, n_walls = mine.wall_pairs.size // 2, n_contacts = 0
    cdef int group, known
    for group in range(<int> GROUPS):
        blocks = contacts.groups[group]
        contacts.groups[group], contacts.spare[group] = contacts.spare[group], blocks
        release_blocks(&contacts.spare[group])          # of large beds most of the memory
        n_contacts += LANES * contacts.groups[group].n_blocks
    # A contact, or a pair of the list that becomes one, writes down at most one force on a sphere of another thread.
    if not (reserve(&contacts.contact_at, n_walls)
            and reserve(&mine.pairs, mine.pairs.size + 2 * n_contacts + PADDING)):
        return
    reset_sums(contacts, False, contacts.n_crossing + mine.n_foreign)
    for k in range(n_walls):
        known = find_known(contacts, mine.wall_pairs.data[2 * k], -1 - mine.wall_pairs.data[2 * k + 1])
        contacts.contact_at.data[k] = known
        if known:
            block_of(&contacts.groups[WALLS], known - 1).wall_pair[lane_of(known - 1)] = <int> k
    for k in range(mine.pairs.size - 2, -1, -2):        # also those that have just parted
        if find_known(contacts, mine.pairs.data[k], mine.pairs.data[k + 1]):
            remove_pair(mine, k)


cdef void hand_over(Contacts *contacts, double radius, Py_ssize_t first) noexcept nogil:
    """Hand contacts of dropped triangles over to the triangles that replace them; first : of them in the list."""
    cdef const Facet *facets = contacts.facets.data
    cdef Py_ssize_t n = contacts.facets.size
    cdef int *contact_at = contacts.contact_at.data + first
    cdef ContactBlock *block
    cdef Py_ssize_t k, m
    cdef int lane
    for k in range(n):
        if facets[k].dropped or contact_at[k]:
            continue
        for m in range(n):
            if facets[m].dropped and contact_at[m] and replaces(contacts.law.walls, facets + k, facets + m, radius):
                block, lane = block_of(&contacts.groups[WALLS], contact_at[m] - 1), lane_of(contact_at[m] - 1)
                block.second[lane], block.wall_pair[lane] = -1 - facets[k].primitive, <int> (first + k)
                contact_at[k], contact_at[m] = contact_at[m], 0
                break


cdef Py_ssize_t find_near_triangles(Contacts *contacts, const Neighbours *mine, const StateView *state, Py_ssize_t k,
                                    double reach) noexcept nogil:
    """The triangles near one sphere, from k on in the list, into `facets`; returns where the next sphere begins."""
    cdef const int *near = mine.wall_pairs.data
    cdef const double *sphere = state.spheres + 4 * <Py_ssize_t> near[k]
    cdef Py_ssize_t end = k, n, m
    while end < mine.wall_pairs.size and near[end] == near[k]:
        end += 2
    n, contacts.facets.size = (end - k) // 2, 0
    if grow(&contacts.facets, n, sizeof(Facet)) and reserve(&contacts.order, n):
        contacts.facets.size = n
        for m in range(n):
            contacts.facets.data[m].primitive = near[k + 2 * m + 1]
        find_facets(contacts.law.walls, sphere, sphere[3] + reach, contacts.facets.data, n, contacts.order.data)
    return end


cdef Py_ssize_t find_wall_pairs(Contacts *contacts, const Neighbours *mine, const StateView *state, int *pairs,
                                int *listed, double reach) noexcept nogil:
    """Contacts of own spheres with walls; returns how many.

    pairs : room for 2 ints per pair: slot, -1 - primitive.  listed : room for one int per pair, its index in the
        list; with them contacts are handed over from triangle to triangle. NULL: of a law without history.
    reach : gap up to which they count [m].
    """
    cdef const Walls *walls = contacts.law.walls
    cdef const int *near = mine.wall_pairs.data
    cdef const double *sphere
    cdef Py_ssize_t k, m, end, n = 0
    for k in range(mine.n_simple // 2):
        sphere = state.spheres + 4 * <Py_ssize_t> near[2 * k]
        pairs[2 * n], pairs[2 * n + 1] = near[2 * k], -1 - near[2 * k + 1]
        if listed != NULL:
            listed[n] = <int> k
        n += overlaps_simple(walls, near[2 * k + 1], sphere, sphere[3] + reach)     # no branch: it is unpredictable
    k = mine.n_simple
    while k < mine.wall_pairs.size:
        end = find_near_triangles(contacts, mine, state, k, reach)
        if listed != NULL:
            hand_over(contacts, state.spheres[4 * <Py_ssize_t> near[k] + 3] + reach, k // 2)
        for m in range(contacts.facets.size):
            pairs[2 * n], pairs[2 * n + 1] = near[k], -1 - near[k + 2 * m + 1]
            if listed != NULL:
                listed[n] = <int> (k // 2 + m)
            n += not contacts.facets.data[m].dropped
        k = end
    return n


cdef enum:
    MARKS = 4096                    # a power of two

cdef struct Member:                 # of a group: a contact, or a note that one begins or ends
    int64_t bodies, spheres         # the group, and the place of the contact in it; of a note 0
    double weight                   # 1/2 + x of a contact that begins or ends at this pose, else 0
    double mass                     # [kg]
    int lane
    bint walls

cdef struct Members:
    Member *data
    Py_ssize_t size
    Py_ssize_t capacity


cdef int in_order(const void *a, const void *b) noexcept nogil:
    """For qsort: groups, in each the notes by weight, then contacts in the user's order, so that sums have an order."""
    cdef const Member *x = <const Member *> a
    cdef const Member *y = <const Member *> b
    if x.bodies != y.bodies:
        return -1 if x.bodies < y.bodies else 1
    if x.spheres != y.spheres:
        return -1 if x.spheres < y.spheres else 1
    return (x.weight > y.weight) - (x.weight < y.weight)


cdef inline int64_t pair_of_numbers(int first, int second) noexcept nogil:
    """Positive, by ascending first, then second ones; first >= 0."""
    return (<int64_t> first + 1 << 32) + second


cdef int64_t bodies_of(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """A number of the group of a contact of the sphere i with the sphere or primitive j."""
    return pair_of_numbers(clump_of(state, i), clump_of(state, j) if j >= 0 else -1 - <int> law.walls.wall_of[-1 - j])


cdef const Contact *gathered(bint moves, Contacts *contacts, const StateView *state, bint walls,
                             const ContactBlock *block) noexcept nogil:
    """Geometry, with `moves` also motion, of the contacts of a block."""
    gather_contacts(moves, contacts.law, state, block.first, block.second, walls, LANES, &contacts.rooms[0].contact,
                    contacts.rooms[0].sides, contacts.rooms[0].images[0])
    return &contacts.rooms[0].contact


cdef void note_ends(Contacts *contacts, const StateView *state) noexcept nogil:
    """Note the contacts that have parted since the last pose."""
    cdef const ContactBlock *block
    cdef const Contact *contact
    cdef Py_ssize_t b
    cdef int group, k
    for group in range(<int> GROUPS):
        for b in range(contacts.groups[group].n_blocks):
            block = block_at(&contacts.groups[group], b)
            contact = gathered(False, contacts, state, group == <int> WALLS, block)
            for k in range(LANES):
                if block.first[k] != contacts.groups[group].free_slot and contact.overlap[k] <= 0.0:
                    push_pair(&contacts.changed, block.first[k], block.second[k])


cdef void weigh(Contacts *contacts, const StateView *state, Member *member) noexcept nogil:
    """Set the weight of a contact that begins (its mass is negative), or has parted, and becomes a note."""
    cdef const ContactBlock *block = block_of(&contacts.groups[member.walls], member.lane)
    cdef const Contact *contact = gathered(True, contacts, state, member.walls, block)
    cdef int lane = lane_of(member.lane)
    cdef double gap = contact.overlap[lane]
    cdef double way = contact.step[lane] * dot(load3(contact.velocity, lane), load3(contact.normal, lane))
    if block.mass[lane] < 0.0 or gap <= 0.0 and contacts.law.reach == 0.0:
        member.weight = 0.5 + (fabs(gap / way) if fabs(gap) < fabs(way) else 1.0)
        member.spheres = 0 if block.mass[lane] > 0.0 else member.spheres


cdef inline void add_member(Members *members, const Member *member) noexcept nogil:
    if grow(members, members.size + 1, sizeof(Member)):
        members.data[members.size] = member[0]
        members.size += 1


cdef void find_members(Contacts *contacts, const StateView *state, bint weighs, Members *members) noexcept nogil:
    """Notes, and the contacts of their groups and some others, sorted."""
    cdef const int *bodies = contacts.changed.data
    cdef const ContactBlock *block
    cdef unsigned char marks[MARKS]
    cdef Member member
    cdef Py_ssize_t k, lane
    cdef int group, i, j
    memset(marks, 0, MARKS)
    memset(&member, 0, sizeof(member))
    for k in range(0, contacts.changed.size, 2):
        member.bodies = bodies_of(contacts.law, state, bodies[k], bodies[k + 1])
        marks[(member.bodies ^ member.bodies >> 32) & (MARKS - 1)] = 1
        add_member(members, &member)
    for group in range(<int> GROUPS):
        for lane in range(LANES * contacts.groups[group].n_blocks):
            block = block_of(&contacts.groups[group], lane)
            i, j = block.first[lane_of(lane)], block.second[lane_of(lane)]
            if i == contacts.groups[group].free_slot:
                continue
            member.bodies = bodies_of(contacts.law, state, i, j)
            if marks[(member.bodies ^ member.bodies >> 32) & (MARKS - 1)]:
                member.spheres = pair_of_numbers(state.sphere_number[i], state.sphere_number[j] if j >= 0 else j)
                member.lane, member.walls, member.weight = <int> lane, group == <int> WALLS, 0.0
                if weighs:
                    weigh(contacts, state, &member)
                add_member(members, &member)
    qsort(members.data, members.size, sizeof(Member), in_order)


cdef Vec3 turning_in(const Walls *walls, const StateView *state, int i, int body, Vec3 normal) noexcept nogil:
    """As turning_of, for a body of a contact of the sphere i. Of a driven wall x is its lever, of another one zero."""
    cdef int wall = driven_with(walls, state, body)
    if wall >= 0:
        return vec3(lever_of(walls, wall, state, i, body, normal), 0.0, 0.0)
    return turning_of(state, body, normal) if body >= 0 else vec3(0.0, 0.0, 0.0)


cdef double response_in(const Walls *walls, const StateView *state, int body, Vec3 normal, Vec3 turning, Vec3 force,
                        Vec3 torque) noexcept nogil:
    """As response, for a body of a contact; turning, torque : of turning_in."""
    cdef int wall = driven_with(walls, state, body)
    if wall >= 0:
        return walls.drives[wall].mobility * (turning.x * torque.x)
    return response(state, body, normal, turning, force, torque) if body >= 0 else 0.0


cdef void find_masses(Contacts *contacts, const StateView *state, Member *members, Py_ssize_t n) noexcept nogil:
    """Effective masses of the n contacts of a group: the formula of FRICTION.md."""
    cdef const ContactBlock *block
    cdef Vec3 normal, turning, push = vec3(0.0, 0.0, 0.0)
    cdef Vec3[2] torques
    cdef double together, alone
    cdef bint summed
    cdef int side, lane, i, j, body
    cdef Py_ssize_t k
    torques[0] = torques[1] = push
    for summed in range(2):
        for k in range(n):
            block, lane = block_of(&contacts.groups[members[k].walls], members[k].lane), lane_of(members[k].lane)
            i, j = block.first[lane], block.second[lane]
            normal, together = normal_of(contacts.law, state, i, j), 0.0
            for side in range(2):
                body = j if side else i
                turning = turning_in(contacts.law.walls, state, i, body, normal)
                if summed:
                    together += response_in(contacts.law.walls, state, body, normal, turning, push, torques[side])
                else:
                    torques[side] = add(torques[side], turning)
            if not summed:
                push = add(push, normal)
                continue
            alone = own_mobility(contacts.law.walls, state, i, j, normal, True)
            members[k].mass = 1.0 / (max(together, 0.5 * alone) if n > 1 else alone)


cdef void share_masses(Contacts *contacts, const StateView *state, const Instant *now, bint evaluated) noexcept nogil:
    """Set the masses of the contacts of groups in which one begins or ends at this pose: FRICTION.md.

    evaluated : whether the forces at this pose are known.

    The contacts of two clumps, or of a clump and a wall, are a group. Their masses change where one of them begins or
    ends, somewhere between two poses. The force at a pose acts for a step. To be of second order, it needs the mean of
    the dashpots before and after that instant, which are proportional to the root of the mass. A root that changes from
    a to b is a + (1/2 + x) (b - a) at this pose, where x < 1 is the part of the step since the contact began or ended.
    After the evaluation it is b; nothing else persists. Where a law acts across gaps, it alone knows when a contact
    ends: the masses change a step later.
    """
    cdef Members members
    cdef Member *first
    cdef double *mass
    cdef double weight, old, new
    cdef Py_ssize_t k, n, m, weights
    cdef bint weighs = not evaluated and now.purpose != BETWEEN
    if not contacts.law.shares_mass:
        return
    if weighs and contacts.law.reach == 0.0:
        note_ends(contacts, state)
    memset(&members, 0, sizeof(members))
    if contacts.changed.size > 0:
        find_members(contacts, state, weighs, &members)
    k = 0
    while k < members.size:
        first, n, weight, weights = members.data + k, 0, 0.0, 0
        while k < members.size and members.data[k].bodies == first.bodies:
            weight, weights = weight + members.data[k].weight, weights + (members.data[k].weight > 0.0)
            n += members.data[k].spheres > 0
            k += 1
        if first.spheres > 0:                           # no note
            continue
        weight = weight / weights if weights > 0 else 1.0
        find_masses(contacts, state, members.data + k - n, n)
        for m in range(k - n, k):
            mass = block_of(&contacts.groups[members.data[m].walls], members.data[m].lane).mass \
                + lane_of(members.data[m].lane)
            old, new = sqrt(fabs(mass[0])), sqrt(members.data[m].mass)
            old = max(old + weight * (new - old), 0.5 * new)
            mass[0] = old * old if weight != 1.0 and mass[0] > 0.0 else members.data[m].mass
    release(&members)
    if evaluated:
        contacts.changed.size = 0
