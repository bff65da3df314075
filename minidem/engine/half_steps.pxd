"""Half steps of leapfrog velocities, at the start and for output."""
from minidem.rotation.scheme cimport Kernels, Step
from minidem.state.state cimport State

cdef object start_clumps(State state, Kernels kernels, Step step, const unsigned char[::1] started)
cdef object synchronised(State state, Kernels kernels, Step step)
