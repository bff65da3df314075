#!/usr/bin/env python3
"""Grains that break in one-dimensional compression: stress, and the distribution of sizes over the strain.

A lid compresses a bed of spheres between smooth walls. A sphere whose octahedral shear stress is above its strength
is replaced by eight smaller ones (sim.replace), and a fragment of enough size by eight again. Strengths follow
Weibull's law with its size effect, small grains are stronger (G. R. McDowell & J. P. de Bono, Géotechnique 63, 895
(2013), doi 10.1680/geot.12.P.041, where fragments overlap; here they do not, and the grain is an agglomerate).

    python scenarios/crushing.py --quick
    python scenarios/crushing.py --count 300 --seeds 8

table.csv has a row for each run, curves.csv the stress on the lid, whole grains and number of grains at each strain,
grading.csv the part of the mass that passes each sieve, all means over the seeds with standard errors; crushing.png
both; samples/ the grains at the end for ParaView. It is checked that each replacement leaves the balance of energy
within 1e-12, and that the balance closes over the run. --quick takes two samples of 100 grains whose fragments do not
break.
"""
import sys
from pathlib import Path

import numpy as np

import minidem as md
from minidem.initial import passing, place_densely
from minidem.scenario import Scenario, at_least
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding
from minidem.scenarios.periodic_grains import add_study_options, sample_mean

RADIUS, DENSITY, YOUNG = 1e-3, 2500.0, 1e9                  # [m], [kg/m3], [Pa]
SIZES = np.linspace(1.0, 1.6, 8)                            # of the fragments, ratios
STRENGTH, MODULUS = 3e5, 3.0                                # of a whole grain [Pa], modulus of Weibull's law
SMALLEST = 0.35                                             # scale of the smallest grain that breaks
LOOSE = 0.4                                                 # solid fraction of the placement
SPEED, BEGIN = 0.05, 1e-2                                   # of the lid [m/s]; stress at strain 0 / STRENGTH
STRAIN, ROWS, EVERY = 0.4, 8, 20                            # at the end; strains of tables; steps between looks
SIEVES = 2.0 * RADIUS * np.geomspace(0.06, 1.05, 15)
STEP = 0.15                                                 # / Rayleigh step of the smallest fragment
GRAIN = md.ClumpTemplate([(0, 0, 0)], [RADIUS], DENSITY)
MATERIAL = md.Material(YOUNG, 0.25, restitution=0.3, friction=0.5)
WALL = md.Material(YOUNG, 0.25, restitution=0.3, friction=0.0, name="wall")


def add_options(group):
    add_study_options(group, count=200, quick_count=100, seeds=4)
    group.add_argument("--generations", type=at_least(1), metavar="N",
                       default=lambda options: 1 if options.quick else 2,
                       help="times that a grain and its fragments break at most (default: 2; with --quick 1)")


def patterns(generations):
    """Fragments of a whole grain, of its fragments, and so on."""
    found = [md.Fragments.packed(GRAIN, len(SIZES), sizes=SIZES, seed=1)]
    for _ in range(generations - 1):
        found.append(md.Fragments.packed(found[-1].templates[0], len(SIZES), sizes=SIZES, seed=1))
    return found


class Crusher:
    """Callback that replaces the grains that break; `jump` is the largest change of the balance by a replacement."""

    def __init__(self, generations, seed):
        self.patterns, self.jump, self.replaced = patterns(generations), 0.0, 0
        self.strength = md.analysis.Strength(STRENGTH, MODULUS, GRAIN.volume, seed=seed)

    def __call__(self, sim):
        broken = self.strength(sim)
        broken = broken[sim.scale[np.searchsorted(sim.ids, broken)] >= SMALLEST]
        for pattern in self.patterns:
            mine = np.intersect1d(broken, pattern.parents(sim))
            if len(mine):
                before = sim.energy()
                sim.replace(mine, pattern)
                change = abs(sim.energy().balance - before.balance)
                self.jump, self.replaced = max(self.jump, change / before.total), self.replaced + len(mine)


def bed(count, seed, dt):
    """Grains in a cube of walls, of which the lid moves downward."""
    side = (count * GRAIN.volume / LOOSE) ** (1 / 3)
    high, rng = (side, side, side), np.random.default_rng(seed)
    walls = md.box_walls((0, 0, 0), high, material=WALL)[:5]
    walls.append(md.Plane(high, (0, 0, -1), material=WALL, velocity=(0, 0, -SPEED), name="lid"))
    pair = md.Pair(MATERIAL, WALL, restitution=0.3, friction=0.0)
    sim = md.Simulation(MATERIAL, walls, contact="hertz-mindlin", dt=dt, pairs=[pair], threads=1)
    [(position, _)] = place_densely([GRAIN], [count], (0, 0, 0), high, rng)
    sim.add_clumps(GRAIN, position)
    return sim


def stress(sim):
    """On the lid [Pa]."""
    return float(sim.walls.force("lid")[2]) / sim.walls[-1].point[0] ** 2


