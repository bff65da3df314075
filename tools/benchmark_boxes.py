#!/usr/bin/env python3
"""Time of a step in a periodic box that is sheared, or whose length changes, over that in a box at rest.

    python tools/benchmark_boxes.py

2000 spheres or rods on one thread. They are elastic, or nearly so with friction, and the rates are so small that the
three boxes have the same number of contacts, except for chance. The boxes run in turns; the table has medians of the
ratios and the time in the box at rest.
"""
import argparse
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
MOTIONS = {"shear": ("x", "y", 1.0)}, {"rates": (0.0, 0.0, -1e-3)}, {}


def simulations(aspect, fraction, friction):
    """The same clumps with the same velocities in the three boxes."""
    sample, dt = placed(aspect, COUNT, 1), step_of(aspect)
    squeezed = sample.simulation(material(0.0, 0.5), dt, {"rates": (-1.0,) * 3}, contact="hertz-mindlin", threads=1)
    squeezed.run(round(np.log(fraction / LOOSE) / 3.0 / dt))
    sample, found = sample.moved(squeezed), []
    velocity = np.random.default_rng(1).normal(0.0, SPEED, (COUNT, 3))
    for motion in MOTIONS:
        box = md.PeriodicBox(sample.low, sample.high, (True,) * 3, **motion)
        sim = md.Simulation(material(friction, 0.98) if friction else md.Material(YOUNG, POISSON), dt=dt, periodic=box,
                            contact="hertz-mindlin" if friction else "hertz", threads=1)
        sim.add_clumps(sample.template, sample.position, sample.orientation, velocity, scale=sample.scale)
        sim.run(START)
        found.append(sim)
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=at_least(1), default=7, metavar="N", help="turns of each box (default: 7)")
    turns = parser.parse_args(argv).turns
    rows = [("case, solid fraction", "sheared / at rest", "length changes / at rest", "us/step at rest")]
    for name, *case in CASES:
        sims, times = simulations(*case), []
        for _ in range(turns):
            times.append([])
            for sim in sims:
                start = time.process_time()
                sim.run(STEPS)
                times[-1].append(time.process_time() - start)
        rows.append((name, *(f"{median(turn[k] / turn[2] for turn in times):.2f}" for k in (0, 1)),
                     f"{1e6 / STEPS * median(turn[2] for turn in times):.0f}"))
    print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
