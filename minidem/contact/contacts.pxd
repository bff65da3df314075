"""Contacts: overlaps found among the candidates, and their sums on the clumps."""
from minidem.arrays cimport APART, Ints
from minidem.broadphase.neighbours cimport Neighbours, Planes
from minidem.contact.touch cimport Law
from minidem.state cimport StateView

cdef struct Contacts:           # of one thread
    int first_slot              # of its own spheres
    int last_slot
    Ints pairs                  # (sphere slot, sphere slot or -1 - wall), of those that overlap
    Law law                     # with which their forces were computed
    double *sums                # (1 + n_sums, 4): of the forces on one sphere, lab [N], and their number; all zero
                                # beyond, and the first, which stands for spheres without a contact
    void *sums_memory           # where they are, on whole cache lines
    int n_sums
    Py_ssize_t sums_capacity
    Ints crowded                # own spheres in more than two contacts
    Ints ends                   # numbers of the entries of `pairs` that are crowded spheres
    Ints first                  # (own slots,): number in `ends` of the first force on a crowded sphere
    Ints next                   # like `ends`: of the next force on the same sphere
    bint cleared                # clear_forces has been called
    char apart[APART]

cdef struct SphereForces:       # where the sums are; each thread writes what is its own
    int *place                  # (slots,): which of its owner's sums is that of a sphere; 0: it is in no contact
    unsigned char *rows         # (n_members,): whether a sphere of the row bears a force
    unsigned char *crowded      # (n_members,): a bit for each sphere; all zero but in add_in_order
    unsigned char *blocks       # (n_blocks,): NOW: a clump of the block bears one, BEFORE: one did the last time

cdef enum:                      # flags of a block
    NOW = 1
    BEFORE = 2

cdef bint create_sphere_forces(SphereForces *forces, const StateView *state) noexcept nogil
cdef bint find_contacts(Contacts *contacts, SphereForces *forces, const Neighbours *mine, const StateView *state,
                        const Planes *planes, double modulus, double dt) noexcept nogil
cdef void free_contacts(Contacts *contacts) noexcept nogil
cdef void free_sphere_forces(SphereForces *forces) noexcept nogil
