#!/usr/bin/env python3
"""Clumps drain from a box over an edge until a slope remains: the angle of repose.

A bed settles in a box of 0.2 m. Then one side is opened: clumps fall over the edge of the floor and are removed. Floor
and back are rough, the two other sides smooth, so that the slope is the same as in a wide bed. observables.csv has the
number of clumps, number and mass of the clumps that left, and the angle over time, repose.png the angle and the slope
at the end. The angle is measured on a straight line through the highest spheres of ten strips between 0.15 and 0.75 of
the length.

    python scenarios/angle_of_repose.py --quick
    python scenarios/angle_of_repose.py --clump rod
    python scenarios/angle_of_repose.py --friction 0.8 --seed 2

The bed is kept in results/beds and used again. Shapes have the volume of a sphere of 10 mm.
"""

import sys

import numpy as np

import minidem as md
from minidem.initial import Group, Outlet, place_densely, settle
from minidem.scenario import Observable, Scenario, at_least, finite, outflow, settled
from minidem.scenario.plot import COLOURS, save
from minidem.scenarios import dosta

RADIUS, YOUNG, DENSITY, RESTITUTION = 5e-3, 1e7, 2500.0, 0.5        # [m], [Pa], [kg/m3]
LENGTH, WIDTH, QUICK_WIDTH = 0.2, 0.08, 0.03                        # of the box [m]
COUNT, FRACTION = 2000, 0.3                                         # in a box of WIDTH; of the placement
STRIPS = np.linspace(0.15, 0.75, 11)
BELOW, INTERVAL = 0.05, 0.02                                        # where and how often clumps are removed [m], [s]
STEP = 4e-5                                                         # the default, and the step of the bed [s]
CLOSED = md.Plane((LENGTH, 0.0, 0.0), (-1.0, 0.0, 0.0)), md.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def width(options):
    return QUICK_WIDTH if options.quick else WIDTH


def add_options(group):
    group.add_argument("--quick", action="store_true", help="a narrow box, under a minute")
    group.add_argument("--clump", choices=dosta.SHAPES, default="rod", help="(default: %(default)s)")
    group.add_argument("--count", type=at_least(10), metavar="N",
                       default=lambda options: round(COUNT * width(options) / WIDTH),
                       help=f"clumps (default: {COUNT}, with --quick in proportion to the width)")
    group.add_argument("--friction", type=finite, default=0.5, metavar="MU",
                       help="coefficient of sliding friction (default: %(default)s)")


def materials(options):
    """Materials of clumps and rough walls, and of smooth walls, and their pair."""
    rough = md.Material(YOUNG, 0.2, restitution=RESTITUTION, friction=options.friction, density=DENSITY, name="rough")
    smooth = md.Material(YOUNG, 0.25, name="smooth")
    return rough, smooth, [md.Pair(rough, smooth, restitution=RESTITUTION, friction=0.0)]


