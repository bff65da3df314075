"""Forces at a whole step move walls and box in the next one."""
from minidem.contact.fixed_point cimport Wide
from minidem.core.instant cimport Instant
from minidem.loop.loop cimport Loop
from minidem.steering.box cimport MovingBox
from minidem.steering.servo cimport Servos

cdef struct Steered:                # what forces move
    Servos servos
    MovingBox box
    int n_sums
    Wide *sums                      # (threads, n_sums): of servos, see add_loads; of the box, see add_stress

cdef void sum_forces(const Loop *loop, int thread, const Steered *own) noexcept nogil
cdef void join_sums(const Loop *loop, const Steered *own) noexcept nogil
cdef bint steer(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
