"""The motion of a periodic box, computed ahead in tables over half steps, as those of walls (walls/motion.py).

Within a step lengths and tilt change linearly. So the velocity of an image half a step before a pose is its
displacement in the step, divided by the step; and leapfrog with the affine kick moves a clump and its images alike.
"""
from __future__ import annotations

import numpy as np

from minidem.state.periodic_box import Box, Pressure

# Columns of a record, as in periodic_box.pxd.
LENGTH, INVERSE, LOW, ACROSS, LATTICE, MOVES, BEHIND, LATTICE_BEHIND, AHEAD, LATTICE_AHEAD, TRAVELLED, FLOW, KICK, \
    AFFINE, DEFORMATION, INVERSE_DEFORMATION, FLOW_AXIS, GRADIENT_AXIS, STRETCHES, BOX_SIZE = \
    0, 3, 6, 9, 12, 15, 16, 19, 22, 25, 28, 29, 38, 47, 48, 57, 66, 67, 68, 69
# Columns of a state at a whole step: logarithmic strains; displacement of the image along the gradient, in lengths of
# the flow axis; shear strain; path of the strain, on which the lists depend; and the rates of these strains in the step
# before, 0 before the first [1/s].
STRAIN, SHIFT, SHEAR, PATH, RATE, SHEAR_RATE, STATE_SIZE = 0, 3, 4, 5, 6, 9, 10


def _values(rate, times):
    """A rate at times (n,): a number, or a function of the time."""
    if not callable(rate):
        return np.full(len(times), float(rate))
    found = np.array([rate(t) for t in times.tolist()], dtype=float).reshape(-1)
    if len(found) != len(times) or not np.isfinite(found).all():
        raise ValueError("periodic: the function of a rate returned something else than a finite number at a time "
                         f"between {times[0]:g} and {times[-1]:g} s; return one number [1/s]")
    return found


