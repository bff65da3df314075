"""Fixed walls: infinite planes, and the box made of six of them."""

from dataclasses import dataclass

import numpy as np

from minidem.core.checks import LARGEST, finite_array, refuse, shown
from minidem.material import Material


@dataclass(frozen=True)
class Plane:
    """An infinite plane; clumps live on the side to which its normal points.

    Args:
        point: any point of the plane, (3,), lab frame [m].
        normal: (3,), lab frame, any length but zero; kept with unit length.
        material: its own material, or None for that of the clumps.

    Point and normal are kept as tuples of three floats, so that planes compare by value. Raises
    ValueError for a wrong shape, a number that is not finite or a zero normal.
    """

    point: tuple
    normal: tuple
    material: Material | None = None

    def __post_init__(self):
        point = finite_array("point", self.point, (3,), limit=LARGEST)
        normal = finite_array("normal", self.normal, (3,))
        largest = np.abs(normal).max()
        if largest == 0.0:
            raise ValueError(f"normal = {normal}: give a direction, the side where clumps live")
        if self.material is not None and not isinstance(self.material, Material):
            raise ValueError(f"material = {shown(self.material)}: give a Material, or None for that of the clumps")
        normal /= largest           # first, so that no square overflows or underflows
        normal /= np.sqrt((normal * normal).sum())
        object.__setattr__(self, "point", tuple(point.tolist()))
        object.__setattr__(self, "normal", tuple(normal.tolist()))


def plane_list(name, walls):
    """`walls` as a list of planes; None is no wall. ValueError for anything else."""
    if walls is not None and not isinstance(walls, (list, tuple)):
        raise ValueError(f"{name} = {shown(walls)}: give a list of minidem.Plane, or minidem.box(low, high)")
    for k, wall in enumerate(walls or []):
        if not isinstance(wall, Plane):
            raise ValueError(f"{name}[{k}] = {shown(wall)}: give minidem.Plane objects, or minidem.box(low, high)")
    return list(walls or [])


def box(low, high, material=None):
    """The six planes of a box that stands along the axes of the lab, clumps inside.

    Args:
        low, high: opposite corners, (3,) each [m]; low < high in every component.
        material: of all six, or None for that of the clumps.

    Returns a list of `Plane` in the order low x, high x, low y, high y, low z, high z.
    """
    low, high = (finite_array(name, corner, (3,), limit=LARGEST) for name, corner in (("low", low), ("high", high)))
    refuse("high", high, high <= low, f"give high above low = {low.tolist()} in every component")
    inward = np.eye(3)
    return [Plane(corner, sign * inward[axis], material)
            for axis in range(3) for corner, sign in ((low, 1.0), (high, -1.0))]
