#!/usr/bin/env python3
"""A steel ball hits a bed of grains: case 3 of the comparison of DEM codes by Dosta et al.

M. Dosta et al., Comput. Phys. Commun. 296, 109066 (2024), doi 10.1016/j.cpc.2023.109066. 25 000 grains of material M1
with the volume of a sphere of 2 mm lie in a steel box of 98 mm x 60 mm; the ball has a radius of 10 mm and arrives with
5 m/s. observables.csv and impact.png have height and velocity of its centre, as the comparison has.

The bed is placed at random and settles, which takes a few minutes; it is kept in results/beds and used again.
--particles FILE takes the spheres of a file instead, with the columns radius, x, y, z and one line of names, as
published with the comparison. --clump takes another shape of the same volume:

    python scenarios/impact.py --quick
    python scenarios/impact.py --threads 2
    python scenarios/impact.py --clump rod

--quick takes a box of half the width, 3000 grains and a ball of 4 mm, whose flight is shorter, and 20 ms.
"""

import sys
from typing import NamedTuple

import numpy as np

import minidem as md
from minidem.initial import settled_bed
from minidem.scenario import Observable, Scenario, at_least, settled
from minidem.scenario.plot import COLOURS, save
from minidem.scenarios import dosta
from minidem.scenarios.dosta import M1, PAIRS, STEEL

RADIUS, SPEED = 1e-3, 5.0                                           # of a grain [m], of the ball [m/s]
BOTTOM, TOP = -0.0902431, 0.107757                                  # of the box [m]
BED_STEP = 1e-6                                                     # while it settles [s]


class Setup(NamedTuple):
    """Numbers that --quick changes: half widths of the box, radius and height of the ball [m], grains, duration [s]."""

    half_width: tuple
    ball: float
    height: float
    count: int
    time: float


PUBLISHED = Setup((0.049, 0.03), 0.01, 0.06, 25_000, 0.1)
QUICK = Setup((0.0245, 0.015), 0.004, -0.05, 3000, 0.02)


def setup(options):
    return QUICK if options.quick else PUBLISHED


def add_options(group):
    group.add_argument("--quick", action="store_true", help="a smaller bed and ball, under a minute")
    group.add_argument("--clump", choices=dosta.SHAPES, default="sphere", help="grains (default: %(default)s)")
    group.add_argument("--count", type=at_least(1), metavar="N", default=lambda options: setup(options).count,
                       help=f"grains of a bed that settles (default: {PUBLISHED.count}; with --quick {QUICK.count})")
    group.add_argument("--particles", metavar="FILE", help="take the spheres of this file as the bed")


def add_file(sim, path):
    """Spheres of a file: one template, scaled."""
    radius, centre = dosta.read_spheres(path)
    unit = md.ClumpTemplate([(0, 0, 0)], [radius[0]], density=M1.density)
    sim.add_clumps(unit, centre, scale=radius / radius[0])


def add_bed(sim, options):
    """A bed that has settled, now or in an earlier run."""
    width = setup(options).half_width
    template = dosta.grain(options.clump, RADIUS, M1)
    bed = settled(f"impact-{options.clump}-{options.count}-width-{width[0]}-seed-{options.seed}",
                  lambda report: settled_bed(template, options.count, (-width[0], -width[1], BOTTOM), width, M1,
                                             BED_STEP, wall=STEEL, pairs=PAIRS, seed=options.seed,
                                             threads=options.threads, report=report), options.quiet)
    sim.add_clumps(template, bed.position, bed.orientation, velocity=bed.velocity,
                   angular_velocity=bed.angular_velocity)


def build(options):
    """The bed, and the ball above it."""
    half, ball, height, *_ = setup(options)
    walls = md.box_walls((-half[0], -half[1], BOTTOM), (*half, TOP), material=STEEL)
    sim = md.Simulation(M1, walls, rotation=options.integrator, contact=options.contact, dt=options.dt,
                        gravity=(0.0, 0.0, -dosta.G), threads=options.threads, pairs=PAIRS)
    if options.particles:
        if options.clump != "sphere":
            raise ValueError(f"--clump {options.clump}: a file of --particles has spheres; leave one of them out")
        add_file(sim, options.particles)
    else:
        add_bed(sim, options)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [ball], density=STEEL.density), [(0.0, 0.0, height)],
                   velocity=(0.0, 0.0, -SPEED), material=STEEL)
    return sim


def conclude(sim, recorder, folder):
    """Lowest position of the ball, and its picture."""
    observed = recorder.observed
    height, radius = observed["ball_height"], sim.sphere_radii[-1]
    lowest = int(np.argmin(height))
    save(folder / "impact.png", (6.4, 5.0), lambda figure: draw(figure, observed))
    return ({"lowest_height": height[lowest], "lowest_time": observed["time"][lowest], "last_height": height[-1]},
            f"The centre of the ball is lowest at {1e3 * height[lowest]:.2f} mm, after "
            f"{1e3 * observed['time'][lowest]:.1f} ms, {1e3 * (height[lowest] - radius - BOTTOM):.1f} mm above the "
            f"bottom; at the end at {1e3 * height[-1]:.2f} mm.")


def draw(figure, observed):
    height, velocity = figure.subplots(2, 1, sharex=True)
    time = 1e3 * observed["time"]
    height.plot(time, 1e3 * observed["ball_height"], color=COLOURS[0])
    height.set_ylabel("height of the ball (mm)")
    velocity.plot(time, observed["ball_velocity"], color=COLOURS[0])
    velocity.set(xlabel="time (ms)", ylabel="velocity of the ball (m/s)")


SCENARIO = Scenario(
    "impact", __doc__, build, add_options=add_options, conclude=conclude,
    defaults={"integrator": "exact", "contact": "hertz-mindlin", "dt": 5e-7,
              "time": lambda options: setup(options).time, "seed": 1, "frames": 100},
    observables=(Observable("ball_height", "height of the ball / m", lambda sim: sim.position[-1, 2]),
                 Observable("ball_velocity", "velocity of the ball / (m/s)", lambda sim: sim.velocity[-1, 2])))
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
