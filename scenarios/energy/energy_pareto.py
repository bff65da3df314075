#!/usr/bin/env python3
"""Energy error against processor time, for all rotation schemes and contact laws.

The thirty rods of rods_in_box.py, and thirty soft asymmetric clumps in their place, whose errors come from the
rotation, over 10 s with steps from 152 to 4.75 us; the chess pieces of chess_in_box.py over 1.5 s with steps from 19 to
1.19 us; from several random initial states.
Contacts are conservative, so every change of the energy is an integration error.

The error of a run is the largest abs(E - E0) / E0 at the instants, of a thousand equidistant ones, without any
contact: within a contact the energy of a leapfrog oscillates, which ends with the contact. The error of a point is the
root mean square over the initial states, with its standard error. The processor time is measured in the time loop on
one thread, per second of simulated time; for times to be quoted use --workers 1 on an idle machine.

A scheme has failed at a step if a run ends in a non-finite state or its energy changes by more than 10 %. Such points
are listed and not drawn, nor are schemes that fail at more than half of the steps of a system. pareto.png shows the
error against the processor time; a line for each law connects its points with a smaller error than all of its points
that take less time. orders.png shows the error against the step, with the slope of the best scheme of each law.
curves.csv has all points, orders.csv all slopes.

Completed runs in --out are kept, so the same command continues an interrupted study. It takes some hours on one
core; eight schemes, with clumps alone and three seeds, take ten minutes, and --quick some seconds.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, product

import numpy as np

import minidem as md
from minidem import rotation
from minidem.contact import registry as contact_laws
from minidem.rotation import registry
from minidem.scenario import Scenario, at_least, positive
from minidem.scenario.plot import COLOURS
from minidem.scenarios import rods_in_box
from minidem.scenarios.energy.energy_run import energy_run
from minidem.scenarios.energy.rods_energy_study import check_names
from minidem.scenarios.rotating_bodies.driven_bodies import rms, rms_error
from minidem.scenarios.spiral import chess_box
from minidem.scenarios.spiral.chess_energy_study import steps_list

LAWS = ("hertz", "hertz:onset=corrected")
QUICK_SCHEMES = ("spiral", "omelyan", "fincham-published")
CLUMP = md.ClumpTemplate([(0, 0, 0), (0.02, 0.004, 0), (-0.008, 0.024, 0.004), (0.004, -0.004, 0.028)],
                         [0.016, 0.012, 0.01, 0.008], density=rods_in_box.DENSITY)     # three different moments
SOFT = md.Material(young=1e7, poisson=0.1)
LOST = 0.1                          # relative energy change above which a scheme has failed
ROWS = 1000                         # instants at which the energy is recorded
SIZE = 12.0, 4.0                    # of the pictures [inch]
MARKER = 3.2                        # size
MARKERS = "osD^v<>PX*dx+1234|_ph"   # of the schemes
ROUND_OFF = 1e-11                   # smaller errors do not count for the order
COLUMNS = ("system", "contact", "integrator", "dt", "runs", "failed", "rows", "error", "error_deviation",
           "cpu_seconds", "us_per_step")


@dataclass(frozen=True)
class System:
    """title; time [s] and steps [s]; simulation(integrator, contact, dt, seed) on one thread."""

    title: str
    time: float
    steps: tuple[float, ...]
    simulation: Callable


def rods(integrator, contact, dt, seed, **other):
    """other : arguments of rods_in_box.build."""
    given = "--integrator", integrator, "--contact", contact, "--dt", repr(dt), "--seed", str(seed), "--threads", "1"
    return rods_in_box.build(rods_in_box.SCENARIO.parse(list(given)), **other)


def clumps(integrator, contact, dt, seed):
    return rods(integrator, contact, dt, seed, rod=CLUMP, material=SOFT)


def chess(integrator, contact, dt, seed):
    return chess_box.simulation(integrator, dt, seed, threads=1, contact=contact)


SYSTEMS = {"rods": System("30 rods", 10.0, tuple(152e-6 / 2**k for k in range(6)), rods),
           "clumps": System("30 soft asymmetric clumps", 10.0, tuple(152e-6 / 2**k for k in range(6)), clumps),
           "chess": System("32 chess pieces", chess_box.TIME, tuple(19e-6 / 2**k for k in range(5)), chess)}


def add_options(group):
    group.add_argument("--system", choices=[*SYSTEMS, "all"], default="all", help="default: %(default)s")
    group.add_argument("--integrators", nargs="+", metavar="NAME",
                       default=lambda options: QUICK_SCHEMES if options.quick else rotation.available(),
                       help=f"rotation schemes (default: all; with --quick {' '.join(QUICK_SCHEMES)})")
    group.add_argument("--contact", nargs="+", default=LAWS, metavar="NAME",
                       help=f"contact laws (default: {' '.join(LAWS)})")
    group.add_argument("--steps", type=steps_list, metavar="A,B,...",
                       help="time steps [s] (default: rods, clumps 152e-6, halved five times, chess 19e-6, halved four "
                            "times; with --quick the three largest)")
    group.add_argument("--time", type=positive, metavar="SECONDS",
                       help="simulated time of a run (default: rods, clumps 10, chess 1.5; with --quick a fifth)")
    group.add_argument("--seeds", type=at_least(1), metavar="N", default=lambda options: 2 if options.quick else 5,
                       help="number of random initial states (default: 5; with --quick 2)")


def check(options):
    check_names("--integrators", options.integrators, registry.select)
    check_names("--contact", options.contact, contact_laws.select)
    if options.time and options.steps and options.time < max(options.steps):
        raise ValueError(f"--time: {options.time} s is less than the step {max(options.steps)} s; give more")


def measure(system, integrator, contact, dt, seed, time):
    """One run: largest lasting energy error and the rows it is taken from, processor times [s], or why it failed."""
    if reason := refusal(integrator, contact):
        return {"failed": reason}
    sim = SYSTEMS[system].simulation(integrator, contact, dt, seed)
    try:
        run = energy_run(sim, time, ROWS, LOST)
    except FloatingPointError as error:
        return {"failed": str(error)}
    if run.change[-1] > LOST:
        return {"failed": f"the energy has changed by {run.change[-1]:.0%} at {sim.time:g} s"}
    error, rows = run.lasting_error
    return {"failed": None, "lasting_error": error, "rows": rows, "cpu_seconds": run.loop_seconds / sim.time,
            "us_per_step": 1e6 * run.loop_seconds / run.steps}


def run(options, report):
    names = SYSTEMS if options.system == "all" else [options.system]
    for scheme, law in product(options.integrators, options.contact):
        if refusal(scheme, law):
            report.say(f"{scheme} is left out. {refusal(scheme, law)}")
    points = [point for name in names for point in study(name, options, report)]
    list_failures(report, points)
    report.table("curves", COLUMNS, [[point[column] for column in COLUMNS] for point in points])
    good = [point for group in grouped(points).values() for point in survivors(group)]
    orders = {key: order(*columns(group, "dt", "error")) for key, group in grouped(good).items()}
    report.table("orders", ("system", "contact", "integrator", "order", "points"),
                 [(*key, *row) for key, row in orders.items()])
    for name in names:
        table(report, SYSTEMS[name].title, front([point for point in good if point["system"] == name]))
    drawn = report.figure("pareto", lambda figure: draw_front(figure, names, good), SIZE)
    if drawn:
        report.figure("orders", lambda figure: draw_orders(figure, names, good, orders), SIZE)
    else:
        report.say("No figure without matplotlib; install it and repeat the command.")


def refusal(integrator, contact):
    """Why a scheme cannot be combined with a contact law; None if it can."""
    try:
        contact_laws.select(contact, registry.select(integrator)[0])
    except ValueError as error:
        return str(error)


def study(name, options, report):
    """Points of a system: all laws, schemes and steps, averaged over the initial states."""
    system = SYSTEMS[name]
    steps = sorted(options.steps or (system.steps[:3] if options.quick else system.steps), reverse=True)
    time = options.time or (system.time / 5.0 if options.quick else system.time)
    # The same name in the records if this file is run and if it is imported. Laws vary fastest, so that the processor
    # times that are compared are measured one after the other.
    rows = report.runs(f"{__file__}:measure", {
        "system": [name], "dt": steps, "integrator": options.integrators, "seed": range(1, options.seeds + 1),
        "contact": options.contact, "time": [time]}, name, cost=lambda parameters: 1.0 / parameters["dt"])
    runs = {}
    for row in rows:
        if not refusal(row["integrator"], row["contact"]):
            runs.setdefault((row["contact"], row["integrator"], row["dt"]), []).append(row)
    return [average(own) for own in runs.values()]


def average(rows):
    """A row of curves.csv from the runs of all initial states; without an error if one has failed."""
    point = {name: rows[0][name] for name in ("system", "contact", "integrator", "dt")} | {
        "runs": len(rows), "failed": sum(bool(row["error"] or row["failed"]) for row in rows)}
    if point["failed"]:
        return dict.fromkeys(COLUMNS) | point
    errors = np.array([row["lasting_error"] for row in rows])
    return point | {"rows": "/".join(sorted({row["rows"] for row in rows})), "error": rms(errors),
                    "error_deviation": rms_error(errors) if len(rows) > 1 else None,
                    **{name: np.median([row[name] for row in rows]) for name in ("cpu_seconds", "us_per_step")}}


def microseconds(dt):
    return f"{1e6 * dt:.3g}"


def grouped(points):
    """{(system, contact, integrator): points in the order of the step}"""
    groups = {}
    for point in sorted(points, key=lambda point: point["dt"]):
        groups.setdefault((point["system"], point["contact"], point["integrator"]), []).append(point)
    return groups


def survivors(points):
    """The points without a failure; none if they are fewer than half."""
    good = [point for point in points if not point["failed"]]
    return good if 2 * len(good) >= len(points) else []


def columns(points, *names):
    """Arrays of the columns; missing numbers are 0."""
    return np.array([[point[name] or 0.0 for name in names] for point in points]).reshape(-1, len(names)).T


def order(dt, error):
    """Slope of a straight line through the logarithms, and number of points; None with fewer than two."""
    used = error > ROUND_OFF
    n = int(np.count_nonzero(used))
    return (np.polyfit(np.log(dt[used]), np.log(error[used]), 1)[0] if n > 1 else None), n


def front(points):
    """Points with a smaller error than all that take less processor time."""
    found = []
    for point in sorted(points, key=lambda point: point["cpu_seconds"]):
        if not found or point["error"] < found[-1]["error"]:
            found.append(point)
    return found


def list_failures(report, points):
    failed = {}
    for (name, law, scheme), group in grouped(points).items():
        at = ", ".join(microseconds(point["dt"]) for point in group if point["failed"])
        failed.setdefault((SYSTEMS[name].title, law, at), []).append(scheme)
    for (title, law, at), schemes in failed.items():
        if at:
            report.say(f"{title}, {law}: failed at {at} µs: {', '.join(schemes)}")


def table(report, title, points):
    report.say(f"| {title}: contact law | scheme | step | error | processor time per second |")
    report.say("| --- | --- | --- | --- | --- |")
    for point in points:
        report.say(f"| `{point['contact']}` | `{point['integrator']}` | {microseconds(point['dt'])} µs | "
                   f"{point['error']:.1e} ± {point['error_deviation'] or 0.0:.0e} | "
                   f"{1e3 * point['cpu_seconds']:.3g} ms |")


def panels_of(figure, names, good):
    """Yield each system's panel, name and {(contact, integrator): (style, points)}; colours: laws, markers: schemes."""
    laws = dict(zip(sorted({point["contact"] for point in good}), COLOURS))
    schemes = dict(zip(sorted({point["integrator"] for point in good}), cycle(MARKERS)))
    for panel, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names):
        panel.set(xscale="log", yscale="log", title=SYSTEMS[name].title)
        yield panel, name, {key[1:]: ({"color": laws[key[1]], "marker": schemes[key[2]]}, points)
                            for key, points in grouped(good).items() if key[0] == name}
    figure.axes[0].set_ylabel("lasting energy error, $|E - E_0|\\,/\\,E_0$")
    shown = [figure.axes[0].plot([], [], "o", color=colour, label=law)[0] for law, colour in laws.items()]
    shown += [figure.axes[0].plot([], [], marker, markersize=MARKER, color="0.3", label=scheme)[0]
              for scheme, marker in schemes.items()]
    figure.legend(handles=shown, ncols=7, loc="outside upper center", columnspacing=1.0, handletextpad=0.2)


