"""Reduction: the force and torque on each clump (the wrench), in an order that does not depend on the run.

First the forces on each sphere are summed, then the spheres of a clump in the order of its template. The sum of two
forces is the same in either order, a + b = b + a to the last bit. Where a sphere has more contacts, its forces are
summed again in canonical order: by ascending user's number of the other sphere, walls last. So the wrench depends
neither on the threads nor on the order in which candidates were found or stored.

Each contact force acts at the centre of its sphere: the moment of a central force is the same anywhere on its line. The
torque is offset x force in the principal body frame, so a rod of spheres on one axis has an axial torque of exactly
zero.
"""
from libc.string cimport memcpy, memset

from minidem.broadphase.ghosts cimport slot_of
from minidem.contact.key_sort cimport Entry, sort_entries
from minidem.contact.law cimport Contact
from minidem.contact.narrow_phase cimport Contacts
from minidem.core.int_vector cimport reserve
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.prefetch cimport FORCE_BLOCKS_AHEAD, prefetch
from minidem.core.transpose cimport clear_indices, rows_from_records
from minidem.core.vec3 cimport Vec3, add, cross, vec3
from minidem.state.pose cimport load_matrices, to_body
from minidem.state.rows cimport FORCE, ORIENTATION, TORQUE, WRENCH_ROWS, load, store
from minidem.state.state cimport StateView, member


cdef bint find_half_contacts(Contacts *contacts, const StateView *state) noexcept nogil:
    """List the contacts of spheres with more than two, once for each such sphere. False: memory exhausted."""
    cdef const int *pairs = contacts.pairs.data
    cdef unsigned char *bits = contacts.multi_contact_bits
    cdef int *half_contacts
    cdef Py_ssize_t k, n = 0
    cdef int slot, other, first_slot = contacts.first_slot
    cdef unsigned int own, n_slots = contacts.n_slots
    if not reserve(&contacts.half_contacts, contacts.pairs.size):
        return False
    half_contacts = contacts.half_contacts.data
    for k in range(contacts.multi_contact.size):
        own = contacts.multi_contact.data[k] - first_slot
        bits[row_of(own)] |= 1 << lane_of(own)
    for k in range(contacts.pairs.size):
        own = pairs[k] - first_slot
        if own < n_slots:
            half_contacts[n] = <int> k
            n += bits[row_of(own)] >> lane_of(own) & 1
    for k in range(contacts.multi_contact.size):
        bits[row_of(contacts.multi_contact.data[k] - first_slot)] = 0
    for k in range(n):                                  # prefetch all that their evaluation will read
        slot, other = pairs[half_contacts[k]], pairs[half_contacts[k] ^ 1]
        prefetch(contacts.head.data + slot - first_slot)
        prefetch(state.spheres + 4 * <Py_ssize_t> slot)
        if other >= 0:
            prefetch(state.spheres + 4 * <Py_ssize_t> other)
            prefetch(state.sphere_number + slot_of(state, other))
    contacts.half_contacts.size = n
    return reserve(&contacts.next, n)


