"""The arrays behind the walls of a time loop."""
from minidem.core.guard cimport Guard
from minidem.walls.surface cimport Walls

cdef class WallTable:
    cdef Walls walls
    cdef readonly object wall_of        # (n_elements,) int32
    cdef readonly object servos         # numbers of the walls that a force moves
    cdef readonly object servo_states         # (walls, 2) displacements [m] and velocities [m/s] of these
    cdef object _walls, _keep, _poses, _travel, _periodic
    cdef Guard _guard
    cdef double _half_step
    cdef long long _first               # step of the first entry of the tables
    cdef object _fill_meshes(self, meshes, Py_ssize_t n_simple)
    cdef object set_modulus(self, modulus)
    cdef object set_compliance(self, compliance)
    cdef object set_materials(self, materials)