def draw_front(figure, names, good):
    for panel, _, curves in panels_of(figure, names, good):
        for style, points in curves.values():
            cpu, error, deviation = columns(points, "cpu_seconds", "error", "error_deviation")
            panel.errorbar(cpu, error, deviation, markersize=MARKER, elinewidth=0.6, linestyle="none", **style)
        for law, colour in {key[0]: style["color"] for key, (style, _) in curves.items()}.items():
            best = front([point for key, (_, points) in curves.items() if key[0] == law for point in points])
            panel.plot(*columns(best, "cpu_seconds", "error"), color=colour, linewidth=0.9)
        panel.set_xlabel("processor time per simulated second (s)")


def draw_orders(figure, names, good, orders):
    for panel, name, curves in panels_of(figure, names, good):
        for style, points in curves.values():
            dt, error, deviation = columns(points, "dt", "error", "error_deviation")
            panel.errorbar(dt, error, deviation, markersize=MARKER, elinewidth=0.6, linewidth=0.4, **style)
        for law in dict.fromkeys(law for law, _ in curves):
            best = min((key for key in curves if key[0] == law), key=lambda key: curves[key][1][0]["error"])
            slope, n = orders[name, *best]
            if n > 1:
                panel.plot([], [], color=curves[best][0]["color"], label=f"{best[1]}: order {slope:.1f}")
                panel.legend(loc="lower right")
        steps = sorted({point["dt"] for _, points in curves.values() for point in points})
        panel.set_xticks(steps, [microseconds(dt) for dt in steps])
        panel.set_xticks([], minor=True)
        panel.set_xlabel("time step (µs)")


STUDY = Scenario("energy_pareto", __doc__, study=run, add_options=add_options, check=check, defaults={"workers": None})
main = STUDY.main

if __name__ == "__main__":
    sys.exit(main())