cdef bint reserve_entries(Contacts *contacts) noexcept nogil:
    """Room to sort the contacts of any one sphere: twice their number. False: memory exhausted."""
    cdef double most = 0.0
    cdef Py_ssize_t k
    for k in range(contacts.multi_contact.size):
        most = max(most, force_on(contacts, contacts.multi_contact.data[k])[3])
    return reserve(&contacts.entries, 2 * <Py_ssize_t> most * (sizeof(Entry) // sizeof(int)))


cdef inline const Entry *sorted_contacts(const Contacts *contacts, const StateView *state, int half_contact,
                                         Py_ssize_t *count) noexcept nogil:
    """Entries (count,) of the contacts of one sphere, sorted by `order_of`; half_contact is the head of its chain."""
    cdef Entry *entries = <Entry *> contacts.entries.data
    cdef Py_ssize_t n = 0
    while half_contact >= 0:
        entries[n] = <Entry> order_of(state, contacts.pairs.data[contacts.half_contacts.data[half_contact] ^ 1]) << 32 \
            | <unsigned int> contacts.half_contacts.data[half_contact]
        half_contact = contacts.next.data[half_contact]
        n += 1
    count[0] = n
    return sort_entries(entries, entries + n, n)


cdef bint resum_in_order(Contacts *contacts, const StateView *state) noexcept nogil:
    """Sum the forces on spheres with more than two contacts again, in canonical order. False: memory exhausted."""
    cdef const int *pairs = contacts.pairs.data
    cdef const Entry *entries
    cdef Contact contact
    cdef double *total
    cdef int *head
    cdef int *link
    cdef int half_contact, entry
    cdef Py_ssize_t k, m, n = 0
    if contacts.multi_contact.size == 0:
        return True
    if not (reserve(&contacts.head, contacts.n_slots) and find_half_contacts(contacts, state)
            and reserve_entries(contacts)):
        return False
    head = contacts.head.data - contacts.first_slot
    for k in range(contacts.multi_contact.size):
        head[contacts.multi_contact.data[k]] = -1
    for half_contact in range(<int> contacts.half_contacts.size):
        link = head + pairs[contacts.half_contacts.data[half_contact]]
        contacts.next.data[half_contact] = link[0]
        link[0] = half_contact
    for k in range(contacts.multi_contact.size):
        total = force_on(contacts, contacts.multi_contact.data[k])
        total[0] = total[1] = total[2] = 0.0
        entries = sorted_contacts(contacts, state, head[contacts.multi_contact.data[k]], &n)
        for m in range(n):
            entry = <int> <unsigned int> entries[m]
            contact = contacts.law.one(contacts.law, state, pairs[entry], pairs[entry ^ 1])
            total[0] += contact.force * contact.normal.x
            total[1] += contact.force * contact.normal.y
            total[2] += contact.force * contact.normal.z
    return True


cdef inline void add_row(double *force, double *torque, const double *matrices, const double *offsets,
                         const double *sphere_force, int *accumulators) noexcept nogil:
    """Add the forces on the spheres of a member row to the wrenches of their clumps.

    force, torque (3, LANES), rotation matrices (9, LANES), offsets (3, LANES): of the block.
    accumulators : (LANES,) indices into sphere_force, zero after it. Lanes without a force add zeros, which change no
        bit.
    """
    cdef double rows[4][LANES]
    cdef Vec3 f
    cdef int lane
    rows_from_records(sphere_force, accumulators, rows[0])
    clear_indices(accumulators)
    for lane in range(LANES):
        f = vec3(rows[0][lane], rows[1][lane], rows[2][lane])
        store(force + lane, add(load(force + lane), f))
        f = cross(load(offsets + lane), to_body(matrices + lane, f))
        store(torque + lane, add(load(torque + lane), f))


cdef inline void prefetch_forces(const Contacts *contacts, const StateView *state, Py_ssize_t b,
                                 const double *sphere_force) noexcept nogil:
    """Prefetch what reduce_block will read for block b: accumulators are in the order of the contacts."""
    cdef Py_ssize_t row
    cdef int lane
    if contacts.block_has_force[b - contacts.first_block]:
        for row in range(state.first_member[b] - contacts.first_row, state.first_member[b + 1] - contacts.first_row):
            for lane in range(LANES):
                prefetch(sphere_force + 4 * <Py_ssize_t> contacts.accumulator_of_slot[row * LANES + lane])


cdef const double *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b, const double *sphere_force,
                                const double *body_force, double *wrench) noexcept nogil:
    """Wrenches (WRENCH_ROWS, LANES) of the clumps of block b; the forces on its spheres are cleared.

    sphere_force : accumulators, of this pose or the last.
    body_force : (block types, WRENCH_ROWS, LANES), wrenches without any contact.
    wrench : room for the result. Returns it, or the row of body_force of a block without contacts.
    """
    cdef double force[3 * LANES], torque[3 * LANES], matrices[9 * LANES]      # local: known not to alias anything
    cdef unsigned char *has_force = contacts.block_has_force + (b - contacts.first_block)
    cdef unsigned char *rows = contacts.row_has_force - contacts.first_row
    cdef Py_ssize_t row, last = state.first_member[b + 1]
    body_force += state.block_type[b] * WRENCH_ROWS * <Py_ssize_t> LANES
    if contacts.out_of_cache:
        prefetch_forces(contacts, state, b + FORCE_BLOCKS_AHEAD, sphere_force)
    if not has_force[0]:
        return body_force
    memcpy(force, body_force + FORCE * LANES, sizeof(force))
    memset(torque, 0, sizeof(torque))
    load_matrices(matrices, state.blocks + (b * state.n_rows + ORIENTATION) * LANES)
    row = next_row(rows, state.first_member[b], last)
    while True:             # at least one row has a force; with a loop that may be empty the sums are kept in memory
        add_row(force, torque, matrices, member(state, row), sphere_force,
                contacts.accumulator_of_slot + (row - contacts.first_row) * LANES)
        rows[row] = False
        row = next_row(rows, row + 1, last)
        if row == last:
            break
    has_force[0] = False
    memcpy(wrench + FORCE * LANES, force, sizeof(force))
    memcpy(wrench + TORQUE * LANES, torque, sizeof(torque))
    return wrench
