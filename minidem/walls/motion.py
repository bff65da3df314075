"""Poses of walls at given instants."""
from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import LARGEST, finite_array, number, positive
from minidem.walls.mesh_wall import MeshWall
from minidem.walls.plane import Plane
from minidem.walls.servo import Servo

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

    amplitude: ArrayLike
    frequency: float
    phase: float = 0.0

    def __post_init__(self):
        amplitude = finite_array("amplitude", self.amplitude, (3,), limit=LARGEST)
        vars(self).update(amplitude=tuple(amplitude.tolist()), frequency=positive("frequency", self.frequency),
                          phase=number("phase", self.phase))

    def __call__(self, t: float):
        """(displacement (3,), rotation vector (3,)) at the time t [s]."""
        part = sin(2.0 * pi * self.frequency * t + self.phase) - sin(self.phase)
        return tuple(part * a for a in self.amplitude), (0.0, 0.0, 0.0)


def poses(wall, first, n, half_step, servo_state):
    """Rows (n, POSE) of surface.pxd of one wall at the instants (first + k) half_step, 0 <= k < n.

    A row depends on its instant alone, so that results do not depend on how a run is divided.

    servo_state : displacement [m] and velocity [m/s] of a Servo at the first instant, along its direction.
    """
    entries = np.arange(first - 2, first + n + 1)
    position, matrix = _placed(wall, entries * half_step)
    if isinstance(wall.motion, Servo):
        along = servo_state[0] + servo_state[1] * half_step * np.arange(-2, n + 1)
        position = position + np.outer(along, wall.motion.direction)
    rows = np.empty((n, 24))
    rows[:, :3], rows[:, 3:12] = position[2:-1], matrix[2:-1].reshape(n, 9)
    if wall.motion is None or isinstance(wall.motion, Servo):
        own = np.zeros(3) if wall.motion is None else servo_state[1] * np.array(wall.motion.direction)
        rows[:, 12:15] = rows[:, 18:21] = wall.velocity + own
        rows[:, 15:18] = rows[:, 21:24] = wall.angular_velocity
    else:
        step = 2.0 * half_step
        rows[:, 12:15], rows[:, 15:18] = _rates(position[:-3], position[2:-1], matrix[:-3], matrix[2:-1], step)
        rows[:, 18:21], rows[:, 21:24] = _rates(position[1:-2], position[3:], matrix[1:-2], matrix[3:], step)
    return rows


def at_rest(wall, step, dt, servo_state):
    """The wall at rest where it is at a step; servo_state : see poses."""
    if not wall.moves:
        return wall
    row = poses(wall, 2 * step, 1, 0.5 * dt, servo_state)[0]
    position, matrix = row[:3], row[3:12].reshape(3, 3)
    still = {"velocity": (0.0, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 0.0), "motion": None,
             "center": tuple(position.tolist())}

    def moved(points):
        return position + (np.asarray(points) - wall.center) @ matrix.T

    if isinstance(wall, MeshWall):
        return wall.with_points(moved(wall.points), **still)
    return replace(wall, point=moved(wall.point), **still)


def scaled(wall, factor, origin):
    """A wall at rest with all lengths multiplied by `factor`, about the point `origin` (3,)."""
    def moved(points):
        return origin + factor * (np.asarray(points) - origin)

    if isinstance(wall, MeshWall):
        return wall.with_points(moved(wall.points), center=tuple(moved(wall.center).tolist()))
    if isinstance(wall, Plane):
        return replace(wall, point=moved(wall.point), center=None)
    return replace(wall, point=moved(wall.point), radius=factor * wall.radius, center=None)


def _placed(wall, times):
    """Positions (n, 3) of the centre and matrices (n, 3, 3), wall frame -> lab."""
    position = np.array(wall.center) + times[:, None] * np.array(wall.velocity)
    matrix = _rotations(times[:, None] * np.array(wall.angular_velocity))
    if wall.motion is not None and not isinstance(wall.motion, Servo):
        moved = np.array([_moved(wall.motion, t) for t in times.tolist()])
        position, matrix = position + moved[:, 0], _product(_rotations(moved[:, 1]), matrix)
    return position, matrix


def _moved(motion, t):
    """What a motion returns, checked, (2, 3)."""
    answer = motion(t)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError(f"the motion of a wall returned {answer!r} at t = {t}: return a tuple (displacement (3,), "
                         "rotation vector (3,))")
    return finite_array(f"the motion of a wall at t = {t}", answer, (2, 3), limit=LARGEST)


def _rotations(vectors):
    """Matrices (n, 3, 3) of rotation vectors (n, 3)."""
    angle = np.sqrt((vectors * vectors).sum(axis=1))
    sine, cosine = (np.array([f(a) for a in angle.tolist()]) for f in (sin, cos))
    x, y, z = (vectors / np.where(angle > 0.0, angle, 1.0)[:, None]).T
    versine = 1.0 - cosine
    return np.stack([cosine + x * x * versine, x * y * versine - z * sine, x * z * versine + y * sine,
                     y * x * versine + z * sine, cosine + y * y * versine, y * z * versine - x * sine,
                     z * x * versine - y * sine, z * y * versine + x * sine, cosine + z * z * versine],
                    axis=1).reshape(-1, 3, 3)


def _product(a, b):
    """Products (n, 3, 3) of matrices; in a fixed order, which matmul does not promise."""
    return sum(a[:, :, k, None] * b[:, k, None, :] for k in range(3))


def _rates(position, later_position, matrix, later_matrix, step):
    """Mean velocities and angular velocities, both (n, 3), between two instants."""
    turn = _product(later_matrix, matrix.transpose(0, 2, 1))
    vector = 0.5 * np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0],
                             turn[:, 1, 0] - turn[:, 0, 1]], axis=1)
    squared = (vector * vector).sum(axis=1)[:, None]                # of the sine of the angle
    return (later_position - position) / step, vector * (1.0 + squared / 6.0) / step


def travel(wall, rows, periodic=False):
    """Bounds (n,) of the displacements of the surface of a wall from each of its poses to the next, the first one 0.

    Raises
    ------
    ValueError
        For a motion that tilts a plane or a cylinder, or turns a plane in a periodic box.
    """
    shift = np.diff(rows[:, :3], axis=0, prepend=rows[:1, :3])
    matrix = rows[:, 3:12].reshape(-1, 3, 3)
    if isinstance(wall, MeshWall):
        radius = np.sqrt(((wall.points - np.array(wall.center)) ** 2).sum(axis=1).max())
        turn = np.diff(matrix, axis=0, prepend=matrix[:1])
        return np.sqrt((shift ** 2).sum(axis=1)) + radius * np.sqrt((turn ** 2).sum(axis=(1, 2)))
    direction = np.array(wall.normal if isinstance(wall, Plane) else wall.axis)
    tilt = np.abs(matrix @ direction - direction).max(axis=1)
    along = shift @ direction
    if isinstance(wall, Plane):
        off, moved = 0.0, np.abs(along)
        if periodic and np.any(np.abs(matrix - np.eye(3)) > FIXED):
            raise ValueError(f"motion of {wall}: a plane that turns needs open axes, without periodic ones")
    else:
        arm = np.subtract(wall.point, wall.center)
        off = np.abs(np.cross(matrix @ arm - arm, direction)).max(axis=1) / wall.radius
        moved = np.sqrt(((shift - along[:, None] * direction) ** 2).sum(axis=1))
    if np.any(tilt > FIXED) or np.any(off > FIXED):
        raise ValueError(f"motion of {wall}: it turns about another axis than that of its symmetry; give a MeshWall")
    return moved
