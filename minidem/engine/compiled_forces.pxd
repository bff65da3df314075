"""Forces and torques from compiled functions of the user."""
from minidem.engine.loop cimport Loop
from minidem.state.state cimport State

cdef class CompiledForces:
    cdef readonly object lines          # (n_clumps, 8)
    cdef object functions               # a UserForce each
    cdef object shifts                  # those of the state
    cdef list parameters                # an array for each function
    cdef object bind(self, Loop *loop)
    cdef object check_parameters(self, Loop *loop)

cdef void add_compiled_forces(Loop *loop, Py_ssize_t block, double steps, double half,
                              double *sources) noexcept nogil
