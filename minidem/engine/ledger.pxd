"""The ledger of a time loop."""
from minidem.loop.loop cimport Loop

cdef object read_ledger(const Loop *loop)
cdef void write_ledger(Loop *loop, const double[:, ::1] entries) noexcept nogil
