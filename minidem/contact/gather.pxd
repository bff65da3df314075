from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.contacts cimport Contacts
from minidem.state cimport StateView

cdef bint gather(Contacts *contacts, const Neighbours *mine, const StateView *state,
                 const double *gravity) noexcept nogil
cdef bint clear_forces(Contacts *contacts, const Neighbours *mine, const StateView *state,
                       const double *gravity) noexcept nogil
