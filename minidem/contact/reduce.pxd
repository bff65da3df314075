"""Reduction of the forces on spheres to the force and torque on each clump."""
from minidem.contact.narrow_phase cimport Contacts
from minidem.state.state cimport StateView

cdef bint resum_in_order(Contacts *contacts, const StateView *state) noexcept nogil
cdef const double *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b, const double *sphere_force,
                                const double *body_force, double *wrench) noexcept nogil
