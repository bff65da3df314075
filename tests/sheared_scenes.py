"""Gases of rods and balls in periodic boxes that move."""
from functools import cache

import numpy as np

import minidem as md
from minidem.initial import place

ROD = md.ClumpTemplate([(-0.03, 0.0, 0.0), (0.0, 0.0, 0.0), (0.03, 0.0, 0.0)], [0.02] * 3, density=2500.0)
MOTIONS = {                             # arguments of md.PeriodicBox
    "shear": {"shear": ("x", "y", 5.0)},
    "oscillation": {"shear": ("z", "x", lambda t: 5.0 * np.cos(40.0 * t))},
    "stretched": {"shear": ("x", "y", 3.0), "rates": (-0.5, -0.5, 0.2)},
    "pressure": {"shear": ("x", "z", 4.0), "rates": (0.0, 0.0, md.Pressure(500.0, 0.01))},
    "faces": {"shear": ("y", "z", lambda t: 5.0 * np.cos(40.0 * t)), "affine": False},
}


def material(contact):
    if "onset=corrected" in contact or contact == "hertz":
        return md.Material(1e7, 0.3)
    rolling = {"rolling_friction": 0.1} if "rolling" in contact else {}
    return md.Material(1e7, 0.3, restitution=0.8, friction=0.4, **rolling)


@cache
def start(n, edge, seed, template):
    """Positions and orientations, velocities and angular velocities of standard deviation 1: it takes longer to find
    them than they move."""
    rng = np.random.default_rng(seed)
    return *place([template], [n], (0.0,) * 3, (edge,) * 3, rng)[0], rng.normal(size=(n, 3)), rng.normal(size=(n, 3))


def gas(motion, contact="hertz", n=200, solid_fraction=0.25, dt=2e-5, seed=1, template=ROD, speed=0.3, **options):
    """n clumps with random velocities in a cube. motion : arguments of md.PeriodicBox."""
    edge = (n * template.volume / solid_fraction) ** (1 / 3)
    position, orientation, velocity, spin = start(n, edge, seed, template)
    sim = md.Simulation(material(contact), dt=dt, contact=contact,
                        periodic=md.PeriodicBox((0.0,) * 3, (edge,) * 3, (True,) * 3, **motion), **options)
    sim.add_clumps(template, position, orientation, speed * velocity, speed / 0.05 * spin)
    return sim
