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
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vec3 cimport Vec3, add, cross, sub, vec3
from minidem.state.pose cimport load_matrices, to_body
from minidem.state.rows cimport FORCE, ORIENTATION, TORQUE, WRENCH_ROWS, load, store
from minidem.state.state cimport StateView, member

cdef enum:
    SUM_ROWS = 6                    # of a member row: force on its spheres, couple about their centres; lab
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


cdef inline void add_contact(const History *history, int entry, const double *sphere, double *force, double *couple,
                             double *dissipated) noexcept nogil:
    """Add the force of a candidate, if it touches, to the sums of one of its spheres."""
    cdef Py_ssize_t m = history.contact_at.data[entry >> 1] - 1
    cdef const double *result
    cdef const double *own_couple
    cdef const float *energies
    cdef double sign = -1.0 if entry & 1 else 1.0
    cdef Vec3 f
    cdef int k
    if m < 0:
        return
    result = doubles(&history.now.results) + RESULT * m
    energies = <const float *> history.now.dissipated.data + 4 * m
    f = vec3(sign * result[0], sign * result[1], sign * result[2])
    store_sum(force, f)
    store_sum(couple, cross(sub(vec3(result[3], result[4], result[5]), vec3(sphere[0], sphere[1], sphere[2])), f))
    if history.has_couples:
        own_couple = doubles(&history.now.couples) + 4 * m
        store_sum(couple, vec3(sign * own_couple[0], sign * own_couple[1], sign * own_couple[2]))
    for k in range(4):
        dissipated[k] += energies[k]


cdef inline void store_sum(double *total, Vec3 v) noexcept nogil:
    total[0] += v.x
    total[1] += v.y
    total[2] += v.z


cdef void sum_in_order(Contacts *contacts, const Neighbours *mine, const StateView *state,
                       double *dissipated) noexcept nogil:
    """Forces and couples on own spheres, and the energies dissipated at own clumps (slots, 4) [J]."""
    cdef History *history = &contacts.history
    cdef const int *start = history.first_entry.data
    cdef double sums[SUM_ROWS]
    cdef double energies[4]
    cdef double *rows
    cdef Py_ssize_t k, row, slot, clump, e
    cdef int lane, m, touching
    for k in range(mine.active.size):
        row = mine.active.data[k]
        touching = 0
        rows = doubles(&history.slot_rows) + (row - contacts.first_row) * SUM_ROWS * LANES
        for lane in range(LANES):
            slot = row * LANES + lane - contacts.first_slot
            memset(sums, 0, sizeof(sums))
            memset(energies, 0, sizeof(energies))
            for e in range(start[slot], start[slot + 1]):
                touching |= history.contact_at.data[history.entries.data[e] >> 1]
                add_contact(history, history.entries.data[e], state.spheres + 4 * (row * LANES + lane), sums,
                            sums + 3, energies)
            for m in range(SUM_ROWS):
                rows[m * LANES + lane] = sums[m]
            clump = state.block_of_member[row] * <Py_ssize_t> LANES + lane
            for m in range(4):
                dissipated[4 * clump + m] += energies[m]
        if touching:
            contacts.row_has_force[row - contacts.first_row] = True
            contacts.block_has_force[state.block_of_member[row] - contacts.first_block] = True


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
