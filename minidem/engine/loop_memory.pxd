"""The struct of a time loop, and all memory that it points to."""
from minidem.broadphase.broadphase cimport Broadphase
from minidem.contact.law cimport LawKernels
from minidem.engine.loop cimport Loop
from minidem.rotation.scheme cimport Kernels
from minidem.state.state cimport State
from minidem.walls.surface cimport Walls
from minidem.walls.wall_table cimport WallPrimitives


cdef class LoopMemory:
    cdef Loop loop
    cdef readonly State state
    cdef readonly WallPrimitives walls    # None: free bodies
    cdef Walls own_walls                # with the materials and poses of this loop
    cdef readonly object pair_table     # PairTable of the contact law; None: free bodies
    cdef Kernels kernels
    cdef LawKernels law_kernels         # None: free bodies
    cdef bint calls_fluxes              # a flux is written in Python
    cdef long long next_sort            # number of the outer rebuild at which clumps are sorted again
    cdef list arrays                    # all that the loop points to
    cdef void *own(self, array) except NULL
    cdef void *zeros(self, size_t size) except NULL

cdef object list_statistics(const Broadphase *broad)
cdef object export_history(Loop *loop, State state)
