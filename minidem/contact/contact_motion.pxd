"""Geometry and motion of eight contacts, as rows for a contact law with history (rows.pxd)."""
from minidem.contact.law cimport Law
from minidem.state.state cimport StateView

cdef enum:
    SIDE_ROWS = 3           # distance of the contact point from the centre [m]; 1 / unit of force; 1 / unit of moment

cdef bint gather_contacts(const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          double *contact, double *sides, double *points, double *images) noexcept nogil
