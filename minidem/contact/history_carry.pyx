"""Contacts with history over a rebuild of the lists: they are found again by the slots of their spheres.

Before the rebuild each thread lists its contacts by the lower of the two slots (`tabulate`); a pair of two threads is
in the table of the owner of the lower one. After it each thread looks up its new candidates in the tables of all
threads (`carry_over`). Both are linear in the number of candidates. Where contacts come from another loop or from a
file, one table for all slots is made in Python instead (history_memory.pyx).
"""
from libc.string cimport memcpy, memset

from minidem.broadphase.ghosts cimport slot_of
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.history cimport History, HistoryTable, Touching, copy_contact, reserve_contacts
from minidem.contact.history_sum cimport Ranges, candidate_at, ranges_of
from minidem.contact.narrow_phase cimport Contacts
from minidem.core.int_vector cimport reserve
from minidem.state.state cimport StateView


cdef inline bint split(const StateView *state, int i, int j, int *key, int *partner) noexcept nogil:
    """Lower slot of a pair, and the other one or -1 - wall; True if the lower one is that of j."""
    cdef int first = slot_of(state, i), second = slot_of(state, j) if j >= 0 else j
    key[0], partner[0] = first, second
    if 0 <= second < first:
        key[0], partner[0] = second, first
        return True
    return False


cdef bint tabulate(Contacts *contacts, const StateView *state) noexcept nogil:
    """The table of the contacts whose lower slot is an own one. False: memory exhausted."""
    cdef HistoryTable *table = &contacts.history.table
    cdef const Touching *touching = &contacts.history.contacts
    cdef Py_ssize_t k, n_slots = contacts.n_slots
    cdef int *start
    cdef int *entries
    cdef int key = 0, partner = 0
    table.n_slots = 0
    if not reserve(&table.room, n_slots + 2 + 2 * touching.n):
        return False
    start, entries = table.room.data, table.room.data + n_slots + 2
    memset(start, 0, (n_slots + 2) * sizeof(int))
    for k in range(touching.n):
        split(state, touching.pairs.data[2 * k], touching.pairs.data[2 * k + 1], &key, &partner)
        if 0 <= key - contacts.first_slot < n_slots:
            start[key - contacts.first_slot + 2] += 1
    for k in range(n_slots):
        start[k + 2] += start[k + 1]
    for k in range(touching.n):
        split(state, touching.pairs.data[2 * k], touching.pairs.data[2 * k + 1], &key, &partner)
        if 0 <= key - contacts.first_slot < n_slots:
            key -= contacts.first_slot
            entries[2 * start[key + 1]], entries[2 * start[key + 1] + 1] = partner, <int> k
            start[key + 1] += 1
    table.first_slot, table.n_slots = contacts.first_slot, <int> n_slots
    table.start, table.entries, table.contacts = start, entries, touching
    return True


cdef inline int find_in(const HistoryTable *table, int key, int partner) noexcept nogil:
    """Number of a contact in table.contacts; -1: none."""
    cdef int e
    if 0 <= key - table.first_slot < table.n_slots:
        for e in range(table.start[key - table.first_slot], table.start[key - table.first_slot + 1]):
            if table.entries[2 * e] == partner:
                return table.entries[2 * e + 1]
    return -1


cdef bint carry_over(Contacts *all, int thread, int n_threads, const HistoryTable *imported, const Neighbours *mine,
                     const StateView *state) noexcept nogil:
    """Known contacts among the candidates of the new lists, into `spare`. False: memory exhausted.

    imported : a table of all contacts instead of those of the threads; NULL: none.
    """
    cdef History *history = &all[thread].history
    cdef Touching *carried = &history.spare
    cdef const HistoryTable *table
    cdef Ranges ranges = ranges_of(mine)
    cdef Py_ssize_t position, n = 0
    cdef int pair[2]
    cdef int key = 0, partner = 0, known, t, flipped
    if not reserve(&history.contact_at, ranges.all + 1):
        return False
    memset(history.contact_at.data, 0, ranges.all * sizeof(int))
    for position in range(ranges.all):
        candidate_at(mine, &ranges, position, pair)
        flipped = split(state, pair[0], pair[1], &key, &partner)
        known = -1
        table = imported
        for t in range(n_threads if imported == NULL else 1):
            table = &all[t].history.table if imported == NULL else imported
            known = find_in(table, key, partner)
            if known >= 0:
                break
        if known < 0:
            continue
        if not reserve_contacts(carried, history.n_records, history.has_couples, n + 1):
            return False
        # a contact of the table may have its bodies in the other order
        flipped ^= slot_of(state, table.contacts.pairs.data[2 * known]) != key
        copy_contact(carried, n, table.contacts, known, history.n_records, history.has_couples,
                     -1.0 if flipped else 1.0)
        if imported != NULL:                            # not evaluated in this step
            carried.parities.data[n] = history.parity ^ 1
        memcpy(carried.pairs.data + 2 * n, pair, 2 * sizeof(int))
        carried.positions.data[n] = <int> position
        n += 1
        history.contact_at.data[position] = <int> n
    carried.n = n
    return True


cdef void take_carried(History *history) noexcept nogil:
    """Exchange the contacts for those carried over."""
    history.contacts, history.spare = history.spare, history.contacts
