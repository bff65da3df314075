"""The state of all clumps."""
from minidem.state.layout cimport (
    Layout, StateView, clump_of, clumps_of, constants_of, field_of, free_slot_of, member, wrench_of,
)


cdef class State:
    cdef readonly object blocks, wrench
    cdef readonly object bodies, template_index, scale, material_index
    cdef readonly Layout layout
    cdef readonly object box, shift     # PeriodicBox or None; (n_clumps, 3) int64, see wrap
    cdef readonly int n_scratch
    cdef StateView view
    cdef object wrap(self)
    cdef object take(self, blocks, wrench, Layout layout)
