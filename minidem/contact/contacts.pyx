"""Contacts: memory, a copy to go back to, and which contacts of a law with history begin and end.

Of a law with history, a pair of spheres is either in the inner list or a contact, never both. A pair that touches
becomes a contact, and returns to the list when the contact ends; so only pairs that do not touch are tested. The
primitives of walls near a sphere stay in their list: a contact with a wall lasts as long as it is found there
(wall_pairs.pyx). `changes` lists what begins and ends at a pose.

A rebuild of the lists moves contacts to new lanes; after a change of the shares also to another thread, that which owns
the sphere in the lower slot. Each thread collects its own from all threads, in the order of these spheres
(`collect_stored`); then new blocks replace old ones, and contacts leave the new lists (`take_collected`).
"""
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport PADDING, select_near
from minidem.contact.blocks cimport (
    ContactBlock, block_of, clear_blocks, clear_numbers, copy_blocks, copy_numbers, free_lane, release_blocks,
    release_large_blocks, reserve_blocks, set_bodies, take_lane,
)
from minidem.contact.effective_mass cimport find_inertia, normal_of
from minidem.contact.law cimport pair_of
from minidem.contact.sums cimport reset_sums
from minidem.contact.wall_pairs cimport find_wall_pairs
from minidem.core.instant cimport BETWEEN
from minidem.core.lanes cimport lane_of, row_of
from minidem.core.prefetch cimport BLOCKS_AHEAD, prefetch
from minidem.core.vectors cimport release, release_large, reserve
from minidem.state.pose cimport write_motions
from minidem.walls.surface cimport touch_wall


cdef void save_contacts(Contacts *contacts, bint history, bint rebuilds) noexcept nogil:
    """Copy the energies, and contacts with a history.

    rebuilds : a rebuild of the lists comes before any change of contacts; it keeps those that it replaces, not a copy
    """
    cdef int group
    contacts.saved_ledger, contacts.keeps_old = contacts.ledger, history and rebuilds
    for group in range(<int> GROUPS if history and not rebuilds else 0):
        if not copy_blocks(&contacts.saved[group], &contacts.groups[group]):
            return


cdef void restore_contacts(Contacts *contacts, bint history) noexcept nogil:
    """Undo what has happened since save_contacts. The lists must be rebuilt before the next step."""
    cdef Blocks blocks
    cdef int group
    contacts.ledger = contacts.saved_ledger
    for group in range(<int> GROUPS if history and not contacts.keeps_old else 0):      # else they are as they were
        blocks = contacts.groups[group]
        contacts.groups[group], contacts.saved[group] = contacts.saved[group], blocks
    contacts.keeps_old = False


cdef void release_copy(Contacts *contacts) noexcept nogil:
    """Free the memory of save_contacts."""
    cdef int group
    for group in range(<int> GROUPS):
        release_blocks(&contacts.saved[group])


