"""The ledger of a time loop."""
from minidem.core.vec3 cimport Vec3
from minidem.engine.loop cimport Loop

cdef void add_wall_work(Loop *loop, int thread, bint between) noexcept nogil
cdef object normal_virial(const Loop *loop)
cdef Vec3 force_of_wall(const Loop *loop, int wall) noexcept nogil
cdef object take_fractures(Loop *loop, known, driver)
cdef object read_ledger(const Loop *loop)
cdef void write_ledger(Loop *loop, const double[:, ::1] entries) noexcept nogil
