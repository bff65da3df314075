"""The work of walls and box that move, and of held clumps."""
from minidem.contact.fixed_point cimport Wide
from minidem.core.instant cimport Instant
from minidem.loop.loop cimport Loop
from minidem.steering.moving cimport Moving

cdef Wide held_work(const Loop *loop, int thread) noexcept nogil
cdef void add_wall_work(Loop *loop, int thread, const Moving *own, bint between) noexcept nogil
cdef bint find_work(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
