"""Displacement of the clumps since the last outer rebuild."""
from minidem.broadphase.broadphase cimport Broadphase
from minidem.state.state cimport StateView

cdef void measure_displacement(Broadphase *broad, int thread, StateView *state) noexcept nogil
cdef void store_reference_poses(Broadphase *broad, int thread, const StateView *state) noexcept nogil
