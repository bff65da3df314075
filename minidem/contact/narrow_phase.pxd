"""Contacts: overlaps found among the candidates, and their sums on the clumps."""
from minidem.core.int_vector cimport APART, Ints
from minidem.broadphase.neighbours cimport Neighbours, Planes
from minidem.contact.evaluate cimport Law
from minidem.state.state cimport StateView

cdef struct Contacts:           # of one thread
    Py_ssize_t first_block      # of its own
    Py_ssize_t first_row        # of their members
    int first_slot              # of their spheres
    int n_slots
    void *memory                # where the sums and the arrays below are
    Py_ssize_t looked_at        # ints of the inner list that have been
    Ints pairs                  # (sphere, sphere or -1 - wall), of those that overlap
    Py_ssize_t computed         # ints of them whose forces are in the sums
    Law law                     # with which their forces were computed
    double *sums                # (1 + n_sums, 4): of the forces on one sphere, lab [N], and their number; the first
                                # stands for spheres without a contact and is zero
    double *sums_before         # the same of the last pose, while they are gathered
    double *other_sums          # room for the next ones, if those are found meanwhile
    int n_sums
    int *place                  # (n_slots,): which of the sums is that of an own sphere; 0: it is in no contact
    unsigned char *rows         # (own member rows,): whether a sphere of the row bears a force
    unsigned char *blocks       # (own blocks + SUMS_AHEAD,): whether a clump of the block does
    bint far                    # sums are in memory, not in the caches
    unsigned char *crowded_bits # (own member rows,): a bit for each sphere; all zero but in add_in_order
    Ints crowded                # own spheres in more than two contacts
    Ints ends                   # numbers of the entries of `pairs` that are crowded spheres
    Ints first                  # (n_slots,): number in `ends` of the first force on a crowded sphere
    Ints next                   # like `ends`: of the next force on the same sphere
    Ints entries                # room for the forces on one sphere, twice, while they are sorted
    char apart[APART]

cdef bint create_contacts(Contacts *contacts, const StateView *state) noexcept nogil
cdef void cover_own(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil
cdef bint find_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state,
                        Py_ssize_t end) noexcept nogil
cdef bint find_other_contacts(Contacts *contacts, const Neighbours *mine,
                              const StateView *state) noexcept nogil
cdef void drop_contacts(Contacts *contacts, const StateView *state) noexcept nogil
cdef void forget_all(Contacts *contacts) noexcept nogil
cdef void free_contacts(Contacts *contacts) noexcept nogil


cdef inline void forget(Contacts *contacts) noexcept nogil:
    contacts.pairs.size = contacts.crowded.size = contacts.n_sums = contacts.looked_at = contacts.computed = 0


cdef inline void begin_contacts(Contacts *contacts, const Neighbours *mine, const Planes *planes, double modulus,
                                double dt) noexcept nogil:
    """None known at a new pose; the forces at the last one are still to be gathered.

    modulus : effective modulus between two clumps [Pa].
    """
    contacts.law.planes, contacts.law.modulus, contacts.law.dt = planes, modulus, dt
    forget(contacts)
    contacts.sums_before = contacts.sums
    contacts.far = mine.slab_ends.size > 0
    if contacts.far:                                    # contacts will be found before all sums are gathered
        contacts.sums, contacts.other_sums = contacts.other_sums, contacts.sums
