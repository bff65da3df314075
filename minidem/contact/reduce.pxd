from minidem.contact.narrow_phase cimport Contacts
from minidem.state.state cimport StateView

cdef bint add_in_order(Contacts *contacts, const StateView *state) noexcept nogil
cdef const double *gather(Contacts *contacts, const StateView *state, Py_ssize_t b, const double *sums,
                          const double *weights, double *loads) noexcept nogil
