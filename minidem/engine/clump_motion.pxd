"""Motion of clumps at the instant of the pose."""
from minidem.core.lanes cimport LANES
from minidem.engine.time_loop cimport Loop
from minidem.state.rows cimport FIXED_ROWS
from minidem.state.state cimport StateView


cdef inline Py_ssize_t room_for(const StateView *state) noexcept nogil:
    """Ints that find_motions needs: a block of clumps with its torques and constants."""
    return (state.n_rows + 3 + FIXED_ROWS) * LANES * <Py_ssize_t> (sizeof(double) // sizeof(int))


cdef void find_motions(Loop *loop, int thread, const int *clumps, int n, bint stored, bint between) noexcept nogil
