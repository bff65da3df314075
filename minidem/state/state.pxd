"""The state of all clumps, for the time loop."""

from minidem.state.layout cimport Layout, StateView, fixed_rows, loads_of, member


cdef class Order:                   # of all clumps, prepared: see State.prepare
    cdef readonly Layout layout
    cdef object keep
    cdef const long long *slots     # (n_clumps,): where the clumps stand that will follow each other
    cdef double *room               # (n_clumps,)
    cdef StateView view             # of the state in this order


cdef class State:
    cdef readonly object blocks, loads
    cdef readonly object bodies, template_index, scale
    cdef readonly Layout layout
    cdef readonly int n_scratch
    cdef StateView view
    cdef object take(self, blocks, loads, Layout layout)
    cdef void put(self, Order order) noexcept
