"""Infinite cylinders."""
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from minidem.core.checks import LARGEST, finite_array, flag, positive, unit_vector
from minidem.material import Material
from minidem.walls.wall import Wall


@dataclass(frozen=True)
class Cylinder(Wall):
    """An infinite cylinder around the clumps, or with `outside` among them.

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
    material : Material, optional
        Default: that of the simulation.
    velocity : (3,) array_like
        Lab frame [m/s].
    angular_velocity : (3,) array_like
        Lab frame [rad/s], along the axis.
    center : (3,) array_like, optional
        A point of the axis of rotation at time 0, lab frame [m], on the axis of the cylinder; default: `point`.
    motion : callable, optional
        As of `Plane`.

    Raises
    ------
    ValueError
        For an argument out of range, or a rotation about another axis, which needs a `MeshWall`.

    Notes
    -----
    The contact law takes the wall as flat: the effective radius of a contact is that of the sphere.
    """

    point: tuple
    axis: tuple
    radius: float
    outside: bool = False
    material: Material | None = None
    velocity: tuple = (0.0, 0.0, 0.0)
    angular_velocity: tuple = (0.0, 0.0, 0.0)
    center: tuple | None = None
    motion: Callable | None = None

    def __post_init__(self):
        self._set("point", finite_array("point", self.point, (3,), limit=LARGEST))
        self._set("axis", unit_vector("axis", self.axis, "give a direction"))
        object.__setattr__(self, "radius", positive("radius", self.radius))
        object.__setattr__(self, "outside", flag("outside", self.outside))
        self._check_motion(self.point)
        rate = np.linalg.norm(self.angular_velocity)
        if np.any(np.abs(np.cross(self.angular_velocity, self.axis)) > 1e-12 * rate):
            raise ValueError(f"angular_velocity = {list(self.angular_velocity)}: a Cylinder turns about its axis "
                             f"{list(self.axis)} only; give a MeshWall for another rotation")
        arm = np.cross(np.subtract(self.center, self.point), self.axis)
        if rate > 0.0 and np.any(np.abs(arm) > 1e-12 * (self.radius + np.abs(self.point).max())):
            raise ValueError(f"center = {list(self.center)}: a Cylinder turns about its own axis only; give a point of "
                             "its axis, or a MeshWall")
