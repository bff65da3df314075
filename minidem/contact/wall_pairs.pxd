"""Contacts of spheres with walls at a pose."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.contacts cimport Contacts
from minidem.state.state cimport StateView

cdef Py_ssize_t find_wall_pairs(Contacts *contacts, const Neighbours *mine, const StateView *state, int *pairs,
                                int *listed, double reach) noexcept nogil
