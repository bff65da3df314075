"""The onset pass: corrections of contacts that begin or end within a step."""
from minidem.core.instant cimport Instant
from minidem.loop.loop cimport Loop

cdef bint mark_onsets(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint add_onset_forces(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef object take_onsets(Loop *loop, int thread, known, const unsigned char *clumps)
cdef object list_onsets(const Loop *loop)
