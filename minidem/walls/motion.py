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
    """Position (3,) of the centre and matrix (3, 3), wall frame -> lab, at a step; servo_state : place and velocity."""
    position, matrix = _poses_of(wall, np.array([2 * step]) * (0.5 * dt))
    moved = servo_state[0] * np.array(wall.motion.direction) if isinstance(wall.motion, Servo) else 0.0
    return position[0] + moved, matrix[0]


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
    """Motions of the walls that move.  upright : why each may not turn, a text or None"""

    def __init__(self, walls, upright=None):
        self._walls = [(wall, wall.limits(), reason) for wall, reason in zip(walls, upright or [None] * len(walls))]

    def poses(self, first, n, half_step):
        """Poses (n, walls) at the instants (first + k) half_step, 0 <= k < n, a structured array (POSE).

        A pose depends on its instant alone, so that results do not depend on how a run is divided. That of a Servo
        lacks what the force does.
        """
        times, step = np.arange(first - 2, first + n + 1) * half_step, 2.0 * half_step
        poses = np.zeros((n, len(self._walls)), POSE)
        for pose, (wall, *_) in zip(poses.T, self._walls):
            position, matrix = _poses_of(wall, times)
            pose["position"], pose["matrix"] = position[2:-1], matrix[2:-1]
            for now, early, late in (("", slice(-3), slice(2, -1)), ("_now", slice(1, -2), slice(3, None))):
                if wall.motion is None or isinstance(wall.motion, Servo):
                    pose["velocity" + now], pose["turning" + now] = np.add(wall.velocity, 0.0), wall.angular_velocity
                else:
                    pose["velocity" + now] = (position[late] - position[early]) / step
                    pose["turning" + now] = _mean_spins(matrix[early], matrix[late], step)
        return poses

    def travel(self, poses):
        """Bounds (n,) of the displacement of any surface from each entry of `poses` to the next, the first one 0.

        ValueError for a motion that tilts a plane or a cylinder, or turns a wall that may not turn in a periodic box.
        """
        bound = np.zeros(len(poses))
        for pose, (wall, limits, upright) in zip(poses.T, self._walls):
            axis, matrix = np.array(limits.axis), pose["matrix"]
            shift, turn = (np.diff(pose[name], axis=0, prepend=pose[name][:1]) for name in ("position", "matrix"))
            along = shift @ axis
            across = np.linalg.norm(shift - along[:, None] * axis, axis=1)
            moved = np.abs(along) if limits.along else across
            bound = np.maximum(bound, moved + limits.extent * np.linalg.norm(turn, axis=(1, 2)))
            tilt = np.abs(matrix @ axis - axis).max()
            off = np.abs(np.cross(matrix @ limits.arm - limits.arm, axis)).max() / limits.radius
            if upright and np.abs(matrix - np.eye(3)).max() > FIXED:
                raise ValueError(f"motion of {wall}: {upright}")
            if max(tilt, off) > FIXED:
                raise ValueError(f"motion of {wall}: it turns about another axis than that of its symmetry; give a "
                                 "MeshWall")
        return bound


def _poses_of(wall, times):
    """Positions (n, 3) of the centre, and matrices (n, 3, 3), wall frame -> lab, at times (n,) without a Servo."""
    motion, times = None if isinstance(wall.motion, Servo) else wall.motion, times[:, None]
    position = wall.center + times * wall.velocity
    matrix = _rotations(times * wall.angular_velocity) if any(wall.angular_velocity) else np.tile(
        np.eye(3), (len(times), 1, 1))
    if isinstance(motion, Oscillation):
        position += np.array(motion.parts(times[:, 0].tolist()))[:, None] * motion.amplitude
    elif motion is not None:
        moved = np.array([_moved(motion, t) for t in times[:, 0].tolist()])
        position += moved[:, 0]
        matrix = _product(_rotations(moved[:, 1]), matrix)
    return position, matrix + 0.0                       # without -0.0


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
