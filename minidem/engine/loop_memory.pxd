"""The struct of a time loop, and all memory that it points to."""
from minidem.contact.law cimport LawKernels
from minidem.engine.loop cimport Loop
from minidem.rotation.scheme cimport Kernels
from minidem.state.state cimport Layout, State
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
    cdef object make_lists(self, int n_threads)
    cdef void take_over(self, const Loop *old) noexcept
    cdef object set_scheme(self, scheme, parameters)
    cdef object set_law(self, law, values)
    cdef object set_fields(self, population, fluxes)
    cdef bint run_has_ended(self) noexcept
    cdef bint calls_python(self)
    cdef object set_body_force(self, gravity)
    cdef object set_history(self, history)
    cdef object add_contacts(self, history, const int[:, ::1] slots, const int[::1] materials)
    cdef object history(self)
    cdef long long wrap_if_due(self) except -1
    cdef bint sort_is_due(self)
    cdef object statistics(self)
    cdef object raise_failure(self, error)
    cdef object raise_force_after_end(self)


cdef object export_history(Loop *loop, Layout layout)
