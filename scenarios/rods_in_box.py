#!/usr/bin/env python3
"""Rods of three spheres bounce in a box without gravity, friction or damping.

The contacts are elastic, so the total energy is constant, and every change of it is an error of the integration. Most
of this error arises in steps in which a contact begins or ends; --contact hertz:onset=corrected removes that part.
Each rod starts with 4 m/s and 4 rad/s along one random direction, as in Fig. 2 of del Valle et al., "Efficient
numerical integration of rigid body dynamics" (2025).

The column spin of observables.csv is the r.m.s. angular velocity of the rods about their own axes. Frictionless spheres
exert no torque about the line through their centres, so the exact spin is constant; with an unstable scheme it grows.
To compare schemes:

    python scenarios/rods_in_box.py --compare exact,omelyan,fincham-published
"""

import sys

import numpy as np

import minidem as md
from minidem.analysis.energy import lasting_energy_error
from minidem.scenario import Observable, Scenario, at_least, place, positive, random_directions

RADIUS = 0.02 * 3 ** 0.5                                             # [m], adjacent spheres touch
CENTERS = [(-0.04, -0.04, -0.04), (0.0, 0.0, 0.0), (0.04, 0.04, 0.04)]
DENSITY = 2500.0                                                     # [kg/m3]
MATERIAL = md.Material(young=1e9, poisson=0.1)                       # of rods and walls
SPEED, ANGULAR_SPEED = 4.0, 4.0                                      # [m/s], [rad/s]
RODS = 30                                                            # in the default box of 1 m
STEP = 38e-6                                                         # [s]


def add_options(group):
    group.add_argument("--rods", type=at_least(1), default=RODS, metavar="N",
                       help="number of rods (default: %(default)s)")
    group.add_argument("--box", type=positive, metavar="L", default=default_edge,
                       help=f"edge length of the box [m] (default: 1 for up to {RODS} rods; for more rods it keeps the "
                            "number density constant)")


def default_edge(options):
    return max(1.0, (options.rods / RODS) ** (1 / 3))


def build(options, rod=None, material=MATERIAL):
    """Initial state. rod : ClumpTemplate, instead of the rods."""
    rng = np.random.default_rng(options.seed)
    rod = rod or md.ClumpTemplate(CENTERS, [RADIUS] * 3, density=DENSITY)
    low, high = np.zeros(3), np.full(3, options.box)
    sim = md.Simulation(material=material, walls=md.box_walls(low, high), rotation=options.integrator,
                        contact=options.contact, dt=options.dt, threads=options.threads)
    [(position, orientation)] = place([rod], [options.rods], low, high, rng)
    direction = random_directions(options.rods, rng)
    sim.add_clumps(rod, position, orientation, velocity=SPEED * direction, angular_velocity=ANGULAR_SPEED * direction)
    return sim


def axes(sim):
    """Unit vectors (n, 3) along the rods, lab frame."""
    centers = sim.sphere_centers.reshape(-1, 3, 3)
    axis = centers[:, 2] - centers[:, 0]
    return axis / np.linalg.norm(axis, axis=1, keepdims=True)


def spin(sim):
    """Root mean square over the rods of the angular velocity about their own axis [rad/s]."""
    return np.sqrt(np.mean(np.sum(sim.angular_velocity * axes(sim), axis=1) ** 2))


def conclude(sim, recorder, folder):
    """Say what the onset correction would give, where it was measured."""
    if not (recorder.conserved and sim.contact == "hertz" and sim.rotation == "exact" and sim.dt <= STEP):
        return {}, ""
    error, _ = lasting_energy_error(recorder.energy, recorder.observed["contacts"])
    return {}, "" if error is None or error < 1e-5 else (
        "It changes where a contact begins or ends within a step. The onset correction, --contact "
        "hertz:onset=corrected, leaves about a thousandth of this error.")


SCENARIO = Scenario(
    "rods_in_box", __doc__, build, add_options=add_options, conclude=conclude,
    defaults={"integrator": "exact", "contact": "hertz", "dt": STEP, "time": 60.0, "seed": 1, "frames": 200},
    observables=(Observable("spin", "r.m.s. spin of rods about own axis (rad/s)", spin),))
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
