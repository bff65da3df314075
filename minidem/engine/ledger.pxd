"""The ledger of a time loop."""
from minidem.loop.loop cimport Loop

cdef object read_ledger(const Loop *loop)
cdef object write_ledger(Loop *loop, dissipated, wall_work)
