"""Effective masses of contacts that act together, with mass=shared."""
from minidem.contact.contacts cimport Contacts
from minidem.state.state cimport StateView


cdef void share_masses(Contacts *contacts, const StateView *state, bint evaluated) noexcept nogil
