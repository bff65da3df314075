"""The records of the periodic box of one time loop."""
from minidem.core.guard cimport Guard

cdef class BoxTable:
    cdef readonly object box            # PeriodicBox
    cdef readonly Py_ssize_t stride     # doubles from a record to the next; 0: the box does not move
    cdef object _motion, _states
    cdef double _dt
    cdef double[:, ::1] _rows
    cdef long long _first               # step of the first state
    cdef bint _held                     # the rates of the first step are those of axes under a pressure
    cdef Guard _guard
    cdef const double *record_at(self, long long step) noexcept
