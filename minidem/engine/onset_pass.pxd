"""The onset pass: corrections of contacts that begin or end within a step."""
from minidem.engine.loop cimport Loop

cdef bint add_onset_forces(Loop *loop, int thread, bint stored, bint between) noexcept nogil
