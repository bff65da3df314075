"""Forces and torques of the clumps: the sum over their contacts, the same whatever the order in memory.

First the forces on each sphere are added, then the spheres of a clump in the order of its template.
Two forces may be added either way round, a + b = b + a to the last bit; where a sphere bears more,
they are added again by ascending user's number of the other sphere, walls last. The sum then
depends neither on threads nor on how candidates were found or stored.

Every contact acts at its sphere: the torque is offset x force in the principal body frame (the arm
along the normal passes through the sphere's centre), so a rod of spheres on one axis has an axial
torque of exactly zero.
"""
from minidem.arrays cimport reserve
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.contacts cimport BEFORE, CROWDED, NOW, Contact, Contacts, SphereForces
from minidem.geometry.quaternion cimport rotate_back
from minidem.geometry.vec3 cimport Vec3, add, cross, vec3
from minidem.records cimport rows_from_records
from minidem.rows cimport FORCE, LANES, MASS, ORIENTATION, TORQUE, load, load_quat, store
from minidem.state cimport StateView, member

cdef inline unsigned int rank(const Contacts *contacts, const StateView *state, int entry) noexcept nogil:
    """Order of the forces on one sphere: by the user's number of the other, walls after all spheres."""
    cdef const Contact *contact = contacts.data + (entry >> 1)
    cdef int other = contact.i if entry & 1 else contact.j
    return <unsigned int> state.sphere_number[other] if other >= 0 else 2147483648u - 1u - <unsigned int> other


cdef void insert(Contacts *contacts, const StateView *state, int *first, int entry) noexcept nogil:
    """Put a force into the chain of its sphere, in order."""
    cdef int *next = contacts.next.data
    cdef unsigned int key = rank(contacts, state, entry)
    cdef int *link = first
    while link[0] >= 0 and rank(contacts, state, link[0]) < key:
        link = next + link[0]
    next[entry] = link[0]
    link[0] = entry


cdef bint add_in_order(Contacts *contacts, SphereForces *forces, const Neighbours *mine,
                       const StateView *state) noexcept nogil:
    """The sums of spheres in more than two contacts once more, in order. False: memory exhausted."""
    cdef Py_ssize_t first_slot = state.first_member[mine.first_block] * LANES, k, axis
    cdef Py_ssize_t last_slot = state.first_member[mine.last_block] * LANES
    cdef const Contact *contact
    cdef double *total
    cdef double force
    cdef int *first
    cdef int entry, slot, end
    if contacts.crowded.size == 0:
        return True
    if not (reserve(&contacts.first, last_slot - first_slot) and reserve(&contacts.next, 2 * contacts.size)):
        return False
    first = contacts.first.data
    for k in range(contacts.crowded.size):
        first[contacts.crowded.data[k] - first_slot] = -1
    for k in range(contacts.size):
        for end in range(2):
            slot = contacts.data[k].j if end else contacts.data[k].i
            if first_slot <= slot < last_slot and forces.rows[slot >> 3] & CROWDED \
                    and contacts.sums[4 * <Py_ssize_t> forces.place[slot] + 3] > 2.0:
                insert(contacts, state, first + (slot - first_slot), <int> (2 * k + end))
    for k in range(contacts.crowded.size):
        total = contacts.sums + 4 * <Py_ssize_t> forces.place[contacts.crowded.data[k]]
        entry = first[contacts.crowded.data[k] - first_slot]
        for axis in range(3):
            total[axis] = 0.0
        while entry >= 0:
            contact = contacts.data + (entry >> 1)
            force = -contact.force if entry & 1 else contact.force
            for axis in range(3):
                total[axis] += force * contact.normal[axis]
            entry = contacts.next.data[entry]
    return True


cdef void set_weights(double *block, const double *gravity) noexcept nogil:
    """Loads of a block without any contact."""
    cdef int k, lane
    for k in range(3):
        for lane in range(LANES):
            block[(FORCE + k) * LANES + lane] = block[MASS * LANES + lane] * gravity[k]
            block[(TORQUE + k) * LANES + lane] = 0.0


cdef void add_row(double *block, const double *offsets, double *sums, int *place) noexcept nogil:
    """Add the forces on the spheres of a member row to the loads of their clumps; the sums are zero after it.

    place : (LANES,) where the sums of the spheres are, zero after it. Lanes without a force add zeros,
        which change no bit.
    """
    cdef double force[4][LANES]
    cdef Vec3 one
    cdef int lane, k
    rows_from_records(sums, place, force[0])
    for lane in range(LANES):
        for k in range(4):
            sums[4 * <Py_ssize_t> place[lane] + k] = 0.0
        place[lane] = 0
    for lane in range(LANES):
        one = vec3(force[0][lane], force[1][lane], force[2][lane])
        store(block + FORCE * LANES + lane, add(load(block + FORCE * LANES + lane), one))
        one = cross(load(offsets + lane), rotate_back(load_quat(block + ORIENTATION * LANES + lane), one))
        store(block + TORQUE * LANES + lane, add(load(block + TORQUE * LANES + lane), one))


cdef void clear_forces(SphereForces *forces, const Neighbours *mine, const StateView *state,
                       const double *gravity) noexcept nogil:
    """Forces and torques of all own clumps without any contact."""
    cdef Py_ssize_t b
    for b in range(mine.first_block, mine.last_block):
        set_weights(state.blocks + b * state.n_rows * LANES, gravity)
        forces.blocks[b] = 0


cdef void gather(Contacts *contacts, SphereForces *forces, const StateView *state, Py_ssize_t b,
                 const double *gravity) noexcept nogil:
    """Forces and torques of the clumps of block b from those on their spheres, which are zero after it."""
    cdef Py_ssize_t row
    cdef double *block = state.blocks + b * state.n_rows * LANES
    if forces.blocks[b]:
        set_weights(block, gravity)
    if forces.blocks[b] & NOW:
        for row in range(state.first_member[b], state.first_member[b + 1]):
            if forces.rows[row]:
                add_row(block, member(state, row), contacts.sums, forces.place + row * LANES)
                forces.rows[row] = 0
        forces.blocks[b] = BEFORE
    else:
        forces.blocks[b] = 0
