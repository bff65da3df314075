#!/usr/bin/env python3
"""Triaxial compression of spheres and rods in a periodic box: dense and loose samples, the same critical state.

A sample is consolidated under 1 kPa on all axes; then its height falls at a constant rate while the pressure on the
sides is held. Contacts have a friction of 0.5 and 10^4 times the pressure as Young's modulus, the inertial number is
0.003. Dense samples were consolidated without friction, loose ones slowly with it.

A dense sample has a peak of the stress ratio q/p and dilates, a loose one contracts; with the strain both lose the
memory of the start (critical state: A. N. Schofield & P. Wroth, Critical State Soil Mechanics, McGraw-Hill 1968). Rods
are stronger than spheres (E. Azema & F. Radjai, Phys. Rev. E 81, 051304 (2010), doi 10.1103/PhysRevE.81.051304).

    python scenarios/triaxial.py --quick
    python scenarios/triaxial.py --aspects 1 2 4

Stress ratio q/p: axial less lateral stress over the mean stress. table.csv has a row for each run, curves.csv means
over the seeds at each axial strain, critical.csv means over the last 40 % with standard errors, triaxial.png the
curves; samples/ the grains at the end for ParaView. --quick takes two samples of 300 grains of each kind.
"""

import itertools
import math
import sys
from pathlib import Path

import numpy as np

import minidem as md
from minidem.scenario import Scenario
from minidem.scenario.flow import solid_fraction
from minidem.scenario.plot import COLOURS
from minidem.scenarios.compression import comes_to_rest
from minidem.scenarios.papers import Finding, of_samples
from minidem.scenarios.periodic_grains import (
    PRESSURE,
    add_study_options,
    aspect_ratio,
    material,
    placed,
    sample_mean,
    step_of,
    time_unit,
)

FRICTION, RESTITUTION = 0.5, 0.5
INERTIAL, LOOSENING, ANSWER = 0.003, 0.02, 0.5          # rates of test and of loose samples, time of md.Pressure
STRAIN, ROWS, CRITICAL = 0.5, 25, 0.6                   # axial; intervals of curves; from this part of the strain on
ENOUGH = 2000                                           # grains of all samples for stress ratios within 10 %
STATES, QUANTITIES = ("dense", "loose"), ("ratio", "volume", "fraction")


def add_options(group):
    group.add_argument("--aspects", type=aspect_ratio, nargs="+", default=[1.0, 2.0], metavar="A",
                       help="length / diameter of the rods, from 1 (spheres) to 5 (default: 1 2)")
    add_study_options(group, count=1000, quick_count=300, seeds=4)


def consolidated(aspect, state, count, seed):
    """A sample at rest under PRESSURE, and the pressure that its sides are to keep."""
    unit, dt = time_unit(aspect, count), step_of(aspect, RESTITUTION)
    sample, held = placed(aspect, count, seed, shape=(1.0, 1.0, 1.5)), md.Pressure(PRESSURE, ANSWER * unit)
    settings = {"contact": "hertz-mindlin", "threads": 1}
    if state == "dense":
        smooth = sample.simulation(material(0.0, RESTITUTION), dt, {"rates": (held,) * 3}, **settings)
        comes_to_rest(smooth, PRESSURE, unit)
        sample = sample.moved(smooth)
        return sample.simulation(material(FRICTION, RESTITUTION), dt, {"rates": (held,) * 3}, **settings), held
    sim = sample.simulation(material(FRICTION, RESTITUTION), dt, {"rates": (-LOOSENING / unit,) * 3}, **settings)
    while np.trace(sim.stress()) / 3.0 < 0.5 * PRESSURE:
        sim.run(round(unit / dt))
    sim.deform(rates=(held,) * 3)
    sim.run(round(5.0 * unit / dt))
    return sim, held


def compress(aspect, state, count, seed, out):
    """One test: stress ratio, volumetric strain and solid fraction at ROWS axial strains."""
    sim, held = consolidated(aspect, state, count, seed)
    rate = INERTIAL / time_unit(aspect, count)
    start, before, found, seen = sim.strain, solid_fraction(sim), {}, []
    sim.deform(rates=(held, held, -rate))

    def look(sim):
        stress = np.diag(sim.stress(kinetic=True))
        seen.append(((stress[2] - 0.5 * (stress[0] + stress[1])) / stress.mean(), np.sum(sim.strain[:3] - start[:3]),
                     solid_fraction(sim)))

    sim.run(math.ceil(STRAIN / rate / sim.dt), every=max(1, round(STRAIN / ROWS / 20.0 / rate / sim.dt)), callback=look)
    for k, part in enumerate(np.array_split(np.array(seen), ROWS)):
        found |= {f"{name}_{k}": float(value) for name, value in zip(QUANTITIES, part.mean(axis=0))}
    folder = Path(out, "samples")
    folder.mkdir(exist_ok=True)
    sim.io.write_vtu(folder / f"aspect_{aspect:g}_{state}_seed_{seed}.vtu")
    return found | {"consolidated": before, "steps": sim.step_count}


def curve(rows, quantity):
    """(runs, ROWS)"""
    return np.array([[row[f"{quantity}_{k}"] for k in range(ROWS)] for row in rows])


