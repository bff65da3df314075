"""The onset pass: corrections of contacts that begin or end within a step."""
from minidem.engine.loop cimport Loop

cdef void mark_onsets(Loop *loop, int thread) noexcept nogil
cdef void add_onset_forces(Loop *loop, int thread) noexcept nogil
cdef object take_onsets(Loop *loop, int thread, known, const unsigned char *clumps)
cdef object list_onsets(const Loop *loop)
