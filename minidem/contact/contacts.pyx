"""The narrow phase: which candidates overlap, and with what force.

A contact is computed from the two spheres alone; exchanging i and j changes the sign of its normal
and no bit else. A clump's forces are then added in an order given by the user's numbers alone
(gather.pyx), whatever the order in which they are found here.
"""
from libc.math cimport sqrt
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from minidem.arrays cimport push, release
from minidem.broadphase.neighbours cimport Neighbours, Planes, height, owns, select_near
from minidem.contact.hertz cimport hertz_force
from minidem.prefetch cimport prefetch
from minidem.rows cimport LANES
from minidem.state cimport StateView


cdef enum:
    PORTION = 1024              # ints of the inner list that are looked at before their contacts are computed


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


cdef bint reserve_sums(Contacts *contacts, Py_ssize_t more) noexcept nogil:
    """Room for so many more sums, all zero. False: memory exhausted."""
    cdef Py_ssize_t wanted = 1 + contacts.n_sums + more, capacity
    cdef double *sums
    if wanted <= contacts.sums_capacity:
        return True
    capacity = wanted + wanted // 2 + 64
    sums = <double *> realloc(contacts.sums, 4 * capacity * sizeof(double))
    if sums == NULL:
        return False
    memset(sums + 4 * contacts.sums_capacity, 0, 4 * (capacity - contacts.sums_capacity) * sizeof(double))
    contacts.sums = sums
    contacts.sums_capacity = capacity
    return True


cdef inline bint add_force(Contacts *contacts, SphereForces *forces, const StateView *state, int slot,
                           const Contact *contact, double sign) noexcept nogil:
    """Add a contact's force to the sum of a sphere, for which there is room. False: memory exhausted."""
    cdef int *place = forces.place + slot
    cdef double force = sign * contact.force
    cdef double *total
    contacts.n_sums += place[0] == 0                    # without a branch: nobody could guess it
    place[0] = place[0] if place[0] else <int> contacts.n_sums
    total = contacts.sums + 4 * <Py_ssize_t> place[0]
    total[0] += force * contact.normal[0]
    total[1] += force * contact.normal[1]
    total[2] += force * contact.normal[2]
    total[3] += 1.0
    forces.rows[slot >> 3] |= BEARS if total[3] < 3.0 else CROWDED
    forces.blocks[state.block_of_member[slot >> 3]] |= NOW
    return total[3] != 3.0 or push(&contacts.crowded, slot)


cdef bint touch_pairs(Contacts *contacts, SphereForces *forces, const Neighbours *mine, const StateView *state,
                      const int *pairs, Py_ssize_t n, double modulus, double dt) noexcept nogil:
    """Contacts of pairs of spheres that overlap: n ints, two by two. False: memory exhausted."""
    cdef Py_ssize_t k
    cdef const double *a
    cdef const double *b
    cdef double x, y, z, reach, distance, inverse
    cdef Contact *contact
    cdef bint fine = True
    if not reserve_sums(contacts, n):
        return False
    for k in range(n):
        prefetch(forces.place + pairs[k])
    for k in range(0, n, 2):
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
    return fine


cdef bint find_contacts(Contacts *contacts, SphereForces *forces, const Neighbours *mine, const StateView *state,
                        const Planes *planes, double modulus, double dt) noexcept nogil:
    """Overlaps among the candidates of one thread, and their forces on its own spheres. False: memory exhausted.

    modulus : effective modulus between two clumps [Pa].
    """
    cdef const int *near = mine.walls.data
    cdef int overlapping[PORTION]
    cdef Py_ssize_t k, n
    cdef const double *a
    cdef const double *b
    cdef double distance
    cdef Contact *contact
    cdef bint fine = True
    contacts.size = 0
    contacts.crowded.size = 0
    contacts.n_sums = 0
    for k in range((mine.pairs.size + PORTION - 1) // PORTION):     # its spheres stay near the processor
        n = select_near(state.spheres, mine.pairs.data + k * PORTION,
                        min(<Py_ssize_t> PORTION, mine.pairs.size - k * PORTION), 0.0, overlapping)
        fine &= touch_pairs(contacts, forces, mine, state, overlapping, n, modulus, dt)
    if not reserve_sums(contacts, mine.walls.size // 2):
        return False
    for k in range(0, mine.walls.size, 2):
        a = state.spheres + 4 * <Py_ssize_t> near[k]
        distance = height(planes, near[k + 1], a)
        if distance < a[3]:
            contact = new_contact(contacts)
            if contact == NULL:
                return False
            b = planes.normal + 3 * near[k + 1]
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
    """No sphere in a contact. False: memory exhausted."""
    forces.place = <int *> calloc(state.n_members * LANES + 1, sizeof(int))
    forces.rows = <unsigned char *> calloc(state.n_members + 1, 1)
    forces.blocks = <unsigned char *> calloc(state.n_blocks + 1, 1)
    return forces.place != NULL and forces.rows != NULL and forces.blocks != NULL


cdef void free_sphere_forces(SphereForces *forces) noexcept nogil:
    free(forces.place)
    free(forces.rows)
    free(forces.blocks)
    forces.place = NULL
    forces.rows = NULL
    forces.blocks = NULL


cdef void free_contacts(Contacts *contacts) noexcept nogil:
    free(contacts.data)
    contacts.data = NULL
    contacts.capacity = 0
    contacts.size = 0
    free(contacts.sums)
    contacts.sums = NULL
    contacts.sums_capacity = 0
    release(&contacts.crowded)
    release(&contacts.first)
    release(&contacts.next)
