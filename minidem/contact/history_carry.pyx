"""Contacts with history over a rebuild of the lists: they are found again by the slots of their spheres.

Before the rebuild each thread lists its contacts by the lower of the two slots (`tabulate`); a pair of two threads is
in the table of the owner of the lower one. After it each thread looks up its new candidates in the tables of all
threads (`carry_over`). Both are linear in the number of candidates. Where contacts come from another loop or from a
file, one table for all slots is made in Python instead (history_array.pyx).
"""
from libc.string cimport memcpy, memset

from minidem.broadphase.ghosts cimport slot_of
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.history cimport (
    RESULT, HistoryTable, Touching, couple_of, record_of, reserve_contacts, result_of,
)
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
    """The table of the contacts of the last step whose lower slot is an own one. False: memory exhausted."""
    cdef HistoryTable *table = &contacts.history.table
    cdef const Touching *last = &contacts.history.last
    cdef Py_ssize_t k, n_slots = contacts.n_slots
    cdef int *start
    cdef int *entries
    cdef int key = 0, partner = 0
    table.n_slots = 0
    if not reserve(&table.room, n_slots + 2 + 2 * last.n):
        return False
    start, entries = table.room.data, table.room.data + n_slots + 2
    memset(start, 0, (n_slots + 2) * sizeof(int))
    for k in range(last.n):
        split(state, last.pairs.data[2 * k], last.pairs.data[2 * k + 1], &key, &partner)
        if 0 <= key - contacts.first_slot < n_slots and last.positions.data[k] >= 0:
            start[key - contacts.first_slot + 2] += 1
    for k in range(n_slots):
        start[k + 2] += start[k + 1]
    for k in range(last.n):
        split(state, last.pairs.data[2 * k], last.pairs.data[2 * k + 1], &key, &partner)
        if 0 <= key - contacts.first_slot < n_slots and last.positions.data[k] >= 0:
            key -= contacts.first_slot
            entries[2 * start[key + 1]], entries[2 * start[key + 1] + 1] = partner, <int> k
            start[key + 1] += 1
    table.first_slot, table.n_slots = contacts.first_slot, <int> n_slots
    table.start, table.entries, table.contacts = start, entries, last
    return True


cdef inline int find_in(const HistoryTable *table, int key, int partner) noexcept nogil:
    """Number of a contact in table.contacts; -1: none."""
    cdef int e
    if 0 <= key - table.first_slot < table.n_slots:
        for e in range(table.start[key - table.first_slot], table.start[key - table.first_slot + 1]):
            if table.entries[2 * e] == partner:
                return table.entries[2 * e + 1]
    return -1


cdef void copy_contact(Touching *to, Py_ssize_t n, const Touching *source, Py_ssize_t k, int n_records, double sign,
                       bint results) noexcept nogil:
    """Contact k of `source` as number n of `to`; sign : -1 if its bodies are exchanged; results : with its results."""
    cdef const double *old
    cdef double *new
    cdef int r, m
    for r in range(n_records):
        old, new = record_of(source, r, k), record_of(to, r, n)
        for m in range(3):
            new[m] = sign * old[m]
        new[3] = old[3]
    if not results:
        return
    old, new = result_of(source, k), result_of(to, n)
    memcpy(new, old, RESULT * sizeof(double))
    for m in range(3):
        new[m] = sign * old[m]
    old, new = couple_of(source, k), couple_of(to, n)
    for m in range(4):
        new[m] = sign * old[m]


cdef bint carry_over(Contacts *all, int thread, int n_threads, const HistoryTable *imported, const Neighbours *mine,
                     const StateView *state, bint results) noexcept nogil:
    """Known contacts among the candidates of the new lists, into `carried`. False: memory exhausted.

    imported : a table of all contacts instead of those of the threads; NULL: none.
    results : with their results, which a step replaces unless it may be undone (begin_step).
    """
    cdef Touching *carried = &all[thread].history.carried
    cdef const HistoryTable *table
    cdef Ranges ranges = ranges_of(mine)
    cdef Py_ssize_t position
    cdef int pair[2]
    cdef int key = 0, partner = 0, known, t, flipped
    cdef int n_records = all[thread].history.n_records
    carried.n = 0
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
        if not reserve_contacts(carried, n_records, carried.n + 1):
            return False
        # a contact of the table may have its bodies in the other order
        flipped ^= slot_of(state, table.contacts.pairs.data[2 * known]) != key
        copy_contact(carried, carried.n, table.contacts, known, n_records, -1.0 if flipped else 1.0, results)
        memcpy(carried.pairs.data + 2 * carried.n, pair, 2 * sizeof(int))
        carried.positions.data[carried.n] = <int> position
        carried.n += 1
    return True
