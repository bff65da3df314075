"""Sums of the forces of contacts with history, in canonical order.

The order is the same as in reduce.pyx: by ascending user's number of the other sphere, walls last; then the spheres of
a clump in the order of its template. It is prepared for all candidates whenever the lists are rebuilt, so that a step
only reads the results in this order. In a bed at rest all spheres have many contacts, and few lists are rebuilt.
"""
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.history cimport RESULT, History, doubles, reserve_doubles
from minidem.contact.key_sort cimport Entry, sort_entries
from minidem.contact.narrow_phase cimport Contacts
from minidem.contact.reduce cimport next_row, order_of
from minidem.core.int_vector cimport reserve
from minidem.core.lanes cimport LANES
from minidem.core.prefetch cimport prefetch
from minidem.core.transpose cimport rows_from_records
from minidem.core.vec3 cimport Vec3, add, cross, scale, sub, vec3
from minidem.state.pose cimport load_matrices, to_body
from minidem.state.rows cimport FORCE, ORIENTATION, TORQUE, WRENCH_ROWS, load, store
from minidem.state.state cimport StateView, member

cdef enum:
    SUM_ROWS = 6                    # of a member row: force on its spheres, couple about their centres; lab
    ENTRY = 2                       # ints of an Entry
    AT_ONCE = 24                    # candidates of a sphere whose contacts are listed at once


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
            and reserve(&history.entries, 2 * ranges.all)):
        return False
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


cdef struct Lists:                  # of the eight spheres of a member row: contacts in canonical order
    int contact[AT_ONCE + 1][LANES]     # 2 (1 + number in `now`) + side; 0: none
    int count                       # the longest list
    int cursor[LANES]               # the next candidate of each sphere
    int end[LANES]


cdef inline void list_contacts(const History *history, Lists *lists) noexcept nogil:
    """The contacts among the next AT_ONCE candidates of each sphere; the cursors are moved."""
    cdef const int *contact_at = history.contact_at.data
    cdef const int *entries = history.entries.data
    cdef const double *results = doubles(&history.now.results)
    cdef int lane, e, n, last, contact
    memset(lists.contact, 0, sizeof(lists.contact))
    lists.count = 0
    for lane in range(LANES):
        last = min(lists.cursor[lane] + <int> AT_ONCE, lists.end[lane])
        n = 0
        for e in range(lists.cursor[lane], last):       # branchless: whether a candidate touches is unpredictable
            contact = contact_at[entries[e] >> 1]
            lists.contact[n][lane] = contact + (entries[e] & 1)
            prefetch(results + RESULT // 2 * <Py_ssize_t> contact)
            n += contact != 0
        lists.contact[n][lane] = 0                      # the last candidate may not touch
        lists.cursor[lane] = last
        lists.count = max(lists.count, n)


cdef inline void list_first(const History *history, const Neighbours *mine, Py_ssize_t k, Py_ssize_t first_slot,
                            Lists *lists) noexcept nogil:
    """The first contacts of the spheres of active row number k."""
    cdef const int *start
    cdef int lane
    if k < mine.active.size:
        start = history.first_entry.data + (mine.active.data[k] * <Py_ssize_t> LANES - first_slot)
        for lane in range(LANES):
            lists.cursor[lane], lists.end[lane] = start[lane], start[lane + 1]
        list_contacts(history, lists)


cdef inline bint any_left(const Lists *lists) noexcept nogil:
    cdef int lane, left = 0
    for lane in range(LANES):
        left |= lists.cursor[lane] < lists.end[lane]
    return left


cdef inline void add_contacts(const History *history, const int *contacts, const double *spheres, double *sums,
                              double *energies) noexcept nogil:
    """Add one contact of each of eight spheres to their sums (SUM_ROWS, LANES) and energies (4, LANES).

    contacts : (LANES,) of Lists; the result of number 0 is zero and changes no bit.  spheres : (3, LANES) centres.
    """
    cdef double sign[LANES]             # -1 on the second body
    cdef double rows[2][4 * LANES]
    cdef double couple[4 * LANES]
    cdef float packed[4 * LANES]
    cdef int first[LANES]
    cdef int second[LANES]
    cdef int numbers[LANES]
    cdef Vec3 f, point
    cdef int lane
    for lane in range(LANES):
        first[lane], second[lane] = contacts[lane] & ~1, contacts[lane] | 1
        numbers[lane] = contacts[lane] >> 1
        sign[lane] = 1.0 - 2.0 * (contacts[lane] & 1)
    rows_from_records(doubles(&history.now.results), first, rows[0])
    rows_from_records(doubles(&history.now.results), second, rows[1])
    memcpy(packed, rows[1] + 2 * LANES, sizeof(packed))
    memset(couple, 0, sizeof(couple))
    if history.has_couples:
        rows_from_records(doubles(&history.now.couples), numbers, couple)
    for lane in range(LANES):
        f = scale(sign[lane], load(rows[0] + lane))
        point = vec3(rows[0][3 * LANES + lane], rows[1][lane], rows[1][LANES + lane])
        store(sums + lane, add(load(sums + lane), f))
        f = add(cross(sub(point, load(spheres + lane)), f), scale(sign[lane], load(couple + lane)))
        store(sums + 3 * LANES + lane, add(load(sums + 3 * LANES + lane), f))
        energies[lane] += packed[2 * lane]
        energies[LANES + lane] += packed[2 * lane + 1]
        energies[2 * LANES + lane] += packed[2 * LANES + 2 * lane]
        energies[3 * LANES + lane] += packed[2 * LANES + 2 * lane + 1]


cdef void sum_in_order(Contacts *contacts, const Neighbours *mine, const StateView *state,
                       double *dissipated) noexcept nogil:
    """Forces and couples on own spheres, and the energies dissipated at own clumps (n_blocks, 4, LANES) [J]."""
    cdef History *history = &contacts.history
    cdef double sums[SUM_ROWS * LANES]
    cdef double energies[4 * LANES]
    cdef double spheres[4 * LANES]
    cdef int slots[LANES]
    cdef Lists rows[2]                                  # of this row and the next: its results are prefetched
    cdef Lists *lists
    cdef double *of_clumps
    cdef Py_ssize_t k, row, block
    cdef int lane, m, touching
    list_first(history, mine, 0, contacts.first_slot, &rows[0])
    for k in range(mine.active.size):
        row, lists = mine.active.data[k], &rows[k & 1]
        list_first(history, mine, k + 1, contacts.first_slot, &rows[(k + 1) & 1])
        memset(sums, 0, sizeof(sums))
        memset(energies, 0, sizeof(energies))
        for lane in range(LANES):
            slots[lane] = <int> row * LANES + lane
        rows_from_records(state.spheres, slots, spheres)
        touching = lists.count
        while lists.count or any_left(lists):
            for m in range(lists.count):
                add_contacts(history, lists.contact[m], spheres, sums, energies)
            list_contacts(history, lists)
            touching |= lists.count
        memcpy(doubles(&history.slot_rows) + (row - contacts.first_row) * SUM_ROWS * LANES, sums, sizeof(sums))
        if touching:
            block = state.block_of_member[row]
            of_clumps = dissipated + block * 4 * LANES
            for m in range(4 * LANES):
                of_clumps[m] += energies[m]
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
                    to_body(matrices + lane, load(rows + 3 * LANES + lane)))
            store(torque + lane, add(load(torque + lane), f))
        has_row[row] = False
        row = next_row(has_row, row + 1, last)
    has_force[0] = False
    memcpy(wrench + FORCE * LANES, force, sizeof(force))
    memcpy(wrench + TORQUE * LANES, torque, sizeof(torque))
    return wrench
