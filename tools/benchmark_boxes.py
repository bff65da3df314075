#!/usr/bin/env python3
"""Time of a step in a periodic box that moves over that in a box at rest, and under a lid that a force moves.

    python tools/benchmark_boxes.py

2000 spheres or rods on one thread. They are elastic, or nearly so with friction. A box is sheared, changes its length,
or has the pressure in it as its Pressure; between six planes one is held by a Servo with the force on it. All move so
slowly that each keeps the number of contacts which the box or the plane at rest has, except for chance. The copies run
in turns; the table has medians of the ratios and the time in the box at rest.
"""
import argparse
import copy
import sys
import time
from statistics import median

import numpy as np
from benchmark_cases import print_table

import minidem as md
from minidem.scenario import at_least
from minidem.scenarios.periodic_grains import LOOSE, POISSON, YOUNG, material, placed, step_of

COUNT, START, STEPS, SPEED = 2000, 2000, 1000, 0.2          # clumps, steps before the turns and in one, [m/s]
CASES = (("spheres 0.30", 1.0, 0.305, 0.0), ("spheres 0.55", 1.0, 0.55, 0.0), ("rods of 3, 0.50", 3.0, 0.5, 0.0),
         ("spheres 0.55, friction", 1.0, 0.55, 0.5), ("rods of 3, 0.50, friction", 3.0, 0.5, 0.5))
SLOW, HEAVY, LID = 1.0, 1e3, 5                              # time of a Pressure [s], mass of a Servo [kg], its plane


def squeezed(sample, fraction, dt, steps):
    """The same grains at this solid fraction, in a periodic box, and between six planes of which one has moved."""
    sim = sample.simulation(material(0.0, 0.5), dt, {"rates": (-1.0,) * 3}, contact="hertz-mindlin", threads=1)
    sim.run(steps)
    planes = md.Simulation(material(0.0, 0.5), md.box_walls(sample.low, sample.high), dt=dt, contact="hertz-mindlin",
                           threads=1)
    planes.add_clumps(sample.template, sample.position, sample.orientation, scale=sample.scale)
    fall = (1.0 - LOOSE / fraction) * (sample.high - sample.low)[2]
    planes.walls.move(LID, velocity=(0.0, 0.0, -fall / (steps * dt)))
    planes.run(steps)
    return sample.moved(sim), sample._replace(position=planes.position, orientation=planes.orientation,
                                              high=sample.high - [0.0, 0.0, fall])


def started(sample, friction, dt, **around):
    """Grains that have collided for a while. around : `periodic` or `walls` of md.Simulation."""
    sim = md.Simulation(material(friction, 0.98) if friction else md.Material(YOUNG, POISSON), dt=dt,
                        contact="hertz-mindlin" if friction else "hertz", threads=1, **around)
    velocity = np.random.default_rng(1).normal(0.0, SPEED, (COUNT, 3))
    sim.add_clumps(sample.template, sample.position, sample.orientation, velocity=velocity, scale=sample.scale)
    sim.run(START)
    return sim


def simulations(aspect, fraction, friction):
    """Copies, each behind that at rest to which it is compared: (box, planes)."""
    dt = step_of(aspect)
    sample, between = squeezed(placed(aspect, COUNT, 1), fraction, dt, round(np.log(fraction / LOOSE) / 3.0 / dt))
    boxes = [started(sample, friction, dt, periodic=md.PeriodicBox(sample.low, sample.high, axes=(True,) * 3))]
    held = tuple(md.Pressure(stress, SLOW) for stress in np.diag(boxes[0].stress(kinetic=True)))
    for motion in {"shear": ("x", "y", 1.0)}, {"rates": (0.0, 0.0, -1e-3)}, {"rates": held}:
        boxes.append(copy.deepcopy(boxes[0]))
        boxes[-1].deform(**motion)
    planes = [started(between, friction, dt, walls=md.box_walls(between.low, between.high))]
    planes.append(copy.deepcopy(planes[0]))
    planes[1].walls.move(LID, md.Servo(force=np.linalg.norm(planes[0].walls.force(LID)), mass=HEAVY))
    return boxes, planes


def process_time(sim):
    start = time.process_time()
    sim.run(STEPS)
    return time.process_time() - start


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=at_least(1), default=7, metavar="N", help="turns of each box (default: 7)")
    turns = parser.parse_args(argv).turns
    rows = [("case, solid fraction", "sheared", "length changes", "Pressure", "Servo", "us/step at rest")]
    for name, *case in CASES:
        found = simulations(*case)
        times = [[[process_time(sim) for sim in sims] for sims in found] for _ in range(turns)]
        ratios = [median(turn[group][k] / turn[group][0] for turn in times)
                  for group, sims in enumerate(found) for k in range(1, len(sims))]
        rows.append((name, *(f"{ratio:.2f}" for ratio in ratios),
                     f"{1e6 / STEPS * median(turn[0][0] for turn in times):.0f}"))
    print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
