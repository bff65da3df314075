"""Energies and momenta at the whole step. Sums run over clumps in the user's order."""
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Energy:
    """Energies of all clumps at one instant [J]; `potential` is that of gravity, zero at the origin."""

    translational: float
    rotational: float
    elastic: float
    potential: float

    @property
    def kinetic(self):
        return self.translational + self.rotational

    @property
    def total(self):
        return self.translational + self.rotational + self.elastic + self.potential


def measure(mass, inertia, position, velocity, body_rate, elastic, gravity):
    """Energy of clumps: mass (n,), principal inertia (n, 3), position and velocity (n, 3) lab,
    body_rate (n, 3) angular velocity in the principal frame, elastic (k,) energy of each contact."""
    weight = mass[:, None] * np.asarray(gravity)
    return Energy(translational=float(0.5 * np.sum(mass * np.sum(velocity ** 2, axis=1))),
                  rotational=float(0.5 * np.sum(np.sum(inertia * body_rate ** 2, axis=1))),
                  elastic=float(np.sum(elastic)),
                  potential=float(-np.sum(weight * position)) + 0.0)


def linear_momentum(mass, velocity):
    """(3,) [kg m/s]"""
    return np.sum(mass[:, None] * velocity, axis=0)


def angular_momentum(mass, position, velocity, spin, about):
    """(3,) about a point of the lab [kg m2/s]; spin (n, 3): each clump's I w in the lab frame."""
    return np.sum(np.cross(position - about, mass[:, None] * velocity) + spin, axis=0)
