"""Base class of the Driver."""
from minidem.contact.law cimport LawKernels
from minidem.engine.history_memory cimport HistoryMemory
from minidem.engine.loop_reader cimport LoopReader
from minidem.rotation.scheme cimport Kernels
from minidem.state.state cimport Layout, Reordering

cdef class LoopOwner(LoopReader):
    cdef Kernels kernels
    cdef LawKernels law_kernels         # None: free bodies
    cdef object law_settings            # record of the law, and its parameter values
    cdef long long next_sort            # number of the outer rebuild at which clumps are sorted again
    cdef object keep                    # arrays that the loop points to
    cdef object gravity
    cdef object body_force
    cdef double[:, ::1] twists          # records, of a law that needs velocities; see layout.pxd
    cdef double[:, ::1] motions         # (n_blocks * LANES, 16)
    cdef object set_scheme(self, scheme, parameters)
    cdef object set_law(self, law, values)
    cdef void take_view(self) noexcept
    cdef object allocate(self, int n_threads)
    cdef object fill(self)
    cdef object body_force_of(self, fixed)
    cdef long long wrap_if_due(self) except -1
    cdef object sort_if_due(self)
    cdef object units_of(self, of_spheres)
    cdef HistoryMemory new_memory(self, Layout layout, history, dissipated)
    cdef object release_lists(self)
    cdef object sort_with_lists(self, Reordering new, HistoryMemory memory)
    cdef object use_one_thread(self)
