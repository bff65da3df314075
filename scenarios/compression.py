#!/usr/bin/env python3
"""Spheres and rods without friction, compressed in a periodic box until they jam.

Grains are placed at random at a solid fraction of 0.3 and compressed under a pressure on all three axes
(md.Pressure), which is lowered in steps to 3e-7 of Young's modulus. At each pressure the sample comes to rest. The
solid fraction at which grains jam, and the mean number of contacts there, without rattlers, are extrapolated to no
pressure: for Hertz contacts the fraction is linear in pressure^(2/3), the number of contacts in pressure^(1/3).

Spheres jam at random close packing, 0.64, with six contacts (C. S. O'Hern et al., Phys. Rev. E 68, 011306 (2003), doi
10.1103/PhysRevE.68.011306). Rods of an aspect ratio of 1.5 are denser, longer ones looser (S. R. Williams & A. P.
Philipse, Phys. Rev. E 67, 051301 (2003), doi 10.1103/PhysRevE.67.051301). A rod of spheres does not resist turning
about its axis: five degrees of freedom, ten contacts.

    python scenarios/compression.py --quick
    python scenarios/compression.py --aspects 1 1.25 1.5 2 3 4

table.csv has a row for each run, jamming.csv the means over the seeds with standard errors, compression.png both over
the pressure; packings/ the samples at the lowest pressure for ParaView. --quick takes two samples of 250 spheres.
"""

import sys
from pathlib import Path

import numpy as np

import minidem as md
from minidem.analysis.contacts import rattlers
from minidem.analysis.flow import granular_temperature
from minidem.scenario import Scenario
from minidem.scenario.flow import solid_fraction
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding, of_samples
from minidem.scenarios.periodic_grains import (
    YOUNG,
    add_study_options,
    aspect_ratio,
    material,
    placed,
    sample_mean,
    step_of,
    time_unit,
)

PRESSURES = (1e-4, 1e-5, 3e-6, 1e-6, 3e-7)              # / Young's modulus; the last three are extrapolated
RESTITUTION, ANSWER, PAUSE = 0.3, 2.0, 5.0              # time of md.Pressure, time between looks, / time_unit
CALM, NEAR, LOOKS = 1e-7, 1e-3, 100                     # kinetic / given pressure, deviation of the pressure; at most


def add_options(group):
    group.add_argument("--aspects", type=aspect_ratio, nargs="+", metavar="A",
                       default=lambda options: [1.0] if options.quick else [1.0, 1.25, 1.5, 2.0, 3.0],
                       help="length / diameter of the rods, from 1 (spheres) to 5 (default: 1 1.25 1.5 2 3)")
    add_study_options(group, count=500, quick_count=250, seeds=5)


def comes_to_rest(sim, pressure, unit):
    """Run until the pressure is reached and the grains hardly move; RuntimeError if they do not."""
    for _ in range(LOOKS):
        sim.run(round(PAUSE * unit / sim.dt))
        reached = np.trace(sim.stress(kinetic=True)) / 3.0
        kinetic = granular_temperature(sim) * np.sum(sim.mass) / sim.box.volume
        if abs(reached / pressure - 1.0) < NEAR and kinetic < CALM * pressure:
            return
    raise RuntimeError(f"the sample is not at rest after {sim.step_count} steps: pressure {reached:.6g} of "
                       f"{pressure:.6g} Pa, kinetic part {kinetic:.2g} Pa")


def compress(aspect, count, seed, out):
    """One sample: solid fraction, contacts per grain and rattlers at each pressure."""
    sim, found = None, {}
    for pressure in np.multiply(PRESSURES, YOUNG):
        unit = time_unit(aspect, count, pressure)
        motion = {"rates": (md.Pressure(pressure, ANSWER * unit),) * 3}
        if sim is None:
            sim = placed(aspect, count, seed).simulation(material(0.0, RESTITUTION), step_of(aspect), motion,
                                                         contact="hertz-mindlin", threads=1)
        else:
            sim.deform(**motion)
        comes_to_rest(sim, pressure, unit)
        name = f"{pressure / YOUNG:.0e}"
        found |= {f"fraction_{name}": solid_fraction(sim),
                  f"contacts_{name}": sim.coordination_number(rattling=False),
                  f"rattlers_{name}": float(np.mean(rattlers(sim)))}
    folder = Path(out, "packings")
    folder.mkdir(exist_ok=True)
    sim.io.write_vtu(folder / f"aspect_{aspect:g}_seed_{seed}.vtu")
    return found | {"steps": sim.step_count}


