"""Infinite cylinders."""
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from minidem.core.checks import flag, positive
from minidem.walls.wall import Limits, Wall, region_axis


@dataclass(frozen=True, repr=False)
class Cylinder(Wall):
    """An infinite cylinder around the clumps, or with `outside` among them.

    The contact law takes the wall as flat: the effective radius of a contact is the radius of the sphere.

    Parameters
    ----------
    point : (3,) array_like
        Any point of the axis, lab frame [m].
    axis : (3,) array_like
        Direction of the axis, lab frame, of any length but zero; it is normalised.
    radius : float
        [m]
    outside : bool
        The clumps are outside.
    material, velocity, angular_velocity, center, motion, surface_velocity, surface_angular_velocity, name
        As of `Plane`. A cylinder turns about its own axis, on which the centre of rotation is.

    Raises
    ------
    ValueError
        For an argument out of range, or a rotation about another axis, which needs a `MeshWall`.
    """

    point: tuple
    axis: tuple
    radius: float
    _: KW_ONLY
    outside: bool = False

    def __post_init__(self):
        self._check_place("axis", "give a direction")
        vars(self).update(radius=positive("radius", self.radius), outside=flag("outside", self.outside))
        self._check_turning(self.axis, f"a Cylinder turns about its axis {list(self.axis)} only; give a MeshWall for "
                            "another rotation")
        arm = np.cross(np.subtract(self.center, self.point), self.axis)
        if self.rotations and np.any(np.abs(arm) > 1e-12 * (self.radius + np.abs(self.point).max())):
            raise ValueError(f"center = {list(self.center)}: a Cylinder turns about its own axis only; give a point of "
                             "its axis, or a MeshWall")

    @property
    def encloses(self):
        return not self.outside

    def primitives(self):
        return [{"kind": "cylinder", "point": self.point, "axis": self.axis,
                 "numbers": (self.radius, -1.0 if self.outside else 1.0)}]

    def limits(self):
        return Limits(self.axis, arm=tuple(np.subtract(self.point, self.center)), radius=self.radius)

    def mapped(self, moved, factor=1.0, **changes):
        return replace(self, point=moved(self.point), radius=factor * self.radius, **changes)

    def distance(self, points):
        if self.outside:
            return None
        return self.radius - np.linalg.norm(np.cross(points - self.point, self.axis), axis=1)

    def uneven(self, axes):
        return axes & (np.abs(self.axis) != 1.0), "give a cylinder along it"

    def without_images(self, length, turns=None):
        across = np.where(self.uneven(length > 0.0)[0], length, np.inf).min()
        if across == np.inf:
            return None
        if self.encloses:
            return "it is around the clumps, and its images would be, too; give open axes across it, or outside=True"
        if max(np.abs(self.axis)) != 1.0:
            return f"it leaves the periodic box along its axis {list(self.axis)}; give an axis along x, y or z"
        if self.radius > 0.25 * across:
            return f"radius = {self.radius:g} m is more than a quarter of the box, {across:g} m; take a longer box"
        return None

    def profile(self, reach):
        return reach and [(end, self.radius) for end in reach]

    def region(self, ends=("INF", "INF")):
        axis = region_axis(self.axis)
        if axis is None or self.outside:
            return None
        across = " ".join(f"{x:.17g}" for x, name in zip(self.point, "xyz") if name != axis)
        return f"cylinder {axis} {across} {self.radius:.17g} {' '.join(map(str, ends))} units box"
