"""Infinite planes, and boxes of six planes."""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import corners, short_repr
from minidem.material import Material
from minidem.walls.wall import Limits, Wall


@dataclass(frozen=True, repr=False)
class Plane(Wall):
    """An infinite plane; its normal points to the side of the clumps.

    Planes compare by value: point and normal are stored as tuples of three floats.

    Parameters
    ----------
    point : (3,) array_like
        Any point of the plane, lab frame [m].
    normal : (3,) array_like
        Direction towards the clumps, lab frame, of any length but zero; it is normalised.
    material : Material, optional
        Default: the material of the simulation.
    velocity : (3,) array_like
        Lab frame [m/s]. A component within the plane moves its surface, as of a conveyor belt.
    angular_velocity : (3,) array_like
        Lab frame [rad/s], along the normal: the plane turns within itself. A plate that tilts is a `MeshWall`.
    center : (3,) array_like, optional
        A point of the axis of rotation at time 0, lab frame [m]; default: `point`.
    motion : callable, optional
        An `Oscillation`, a `Servo`, a `Driven`, or a function of the time [s] that returns the displacement (3,) [m]
        and the rotation vector (3,) [rad] since time 0, in addition to the motion by the velocities. It is also called
        for times up to a step before 0 and after the end of a run.
    surface_velocity, surface_angular_velocity : (3,) array_like
        Velocity [m/s], and angular velocity about `center` [rad/s], of the surface along itself, while the wall stays:
        belts, rollers, turntables. They turn with the wall; components along the normal of a contact do not count.
    name : str, optional
        By which `Simulation.walls.move`, `sim.walls.remove`, `sim.walls.force` and others find the wall.

    Raises
    ------
    ValueError
        A wrong shape, a number that is not finite, a zero normal, or an angular velocity across the normal.
    """

    point: tuple
    normal: tuple

    def __post_init__(self):
        self._check_place("normal", "give a direction, towards the side of the clumps")
        self._check_turning(self.normal, "a Plane turns about its normal only; give a MeshWall for a plate that tilts")

    @property
    def half_space(self):
        return self.point, self.normal

    def primitives(self):
        return [{"kind": "plane", "point": self.point, "axis": self.normal}]

    def limits(self):
        return Limits(self.normal, along=True)

    def mapped(self, moved, factor=1.0, **changes):
        return replace(self, point=moved(self.point), **changes)

    def distance(self, points):
        return (points - self.point) @ self.normal

    def uneven(self, axes):
        if self.rotations:
            return axes, "a plane that turns needs open axes"
        return axes & (np.array(self.normal) != 0.0), "set this component of its normal to 0"

    def without_images(self, length, turns=None):
        if turns is not None:
            return "a plane that turns needs open axes, without periodic ones"
        uneven, remedy = self.uneven(length > 0.0)
        if not uneven.any():
            return None
        return f"it is not the same along the periodic axis {'xyz'[np.argmax(uneven)]}; {remedy}"

    def region(self, ends=("INF", "INF")):
        if self.face():
            return None                                 # is no region
        return " ".join(["plane", *(f"{x:.17g}" for x in (*self.point, *self.normal)), "units box"])

    def face(self):
        axis = int(np.argmax(np.abs(self.normal)))
        return (axis, self.normal[axis], self.point[axis]) if abs(self.normal[axis]) == 1.0 else None


def box_walls(low: ArrayLike, high: ArrayLike, *, material: Material | None = None) -> list[Plane]:
    """The six planes of an axis-aligned box around the clumps.

    Parameters
    ----------
    low, high : (3,) array_like
        Opposite corners, lab frame [m]; low < high in every component.
    material : Material, optional
        Of all six planes; default: the material of the simulation.

    Returns
    -------
    list of Plane
        In the order low x, high x, low y, high y, low z, high z.
    """
    low, high = corners(low, high)
    inward = np.eye(3)
    return [Plane(corner, sign * inward[axis], material=material)
            for axis in range(3) for corner, sign in ((low, 1.0), (high, -1.0))]


def require_planes_at_rest(contact, walls):
    """Refuse other walls, for a contact law with onset correction."""
    for k, wall in enumerate(walls):
        if wall.moves or wall.half_space is None:
            raise ValueError(f"walls[{k}] = {short_repr(wall)}: the onset correction of contact = {contact!r} needs "
                             "planes at rest; take onset=plain")
