"""Rebuild of the lists of candidates."""
from minidem.broadphase.broadphase cimport Broadphase
from minidem.broadphase.neighbours cimport Planes
from minidem.state.state cimport StateView

cdef void rebuild(Broadphase *broad, int thread, StateView *state, const Planes *planes) noexcept nogil
