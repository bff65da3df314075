"""Forces and torques of the clumps: the sum over their contacts, the same whatever the order in memory.

First the forces on each sphere are added, then the spheres of a clump in the order of its template.
Two forces may be added either way round, a + b = b + a to the last bit; where a sphere bears more,
they are added again by ascending user's number of the other sphere, walls last. The sum then
depends neither on threads nor on how candidates were found or stored.

Every contact acts at its sphere: the torque is offset x force in the principal body frame (the arm
along the normal passes through the sphere's centre), so a rod of spheres on one axis has an axial
torque of exactly zero.
"""
from libc.string cimport memcpy, memset

from minidem.arrays cimport reserve
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.contacts cimport BEFORE, NOW, Contacts, SphereForces
from minidem.contact.touch cimport Touch, touch
from minidem.geometry.quaternion cimport rotate_back
from minidem.geometry.vec3 cimport Vec3, add, cross, vec3
from minidem.prefetch cimport prefetch
from minidem.records cimport clear_records, rows_from_records
from minidem.rows cimport FORCE, LANES, MASS, ORIENTATION, TORQUE, load, load_quat, store
from minidem.state cimport StateView, fixed_rows, member


cdef inline unsigned int rank(const Contacts *contacts, const StateView *state, int end) noexcept nogil:
    """Order of the forces on one sphere: by the user's number of the other, walls after all spheres."""
    cdef int other = contacts.pairs.data[contacts.ends.data[end] ^ 1]
    return <unsigned int> state.sphere_number[other] if other >= 0 else 2147483648u - 1u - <unsigned int> other


cdef void insert(Contacts *contacts, const StateView *state, int *first, int end) noexcept nogil:
    """Put a force into the chain of its sphere, in order."""
    cdef int *next = contacts.next.data
    cdef unsigned int key = rank(contacts, state, end)
    cdef int *link = first
    while link[0] >= 0 and rank(contacts, state, link[0]) < key:
        link = next + link[0]
    next[end] = link[0]
    link[0] = end


cdef bint find_crowded(Contacts *contacts, SphereForces *forces, const StateView *state) noexcept nogil:
    """All forces on spheres in more than two contacts. False: memory exhausted."""
    cdef const int *pairs = contacts.pairs.data
    cdef unsigned char *crowded = forces.crowded
    cdef int *ends
    cdef Py_ssize_t k, n = 0
    cdef int slot, other, first_slot = contacts.first_slot, last_slot = contacts.last_slot
    if not reserve(&contacts.ends, contacts.pairs.size):
        return False
    ends = contacts.ends.data
    for k in range(contacts.crowded.size):
        slot = contacts.crowded.data[k]
        crowded[slot >> 3] |= 1 << (slot & 7)
    for k in range(contacts.pairs.size):
        slot = pairs[k]
        if first_slot <= slot < last_slot:
            ends[n] = <int> k
            n += crowded[slot >> 3] >> (slot & 7) & 1
    for k in range(contacts.crowded.size):
        crowded[contacts.crowded.data[k] >> 3] = 0
    for k in range(n):                                  # what they are computed from, all at once from memory
        slot, other = pairs[ends[k]], pairs[ends[k] ^ 1]
        prefetch(contacts.first.data + slot - first_slot)
        prefetch(state.spheres + 4 * <Py_ssize_t> slot)
        if other >= 0:
            prefetch(state.spheres + 4 * <Py_ssize_t> other)
            prefetch(state.sphere_number + other)
    contacts.ends.size = n
    return reserve(&contacts.next, n)


