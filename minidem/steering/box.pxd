"""A periodic box that moves: its state, and its poses step by step."""
from minidem.state.periodic_box cimport BoxPose

cdef extern from *:
    const double MOST_STRAIN "0.1"      # in a step

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
    long long first                 # step at which the Pressures begin ...
    double begins[3]                # ... with these rates of the logarithmic strains [1/s]
    bint moves
    bint periodic[3]
    bint stretches[3]               # the length changes
    int flow, across                # axes of the shear; 0, 1 without
    bint affine

cdef struct BoxInstant:
    double length[3]                # at a whole step [m]
    double middle[3]                # half a step before
    double velocity[3]              # in the step before [m/s]
    double offset, middle_offset    # displacement of the image across: at a whole step, half a step before [m]
    double slip                     # its rate [m/s]

cdef struct MovingBox:
    BoxSpec spec
    bint presses                    # an axis is under a pressure
    BoxState *states                # (steps + 1,) from the first step of the course on
    double *rates                   # (steps, 4): see advance_box


cdef BoxInstant instant_of(const BoxSpec *spec, const BoxState *state) noexcept nogil
cdef void write_gradient(const BoxSpec *spec, const double *length, double offset, const double *velocity,
                         double slip, double *gradient) noexcept nogil
cdef void begin_box(const BoxSpec *spec, const BoxState *state, BoxInstant now, BoxPose *pose) noexcept nogil
cdef bint advance_box(const BoxSpec *spec, const double *rates, BoxState *states, BoxPose *poses,
                      long long step) noexcept nogil
cdef void expect_kick(const BoxSpec *spec, const double *rates, const BoxState *before, const BoxState *now,
                      BoxPose *next_pose, long long step) noexcept nogil
