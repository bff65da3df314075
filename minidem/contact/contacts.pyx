"""The narrow phase: which candidates overlap, and with what force.

A contact is computed from the two spheres alone; exchanging i and j changes the sign of its normal
and no bit else. A clump's forces are then added in an order given by the user's numbers alone
(gather.pyx), whatever the order in which they are found here.
"""
from libc.math cimport sqrt
from libc.stdlib cimport free, realloc

from minidem.arrays cimport release
from minidem.broadphase.neighbours cimport Neighbours, Planes
from minidem.contact.hertz cimport hertz_force
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


cdef bint find_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state, const Planes *planes,
                        double modulus, double dt) noexcept nogil:
    """Overlaps among the candidates of one thread. False: memory exhausted.

    modulus : effective modulus between two clumps [Pa].
    """
    cdef const int *pairs = mine.pairs.data
    cdef const int *near = mine.walls.data
    cdef Py_ssize_t k
    cdef const double *a
    cdef const double *b
    cdef double x, y, z, squared, reach, distance, inverse
    cdef Contact *contact
    contacts.size = 0
    for k in range(0, mine.pairs.size, 2):
        a = state.spheres + 4 * <Py_ssize_t> pairs[k]
        b = state.spheres + 4 * <Py_ssize_t> pairs[k + 1]
        x = a[0] - b[0]
        y = a[1] - b[1]
        z = a[2] - b[2]
        squared = x * x + y * y + z * z
        reach = a[3] + b[3]
        if squared < reach * reach:
            contact = new_contact(contacts)
            if contact == NULL:
                return False
            distance = sqrt(squared)
            inverse = 1.0 / distance if distance > 0.0 else 0.0     # coincident centres: no direction, no force
            contact.i = pairs[k]
            contact.j = pairs[k + 1]
            contact.normal[0] = x * inverse
            contact.normal[1] = y * inverse
            contact.normal[2] = z * inverse
            contact.overlap = reach - distance
            contact.force = hertz_force(contact.overlap, 0.0, dt, modulus, a[3] * b[3] / reach)
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
    return True


cdef void free_contacts(Contacts *contacts) noexcept nogil:
    free(contacts.data)
    contacts.data = NULL
    contacts.capacity = 0
    contacts.size = 0
    release(&contacts.first)
    release(&contacts.last)
    release(&contacts.next)
    release(&contacts.touched)
