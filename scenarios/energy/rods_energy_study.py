#!/usr/bin/env python3
"""Energy of rods in a box over 10 000 s, 263 million steps per run, for five rotation schemes.

The conservation test of Fig. 2 of del Valle et al., "Efficient numerical integration of rigid body dynamics" (2025),
with a longer run: the thirty rods of rods_in_box.py, in which every change of the energy is an integration error.

Contacts begin and end within a step, so the energy performs a random walk with every scheme; at half the step it is
five times smaller. An error of the scheme itself is a drift in addition to the walk. curves.csv and the printed table
contain the relative energy change (E - E0) / E0 at the end and its largest value, its drift per 10^8 steps (slope of a
fitted straight line) with the standard error due to the walk, and the relative change of the spin of the rods about
their own axes, which contacts cannot change. Energies are lasting ones, without the bounded oscillation in contacts.
With --contact hertz:onset=corrected the walk is two hundred times smaller, so that smaller drifts of schemes are seen.

Each run has its own folder in --out and writes fifty checkpoints: after Ctrl-C or a kill the same command continues.
A run takes three to five minutes on one core; --quick simulates 30 s and takes some seconds in all.
"""

import sys
from pathlib import Path

import numpy as np

from minidem.contact import registry as laws
from minidem.rotation import registry
from minidem.scenario import Scenario, at_least
from minidem.scenario.plot import styles
from minidem.scenarios.papers import Finding
from minidem.scenarios.rods_in_box import SCENARIO as RODS

PAPER, FIGURE = "SPIRAL 2025", "Fig. 2"
SCHEMES = ("spiral", "spiral:inner=rk4", "omelyan", "fincham", "fincham-published")
CHECKPOINTS = 50                    # per run
LOST = 0.1                          # relative energy change above which a run has failed
UNIT = 1e8                          # steps, unit of the drift
KNOWN = 0.01                        # largest useful standard error of the difference of two drifts
BLOCKS = 50                         # per run, each one step of the random walk
COLUMNS = ("integrator", "steps", "last_change", "largest_change", "walk", "drift", "drift_error",
           "spin_change", "wall_seconds", "us_per_step")


def add_options(group):
    group.add_argument("--integrators", nargs="+", default=SCHEMES, metavar="NAME",
                       help=f"rotation schemes (default: {' '.join(SCHEMES)})")
    group.add_argument("--contact", default="hertz", metavar="NAME",
                       help="contact law, such as hertz:onset=corrected (default: %(default)s)")
    group.add_argument("--seed", type=at_least(0), default=RODS.defaults["seed"], metavar="N",
                       help="seed of the random initial state (default: %(default)s)")


def check_names(option, names, select):
    """ValueError, with the name of the option, for a name given twice or one that select(name) refuses."""
    if len(set(names)) < len(names):
        raise ValueError(f"{option}: {' '.join(names)} contains a name twice; give each once")
    for name in names:
        try:
            select(name)
        except ValueError as error:
            raise ValueError(f"{option}: {error}") from None


def check(options):
    check_names("--integrators", options.integrators, registry.select)
    check_names("--contact", [options.contact], laws.select)
    if options.time < BLOCKS * options.dt:
        raise ValueError(f"--time: {options.time} s is less than {BLOCKS} steps of {options.dt} s; give more")


def folder_of(integrator, contact, time, dt, seed, out):
    """Folder of a run. Other parameters have another folder, so --quick does not touch a long run."""
    law = "" if contact == "hertz" else f"_{contact}"
    name = f"{integrator}{law}_seed{seed}_{time}s_by_{dt}s".replace(":", "_")
    return Path(out, name)


def bounce(integrator, contact, time, dt, seed, out):
    """Run rods_in_box.py, or continue from its checkpoint.

    Returns the number of steps and the times of all parts. RuntimeError for a run that did not finish.
    """
    summary = RODS.run_into(folder_of(integrator, contact, time, dt, seed, out), integrator=integrator, contact=contact,
                            time=time, dt=dt, seed=seed, frames=0, checkpoint_every=time / CHECKPOINTS)
    return {name: summary[name] for name in ("steps", "wall_seconds", "us_per_step")}


def run(options, report):
    # The same name in the records if this file is run and if it is imported.
    rows = report.runs(f"{__file__}:bounce", {
        "integrator": options.integrators, "contact": [options.contact], "time": [options.time], "dt": [options.dt],
        "seed": [options.seed], "out": [options.out]})
    for row in rows:
        if row["error"]:
            report.say(f"{row['integrator']} failed, the same command repeats it: {row['error']}")
    rows = [row for row in rows if not row["error"]]
    curves = {row["integrator"]: curve(row) for row in rows}
    lines = {row["integrator"]: {**row, **measure(*curves[row["integrator"]], row["steps"])} for row in rows}
    report.table("curves", COLUMNS, [[line[name] for name in COLUMNS] for line in lines.values()])
    for line in table(lines.values()):
        report.say(line)
    if curves and not report.figure("energy", lambda figure: draw(figure, curves, lines), size=(8.0, 3.4)):
        report.say("No figure without matplotlib; install it and repeat the command.")
    judge(report, lines)


