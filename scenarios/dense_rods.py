#!/usr/bin/env python3
"""A dense gas of rods of three spheres in a box, without gravity, friction or damping.

The rods are the same as in rods_in_box.py, at a solid fraction of 0.3. They are placed at random without overlap, with
isotropic orientations and 4 m/s in random directions. Angular velocities are normally distributed about each
principal axis, with the mean energy that the velocity has per direction (equipartition). A thermalisation run with a
fixed integrator, about ten collisions per rod, removes the memory of the placement. The elastic energy, 4 % of the
total, builds up during the first contacts of the run itself.

contacts_per_clump in summary.json is the mean number of contacts; the column nematic_order of observables.csv is the
nematic order parameter. A hundred thousand rods for 260 steps:

    python scenarios/dense_rods.py --rods 100000 --time 0.01 --frames 2
"""

import sys

import numpy as np

import minidem as md
from minidem.analysis.flow import nematic_order
from minidem.core.quaternions import rotate
from minidem.scenario import Observable, Scenario, at_least, place_densely, positive, random_directions
from minidem.scenarios import rods_in_box as rods
from minidem.simulation.pace import steps_to_reach

STEP = rods.SCENARIO.defaults["dt"]
# Velocities of the thermalisation run are smaller by this factor. The trajectories of rods this stiff hardly change,
# but the overlaps stay well below those that add_clumps rejects.
INTEGRATOR, SLOWER = "exact", 2.0


def add_options(group):
    group.add_argument("--rods", type=at_least(1), default=10_000, metavar="N",
                       help="number of rods (default: %(default)s)")
    group.add_argument("--fraction", type=positive, default=0.3, metavar="F",
                       help="solid volume fraction (default: %(default)s; random placement fails above about 0.45)")
    group.add_argument("--thermalise", type=not_negative, default=0.02, metavar="SECONDS",
                       help="simulated time of the thermalisation run (default: %(default)s, about ten collisions "
                            "per rod)")


def not_negative(text):
    return 0.0 if float(text) == 0.0 else positive(text)


not_negative.__name__ = "number"


def build(options):
    """Initial state."""
    rng = np.random.default_rng(options.seed)
    rod = md.ClumpTemplate(rods.CENTERS, [rods.RADIUS] * 3, density=rods.DENSITY)
    low, high = np.zeros(3), np.full(3, (options.rods * rod.volume / options.fraction) ** (1 / 3))
    [(position, orientation)] = place_densely([rod], [options.rods], low, high, rng)
    speed = rods.SPEED
    velocity = speed * random_directions(options.rods, rng)
    deviation = speed * np.sqrt(rod.mass / (3.0 * rod.inertia))
    spin = rotate(orientation, (deviation * rng.standard_normal((options.rods, 3))) @ rod.axes.T)

    def gas(integrator, contact, dt, position, orientation, velocity, spin):
        sim = md.Simulation(material=rods.MATERIAL, walls=md.box_walls(low, high), rotation=integrator, contact=contact,
                            dt=dt, threads=options.threads)
        sim.add_clumps(rod, position, orientation, velocity=velocity, angular_velocity=spin)
        return sim

    before = gas(INTEGRATOR, "hertz", STEP, position, orientation, velocity / SLOWER, spin / SLOWER)
    before.run(steps_to_reach(SLOWER * options.thermalise, STEP))
    return gas(options.integrator, options.contact, options.dt, before.position, before.orientation,
               SLOWER * before.velocity, SLOWER * before.angular_velocity)


SCENARIO = Scenario(
    "dense_rods", __doc__, build, add_options=add_options,
    defaults={"integrator": "exact", "contact": "hertz", "dt": STEP, "time": 1.0, "seed": 1, "frames": 50},
    observables=(Observable("nematic_order", "nematic order of the rods", nematic_order),))
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
