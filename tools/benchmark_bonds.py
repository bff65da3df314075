#!/usr/bin/env python3
"""The time of a step of bonded spheres beside a step of as many contacts with friction, on one core.

    python tools/benchmark_bonds.py             # half a minute

Cubic lattices: spheres that overlap, with friction, and with rolling resistance; spheres with gaps that are bonded,
without and with damping, and bonded spheres that overlap, with friction beside their bonds. Each has about three
contacts or bonds per sphere. Runs take turns, so that other programs slow down all; medians and their ratios, because
some turns have looks of the monitor.
"""
import argparse
import sys
from time import perf_counter

import numpy as np

import minidem as md

RADIUS, CLOSE, APART, GAP, STEP = 0.01, 0.0199, 0.021, 0.0015, 1e-6     # [m], [s]
BONDS = "hertz-mindlin:bonds=parallel"
KINDS = {"friction": ("hertz-mindlin", CLOSE), "rolling resistance": ("hertz-mindlin:rolling=epsd", CLOSE),
         "bonds": (BONDS, APART), "damped bonds": (BONDS, APART), "bonds that overlap": (BONDS, CLOSE)}


def lattice(kind, side):
    """A simulation of side^3 spheres that move a little, after some steps."""
    material = md.Material(young=1e7, poisson=0.3, restitution=0.9, friction=0.5,
                           rolling_friction=0.1 if kind == "rolling resistance" else 0.0)
    places = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    law, spacing = KINDS[kind]
    sim = md.Simulation(material, contact=law, dt=STEP, threads=1)
    ball = md.ClumpTemplate([(0, 0, 0)], [RADIUS], density=1000.0)
    sim.add_clumps(ball, spacing * places, velocity=np.random.default_rng(0).normal(0.0, 1e-3, (len(places), 3)))
    if law == BONDS:
        sim.bonds.add(GAP, young=1e7, damping=0.1 if kind == "damped bonds" else 0.0)
    sim.run(20)
    return sim


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=32, help="spheres along a side (default: 32)")
    parser.add_argument("--turns", type=int, default=25, help="default: 25")
    options = parser.parse_args(argv)
    sims = {kind: lattice(kind, options.side) for kind in KINDS}
    times = {kind: [] for kind in KINDS}
    for _ in range(options.turns):
        for kind, sim in sims.items():
            begin = perf_counter()
            sim.run(20)
            times[kind].append((perf_counter() - begin) / 20)
    times = {kind: np.array(found) for kind, found in times.items()}
    for kind, found in times.items():
        ratio = np.median(found) / np.median(times["friction"])
        print(f"{kind:20} {len(sims[kind].contacts())} contacts, {1e3 * np.median(found):.2f} ms a step, "
              f"{ratio:.2f} of friction")
    return 0


if __name__ == "__main__":
    sys.exit(main())
