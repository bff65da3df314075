"""The arrays behind the walls of the time loops."""
from minidem.walls.surface cimport Walls

cdef class WallPrimitives:
    cdef Walls view                     # without properties and poses
    cdef readonly object walls, periodic
    cdef readonly object wall_of        # (n_primitives,) int32
    cdef readonly object moving         # numbers of the walls that move
    cdef readonly object servos         # numbers of the walls that a force moves
    cdef object ahead                   # (step of the first entry, poses, travel) of the newest table
    cdef object motions                 # Motions of the moving ones
    cdef list _keep
    cdef const void *kept(self, values, kind=*) except NULL
    cdef object _fill_drives(self)
    cdef object _fill_shapes(self, simple)
    cdef object _fill_meshes(self, meshes, Py_ssize_t n_simple)
    cdef object _fill_references(self, simple, of_triangles)

cdef object deepest_in_walls(const Walls *walls, const double[:, ::1] spheres)
