"""The contact phase of one thread: with the narrow phase of the contact law, with or without history."""
from minidem.engine.time_loop cimport Loop

cdef bint begin(Loop *loop, int thread, bint between) noexcept nogil
cdef bint find_remaining(Loop *loop, int thread, bint between) noexcept nogil
cdef bint rebuild_lists(Loop *loop, int thread) noexcept nogil
