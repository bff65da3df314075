from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.contacts cimport Contacts, SphereForces
from minidem.state cimport StateView

cdef bint add_in_order(Contacts *contacts, SphereForces *forces, const StateView *state) noexcept nogil
cdef void gather(Contacts *contacts, SphereForces *forces, const StateView *state, Py_ssize_t b,
                 const double *gravity) noexcept nogil
cdef void clear_forces(SphereForces *forces, const Neighbours *mine, const StateView *state,
                       const double *gravity) noexcept nogil