cdef void own_slots(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Set the range of slots that this thread owns; the sums are not ready."""
    contacts.first_slot = <int> state.first_member[mine.first_block] * LANES
    contacts.n_slots = <int> state.first_member[mine.last_block] * LANES - contacts.first_slot
    contacts.ready, contacts.foreign.size = False, 0


cdef void clear_contacts(Contacts *contacts) noexcept nogil:
    """Discard the contacts of a law without history, before a new pose."""
    cdef int group
    for group in range(<int> GROUPS):
        clear_blocks(&contacts.groups[group])
    contacts.list_cursor = contacts.n_found = 0
    contacts.n_sums = 1 if contacts.n_sums > contacts.n_slots + 1 else contacts.n_slots + 2     # the other place
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
    for group in range(<int> GROUPS):
        release_blocks(&contacts.groups[group])
        release_blocks(&contacts.spare[group])


cdef void release_room(Contacts *contacts) noexcept nogil:
    """Free what a rebuild of the lists makes anew: sums, and vectors about the contacts."""
    cdef int group
    free(contacts.sums)
    contacts.sums, contacts.capacity, contacts.ready = NULL, 0, False
    release(&contacts.row_contacts)
    release(&contacts.foreign)
    release(&contacts.start)
    release(&contacts.entries)
    release(&contacts.order)
    release(&contacts.contact_at)
    release(&contacts.seen)
    release(&contacts.found_pairs)
    release(&contacts.found_wall_pairs)
    release(&contacts.facets)
    release(&contacts.changes)
    release(&contacts.chains)
    release(&contacts.links)
    for group in range(<int> GROUPS):
        release(&contacts.sharing[group])


cdef inline int count_on_row(Contacts *contacts, int sphere, int change) noexcept nogil:
    """Change the number of contacts on the member row of a sphere; returns it, 0 for a sphere of another thread."""
    cdef unsigned int own = <unsigned int> (sphere - contacts.first_slot)
    if own >= <unsigned int> contacts.n_slots:
        return 0
    contacts.row_contacts.data[row_of(own)] += change
    return contacts.row_contacts.data[row_of(own)]


cdef void begin_on(Contacts *contacts, const StateView *state, int sphere) noexcept nogil:
    """A contact of a sphere begins: from now on the motions of its row are written in each step.

    Motions of rows that are in the lists of other threads are written anyway.
    """
    cdef Py_ssize_t row = row_of(sphere)
    if count_on_row(contacts, sphere, 1) == 1:
        write_motions(state, state.block_of_member[row], row, row + 1, NULL)


cdef inline void note_change(Contacts *contacts, int i, int j, Py_ssize_t begun) noexcept nogil:
    """begun : 1 + lane of a contact that begins; 0: it ends."""
    cdef int *change
    if reserve(&contacts.changes, contacts.changes.size + 3):
        change = contacts.changes.data + contacts.changes.size
        change[0], change[1], change[2] = i, j, <int> begun
        contacts.changes.size += 3


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
    find_inertia(contacts.law, state, i, j, normal_of(contacts.law, state, i, j), block.mass + lane_of(lane),
                 block.rolling_inertia + lane_of(lane))
    note_change(contacts, i, j, lane + 1)
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


cdef void begin_contacts(Contacts *contacts, Neighbours *mine, const StateView *state,
                         const Instant *now) noexcept nogil:
    """Begin all contacts that begin at this pose. Between two steps the known ones are kept as they are."""
    cdef bint keeps
    cdef int group
    contacts.changes.size = 0
    for group in range(<int> GROUPS):
        keeps = now.purpose == BETWEEN and not contacts.renews
        contacts.n_kept[group] = contacts.groups[group].n_blocks if keeps else 0
        if now.purpose == BETWEEN:
            contacts.groups[group].free_lanes.size = 0  # new contacts get new blocks
    find_between_spheres(contacts, mine, state)
    find_at_walls(contacts, mine, state)


cdef void end_contact(Contacts *contacts, Neighbours *mine, const StateView *state, int group,
                      Py_ssize_t lane) noexcept nogil:
    """A contact ends: its pair is a neighbor pair again, and its lane free."""
    cdef const ContactBlock *block = block_of(&contacts.groups[group], lane)
    cdef int k = lane_of(lane)
    note_change(contacts, block.first[k], block.second[k], 0)
    count_on_row(contacts, block.first[k], -1)
    count_on_row(contacts, block.second[k], -1)
    if group == <int> WALLS:
        if block.wall_pair[k] >= 0:
            contacts.contact_at.data[block.wall_pair[k]] = 0
    else:
        mine.pairs.data[mine.pairs.size], mine.pairs.data[mine.pairs.size + 1] = block.first[k], block.second[k]
        mine.pairs.size += 2                            # there is room for all contacts, see take_collected
    free_lane(&contacts.groups[group], lane)


cdef Py_ssize_t find_own(Contacts *contacts, const Contacts *all, int n_threads, bint lists) noexcept nogil:
    """Count own contacts of all threads, of slot k in start[k + 2]; returns their number.

    lists : list them in `entries` instead, sorted by slots: group (of all threads), lane. start[k + 1], the beginning
        of slot k, moves to its end.
    """
    cdef const Blocks *blocks
    cdef const ContactBlock *block
    cdef int *place
    cdef Py_ssize_t lane, count = 0
    cdef int group, i, j, lower
    for group in range(n_threads * <int> GROUPS):
        blocks = &all[group // <int> GROUPS].groups[group % <int> GROUPS]
        for lane in range(LANES * blocks.n_blocks):
            block = block_of(blocks, lane)
            prefetch(block_of(blocks, lane + BLOCKS_AHEAD * LANES))
            i, j = block.first[lane_of(lane)], block.second[lane_of(lane)]
            lower = (min(i, j) if j >= 0 else i) - contacts.first_slot
            if 0 <= lower < contacts.n_slots:           # no free lane
                place = contacts.start.data + lower + 2 - lists
                if lists:
                    contacts.entries.data[2 * place[0]], contacts.entries.data[2 * place[0] + 1] = group, <int> lane
                place[0] += 1
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
    cdef int group
    contacts.n_crossing = 0
    if not (reserve(&contacts.row_contacts, n_rows + 1) and reserve(&contacts.start, contacts.n_slots + 2)):
        return
    memset(contacts.row_contacts.data, 0, n_rows * sizeof(int))
    for k in range(mine.border.size):
        contacts.row_contacts.data[mine.border.data[k] - row_of(contacts.first_slot)] = 1
    memset(contacts.start.data, 0, (contacts.n_slots + 2) * sizeof(int))
    count = find_own(contacts, all, n_threads, False)
    for k in range(contacts.n_slots):
        contacts.start.data[k + 2] += contacts.start.data[k + 1]
    for group in range(<int> GROUPS):
        clear_blocks(&contacts.spare[group])
    if not (reserve(&contacts.entries, 2 * count) and reserve_blocks(&contacts.spare[SPHERES], count // LANES + 1)):
        return
    find_own(contacts, all, n_threads, True)
    for k in range(count):
        group = contacts.entries.data[2 * k]
        copy_contact(contacts, &all[group // <int> GROUPS].groups[group % <int> GROUPS],
                     contacts.entries.data[2 * k + 1], k)


cdef void take_collected(Contacts *contacts, Neighbours *mine) noexcept nogil:
    """Replace the blocks by those collected; contacts leave the new lists."""
    cdef Blocks blocks
    cdef Py_ssize_t k, n_walls = mine.wall_pairs.size // 2, n_contacts = 0
    cdef int group, known
    for group in range(<int> GROUPS):
        blocks = contacts.groups[group]
        contacts.groups[group], contacts.spare[group] = contacts.spare[group], blocks
        if contacts.keeps_old:
            contacts.saved[group], contacts.spare[group] = blocks, contacts.saved[group]
        release_large_blocks(&contacts.spare[group])    # of large beds most of the memory
        n_contacts += LANES * contacts.groups[group].n_blocks
    contacts.keeps_old = False
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
    release_large(&contacts.entries)
    release_large(&contacts.start)
