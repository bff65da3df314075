"""What all walls have in common: a material, a motion, and what the package asks of a shape."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

import numpy as np

from minidem.core.checks import LARGEST, check_call, finite_array, non_negative, short_repr, unit_vector
from minidem.material import Material
from minidem.walls.motion import STEERED, Driven

ZERO = (0.0, 0.0, 0.0)


class Limits(NamedTuple):
    """How a wall may move, and how far its surface moves with it."""
    axis: tuple = ZERO              # about which alone it may turn, unit; zero: about any
    along: bool = False             # of a displacement the part along the axis counts, else that across it
    arm: tuple = ZERO               # from the centre of rotation to a point of the axis [m]
    radius: float = 1.0             # length to which displacements of the axis are compared [m]
    extent: float = 0.0             # largest distance of the surface from the centre, if it may turn about any axis [m]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Wall:
    """Base class of `Plane`, `Cylinder`, `Cone`, `MeshWall` and `CompoundWall`.

    A shape says here all that the package needs of it, so that nothing else depends on its class. The defaults
    suit a finite surface that clumps touch from both sides. A shape with a formula gives `primitives`, and the
    address of a compiled function of the distance (cone_surface.pyx); another one `surface`.

    Attributes
    ----------
    since : float
        Time at which the wall is where its coordinates say, from which its motion counts [s]; set by `Simulation`.
    surface : points (n, 3) and triangles (m, 3), or None
    half_space : point and normal of a plane, both (3,), or None
    encloses : whether it is an infinite cylinder around the clumps
    """

    material: Material | None = None
    velocity: tuple = ZERO
    angular_velocity: tuple = ZERO
    center: tuple | None = None
    motion: Callable | None = None
    surface_velocity: tuple = ZERO
    surface_angular_velocity: tuple = ZERO
    name: str | None = None
    since: float = 0.0

    surface = None
    half_space = None
    encloses = False

    def __repr__(self):
        own_first = sorted(fields(self), key=lambda one: one.kw_only)
        given = [one.name for one in own_first if getattr(self, one.name) != one.default]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in given)})"

    def with_changes(self, **changes):
        """The wall with other attributes."""
        return replace(self, **changes)

    def primitives(self) -> list[dict]:
        """Members of the struct Shape (surface.pxd) of each primitive, lab frame at time 0.

        Except for a plane and a cylinder, `kind` is "other", and `touch` the address of a `TouchFunction`.
        """
        return []

    def limits(self) -> Limits:
        raise NotImplementedError

    def mapped(self, moved, factor=1.0, **changes):
        """The wall after `moved`, a similarity of points that stretches by `factor`, with other attributes as given."""
        raise NotImplementedError

    def distance(self, points):
        """Distances of points (n, 3) from the surface, negative behind it [m]; None if it has no back."""
        return None

    def uneven(self, axes):
        """Return the part of `axes`, (3,) of bool, along which the wall varies, and what to give instead."""
        return axes, "give walls that are the same along it, such as planes"

    def without_images(self, length, turns=None):
        """Why the wall cannot be in a periodic box of lengths (3,), 0: open [m]; None if it can.

        turns : (3,) axis about which it turns, besides its `rotations`; zero: about any; None: about none
        """
        return None

    def profile(self, reach):
        """Ends (distance from `point` along `axis`, radius) of a surface of revolution, drawn to `reach`; else None."""
        return None

    def pieces(self):
        """Walls as which it is drawn."""
        return [self]

    def drawn(self):
        """Points (n, 3) and triangles (m, 3) to draw a shape without `half_space` and `profile`; None: it is not drawn.
        """
        return self.surface

    def region(self, ends=("INF", "INF")):
        """The shape as a region of LAMMPS, without its name; None if there is none. ends : of an infinite one."""
        return None

    def face(self):
        """(axis 0 to 2, sign of the normal, coordinate) of a plane normal to x, y or z; else None."""
        return None

    def _check_place(self, name, remedy):
        """Check material, motion, `point`, and the direction of this name, which is normalised."""
        self._set("point", finite_array("point", self.point, (3,), limit=LARGEST))
        self._set(name, unit_vector(name, getattr(self, name), remedy))
        self._check_motion(self.point)

    def _check_motion(self, reference):
        """Check material and motion; `reference` (3,) is the default of the centre."""
        if self.material is not None and not isinstance(self.material, Material):
            raise ValueError(f"material = {short_repr(self.material)}: give a Material, or None for the simulation's")
        if not (self.motion is None or isinstance(self.motion, STEERED | Callable)):
            raise ValueError(f"motion = {short_repr(self.motion)}: give md.Oscillation, md.Servo, md.Driven, or a "
                             "function of the time that returns (displacement (3,), rotation vector (3,))")
        if isinstance(self.motion, STEERED) and self.motion.direction is None:
            if self.half_space is None:
                raise ValueError(f"motion = {self.motion}: give a direction; only a Plane has a normal to take for it")
            name = "axis" if isinstance(self.motion, Driven) else "direction"
            vars(self)["motion"] = replace(self.motion, **{name: self.half_space[1]})
        if callable(self.motion):
            check_call("motion", self.motion, "t")
        if not (self.name is None or isinstance(self.name, str) and self.name):
            raise ValueError(f"name = {short_repr(self.name)}: give a text, or None")
        vars(self)["since"] = non_negative("since", self.since)
        for name in ("velocity", "angular_velocity", "surface_velocity", "surface_angular_velocity"):
            self._set(name, finite_array(name, getattr(self, name), (3,), limit=LARGEST))
        center = reference if self.center is None else self.center
        if isinstance(self.motion, Driven) and self.motion.turns:
            self._check_turning(self.motion.axis, f"it is not along the axis of {self.motion}")
            center = self.motion.about or center
        self._set("center", finite_array("center", center, (3,), limit=LARGEST))

    def _check_turning(self, axis, remedy):
        """Refuse rotations about another direction than `axis` (3,)."""
        for name, vector in self.rotations.items():
            if np.any(np.abs(np.cross(vector, axis)) > 1e-12 * np.linalg.norm(vector)):
                raise ValueError(f"{name} = {list(vector)}: {remedy}")

    def _set(self, name, array):
        """Store an array as a tuple, so that walls compare by value."""
        object.__setattr__(self, name, tuple(array.tolist()))

    @property
    def rotations(self):
        """Vectors (3,) along the axes of its rotations about `center`, by the names of the arguments."""
        driven = {"axis": self.motion.axis} if isinstance(self.motion, Driven) and self.motion.turns else {}
        return driven | {name: getattr(self, name) for name in ("angular_velocity", "surface_angular_velocity")
                         if any(getattr(self, name))}

    @property
    def stays(self):
        """Whether it remains where it is, though its surface may move."""
        return self.motion is None and not any(self.velocity) and not any(self.angular_velocity)

    @property
    def moves(self):
        """Whether a motion is given, of the wall or of its surface."""
        return not self.stays or any(self.surface_velocity) or any(self.surface_angular_velocity)


@dataclass(frozen=True, repr=False)
class Carrier(Wall):
    """A wall that nothing touches. `Simulation.set_motion` makes it of a motion, and joins clumps to it.

    Parameters
    ----------
    center : (3,) array_like
        Centre of rotation at time 0, lab frame [m]. It may turn about any axis.
    material, velocity, angular_velocity, motion, name
        As of `Plane`.
    """

    center: tuple = field()             # without the default that `Wall` has

    axis = ZERO

    def __post_init__(self):
        self._check_motion(self.center)

    def limits(self):
        return Limits(along=True)

    def mapped(self, moved, factor=1.0, **changes):
        return replace(self, **{"center": moved(self.center)} | changes)

    def uneven(self, axes):
        return np.zeros_like(axes), ""


def with_names(text, walls):
    """A message in which `wall 2` is `wall 2 ('floor')`, where a wall has a name."""
    def named(found):
        name = walls[int(found[1])].name if int(found[1]) < len(walls) else None
        return found[0] if name is None else f"{found[0]} ({name!r})"

    return re.sub(r"\bwall (\d+)\b", named, text)


def region_axis(axis):
    """x, y or z of a direction (3,) along an axis, for a region of LAMMPS; None for another direction."""
    return "xyz"[np.argmax(np.abs(axis))] if max(np.abs(axis)) == 1.0 else None
