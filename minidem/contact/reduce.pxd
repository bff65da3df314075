"""Reduction of the forces on spheres to the force and torque on each clump."""
from minidem.contact.contacts cimport Contacts
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport StateView

cdef const WrenchBlock *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b, const WrenchBlock *base,
                                     WrenchBlock *wrench, bint keeps) noexcept nogil
