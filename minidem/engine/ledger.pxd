"""The ledger of a time loop."""
from minidem.contact.fixed_point cimport Wide
from minidem.core.instant cimport Instant
from minidem.loop.loop cimport Loop
from minidem.state.periodic_box cimport BoxPose

cdef void add_wall_work(Loop *loop, int thread, bint between, bint corrected) noexcept nogil
cdef bint find_work(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef void add_steering_forces(const Loop *loop, int thread, Wide *sums) noexcept nogil
cdef Wide moving_work(const Loop *loop, int thread) noexcept nogil
cdef void set_box_power(Loop *loop, const Wide *sums, const BoxPose *box) noexcept nogil
cdef void virial_of(const Loop *loop, const Wide *sums, double *virial) noexcept nogil
cdef enum:
    N_SUMS = 16                         # of a pressure, in add_steering_forces
    RESISTANCE_UNIT = 1 << 24           # unit of its sums of resistances / unit of energies

cdef object read_ledger(const Loop *loop)
cdef void write_ledger(Loop *loop, const double[:, ::1] entries) noexcept nogil
