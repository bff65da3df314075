#!/usr/bin/env python3
"""Rheology of sheared spheres and rods: friction and solid fraction over the inertial number, order of the rods.

A study of many runs of shear_flow.py, each a periodic box of 500 grains with a friction of 0.5:

* spheres at constant pressure, inertial numbers I from 0.001 to 0.3: mu(I) = mu_s + (mu_2 - mu_s) / (1 + I_0 / I) (P.
  Jop, Y. Forterre & O. Pouliquen, Nature 441, 727 (2006), doi 10.1038/nature04801) and phi(I) = phi_c - b I^k are
  fitted. S. Chialvo, J. Sun & S. Sundaresan, Phys. Rev. E 85, 021305 (2012), doi 10.1103/PhysRevE.85.021305, have
  mu_s = 0.38 and phi_c = 0.587 for spheres of one size with this friction.
* spheres at constant volume, with rates at which the pressure is about the same: they must lie on the same curves.
* rods of aspect ratios from 1.5 to 5 at I = 0.03: nematic order S2 and angle of their director to the flow, which turn
  ever more into the flow (T. Borzsonyi et al., Phys. Rev. Lett. 108, 228302 (2012), doi
  10.1103/PhysRevLett.108.228302). Dotted: S2 of rods that turn by contacts at random points of their surface, from
  their shape alone (C. Harper et al., arXiv 2605.28633).
* the mean rotation of these rods, over half the vorticity, which spheres have: the more ordered, the slower. A.
  Pol, R. Artoni & P. Richard, arXiv 2606.13070, find that it depends on S2 alone. Here rods with a friction of 0.1
  turn slower than rough rods of the same order; without the rotation of each rod about its axis, which friction
  drives, they lie on one curve within the errors.

    python scenarios/shear_rheology.py --quick
    python scenarios/shear_rheology.py --workers 2

pressure/, volume/ and rods/ have table.csv with a row for each run; the same command continues after Ctrl-C or a kill.
rheology.csv has the means over the seeds with standard errors, shear_rheology.png shows them. It takes about an hour
on two cores; --quick, with 200 grains and few points, two minutes.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import curve_fit

from minidem.scenario import Scenario
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding, of_samples
from minidem.scenarios.periodic_grains import add_study_options, sample_mean
from minidem.scenarios.shear_flow import SCENARIO as FLOW

STRAINS = {0.001: 4.0, 0.003: 8.0, 0.01: 20.0, 0.03: 20.0, 0.1: 20.0, 0.3: 20.0}        # of each inertial number
QUICK = {0.03: 3.0, 0.1: 5.0, 0.3: 5.0}
FRACTIONS = {0.54: 0.3, 0.56: 0.17, 0.575: 0.08, 0.58: 0.06}     # solid fraction: inertial number of 1 kPa, about
ASPECTS, MIDDLE, USUAL = (1.5, 2.0, 3.0, 4.0, 5.0), 0.03, 20.0  # of the rods; their inertial number; strain
CHECKPOINTS = 20                                        # per run
ROUGH, SMOOTH = 0.5, 0.1                                # friction of the grains, and of further rods
QUANTITIES = ("inertial_number", "mu", "solid_fraction", "coordination_number", "order", "angle", "rotation",
              "tumbling")


def add_options(group):
    add_study_options(group, count=500, quick_count=200, seeds=3)


def shear(aspect, inertial, fraction, friction, count, quick, seed, out):
    """Run shear_flow.py, or continue from its checkpoint; numbers of its summary.

    fraction : 0 at constant pressure; else the inertial number is taken from FRACTIONS.

    RuntimeError for a run that did not finish.
    """
    inertial = FRACTIONS[fraction] if fraction else inertial
    strain = (QUICK if quick else STRAINS).get(inertial, USUAL)
    name = (f"aspect_{aspect:g}_I_{inertial:g}_fraction_{fraction:g}_mu_{friction:g}_{count}_grains_strain_{strain:g}_"
            f"seed_{seed}")
    summary = FLOW.run_into(Path(out, name), aspect=aspect, inertial=inertial, count=count, strain=strain, seed=seed,
                            fraction=fraction or None, friction=friction, threads=1, frames=0,
                            checkpoint_every=lambda options: options.time / CHECKPOINTS)
    return {name: summary["result"][name] for name in QUANTITIES if name in summary["result"]}


def study(options, report, name, friction=ROUGH, **grid):
    """Means over the seeds of all kinds of runs: list of dict, quantity -> value, and quantity_error -> its error."""
    rows = report.runs(f"{__file__}:shear", grid | {
        "friction": [friction], "count": [options.count], "quick": [options.quick], "seed": range(1, options.seeds + 1),
        "out": [str(Path(options.out, name))]}, name)
    found = []
    for values in itertools.product(*grid.values()):
        runs = [row for row in rows if not row["error"] and tuple(row[name] for name in grid) == values]
        if len(runs) > 1:
            kind = {"study": name, "friction": friction, **dict(zip(grid, values))}
            for quantity in QUANTITIES:
                both = sample_mean([row[quantity] for row in runs]) if quantity in runs[0] else (np.nan, np.nan)
                kind[quantity], kind[f"{quantity}_error"] = both
            found.append(kind)
    return found


def friction_law(inertial, static, dynamic, scale):
    return static + (dynamic - static) / (1.0 + scale / inertial)


def fraction_law(inertial, critical, slope, power):
    return critical - slope * inertial ** power


def fit(points):
    """((mu_s, mu_2, I_0), errors), ((phi_c, b, k), errors); None for fewer points than parameters."""
    if len(points) < 4:
        return None
    x, found = [point["inertial_number"] for point in points], []
    for law, quantity, start in ((friction_law, "mu", (0.37, 0.8, 0.3)),
                                 (fraction_law, "solid_fraction", (0.59, 0.1, 1.0))):
        values, errors = ([point[f"{quantity}{end}"] for point in points] for end in ("", "_error"))
        best, covariance = curve_fit(law, x, values, start, np.maximum(errors, 1e-4), maxfev=20000)
        found.append((best, np.sqrt(np.diag(covariance))))
    return found


def surface_order(aspect):
    """S2 of a rod with round ends and the aspect ratio, turned by contacts at random points of its surface."""
    return 2.0 * (aspect - 1.0) / (2.0 * (aspect - 1.0) + np.pi)


def over_order(rods, quantity, order):
    """What rods have at an order: the power of 1 - S2 that fits these."""
    power = np.polyfit(*np.log([[1.0 - point["order"], point[quantity]] for point in rods]).T, 1)
    return np.exp(np.polyval(power, np.log(1.0 - order)))


def run(options, report):
    inertial = list(QUICK if options.quick else STRAINS)
    fractions, aspects = ((), (2.0, 4.0)) if options.quick else (FRACTIONS, ASPECTS)
    pressure = study(options, report, "pressure", aspect=[1.0], inertial=inertial, fraction=[0.0])
    volume = study(options, report, "volume", aspect=[1.0], inertial=[0.0], fraction=fractions) if fractions else []
    rods = study(options, report, "rods", aspect=aspects, inertial=[MIDDLE], fraction=[0.0])
    smooth = study(options, report, "smooth", SMOOTH, aspect=aspects[1::2], inertial=[MIDDLE], fraction=[0.0])
    points = [*pressure, *volume, *rods, *smooth]
    if points:
        report.table("rheology", list(points[0]), [list(point.values()) for point in points])
    for point in points:
        report.say("{study}: aspect ratio {aspect:g}, I = {inertial_number:.3g}: mu = {mu:.4f} ± {mu_error:.4f}, solid "
                   "fraction {solid_fraction:.4f} ± {solid_fraction_error:.4f}".format(**point)
                   + ("" if np.isnan(point["order"]) else ", S2 = {order:.3f} ± {order_error:.3f}, {angle:.1f} ± "
                      "{angle_error:.1f} degrees, rotation {rotation:.3f} ± {rotation_error:.3f}, "
                      "tumbling {tumbling:.3f} ± {tumbling_error:.3f}".format(**point)))
    laws = fit(pressure)
    if pressure and rods:
        report.figure("shear_rheology", lambda figure: draw(figure, pressure, volume, rods, smooth, laws),
                      size=(9.0, 9.0))
    judge(report, laws, len(pressure) - 3, volume, rods, smooth, options)


def judge(report, laws, free, volume, rods, smooth, options):
    """free : degrees of freedom of the fits"""
    if laws:
        (friction, friction_error), (fraction, fraction_error) = laws
        report.find(Finding("Chialvo 2012", "Table I", "mu_s", None, friction[0],
                            error=of_samples(friction_error[0], free + 1), holds=0.36 <= friction[0] <= 0.40,
                            note=f"{friction[0]:.3f} ± {friction_error[0]:.3f}, published 0.382; 0.36 to 0.40 holds"))
        report.find(Finding("Chialvo 2012", "Table I", "phi_c", None, fraction[0],
                            error=of_samples(fraction_error[0], free + 1), holds=0.58 <= fraction[0] <= 0.60,
                            note=f"{fraction[0]:.4f} ± {fraction_error[0]:.4f}, published 0.587 for one size; 0.58 to "
                                 "0.60 holds"))
        for point in volume:
            apart = [point["mu"] - friction_law(point["inertial_number"], *friction),
                     point["solid_fraction"] - fraction_law(point["inertial_number"], *fraction)]
            report.find(Finding("Jop 2006", "mu(I), phi(I)", f"constant volume, fraction {point['fraction']:g}", None,
                                apart[0], error=of_samples(point["mu_error"], options.seeds),
                                holds=abs(apart[0]) < 0.02 and abs(apart[1]) < 0.01,
                                note=f"I = {point['inertial_number']:.3g}: mu {apart[0]:+.3f}, fraction "
                                     f"{apart[1]:+.4f} from the curves at constant pressure; less than 0.02 and 0.01"))
    if len(rods) > 1:
        order, angle, rotation = ([point[name] for point in rods] for name in ("order", "angle", "rotation"))
        report.find(Finding("Borzsonyi 2012", "Figs. 3, 4", "longer rods are more ordered", None, order[-1],
                            holds=bool(np.all(np.diff(order) > 0.0)), too_short=options.quick,
                            error=of_samples(rods[-1]["order_error"], options.seeds),
                            note=f"S2 {', '.join(f'{value:.2f}' for value in order)}, rising; a strain of "
                                 f"{QUICK[MIDDLE]:g} with --quick, and {USUAL:g} without, which the order takes"))
        report.find(Finding("Borzsonyi 2012", "Figs. 3, 4", "and closer to the flow", None, angle[-1],
                            error=of_samples(rods[-1]["angle_error"], options.seeds),
                            holds=bool(angle[-1] < angle[0] and min(angle) > 0.0),
                            note=f"{', '.join(f'{value:.1f}' for value in angle)} degrees, falling"))
        apart = np.subtract(order, [surface_order(point["aspect"]) for point in rods])
        report.find(Finding("Harper 2026", "S2 of rods", "largest deviation from that of the shape alone", None,
                            np.max(np.abs(apart)), holds=bool(np.max(np.abs(apart)) < 0.1), too_short=options.quick,
                            note=f"{', '.join(f'{value:+.3f}' for value in apart)}, less than 0.1 of S2 from 0 to 1"))
        report.find(Finding("arXiv 2606.13070", "mean rotation", "rods turn the slower, the more they are ordered",
                            None, rotation[-1], too_short=options.quick,
                            error=of_samples(rods[-1]["rotation_error"], options.seeds),
                            holds=bool(np.all(np.diff(np.array(rotation)[np.argsort(order)]) < 0.0)),
                            note=f"{', '.join(f'{value:.3f}' for value in rotation)} of half the vorticity, falling"))
        for quantity, point in itertools.product(("rotation", "tumbling"), smooth):
            ratio = point[quantity] / over_order(rods, quantity, point["order"])
            report.find(Finding("arXiv 2606.13070", f"mean {quantity}", f"aspect ratio {point['aspect']:g}, friction "
                                f"{SMOOTH:g}: over that of rough rods with this order", None, ratio,
                                error=of_samples(point[f"{quantity}_error"], options.seeds) * ratio / point[quantity],
                                holds=bool(abs(ratio - 1.0) < 0.2), too_short=options.quick,
                                note=f"S2 {point['order']:.3f}, {quantity} {point[quantity]:.3f}; 0.8 to 1.2 holds"))


def draw(figure, pressure, volume, rods, smooth, laws):
    (friction, fraction), (order, angle), (rotation, tumbling) = figure.subplots(3, 2)
    for panel, quantity in ((friction, "mu"), (fraction, "solid_fraction")):
        for points, colour, label in ((pressure, COLOURS[0], "constant pressure"),
                                      (volume, COLOURS[1], "constant volume")):
            bars(panel, points, "inertial_number", quantity, colour, label)
        panel.set(xscale="log", xlabel="inertial number $I$")
    if laws:
        x = np.geomspace(min(point["inertial_number"] for point in pressure) / 1.5, 0.4, 100)
        (static, *_), (error, *_) = laws[0]
        friction.plot(x, friction_law(x, *laws[0][0]), color=COLOURS[0], linewidth=0.8,
                      label=rf"$\mu_s$ = {static:.3f} ± {error:.3f}")
        (critical, *_), (error, *_) = laws[1]
        fraction.plot(x, fraction_law(x, *laws[1][0]), color=COLOURS[0], linewidth=0.8,
                      label=rf"$\phi_c$ = {critical:.4f} ± {error:.4f}")
    friction.set_ylabel(r"friction $\mu$")
    fraction.set_ylabel(r"solid fraction $\phi$")
    bars(order, rods, "aspect", "order", COLOURS[0], f"rods, I = {MIDDLE:g}")
    x = np.linspace(1.0, 5.0, 100)
    order.plot(x, surface_order(x), ":", color="0.4", label="from the surface")
    order.set(xlabel="aspect ratio", ylabel="nematic order $S_2$", ylim=(0.0, 1.0))
    bars(angle, rods, "aspect", "angle", COLOURS[0], None)
    angle.set(xlabel="aspect ratio", ylabel="director to the flow (degrees)", ylim=(0.0, None))
    x = np.linspace(0.0, 0.9, 100)
    for panel, quantity in ((rotation, "rotation"), (tumbling, "tumbling")):
        for points, colour in ((rods, COLOURS[0]), (smooth, COLOURS[1])):
            bars(panel, points, "order", quantity, colour, points and f"rods, friction {points[0]['friction']:g}")
        panel.plot(x, over_order(rods, quantity, x), color=COLOURS[0], linewidth=0.8)
        panel.set(xlabel="nematic order $S_2$", ylabel=f"{quantity} / half the vorticity", ylim=(0.0, 1.0))
    for panel in (friction, fraction, order, rotation, tumbling):
        panel.legend(fontsize=8)


def bars(panel, points, x, y, colour, label):
    panel.errorbar([point[x] for point in points], [point[y] for point in points],
                   [point[f"{y}_error"] for point in points], fmt="o", color=colour, markersize=4, label=label)


EXPERIMENT = Scenario("shear_rheology", __doc__, study=run, add_options=add_options, defaults={"workers": None})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
