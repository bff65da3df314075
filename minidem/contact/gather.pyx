"""Forces and torques of the clumps: the sum over their contacts, in one canonical order.

A clump's forces are added by ascending (other sphere, own sphere) in the user's numbers, walls
last in the order of the list. The sum then depends neither on threads nor on how candidates were
found or stored. Contacts of a clump are few, and mostly arrive in order: a sorted chain for each
clump, appended at its end or, rarely, filled in.

Every contact acts at its sphere: the torque is offset x force in the principal body frame (the arm
along the normal passes through the sphere's centre), so a rod of spheres on one axis has an axial
torque of exactly zero.
"""
from minidem.arrays cimport reserve
from minidem.broadphase.neighbours cimport Neighbours, owns
from minidem.contact.contacts cimport Contact, Contacts
from minidem.geometry.quaternion cimport rotate_back
from minidem.geometry.vec3 cimport Vec3, add, cross, scale, vec3
from minidem.rows cimport FORCE, LANES, MASS, ORIENTATION, TORQUE, load, load_quat, store
from minidem.state cimport StateView


cdef inline Py_ssize_t clump_of(const StateView *state, int slot) noexcept nogil:
    return <Py_ssize_t> state.block_of_member[slot >> 3] * LANES + (slot & (LANES - 1))


cdef inline int own_slot(const Contacts *contacts, int entry) noexcept nogil:
    cdef const Contact *contact = contacts.data + (entry >> 1)
    return contact.j if entry & 1 else contact.i


cdef inline unsigned long long rank(const Contacts *contacts, const StateView *state, int entry) noexcept nogil:
    """Canonical order of the forces on one clump: by the other sphere, then its own; walls after spheres."""
    cdef const Contact *contact = contacts.data + (entry >> 1)
    cdef int other = contact.i if entry & 1 else contact.j
    cdef unsigned long long first
    if other < 0:
        first = (<unsigned long long> 1 << 31) + <unsigned long long> (-1 - other)
    else:
        first = <unsigned long long> state.sphere_number[other]
    return (first << 32) | <unsigned long long> state.sphere_number[own_slot(contacts, entry)]


cdef inline void insert(Contacts *contacts, const StateView *state, Py_ssize_t first_clump, int entry) noexcept nogil:
    cdef int *next = contacts.next.data
    cdef Py_ssize_t clump = clump_of(state, own_slot(contacts, entry)) - first_clump
    cdef int *head = contacts.first.data + clump
    cdef int *tail = contacts.last.data + clump
    cdef unsigned long long key
    cdef int at
    if head[0] < 0:
        contacts.touched.data[contacts.touched.size] = <int> clump
        contacts.touched.size += 1
        next[entry] = -1
        head[0] = entry
        tail[0] = entry
        return
    key = rank(contacts, state, entry)
    if key > rank(contacts, state, tail[0]):
        next[tail[0]] = entry
        next[entry] = -1
        tail[0] = entry
    elif key < rank(contacts, state, head[0]):
        next[entry] = head[0]
        head[0] = entry
    else:
        at = head[0]
        while rank(contacts, state, next[at]) < key:
            at = next[at]
        next[entry] = next[at]
        next[at] = entry


cdef inline void set_load(const StateView *state, Py_ssize_t clump, Vec3 force, Vec3 torque) noexcept nogil:
    cdef double *block = state.blocks + (clump >> 3) * state.n_rows * LANES + (clump & (LANES - 1))
    store(block + FORCE * LANES, force)
    store(block + TORQUE * LANES, torque)


cdef inline Vec3 weight(const StateView *state, Py_ssize_t clump, const double *gravity) noexcept nogil:
    cdef double mass = state.blocks[((clump >> 3) * state.n_rows + MASS) * LANES + (clump & (LANES - 1))]
    return vec3(mass * gravity[0], mass * gravity[1], mass * gravity[2])


cdef bint clear_forces(Contacts *contacts, const Neighbours *mine, const StateView *state,
                       const double *gravity) noexcept nogil:
    """Forces and torques of all own clumps without any contact. False: memory exhausted."""
    cdef Py_ssize_t first = mine.first_block * LANES, n = (mine.last_block - mine.first_block) * LANES, k
    if not (reserve(&contacts.first, n) and reserve(&contacts.last, n) and reserve(&contacts.touched, n)):
        return False
    for k in range(n):
        contacts.first.data[k] = -1
        set_load(state, first + k, weight(state, first + k, gravity), vec3(0.0, 0.0, 0.0))
    contacts.touched.size = 0
    contacts.cleared = True
    return True


cdef bint gather(Contacts *contacts, const Neighbours *mine, const StateView *state,
                 const double *gravity) noexcept nogil:
    """Forces and torques of own clumps from the contacts, after those of the last time. False: memory exhausted."""
    cdef Py_ssize_t first_clump = mine.first_block * LANES, k, clump, member, slot
    cdef const double *block
    cdef const Contact *contact
    cdef Vec3 force, torque, one
    cdef int entry
    if not reserve(&contacts.next, 2 * contacts.size):
        return False
    for k in range(contacts.touched.size):
        clump = contacts.touched.data[k]
        contacts.first.data[clump] = -1
        set_load(state, first_clump + clump, weight(state, first_clump + clump, gravity), vec3(0.0, 0.0, 0.0))
    contacts.touched.size = 0
    for k in range(contacts.size):
        if owns(mine, state, contacts.data[k].i):
            insert(contacts, state, first_clump, <int> (2 * k))
        if contacts.data[k].j >= 0 and owns(mine, state, contacts.data[k].j):
            insert(contacts, state, first_clump, <int> (2 * k + 1))
    for k in range(contacts.touched.size):
        clump = first_clump + contacts.touched.data[k]
        block = state.blocks + (clump >> 3) * state.n_rows * LANES + (clump & (LANES - 1))
        force = weight(state, clump, gravity)
        torque = vec3(0.0, 0.0, 0.0)
        entry = contacts.first.data[contacts.touched.data[k]]
        while entry >= 0:
            contact = contacts.data + (entry >> 1)
            slot = own_slot(contacts, entry)
            member = slot >> 3
            one = scale(-contact.force if entry & 1 else contact.force,
                        vec3(contact.normal[0], contact.normal[1], contact.normal[2]))
            force = add(force, one)
            one = rotate_back(load_quat(block + ORIENTATION * LANES), one)
            torque = add(torque, cross(load(state.members + member * 4 * LANES + (slot & (LANES - 1))), one))
            entry = contacts.next.data[entry]
        set_load(state, clump, force, torque)
    return True
