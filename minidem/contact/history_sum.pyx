"""Sums of the forces of contacts with history, in canonical order.

The order is the same as in reduce.pyx: by ascending user's number of the other sphere, walls last; then the spheres of
a clump in the order of its template. It is prepared for all candidates whenever the lists are rebuilt; the contacts
among them are listed again for those spheres where one began or ended. So most steps only read results in this order.
In a bed at rest all spheres have many contacts, few begin or end, and few lists are rebuilt.
"""
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.history cimport (
    MOMENT, RESULT, History, doubles, floats, reserve_doubles, result_of,
)
from minidem.contact.key_sort cimport Entry, sort_entries
from minidem.contact.narrow_phase cimport Contacts
from minidem.contact.reduce cimport next_row, order_of
from minidem.core.int_vector cimport reserve
from minidem.core.lanes cimport LANES
from minidem.core.prefetch cimport prefetch
from minidem.core.transpose cimport rows_from_records
from minidem.core.vec3 cimport Vec3, add, cross
from minidem.state.pose cimport load_matrices, to_body
from minidem.state.rows cimport FORCE, ORIENTATION, TORQUE, WRENCH_ROWS, load, store
from minidem.state.state cimport StateView, member

cdef extern from "contact/sums.h" nogil:
    void sum_results "minidem_sum_results"(const double *results, const double *couples, const float *energies,
                                           const int *contacts, int n, double radius, double *total,
                                           double *dissipated)

cdef enum:
    SUM_ROWS = 8                    # of a member row: force on its spheres, -, moment about their centres, -; lab
    ENTRY = 2                       # ints of an Entry