def walls(options, smooth):
    """The back and the smooth sides."""
    half = 0.5 * width(options)
    return [md.Plane((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), md.Plane((0.0, -half, 0.0), (0.0, 1.0, 0.0), material=smooth),
            md.Plane((0.0, half, 0.0), (0.0, -1.0, 0.0), material=smooth)]


def floor(options):
    """A rectangle from behind the back to the edge."""
    wide = 10.0 * width(options)
    points = [(-LENGTH, -wide, 0.0), (LENGTH, -wide, 0.0), (LENGTH, wide, 0.0), (-LENGTH, wide, 0.0)]
    return md.MeshWall((points, [(0, 1, 2), (0, 2, 3)]))


def fall_and_settle(options, report):
    """The bed in the closed box."""
    rough, smooth, pairs = materials(options)
    half, template = 0.5 * width(options), dosta.grain(options.clump, RADIUS, rough)
    high = options.count * template.volume / (FRACTION * LENGTH * 2.0 * half)
    [(position, orientation)] = place_densely([template], [options.count], (0.0, -half, 0.0), (LENGTH, half, high),
                                              np.random.default_rng(options.seed))
    return settle([Group(template, position, orientation, rough)], [*walls(options, smooth), *CLOSED], STEP, pairs,
                  softer=1.0, slower=1.0, threads=options.threads, report=report)


def build(options):
    """The bed in the open box."""
    return bed_between(options, floor(options))


def bed_between(options, *further_walls):
    """The bed that has settled, between the back, the smooth sides and further walls."""
    rough, smooth, pairs = materials(options)
    sim = md.Simulation(rough, [*walls(options, smooth), *further_walls], rotation=options.integrator,
                        contact=options.contact, dt=options.dt, gravity=(0.0, 0.0, -dosta.G), threads=options.threads,
                        pairs=pairs)
    name = f"repose-{options.clump}-{options.count}-{width(options)}-mu-{options.friction:g}-seed-{options.seed}"
    bed = settled(name, lambda report: fall_and_settle(options, report), options.quiet)
    sim.add_clumps(bed.templates[0], bed.position, bed.orientation, velocity=bed.velocity,
                   angular_velocity=bed.angular_velocity)
    return sim


def exchange(options):
    """Clumps below the floor are removed."""
    return max(1, round(INTERVAL / options.dt)), Outlet((-1e3, -1e3, -1e3), (1e3, 1e3, -BELOW))


def surface(sim):
    """The straight line through the highest spheres of the strips."""
    return md.analysis.angle_of_repose(sim, LENGTH * STRIPS)


def angle(sim):
    return float(np.degrees(surface(sim).value))


def conclude(sim, recorder, folder):
    """The angle, the mean over the last tenth of the rows, and the picture."""
    observed = recorder.observed
    late = slice(-max(1, len(observed.rows) // 10), None)
    last = observed["angle"][late]
    save(folder / "repose.png", (9.0, 3.8), lambda figure: draw(figure, sim, observed["time"], observed["angle"], late))
    return ({"angle": np.mean(last), "angle_change": np.ptp(last), "left": sim.n_clumps},
            f"The angle of repose is {np.mean(last):.1f} degrees; {sim.n_clumps} clumps remain.")


def draw(figure, sim, time, angle, late):
    """Left: the angle over time, and its mean over the rows `late`. Right: the slope at the end, from the side."""
    history, side = figure.subplots(1, 2)
    mean = np.mean(angle[late])
    history.plot(time, angle, color=COLOURS[0], label="fitted line")
    history.plot(time[late], np.full(len(time[late]), mean), "--", color=COLOURS[1], linewidth=2.0,
                 label=f"angle of repose {mean:.1f}°, mean of the last tenth")
    history.set(xlabel="time (s)", ylabel="inclination (degrees)")
    centre, line = sim.sphere_centers, surface(sim)
    side.plot(1e3 * centre[:, 0], 1e3 * centre[:, 2], ".", color="0.7", markersize=2, label="centres of spheres")
    side.plot(*(1e3 * line.points.T), "o", color=COLOURS[1], label="highest points of ten strips")
    side.plot(1e3 * line.points[:, 0], 1e3 * (line.height - np.tan(line.value) * line.points[:, 0]), color="black",
              label=f"straight line, {np.degrees(line.value):.1f}°")
    side.set(xlabel="distance from the back, x (mm)", ylabel="height, z (mm)", aspect="equal",
             ylim=(0.0, 1.4e3 * np.nanmax(line.points[:, 1])))                   # room for the legend
    history.legend(loc="lower right")
    side.legend(loc="upper right")


SCENARIO = Scenario("angle_of_repose", __doc__, build, add_options=add_options, exchange=exchange, conclude=conclude,
                    defaults={"integrator": "exact", "contact": "hertz-mindlin", "dt": STEP,
                              "time": lambda options: 1.5 if options.quick else 3.0, "seed": 1, "frames": 100},
                    observables=(Observable("angle", "inclination / degrees", angle),
                                 Observable("clumps", "clumps", lambda sim: float(sim.n_clumps)), *outflow()))
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
