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
    double *sums                # (1 + n_sums, 4): of the forces on one sphere, lab [N], and their number; all zero
                                # beyond, and the first, which stands for spheres without a contact
    Py_ssize_t n_sums
    Py_ssize_t sums_capacity
    Ints crowded                # own spheres in more than two contacts
    Ints first                  # (own slots,): the first force on a crowded sphere
    Ints next                   # (2 size,): the sphere's next force; number 2c: on i of contact c, 2c + 1: on j
    bint cleared                # clear_forces has been called

cdef struct SphereForces:       # where the sums are; each thread writes what is its own
    int *place                  # (slots,): which of its owner's sums is that of a sphere; 0: it is in no contact
    unsigned char *rows         # (n_members,): BEARS: a sphere of the row bears a force, CROWDED: more than two
    unsigned char *blocks       # (n_blocks,): NOW: a clump of the block bears one, BEFORE: one did the last time

cdef enum:                      # flags of a member row
    BEARS = 1
    CROWDED = 2

cdef enum:                      # flags of a block
    NOW = 1
    BEFORE = 2

cdef bint create_sphere_forces(SphereForces *forces, const StateView *state) noexcept nogil
cdef bint find_contacts(Contacts *contacts, SphereForces *forces, const Neighbours *mine, const StateView *state,
                        const Planes *planes, double modulus, double dt) noexcept nogil
cdef void free_contacts(Contacts *contacts) noexcept nogil
cdef void free_sphere_forces(SphereForces *forces) noexcept nogil
