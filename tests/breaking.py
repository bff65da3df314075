"""Grains that collide, to break or to grow: tests/invariants/test_breakage.py, test_growth.py."""
import numpy as np
from scenes import ROLLING

import minidem as md
from minidem.initial import place_densely

BALL = md.ClumpTemplate([(0, 0, 0)], [0.01], 2500.0)
ROD = md.shapes.rod(0.04, 0.006, 5, 2000.0)
SIZES = np.random.default_rng(1).uniform(0.5, 1.0, 9)
PATTERNS = {"ball": md.Fragments.packed(BALL, 9, sizes=SIZES, seed=2), "rod": md.Fragments.packed(ROD, 9, seed=3),
            "dumbbells": md.Fragments.packed(BALL, 4, template=md.shapes.rod(0.03, 0.01, 2), seed=1)}
LAWS = [ROLLING, "hooke-coulomb:stiffness=1e5", "hertz", "hertz:onset=corrected"]
HIGH = np.full(3, 0.1)


def drag(t, x, v, q, w):
    return -0.05 * v, np.zeros_like(w)


def moving(pattern, contact, dt=4e-6, force=None, **arguments):
    """Thirty clumps that have collided for 0.02 s."""
    material = md.Material(1e7, 0.3) if contact.startswith("hertz:") or contact == "hertz" else md.Material(
        1e7, 0.3, restitution=0.6, friction=0.4, rolling_friction=0.1 if "epsd" in contact else 0.0)
    arguments = arguments or {"walls": md.box_walls((0, 0, 0), HIGH)}
    sim, rng = md.Simulation(material, dt=dt, gravity=(0, 0, -9.81), contact=contact, threads=1, **arguments), \
        np.random.default_rng(3)
    (x, q), = place_densely([pattern.parent], [30], (0, 0, 0), HIGH, rng)
    sim.add_clumps(pattern.parent, x, q, velocity=0.5 * rng.normal(size=x.shape), scale=rng.uniform(0.9, 1.0, 30),
                   angular_velocity=30.0 * rng.normal(size=x.shape))
    if force:
        sim.forces.add(force)
    sim.run_until(0.02)
    return sim
