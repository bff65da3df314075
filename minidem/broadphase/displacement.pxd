"""Displacement of the clumps since the last outer rebuild."""
from minidem.broadphase.broadphase cimport Broadphase
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Walls

cdef void measure_displacement(Broadphase *broad, int thread, StateView *state, const Walls *walls) noexcept nogil
cdef void store_reference_poses(Broadphase *broad, int thread, const StateView *state) noexcept nogil