def curve(row):
    """Time [s], relative energy change and spin [rad/s] at the rows of energy.csv."""
    folder = folder_of(*(row[name] for name in ("integrator", "contact", "time", "dt", "seed", "out")))
    energy, observed = (np.genfromtxt(file, delimiter=",", names=True)
                        for file in (folder / "energy.csv", folder / "observables.csv"))
    first = energy["lasting"][0]
    return energy["time"], (energy["lasting"] - first) / first, observed["spin"]


def measure(time, change, spin, steps):
    """Columns of curves.csv for a run.

    walk: standard deviation of the end of a random walk without drift, with the step size observed over BLOCKS. The
    slope of a straight line fitted to such a walk has the standard deviation sqrt(6/5) walk / steps.
    """
    ends = np.linspace(0, len(time) - 1, BLOCKS + 1).astype(int)
    walk = np.sqrt(BLOCKS) * np.std(np.diff(change[ends]), ddof=1)
    slope = np.polyfit(time / time[-1], change, 1)[0]                      # per run
    return {"last_change": change[-1], "largest_change": np.max(np.abs(change)), "walk": walk,
            "drift": slope / steps * UNIT, "drift_error": np.sqrt(1.2) * walk / steps * UNIT,
            "spin_change": spin[-1] / spin[0] - 1.0}


def table(lines):
    """Lines of the printed table."""
    yield "| integrator | at the end | largest | drift per 10^8 steps | spin changed by | a step |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in lines:
        last, largest, drift, error = (100.0 * row[name] for name in (
            "last_change", "largest_change", "drift", "drift_error"))
        yield (f"| `{row['integrator']}` | {last:+.3g} % | {largest:.3g} % | {drift:+.2g} ± {error:.2g} % | "
               f"{row['spin_change']:+.1e} | {row['us_per_step']:.2f} µs |")


def draw(figure, curves, lines):
    """Left: largest energy change so far, all schemes. Right: energy change of schemes that conserve it."""
    far, near = figure.subplots(1, 2)
    stayed = [name for name in curves if lines[name]["largest_change"] < LOST]
    for (name, (time, change, _)), (colour, style) in zip(curves.items(), styles(len(curves))):
        far.plot(time[1:], np.maximum.accumulate(np.abs(change))[1:], style, color=colour, label=name)
        if name in stayed:
            near.plot(time, 100.0 * change, style, color=colour)
    if stayed:
        walk = 100.0 * np.mean([lines[name]["walk"] for name in stayed]) * np.sqrt(time / time[-1])
        near.fill_between(time, -walk, walk, color="0.9", linewidth=0)
        far.fill_between([], [], color="0.9", label="±σ of a walk")             # for the legend
    far.set(xscale="log", yscale="log", xlabel="time (s)", ylabel="largest $|E - E_0|\\,/\\,E_0$ so far")
    near.set(xlabel="time (s)", ylabel="$(E - E_0)\\,/\\,E_0$ (%)")
    figure.legend(ncols=6, loc="outside upper center", columnspacing=1.2, handlelength=2.2)


def judge(report, lines):
    """Claims of the paper on the schemes that were run."""
    def find(quantity, number, holds, note, too_short=False):
        report.find(Finding(PAPER, FIGURE, quantity, None, number, holds=bool(holds), note=note,
                            too_short=bool(too_short)))

    for name in ("spiral", "omelyan"):
        if name in lines:
            change = lines[name]["largest_change"]
            find(f"energy stays with {name}", change, change < LOST,
                 f"largest change {change:.1e}; less than {LOST:.0%}")
    if "spiral" in lines and "omelyan" in lines:
        ours, theirs = lines["spiral"], lines["omelyan"]
        error = np.hypot(ours["drift_error"], theirs["drift_error"])
        apart = abs(ours["drift"] - theirs["drift"]) / error
        find("SPIRAL conserves energy as well as Omelyan's", apart, apart < 2.0,
             f"drifts {apart:.1f} standard errors of {error:.1%} per 10^8 steps apart; less than 2. Requires a run "
             f"in which that error is below {KNOWN:.0%}", too_short=error > KNOWN)
    if "fincham-published" in lines:
        change, growth = (lines["fincham-published"][name] for name in ("largest_change", "spin_change"))
        find("energy leaves with Fincham's scheme", change, change > LOST,
             f"{change:.1e}; more than {LOST:.0%}")
        find("by the spin about the axis of the smallest moment", growth, growth > 10.0,
             f"grows by {growth:.3g} times the initial value; more than 10")


EXPERIMENT = Scenario("rods_energy_study", __doc__, study=run, add_options=add_options, check=check, defaults={
    "dt": RODS.defaults["dt"], "time": lambda options: 30.0 if options.quick else 1e4, "workers": None})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
