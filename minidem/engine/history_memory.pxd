"""Arrays of the time loop that only laws with history need."""
from minidem.contact.history cimport HistoryTable, Touching
from minidem.engine.time_loop cimport Loop
from minidem.state.state cimport Layout

cdef class HistoryMemory:
    cdef readonly object history, dissipated
    cdef double[:, ::1] motions
    cdef double[:, :, ::1] spins
    cdef double[:, :, ::1] energies
    cdef object keep
    cdef Touching contacts
    cdef HistoryTable table
    cdef void bind(self, Loop *loop) noexcept

cdef object export_history(Loop *loop, Layout layout)
