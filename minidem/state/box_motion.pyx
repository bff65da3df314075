# distutils: extra_compile_args = -O1
"""The motion of a periodic box from step to step.

Within a step lengths and tilt change linearly. So the velocity of an image half a step before a pose is its
displacement in the step, divided by the step; and leapfrog with the affine kick moves a clump and its images alike.
"""
import numpy as np

from libc.math cimport exp, expm1, fabs, rint, sqrt
from libc.string cimport memcpy, memset

from minidem.walls.periodic_box import Box, Pressure


LEAST_TIME = 10                     # steps in the time of a Pressure

cdef extern from *:
    """
    #define MINIDEM_MOST_STRAIN_OF_STEP 0.1
    #define MINIDEM_FARTHEST 1e60
    """
    const double MOST_STRAIN "MINIDEM_MOST_STRAIN_OF_STEP"
    const double FARTHEST "MINIDEM_FARTHEST"    # lengths [m], as LARGEST of core/checks.py

cdef struct Instant:
    double length[3]                # at a whole step [m]
    double middle[3]                # half a step before
    double velocity[3]              # in the step before [m/s]
    double offset, middle_offset    # displacement of the image across: at a whole step, half a step before [m]
    double slip                     # its rate [m/s]


cdef Instant instant_of(const BoxSpec *spec, const BoxState *state) noexcept nogil:
    cdef Instant now
    cdef double ratio, step
    cdef int axis
    for axis in range(3):
        step = spec.dt * state.rate[axis]
        now.length[axis] = spec.start[axis] * exp(state.strain[axis])
        now.middle[axis] = now.length[axis] * (0.5 + 0.5 * exp(-step))
        now.velocity[axis] = -now.length[axis] * expm1(-step) / spec.dt
    ratio = spec.dt * state.shear_rate * now.middle[spec.across] / now.middle[spec.flow]
    now.slip = state.shear_rate * now.middle[spec.across] + (state.shift - 0.5 * ratio) * now.velocity[spec.flow]
    now.offset = state.shift * now.length[spec.flow]
    now.middle_offset = now.offset - 0.5 * spec.dt * now.slip
    return now


cdef void write_gradient(const BoxSpec *spec, const double *length, double offset, const double *velocity,
                         double slip, double *gradient) noexcept nogil:
    """Matrix (3, 3) of dv_i / dx_j in a box with these lengths and rates of them."""
    cdef int axis, f = spec.flow, g = spec.across
    memset(gradient, 0, 9 * sizeof(double))
    for axis in range(3):
        gradient[4 * axis] = velocity[axis] / length[axis]
    gradient[3 * f + g] = (slip - offset * gradient[4 * f]) / length[g]


cdef void write_rates(const BoxSpec *spec, double turns, const Instant *step, double *lengths,
                      double *lattice) noexcept nogil:
    """Rates of the lengths and of the displacement of the image across, in a step."""
    cdef int f = spec.flow, g = spec.across
    memcpy(lengths, step.velocity, sizeof(step.velocity))
    if spec.periodic[g]:
        lattice[g], lattice[f] = step.velocity[g], step.slip - turns * step.velocity[f]


