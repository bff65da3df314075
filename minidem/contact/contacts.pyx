"""The narrow phase: which candidates overlap, and with what force.

A contact is computed from the two spheres alone; exchanging i and j changes the sign of its normal
and no bit else. A clump's forces are then added in an order given by the user's numbers alone
(gather.pyx), whatever the order in which they are found here.
"""
from libc.math cimport sqrt
from libc.stdlib cimport calloc, free, realloc

from minidem.arrays cimport push, release, reserve
from minidem.broadphase.neighbours cimport Neighbours, Planes, owns, select_near
from minidem.contact.hertz cimport hertz_force
from minidem.rows cimport LANES
from minidem.state cimport StateView


cdef inline Contact *new_contact(Contacts *contacts) noexcept nogil:
    cdef Py_ssize_t capacity
    cdef Contact *data
    if contacts.size == contacts.capacity:
        capacity = 2 * contacts.capacity + 64
        data = <Contact *> realloc(contacts.data, capacity * sizeof(Contact))
        if data == NULL:
            return NULL
        contacts.data = data
        contacts.capacity = capacity
    contacts.size += 1
    return contacts.data + contacts.size - 1


cdef inline bint add_force(Contacts *contacts, SphereForces *forces, const StateView *state, int slot,
                           const Contact *contact, double sign) noexcept nogil:
    """Add a contact's force to the sum of a sphere. False: memory exhausted."""
    cdef double *total = forces.sums + 4 * <Py_ssize_t> slot
    cdef double force = sign * contact.force
    total[0] += force * contact.normal[0]
    total[1] += force * contact.normal[1]
    total[2] += force * contact.normal[2]
    total[3] += 1.0
    forces.rows[slot >> 3] = 1
    forces.blocks[state.block_of_member[slot >> 3]] |= NOW
    return total[3] != 3.0 or push(&contacts.crowded, slot)


cdef bint find_contacts(Contacts *contacts, SphereForces *forces, const Neighbours *mine, const StateView *state,
                        const Planes *planes, double modulus, double dt) noexcept nogil:
    """Overlaps among the candidates of one thread, and their forces on its own spheres. False: memory exhausted.

    modulus : effective modulus between two clumps [Pa].
    """
    cdef const int *near = mine.walls.data
    cdef const int *pairs
    cdef Py_ssize_t k
    cdef const double *a
    cdef const double *b
    cdef double x, y, z, reach, distance, inverse
    cdef Contact *contact
    cdef bint fine = True
    contacts.size = 0
    contacts.crowded.size = 0
    if not reserve(&contacts.overlapping, mine.pairs.size):
        return False
    pairs = contacts.overlapping.data
    for k in range(0, select_near(state.spheres, mine.pairs.data, mine.pairs.size, 0.0, contacts.overlapping.data), 2):
        contact = new_contact(contacts)
        if contact == NULL:
            return False
        a = state.spheres + 4 * <Py_ssize_t> pairs[k]
        b = state.spheres + 4 * <Py_ssize_t> pairs[k + 1]
        x = a[0] - b[0]
        y = a[1] - b[1]
        z = a[2] - b[2]
        reach = a[3] + b[3]
        distance = sqrt(x * x + y * y + z * z)
        inverse = 1.0 / distance if distance > 0.0 else 0.0         # coincident centres: no direction, no force
        contact.i = pairs[k]
        contact.j = pairs[k + 1]
        contact.normal[0] = x * inverse
        contact.normal[1] = y * inverse
        contact.normal[2] = z * inverse
        contact.overlap = reach - distance
        contact.force = hertz_force(contact.overlap, 0.0, dt, modulus, a[3] * b[3] / reach)
        if owns(mine, state, contact.i):
            fine &= add_force(contacts, forces, state, contact.i, contact, 1.0)
        if owns(mine, state, contact.j):
            fine &= add_force(contacts, forces, state, contact.j, contact, -1.0)
    for k in range(0, mine.walls.size, 2):
        a = state.spheres + 4 * <Py_ssize_t> near[k]
        b = planes.normal + 3 * near[k + 1]
        x = a[0] - planes.point[3 * near[k + 1]]
        y = a[1] - planes.point[3 * near[k + 1] + 1]
        z = a[2] - planes.point[3 * near[k + 1] + 2]
        distance = x * b[0] + y * b[1] + z * b[2]
        if distance < a[3]:
            contact = new_contact(contacts)
            if contact == NULL:
                return False
            contact.i = near[k]
            contact.j = -1 - near[k + 1]
            contact.normal[0] = b[0]
            contact.normal[1] = b[1]
            contact.normal[2] = b[2]
            contact.overlap = a[3] - distance
            contact.force = hertz_force(contact.overlap, 0.0, dt, planes.modulus[near[k + 1]], a[3])
            fine &= add_force(contacts, forces, state, contact.i, contact, 1.0)
    return fine


cdef bint create_sphere_forces(SphereForces *forces, const StateView *state) noexcept nogil:
    """Room for the sums, all zero. False: memory exhausted."""
    forces.sums = <double *> calloc(state.n_members * LANES + 1, 4 * sizeof(double))
    forces.rows = <unsigned char *> calloc(state.n_members + 1, 1)
    forces.blocks = <unsigned char *> calloc(state.n_blocks + 1, 1)
    return forces.sums != NULL and forces.rows != NULL and forces.blocks != NULL


cdef void free_sphere_forces(SphereForces *forces) noexcept nogil:
    free(forces.sums)
    free(forces.rows)
    free(forces.blocks)
    forces.sums = NULL
    forces.rows = NULL
    forces.blocks = NULL


cdef void free_contacts(Contacts *contacts) noexcept nogil:
    free(contacts.data)
    contacts.data = NULL
    contacts.capacity = 0
    contacts.size = 0
    release(&contacts.overlapping)
    release(&contacts.crowded)
    release(&contacts.first)
    release(&contacts.next)
