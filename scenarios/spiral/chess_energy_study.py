#!/usr/bin/env python3
"""Energy error of chess pieces in a box as a function of the time step, for three rotation schemes.

A fourth curve is SPIRAL with the onset correction of the contact law (minidem/onset/ONSET.md).

Fig. 7 of del Valle et al., SPIRAL (Comput. Phys. Commun. 297, 109077, 2024): the system of chess_in_box.py with 50
random initial states, 10 time steps and 3 schemes, 1500 runs of 1.5 s, and 500 for the fourth curve. The energy error
of a run is the mean over time of abs(E - E0) / E0; the authors' script takes the smaller of that mean and the last
value. Both, averaged over the initial states, are printed and written to curves.csv, with the time per run.

Completed runs in --out are kept, so the same command continues an interrupted study. The study takes more than
an hour on two cores; --quick (four initial states, the larger time steps) takes a minute. On a dask cluster:

    python scenarios/spiral/chess_energy_study.py --scheduler tcp://host:8786
"""

import os
import sys

import numpy as np

from minidem.scenario import Scenario, at_least, positive
from minidem.scenario.plot import styles
from minidem.scenarios.papers import Finding
from minidem.scenarios.spiral import chess_box
from minidem.scenarios.spiral.cylinder import step_for

PAPER, FIGURE = "SPIRAL 2024", "Fig. 7"
SCHEMES = {"SPIRAL": "spiral", "Omelyan": "omelyan", "Fincham": "fincham-published"}
CORRECTED = "hertz:onset=corrected"
CURVES = {name: (scheme, "hertz") for name, scheme in SCHEMES.items()} | {"SPIRAL, corrected": ("spiral", CORRECTED)}
# From the smallest to the largest of the figure by factors of about 2 or 2**0.5, including those named in the text.
STEPS = (1.1e-7, 2.2e-7, 3.1e-7, 6.2e-7, 1.23e-6, 2.44e-6, 4.85e-6, 6.85e-6, 9.7e-6, 1.93e-5)   # [s]
QUICK_STEPS = STEPS[4:]
TARGET = 6.8e-5                                             # 0.0068 %, the dotted line of the figure
PUBLISHED = {"SPIRAL": "4.85e-6", "Omelyan": "4.85e-6", "Fincham": "3.1e-7"}    # time steps for TARGET [s]
SAME_ORDER = 10 ** 0.5                                      # within half an order of magnitude
COLUMNS = ("scheme", "dt", "runs", "failed", "mean_change", "mean_change_error", "authors_change",
           "authors_change_error", "run_seconds", "us_per_step")


def steps_list(text):
    """Type of --steps: time steps [s] separated by commas."""
    return tuple(sorted({positive(piece) for piece in text.split(",")}))


def add_options(group):
    group.add_argument("--seeds", type=at_least(1), metavar="N",
                       default=lambda options: 4 if options.quick else 50,
                       help="number of random initial states (default: 50; with --quick 4)")
    group.add_argument("--steps", type=steps_list, metavar="A,B,...",
                       default=lambda options: QUICK_STEPS if options.quick else STEPS,
                       help="time steps [s] (default: ten from 1.1e-7 to 1.93e-5; with --quick six of them)")
    group.add_argument("--scheduler", metavar="ADDRESS",
                       help="run on the dask.distributed cluster with this address, tcp://host:8786")
    group.add_argument("--clumps", metavar="DIR",
                       help="folder of sphere files to use instead of the built-in pieces; see chess_in_box.py --help")


def check(options):
    if options.workers and options.scheduler:
        raise ValueError("--workers and --scheduler: the cluster has its own number of workers; give one")
    if options.time < max(options.steps):
        raise ValueError(f"--time: {options.time} s is less than the step {max(options.steps)} s; give more")
    options.clumps = options.clumps and os.path.abspath(options.clumps)
    chess_box.templates(options.clumps)


def run(options, report):
    rows = []
    for folder, contact, schemes in (("", "hertz", list(SCHEMES.values())),
                                     ("corrected", CORRECTED, [SCHEMES["SPIRAL"]])):
        rows += report.runs(chess_box.energy_change, {
            "integrator": schemes, "dt": options.steps, "seed": range(1, options.seeds + 1), "time": [options.time],
            "clumps": [options.clumps], "contact": [contact]}, folder, scheduler=options.scheduler,
            cost=lambda parameters: 1.0 / parameters["dt"])
    curves = [average(name, dt, rows) for name in CURVES for dt in options.steps]
    report.table("curves", COLUMNS, [[row[name] for name in COLUMNS] for row in curves])
    limit = chess_box.rayleigh_step(options.clumps)
    report.figure("figure_7", lambda figure: draw(figure, curves, limit))
    for line in table(curves):
        report.say(line)
    if report.failed_runs:
        report.say(f"{report.failed_runs} of {len(rows)} runs failed, see the column error of table.csv; the same "
                   "command repeats them.")
    report.say(f"Rayleigh step of the smallest sphere: {limit:.3g} s.")
    judge(report, curves)


