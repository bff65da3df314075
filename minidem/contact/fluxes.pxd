"""Bodies of contacts for laws and fluxes, and sums of the rates and amounts of fields."""
from minidem.contact.contact cimport Contact, Result, Row
from minidem.contact.law cimport Law
from minidem.contact.contacts cimport Contacts
from minidem.core.vectors cimport DoubleVector
from minidem.state.state cimport StateView

cdef void describe_bodies(const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          Contact *contact) noexcept nogil
cdef void add_rates(Contacts *contacts, const Law *law, const StateView *state, const int *i, const int *j,
                    const Contact *contact, Result *result) noexcept nogil
cdef void take_rates(const Law *law, const DoubleVector *sent, const Contacts *contacts,
                     const StateView *state) noexcept nogil
cdef void total_rates(const Law *law, const Contact *contact, Result *result, Row *total) noexcept nogil
cdef void clear_rates(const Law *law, Py_ssize_t first_block, Py_ssize_t last_block) noexcept nogil
