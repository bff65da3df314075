"""Energies and momenta at the whole step, and the error and drift of the total energy over the rows of a table.

Sums run over clumps in the user's order, so that they do not depend on the order in memory.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

DISSIPATED = tuple(f"dissipated_{kind}" for kind in ("damping", "tangential", "sliding", "rolling", "fracture"))
LEAST_FREE_ROWS, LEAST_FREE_SHARE = 10, 0.1     # rows without contacts that suffice for the lasting error


@dataclass(frozen=True)
class Energy:
    """Energies of all clumps at one instant [J].

    Attributes
    ----------
    translational, rotational : float
        Kinetic energies; in a periodic box that moves, translational of the velocities relative to its flow. Of clumps
        that are held, what forces can change: along free axes, of rotations by torques, at a pin of that about it.
    elastic : float
        Energy stored in all contacts by normal forces.
    potential : float
        Energy in the field of gravity, zero at the origin.
    shadow : float or None
        Terms of order dt^2 of the shadow Hamiltonian of the leapfrog, 0 without contacts; None unless requested by
        ``sim.energy(shadow=True)``. `total` and `balance` do not contain it.
    elastic_tangential, elastic_rolling : float
        Energies of the springs of friction and of rolling resistance.
    dissipated_damping, dissipated_tangential, dissipated_sliding, dissipated_rolling, dissipated_fracture : float
        Energies dissipated since the start by normal damping and dashpots of bonds, tangential damping, sliding,
        rolling resistance, and bonds that broke.
    work : float
        Work of user forces, moving walls, clumps that move as no force changes it, and a moving periodic box since the
        start. The work of the box is the integral of
        - volume * stress : velocity gradient, with the kinetic part of the stress, tension positive.
    exchanged : float
        Energy of the clumps added since the first step minus energy of the clumps removed, contacts included.
    breakage : float
        Energy of the fragments that have replaced clumps since the first step minus energy of these, contacts included.
    kinetic, total, dissipated : float
        translational + rotational; that with elastic + potential; sum of the five kinds.
    balance : float
        total + elastic_tangential + elastic_rolling + dissipated - work - exchanged - breakage: constant except for
        errors of integration. What was dissipated at removed clumps, and the work on them, remain.
    lasting : float
        total + shadow: the total energy without its oscillation in contacts, of order dt^2. Its change since the
        start is the error of the integration. Needs ``sim.energy(shadow=True)``.
    """

    translational: float
    rotational: float
    elastic: float
    potential: float
    shadow: float | None = None
    elastic_tangential: float = 0.0
    elastic_rolling: float = 0.0
    dissipated_damping: float = 0.0
    dissipated_tangential: float = 0.0
    dissipated_sliding: float = 0.0
    dissipated_rolling: float = 0.0
    dissipated_fracture: float = 0.0
    work: float = 0.0
    exchanged: float = 0.0
    breakage: float = 0.0

    def __repr__(self):
        shown = [*(each.name for each in fields(self)), "kinetic", "dissipated", "total", "balance"]
        return f"Energy({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def kinetic(self) -> float:
        return self.translational + self.rotational

    @property
    def total(self) -> float:
        return self.translational + self.rotational + self.elastic + self.potential

    @property
    def dissipated(self) -> float:
        return sum(getattr(self, name) for name in DISSIPATED)

    @property
    def balance(self) -> float:
        return (self.total + self.elastic_tangential + self.elastic_rolling + self.dissipated - self.work
                - self.exchanged - self.breakage)

    @property
    def lasting(self) -> float:
        if self.shadow is None:
            raise ValueError("shadow = None: the terms were not computed; use sim.energy(shadow=True)")
        return self.total + self.shadow


def flow_energy(reader):
    """Kinetic energy of a `Reader` relative to the flow of its box, minus that in unbounded space [J]; 0 without flow.

    The ledger has the work on velocities in unbounded space.
    """
    if reader.box is None or not reader.box.moves:
        return 0.0
    flow, mass = reader.box.flow(reader.column("position")), reader.column("mass")
    return float(np.sum(mass * np.sum((0.5 * flow - reader.rates()[0]) * flow, axis=1)))


def measure(reader, contacts=None, shadow=None):
    """Energy of the clumps of a `Reader`; contacts : of it, if available."""
    contacts = reader.contacts() if contacts is None else contacts
    population, ledger, position = reader.population, reader.ledger(), reader.column("position")
    work = [reader.column("force_work")[:, 0]] if reader.has_column("force_work") else []
    work += [ledger["wall_work"][0]] if "wall_work" in ledger else []
    (velocity, body_rate), mass = reader.rates(), reader.column("mass")
    if reader.box is not None and reader.box.moves:
        velocity = velocity - reader.box.flow(position)
    lost = np.sum(ledger.get("dissipated", np.zeros((len(DISSIPATED), 1))), axis=1)
    translation, rotation, weight = reader.motion_factors()
    gravity = np.array([reader.gravity]).repeat(len(mass), axis=0)      # whole: NumPy may crash where it broadcasts
    return Energy(translational=float(0.5 * np.sum(mass * np.sum(translation * velocity ** 2, axis=1))),
                  rotational=float(0.5 * np.sum(np.sum(rotation * reader.column("inertia") * body_rate ** 2, axis=1))),
                  elastic=float(np.sum(contacts["energy"])),
                  potential=float(-np.sum(weight * mass.repeat(3).reshape(-1, 3) * gravity * position)) + 0.0,
                  shadow=shadow, elastic_tangential=float(np.sum(contacts["energy_tangential"])),
                  elastic_rolling=float(np.sum(contacts["energy_rolling"])),
                  work=population.work + flow_energy(reader) + sum(float(np.sum(of_clumps)) for of_clumps in work),
                  exchanged=population.exchanged, breakage=population.breakage,
                  **dict(zip(DISSIPATED, lost.tolist())))


def energy_scale(table: Mapping[str, np.ndarray]) -> tuple[float | None, str | None]:
    """Divisor of the energy errors of a run [J], and its name in summary.json: "energy_initial" or "kinetic_max".

    With potential energy the zero of the total energy is arbitrary, and at rest the initial energy may be 0: then the
    largest kinetic energy replaces it. (None, None) while all kinetic energies are 0. `table`: columns of energy.csv,
    arrays (rows,) [J] by name.
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