def crush(count, generations, seed, out):
    """One test: stress, number of grains, part of whole ones and passing of the sieves at ROWS strains."""
    crusher = Crusher(generations, seed)
    radius = RADIUS * crusher.patterns[0].scales.min() * (1.0 if generations == 1 else SMALLEST)
    dt = STEP * MATERIAL.rayleigh_step(radius, crusher.patterns[-1].templates[0].density)
    sim, found = bed(count, seed, dt), {}
    start = sim.energy().balance
    while stress(sim) < BEGIN * STRENGTH:
        sim.run(EVERY)
    height, begin = sim.walls.at_rest[-1].point[2], sim.time
    for k in range(ROWS):
        seen = []
        sim.run_until(begin + height * STRAIN * (k + 1) / ROWS / SPEED, every=EVERY,
                      callback=lambda sim, seen=seen: (crusher(sim), seen.append(stress(sim))))
        found |= {f"stress_{k}": float(np.mean(seen)), f"clumps_{k}": sim.n_clumps,
                  f"whole_{k}": len(crusher.patterns[0].parents(sim)) / count}
        found |= {f"sieve_{k}_{i}": float(part) for i, part in enumerate(passing(sim, SIEVES))}
    energy = sim.energy()
    folder = Path(out, "samples")
    folder.mkdir(exist_ok=True)
    sim.io.write_vtu(folder / f"seed_{seed}.vtu")
    return found | {"replaced": crusher.replaced, "jump": crusher.jump, "breakage": energy.breakage,
                    "work": energy.work, "residual": abs(energy.balance - start) / energy.work,
                    "steps": sim.step_count}


def column(rows, quantity):
    """(runs, ROWS)"""
    return np.array([[row[f"{quantity}_{k}"] for k in range(ROWS)] for row in rows])


def run(options, report):
    rows = [row for row in report.runs(f"{__file__}:crush", {
        "count": [options.count], "generations": [options.generations], "seed": range(1, options.seeds + 1),
        "out": [options.out]}) if not row["error"]]
    if len(rows) < 2:
        return
    strains = STRAIN * (np.arange(ROWS) + 1.0) / ROWS
    curves = {name: [sample_mean(values) for values in column(rows, name).T] for name in ("stress", "whole", "clumps")}
    grading = [[sample_mean([row[f"sieve_{k}_{i}"] for row in rows]) for i in range(len(SIEVES))] for k in range(ROWS)]
    report.table("curves", ("strain", *(f"{name}{suffix}" for name in curves for suffix in ("", "_error"))),
                 [(strain, *(value for curve in curves.values() for value in curve[k]))
                  for k, strain in enumerate(strains)])
    report.table("grading", ("strain", "sieve", "passing", "passing_error"),
                 [(strain, sieve, *grading[k][i]) for k, strain in enumerate(strains)
                  for i, sieve in enumerate(SIEVES)])
    report.figure("crushing", lambda figure: draw(figure, strains, curves, np.array(grading)), size=(9.0, 3.6))
    jump, residual = (max(row[name] for row in rows) for name in ("jump", "residual"))
    report.find(Finding("balance of energy", "replacements", "largest jump over the energy", None, jump,
                        holds=jump < 1e-12, note="below 1e-12"))
    report.find(Finding("balance of energy", "crushing", "largest error over the work of the lid", None, residual,
                        holds=residual < 1e-3, note="below 1e-3"))
    report.say("{} grains and fragments of {} samples break; {:.0%} ± {:.0%} of the grains are whole at a strain of "
               "{:g}; jump of the balance {:.0e}, its error {:.0e} of the work".format(
                   sum(row["replaced"] for row in rows), len(rows), *curves["whole"][-1], STRAIN, jump, residual))


def draw(figure, strains, curves, grading):
    stresses, sizes = figure.subplots(1, 2)
    middle, error = np.transpose(curves["stress"]) / STRENGTH
    stresses.errorbar(strains, middle, error, fmt="o-", color=COLOURS[0], markersize=4)
    stresses.set(xlabel="strain", ylabel="stress on the lid / strength of a grain", ylim=(0.0, None))
    whole = stresses.twinx()
    whole.errorbar(strains, *np.transpose(curves["whole"]), fmt="s--", color=COLOURS[1], markersize=4)
    whole.set(ylim=(0.0, 1.02))
    whole.set_ylabel("whole grains", color=COLOURS[1])
    for k, colour in zip((1, ROWS // 2, ROWS - 1), COLOURS):
        middle, error = grading[k].T
        sizes.fill_between(1e3 * SIEVES, middle - error, middle + error, color=colour, alpha=0.25, linewidth=0)
        sizes.semilogx(1e3 * SIEVES, middle, color=colour, label=f"strain {strains[k]:g}")
    sizes.set(xlabel="size (mm)", ylabel="part of the mass that passes", ylim=(0.0, 1.02))
    sizes.legend(fontsize=8)


EXPERIMENT = Scenario("crushing", __doc__, study=run, add_options=add_options, defaults={"workers": None})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
