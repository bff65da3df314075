#!/usr/bin/env python3
"""Errors of eleven rotation schemes on a cylinder driven by a constant torque about its axis.

Section 3, Table 2 and Appendix A of del Valle et al., SPIRAL (Comput. Phys. Commun. 297, 109077, 2024). The error
curves are computed in two readings: `published`, with the error measures and the variants of the schemes that the
authors used, and `synchronised`, with all schemes as designed, q and w at the same time, and one error measure; see
minidem.scenarios.spiral.cylinder. The smallest time steps (1e-7 s) take two minutes; --quick omits those below 1e-5 s.
The cost of the schemes: driven_cylinder_cost.py.
"""

import sys

import numpy as np

from minidem import rotation
from minidem.core.quaternions import rotate
from minidem.scenario import Scenario
from minidem.scenario.plot import styles
from minidem.scenarios.curves import label_ends
from minidem.scenarios.papers import Finding
from minidem.scenarios.spiral import cylinder
from minidem.scenarios.spiral.cylinder import SCHEMES, STEPS, TARGETS, step_for

SPIRAL, SYNC, OMELYAN, FINCHAM = "SPIRAL", "SPIRAL, non-leapfrog", "Omelyan", "Fincham"
EULER, RK4 = "Direct Euler", "Runge-Kutta 4"
FIGURE_A8 = [SPIRAL, SYNC, "SPIRAL-O", OMELYAN]
FIGURE_2 = [name for name in SCHEMES["published"] if name not in (SYNC, "SPIRAL-O")]
PAPER = "SPIRAL 2024"
STYLES = dict(zip(SCHEMES["synchronised"], styles(len(SCHEMES["synchronised"]))))
DESIGNED = {"exact": 3.0, "note": "with the orientation of the half step, as Fincham designed it; the "
                                  "published curve is of a variant with that of the whole step"}
TABLE_2 = {                                             # time steps for TARGETS, as printed [s]
    SPIRAL: ("3.044e-03", "8.372e-03", "2.329e-02", "6.167e-02"),
    OMELYAN: ("2.943e-04", "9.319e-04", "2.952e-03", "9.400e-03"),
    "Buss": ("2.650e-05", "2.663e-04", "2.890e-03", "5.529e-02"),
    "Velocity Verlet": ("6.789e-06", "6.852e-05", "6.779e-04", "3.527e-03"),
    FINCHAM: ("3.069e-06", "3.071e-05", "3.091e-04", "3.295e-03"),
    EULER: ("1.324e-06", "1.325e-05", "1.333e-04", "1.421e-03"),
    "Johnson": ("1.801e-06", "1.801e-05", "1.804e-04", "1.824e-03"),
    "PFC4": ("1.662e-07", "1.662e-06", "1.663e-05", "1.671e-04")}


def run(options, report):
    steps = STEPS[STEPS > 1e-5] if options.quick else STEPS
    motion(report)
    curves = {reading: error_curves(report, reading, steps) for reading in SCHEMES}
    orders(report, steps, curves)
    table_2(report, steps, curves)
    in_time(report, 2.0 if options.quick else 20.0)