def lasting_energy_error(table: Mapping[str, np.ndarray], contacts: np.ndarray) -> tuple[float | None, str | None]:
    """Relative energy error without the bounded oscillation in contacts, and the rows it is taken from.

    max |E - E_first| / scale; E is the total energy in the rows without any contact, "contact-free", if these are at
    least a tenth of the rows and ten, otherwise the lasting energy in all rows, "shadow". E_first is the energy of
    the first such row. (None, None) without a scale. `table`: see `energy_scale`;  contacts : (rows,) their numbers.
    """
    scale, _ = energy_scale(table)
    free = np.asarray(contacts) == 0
    enough = np.count_nonzero(free) >= max(LEAST_FREE_ROWS, LEAST_FREE_SHARE * len(free))
    energy = table["total"][free] if enough else table["lasting"]
    if scale is None or np.isnan(energy).any():         # a law without a shadow energy
        return None, None
    return np.max(np.abs(energy - energy[0])) / scale, "contact-free" if enough else "shadow"


def energy_drift(table: Mapping[str, np.ndarray]) -> float | None:
    """(mean energy of the last tenth of the rows - mean of the first tenth) / scale; None without a scale."""
    scale, _ = energy_scale(table)
    total = table["total"]
    tenth = -(-len(total) // 10)
    return None if scale is None else (np.mean(total[-tenth:]) - np.mean(total[:tenth])) / scale


def energy_input(table: Mapping[str, np.ndarray]) -> float:
    """Energy put in during a run, the scale of `balance_error` [J]: the largest sum over the rows of the kinetic and
    elastic energy of the first row, the drop of the potential energy since then, work, and the energy of added clumps
    and of fragments.
    """
    first = table["translational"][0] + table["rotational"][0] + table["elastic"][0]
    supplied = table["work"] + table["exchanged"] + table["breakage"]
    return first + np.max(table["potential"][0] - table["potential"] + supplied, initial=0.0)


def balance_error(table: Mapping[str, np.ndarray]) -> float | None:
    """max |balance - first balance| / `energy_input` over the rows; None if no energy was put in."""
    scale, balance = energy_input(table), table["balance"]
    return np.max(np.abs(balance - balance[0])) / scale if scale > 0.0 else None