cdef bint prepare_order(History *history, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Entries of each own sphere: 2 position + side, in canonical order. False: memory exhausted."""
    cdef Py_ssize_t first_slot = state.first_member[mine.first_block] * LANES
    cdef Py_ssize_t n_slots = state.first_member[mine.last_block] * LANES - first_slot
    cdef Py_ssize_t position, k, total = 0, count, largest = 0
    cdef unsigned int own
    cdef int *start
    cdef Entry *keys
    cdef const Entry *ordered
    cdef int pair[2]
    cdef int side
    cdef Ranges ranges = ranges_of(mine)
    if not (reserve(&history.first_entry, n_slots + 2) and reserve_doubles(&history.slot_rows, n_slots * SUM_ROWS)
            and reserve(&history.entries, 2 * ranges.all) and reserve(&history.contacts_of, 2 * ranges.all)
            and reserve(&history.n_contacts_of, n_slots + 1)):
        return False
    history.first_slot, history.n_slots = <int> first_slot, <int> n_slots
    memset(history.n_contacts_of.data, -1, n_slots * sizeof(int))
    start = history.first_entry.data
    memset(start, 0, (n_slots + 2) * sizeof(int))
    for position in range(ranges.all):
        candidate_at(mine, &ranges, position, pair)
        for side in range(2):
            own = <unsigned int> (pair[side] - first_slot)
            if own < <unsigned int> n_slots:
                start[own + 2] += 1
    for k in range(n_slots):
        largest = max(largest, <Py_ssize_t> start[k + 2])
        start[k + 2] += start[k + 1]
    total = start[n_slots + 1]
    if not reserve(&history.found_pairs, (total + 2 * largest) * ENTRY):
        return False
    keys = <Entry *> history.found_pairs.data
    for position in range(ranges.all):
        candidate_at(mine, &ranges, position, pair)
        for side in range(2):
            own = <unsigned int> (pair[side] - first_slot)
            if own < <unsigned int> n_slots:
                keys[start[own + 1]] = <Entry> order_of(state, pair[1 - side]) << 32 \
                    | <unsigned int> (2 * position + side)
                start[own + 1] += 1
    for k in range(n_slots):
        count = start[k + 1] - start[k]
        ordered = sort_entries(keys + start[k], keys + total, count)
        for position in range(count):
            history.entries.data[start[k] + position] = <int> <unsigned int> ordered[position]
    return True


cdef inline void list_contacts(History *history, Py_ssize_t own) noexcept nogil:
    """The contacts of an own sphere, from its candidates."""
    cdef const int *entries = history.entries.data
    cdef int e, contact, n = 0, first = history.first_entry.data[own]
    for e in range(first, history.first_entry.data[own + 1]):
        contact = history.contact_at.data[entries[e] >> 1]
        history.contacts_of.data[first + n] = 2 * (contact - 1) + (entries[e] & 1)
        n += contact != 0
    history.n_contacts_of.data[own] = n


cdef void prefetch_results(const History *history, Py_ssize_t first) noexcept nogil:
    """Of the contacts of eight own spheres."""
    cdef Py_ssize_t own
    cdef int e, begin
    for own in range(first, first + LANES):
        begin = history.first_entry.data[own]
        for e in range(begin, begin + history.n_contacts_of.data[own]):
            prefetch(result_of(&history.contacts, history.contacts_of.data[e] >> 1))
            prefetch(floats(&history.contacts.energies) + 4 * <Py_ssize_t> (history.contacts_of.data[e] >> 1))


cdef void sum_in_order(Contacts *contacts, const Neighbours *mine, const StateView *state,
                       double *dissipated) noexcept nogil:
    """Forces and moments on own spheres, and the energies dissipated at own clumps (n_blocks, 4, LANES) [J]."""
    cdef History *history = &contacts.history
    cdef double sums[LANES * RESULT]
    cdef double energies[4]
    cdef const double *couples = doubles(&history.contacts.couples) if history.has_couples else NULL
    cdef double *rows
    cdef double *of_clumps
    cdef Py_ssize_t k, row, block, own
    cdef int lane, m, touching
    cdef int forces[LANES]
    cdef int moments[LANES]
    for lane in range(LANES):
        forces[lane], moments[lane] = 2 * lane, 2 * lane + 1
    for k in range(mine.active.size):
        row = mine.active.data[k]
        if k + 1 < mine.active.size:
            prefetch_results(history, mine.active.data[k + 1] * LANES - contacts.first_slot)
        block = state.block_of_member[row]
        of_clumps = dissipated + block * 4 * LANES
        touching = 0
        for lane in range(LANES):
            own = row * LANES + lane - contacts.first_slot
            if history.n_contacts_of.data[own] < 0:
                list_contacts(history, own)
            touching |= history.n_contacts_of.data[own]
            sum_results(doubles(&history.contacts.results), couples, floats(&history.contacts.energies),
                        history.contacts_of.data + history.first_entry.data[own], history.n_contacts_of.data[own],
                        state.spheres[4 * (row * LANES + lane) + 3], sums + RESULT * lane, energies)
            for m in range(4):
                of_clumps[m * LANES + lane] += energies[m]
        rows = doubles(&history.slot_rows) + (row - contacts.first_row) * SUM_ROWS * LANES
        rows_from_records(sums, forces, rows)
        rows_from_records(sums, moments, rows + 4 * LANES)
        if touching:
            contacts.row_has_force[row - contacts.first_row] = True
            contacts.block_has_force[block - contacts.first_block] = True


cdef const double *reduce_couples(Contacts *contacts, const StateView *state, Py_ssize_t b, const double *body_force,
                                  double *wrench) noexcept nogil:
    """As reduce_block of reduce.pyx, with couples: wrenches (WRENCH_ROWS, LANES) of the clumps of block b."""
    cdef double force[3 * LANES], torque[3 * LANES], matrices[9 * LANES]
    cdef unsigned char *has_force = contacts.block_has_force + (b - contacts.first_block)
    cdef unsigned char *has_row = contacts.row_has_force - contacts.first_row
    cdef const double *rows
    cdef const double *offsets
    cdef Vec3 f
    cdef Py_ssize_t row, last = state.first_member[b + 1]
    cdef int lane
    body_force += state.block_type[b] * WRENCH_ROWS * <Py_ssize_t> LANES
    if not has_force[0]:
        return body_force
    memcpy(force, body_force + FORCE * LANES, sizeof(force))
    memset(torque, 0, sizeof(torque))
    load_matrices(matrices, state.blocks + (b * state.n_rows + ORIENTATION) * LANES)
    row = next_row(has_row, state.first_member[b], last)
    while row < last:
        rows = doubles(&contacts.history.slot_rows) + (row - contacts.first_row) * SUM_ROWS * LANES
        offsets = member(state, row)
        for lane in range(LANES):
            f = load(rows + lane)
            store(force + lane, add(load(force + lane), f))
            f = add(cross(load(offsets + lane), to_body(matrices + lane, f)),
                    to_body(matrices + lane, load(rows + MOMENT * LANES + lane)))
            store(torque + lane, add(load(torque + lane), f))
        has_row[row] = False
        row = next_row(has_row, row + 1, last)
    has_force[0] = False
    memcpy(wrench + FORCE * LANES, force, sizeof(force))
    memcpy(wrench + TORQUE * LANES, torque, sizeof(torque))
    return wrench
