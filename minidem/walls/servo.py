"""Walls that a force moves."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import non_negative, number, positive, unit_vector


@dataclass(frozen=True)
class Servo:
    """A motion under a constant force, which the clumps balance in the end: a pressure or a force is held.

    The wall moves along a line, with mass * acceleration = force + force of the clumps - damping * velocity, integrated
    by leapfrog. It starts at rest.

    Parameters
    ----------
    direction : (3,) array_like
        Of the line and the force, lab frame, of any length but zero.
    force : float
        [N]; for a pressure, that times the area.
    mass : float
        Of the wall [kg]. The lighter, the faster it answers; sqrt(mass / stiffness of all its contacts) must be above
        the time step.
    damping : float
        [N s/m]

    Raises
    ------
    ValueError
        For an argument out of range.
    """

    direction: ArrayLike
    force: float
    mass: float
    damping: float = 0.0

    def __post_init__(self):
        direction = unit_vector("direction", self.direction, "give the direction of the force")
        vars(self).update(direction=tuple(direction.tolist()), force=number("force", self.force),
                          mass=positive("mass", self.mass), damping=non_negative("damping", self.damping))

    def accelerated(self, velocity: float, of_clumps: ArrayLike, dt: float) -> float:
        """The velocity half a step later, from that half a step earlier [m/s]; of_clumps (3,) : their force [N]."""
        force = self.force + sum(f * d for f, d in zip(np.asarray(of_clumps).tolist(), self.direction))
        drag = 0.5 * dt * self.damping / self.mass
        return ((1.0 - drag) * velocity + dt / self.mass * force) / (1.0 + drag)
