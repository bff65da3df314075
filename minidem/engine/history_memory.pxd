"""Arrays of the time loop that only laws with records need."""
from minidem.contact.blocks cimport Blocks
from minidem.engine.loop cimport Loop
from minidem.state.state cimport Layout

cdef class HistoryMemory:
    cdef double[:, ::1] motions
    cdef double[:, :, ::1] spins
    cdef Blocks spheres                 # contacts until `bind`
    cdef Blocks walls
    cdef bint bound
    cdef object add_contacts(self, history, const int[:, ::1] slots, const int[::1] materials)
    cdef void bind(self, Loop *loop) noexcept

cdef object export_history(Loop *loop, Layout layout)
