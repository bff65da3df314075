"""Energies at the whole step, and the error and drift of the total energy over the rows of a table.

Sums run over clumps in the user's order, so that they do not depend on the order in memory.
"""
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Energy:
    """Energies of all clumps at one instant.

    Attributes
    ----------
    translational, rotational : float
        Kinetic energies [J].
    elastic : float
        Energy stored in all contacts [J].
    potential : float
        Energy in the field of gravity, zero at the origin [J].
    kinetic, total : float
        translational + rotational, and the sum of all four [J].
    """

    translational: float
    rotational: float
    elastic: float
    potential: float

    @property
    def kinetic(self) -> float:
        return self.translational + self.rotational

    @property
    def total(self) -> float:
        return self.translational + self.rotational + self.elastic + self.potential


def measure(mass, inertia, position, velocity, body_rate, elastic, gravity):
    """Energy of clumps: mass (n,), principal inertia (n, 3), position and velocity (n, 3) lab,
    body_rate (n, 3) angular velocity in the principal frame, elastic (k,) energy of each contact."""
    weight = mass[:, None] * np.asarray(gravity)
    return Energy(translational=float(0.5 * np.sum(mass * np.sum(velocity ** 2, axis=1))),
                  rotational=float(0.5 * np.sum(np.sum(inertia * body_rate ** 2, axis=1))),
                  elastic=float(np.sum(elastic)),
                  potential=float(-np.sum(weight * position)) + 0.0)


def energy_scale(table: Mapping[str, np.ndarray]) -> tuple[float | None, str | None]:
    """Divisor of the energy errors of a run [J], and its name in summary.json.

    With potential energy the zero of the total energy is arbitrary, and at rest the initial energy may be 0: then the
    largest kinetic energy replaces the initial energy.

    Parameters
    ----------
    table : mapping
        Column names of energy.csv to arrays (rows,) [J].

    Returns
    -------
    (float, str)
        The name is "energy_initial" or "kinetic_max"; (None, None) while all kinetic energies are 0.
    """
    initial, kinetic_max = table["total"][0], np.max(table["translational"] + table["rotational"])
    if initial > 0.0 and not np.any(table["potential"]):
        return initial, "energy_initial"
    return (kinetic_max, "kinetic_max") if kinetic_max > 0.0 else (None, None)


def energy_error(table: Mapping[str, np.ndarray]) -> float | None:
    """max |E - E0| / scale over the rows; None without a scale. `table` and scale: see `energy_scale`."""
    scale, _ = energy_scale(table)
    total = table["total"]
    return None if scale is None else np.max(np.abs(total - total[0])) / scale


def energy_drift(table: Mapping[str, np.ndarray]) -> float | None:
    """(mean energy of the last tenth of the rows - mean of the first tenth) / scale; None without a scale."""
    scale, _ = energy_scale(table)
    total = table["total"]
    tenth = -(-len(total) // 10)
    return None if scale is None else (np.mean(total[-tenth:]) - np.mean(total[:tenth])) / scale
