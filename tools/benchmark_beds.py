"""Settled beds with friction, for the benchmark cases G and H.

Clumps are placed at random in a box, rain down and come to rest: at first a hundred times softer, with a ten times
longer step, then with the modulus of the case. In between, bed and box are stretched by the largest relative overlap:
else the elastic energy of the soft contacts, times a hundred, would throw the clumps up. The settled bed is kept in a
file of results/beds.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import minidem as md
from minidem.scenario import place_densely

FOLDER = Path("results", "beds")
RADIUS, DENSITY, GRAVITY = 1e-3, 2500.0, (0.0, 0.0, -9.81)
# Material M1 and base of the box of the penetration test of Dosta et al. 2024, doi:10.1016/j.cpc.2023.109066
YOUNG, MATERIAL = 1e9, {"poisson": 0.2, "restitution": 0.5, "friction": 0.3}
LOW, HIGH = np.array([-0.049, -0.03, 0.0]), np.array([0.049, 0.03])
CONTACT = "hertz-mindlin"
STEP = 1e-6                             # a tenth of the Rayleigh step
SOFTER, SLOWER = 100.0, 10.0
SOFT_STEPS, STEPS = 8000, 20_000


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
        file = FOLDER / f"{number}-clumps-{spheres}-spheres-seed-{seed}.npz"
        try:
            settled = md.Simulation.load(file)
        except (FileNotFoundError, ValueError):         # ValueError: from another version of minidem
            template = md.ClumpTemplate([(2.0 * RADIUS * k, 0.0, 0.0) for k in range(spheres)], [RADIUS] * spheres,
                                        DENSITY)
            settled = settle(template, number, fraction, np.random.default_rng(seed))
            FOLDER.mkdir(parents=True, exist_ok=True)
            settled.save(file)
        return restarted(settled, threads=1)
    return simulation


def settle(template, number, fraction, rng):
    high = np.append(HIGH, number * template.volume / fraction / np.prod(HIGH - LOW[:2]))
    [(position, orientation)] = place_densely([template], [number], LOW, high, rng)
    soft = md.Simulation(md.Material(YOUNG / SOFTER, **MATERIAL), walls=md.box(LOW, high), contact=CONTACT,
                         dt=SLOWER * STEP, gravity=GRAVITY)
    soft.add_clumps(template, position, orientation)
    soft.run(SOFT_STEPS)
    hard = restarted(soft, 1.0 + np.percentile(soft.contacts()["overlap"], 99) / (2.0 * RADIUS))
    hard.run(STEPS)
    return hard


def restarted(sim, stretch=1.0, threads=None):
    """New simulation of the clumps of `sim` with the modulus and step of the case; its contacts have no history."""
    walls = [md.Plane(np.multiply(wall.point, stretch), wall.normal) for wall in sim.walls]
    new = md.Simulation(md.Material(YOUNG, **MATERIAL), walls=walls, contact=CONTACT, dt=STEP, gravity=GRAVITY,
                        threads=threads)
    new.add_clumps(sim.templates[0], stretch * sim.position, sim.orientation, sim.velocity, sim.angular_velocity)
    return new
