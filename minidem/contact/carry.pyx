"""Contacts of laws with records over a rebuild of the lists.

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
from minidem.contact.narrow_phase cimport Contacts
from minidem.contact.stored cimport GROUPS, SPHERES, WALLS, Stored, drop_known, find_known, reserve_lines
from minidem.core.vectors cimport reserve
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.state.state cimport StateView


cdef bint count_own(Stored *stored, const Contacts *all, int n_threads, bint listed,
                    Py_ssize_t *count) noexcept nogil:
    """Own contacts of all threads: how many there are of each own sphere, or the list of them in the order of these.

    listed : into `order` (count, 3), thread, group, lane; `start` is then one entry ahead.  False: memory exhausted.
    """
    cdef const Blocks *blocks
    cdef const ContactBlock *block
    cdef int *start = stored.start.data
    cdef Py_ssize_t lane
    cdef int t, group, i, j, key
    count[0] = 0
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            blocks = &all[t].stored.groups[group]
            for lane in range(LANES * blocks.n_blocks):
                block = block_of(blocks, lane)
                i, j = block.first[lane_of(lane)], block.second[lane_of(lane)]
                key = (min(i, j) if j >= 0 else i) - stored.first_slot
                if not 0 <= key < stored.n_slots:       # of another thread, or a hole
                    continue
                if listed:
                    stored.order.data[3 * start[key + 1]] = t
                    stored.order.data[3 * start[key + 1] + 1] = group
                    stored.order.data[3 * start[key + 1] + 2] = <int> lane
                    start[key + 1] += 1
                else:
                    start[key + 2] += 1
                count[0] += 1
    return listed or reserve(&stored.order, 3 * count[0] + 3) and reserve(&stored.entries, 2 * count[0] + 2)


cdef inline void count_on_row(Stored *stored, int sphere) noexcept nogil:
    cdef unsigned int own = <unsigned int> (sphere - stored.first_slot)
    if own < <unsigned int> stored.n_slots:
        stored.row_contacts.data[row_of(own)] += 1


cdef bint copy_contact(Stored *stored, const Blocks *source, Py_ssize_t from_lane, Py_ssize_t entry) noexcept nogil:
    """A contact into the spare blocks and the table. False: memory exhausted."""
    cdef const ContactBlock *old = block_of(source, from_lane)
    cdef int i = old.first[lane_of(from_lane)], j = old.second[lane_of(from_lane)]
    cdef Blocks *blocks = &stored.spare[<int> WALLS if j < 0 else <int> SPHERES]
    cdef Py_ssize_t lane = take_lane(blocks)
    if lane < 0:
        return False
    set_bodies(blocks, lane, i, j, -1, old.materials[lane_of(from_lane)])
    copy_numbers(source, from_lane, blocks, lane)
    count_on_row(stored, i)
    count_on_row(stored, j)
    stored.n_cross += max(i, j) >= stored.first_slot + stored.n_slots
    stored.entries.data[2 * entry] = j if j < 0 else max(i, j)
    stored.entries.data[2 * entry + 1] = <int> lane
    return True


cdef bint collect_stored(Contacts *all, int thread, int n_threads, const Neighbours *mine,
                         const StateView *state) noexcept nogil:
    """The own contacts, from all threads, into `spare`. False: memory exhausted."""
    cdef Stored *stored = &all[thread].stored
    cdef Py_ssize_t first_row = state.first_member[mine.first_block]
    cdef Py_ssize_t n_rows = state.first_member[mine.last_block] - first_row
    cdef Py_ssize_t k, count = 0
    cdef const int *source
    cdef int group
    stored.ready = False
    stored.first_slot, stored.n_slots = <int> first_row * LANES, <int> n_rows * LANES
    stored.sent.size = stored.n_cross = 0
    if not (reserve(&stored.row_contacts, n_rows + 1) and reserve(&stored.start, stored.n_slots + 2)):
        return False
    memset(stored.row_contacts.data, 0, n_rows * sizeof(int))
    for k in range(mine.shared.size if mine.failure == NO_FAILURE else 0):      # else of blocks owned before
        stored.row_contacts.data[mine.shared.data[k] - first_row] = 1
    memset(stored.start.data, 0, (stored.n_slots + 2) * sizeof(int))
    if not count_own(stored, all, n_threads, False, &count):
        return False
    for k in range(stored.n_slots):
        stored.start.data[k + 2] += stored.start.data[k + 1]
    count_own(stored, all, n_threads, True, &count)
    for group in range(<int> GROUPS):
        clear_blocks(&stored.spare[group])
    if not reserve_blocks(&stored.spare[SPHERES], count // LANES + 1):
        return False
    for k in range(count):
        source = stored.order.data + 3 * k
        if not copy_contact(stored, &all[source[0]].stored.groups[source[1]], source[2], k):
            return False
    return True


cdef bint take_collected(Contacts *contacts, Neighbours *mine) noexcept nogil:
    """Replace the blocks by those collected; contacts leave the new lists. False: memory exhausted."""
    cdef Stored *stored = &contacts.stored
    cdef Blocks blocks
    cdef Py_ssize_t k, n_walls = mine.wall_candidates.size // 2, n_contacts = 0
    cdef int group, known
    for group in range(<int> GROUPS):
        blocks = stored.groups[group]
        stored.groups[group], stored.spare[group] = stored.spare[group], blocks
        release_blocks(&stored.spare[group])            # of large beds most of the memory
        n_contacts += LANES * stored.groups[group].n_blocks
    # A contact, or a pair of the list that becomes one, writes down at most one force on a sphere of another thread.
    if not (reserve_lines(stored, stored.n_cross + mine.n_foreign) and reserve(&stored.contact_at, n_walls + 1)
            and reserve(&mine.pairs, mine.pairs.size + 2 * n_contacts + PADDING)):
        return False
    for k in range(n_walls):
        known = find_known(stored, mine.wall_candidates.data[2 * k], -1 - mine.wall_candidates.data[2 * k + 1])
        stored.contact_at.data[k] = known
        if known:
            block_of(&stored.groups[WALLS], known - 1).place[lane_of(known - 1)] = <int> k
    drop_known(stored, mine)
    stored.ready = True
    return True