def column(rows, quantity):
    """(runs, pressures)"""
    return np.array([[row[f"{quantity}_{pressure:.0e}"] for pressure in PRESSURES] for row in rows])


def jamming(rows):
    """Fraction and contacts at no pressure, of each run, by straight lines through the last three pressures."""
    return (np.array([np.polyfit(np.array(PRESSURES[-3:]) ** power, values[-3:], 1)[1]
                      for values in column(rows, quantity)])
            for quantity, power in (("fraction", 2 / 3), ("contacts", 1 / 3)))


def run(options, report):
    rows = report.runs(f"{__file__}:compress", {
        "aspect": options.aspects, "count": [options.count], "seed": range(1, options.seeds + 1), "out": [options.out]})
    samples = {aspect: [row for row in rows if row["aspect"] == aspect and not row["error"]]
               for aspect in options.aspects}
    samples = {aspect: found for aspect, found in samples.items() if len(found) > 1}
    table = {}
    for aspect, found in samples.items():
        fraction, contacts = jamming(found)
        table[aspect] = (*sample_mean(fraction), *sample_mean(contacts),
                         float(np.mean(column(found, "rattlers")[:, -1])))
        report.say("aspect ratio {:g}: jams at {:.4f} ± {:.4f} with {:.2f} ± {:.2f} contacts, {:.1%} rattlers".format(
            aspect, *table[aspect]))
    report.table("jamming", ("aspect", "fraction", "fraction_error", "contacts", "contacts_error", "rattlers"),
                 [(aspect, *values) for aspect, values in table.items()])
    if samples:
        report.figure("compression", lambda figure: draw(figure, samples, table), size=(9.0, 3.4))
    judge(report, table, {aspect: len(found) for aspect, found in samples.items()})


def judge(report, table, number):
    """number : samples of each aspect ratio"""
    if 1.0 in table:
        fraction, fraction_error, contacts, contacts_error, _ = table[1.0]
        report.find(Finding("O'Hern 2003", "jamming of spheres", "solid fraction", "0.64", fraction,
                            error=of_samples(fraction_error, number[1.0]), tolerance=0.01 / 0.64,
                            note="published for one size, in the limit of large samples; here 0.63 to 0.65 holds"))
        report.find(Finding("O'Hern 2003", "jamming of spheres", "contacts", "6", contacts, tolerance=0.1 / 6,
                            error=of_samples(contacts_error, number[1.0]), note="isostatic; here 6.0 ± 0.1 holds"))
    if {1.0, 1.5, 3.0} <= set(table):
        sphere, short, long = (table[aspect][0] for aspect in (1.0, 1.5, 3.0))
        report.find(Finding("Williams 2003", "Fig. 6", "rods of 1.5 are the densest", None, short,
                            error=of_samples(table[1.5][1], number[1.5]), holds=short > max(sphere, long),
                            note=f"{short:.3f} against {sphere:.3f} of spheres and {long:.3f} of rods of 3"))


def draw(figure, samples, table):
    fractions, contacts, aspects = figure.subplots(1, 3)
    for (aspect, rows), colour in zip(samples.items(), COLOURS * 4):
        for panel, quantity, power in ((fractions, "fraction", 2 / 3), (contacts, "contacts", 1 / 3)):
            x = np.array(PRESSURES) ** power
            panel.plot(x, column(rows, quantity).T, ".", color=colour, markersize=3)
            line = np.polyfit(x[-3:], column(rows, quantity).mean(axis=0)[-3:], 1)
            panel.plot([0.0, x[1]], np.polyval(line, [0.0, x[1]]), color=colour, linewidth=0.8,
                       label=f"aspect ratio {aspect:g}")
    fractions.set(xlabel="$(P / E)^{2/3}$", ylabel="solid fraction")
    contacts.set(xlabel="$(P / E)^{1/3}$", ylabel="contacts per grain")
    contacts.axhline(6.0, color="0.6", linestyle=":")
    contacts.axhline(10.0, color="0.6", linestyle=":")
    fractions.legend(fontsize=7)
    x, values = list(table), np.array(list(table.values()))
    aspects.errorbar(x, values[:, 0], values[:, 1], fmt="o-", color=COLOURS[0], markersize=4)
    aspects.set(xlabel="aspect ratio", ylabel="solid fraction where grains jam")


EXPERIMENT = Scenario("compression", __doc__, study=run, add_options=add_options, defaults={"workers": None})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