class BoxMotion:
    """Records of a `PeriodicBox` for compiled code.

    Parameters
    ----------
    box : PeriodicBox
    dt : float
        Step [s].
    """

    def __init__(self, box, dt):
        self.box, self._dt = box, dt
        self._flow, self._gradient, self._shear = box.shear or (0, 1, 0.0)

    def states(self, state, first, steps, held):
        """(steps + 1, STATE_SIZE) states from the step `first` on, of which `state` is that.

        By one addition for each step, so that a divided run has the same bits.  held : (3,) rates of the axes under a
        pressure [1/s].
        """
        times = (first + np.arange(steps) + 0.5) * self._dt
        rates = np.stack([_values(held[axis] if isinstance(rate, Pressure) else rate, times)
                          for axis, rate in enumerate(self.box.rates)], axis=1).reshape(steps, 3)
        shear = _values(self._shear, times)
        rows = np.tile(state, (steps + 1, 1))
        rows[1:, STRAIN:STRAIN + 3], rows[1:, RATE:RATE + 3] = self._dt * rates, rates
        rows[:, STRAIN:STRAIN + 3] = np.cumsum(rows[:, STRAIN:STRAIN + 3], axis=0)
        rows[1:, SHEAR_RATE] = shear
        middle = self._middle(rows)[1:]
        rows[1:, SHIFT] = self._dt * shear * middle[:, self._gradient] / middle[:, self._flow]
        rows[1:, SHEAR] = self._dt * shear
        rows[1:, PATH] = self._dt * np.sqrt((rates * rates).sum(axis=1) + shear * shear)
        for column in (SHIFT, SHEAR, PATH):
            rows[:, column] = np.cumsum(rows[:, column])
        return rows

    def _lengths(self, states):
        """(n, 3), open axes included [m]."""
        start = self.box.start
        return (start.high - start.low) * np.exp(states[:, STRAIN:STRAIN + 3])

    def _middle(self, states):
        """Lengths in the middle of the step before, as half the sum of those before and after it."""
        return self._lengths(states) * (0.5 + 0.5 * np.exp(-self._dt * states[:, RATE:RATE + 3]))

    def records(self, states):
        """(2 n + 1, BOX_SIZE) records at the half steps between n + 1 whole ones with these states."""
        dt, flow = self._dt, self._flow
        length, middle = self._lengths(states), self._middle(states)
        velocity = -length * np.expm1(-dt * states[:, RATE:RATE + 3]) / dt
        slip = states[:, SHEAR_RATE] * middle[:, self._gradient]
        change = dt * slip / middle[:, flow]            # of the displacement in the step, as in `states`
        middle_shift = states[:, SHIFT] - 0.5 * change
        slip = slip + middle_shift * velocity[:, flow]
        offset, middle_offset = states[:, SHIFT] * length[:, flow], \
            states[:, SHIFT] * length[:, flow] - 0.5 * dt * slip
        rows = np.zeros((2 * len(states) - 1, BOX_SIZE))
        later = np.minimum(np.arange(1, len(states) + 1), len(states) - 1)
        self._fill(rows[::2], length, offset, velocity, slip, velocity[later], slip[later])
        self._fill(rows[1::2], middle[1:], middle_offset[1:], velocity[1:], slip[1:], velocity[1:], slip[1:])
        rows[::2, FLOW:FLOW + 9] = self._gradients(middle, middle_offset, velocity, slip)
        rows[2::2, KICK:KICK + 9] = self._gradients(length, offset, np.diff(velocity, axis=0), np.diff(slip))
        rows[1::2, FLOW:KICK + 9] = rows[2::2, FLOW:KICK + 9]
        rows[::2, TRAVELLED] = states[:, PATH]
        rows[1::2, TRAVELLED] = 0.5 * (states[:-1, PATH] + states[1:, PATH])
        return rows

    def _fill(self, rows, length, offset, velocity, slip, later_velocity, later_slip):
        """Geometry and velocities of images; offset (n,) of that along the gradient, slip its rate."""
        box, f, g = self.box.start, self._flow, self._gradient
        periodic = box.axes.astype(float)
        rows[:, LENGTH:LENGTH + 3] = length * periodic
        rows[:, INVERSE:INVERSE + 3] = periodic / length
        rows[:, LOW:LOW + 3] = np.where(self.box.moving & box.axes & (length != box.high - box.low),
                                        box.center - 0.5 * length, box.low)
        rows[:, MOVES], rows[:, AFFINE], rows[:, FLOW_AXIS], rows[:, GRADIENT_AXIS] = 1.0, self.box.affine, f, g
        rows[:, STRETCHES] = any(rate != 0.0 for rate in self.box.rates)
        for axis in range(3):
            rows[:, DEFORMATION + 4 * axis] = length[:, axis] / (box.high - box.low)[axis]
            rows[:, INVERSE_DEFORMATION + 4 * axis] = (box.high - box.low)[axis] / length[:, axis]
        rows[:, DEFORMATION + 3 * f + g] = offset / (box.high - box.low)[g]
        rows[:, INVERSE_DEFORMATION + 3 * f + g] = -offset * (box.high - box.low)[f] / (length[:, f] * length[:, g])
        rows[:, BEHIND:BEHIND + 3], rows[:, AHEAD:AHEAD + 3] = velocity, later_velocity
        turns = np.rint(offset / length[:, f])          # the displacement is at most half a length
        rows[:, ACROSS + g], rows[:, LATTICE + g] = periodic[g] / length[:, g], length[:, g] * periodic[g]
        rows[:, LATTICE + f] = offset - turns * length[:, f]
        for at, of_length, of_offset in ((LATTICE_BEHIND, velocity, slip), (LATTICE_AHEAD, later_velocity, later_slip)):
            rows[:, at + g], rows[:, at + f] = of_length[:, g], of_offset - turns * of_length[:, f]

    def _gradients(self, length, offset, velocity, slip):
        """(n, 9) matrices dv_i / dx_j of the flow of a box; more lengths than velocities: of the first ones."""
        n, f, g = len(velocity), self._flow, self._gradient
        found = np.zeros((n, 3, 3))
        for axis in range(3):
            found[:, axis, axis] = velocity[:, axis] / length[:n, axis]
        found[:, f, g] = (slip - offset[:n] * found[:, f, f]) / length[:n, g]
        return found.reshape(n, 9)

    def box_at(self, state):
        """The Box of a state."""
        row, start = self.records(state[None])[0], self.box.start
        tilt = np.zeros((3, 3))
        if self.box.shear is not None:
            tilt[self._gradient, self._flow] = row[LATTICE + self._flow]
        low = row[LOW:LOW + 3].copy()
        high = np.where(start.axes & (low != start.low), low + row[LENGTH:LENGTH + 3], start.high)
        return Box(low, high, start.axes, tilt, self._rates(state), np.append(state[STRAIN:STRAIN + 3], state[SHEAR]),
                   self.box.shear and self._gradient)

    def _rates(self, state):
        """(3, 3) velocity gradient of velocities that are half a step behind, at the lengths of the state [1/s]."""
        row = self.records(state[None])[0]
        slip = row[LATTICE_BEHIND + self._flow] if self.box.shear is not None else 0.0
        offset = row[LATTICE + self._flow] if self.box.shear is not None else 0.0
        return self._gradients(self._lengths(state[None]), np.array([offset]), row[None, BEHIND:BEHIND + 3],
                               np.array([slip])).reshape(3, 3)
