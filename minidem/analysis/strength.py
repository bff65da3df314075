"""Strengths of grains, and which of them break under their contacts."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minidem.analysis.contacts import image_shifts
from minidem.analysis.flow import clump_volumes
from minidem.core.checks import positive, short_repr, whole

MEASURES = "octahedral", "tension", "force"
STEP, MIX = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))        # of splitmix64


def grain_stress(sim, contacts: np.ndarray | None = None) -> np.ndarray:
    """Mean stress in each clump by the forces of its contacts, compression positive.

    Parameters
    ----------
    sim : Simulation
    contacts : structured array (n,), optional
        The result of ``sim.contacts()`` at this instant, if available.

    Returns
    -------
    (n_clumps, 3, 3) ndarray
        Minus the sum of force times arm over the volume [Pa], lab frame, the symmetric part; the arm is the vector from
        the centre of mass to the contact. The volume is that of the union of the spheres.

    References
    ----------
    J. Christoffersen, M. M. Mehrabadi, S. Nemat-Nasser, J. Appl. Mech. 48, 339 (1981), doi 10.1115/1.3157619.
    """
    found = sim.contacts() if contacts is None else contacts
    position, stress = np.asarray(sim.position), np.zeros((sim.n_clumps, 3, 3))
    pairs = found["clump_j"] >= 0
    points = found["point"] - image_shifts(sim, found)              # next to the second body
    for clump, point, force in (
            (found["clump_i"], found["point"], found["force"]),
            (found["clump_j"][pairs], points[pairs], -found["force"][pairs])):
        np.subtract.at(stress, clump, (point - position[clump])[:, :, None] * force[:, None, :])
    return 0.5 * (stress + stress.swapaxes(1, 2)) / clump_volumes(sim)[:, None, None]


@dataclass(frozen=True)
class Strength:
    """Strengths of grains by Weibull's law, and which grains break now: ``strength(sim)`` returns their ids.

    Each clump has a strength of its own, s (V / V_0)^(-1/m) (-ln P)^(1/m). V is its volume, and its probability of
    survival P follows from the seed and its id: it is the same in each call, after a restart, and for any order.

    Parameters
    ----------
    strength : float
        s [Pa], which 37 % (1/e) of the clumps of the volume V_0 survive.
    modulus : float
        m: the larger, the less strengths differ.
    volume : float
        V_0 [m3].
    measure : {"octahedral", "tension", "force"}
        What is compared with the strength: octahedral shear stress (0.9 F / d^2 of a sphere between two plates) or
        largest tensile principal stress of the mean stress (`grain_stress`), or the largest force of a contact over
        d^2, with the diameter d of the sphere of equal volume.
    seed : int

    Raises
    ------
    ValueError
        For an argument out of range.

    References
    ----------
    Octahedral: G. R. McDowell & J. P. de Bono, Géotechnique 63, 895 (2013), doi 10.1680/geot.12.P.041. Comparison of
    measures: J. P. de Bono & G. R. McDowell, Géotechnique 66, 1014 (2016), doi 10.1680/jgeot.15.P.280. F / d^2: J. C.
    Jaeger, Int. J. Rock Mech. Min. Sci. 4, 219 (1967), doi 10.1016/0148-9062(67)90046-0.
    """

    strength: float
    modulus: float
    volume: float
    measure: str = "octahedral"
    seed: int = 0

    def __post_init__(self):
        for name in "strength", "modulus", "volume":
            vars(self)[name] = positive(name, getattr(self, name))
        if self.measure not in MEASURES:
            raise ValueError(f"measure = {short_repr(self.measure)}: give one of {', '.join(map(repr, MEASURES))}")
        whole("seed", self.seed, 0)

    def of(self, sim) -> np.ndarray:
        """(n_clumps,) strengths of the clumps of a simulation [Pa]."""
        volume = clump_volumes(sim) / self.volume
        return self.strength * (-np.log(survival(sim.ids, self.seed)) / volume) ** (1.0 / self.modulus)

    def stress(self, sim, contacts: np.ndarray | None = None) -> np.ndarray:
        """(n_clumps,) stresses of the clumps by `measure` [Pa]; contacts : of the simulation, if available."""
        found = sim.contacts() if contacts is None else contacts
        if self.measure == "force":
            largest, force = np.zeros(sim.n_clumps), np.linalg.norm(found["force"], axis=1)
            pairs = found["clump_j"] >= 0
            np.maximum.at(largest, found["clump_i"], force)
            np.maximum.at(largest, found["clump_j"][pairs], force[pairs])
            return largest / (6.0 / np.pi * clump_volumes(sim)) ** (2.0 / 3.0)
        stress = grain_stress(sim, found)
        if self.measure == "tension":
            return np.maximum(-np.linalg.eigvalsh(stress)[:, 0], 0.0)
        normal = np.diagonal(stress, axis1=1, axis2=2)
        differences, shear = normal - np.roll(normal, 1, axis=1), stress[:, [0, 1, 2], [1, 2, 0]]
        return np.sqrt(np.sum(differences ** 2 + 6.0 * shear ** 2, axis=1)) / 3.0

    def __call__(self, sim, contacts: np.ndarray | None = None) -> np.ndarray:
        """Ids of the clumps whose stress is above their strength; contacts : of the simulation, if available."""
        return np.array(sim.ids[self.stress(sim, contacts) > self.of(sim)])


def survival(ids, seed):
    """(n,) numbers between 0 and 1, one for each id: G. L. Steele et al., OOPSLA 2014, doi 10.1145/2660193.2660195."""
    start, = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    value = start + (np.asarray(ids).astype(np.uint64) + np.uint64(1)) * np.uint64(STEP)        # modulo 2^64
    for shift, factor in MIX:
        value = (value ^ (value >> np.uint64(shift))) * np.uint64(factor)
    value ^= value >> np.uint64(31)
    return ((value >> np.uint64(11)) + 0.5) * 2.0 ** -53
