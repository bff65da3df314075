#!/usr/bin/env python3
"""Rods of three spheres fly, spin and bounce in a box, without gravity, friction or damping.

Only the integration of the motion can change their energy. Each rod starts with 4 m/s and 4 rad/s along
one random direction: the scenario of Fig. 2 of del Valle et al., "Efficient numerical integration of
rigid body dynamics" (2025). Beside the energy it watches the rods' spin about their own axes. Spheres
without friction cannot exert a torque about the line through their centres, so every rod keeps its spin,
and a scheme that lets it grow is about to blow up. To see it:

    python scenarios/rods_in_box.py --compare spiral,omelyan,fincham-published
"""

import sys

import numpy as np

import minidem as md
from minidem.scenario import Observable, Scenario, at_least, place, positive, random_directions

RADIUS = 0.02 * 3 ** 0.5                                             # [m]: neighbours touch
CENTERS = [(-0.04, -0.04, -0.04), (0.0, 0.0, 0.0), (0.04, 0.04, 0.04)]
DENSITY = 2500.0                                                     # [kg/m3]
MATERIAL = md.Material(young=1e9, poisson=0.1)                       # of rods and walls
SPEED, ANGULAR_SPEED = 4.0, 4.0                                      # [m/s], [rad/s]
RODS = 30                                                            # in the box of edge 1 m


def add_options(group):
    group.add_argument("--rods", type=at_least(1), default=RODS, metavar="N",
                       help="their number (default: %(default)s)")
    group.add_argument("--box", type=positive, metavar="L", default=default_edge,
                       help=f"edge of the box [m] (default: 1 for up to {RODS} rods; for more it grows with "
                            "the cube root of their number, which keeps the number per volume)")


def default_edge(options):
    return max(1.0, (options.rods / RODS) ** (1 / 3))


def build(options):
    """The box with its rods, at time 0."""
    rng = np.random.default_rng(options.seed)
    rod = md.ClumpTemplate(CENTERS, [RADIUS] * 3, density=DENSITY)
    low, high = np.zeros(3), np.full(3, options.box)
    sim = md.Simulation(material=MATERIAL, walls=md.box(low, high), rotation=options.integrator,
                        dt=options.dt, threads=options.threads)
    [(position, orientation)] = place([rod], [options.rods], low, high, rng)
    direction = random_directions(options.rods, rng)
    sim.add_clumps(rod, position, orientation, SPEED * direction, ANGULAR_SPEED * direction)
    return sim


def spin(sim):
    """Root mean square over the rods of the angular velocity about their own axis [rad/s]."""
    centers = sim.sphere_centers().reshape(-1, 3, 3)
    axis = centers[:, 2] - centers[:, 0]
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    return np.sqrt(np.mean(np.sum(sim.angular_velocity * axis, axis=1) ** 2))


SCENARIO = Scenario(
    name="rods_in_box",
    description=__doc__,
    build=build,
    defaults={"integrator": "spiral", "dt": 38e-6, "time": 60.0, "seed": 1, "frames": 200},
    add_options=add_options,
    observables=(Observable("spin", "r.m.s. spin of rods about own axis (rad/s)", spin),),
)
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
