"""User forces: compiled functions, and what they need of the clumps."""
from minidem.engine.loop cimport Loop
from minidem.state.state cimport State

cdef class CompiledForces:
    cdef State state
    cdef object blocks                  # (n_blocks,) ForceBlocks, as rows
    cdef object functions               # a UserForce each
    cdef list parameters                # an array for each function
    cdef object bind(self, Loop *loop)
    cdef object check_parameters(self, Loop *loop)

cdef void add_compiled_forces(Loop *loop, Py_ssize_t block, double steps, double half,
                              double *sources) noexcept nogil