def average(scheme, dt, rows):
    """Row of curves.csv: means over the initial states, with standard errors."""
    rows = [row for row in rows if (row["integrator"], row["contact"], row["dt"]) == (*CURVES[scheme], dt)]
    good = [row for row in rows if row["error"] is None]
    line = dict.fromkeys(COLUMNS) | {"scheme": scheme, "dt": dt, "runs": len(rows),
                                     "failed": len(rows) - len(good)}
    if good:
        for name in ("mean_change", "authors_change"):
            values = np.array([row[name] for row in good])
            line[name] = np.mean(values)
            if len(good) > 1:
                line[f"{name}_error"] = np.std(values, ddof=1) / np.sqrt(len(values))
        line["run_seconds"] = np.mean([row["run_seconds"] for row in good])
        line["us_per_step"] = 1e6 * np.mean([row["loop_seconds"] / row["steps"] for row in good])
    return line


def table(curves):
    """Lines of the printed table."""
    yield "| scheme | step | mean over time | authors' measure | a run | a step |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in curves:
        cells = ["all runs failed", "", "", ""] if row["mean_change"] is None else [
            f"{row['mean_change']:.2e}", f"{row['authors_change']:.2e}", f"{row['run_seconds']:.2f} s",
            f"{row['us_per_step']:.2f} µs"]
        yield f"| {row['scheme']} | {row['dt']:g} s | " + " | ".join(cells) + " |"


def curve(curves, scheme, *measures):
    """Time steps [s], ascending, and measures of a scheme; without steps at which all runs failed."""
    rows = [[row[name] for name in ("dt", *measures)] for row in curves
            if row["scheme"] == scheme and row["mean_change"] is not None]
    return np.array(rows, dtype=float).reshape(-1, 1 + len(measures)).T


def draw(figure, curves, limit):
    panel = figure.subplots()
    for scheme, (colour, _) in zip(CURVES, styles(len(CURVES))):
        dt, mean, error, authors = curve(curves, scheme, "mean_change", "mean_change_error", "authors_change")
        panel.errorbar(dt, mean, np.nan_to_num(error), fmt="-o", color=colour, markersize=3.5, elinewidth=0.8,
                       capsize=1.5, label=scheme)
        panel.plot(dt, authors, "--", color=colour, linewidth=0.9)
    panel.plot([], [], "-o", color="0.4", markersize=3.5, label="mean over time")
    panel.plot([], [], "--", color="0.4", linewidth=0.9, label="authors' measure")
    words = {"color": "0.3", "textcoords": "offset points", "va": "top"}
    panel.axvline(limit, color="0.3", linestyle="--", linewidth=0.8)
    panel.annotate("Rayleigh step", (limit, 1.0), xycoords=("data", "axes fraction"), xytext=(-4, -2),
                   rotation=90, ha="right", **words)
    panel.axhline(TARGET, color="0.3", linestyle=":", linewidth=0.8)
    panel.annotate(f"{TARGET:.4%}", (1.0, TARGET), xycoords=("axes fraction", "data"), xytext=(0, -3),
                   ha="right", **words)
    panel.set(xscale="log", yscale="log", xlabel="time step (s)", ylabel="relative change of energy",
              xlim=(10.0 ** np.floor(np.log10(min(row["dt"] for row in curves))), None))
    panel.xaxis.set_minor_formatter("")         # labels at decades are enough
    figure.legend(ncols=3, loc="outside upper center", columnspacing=1.2, handlelength=1.8)


def by_chance(change, error):
    """True if a mean within two standard errors could be outside SAME_ORDER, or if there is no standard error."""
    low, high = TARGET / SAME_ORDER, TARGET * SAME_ORDER
    return error is None or bool(min(abs(change - low), abs(change - high)) < 2.0 * error)


def judge(report, curves):
    reached = {}
    for scheme in CURVES:
        for measure, words in (("mean_change", "mean over time"), ("authors_change", "authors' measure")):
            dt, change = curve(curves, scheme, measure)
            reached[scheme, measure] = step = step_for(dt, change[:, None], TARGET) if len(dt) else None
            reached_at = f"{step:.3g} s" if step else "no step of this study: above or below at all of them"
            published = f"; published: {PUBLISHED[scheme]} s" if scheme in PUBLISHED else ""
            report.say(f"{scheme} reaches {TARGET:.4%} ({words}) at {reached_at}{published}.")
    for row in curves:
        scheme, change, error = (row[name] for name in ("scheme", "authors_change", "authors_change_error"))
        if scheme in PUBLISHED and row["dt"] == float(PUBLISHED[scheme]) and change is not None:
            report.find(Finding(PAPER, FIGURE, f"energy change of {scheme} at {PUBLISHED[scheme]} s", "6.8e-5",
                                change, holds=bool(TARGET / SAME_ORDER < change < TARGET * SAME_ORDER),
                                too_short=by_chance(change, error), error=error and 2.0 * error,
                                note="authors' measure, same order of magnitude; use more --seeds if two "
                                     "standard errors change the verdict"))
    slow, fast = (reached[scheme, "authors_change"] for scheme in ("Fincham", "SPIRAL"))
    if slow and fast:
        report.find(Finding(PAPER, FIGURE, "step of SPIRAL over that of Fincham, 0.0068 %",
                            float(PUBLISHED["SPIRAL"]) / float(PUBLISHED["Fincham"]), fast / slow,
                            holds=fast / slow > SAME_ORDER, note="Fincham needs a far smaller step"))


EXPERIMENT = Scenario("chess_energy_study", __doc__, study=run, add_options=add_options, check=check,
                      defaults={"time": chess_box.TIME, "workers": None})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
