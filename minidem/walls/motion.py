"""Motions of walls, and their poses at given instants."""
from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

import numpy as np

from minidem.core.checks import LARGEST, finite_array, non_negative, number, positive, unit_vector

POSE = np.dtype([("position", float, 3), ("matrix", float, (3, 3)), ("velocity", float, 3), ("turning", float, 3),
                 ("velocity_now", float, 3), ("turning_now", float, 3)])        # WallPose of surface.pxd
FIXED = 1e-9                    # change of a normal or axis, relative displacement of an axis, that counts as none


@dataclass(frozen=True)
class Oscillation:
    """A sinusoidal translation, the `motion` of a wall.

    The displacement is amplitude * (sin(2 pi frequency t + phase) - sin(phase)).

    Parameters
    ----------
    amplitude : (3,) array_like
        Lab frame [m].
    frequency : float
        [Hz]
    phase : float
        [rad]

    Raises
    ------
    ValueError
        For numbers that are not finite, or a frequency that is not positive.
    """

    amplitude: Any
    frequency: float
    phase: float = 0.0

    def __post_init__(self):
        amplitude = finite_array("amplitude", self.amplitude, (3,), limit=LARGEST)
        vars(self).update(amplitude=tuple(amplitude.tolist()), frequency=positive("frequency", self.frequency),
                          phase=number("phase", self.phase))

    def __call__(self, t: float):
        """(displacement (3,), rotation vector (3,)) at the time t [s]."""
        part = self.parts([t])[0]
        return tuple(part * a for a in self.amplitude), (0.0, 0.0, 0.0)

    def parts(self, times):
        """Displacements / amplitude at times (n,) [s], a list."""
        return [sin(2.0 * pi * self.frequency * t + self.phase) - sin(self.phase) for t in times]


@dataclass(frozen=True)
class Servo:
    """A motion under a constant force, which the clumps balance in the end: a pressure or a force is held.

    The wall moves along a line, with mass * acceleration = force + force of the clumps - damping * velocity, integrated
    by leapfrog. It starts at rest.

    Parameters
    ----------
    direction : (3,) array_like
        Of the line and the force, lab frame, of any length but zero.
    force : float
        [N]; for a pressure, that times the area.
    mass : float
        Of the wall [kg]. The lighter, the faster it answers; sqrt(mass / stiffness of all its contacts) must be above
        the time step.
    damping : float
        [N s/m]

    Raises
    ------
    ValueError
        For an argument out of range.
    """

    direction: Any
    force: float
    mass: float
    damping: float = 0.0

    def __post_init__(self):
        direction = unit_vector("direction", self.direction, "give the direction of the force")
        vars(self).update(direction=tuple(direction.tolist()), force=number("force", self.force),
                          mass=positive("mass", self.mass), damping=non_negative("damping", self.damping))


def placed(wall, step, dt, servo_state):
    """Position (3,) of the centre and matrix (3, 3), wall frame -> lab, at a step.

    servo_state : (2,), displacement [m] of a Servo along its direction, and its velocity [m/s].
    """
    pose = Motions([wall]).poses(2 * step, 1, 0.5 * dt)[0, 0]
    moved = servo_state[0] * np.array(wall.motion.direction) if isinstance(wall.motion, Servo) else 0.0
    return pose["position"] + moved, pose["matrix"]


def at_rest(wall, step, dt, servo_state):
    """The wall at rest where it is at a step; servo_state : see `placed`."""
    if not wall.moves:
        return wall
    position, matrix = placed(wall, step, dt, servo_state)
    still = {"velocity": (0.0, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 0.0), "motion": None,
             "center": tuple(position.tolist())}

    def moved(points):
        return position + (np.asarray(points) - wall.center) @ matrix.T

    return wall.mapped(moved, **still)


def scaled(wall, factor, origin):
    """A wall at rest with all lengths multiplied by `factor`, about the point `origin` (3,)."""
    def moved(points):
        return origin + factor * (np.asarray(points) - origin)

    return wall.mapped(moved, factor, center=tuple(moved(wall.center).tolist()))


