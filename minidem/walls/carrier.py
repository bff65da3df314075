"""Walls without a surface, for clumps that move with them."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from minidem.material import Material
from minidem.walls.wall import ZERO, Limits, Wall


@dataclass(frozen=True)
class Carrier(Wall):
    """A wall that nothing touches. `Simulation.set_motion` makes it of a motion, and joins clumps to it.

    Parameters
    ----------
    center : (3,) array_like
        Centre of rotation at time 0, lab frame [m].
    material, velocity, angular_velocity, motion, name
        As of `Plane`. A carrier may turn about any axis.
    """

    center: tuple
    material: Material | None = None
    velocity: tuple = ZERO
    angular_velocity: tuple = ZERO
    motion: Callable | None = None

    axis = ZERO

    def __post_init__(self):
        self._check_motion(self.center)

    def limits(self):
        return Limits(along=True)

    def mapped(self, moved, factor=1.0, **changes):
        return replace(self, **{"center": moved(self.center)} | changes)

    def uneven(self, axes):
        return np.zeros_like(axes), ""
