"""Contacts of laws with history over a rebuild of the lists.

Contacts know their spheres, so a rebuild changes nothing about them but who owns them: the owner of the sphere in the
lower slot. Each thread collects its own from all threads, in the order of these spheres, which closes the holes
(`collect_stored`). When all have done so, the new blocks replace the old ones, and pairs that are contacts leave the
new lists of candidates (`take_collected`).
"""
from libc.string cimport memset

from minidem.broadphase.broadphase cimport NO_FAILURE
from minidem.broadphase.neighbours cimport PADDING, Neighbours
from minidem.contact.blocks cimport (
    Blocks, ContactBlock, block_of, clear_blocks, copy_numbers, release_blocks, reserve_blocks, set_bodies, take_lane,
)
from minidem.contact.contacts cimport GROUPS, SPHERES, WALLS, Contacts, drop_known, find_known, reset_sums
from minidem.core.vectors cimport reserve
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.state.state cimport StateView


cdef bint count_own(Contacts *contacts, const Contacts *all, int n_threads, bint listed,
                    Py_ssize_t *count) noexcept nogil:
    """Own contacts of all threads: how many there are of each own sphere, or the list of them in the order of these.

    listed : into `order` (count, 3), thread, group, lane; `start` is then one entry ahead.  False: memory exhausted.
    """
    cdef const Blocks *blocks
    cdef const ContactBlock *block
    cdef int *start = contacts.start.data
    cdef Py_ssize_t lane
    cdef int t, group, i, j, key
    count[0] = 0
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            blocks = &all[t].groups[group]
            for lane in range(LANES * blocks.n_blocks):
                block = block_of(blocks, lane)
                i, j = block.first[lane_of(lane)], block.second[lane_of(lane)]
                key = (min(i, j) if j >= 0 else i) - contacts.first_slot
                if not 0 <= key < contacts.n_slots:     # of another thread, or a hole
                    continue
                if listed:
                    contacts.order.data[3 * start[key + 1]] = t
                    contacts.order.data[3 * start[key + 1] + 1] = group
                    contacts.order.data[3 * start[key + 1] + 2] = <int> lane
                    start[key + 1] += 1
                else:
                    start[key + 2] += 1
                count[0] += 1
    return listed or reserve(&contacts.order, 3 * count[0] + 3) and reserve(&contacts.entries, 2 * count[0] + 2)


cdef inline void count_on_row(Contacts *contacts, int sphere) noexcept nogil:
    cdef unsigned int own = <unsigned int> (sphere - contacts.first_slot)
    if own < <unsigned int> contacts.n_slots:
        contacts.row_contacts.data[row_of(own)] += 1


cdef bint copy_contact(Contacts *contacts, const Blocks *source, Py_ssize_t from_lane,
                       Py_ssize_t entry) noexcept nogil:
    """A contact into the spare blocks and the table. False: memory exhausted."""
    cdef const ContactBlock *old = block_of(source, from_lane)
    cdef int i = old.first[lane_of(from_lane)], j = old.second[lane_of(from_lane)]
    cdef Blocks *blocks = &contacts.spare[<int> WALLS if j < 0 else <int> SPHERES]
    cdef Py_ssize_t lane = take_lane(blocks)
    if lane < 0:
        return False
    set_bodies(blocks, lane, i, j, -1, old.materials[lane_of(from_lane)])
    copy_numbers(source, from_lane, blocks, lane)
    count_on_row(contacts, i)
    count_on_row(contacts, j)
    contacts.n_cross += max(i, j) >= contacts.first_slot + contacts.n_slots
    contacts.entries.data[2 * entry] = j if j < 0 else max(i, j)
    contacts.entries.data[2 * entry + 1] = <int> lane
    return True


cdef bint collect_stored(Contacts *all, int thread, int n_threads, const Neighbours *mine,
                         const StateView *state) noexcept nogil:
    """The own contacts, from all threads, into `spare`. False: memory exhausted."""
    cdef Contacts *contacts = all + thread
    cdef Py_ssize_t k, n_rows = contacts.n_slots // LANES, count = 0
    cdef const int *source
    cdef int group
    contacts.n_cross = 0
    if not (reserve(&contacts.row_contacts, n_rows + 1) and reserve(&contacts.start, contacts.n_slots + 2)):
        return False
    memset(contacts.row_contacts.data, 0, n_rows * sizeof(int))
    for k in range(mine.shared.size if mine.failure == NO_FAILURE else 0):      # else of blocks owned before
        contacts.row_contacts.data[mine.shared.data[k] - row_of(contacts.first_slot)] = 1
    memset(contacts.start.data, 0, (contacts.n_slots + 2) * sizeof(int))
    if not count_own(contacts, all, n_threads, False, &count):
        return False
    for k in range(contacts.n_slots):
        contacts.start.data[k + 2] += contacts.start.data[k + 1]
    count_own(contacts, all, n_threads, True, &count)
    for group in range(<int> GROUPS):
        clear_blocks(&contacts.spare[group])
    if not reserve_blocks(&contacts.spare[SPHERES], count // LANES + 1):
        return False
    for k in range(count):
        source = contacts.order.data + 3 * k
        if not copy_contact(contacts, &all[source[0]].groups[source[1]], source[2], k):
            return False
    return True


cdef bint take_collected(Contacts *contacts, Neighbours *mine) noexcept nogil:
    """Replace the blocks by those collected; contacts leave the new lists. False: memory exhausted."""
    cdef Blocks blocks
    cdef Py_ssize_t k, n_walls = mine.wall_candidates.size // 2, n_contacts = 0
    cdef int group, known
    for group in range(<int> GROUPS):
        blocks = contacts.groups[group]
        contacts.groups[group], contacts.spare[group] = contacts.spare[group], blocks
        release_blocks(&contacts.spare[group])          # of large beds most of the memory
        n_contacts += LANES * contacts.groups[group].n_blocks
    # A contact, or a pair of the list that becomes one, writes down at most one force on a sphere of another thread.
    if not (reset_sums(contacts, contacts.n_cross + mine.n_foreign) and reserve(&contacts.contact_at, n_walls + 1)
            and reserve(&mine.pairs, mine.pairs.size + 2 * n_contacts + PADDING)):
        return False
    for k in range(n_walls):
        known = find_known(contacts, mine.wall_candidates.data[2 * k], -1 - mine.wall_candidates.data[2 * k + 1])
        contacts.contact_at.data[k] = known
        if known:
            block_of(&contacts.groups[WALLS], known - 1).place[lane_of(known - 1)] = <int> k
    drop_known(contacts, mine)
    contacts.ready = True
    return True
