"""Forces at a whole step move walls and box in the next one."""
from minidem.core.instant cimport Instant
from minidem.loop.loop cimport Loop
from minidem.steering.moving cimport Moving

cdef void sum_forces(const Loop *loop, int thread, const Moving *own) noexcept nogil
cdef void join_sums(const Loop *loop, const Moving *own) noexcept nogil
cdef bint steer(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
