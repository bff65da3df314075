"""The phases of `mass=shared`."""
from minidem.core.instant cimport Instant
from minidem.loop.loop cimport Loop

cdef bint find_mean_masses(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint find_shared_masses(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
