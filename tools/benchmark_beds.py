"""Settled beds with friction, for the benchmark cases G to K. They are kept in files of results/beds."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import minidem as md
from minidem.initial import kept_bed, settled_bed
from minidem.scenarios import drum

FOLDER = Path("results", "beds")
RADIUS, DENSITY, GRAVITY = 1e-3, 2500.0, (0.0, 0.0, -9.81)
# Material M1 and base of the box of the penetration test of Dosta et al. 2024, doi:10.1016/j.cpc.2023.109066
YOUNG, MATERIAL = 1e9, {"poisson": 0.2, "restitution": 0.5, "friction": 0.3}
LOW, HIGH = np.array([-0.049, -0.03, 0.0]), np.array([0.049, 0.03])
CONTACT = "hertz-mindlin"
SCHEME = "spiral"                       # as in the first versions, so that times can be compared
STEP = 1e-6                             # a tenth of the Rayleigh step


def bed(spheres: int, number: int, fraction: float) -> Callable:
    """Function simulation(seed, clumps) of a bed of `number` clumps.

    Parameters
    ----------
    spheres : int
        Spheres of a clump, touching and in a row.
    number : int
    fraction : float
        Solid volume fraction of the random placement.
    """
    def simulation(seed, clumps):
        template = md.ClumpTemplate([(2.0 * RADIUS * k, 0.0, 0.0) for k in range(spheres)], [RADIUS] * spheres, DENSITY)
        return without_history(kept_bed(
            FOLDER / f"{number}-clumps-{spheres}-spheres-seed-{seed}.npz",
            lambda: settled_bed(template, number, LOW, HIGH, md.Material(YOUNG, **MATERIAL), STEP, contact=CONTACT,
                                fraction=fraction, seed=seed)))
    return simulation


def without_history(sim, rotation=SCHEME, contact=CONTACT):
    """New simulation of the same clumps, on one thread; its contacts have no history, as in other programs."""
    new = md.Simulation(sim.material, walls=sim.walls, rotation=rotation, contact=contact, dt=sim.dt,
                        gravity=sim.gravity, pairs=sim.pairs, threads=1)
    for k, template in enumerate(sim.templates):
        mine = sim.template_index == k
        new.add_clumps(template, sim.position[mine], sim.orientation[mine], velocity=sim.velocity[mine],
                       angular_velocity=sim.angular_velocity[mine],
                       material=sim.materials[sim.material_index[mine][0]])
    return new


def drums(copies: int) -> Callable:
    """Function simulation(seed, clumps) of `copies` of the bed of drum.py --soft side by side in one long drum."""
    def simulation(seed, clumps):
        one = drum.build(drum.SCENARIO.parse(["--soft", "--seed", str(seed), "--threads", "1"]))
        walls = drum.walls(copies * drum.LENGTH, drum.RATE, one.walls[0].material)
        sim = md.Simulation(one.material, walls, rotation=SCHEME, contact=CONTACT, dt=one.dt, gravity=one.gravity,
                            pairs=one.pairs, threads=1)
        aside = drum.LENGTH * (np.arange(copies) - 0.5 * (copies - 1))
        for k, template in enumerate(one.templates):
            mine = one.template_index == k
            position = one.position[mine] + aside[:, None, None] * np.array([0.0, 1.0, 0.0])
            rest = (np.tile(values[mine], (copies, 1)) for values in (one.orientation, one.velocity,
                                                                      one.angular_velocity))
            sim.add_clumps(template, position.reshape(-1, 3), *rest,
                           material=one.materials[one.material_index[mine][0]])
        return sim
    return simulation
