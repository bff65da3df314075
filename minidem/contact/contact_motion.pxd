"""Geometry of eight contacts, and their motion for a contact law with history (contact.h)."""
from minidem.contact.contact cimport Contact
from minidem.contact.law cimport Law
from minidem.core.lanes cimport LANES
from minidem.state.state cimport StateView

cdef struct Bodies:                     # of eight contacts: one of their two sides
    double sphere[4 * LANES]            # centre [m] and radius [m]
    double motion[8 * LANES]            # of a law with history, as in StateView: half a step before the pose

cdef bint gather_contacts(bint moves, const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          Contact *contact, Bodies *sides, double *images) noexcept nogil
