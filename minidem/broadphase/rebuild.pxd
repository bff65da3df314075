"""Rebuild of the lists of candidates."""
from minidem.broadphase.broadphase cimport Broadphase
from minidem.state.periodic_box cimport BoxPose
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Walls

cdef void rebuild(Broadphase *broad, int thread, StateView *state, const Walls *walls,
                  const BoxPose *box) noexcept nogil
