"""Fixed walls: infinite planes, and boxes of six planes."""
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import LARGEST, finite_array, list_of, refuse, short_repr
from minidem.material import Material


@dataclass(frozen=True)
class Plane:
    """An infinite plane; its normal points to the side of the clumps.

    Planes compare by value: point and normal are stored as tuples of three floats.

    Parameters
    ----------
    point : (3,) array_like
        Any point of the plane, lab frame [m].
    normal : (3,) array_like
        Direction towards the clumps, lab frame, of any length but zero; it is normalised.
    material : Material, optional
        Material of the plane; default: that of the simulation.

    Raises
    ------
    ValueError
        A wrong shape, a number that is not finite, or a zero normal.
    """

    point: tuple
    normal: tuple
    material: Material | None = None

    def __post_init__(self):
        point = finite_array("point", self.point, (3,), limit=LARGEST)
        normal = finite_array("normal", self.normal, (3,))
        largest = np.abs(normal).max()
        if largest == 0.0:
            raise ValueError(f"normal = {normal}: give a direction, towards the side of the clumps")
        if self.material is not None and not isinstance(self.material, Material):
            raise ValueError(f"material = {short_repr(self.material)}: give a Material, or None for the simulation's")
        normal /= largest           # first, so that no square overflows or underflows
        normal /= np.sqrt((normal * normal).sum())
        object.__setattr__(self, "point", tuple(point.tolist()))
        object.__setattr__(self, "normal", tuple(normal.tolist()))


def plane_list(name, walls):
    """Return `walls` as a list of planes, empty for None; raise ValueError for anything else."""
    return list_of(Plane, name, walls, ", or minidem.box(low, high)")


def plane_arrays(walls):
    """Points and normals of planes, both (n, 3)."""
    return tuple(np.array([getattr(wall, name) for wall in walls]).reshape(-1, 3) for name in ("point", "normal"))


def box(low: ArrayLike, high: ArrayLike, material: Material | None = None) -> list[Plane]:
    """The six planes of an axis-aligned box around the clumps.

    Parameters
    ----------
    low, high : (3,) array_like
        Opposite corners, lab frame [m]; low < high in every component.
    material : Material, optional
        Material of all six planes; default: that of the simulation.

    Returns
    -------
    list of Plane
        In the order low x, high x, low y, high y, low z, high z.
    """
    low, high = (finite_array(name, corner, (3,), limit=LARGEST) for name, corner in (("low", low), ("high", high)))
    refuse("high", high, high <= low, f"give high above low = {low.tolist()} in every component")
    inward = np.eye(3)
    return [Plane(corner, sign * inward[axis], material)
            for axis in range(3) for corner, sign in ((low, 1.0), (high, -1.0))]
