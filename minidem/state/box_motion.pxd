"""The motion of a periodic box: its state at whole steps, its poses at half steps."""
from minidem.state.periodic_box cimport BoxPose

cdef struct BoxState:               # at a whole step; Snapshot.box_state has its ten numbers
    double strain[3]                # logarithmic
    double shift                    # displacement of the image across, in lengths of the flow axis
    double shear                    # shear strain
    double path                     # of the strain, on which the lists depend
    double rate[3]                  # of the logarithmic strains in the step before, 0 before the first one [1/s]
    double shear_rate               # of the shear strain in the step before, 0 before the first one [1/s]

cdef struct BoxSpec:                # of a PeriodicBox
    double dt                       # [s]
    double start[3]                 # lengths before the first step, also of open axes [m]
    double low[3]
    double least[3]                 # lengths above which the box is long enough for the clumps [m]
    double pressure[3]              # of axes under a Pressure, else 0 [Pa]
    double time[3]                  # of axes under a Pressure, else 0 [s]
    double damping[3]
    bint moves
    bint periodic[3]
    bint stretches[3]               # the length changes
    int flow, across                # axes of the shear; 0, 1 without
    bint affine

cdef object specify_box(BoxSpec *spec, box, clumps)
cdef object box_in(const BoxSpec *spec, const BoxState *state, box)
cdef object refuse_box(const BoxSpec *spec, const BoxState *state, box, clumps, long long step)
cdef void begin_box(const BoxSpec *spec, const BoxState *state, BoxPose *pose) noexcept nogil
cdef void accelerate_box(const BoxSpec *spec, const BoxState *state, const double *virial,
                         double *rates) noexcept nogil
cdef bint advance_box(const BoxSpec *spec, const double *rates, BoxState *states, BoxPose *poses) noexcept nogil
