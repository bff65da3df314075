"""The state of all clumps."""
from minidem.state.layout cimport (
    Layout, StateView, clump_of, clumps_of, constants_of, field_of, free_slot_of, hold_of, member, pointer_to,
    wrench_of,
)


cdef class State:
    cdef readonly object blocks, wrench
    cdef readonly object bodies, template_index, scale, material_index
    cdef readonly object hold           # (n_clumps,) HOLD of bodies.py; None: no clump is held
    cdef readonly object templates
    cdef readonly object spheres        # (member rows, LANES, 4): centre and radius
    cdef readonly object clump_number, sphere_number    # the user's numbers by slot; -1: empty
    cdef readonly object clump_slot, sphere_slot
    cdef readonly Py_ssize_t n_clumps, n_spheres
    cdef readonly Layout layout
    cdef readonly object box, shift     # PeriodicBox or None; (n_clumps, 3) int64, see wrap
    cdef readonly int n_scratch
    cdef StateView view
    cdef object wrap(self)
    cdef object take(self, blocks, wrench, Layout layout)
