"""Spheres in contact with walls: of neighbouring triangles the nearest one counts."""
from libc.stdint cimport int64_t

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.contacts cimport Contacts
from minidem.core.vectors cimport IntVector
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Walls

cdef Py_ssize_t find_wall_pairs(const Walls *walls, const Neighbours *mine, const StateView *state, IntVector *room,
                                int *pairs, int64_t *numbers, Contacts *contacts, double reach) noexcept nogil
