#!/usr/bin/env python3
"""Rods of three spheres, those of rods_in_box.py, as a dense gas that bounces in a box.

Without gravity, friction or damping. The rods fill three tenths of a cubic box. They are placed at random,
without overlap and in all directions alike, and start with 4 m/s in random directions. Their angular velocity
is random too, normally distributed about each principal axis, with as much energy on the average as the
velocity has along each direction of space. Before the clock starts they fly as far as in --thermalise
seconds, always with the same integrator, so that after some ten collisions each nothing is left of how they
were placed. Only the share of the elastic energy, 4 %, takes the first contacts of the run to build up.

contacts_per_clump in summary.json tells how crowded it was, the column nematic_order of observables.csv
whether the rods still point in all directions alike. A hundred thousand for 260 steps:

    python scenarios/dense_rods.py --rods 100000 --time 0.01 --frames 2
"""

import sys

import numpy as np
import rods_in_box as rods

import minidem as md
from minidem.core.quaternions import rotate
from minidem.engine.chunked_run import steps_to_reach
from minidem.scenario import Observable, Scenario, at_least, place_densely, positive, random_directions

STEP = rods.SCENARIO.defaults["dt"]
# Before the clock starts all is slower by this factor. Rods as stiff as these then go much the same ways, but
# their deepest overlaps stay well below those that a simulation refuses to start from.
INTEGRATOR, SLOWER = "spiral", 2.0


def add_options(group):
    group.add_argument("--rods", type=at_least(1), default=10_000, metavar="N",
                       help="their number (default: %(default)s)")
    group.add_argument("--fraction", type=positive, default=0.3, metavar="F",
                       help="of the box that is solid (default: %(default)s; placement ends at about 0.45)")
    group.add_argument("--thermalise", type=not_negative, default=0.02, metavar="SECONDS",
                       help="of flight before the run (default: %(default)s, about ten collisions of each)")


def not_negative(text):
    return 0.0 if float(text) == 0.0 else positive(text)


not_negative.__name__ = "number"


def build(options):
    """The box with its rods, at time 0."""
    rng = np.random.default_rng(options.seed)
    rod = md.ClumpTemplate(rods.CENTERS, [rods.RADIUS] * 3, density=rods.DENSITY)
    low, high = np.zeros(3), np.full(3, (options.rods * rod.volume / options.fraction) ** (1 / 3))
    [(position, orientation)] = place_densely([rod], [options.rods], low, high, rng)
    speed = rods.SPEED
    velocity = speed * random_directions(options.rods, rng)
    deviation = speed * np.sqrt(rod.mass / (3.0 * rod.inertia))
    spin = rotate(orientation, (deviation * rng.standard_normal((options.rods, 3))) @ rod.axes.T)

    def gas(integrator, dt, position, orientation, velocity, spin):
        sim = md.Simulation(material=rods.MATERIAL, walls=md.box(low, high), rotation=integrator, dt=dt,
                            threads=options.threads)
        sim.add_clumps(rod, position, orientation, velocity, spin)
        return sim

    before = gas(INTEGRATOR, STEP, position, orientation, velocity / SLOWER, spin / SLOWER)
    before.run(steps_to_reach(SLOWER * options.thermalise, STEP))
    return gas(options.integrator, options.dt, before.position, before.orientation,
               SLOWER * before.velocity, SLOWER * before.angular_velocity)


def nematic_order(sim):
    """Largest eigenvalue of 3/2 <u u> - 1/2 over the axes u of all rods: 0 in disorder, 1 when parallel."""
    centers = sim.sphere_centers().reshape(-1, 3, 3)
    axis = centers[:, 2] - centers[:, 0]
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    return np.linalg.eigvalsh(1.5 * axis.T @ axis / len(axis) - 0.5 * np.eye(3))[2]


SCENARIO = Scenario(
    name="dense_rods",
    description=__doc__,
    build=build,
    defaults={"integrator": "spiral", "dt": STEP, "time": 1.0, "seed": 1, "frames": 50},
    add_options=add_options,
    observables=(Observable("nematic_order", "nematic order of the rods", nematic_order),),
)
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
