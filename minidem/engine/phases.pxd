"""The phases of a step."""
from minidem.loop.loop cimport Loop

cdef void list_phases(Loop *loop, bint between) noexcept nogil
