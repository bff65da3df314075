"""Contacts: overlaps found among the candidates, and their sums on the clumps."""
from minidem.arrays cimport Ints
from minidem.broadphase.neighbours cimport Neighbours, Planes
from minidem.state cimport StateView

cdef struct Contact:
    int i                       # sphere slot
    int j                       # sphere slot, or -1 - wall
    double overlap              # [m]
    double force                # magnitude [N], along the normal
    double normal[3]            # unit, from j to i

cdef struct Contacts:           # of one thread
    Contact *data
    Py_ssize_t size
    Py_ssize_t capacity
    Ints first                  # (own clumps,): first of its forces, -1: none
    Ints last                   # (own clumps,)
    Ints next                   # (2 size,): the clump's next force; number 2c: on i of contact c, 2c + 1: on j
    Ints touched                # own clumps that bear a force
    bint cleared                # clear_forces has been called

cdef bint find_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state, const Planes *planes,
                        double modulus, double dt) noexcept nogil
cdef void free_contacts(Contacts *contacts) noexcept nogil