cdef bint add_in_order(Contacts *contacts, SphereForces *forces, const StateView *state) noexcept nogil:
    """The sums of spheres in more than two contacts once more, in order. False: memory exhausted."""
    cdef const int *pairs = contacts.pairs.data
    cdef Touch contact
    cdef double *total
    cdef int *first
    cdef int end, entry
    cdef Py_ssize_t k
    if contacts.crowded.size == 0:
        return True
    if not (reserve(&contacts.first, contacts.last_slot - contacts.first_slot)
            and find_crowded(contacts, forces, state)):
        return False
    first = contacts.first.data - contacts.first_slot
    for k in range(contacts.crowded.size):
        first[contacts.crowded.data[k]] = -1
    for end in range(<int> contacts.ends.size):
        insert(contacts, state, first + pairs[contacts.ends.data[end]], end)
    for k in range(contacts.crowded.size):
        total = contacts.sums + 4 * <Py_ssize_t> forces.place[contacts.crowded.data[k]]
        total[0] = total[1] = total[2] = 0.0
        end = first[contacts.crowded.data[k]]
        while end >= 0:
            entry = contacts.ends.data[end]
            contact = touch(state.spheres, pairs[entry], pairs[entry ^ 1], &contacts.law)
            total[0] += contact.force * contact.normal.x
            total[1] += contact.force * contact.normal.y
            total[2] += contact.force * contact.normal.z
            end = contacts.next.data[end]
    return True


cdef inline void set_weights(double *force, double *torque, const double *mass, const double *gravity) noexcept nogil:
    """Loads (3, LANES) of a block without any contact."""
    cdef double x = gravity[0], y = gravity[1], z = gravity[2]
    cdef int lane
    for lane in range(LANES):
        force[lane] = mass[lane] * x
        force[LANES + lane] = mass[lane] * y
        force[2 * LANES + lane] = mass[lane] * z
    memset(torque, 0, 3 * LANES * sizeof(double))


cdef inline void store_loads(double *block, const double *force, const double *torque) noexcept nogil:
    memcpy(block + FORCE * LANES, force, 3 * LANES * sizeof(double))
    memcpy(block + TORQUE * LANES, torque, 3 * LANES * sizeof(double))


cdef inline void add_row(double *force, double *torque, const double *q, const double *offsets, double *sums,
                         int *place) noexcept nogil:
    """Add the forces on the spheres of a member row to the loads of their clumps; the sums are zero after it.

    force, torque (3, LANES), q (4, LANES), offsets (3, LANES): of the block.
    place : (LANES,) where the sums of the spheres are, zero after it. Lanes without a force add zeros,
        which change no bit.
    """
    cdef double one[4][LANES]
    cdef Vec3 f
    cdef int lane
    rows_from_records(sums, place, one[0])
    clear_records(sums, place)
    memset(place, 0, LANES * sizeof(int))
    for lane in range(LANES):
        f = vec3(one[0][lane], one[1][lane], one[2][lane])
        store(force + lane, add(load(force + lane), f))
        f = cross(load(offsets + lane), rotate_back(load_quat(q + lane), f))
        store(torque + lane, add(load(torque + lane), f))


cdef void clear_forces(SphereForces *forces, const Neighbours *mine, const StateView *state,
                       const double *gravity) noexcept nogil:
    """Forces and torques of all own clumps without any contact."""
    cdef double force[3 * LANES], torque[3 * LANES]
    cdef double *block
    cdef Py_ssize_t b
    for b in range(mine.first_block, mine.last_block):
        block = state.blocks + b * state.n_rows * LANES
        set_weights(force, torque, fixed_rows(state, b) + MASS * LANES, gravity)
        store_loads(block, force, torque)
        forces.blocks[b] = 0


cdef void gather(Contacts *contacts, SphereForces *forces, const StateView *state, Py_ssize_t b,
                 const double *gravity) noexcept nogil:
    """Forces and torques of the clumps of block b from those on their spheres, which are zero after it."""
    cdef double force[3 * LANES], torque[3 * LANES], q[4 * LANES]      # known to be apart from all else
    cdef double *block = state.blocks + b * state.n_rows * LANES
    cdef bint now = forces.blocks[b] & NOW
    cdef Py_ssize_t row
    if not forces.blocks[b]:
        return
    set_weights(force, torque, fixed_rows(state, b) + MASS * LANES, gravity)
    if now:
        memcpy(q, block + ORIENTATION * LANES, sizeof(q))
        for row in range(state.first_member[b], state.first_member[b + 1]):
            if forces.rows[row]:
                add_row(force, torque, q, member(state, row), contacts.sums, forces.place + row * LANES)
                forces.rows[row] = 0
    store_loads(block, force, torque)
    forces.blocks[b] = BEFORE if now else 0
