"""The time loop."""
from minidem.engine.loop cimport Loop

cdef void run_loop(Loop *loop, long long steps) noexcept nogil
