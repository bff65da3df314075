"""Contacts at the present pose: eight as laws and fluxes see them (contact.h), and all of them for Python."""
from minidem.contact.blocks cimport ContactBlock
from minidem.contact.contact cimport Bodies, Contact, Result
from minidem.contact.contacts cimport Contacts
from minidem.contact.law cimport Law
from minidem.state.state cimport State, StateView


cdef inline bint of_one_pair(const Law *law, bint walls) noexcept nogil:
    """Whether all contacts are of the pair of materials of load_only_pair."""
    return law.log_materials == 0 or law.only_material >= 0 and not walls


cdef bint gather_contacts(bint moves, const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          int n, Contact *contact, Bodies *sides, double *images) noexcept nogil
cdef void load_only_pair(const Law *law, Contact *contact) noexcept nogil
cdef bint load_block(const Law *law, const StateView *state, const ContactBlock *block, bint walls, int n,
                     Contact *contact, Bodies *sides, double *images) noexcept nogil
cdef void call_central(const Law *law, const Contact *contact, double *magnitude, double *force) noexcept nogil
cdef void describe_known(const Law *law, const ContactBlock *block, const Contact *contact,
                         Result *result) noexcept nogil
cdef void call_flux(const Law *law, int k, const Contact *contact, Result *result) noexcept nogil
cdef object list_contacts(State state, const StateView *view, const Contacts *contacts, int n_threads)
cdef object list_slopes(const StateView *view, const Contacts *contacts, int n_threads, const double[::1] changes)
cdef double deepest_overlap(const StateView *view, const Contacts *contacts, int n_threads)
