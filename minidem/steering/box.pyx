# distutils: extra_compile_args = -O1
"""A periodic box that moves: its poses at each half step follow from the rates of its lengths and of its shear.

Within a step lengths and tilt of the box change linearly. So the velocity of an image half a step before a pose is its
displacement in the step, divided by the step; and leapfrog with the affine kick moves a clump and its images alike.
"""
from libc.math cimport exp, expm1, fabs, rint, sqrt
from libc.string cimport memcpy, memset

from minidem.core.checks import LARGEST

cdef double FARTHEST = LARGEST      # length [m]


cdef void find_lengths(const BoxSpec *spec, const BoxState *state, BoxInstant *now) noexcept nogil:
    cdef double step
    cdef int axis
    for axis in range(3):
        step = spec.dt * state.rate[axis]
        now.length[axis] = spec.start[axis] * exp(state.strain[axis])
        now.middle[axis] = now.length[axis] * (0.5 + 0.5 * exp(-step))
        now.velocity[axis] = -now.length[axis] * expm1(-step) / spec.dt


cdef void find_offset(const BoxSpec *spec, const BoxState *state, BoxInstant *now) noexcept nogil:
    """Displacement of the image across, with the lengths."""
    cdef double ratio = spec.dt * state.shear_rate * now.middle[spec.across] / now.middle[spec.flow]
    now.slip = state.shear_rate * now.middle[spec.across] + (state.shift - 0.5 * ratio) * now.velocity[spec.flow]
    now.offset = state.shift * now.length[spec.flow]
    now.middle_offset = now.offset - 0.5 * spec.dt * now.slip


cdef BoxInstant instant_of(const BoxSpec *spec, const BoxState *state) noexcept nogil:
    cdef BoxInstant now
    find_lengths(spec, state, &now)
    find_offset(spec, state, &now)
    return now


cdef void write_gradient(const BoxSpec *spec, const double *length, double offset, const double *velocity,
                         double slip, double *gradient) noexcept nogil:
    """Matrix (3, 3) of dv_i / dx_j in a box with these lengths and rates of them."""
    cdef int axis, f = spec.flow, g = spec.across
    memset(gradient, 0, 9 * sizeof(double))
    for axis in range(3):
        gradient[4 * axis] = velocity[axis] / length[axis]
    gradient[3 * f + g] = (slip - offset * gradient[4 * f]) / length[g]


cdef void write_rates(const BoxSpec *spec, double turns, const BoxInstant *step, double *lengths,
                      double *lattice) noexcept nogil:
    """Rates of the lengths and of the displacement of the image across, in a step."""
    cdef int f = spec.flow, g = spec.across
    memcpy(lengths, step.velocity, sizeof(step.velocity))
    if spec.periodic[g]:
        lattice[g], lattice[f] = step.velocity[g], step.slip - turns * step.velocity[f]


cdef void write_geometry(const BoxSpec *spec, const double *length, double offset, const BoxInstant *step,
                         BoxPose *pose) noexcept nogil:
    """All of a pose that depends on one instant, and the rates of the step that leads there."""
    cdef int axis, f = spec.flow, g = spec.across
    cdef double turns = rint(offset / length[f])        # the displacement is at most half a length
    pose.moves, pose.affine, pose.flow_axis, pose.gradient_axis = spec.moves, spec.affine, f, g
    for axis in range(3):
        pose.length[axis] = length[axis] if spec.periodic[axis] else 0.0
        pose.inverse[axis] = 1.0 / length[axis] if spec.periodic[axis] else 0.0
        pose.low[axis] = spec.low[axis]
        if spec.stretches[axis]:
            pose.low[axis] += 0.5 * (spec.start[axis] - length[axis])
            pose.stretches = True
        pose.deformation[4 * axis] = length[axis] / spec.start[axis]
        pose.inverse_deformation[4 * axis] = spec.start[axis] / length[axis]
    pose.deformation[3 * f + g] = offset / spec.start[g]
    pose.inverse_deformation[3 * f + g] = -offset * spec.start[f] / (length[f] * length[g])
    if spec.periodic[g]:
        pose.across[g], pose.lattice[g] = 1.0 / length[g], length[g]
        pose.lattice[f] = offset - turns * length[f]
    write_rates(spec, turns, step, pose.behind, pose.lattice_behind)
    write_rates(spec, turns, step, pose.ahead, pose.lattice_ahead)


