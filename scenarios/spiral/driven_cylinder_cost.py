#!/usr/bin/env python3
"""Cost of rotation schemes: processor time per step, and per second of motion at a given accuracy.

Figs 4 and 5 of del Valle et al., SPIRAL (Comput. Phys. Commun. 297, 109077, 2024), and Fig. 1 of their "Efficient
numerical integration of rigid body dynamics" (2025), measured on this machine. The motion is the one
of driven_cylinder.py, whose error curves give the time steps; the comparison is made in both readings, `published` and
`synchronised` (minidem.scenarios.spiral.cylinder). The torque is constant and its cost is not included, so
Runge-Kutta 4, which evaluates the torque four times per step, appears cheaper than in a simulation.

Times depend on machine and code: the authors integrated one body in Julia, here many bodies fill the vector registers.
cost.csv also contains times for a single body. --quick omits the target 1e-5.
"""

import sys
import time

import numpy as np

from minidem import rotation
from minidem.scenario import Scenario
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding
from minidem.scenarios.spiral import cylinder
from minidem.scenarios.spiral.cylinder import SCHEMES, STEPS, TARGETS, step_for

PAPER, PROCEEDINGS = "SPIRAL 2024", "SPIRAL 2025"
SPIRAL, EULER, OMELYAN, VERLET = "SPIRAL", "Direct Euler", "Omelyan", "Velocity Verlet"
FIRST_ORDER = ["Buss", VERLET, "Fincham", EULER, "Johnson"]     # Fincham: the published variant
BODIES, REPEATS = 512, 5
MACHINE = "processor times of this machine and code: within a factor of two"


def run(options, report):
    targets = TARGETS[1:] if options.quick else TARGETS
    costs, speedups = {}, {}
    for reading, schemes in SCHEMES.items():
        needed = {name: time_steps(scheme, reading, targets)
                  for name, scheme in report.progress(f"time steps, {reading}", schemes.items())}
        for scheme in report.progress("cost of a step", schemes.values()):
            if scheme not in costs:
                costs[scheme] = nanoseconds(scheme, BODIES, 2000), nanoseconds(scheme, 1, 100_000)
        seconds = {name: [1e-9 * costs[schemes[name]][0] / dt if dt else None for dt in steps]
                   for name, steps in needed.items()}
        speedups[reading] = {name: [euler / own if own else None for own, euler in zip(times, seconds[EULER])]
                             for name, times in seconds.items()}
        report.table(f"speedup_{reading}", ("name", "scheme", "target", "dt", "cpu_seconds", "speedup"), [
            (name, schemes[name], *row) for name in schemes
            for row in zip(targets, needed[name], seconds[name], speedups[reading][name])])
    report.table("cost", ("scheme", "ns_per_step_in_crowd", "ns_per_step_alone", "relative_to_euler"), [
        (scheme, *pair, pair[0] / costs["euler"][0]) for scheme, pair in costs.items()])
    figures(report, targets, costs, speedups)
    judge(report, targets, costs, speedups["published"])


def nanoseconds(scheme, bodies, steps):
    """Processor time per step and body [ns] with this number of bodies, the smallest of REPEATS runs."""
    def once():
        begun = time.process_time()
        rotation.integrate(scheme, cylinder.INERTIA, np.tile(cylinder.ORIENTATION, (bodies, 1)),
                           cylinder.SPIN, cylinder.TORQUE, 1e-5, steps)
        return time.process_time() - begun

    return 1e9 * min(once() for _ in range(REPEATS)) / (bodies * steps)


def time_steps(scheme, reading, targets):
    """Time steps [s] for the target errors. Steps are tried from the largest down to the first below all targets."""
    steps, errors = [], []
    for dt in STEPS[::-1]:
        steps.insert(0, dt)
        errors.insert(0, np.ravel(cylinder.errors(scheme, dt, reading=reading)))
        if np.mean(errors[0]) < min(targets):
            break
    return [step_for(np.array(steps), np.array(errors), target) for target in targets]


