# distutils: extra_compile_args = -O1
"""The periodic box of one time loop: a `BoxPose` if it does not move, else one for each half step.

Within a step lengths and tilt change linearly. So the velocity of an image half a step before a pose is its
displacement in the step, divided by the step; and leapfrog with the affine kick moves a clump and its images alike.
"""
import numpy as np

from libc.math cimport exp, expm1, fabs, rint, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from minidem.core.checks import LARGEST
from minidem.state.periodic_box import Box, Pressure

from minidem.core.guard cimport Guard
from minidem.state.periodic_box cimport BoxPose


MOST_STEPS, STEPS_AHEAD = 1000, 16  # in one table; its length / that of a piece of a run
LEAST_TIME = 10                     # steps in the time of a Pressure

cdef extern from *:
    """
    #define MINIDEM_MOST_STRAIN_OF_STEP 0.1
    #define MINIDEM_FARTHEST 1e60
    """
    const double MOST_STRAIN "MINIDEM_MOST_STRAIN_OF_STEP"
    const double FARTHEST "MINIDEM_FARTHEST"    # lengths [m], as LARGEST of core/checks.py

cdef enum:                          # columns of a state, at a whole step; the rates are those of the step before
    STRAIN = 0                      # (3,) logarithmic
    SHIFT = 3                       # displacement of the image across, in lengths of the flow axis
    SHEAR = 4                       # shear strain
    PATH = 5                        # of the strain, on which the lists depend
    RATE = 6                        # (3,) of the logarithmic strains, 0 before the first step [1/s]
    SHEAR_RATE = 9                  # [1/s]
    STATE_SIZE = 10

cdef struct Instant:
    double length[3]                # at a whole step [m]
    double middle[3]                # half a step before
    double velocity[3]              # in the step before [m/s]
    double offset, middle_offset    # displacement of the image across, likewise [m]
    double slip                     # its rate [m/s]


cdef void advance_state(const BoxSpec *spec, const double *rates, double shear, const double *old,
                        double *new) noexcept nogil:
    """The state a step later. By one addition for each step, so that a divided run has the same bits."""
    cdef double middle[3]
    cdef double squares = shear * shear
    cdef int axis
    for axis in range(3):
        new[STRAIN + axis], new[RATE + axis] = old[STRAIN + axis] + spec.dt * rates[axis], rates[axis]
        middle[axis] = spec.start[axis] * exp(new[STRAIN + axis]) * (0.5 + 0.5 * exp(-spec.dt * rates[axis]))
        squares += rates[axis] * rates[axis]
    new[SHIFT] = old[SHIFT] + spec.dt * shear * middle[spec.across] / middle[spec.flow]
    new[SHEAR], new[SHEAR_RATE] = old[SHEAR] + spec.dt * shear, shear
    new[PATH] = old[PATH] + spec.dt * sqrt(squares)


cdef Instant instant_of(const BoxSpec *spec, const double *state) noexcept nogil:
    cdef Instant now
    cdef double ratio, step
    cdef int axis
    for axis in range(3):
        step = spec.dt * state[RATE + axis]
        now.length[axis] = spec.start[axis] * exp(state[STRAIN + axis])
        now.middle[axis] = now.length[axis] * (0.5 + 0.5 * exp(-step))
        now.velocity[axis] = -now.length[axis] * expm1(-step) / spec.dt
    ratio = spec.dt * state[SHEAR_RATE] * now.middle[spec.across] / now.middle[spec.flow]
    now.slip = state[SHEAR_RATE] * now.middle[spec.across] + (state[SHIFT] - 0.5 * ratio) * now.velocity[spec.flow]
    now.offset = state[SHIFT] * now.length[spec.flow]
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