class Motions:
    """Motions of walls, computed together.

    walls : those that move;  upright : why a wall may not turn, a text or None of each
    """

    def __init__(self, walls, upright=None):
        motions = [wall.motion for wall in walls]
        self._walls, self._upright = walls, [None] * len(walls) if upright is None else upright
        self._center, self._velocity, self._spin = (
            np.array([getattr(wall, name) for wall in walls]).reshape(-1, 3)
            for name in ("center", "velocity", "angular_velocity"))
        self._oscillating = [k for k, motion in enumerate(motions) if type(motion) is Oscillation]
        self._amplitude = np.array([motions[k].amplitude for k in self._oscillating]).reshape(-1, 3)
        self._functions = [k for k, motion in enumerate(motions)
                           if motion is not None and not isinstance(motion, Servo) and type(motion) is not Oscillation]
        self._given = self._oscillating + self._functions
        self._turning = np.union1d(np.flatnonzero(self._spin.any(axis=1)), self._functions).astype(int)
        self._turning_given = np.isin(self._turning, self._given)
        limits = [wall.limits() for wall in walls]
        self._axis, self._arm = (np.array(values).reshape(-1, 3) for values in (
            [limit.axis for limit in limits], [limit.arm for limit in limits]))
        self._along, self._radius, self._extent = (np.array(values) for values in (
            [limit.along for limit in limits], [limit.radius for limit in limits], [limit.extent for limit in limits]))

    def poses(self, first, n, half_step):
        """Poses (n, walls) at the instants (first + k) half_step, 0 <= k < n, a structured array (POSE).

        A pose depends on its instant alone, so that results do not depend on how a run is divided. That of a Servo
        lacks what the force does.
        """
        times, step = np.arange(first - 2, first + n + 1) * half_step, 2.0 * half_step
        position, matrix = self._placed(times)
        poses = np.zeros((n, len(self._walls)), POSE)
        poses["position"], poses["matrix"] = position[2:-1], np.eye(3)
        poses["matrix"][:, self._turning] = matrix[2:-1]
        poses["velocity"] = poses["velocity_now"] = self._velocity + 0.0
        poses["turning"] = poses["turning_now"] = self._spin
        if not self._given:
            return poses
        position, matrix = position[:, self._given], matrix[:, self._turning_given]
        for now, early, late in (("", slice(-3), slice(2, -1)), ("_now", slice(1, -2), slice(3, None))):
            poses["velocity" + now][:, self._given] = (position[late] - position[early]) / step
            poses["turning" + now][:, self._turning[self._turning_given]] = _mean_spins(
                matrix[early], matrix[late], step)
        return poses

    def _placed(self, times):
        """Positions (n, walls, 3) of the centres, and matrices (n, turning walls, 3, 3), wall frame -> lab."""
        position = self._center + times[:, None, None] * self._velocity
        if not (self._given or len(self._turning)):
            return position, np.zeros((len(times), 0, 3, 3))
        matrix, listed = _rotations(times[:, None, None] * self._spin[self._turning]), times.tolist()
        matrix[:, self._turning_given] += 0.0           # never -0.0, as from _product
        parts = np.array([self._walls[k].motion.parts(listed) for k in self._oscillating]).reshape(-1, len(times), 1)
        position[:, self._oscillating] += parts.swapaxes(0, 1) * self._amplitude
        for k in self._functions:
            moved, own = np.array([_moved(self._walls[k].motion, t) for t in listed]), self._turning.searchsorted(k)
            position[:, k] += moved[:, 0]
            matrix[:, own] = _product(_rotations(moved[:, 1]), matrix[:, own])
        return position, matrix

    def travel(self, poses):
        """Bounds (n,) of the displacement of any surface from each entry of `poses` to the next, the first one 0.

        ValueError for a motion that tilts a plane or a cylinder, or turns a wall that may not turn in a periodic box.
        """
        shift = np.diff(poses["position"], axis=0, prepend=poses["position"][:1])
        along = (shift * self._axis).sum(axis=2)
        across = np.sqrt(((shift - along[:, :, None] * self._axis) ** 2).sum(axis=2))
        moved = np.where(self._along, np.abs(along), across)
        if not len(self._turning):
            return moved.max(axis=1)
        matrix = poses["matrix"][:, self._turning]
        turn = np.diff(matrix, axis=0, prepend=matrix[:1])
        moved[:, self._turning] += self._extent[self._turning] * np.sqrt((turn ** 2).sum(axis=(2, 3)))
        self._check(matrix)
        return moved.max(axis=1)

    def _check(self, matrix):
        """Refuse matrices that tilt or displace the surface of a plane or cylinder."""
        axis, arm, radius = (values[self._turning] for values in (self._axis, self._arm, self._radius))
        tilt = np.abs((matrix * axis[:, None, :]).sum(axis=3) - axis).max(axis=2)
        off = np.abs(np.cross((matrix * arm[:, None, :]).sum(axis=3) - arm, axis)).max(axis=2) / radius
        turned = np.abs(matrix - np.eye(3)).max(axis=(2, 3)) > FIXED
        for k, wrong, turns in zip(self._turning, ((tilt > FIXED) | (off > FIXED)).any(axis=0), turned.any(axis=0)):
            if turns and self._upright[k]:
                raise ValueError(f"motion of {self._walls[k]}: {self._upright[k]}")
            if wrong:
                raise ValueError(f"motion of {self._walls[k]}: it turns about another axis than that of its symmetry; "
                                 "give a MeshWall")


def _moved(motion, t):
    """What a motion returns, checked, (2, 3)."""
    answer = motion(t)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError(f"the motion of a wall returned {answer!r} at t = {t}: return a tuple (displacement (3,), "
                         "rotation vector (3,))")
    return finite_array(f"the motion of a wall at t = {t}", answer, (2, 3), limit=LARGEST)


def _rotations(vectors):
    """Matrices (..., 3, 3) of rotation vectors (..., 3)."""
    angle = np.sqrt((vectors * vectors).sum(axis=-1))
    sine, cosine = (np.array([f(a) for a in angle.reshape(-1).tolist()]).reshape(angle.shape) for f in (sin, cos))
    x, y, z = np.moveaxis(vectors / np.where(angle > 0.0, angle, 1.0)[..., None], -1, 0)
    versine = 1.0 - cosine
    return np.stack([cosine + x * x * versine, x * y * versine - z * sine, x * z * versine + y * sine,
                     y * x * versine + z * sine, cosine + y * y * versine, y * z * versine - x * sine,
                     z * x * versine - y * sine, z * y * versine + x * sine, cosine + z * z * versine],
                    axis=-1).reshape(*angle.shape, 3, 3)


def _product(a, b):
    """Products (..., 3, 3) of matrices; in a fixed order, which matmul does not promise."""
    return sum(a[..., :, k, None] * b[..., k, None, :] for k in range(3))


def _mean_spins(matrix, later_matrix, step):
    """Mean angular velocities (..., 3) between two instants."""
    turn = _product(later_matrix, matrix.swapaxes(-1, -2))
    vector = 0.5 * np.stack([turn[..., 2, 1] - turn[..., 1, 2], turn[..., 0, 2] - turn[..., 2, 0],
                             turn[..., 1, 0] - turn[..., 0, 1]], axis=-1)
    squared = (vector * vector).sum(axis=-1)[..., None]             # of the sine of the angle
    return vector * (1.0 + squared / 6.0) / step