def figures(report, targets, costs, speedups):
    names = SCHEMES["published"]

    def draw_cost(figure):
        panel = figure.subplots()
        panel.barh(list(names), [costs[scheme][0] / costs["euler"][0] for scheme in names.values()],
                   color=COLOURS[0])
        panel.axvline(1.0, color="0.4", linewidth=0.8)
        tidy(panel)
        panel.set_xlabel("time of a step, relative to Direct Euler")

    def draw_speedup(figure):
        panels = figure.subplots(1, 2, sharex=True)
        for panel, (reading, by_name) in zip(panels, speedups.items()):
            for k, target in enumerate(targets):
                place = np.arange(len(by_name)) + 0.2 * (k - 0.5 * (len(targets) - 1))
                values = [row[k] or np.nan for row in by_name.values()]
                panel.barh(place, values, height=0.2, color=COLOURS[k], label=f"error {target:g}")
            panel.set(xscale="log", xlabel="speed relative to Direct Euler", title=reading)
            panel.set_yticks(np.arange(len(by_name)), list(by_name))
            tidy(panel)
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=4, loc="outside upper center")

    def draw_proceedings(figure):
        panel = figure.subplots()
        published = speedups["published"]
        others = [name for name in published if name != SPIRAL]
        panel.barh(others, [published[SPIRAL][0] / published[name][0] for name in others], color=COLOURS[0])
        tidy(panel)
        panel.set(xscale="log", xlabel=f"speed of SPIRAL relative to others, error {targets[0]:g}")

    report.figure("figure_4", draw_cost, (5.6, 3.4))
    report.figure("figure_5", draw_speedup, (9.0, 5.4))
    report.figure("proceedings_figure_1", draw_proceedings, (5.6, 3.4))


def tidy(panel):
    """Bars from top to bottom, grid lines along the value axis only."""
    panel.invert_yaxis()
    panel.grid(False, axis="y")


def judge(report, targets, costs, speedup):
    def judged(paper, item, quantity, published, value):
        report.find(Finding(paper, item, quantity, published, value, note=MACHINE,
                            holds=0.5 * published <= value <= 2.0 * published))

    gain = {name: speedup[SPIRAL][0] / speedup[name][0] for name in speedup}
    to_euler, to_omelyan = (costs["spiral"][0] / costs[scheme][0] for scheme in ("euler", "omelyan"))
    report.say(f"Here a step of SPIRAL takes {to_euler:.2f} times that of Direct Euler (published: 1.3) "
               f"and {to_omelyan:.2f} times that of Omelyan.")
    judged(PAPER, "Fig. 4", "time of a step, SPIRAL / Direct Euler", 1.3, to_euler)
    if targets[0] > 1e-5:
        return
    judged(PAPER, "Fig. 5", "SPIRAL against Omelyan, target 1e-5", 10, gain[OMELYAN])
    report.find(Finding(PAPER, "Fig. 5", "SPIRAL over 100 times as fast as Velocity Verlet, target 1e-5",
                        None, gain[VERLET], holds=gain[VERLET] > 100.0,
                        note=f"here {gain[VERLET]:.0f} times"))
    judged(PROCEEDINGS, "Fig. 1", "SPIRAL against Omelyan", 8, gain[OMELYAN])
    least, most = min(gain[name] for name in FIRST_ORDER), max(gain[name] for name in FIRST_ORDER)
    report.find(Finding(
        PROCEEDINGS, "Fig. 1", "two to three orders of magnitude over first-order schemes", None, most,
        holds=10**1.5 < least and most < 10**3.5,
        note=f"to half an order: gains here {least:.0f} to {most:.0f}; over PFC4 {gain['PFC4']:.0f}"))


EXPERIMENT = Scenario("driven_cylinder_cost", __doc__, study=run)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
