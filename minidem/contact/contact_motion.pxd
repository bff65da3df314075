"""Geometry and motion of eight contacts, as rows for a contact law with history (rows.pxd)."""
from minidem.contact.law cimport Law
from minidem.state.state cimport StateView

cdef void gather_contacts(const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          double *contact, double *levers, double *points) noexcept nogil
