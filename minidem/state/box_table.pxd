"""The records of the periodic box of one time loop."""
from minidem.core.guard cimport Guard
from minidem.state.periodic_box cimport BoxPose

cdef struct BoxSpec:                # of a PeriodicBox
    double dt                       # [s]
    double start[3]                 # lengths before the first step, also of open axes [m]
    double low[3]
    bint periodic[3]
    bint stretches[3]               # the length changes
    int flow, across                # axes of the shear; 0, 1 without
    bint affine

cdef class BoxTable:
    cdef readonly object box            # PeriodicBox
    cdef readonly Py_ssize_t stride     # 1; 0: the box does not move, and has one pose
    cdef BoxSpec _spec
    cdef object _states, _shear
    cdef object _least                  # a Layout, and the lengths that its clumps need
    cdef BoxPose *_poses
    cdef long long _first               # step of the first state
    cdef Guard _guard
    cdef const BoxPose *pose_at(self, long long step) noexcept
    cdef object _compute(self, long long step, long long steps, rates)
