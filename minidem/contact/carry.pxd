"""Contacts of laws with records over a rebuild of the lists."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.contacts cimport Contacts
from minidem.state.state cimport StateView

cdef bint collect_stored(Contacts *all, int thread, int n_threads, const Neighbours *mine,
                         const StateView *state) noexcept nogil
cdef bint take_collected(Contacts *contacts, Neighbours *mine) noexcept nogil
