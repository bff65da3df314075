"""Forces and torques from compiled functions of the user."""
from minidem.engine.loop cimport Loop
from minidem.state.state cimport State

cdef class CompiledForces:
    cdef double[:, ::1] lines           # (n_clumps, 8)
    cdef unsigned char[::1] functions   # a UserForce each
    cdef long long[:, ::1] shifts       # those of the state
    cdef object keep                    # arrays of the parameters
    cdef object bind(self, Loop *loop)
    cdef object check_parameters(self, Loop *loop)

cdef void add_compiled_forces(Loop *loop, Py_ssize_t block, double steps, double half,
                              double *sources) noexcept nogil
