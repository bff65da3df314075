"""Cones between two circles: hoppers, funnels, tubes, rings."""
from dataclasses import dataclass, replace

import numpy as np

from minidem.core.checks import LARGEST, finite_array, non_negative, refuse
from minidem.walls.cone_surface import TOUCH
from minidem.walls.wall import Limits, Wall, region_axis


@dataclass(frozen=True, repr=False)
class Cone(Wall):
    """The surface of a cone between two circles, open at both ends. Spheres touch it from both sides.

    With equal radii it is a tube, without height a flat ring, with a radius of 0 it has an apex. A sphere touches the
    nearest point of the surface, and that beyond the axis as well where it reaches there, as at the bottom of a funnel.
    The contact law takes the wall as flat: the effective radius of a contact is the radius of the sphere.

    Parameters
    ----------
    point : (3,) array_like
        Centre of the first circle, lab frame [m].
    axis : (3,) array_like
        Direction to the centre of the second circle, lab frame, of any length but zero; it is normalised.
    radii : (2,) array_like
        Of the two circles [m].
    height : float
        Distance of the two centres [m].
    material, velocity, angular_velocity, center, motion, surface_velocity, surface_angular_velocity, name
        As of `Plane`. A cone may turn about any axis.

    Raises
    ------
    ValueError
        For an argument out of range, or a surface without area.
    """

    point: tuple
    axis: tuple
    radii: tuple
    height: float

    def __post_init__(self):
        self._check_place("axis", "give a direction")
        radii = finite_array("radii", self.radii, (2,), limit=LARGEST)
        refuse("radii", radii, radii < 0.0, "give radii of 0 or more")
        self._set("radii", radii)
        object.__setattr__(self, "height", non_negative("height", self.height))
        if max(radii) == 0.0 or self.height == 0.0 and radii[0] == radii[1]:
            raise ValueError(f"radii = {list(self.radii)}, height = {self.height}: a surface without area; give a "
                             "height and a radius above 0, or two radii")

    def primitives(self):
        """Two: the nearer side and that beyond the axis, of which both can touch a sphere."""
        across = np.cross(self.axis, np.eye(3)[np.argmin(np.abs(self.axis))])
        rise = np.array([self.radii[1] - self.radii[0], self.height])
        length = np.sqrt((rise * rise).sum())
        numbers = (*self.radii, *(rise / length), length, *(across / np.sqrt((across * across).sum())))
        return [{"kind": "other", "touch": TOUCH, "point": self.point, "axis": self.axis, "height": self.height,
                 "numbers": (*numbers, side)} for side in (1.0, -1.0)]

    def limits(self):
        ends = np.array([np.subtract(self.point, self.center) + h * np.array(self.axis) for h in (0.0, self.height)])
        return Limits(extent=(np.sqrt((ends * ends).sum(axis=1)) + self.radii).max())

    def without_images(self, length, turns=None):
        size, shortest = np.hypot(0.5 * self.height, max(self.radii)), length[length > 0.0].min(initial=np.inf)
        if size <= 0.25 * shortest:
            return None
        return (f"it reaches {size:g} m from its middle, more than a quarter of the box, {shortest:g} m; take a longer "
                "box")

    def mapped(self, moved, factor=1.0, **changes):
        point = moved(self.point)
        return replace(self, point=point, axis=moved(np.add(self.point, self.axis)) - point,
                       radii=tuple(factor * r for r in self.radii), height=factor * self.height, **changes)

    def profile(self, reach):
        return [(0.0, self.radii[0]), (self.height, self.radii[1])]

    def region(self, ends=()):
        axis = region_axis(self.axis)
        if axis is None or self.height == 0.0:
            return None
        k = "xyz".index(axis)
        across = " ".join(f"{x:.17g}" for x in np.delete(self.point, k))
        circles = sorted([(self.point[k], self.radii[0]), (self.point[k] + self.axis[k] * self.height, self.radii[1])])
        (low, first), (high, last) = circles
        return f"cone {axis} {across} {first:.17g} {last:.17g} {low:.17g} {high:.17g} open 1 open 2 units box"
