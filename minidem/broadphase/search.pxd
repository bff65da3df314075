"""Search of the grids for outer pairs."""
from minidem.broadphase.cell_grid cimport Levels
from minidem.broadphase.neighbours cimport Neighbours
from minidem.state.periodic_box cimport BoxPose
from minidem.state.state cimport StateView

cdef bint search_pairs(Neighbours *all, int thread, int n_threads, const Levels *levels, const StateView *state,
                       const BoxPose *box, const double *items, double skin, bint clumps_first) noexcept nogil
