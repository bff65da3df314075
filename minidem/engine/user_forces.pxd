"""Compiled user forces in the time loop."""
from minidem.loop.loop cimport Loop
from minidem.state.state cimport State

cdef object bind_forces(Loop *loop, State state, ids, forces, work, int corrections, bint checks)
cdef object compiled_forces(Loop *loop, State state, double steps, motion)
cdef void add_compiled_forces(Loop *loop, Py_ssize_t block, double steps,
                              double *sources) noexcept nogil
