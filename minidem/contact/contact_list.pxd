"""All contacts at the present pose, for Python."""
from minidem.contact.contacts cimport Contacts
from minidem.state.state cimport State, StateView

cdef object list_contacts(State state, const StateView *view, const Contacts *contacts, int n_threads)
cdef object list_slopes(const StateView *view, const Contacts *contacts, int n_threads, const double[::1] changes)
cdef double deepest_overlap(const StateView *view, const Contacts *contacts, int n_threads) noexcept nogil
