"""What a pass over the phases of the time loop is for, and at which pose: an argument of each phase."""

cdef enum Purpose:
    BETWEEN                 # forces at the present pose: no step has led to it
    STAGE                   # a pose within a step, whose forces the rotation scheme needs
    STEP                    # a whole step
    LAST_STEP               # the last step of a run: what persists between runs is stored

cdef struct Instant:
    Purpose purpose
    long long step          # number of the step, 1 for the first one
    int stage               # of the rotation scheme
    double fraction         # of the step, at the pose of the stage
    bint wrench_stored      # the wrenches at the last pose are in the state, else the next move reduces them


cdef inline bint ends_step(const Instant *now) noexcept nogil:
    """Whether a whole step ends at this pose."""
    return now.purpose >= STEP