cdef void write_geometry(const BoxSpec *spec, const double *length, double offset, const Instant *behind,
                         const Instant *ahead, BoxPose *row) noexcept nogil:
    """All of a pose that depends on one instant, and the rates of the steps that end and begin there."""
    cdef int axis, f = spec.flow, g = spec.across
    cdef double turns = rint(offset / length[f])        # the displacement is at most half a length
    row.moves, row.affine, row.flow_axis, row.gradient_axis = True, spec.affine, f, g
    for axis in range(3):
        row.length[axis] = length[axis] if spec.periodic[axis] else 0.0
        row.inverse[axis] = 1.0 / length[axis] if spec.periodic[axis] else 0.0
        row.low[axis] = spec.low[axis]
        if spec.stretches[axis]:
            row.low[axis] += 0.5 * (spec.start[axis] - length[axis])
            row.stretches = True
        row.behind[axis], row.ahead[axis] = behind.velocity[axis], ahead.velocity[axis]
        row.deformation[4 * axis] = length[axis] / spec.start[axis]
        row.inverse_deformation[4 * axis] = spec.start[axis] / length[axis]
    row.deformation[3 * f + g] = offset / spec.start[g]
    row.inverse_deformation[3 * f + g] = -offset * spec.start[f] / (length[f] * length[g])
    if spec.periodic[g]:
        row.across[g], row.lattice[g] = 1.0 / length[g], length[g]
        row.lattice[f] = offset - turns * length[f]
        row.lattice_behind[g], row.lattice_ahead[g] = behind.velocity[g], ahead.velocity[g]
        row.lattice_behind[f] = behind.slip - turns * behind.velocity[f]
        row.lattice_ahead[f] = ahead.slip - turns * ahead.velocity[f]


