"""Geometry and motion of eight contacts, for a contact law with history (contact.h)."""
from minidem.contact.contact cimport Contact, Row
from minidem.contact.law cimport Law
from minidem.state.state cimport StateView

cdef struct Side:                   # of eight contacts: one of their bodies, see add_side of fixed_point.h
    Row arm                         # distance of the contact point from the centre [m]
    Row per_force                   # 1 / unit of force
    Row per_moment                  # 1 / unit of moment

cdef bint gather_contacts(const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          Contact *contact, Side *sides, double *points, double *images) noexcept nogil
