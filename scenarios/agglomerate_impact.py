#!/usr/bin/env python3
"""Agglomerates of bonded spheres hit a plate: broken bonds and debris over the speed of the impact.

A ball of spheres at random, bonded wherever they are close, hits a plate at several speeds, without gravity. The damage
is the part of its bonds that break (C. Thornton, K. K. Yin & M. J. Adams, J. Phys. D 29, 424 (1996), doi
10.1088/0022-3727/29/2/021): none at low speeds, then more and more, until debris of single spheres is left. Fragments
are clusters of spheres that are still bonded.

    python scenarios/agglomerate_impact.py --quick
    python scenarios/agglomerate_impact.py

impacts.csv has a row for each speed, agglomerate_impact.png damage and largest fragment over the speed; the folder of
each speed has frames for ParaView. It is checked that damage begins and grows with the speed, and that the balance of
energy closes through breaking.
"""
import sys

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import minidem as md
from minidem.initial import place_densely
from minidem.scenario import Scenario
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding

RADIUS, DENSITY, FRACTION = 0.5e-3, 2500.0, 0.5        # of the spheres [m], [kg/m3]; solid fraction at the start
SPHERES, FEW = 1000, 200
YOUNG, STRENGTH = 1e8, 5e5                              # of the bonds [Pa]
GAP, DAMPING, STEP = 0.2, 0.05, 5e-7                    # of bonded spheres over RADIUS; beta; [s]
SPEEDS, QUICK = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0), (0.2, 2.0, 8.0)     # [m/s]
MATERIAL = md.Material(young=1e9, poisson=0.25, restitution=0.5, friction=0.4)
BALL = md.ClumpTemplate([(0, 0, 0)], [RADIUS], density=DENSITY)


def ball(count, seed=1):
    """Positions of about `count` spheres, touching none, in a ball above z = 0."""
    side = RADIUS * (count / 0.5236 * 4.18879 / FRACTION) ** (1 / 3)
    (position, _), = place_densely([BALL], [round(count / 0.5236)], (0, 0, 0), (side,) * 3, np.random.default_rng(seed))
    position = position[np.linalg.norm(position - 0.5 * side, axis=1) < 0.5 * side - RADIUS]
    return position + (0.0, 0.0, RADIUS - position[:, 2].min() + 1e-5)


def impact(position, speed, frames=None, seconds=0.003):
    """The simulation at the end, number of bonds at the start, change of the balance over the kinetic energy."""
    sim = md.Simulation(MATERIAL, [md.Plane((0, 0, 0), (0, 0, 1))], contact="hertz-mindlin:bonds=parallel", dt=STEP)
    sim.add_clumps(BALL, position, velocity=(0, 0, -speed))
    bonds = sim.bonds.add(GAP * RADIUS, young=YOUNG, tensile=STRENGTH, shear=STRENGTH, damping=DAMPING)
    start, rows = sim.energy().balance, []
    sim.run_until(seconds, every=200, callback=lambda sim: (rows.append(sim.energy().balance), frames and frames(sim)))
    return sim, bonds, np.abs(np.array(rows) - start).max() / start


def fragments(sim):
    """Numbers of spheres of the clusters that are bonded, the largest first."""
    bonds, n = sim.bonds(), sim.n_clumps
    links = coo_array((np.ones(len(bonds)), (bonds["clump_i"], bonds["clump_j"])), shape=(n, n))
    return np.sort(np.bincount(connected_components(links, directed=False)[1]))[::-1]


def run(options, report):
    position, rows = ball(FEW if options.quick else SPHERES), []
    for speed in report.progress("speeds", QUICK if options.quick else SPEEDS):
        frames = md.Frames(report.path / f"{speed:g}", contacts=True)
        sim, bonds, residual = impact(position, speed, frames)
        found = fragments(sim)
        rows.append((speed, 1.0 - len(sim.bonds()) / bonds, found[0] / sim.n_clumps, int((found == 1).sum()), residual))
    report.table("impacts", ("speed", "damage", "largest", "single", "balance"), rows)
    speed, damage, largest, single, residual = np.transpose(rows)
    report.find(Finding("Thornton 1996", "damage", "grows with the speed", None, damage[-1],
                        holds=damage[0] < 0.02 and (np.diff(damage) > -0.01).all() and damage[-1] > 0.3,
                        note="below 2 % at the lowest speed, above 30 % at the highest"))
    report.find(Finding("balance of energy", "breaking", "largest change over the kinetic energy", None, residual.max(),
                        holds=residual.max() < 1e-3, note="below 1e-3"))
    report.figure("agglomerate_impact", lambda figure: draw(figure, speed, damage, largest))
    for row in rows:
        report.say("{:g} m/s: {:.1%} of the bonds break, the largest fragment has {:.1%} of the spheres, {} "
                   "are single; balance of energy within {:.1e}".format(*row))


def draw(figure, speed, damage, largest):
    panel = figure.subplots()
    panel.semilogx(speed, damage, "o-", color=COLOURS[0], label="broken bonds")
    panel.semilogx(speed, largest, "s-", color=COLOURS[1], label="spheres of the largest fragment")
    panel.set(xlabel="speed of the impact [m/s]", ylabel="fraction", ylim=(0, 1.02))
    panel.legend()


EXPERIMENT = Scenario("agglomerate_impact", __doc__, study=run)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