cdef void begin_box(const BoxSpec *spec, const BoxState *state, BoxInstant now, BoxPose *pose) noexcept nogil:
    """Write the pose at a whole step. Entries that look ahead one step keep the values of the previous step."""
    memset(pose, 0, sizeof(BoxPose))
    write_geometry(spec, now.length, now.offset, &now, pose)
    write_gradient(spec, now.middle, now.middle_offset, now.velocity, now.slip, pose.flow)
    pose.path = state.path


cdef bint is_sound(const BoxSpec *spec, const BoxState *state, const double *lengths) noexcept nogil:
    """Whether the step before this state resolves the strain, and the box is long enough for the clumps."""
    cdef bint fine = fabs(state.shear_rate) * spec.dt <= MOST_STRAIN
    cdef int axis
    for axis in range(3):
        fine &= fabs(state.rate[axis]) * spec.dt <= MOST_STRAIN and 1.0 / FARTHEST <= lengths[axis] <= FARTHEST \
            and not (spec.stretches[axis] and lengths[axis] <= spec.least[axis])
    return fine


cdef bint advance_box(const BoxSpec *spec, const double *rates, BoxState *states, BoxPose *poses,
                      long long step) noexcept nogil:
    """Write states[1] a step after states[0], poses[1] and poses[2] half a step and a step after poses[0].

    rates : (4,) of the three axes and of the shear in this step, which poses[0] has from now on as well.
    step : number of the step; before the first one, velocities beside a box that is not affine are those in the flow.
    False: the box is not sound, see is_sound.

    States follow from each other by one addition for each step, so that a divided run has the same bits.
    """
    cdef const BoxState *old = states
    cdef BoxState *new = states + 1
    cdef BoxInstant before = instant_of(spec, old), now
    cdef double change[3]
    cdef double shear = rates[3], squares = shear * shear
    cdef int axis
    for axis in range(3):
        new.strain[axis], new.rate[axis] = old.strain[axis] + spec.dt * rates[axis], rates[axis]
        squares += rates[axis] * rates[axis]
    find_lengths(spec, new, &now)
    new.shift = old.shift + spec.dt * shear * now.middle[spec.across] / now.middle[spec.flow]
    new.shear, new.shear_rate = old.shear + spec.dt * shear, shear
    new.path = old.path + spec.dt * sqrt(squares)
    find_offset(spec, new, &now)
    for axis in range(3):
        change[axis] = now.velocity[axis] - before.velocity[axis]
    write_rates(spec, rint(before.offset / before.length[spec.flow]), &now, poses[0].ahead, poses[0].lattice_ahead)
    begin_box(spec, new, now, poses + 2)
    if spec.affine or step > 0:
        write_gradient(spec, before.length, before.offset, change, now.slip - before.slip, poses[2].kick)
    poses[1] = poses[2]
    write_geometry(spec, now.middle, now.middle_offset, &now, poses + 1)
    poses[1].path = 0.5 * (old.path + new.path)
    return is_sound(spec, new, now.length)


cdef void expect_kick(const BoxSpec *spec, const double *rates, const BoxState *before, const BoxState *now,
                      BoxPose *next_pose, long long step) noexcept nogil:
    """Extrapolate the change of the velocity gradient between two steps, where forces are still to find it.

    rates : (4,) in the coming step; rates of axes under a Pressure are not read
    """
    cdef BoxState states[2]
    cdef BoxPose poses[3]
    cdef double expected[4]
    cdef int axis
    memset(poses, 0, sizeof(poses))
    memcpy(expected, rates, sizeof(expected))
    for axis in range(3):
        if spec.pressure[axis] > 0.0:
            expected[axis] = 2.0 * now.rate[axis] - before.rate[axis]
    states[0] = now[0]
    advance_box(spec, expected, states, poses, step)
    memcpy(next_pose.kick, poses[2].kick, sizeof(next_pose.kick))
