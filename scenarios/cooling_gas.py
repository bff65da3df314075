#!/usr/bin/env python3
"""Gases of spheres and rods cool: Haff's law, and the energy of the rotation, with error bars.

A study of runs of clump_gas.py with restitution 0.8 and friction 0.6, several of each shape, which begin with the same
energy in each degree of freedom. Experiments in microgravity have found that

* rods lose energy with the square of the time, as spheres do, and have somewhat less energy in the rotation than in the
  translation (K. Harth, T. Trittel, S. Wegner & R. Stannarius, Phys. Rev. Lett. 120, 214301 (2018), doi
  10.1103/PhysRevLett.120.214301)
* the ratio of the two fluctuates about a constant while spheres cool for three Haff times, to 1/16 of their energy (T.
  Trittel, D. Puzyrev, K. Harth & R. Stannarius, npj Microgravity 10, 81 (2024), doi 10.1038/s41526-024-00420-5).

So it is here. It takes friction: where it is low, contacts slide and leave the rotation as it is, and with --friction
0.1 the ratio of spheres is about ten after three Haff times.

    python scenarios/cooling_gas.py --quick
    python scenarios/cooling_gas.py --workers 2

gas.csv has the means over the seeds with intervals of 95 %, cooling_gas.png the ratio over the time. It takes a minute
on two cores. runs/ has a folder for each run.
"""

import sys
from pathlib import Path

import numpy as np

from minidem.scenario import Scenario, finite
from minidem.scenario.plot import COLOURS
from minidem.scenarios.clump_gas import SCENARIO as GAS, fit
from minidem.scenarios.papers import Finding, of_samples
from minidem.scenarios.periodic_grains import add_study_options, sample_mean

SHAPES = "rod", "sphere"                    # three spheres in a row, 3 diameters long; one sphere
RESTITUTION, FRACTION = 0.8, 0.05
SECONDS, LATE = 4.0, 0.1                    # of a run; from which part of it on the exponent is fitted
TIMES = np.geomspace(0.005, 1.0, 30)        # of the ratios that a run returns, over SECONDS
NAMES = [f"ratio_{k}" for k in range(len(TIMES))]
COOLED = 1.0 / 16.0                         # part of the energy after three Haff times
QUANTITIES = "exponent", "ratio", "change"


def add_options(group):
    add_study_options(group, count=500, quick_count=150, seeds=8)
    group.add_argument("--friction", type=finite, default=0.6, metavar="MU",
                       help="coefficient of friction (default: %(default)s)")


def cool(shape, friction, count, seed, out):
    """A run of clump_gas.py: the exponent, and the ratio of rotational and translational energy at TIMES."""
    folder = Path(out, "runs", f"{shape}_mu_{friction:g}_{count}_seed_{seed}")
    GAS.run_into(folder, shape=shape, count=count, seed=seed, restitution=RESTITUTION, friction=friction,
                 fraction=FRACTION, time=SECONDS, frames=0, threads=1)
    table = np.genfromtxt(folder / "energy.csv", delimiter=",", names=True)
    time, ratio = table["time"], table["rotational"] / table["translational"]
    late = time >= LATE * SECONDS
    energy = table["rotational"] + table["translational"]
    (_, _, exponent), _ = fit(time[late], energy[late])
    change = ratio[np.argmax(energy < COOLED * energy[0])] - ratio[0]
    return {"exponent": exponent, "ratio": ratio[late].mean(), "change": change,
            **dict(zip(NAMES, np.interp(TIMES * SECONDS, time, ratio)))}


def run(options, report):
    rows = report.runs(f"{__file__}:cool", {
        "shape": SHAPES, "friction": [options.friction], "count": [options.count],
        "seed": range(1, options.seeds + 1), "out": [options.out]})
    table, ratios = [], {}
    for shape in SHAPES:
        found = [row for row in rows if row["shape"] == shape and not row["error"]]
        if len(found) < 2:
            continue
        ratios[shape] = np.array([[row[name] for name in NAMES] for row in found])
        means = {}
        for name in QUANTITIES:
            mean, error = sample_mean([row[name] for row in found])
            means[name] = mean, of_samples(error, len(found))
        table.append((shape, *(number for both in means.values() for number in both)))
        judge(report, shape, means)
        report.say("{}: exponent {:.3f} ± {:.3f}, rotational / translational energy {:.3f} ± {:.3f}, and {:+.3f} ± "
                   "{:.3f} more after three Haff times".format(*table[-1]))
    report.table("gas", ("shape", *(f"{name}{end}" for name in QUANTITIES for end in ("", "_error"))), table)
    if ratios:
        report.figure("cooling_gas", lambda figure: draw(figure, ratios))


def judge(report, shape, means):
    """means : name -> (mean, half-width of its interval)"""
    paper = "Harth 2018" if shape == "rod" else "Trittel 2024"
    value, error = means["exponent"]
    report.find(Finding(paper, f"{shape}s", "exponent of Haff's law", "2", value, error=error, tolerance=0.05,
                        too_short=error > 0.1, note="from a tenth of the time on; known within 0.1"))
    if shape == "rod":
        value, error = means["ratio"]
        report.find(Finding(paper, "rods", "rotational over translational energy", None, value, error=error,
                            holds=0.5 < value < 1.0 - error, too_short=error > 0.1, note="somewhat below 1"))
    else:
        value, error = means["change"]
        report.find(Finding(paper, "spheres", "change of the rotational over the translational energy", None, value,
                            error=error, holds=abs(value) < 0.1, too_short=error > 0.1,
                            note="in three Haff times less than 0.1"))


def draw(figure, ratios):
    panel = figure.subplots()
    for (shape, values), colour in zip(ratios.items(), COLOURS):
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        panel.errorbar(TIMES * SECONDS, mean, error, fmt="o", color=colour, markersize=4, label=f"{shape}s")
    panel.set(xscale="log", xlabel="time (s)", ylabel="rotational / translational energy", ylim=(0.0, None))
    panel.legend()


EXPERIMENT = Scenario("cooling_gas", __doc__, study=run, add_options=add_options, defaults={"workers": None})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