def motion(report):
    """Fig. 1: the exact motion, and the axis of the cylinder after 15 s by two schemes."""
    times = np.linspace(0.0, 2.0, 2001)
    spin, pose = cylinder.spin(times), cylinder.orientation(times)
    report.table("figure_1", ("time", *"wx wy wz q0 q1 q2 q3".split()), np.column_stack([times, spin, pose]))

    def draw(figure):
        for panel, values, names, label in zip(
                figure.subplots(1, 2), (spin, pose), ([rf"\omega_{axis}" for axis in "xyz"], "q_0 q_1 q_2 q_3".split()),
                ("angular velocity, body frame (rad/s)", "components of the quaternion")):
            for column, name, (colour, style) in zip(values.T, names, styles(4)):
                panel.plot(times, column, color=colour, linestyle=style, label=f"${name}$")
            panel.set(xlabel="time (s)", ylabel=label)
            panel.legend(ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0))
        figure.axes[0].set_yscale("symlog", linthresh=1.0)

    report.figure("figure_1", draw, (8.0, 3.4))
    # The derivatives are central differences of the closed form, good to eps^(2/3).
    h = np.finfo(float).eps ** (1 / 3)
    rate = (cylinder.spin(times + h) - cylinder.spin(times - h)) / (2 * h)
    torque = cylinder.INERTIA * rate + np.cross(spin, cylinder.INERTIA * spin)
    missed = np.max(np.abs(torque - cylinder.TORQUE)) / cylinder.DRIVE
    report.find(Finding(PAPER, "Fig. 1", "Eq. 11 solves Euler's equations", None, missed, holds=missed < 1e-6,
                        note="deviation of the torque required by this motion, relative to 0.5 N m: < 1e-6"))
    angles = {}
    exact = rotate(cylinder.orientation([15.0])[0], np.array([1.0, 0.0, 0.0]))
    for name in (SPIRAL, EULER):
        end = rotation.integrate(SCHEMES["published"][name], cylinder.INERTIA, cylinder.ORIENTATION,
                                 cylinder.SPIN, cylinder.TORQUE, 1e-3, 15000)
        seen = rotate(end.orientation, np.array([1.0, 0.0, 0.0]))
        angles[name] = np.degrees(np.arctan2(np.linalg.norm(np.cross(exact, seen)), exact @ seen))
    report.find(Finding(
        PAPER, "Fig. 1", "inset: axis of the cylinder at 15 s", None, angles[SPIRAL],
        holds=angles[SPIRAL] < 1.0 and angles[EULER] > 10.0,
        note=f"SPIRAL within 1 degree of the exact axis, Direct Euler ({angles[EULER]:.0f}) beyond 10; the "
             "step is not printed, 1 ms here"))


def error_curves(report, reading, steps):
    """name -> errors (len(steps), 2) of q and w after 1 s. Writes their table and figures."""
    curves = {}
    for name, scheme in report.progress(f"errors, {reading}", SCHEMES[reading].items()):
        curves[name] = np.array([np.ravel(cylinder.errors(scheme, dt, reading=reading)) for dt in steps])
    report.table(f"errors_{reading}", ("name", "scheme", "dt", "error_q", "error_w"), [
        (name, SCHEMES[reading][name], dt, *pair)
        for name, errors in curves.items() for dt, pair in zip(steps, errors)])
    figures = {"figure_2": FIGURE_2, "figure_a8": FIGURE_A8}
    if reading == "synchronised":
        figures = {"figure_2_synchronised": list(curves)}
    for file, names in figures.items():
        draw_pair(report, file, "time step (s)", {name: (steps, curves[name]) for name in names}, convergence=True)
    if reading == "published":
        judge_curves(report, steps, curves)
    return curves


def judge_curves(report, steps, curves):
    """Figs 2 and A.8: is SPIRAL the most accurate?"""
    best = most_accurate(steps, curves, SPIRAL, FIGURE_2)
    report.find(Finding(
        PAPER, "Fig. 2", "SPIRAL most accurate, except Runge-Kutta 4, at steps up to 0.05 s", None, None,
        holds=bool(np.all(best[steps < 0.05])), note="smallest errors of q and w, within rounding"))
    report.find(Finding(
        PAPER, "Fig. 2", "the same over the entire range of time steps", None, None, holds=bool(np.all(best)),
        note="at 0.1 s, 4.4 rad per step at the end, Buss is more accurate in q and in w"))
    report.find(Finding(
        PAPER, "Fig. A.8", "both variants of SPIRAL more accurate than Omelyan, at steps up to 0.05 s", None, None,
        holds=all(np.all(most_accurate(steps, curves, name, [OMELYAN])[steps < 0.05]) for name in (SPIRAL, SYNC)),
        note="errors of q and of w, within rounding; in q the variants differ by a factor of five"))


def most_accurate(steps, curves, name, others):
    """Whether a scheme is more accurate than the others at each time step, apart from rounding; bool (n,).

    Published errors contain the difference between the accumulated time and steps * dt, and each step rounds q and
    w about ten times by half an eps.
    """
    best = np.ones(len(steps), dtype=bool)
    for k, dt in enumerate(steps):
        number = int(1 / dt)
        product, total = dt * number, cylinder.accumulated_time(dt, number)[-1]
        floor = 10 * number * np.finfo(float).eps + np.array([
            cylinder.deviation(*solution(np.array([product, total])))
            for solution in (cylinder.orientation, cylinder.spin)])
        for other in set(others) - {name, RK4}:
            best[k] &= bool(np.all(curves[name][k] <= curves[other][k] + floor))
    return best


