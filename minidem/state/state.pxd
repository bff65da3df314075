"""The state of all clumps."""
from minidem.state.layout cimport Layout, StateView, fixed_rows, member, wrench_of


cdef class Reordering:              # of all clumps, prepared: see State.prepare
    cdef readonly Layout layout
    cdef object keep                # arrays that the pointers below belong to
    cdef const long long *slots     # (n_clumps,): present slots of the clumps, in their new order
    cdef double *room               # (n_clumps,)
    cdef StateView view             # of the state in the new order


cdef class State:
    cdef readonly object blocks, wrench
    cdef readonly object bodies, template_index, scale, material_index
    cdef readonly Layout layout
    cdef readonly object box, shift     # PeriodicBox or None; (n_clumps, 3) int64, see wrap
    cdef readonly int n_scratch
    cdef StateView view
    cdef object wrap(self)
    cdef object take(self, blocks, wrench, Layout layout)
    cdef void put(self, Reordering order) noexcept