def run(options, report):
    rows = report.runs(f"{__file__}:compress", {
        "aspect": options.aspects, "state": STATES, "count": [options.count], "seed": range(1, options.seeds + 1),
        "out": [options.out]})
    done = [row for row in rows if not row["error"]]
    kinds = {kind: [row for row in done if (row["aspect"], row["state"]) == kind]
             for kind in itertools.product(options.aspects, STATES)}
    kinds = {kind: found for kind, found in kinds.items() if len(found) > 1}
    late, critical = round(CRITICAL * ROWS), {}
    for kind, found in kinds.items():
        critical[kind] = (*sample_mean(curve(found, "ratio")[:, late:].mean(axis=1)),
                          *sample_mean(curve(found, "fraction")[:, late:].mean(axis=1)),
                          float(np.mean([row["consolidated"] for row in found])),
                          float(np.max(curve(found, "ratio").mean(axis=0))))
        report.say("aspect ratio {:g}, {}: q/p = {:.3f} ± {:.3f}, solid fraction {:.4f} ± {:.4f}, from {:.4f}; largest "
                   "q/p {:.3f}".format(*kind, *critical[kind]))
    report.table("critical", ("aspect", "state", "ratio", "ratio_error", "fraction", "fraction_error", "consolidated",
                              "peak"), [(*kind, *values) for kind, values in critical.items()])
    report.table("curves", ("aspect", "state", "axial_strain", "ratio", "volumetric_strain", "fraction"),
                 [(*kind, (k + 0.5) * STRAIN / ROWS, *(float(curve(found, quantity)[:, k].mean())
                                                       for quantity in QUANTITIES))
                  for kind, found in kinds.items() for k in range(ROWS)])
    if kinds:
        report.figure("triaxial", lambda figure: draw(figure, kinds), size=(9.0, 3.4))
    judge(report, options.aspects, critical, {kind: len(found) for kind, found in kinds.items()},
          few=options.count * options.seeds < ENOUGH)


def judge(report, aspects, critical, number, few):
    """number : samples of each kind;  few : they are too small for a verdict on stress ratios."""
    both = [aspect for aspect in aspects if all((aspect, state) in critical for state in STATES)]
    for aspect in both:
        kinds = [(aspect, state) for state in STATES]
        dense, loose = (critical[kind] for kind in kinds)
        fewest = min(number[kind] for kind in kinds)
        item = f"critical state, aspect ratio {aspect:g}"
        report.find(Finding("Schofield & Wroth 1968", item, "stress ratio of loose and dense", None,
                            loose[0] / dense[0], holds=abs(loose[0] / dense[0] - 1.0) < 0.1, too_short=few,
                            error=of_samples(of_quotient(loose, dense), fewest),
                            note=f"{loose[0]:.3f} and {dense[0]:.3f}: the same within 10 %; needs {ENOUGH} grains in "
                                 "all samples"))
        report.find(Finding("Schofield & Wroth 1968", item, "solid fraction of loose and dense", None,
                            loose[2] - dense[2], holds=abs(loose[2] - dense[2]) < 0.01,
                            error=of_samples(math.hypot(loose[3], dense[3]), fewest),
                            note=f"{loose[2]:.4f} and {dense[2]:.4f}, from {loose[4]:.4f} and {dense[4]:.4f}: the same "
                                 "within 0.01"))
        report.find(Finding("Schofield & Wroth 1968", item, "the dense sample has a peak", None, dense[5] / dense[0],
                            holds=dense[5] > 1.2 * dense[0] and dense[5] > loose[5],
                            note=f"largest q/p {dense[5]:.3f}, loose {loose[5]:.3f}"))
    if len(both) > 1:
        dense = [critical[aspect, "dense"] for aspect in sorted(both)]
        ratios = [one[0] for one in dense]
        report.find(Finding("Azema & Radjai 2010", "Fig. 5", "longer rods are stronger", None, ratios[-1] / ratios[0],
                            holds=bool(np.all(np.diff(ratios) > 0.0)),
                            error=of_samples(of_quotient(dense[-1], dense[0]), min(number.values())),
                            note=f"q/p {', '.join(f'{ratio:.3f}' for ratio in ratios)}, rising; published in two "
                                 "dimensions"))


def of_quotient(one, other):
    """Standard error of the quotient of two means, each (mean, standard error, ...)."""
    return one[0] / other[0] * math.hypot(one[1] / one[0], other[1] / other[0])


def draw(figure, kinds):
    ratios, volumes = figure.subplots(1, 2)
    strain = (np.arange(ROWS) + 0.5) * STRAIN / ROWS
    aspects = list(dict.fromkeys(aspect for aspect, _ in kinds))
    for (aspect, state), rows in kinds.items():
        colour, style = COLOURS[aspects.index(aspect) % len(COLOURS)], "-" if state == "dense" else "--"
        for panel, quantity, unit in ((ratios, "ratio", 1.0), (volumes, "volume", 100.0)):
            values = unit * curve(rows, quantity)
            middle, spread = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
            panel.fill_between(strain, middle - spread, middle + spread, color=colour, alpha=0.2, linewidth=0)
            panel.plot(strain, middle, style, color=colour,
                       label=f"{'spheres' if aspect == 1.0 else f'rods of {aspect:g}'}, {state}")
    ratios.set(xlabel="axial strain (logarithmic)", ylabel="stress ratio $q / p$", ylim=(0.0, None))
    volumes.set(xlabel="axial strain (logarithmic)", ylabel="volumetric strain (%), dilation positive")
    ratios.legend(fontsize=8)


EXPERIMENT = Scenario("triaxial", __doc__, study=run, add_options=add_options, defaults={"workers": None})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