def orders(report, steps, curves):
    """Local orders as in the paper: slopes of the curves of q plus one."""
    inner = (steps > 3e-5) & (steps < 7e-4)             # between rounding and the end of the power law
    for name in TABLE_2:
        slope = np.polyfit(np.log(steps[inner]), np.log(curves["synchronised"][name][inner, 0]), 1)[0]
        # Orders are integers: the tolerance separates 2 from 3 and covers the next term of the series.
        report.find(Finding(PAPER, "Local orders", name, 3 if name in (SPIRAL, OMELYAN) else 2, 1 + slope,
                            tolerance=0.1, **DESIGNED if name == FINCHAM else {}))


def table_2(report, steps, curves):
    for reading, found in curves.items():
        report.table(f"table_2_{reading}", ("name", "scheme", *(f"dt_for_{t:g}" for t in TARGETS)), [
            (name, SCHEMES[reading][name], *(step_for(steps, errors, target) for target in TARGETS))
            for name, errors in found.items()])
    for name in (FINCHAM, OMELYAN, "PCDM", "improved PCDM"):
        own, other = (step_for(steps, curves["synchronised"][scheme], 1e-3) for scheme in (SPIRAL, name))
        report.say(f"Synchronised reading: the time step of SPIRAL for an error of 1e-3 is {own / other:.1f} times "
                   f"that of {name}.")
    for name, printed in TABLE_2.items():
        for target, text in zip(TARGETS, printed):
            if float(text) > steps[0]:
                report.find(Finding(PAPER, "Table 2", f"{name}, target {target:g} (s)", text,
                                    step_for(steps, curves["published"][name], target)))


def in_time(report, end):
    """Figs 3 and A.9: growth of the errors at a time step of 1e-5 s."""
    dt, rows = 1e-5, 200
    times = end * np.arange(1, rows + 1) / rows
    curves = {name: (times, np.column_stack(cylinder.errors(scheme, dt, end, rows=rows)))
              for name, scheme in report.progress("errors in time", SCHEMES["published"].items())}
    report.table("errors_in_time", ("name", "time", "error_q", "error_w"), [
        (name, t, *pair) for name, (_, errors) in curves.items() for t, pair in zip(times, errors)])
    draw_pair(report, "figure_3", "time (s)", {name: curves[name] for name in FIGURE_2})
    draw_pair(report, "figure_a9", "time (s)", {name: curves[name] for name in FIGURE_A8})
    for item, mine, others in (("Fig. 3", [SPIRAL], set(FIGURE_2) - {SPIRAL, RK4}),
                               ("Fig. A.9", [SPIRAL, SYNC], {OMELYAN})):
        worse = max(np.max(curves[name][1] / curves[other][1]) for name in mine for other in others)
        report.find(Finding(PAPER, item, f"{' and '.join(mine)} most accurate at all times", None, worse,
                            holds=worse < 1.0, note="largest ratio of their errors to those of the others, "
                            "except Runge-Kutta 4, below 1"))
    steps = 32_767                              # quaternions are normalised every 32768 steps
    last = rotation.integrate(SCHEMES["published"][OMELYAN], cylinder.INERTIA, cylinder.ORIENTATION,
                              cylinder.SPIN, cylinder.TORQUE, dt, steps)
    drift, floor = abs(np.linalg.norm(last.orientation) - 1.0), steps * np.finfo(float).eps
    report.find(Finding(PAPER, "Appendix B.5", "Omelyan's quaternion loses its norm to rounding", None, drift,
                        holds=drift > floor, note=f"||q| - 1| after {steps} steps is {drift:.0e}, "
                        f"one unit of rounding per step would give {floor:.0e}"))


def draw_pair(report, file, label, curves, convergence=False):
    """Errors of q and of w in two panels. curves: name -> (x (n,), errors (n, 2)), which diverge towards small x or,
    without `convergence`, large x."""
    def draw(figure):
        panels = figure.subplots(1, 2, sharex=True)
        for column, (panel, what) in enumerate(zip(panels, ("orientation", "angular velocity"))):
            for name, (x, errors) in curves.items():
                colour, style = STYLES[name]
                panel.loglog(x, errors[:, column], color=colour, linestyle=style, label=name)
            panel.set(xlabel=label, ylabel=f"relative error, {what}")
        for panel in panels:
            label_ends(panel, first=convergence)

    report.figure(file, draw, (11.0, 4.2))


EXPERIMENT = Scenario("driven_cylinder", __doc__, study=run)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
