"""Work of moving walls on clumps."""
from minidem.engine.time_loop cimport Loop

cdef void add_wall_work(Loop *loop, int thread, bint between) noexcept nogil
cdef void add_wall_force(const Loop *loop, int thread, int wall, double *of_clumps) noexcept nogil
cdef void save_wall_work(Loop *loop, int thread) noexcept nogil
