"""The time loop of clumps, walls and contacts, without what is optional, and its memory."""
from minidem.contact.law cimport LawKernels
from minidem.loop.loop cimport Loop
from minidem.rotation.scheme cimport Kernels
from minidem.state.state cimport State
from minidem.walls.surface cimport Walls
from minidem.walls.wall_table cimport WallPrimitives


cdef class BareLoop:
    cdef Loop loop
    cdef State state
    cdef Walls walls                    # with the materials and poses of this loop
    cdef Kernels kernels
    cdef LawKernels law_kernels         # None: free bodies
    cdef list arrays                    # of NumPy, which the loop points to
    cdef void **memory                  # see `zeros`
    cdef size_t size                    # of it [bytes]
    cdef void *own(self, array) except NULL
    cdef void *zeros(self, size_t size) except NULL
    cdef object set_body_force(self, gravity)
    cdef object set_scheme(self, scheme, values)
    cdef object set_law(self, law, values, WallPrimitives walls, pair_table)
    cdef object set_exclusions(self, materials, fixed)
    cdef object make_lists(self, int n_threads)
