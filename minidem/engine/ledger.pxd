"""The ledger of a time loop."""
from minidem.contact.fixed_point cimport Wide
from minidem.engine.loop cimport Loop

cdef void add_wall_work(Loop *loop, int thread, bint between) noexcept nogil
cdef void add_steering_forces(const Loop *loop, int thread, Wide *sums) noexcept nogil
cdef void virial_of(const Loop *loop, const Wide *sums, double *virial) noexcept nogil
cdef object take_fractures(Loop *loop, known, driver)
cdef object read_ledger(const Loop *loop)
cdef void write_ledger(Loop *loop, const double[:, ::1] entries) noexcept nogil
