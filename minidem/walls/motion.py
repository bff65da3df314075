"""Motions of walls, and their poses at given instants."""
from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import cos, pi, sin
from typing import Any

import numpy as np

from minidem.core.checks import LARGEST, check_call, finite_array, non_negative, number, positive, unit_vector

POSE = np.dtype([("position", float, 3), ("matrix", float, (3, 3)), ("velocity", float, 3), ("turning", float, 3),
                 ("velocity_now", float, 3), ("turning_now", float, 3)])        # WallPose of surface.pxd
FIXED = 1e-9                    # change of a normal or axis, relative displacement of an axis, that counts as none


@dataclass(frozen=True)
class Oscillation:
    """A sinusoidal translation, the `motion` of a wall.

    The displacement is amplitude * (sin(2 pi frequency t + phase) - sin(phase)) at the time t of the simulation. Where
    the motion begins later, it is counted from there: nothing jumps, and walls of one phase keep it.

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
    _: KW_ONLY
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
    """A motion under a given force or pressure, which the clumps balance in the end: it is held.

    The wall moves along a line, with mass * acceleration = force + force of the clumps - damping * velocity, integrated
    by leapfrog. It starts at rest. With a pressure the force is pressure * area in each step. All forces on clumps that
    the wall carries act on it, their weight included.

    Parameters
    ----------
    direction : (3,) array_like, optional
        Of the line and the force, lab frame, of any length but zero. Default: the normal of a plane, to the clumps.
    mass : float
        Of the wall, with all clumps that it carries [kg]. The lighter, the faster it answers.
    force : float, optional
        [N]. Give force or pressure.
    damping : float
        [N s/m]
    pressure : float, optional
        [Pa], positive along the direction.
    area : float or callable, optional
        Of the wall under the pressure [m2], a number or a function of the time [s]. Default: the present area of a
        plane normal to an axis, between the two planes or periodic faces along each of the other axes.

    Raises
    ------
    ValueError
        For an argument out of range; in `Simulation`, for an area that does not follow from the other walls.

    Notes
    -----
    The wall is stable for any mass: it counts as 2 dt^2 r at least, with the sum r of c / dt + k / 4 over its contacts,
    of dashpots c and springs k (see `Pressure`), and as dt * damping / 2. It moves by at most a tenth of the smallest
    radius in a step.
    """

    _: KW_ONLY
    direction: Any = None
    mass: float
    force: float | None = None
    damping: float = 0.0
    pressure: float | None = None
    area: Any = None

    turns = False

    def __post_init__(self):
        if self.direction is not None:
            vars(self)["direction"] = tuple(unit_vector(
                "direction", self.direction, "give the direction of the force").tolist())
        if (self.force is None) == (self.pressure is None):
            raise ValueError(f"force = {self.force}, pressure = {self.pressure}: give one of them")
        if self.area is not None and self.pressure is None:
            raise ValueError(f"area = {self.area}: a force needs none; give pressure instead of force, or leave it out")
        if callable(self.area):
            check_call("area", self.area, "t")
        elif self.area is not None:
            vars(self)["area"] = positive("area", self.area)
        name = "force" if self.pressure is None else "pressure"
        vars(self).update({name: number(name, getattr(self, name))}, mass=positive("mass", self.mass),
                          damping=non_negative("damping", self.damping))

    def loads(self, times):
        """Forces [N] at times (n,), or pressures [Pa] where the area follows from other walls."""
        if self.area is None:
            return np.full(len(times), self.force if self.pressure is None else self.pressure)
        return self.pressure * np.array([positive("the area that a function of md.Servo returned", self.area(t))
                                         if callable(self.area) else self.area for t in times.tolist()])


@dataclass(frozen=True)
class Driven:
    """A motion by Newton's law: the wall is a rigid body that clumps push along a line, or turn about one.

    With a mass (a piston, a lid), mass * acceleration = force + force of the clumps - damping * velocity. With an
    inertia (a flap, a wheel, a mixer) the same holds for rate and moments of the rotation. The velocity of the wall
    along the axis, or its angular velocity, is the initial one; the rest of both is held.

    Parameters
    ----------
    mass, inertia : float
        Of the wall with all clumps that it carries [kg], or about the axis [kg m2]. Give one of them.
    axis : (3,) array_like, optional
        Direction of the line, lab frame, of any length but zero. Default: the normal of a plane, to the clumps.
    about : (3,) array_like, optional
        A point of the axis of rotation [m], which becomes `center` of the wall. Default: `center`.
    force, moment : float or callable
        Along the axis [N], or about it [N m], a number or a function of the time [s]. The weight of the wall acts only
        if it is part of it; all forces on clumps that the wall carries act, their weight included.
    damping : float
        [N s/m] or [N m s]

    Raises
    ------
    ValueError
        For an argument out of range, a force with an inertia, a moment with a mass; in a wall, for a rotation that its
        shape cannot do.

    Notes
    -----
    Leapfrog, of second order. The step must resolve the wall on its contacts: a warning tells if it is above
    sqrt(mass / sum of their stiffnesses), and from twice that on it is unstable. The effective mass of a contact
    includes the mass of the wall, so that clumps rebound with the restitution of the materials.
    """

    _: KW_ONLY
    mass: float | None = None
    inertia: float | None = None
    axis: Any = None
    about: Any = None
    force: Any = 0.0
    moment: Any = 0.0
    damping: float = 0.0

    pressure = area = None

    def __post_init__(self):
        if (self.mass is None) == (self.inertia is None):
            raise ValueError(f"mass = {self.mass}, inertia = {self.inertia}: give one of them")
        for name in ("force", "moment"):
            if callable(getattr(self, name)):
                check_call(name, getattr(self, name), "t")
            else:
                vars(self)[name] = number(name, getattr(self, name))
        if self.axis is not None:
            vars(self)["axis"] = tuple(unit_vector("axis", self.axis, "give the direction of the line").tolist())
        if self.about is not None:
            vars(self)["about"] = tuple(finite_array("about", self.about, (3,), limit=LARGEST).tolist())
        own, others = ("inertia", {"force": 0.0}) if self.turns else ("mass", {"moment": 0.0, "about": None})
        vars(self).update({own: positive(own, getattr(self, own))}, damping=non_negative("damping", self.damping))
        for name, default in others.items():
            if getattr(self, name) != default:
                raise ValueError(f"{name} = {getattr(self, name)}: leave it out with {own} = {getattr(self, own)}; "
                                 "mass and force move a wall along a line, inertia, about and moment turn it")

    @property
    def turns(self):
        """Whether it is a rotation."""
        return self.inertia is not None

    @property
    def direction(self):
        """The axis, see `Servo`."""
        return self.axis

    def loads(self, times):
        """Forces [N] or moments [N m] at times (n,)."""
        name = "moment" if self.turns else "force"
        load = getattr(self, name)
        return np.array([number(f"the {name} that a function of md.Driven returned", load(t))
                         if callable(load) else load for t in times.tolist()])


STEERED = Servo | Driven


def beside(walls, k, length):
    """By which other walls the area of wall k is bounded, which has a Servo or is Driven.

    Returns the two axes across, numbers (2, 2) of the walls at the low and high end of each, len(walls): none, and
    their distances (2,) without the displacements of those that move [m]; 1 where no area follows from other walls.

    length : (3,) of a periodic box, 0 along open axes and axes that move [m]
    """
    if walls[k].motion.pressure is None or walls[k].motion.area is not None:
        return (0, 0), len(walls), 1.0
    faces, numbers, distances = [wall.face() or (-1, 0.0, 0.0) for wall in walls], [], []
    places = [place - (walls[n].center[axis] if walls[n].moves else 0.0) for n, (axis, _, place) in enumerate(faces)]
    axes = [axis for axis in range(3) if axis != faces[k][0]]
    for axis in axes:
        low, high = ([n for n, face in enumerate(faces) if face[:2] == (axis, sign)] for sign in (1.0, -1.0))
        if len(axes) != 2 or length[axis] == 0.0 and (len(low), len(high)) != (1, 1):
            raise ValueError(f"walls[{k}]: its area does not follow from one plane at each end of the axes across; "
                             "give md.Servo(pressure=..., area=...)")
        numbers.append([len(walls)] * 2 if length[axis] > 0.0 else low + high)
        distances.append(length[axis] or places[high[0]] - places[low[0]])
    return axes, numbers, distances


def placed(wall, step, dt, servo_state):
    """Position (3,) of the centre and matrix (3, 3), wall frame -> lab, at a step; servo_state : place and velocity."""
    position, matrix = _poses_of(wall, np.array([2 * step]) * (0.5 * dt))
    if isinstance(wall.motion, STEERED):
        moved = servo_state[0] * np.array(wall.motion.direction)
        return (position[0], _rotations(moved)) if wall.motion.turns else (position[0] + moved, matrix[0])
    return position[0], matrix[0]


def motion_at(wall, step, dt, servo_state):
    """Centre, velocity and angular velocity (3,) of a wall at a step, lab; servo_state : see `placed`."""
    pose = Motions([wall]).poses(2 * step, 1, 0.5 * dt)[0, 0]
    velocities = [pose["velocity_now"].copy(), pose["turning_now"].copy()]
    if isinstance(wall.motion, STEERED):
        velocities[wall.motion.turns] += servo_state[1] * np.array(wall.motion.direction)
    return placed(wall, step, dt, servo_state)[0], *velocities


def at_rest(wall, step, dt, servo_state):
    """The wall at rest where it is at a step; servo_state : see `placed`."""
    if not wall.moves:
        return wall
    position, matrix = placed(wall, step, dt, servo_state)
    still = dict.fromkeys(("velocity", "angular_velocity", "surface_velocity", "surface_angular_velocity"),
                          (0.0, 0.0, 0.0)) | {"motion": None, "center": tuple(position.tolist()), "since": 0.0}

    def moved(points):
        return position + (np.asarray(points) - wall.center) @ matrix.T

    return wall.mapped(moved, **still)


def scaled(wall, factor, origin):
    """A wall at rest with all lengths multiplied by `factor`, about the point `origin` (3,)."""
    def moved(points):
        return origin + factor * (np.asarray(points) - origin)

    return wall.mapped(moved, factor, center=tuple(moved(wall.center).tolist()))


def driven_apart(wall):
    """Velocity and angular velocity (3,) that forces do not change, and the initial speed or rate of `Driven`."""
    held, speed = [np.array(wall.velocity), np.array(wall.angular_velocity)], 0.0
    if isinstance(wall.motion, Driven):
        speed = sum(a * b for a, b in zip(wall.motion.axis, held[wall.motion.turns].tolist()))
        held[wall.motion.turns] -= speed * np.array(wall.motion.axis)
    return *held, speed


class Motions:
    """Motions of the walls that move.

    upright : why each may not turn about x, y, z, or another axis in a periodic box: four times a text or None
    """

    def __init__(self, walls, upright=None):
        self._walls = [(wall, wall.limits(), why) for wall, why in zip(walls, upright or [[None] * 4] * len(walls))]

    def poses(self, first, n, half_step):
        """Poses (n, walls) at the instants (first + k) half_step, 0 <= k < n, a structured array (POSE).

        A pose depends on its instant alone, so that results do not depend on how a run is divided. The pose
        of a Servo or Driven lacks what the force does.
        """
        times, step = np.arange(first - 2, first + n + 1) * half_step, 2.0 * half_step
        poses = np.zeros((n, len(self._walls)), POSE)
        for pose, (wall, *_) in zip(poses.T, self._walls):
            position, matrix = _poses_of(wall, times)
            pose["position"], pose["matrix"] = position[2:-1], matrix[2:-1]
            for now, early, late in (("", slice(-3), slice(2, -1)), ("_now", slice(1, -2), slice(3, None))):
                if wall.motion is None or isinstance(wall.motion, STEERED):
                    pose["velocity" + now], pose["turning" + now] = np.add(driven_apart(wall)[:2], 0.0)
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
            turned = np.abs(matrix - np.eye(3)).max(axis=(0, 1)) > FIXED       # x, y, z
            reason = upright[3 if turned.all() else int(np.argmin(turned))]
            if reason and turned.any():
                raise ValueError(f"motion of {wall}: {reason}")
            if max(tilt, off) > FIXED:
                raise ValueError(f"motion of {wall}: it turns about another axis than its axis of symmetry; give a "
                                 "MeshWall")
        return bound


def _poses_of(wall, times):
    """Positions (n, 3) of the centre, and matrices (n, 3, 3), wall frame -> lab, at times (n,) without forces.

    The motion of a wall that began to move later counts from its own value at this time, so that nothing jumps.
    """
    motion, elapsed = None if isinstance(wall.motion, STEERED) else wall.motion, (times - wall.since)[:, None]
    velocity, turning, _ = driven_apart(wall)
    position = wall.center + elapsed * velocity
    matrix = _rotations(elapsed * turning) if any(turning) else np.tile(
        np.eye(3), (len(times), 1, 1))
    times = ([wall.since] if wall.since > 0.0 else []) + times.tolist()
    if isinstance(motion, Oscillation):
        moved = np.array(motion.parts(times))[:, None] * motion.amplitude
        position += moved[-len(position):] - (moved[0] if wall.since > 0.0 else 0.0)
    elif motion is not None:
        moved = np.array([_moved(motion, t) for t in times])
        turns = _rotations(moved[:, 1])
        position += moved[-len(position):, 0] - (moved[0, 0] if wall.since > 0.0 else 0.0)
        matrix = _product(turns[-len(matrix):], matrix if wall.since == 0.0 else _product(turns[0].T, matrix))
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