cdef void write_poses(const BoxSpec *spec, const double *states, Py_ssize_t n, Py_ssize_t n_rows,
                      BoxPose *rows) noexcept nogil:
    """The first n_rows poses at the half steps between n states (n, STATE_SIZE) at whole steps; they are zero."""
    cdef Instant before, now = instant_of(spec, states), later = now
    cdef double change[3]
    cdef BoxPose *row
    cdef BoxPose *half
    cdef Py_ssize_t k
    cdef int axis
    for k in range((n_rows + 1) // 2):
        before, now = now, later
        later = instant_of(spec, states + (k + 1) * STATE_SIZE) if k + 1 < n else now
        row, half = rows + 2 * k, rows + (2 * k - 1)
        write_geometry(spec, now.length, now.offset, &now, &later, row)
        row.travelled = states[k * STATE_SIZE + PATH]
        write_gradient(spec, now.middle, now.middle_offset, now.velocity, now.slip, row.flow)
        if k == 0:
            continue
        for axis in range(3):
            change[axis] = now.velocity[axis] - before.velocity[axis]
        write_gradient(spec, before.length, before.offset, change, now.slip - before.slip, row.kick)
        write_geometry(spec, now.middle, now.middle_offset, &now, &now, half)
        half.travelled = 0.5 * (states[(k - 1) * STATE_SIZE + PATH] + row.travelled)
        memcpy(half.flow, row.flow, sizeof(row.flow))
        memcpy(half.kick, row.kick, sizeof(row.kick))


def rate_values(rate, times):
    """A rate that is a function of the time, at times (n,)."""
    found = [rate(t) for t in times.tolist()]
    try:
        found = np.array(found, dtype=float).reshape(-1)
    except (TypeError, ValueError):                     # no numbers
        found = np.zeros(0)
    if len(found) != len(times) or not (np.abs(found) <= LARGEST).all():
        raise ValueError("periodic: the function of a rate returned something else than a finite number at a time "
                         f"between {times[0]:g} and {times[-1]:g} s; return one number [1/s]")
    return found


cdef BoxPose *new_poses(Py_ssize_t n) except NULL:
    cdef BoxPose *poses = <BoxPose *> calloc(n, sizeof(BoxPose))
    if poses == NULL:
        raise MemoryError("no memory for the poses of the periodic box")
    return poses


cdef class BoxTable:
    """The motion of a periodic box from a step on.

    Parameters
    ----------
    box : PeriodicBox
    dt : step [s]
    step : int, the present one
    state : (10,), that of another table at this step; default: before the first step
    guard : Guard of the simulation, which functions of rates must not use
    """

    def __cinit__(self, box, double dt, long long step, state=None, Guard guard=None):
        cdef int axis
        for rate in box.rates:
            if isinstance(rate, Pressure) and rate.time < LEAST_TIME * dt:
                raise ValueError(f"periodic: time = {rate.time} of md.Pressure is below {LEAST_TIME} steps of dt = "
                                 f"{dt}; give {LEAST_TIME * dt:g} or more, or lower dt")
        self.box, self._least, self._first, self._guard = box, None, step, Guard() if guard is None else guard
        self.stride = 1 if box.moves else 0
        self._states = np.zeros((1, STATE_SIZE)) if state is None else np.array(state, dtype=float).reshape(1, -1)
        self._spec.flow, self._spec.across, self._shear = box.shear or (0, 1, 0.0)
        self._spec.dt, self._spec.affine = dt, box.affine
        for axis in range(3):
            self._spec.start[axis] = box.start.high[axis] - box.start.low[axis]
            self._spec.low[axis], self._spec.periodic[axis] = box.start.low[axis], box.start.axes[axis]
            self._spec.stretches[axis] = box.stretched[axis]
        if box.moves:
            self._compute(step, 0, np.zeros(3))
            return
        self._poses = new_poses(1)
        for axis in range(3):
            self._poses.length[axis], self._poses.low[axis] = box.start.length[axis], box.start.low[axis]
            self._poses.inverse[axis] = 1.0 / box.start.length[axis] if box.start.axes[axis] else 0.0

    def __dealloc__(self):
        free(self._poses)

    @property
    def most_steps(self):
        """The most steps of one table; None: any number."""
        return (1 if self.box.servos else MOST_STEPS) if self.stride else None

    def prepare(self, long long step, long long steps, rates=None):
        """Compute the poses at the given step and every half step of the next `steps` ones, at least.

        rates : (3,) strain rates of the next step of the axes under a pressure [1/s].
        """
        cdef long long offset = step - self._first
        if not self.stride or not self.box.servos and 0 <= offset and offset + steps < len(self._states):
            return
        ahead = steps if self.box.servos else max(steps, min(STEPS_AHEAD * steps, MOST_STEPS))
        try:
            self._compute(step, ahead, rates)
        except Exception:                               # a function may end with the run
            if ahead == steps:
                raise
            self._compute(step, steps, rates)

    cdef object _compute(self, long long step, long long steps, rates):
        """Without a pressure one step more is computed, for the rate with which it begins."""
        cdef long long n = steps + (not self.box.servos), k
        cdef double[:, ::1] states, values
        cdef BoxPose *poses
        values = np.zeros((max(n, 1), 4))
        for column, rate in enumerate((*self.box.rates, self._shear) if n else ()):
            values[:, column] = rates[column] if isinstance(rate, Pressure) else 0.0 if callable(rate) else rate
        if self.box.functions and n:
            times = (step + np.arange(n) + 0.5) * self._spec.dt
            try:
                self._guard.during_step = True
                for column, rate in enumerate((*self.box.rates, self._shear)):
                    if callable(rate):
                        np.asarray(values)[:, column] = rate_values(rate, times)
            finally:
                self._guard.during_step = False
        states = np.zeros((n + 1, STATE_SIZE))
        np.asarray(states)[0] = self.state_at(step)
        for k in range(n):
            advance_state(&self._spec, &values[k, 0], values[k, 3], &states[k, 0], &states[k + 1, 0])
        known = np.asarray(states)[:steps + 1]
        poses = new_poses(2 * steps + 1)
        write_poses(&self._spec, &states[0, 0], n + 1, 2 * steps + 1, poses)
        free(self._poses)
        self._first, self._states, self._poses = step, known, poses

    def sound_steps(self, long long step, long long steps, state):
        """How many of the next `steps` steps the box is long enough for the clumps of a State, and resolved by the
        step.

        FloatingPointError or ValueError if not even in the first one. So the step that an error names does not depend
        on the division of a run.
        """
        if not self.stride or steps == 0:
            return steps
        if self._least is None or self._least[0] is not state.layout:
            self._least = state.layout, self.box.start.least_length(state)
        cdef double[:, ::1] states = self._states
        cdef double[::1] least = self._least[1]
        cdef long long k, first = step - self._first
        cdef bint short = False, fast = False
        cdef double length, rate
        cdef int axis
        for k in range(1, steps + 1):
            for axis in range(4):                       # the last one: shear
                rate = states[first + k, SHEAR_RATE if axis == 3 else RATE + axis]
                fast |= not fabs(rate) * self._spec.dt <= MOST_STRAIN
                length = self._spec.start[axis] * exp(states[first + k, STRAIN + axis]) if axis < 3 else 1.0
                fast |= not 1.0 / FARTHEST <= length <= FARTHEST
                short |= axis < 3 and self._spec.stretches[axis] and length <= least[axis]
            if fast or short:
                break
        if not fast and not short:
            return steps
        if k > 1:
            return k - 1
        if fast:
            self._refuse_fast(step + 1)
        try:
            for k, template in enumerate(state.templates):
                self.box_at(step + 1).refuse_large(template, state.scale[state.template_index == k])
        except ValueError as error:
            raise ValueError(f"the periodic box shrinks too far until step {step + 1}: {error}, lower its rate, or end "
                             "the run earlier") from None
        return steps

    def _refuse_fast(self, long long step):
        """FloatingPointError for a box that is not resolved by the step before this one."""
        state = self.state_at(step)
        rates = np.append(state[RATE:RATE + 3], state[SHEAR_RATE])
        axis = int(np.argmax(np.where(np.isfinite(rates), np.abs(rates), np.inf)))
        name = f"length along {'xyz'[axis]}" if axis < 3 else "shear"
        held = " or give md.Pressure a longer time," if axis in self.box.servos else ""
        with np.errstate(over="ignore"):
            lengths = np.array(self._spec.start) * np.exp(state[STRAIN:STRAIN + 3])
        raise FloatingPointError(
            f"step {step}: the {name} of the periodic box changes at a rate of {rates[axis]:.3g} 1/s, by "
            f"{rates[axis] * self._spec.dt:.3g} in a step, and its lengths are {lengths.tolist()} m; a step resolves "
            f"{MOST_STRAIN:g}. Lower the rate,{held} or lower dt")

    def accelerated(self, long long step, virial):
        """(3,) strain rates of the next step [1/s]; of axes under a pressure by virial (2, 3), their stress and their
        resistance, times the volume [J]."""
        state = self.state_at(step)
        rates = state[RATE:RATE + 3].copy()
        volume = exp(state[STRAIN] + state[STRAIN + 1] + state[STRAIN + 2])
        for axis in range(3):
            volume *= self._spec.start[axis]
        for axis in self.box.servos:
            rates[axis] = self.box.rates[axis].accelerated(rates[axis], virial[0, axis] / volume, self._spec.dt,
                                                           virial[1, axis] / volume)
        return rates

    def state_at(self, long long step):
        """(10,) at a step of the table."""
        return self._states[step - self._first if self.stride else 0]

    def box_at(self, long long step):
        """The Box at a step of the table."""
        if not self.stride:
            return self.box.start
        cdef double[::1] state = np.ascontiguousarray(self.state_at(step))
        cdef double[::1] gradient = np.zeros(9)
        cdef BoxPose row
        cdef Instant now = instant_of(&self._spec, &state[0])
        memset(&row, 0, sizeof(row))
        write_geometry(&self._spec, now.length, now.offset, &now, &now, &row)
        write_gradient(&self._spec, now.length, now.offset, now.velocity, now.slip, &gradient[0])
        start, tilt = self.box.start, np.zeros((3, 3))
        low, length = np.array([row.low[axis] for axis in range(3)]), np.array([row.length[axis] for axis in range(3)])
        high = np.where(self.box.stretched, low + length, start.high)
        if self.box.shear is not None:
            tilt[self._spec.across, self._spec.flow] = row.lattice[self._spec.flow]
        return Box(low, high, start.axes, tilt, np.asarray(gradient).reshape(3, 3),
                   np.append(state[STRAIN:STRAIN + 3], state[SHEAR]), self.box.shear and self._spec.across)

    cdef const BoxPose *pose_at(self, long long step) noexcept:
        return self._poses + (2 * (step - self._first) if self.stride else 0)