cdef void write_geometry(const BoxSpec *spec, const double *length, double offset, const Instant *step,
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


cdef void begin_box(const BoxSpec *spec, const BoxState *state, BoxPose *pose) noexcept nogil:
    """Write the pose at a whole step. What of it depends on the next step is that of the step before."""
    cdef Instant now = instant_of(spec, state)
    memset(pose, 0, sizeof(BoxPose))
    write_geometry(spec, now.length, now.offset, &now, pose)
    write_gradient(spec, now.middle, now.middle_offset, now.velocity, now.slip, pose.flow)
    pose.travelled = state.path


cdef bint is_sound(const BoxSpec *spec, const BoxState *state) noexcept nogil:
    """Whether the step before this state resolves the strain, and the box is long enough for the clumps."""
    cdef bint fine = fabs(state.shear_rate) * spec.dt <= MOST_STRAIN
    cdef double length
    cdef int axis
    for axis in range(3):
        length = spec.start[axis] * exp(state.strain[axis])
        fine &= fabs(state.rate[axis]) * spec.dt <= MOST_STRAIN and 1.0 / FARTHEST <= length <= FARTHEST \
            and not (spec.stretches[axis] and length <= spec.least[axis])
    return fine


cdef bint advance_box(const BoxSpec *spec, const double *rates, BoxState *states, BoxPose *poses) noexcept nogil:
    """Write states[1] a step after states[0], poses[1] and poses[2] half a step and a step after poses[0].

    rates : (4,) of the three axes and of the shear in this step, which poses[0] has from now on as well.
    False: the box is not sound, see is_sound.

    States follow from each other by one addition for each step, so that a divided run has the same bits.
    """
    cdef const BoxState *old = states
    cdef BoxState *new = states + 1
    cdef Instant before = instant_of(spec, old), now
    cdef double middle[3], change[3]
    cdef double shear = rates[3], squares = shear * shear
    cdef int axis
    for axis in range(3):
        new.strain[axis], new.rate[axis] = old.strain[axis] + spec.dt * rates[axis], rates[axis]
        middle[axis] = spec.start[axis] * exp(new.strain[axis]) * (0.5 + 0.5 * exp(-spec.dt * rates[axis]))
        squares += rates[axis] * rates[axis]
    new.shift = old.shift + spec.dt * shear * middle[spec.across] / middle[spec.flow]
    new.shear, new.shear_rate = old.shear + spec.dt * shear, shear
    new.path = old.path + spec.dt * sqrt(squares)
    now = instant_of(spec, new)
    for axis in range(3):
        change[axis] = now.velocity[axis] - before.velocity[axis]
    write_rates(spec, rint(before.offset / before.length[spec.flow]), &now, poses[0].ahead, poses[0].lattice_ahead)
    begin_box(spec, new, poses + 2)
    write_gradient(spec, before.length, before.offset, change, now.slip - before.slip, poses[2].kick)
    poses[1] = poses[2]
    write_geometry(spec, now.middle, now.middle_offset, &now, poses + 1)
    poses[1].travelled = 0.5 * (old.path + new.path)
    return is_sound(spec, new)


cdef void accelerate_box(const BoxSpec *spec, const BoxState *state, const double *virial,
                         double *rates) noexcept nogil:
    """Strain rates (3,) half a step later of the axes under a Pressure, from those half a step earlier [1/s].

    virial : (6,) their stresses, and their resistances to strain rates (Pressure), times the volume [J].
    """
    cdef double volume = exp(state.strain[0] + state.strain[1] + state.strain[2]), stress, square, drag
    cdef int axis
    for axis in range(3):
        volume *= spec.start[axis]
    for axis in range(3):
        if spec.pressure[axis] > 0.0:
            stress = virial[axis] / volume
            square = spec.time[axis] * spec.time[axis] + 2.0 * (spec.dt * spec.dt) * (
                virial[3 + axis] / volume) / spec.pressure[axis]
            drag = spec.dt * spec.damping[axis] / sqrt(square)
            rates[axis] = ((1.0 - drag) * state.rate[axis] + spec.dt * (
                stress / spec.pressure[axis] - 1.0) / square) / (1.0 + drag)


cdef object specify_box(BoxSpec *spec, box, clumps):
    """Fill a specification, except its step. box : PeriodicBox;  clumps : State, for which it must be long enough."""
    cdef int axis
    least = box.start.least_length(clumps)
    spec.moves, spec.affine, (spec.flow, spec.across) = box.moves, box.affine, (box.shear or (0, 1))[:2]
    for axis, rate in enumerate(box.rates):
        spec.start[axis] = box.start.high[axis] - box.start.low[axis]
        spec.low[axis], spec.least[axis] = box.start.low[axis], least[axis]
        spec.periodic[axis], spec.stretches[axis] = box.start.axes[axis], box.stretched[axis]
        if isinstance(rate, Pressure):
            if rate.time < LEAST_TIME * spec.dt:
                raise ValueError(f"periodic: time = {rate.time} of md.Pressure is below {LEAST_TIME} steps of dt = "
                                 f"{spec.dt}; give {LEAST_TIME * spec.dt:g} or more, or lower dt")
            spec.pressure[axis], spec.time[axis], spec.damping[axis] = rate.pressure, rate.time, rate.damping


cdef object box_in(const BoxSpec *spec, const BoxState *state, box):
    """The Box of a PeriodicBox in a state."""
    cdef double[::1] gradient = np.zeros(9)
    cdef BoxPose pose
    cdef Instant now = instant_of(spec, state)
    if not spec.moves:
        return box.start
    begin_box(spec, state, &pose)
    write_gradient(spec, now.length, now.offset, now.velocity, now.slip, &gradient[0])
    low, tilt = np.array(pose.low), np.zeros((3, 3))
    if box.shear is not None:
        tilt[spec.across, spec.flow] = pose.lattice[spec.flow]
    return Box(low, np.where(box.stretched, low + np.array(pose.length), box.start.high), box.start.axes, tilt,
               np.asarray(gradient).reshape(3, 3), np.append(state.strain, state.shear), box.shear and spec.across)


cdef object refuse_box(const BoxSpec *spec, const BoxState *state, box, clumps, long long step):
    """FloatingPointError or ValueError for a box that is not sound at a step."""
    rates = np.append(state.rate, state.shear_rate)
    axis = int(np.argmax(np.where(np.isfinite(rates), np.abs(rates), np.inf)))
    with np.errstate(over="ignore"):
        lengths = np.array(spec.start) * np.exp(state.strain)
    if not (abs(rates[axis]) * spec.dt <= MOST_STRAIN and 1.0 / FARTHEST <= lengths.min() <= lengths.max() <= FARTHEST):
        name = f"length along {'xyz'[axis]}" if axis < 3 else "shear"
        held = " or give md.Pressure a longer time," if axis in box.servos else ""
        raise FloatingPointError(
            f"step {step}: the {name} of the periodic box changes at a rate of {rates[axis]:.3g} 1/s, by "
            f"{rates[axis] * spec.dt:.3g} in a step, and its lengths are {lengths.tolist()} m; a step resolves "
            f"{MOST_STRAIN:g}. Lower the rate,{held} or lower dt")
    try:
        for k, template in enumerate(clumps.templates):
            box_in(spec, state, box).refuse_large(template, clumps.scale[clumps.template_index == k])
    except ValueError as error:
        raise ValueError(f"the periodic box shrinks too far until step {step}: {error}, lower its rate, or end the run "
                         "earlier") from None
