#!/usr/bin/env python3
"""A cantilever of bonded spheres: deflection and lowest frequency against the theories of beams.

A chain of spheres, bonded (D. O. Potyondy & P. A. Cundall, Int. J. Rock Mech. Min. Sci. 41, 1329 (2004), doi
10.1016/j.ijrmms.2004.09.011), begins at a sphere that does not move; a force acts on its last one from the start. The
end oscillates about the static deflection, which is the deflection of Timoshenko's beam, with the lowest frequency of
the beam of Euler and Bernoulli (S. P. Timoshenko, Philos. Mag. 41, 744 (1921), doi 10.1080/14786442108636264). The last
mass is half a spacing longer than the beam that it stands for, so that the frequency belongs to a beam with this
length.

    python scenarios/cantilever.py --quick
    python scenarios/cantilever.py

beams.csv has a row for each number of bonds and step, cantilever.png the deflection of the end over the time.
"""
import math
import sys

import numpy as np
from scipy.optimize import curve_fit

import minidem as md
from minidem.scenario import Scenario
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding, of_step

RADIUS, SPACING, DENSITY = 0.01, 0.021, 1000.0          # of the spheres [m], [kg/m3]
YOUNG, RATIO, LOAD = 1e7, 2.6, 1e-5                     # of the bonds [Pa], k_n / k_s; at the end [N]
BONDS, QUICK = (5, 10, 20), (5, 8)
STEPS = 0.4, 0.2, 0.1                                   # over sqrt(m / k_n)
PERIODS, SLOWEST = 3, 3.5160                            # (beta L)^2 of the lowest mode
BALL = md.ClumpTemplate([(0, 0, 0)], [RADIUS], density=DENSITY)
CLAMP = md.ClumpTemplate([(0, 0, 0)], [RADIUS], density=1e12 * DENSITY)


def theory(bonds):
    """Static deflection [m] (Timoshenko) and lowest frequency [rad/s] (Euler and Bernoulli)."""
    stiffness, length = YOUNG * math.pi * RADIUS ** 2 / SPACING, bonds * SPACING
    bending = stiffness * SPACING * RADIUS ** 2 / 4
    deflection = LOAD * length ** 3 / (3 * bending) + LOAD * length * RATIO / (stiffness * SPACING)
    return deflection, SLOWEST * math.sqrt(bending / (BALL.mass / SPACING * (length + 0.5 * SPACING) ** 4))


def beam(bonds, step, contact="hertz-mindlin:bonds=parallel"):
    """The chain with its load; step : over sqrt(m / k_n)."""
    material = md.Material(young=1e6, poisson=0.3, restitution=0.5, friction=0.5)
    stiffness = YOUNG * math.pi * RADIUS ** 2 / SPACING
    sim = md.Simulation(material, contact=contact, dt=step * math.sqrt(BALL.mass / stiffness))
    sim.add_clumps(CLAMP, [(0, 0, 0)])
    sim.add_clumps(BALL, [(k * SPACING, 0, 0) for k in range(1, bonds + 1)])
    sim.bonds.add([(k, k + 1) for k in range(bonds)], young=YOUNG, stiffness_ratio=RATIO)
    force, none = np.zeros((2, bonds + 1, 3))
    force[-1, 2] = -LOAD
    sim.forces.add(lambda t, x, v, q, w: (force, none))
    return sim


def measured(bonds, step):
    """Deflection and frequency over theory, largest change of the balance of energy over the load's work, curve."""
    sim, (deflection, slowest) = beam(bonds, step), theory(bonds)
    start, rows = sim.energy().balance, []
    sim.run_until(PERIODS * 2 * math.pi / slowest, every=40,
                  callback=lambda sim: rows.append((sim.time, -sim.position[-1, 2], sim.energy().balance - start)))
    time, down, change = np.transpose(rows)
    fit, _ = curve_fit(lambda t, mean, size, rate, phase: mean + size * np.cos(rate * t + phase), time, down,
                       p0=(deflection, -deflection, slowest, 0.0))
    residual = np.abs(change).max() / (LOAD * deflection)
    return fit[0] / deflection, fit[2] / slowest, residual, (time * slowest / (2 * math.pi), down / deflection)


def run(options, report):
    rows, curves = [], {}
    for bonds in report.progress("bonds", QUICK if options.quick else BONDS):
        for step in STEPS:
            deflection, frequency, residual, curves[bonds] = measured(bonds, step)
            rows.append((bonds, step, deflection, frequency, residual))
    report.table("beams", ("bonds", "step", "deflection", "frequency", "balance"), rows)
    bonds, step, deflection, frequency, residual = rows[-1]
    columns = np.transpose(rows[-3:])
    for name, values in (("deflection / Timoshenko", columns[2]), ("lowest frequency / Euler, Bernoulli", columns[3])):
        report.find(Finding("Timoshenko 1921", "beam", f"{name}, {bonds} bonds", "1", values[-1], tolerance=0.01,
                            error=of_step(values), note="at 0.1 of sqrt(m / k)"))
    order = math.log2(rows[-2][4] / residual)
    report.find(Finding("Timoshenko 1921", "energy", "order of the balance in the step", "2", order, tolerance=0.15))
    report.find(Finding("Timoshenko 1921", "energy", "change of the balance over the work", None, residual,
                        holds=residual < 1e-5, note="below 1e-5"))
    report.figure("cantilever", lambda figure: draw(figure, curves))
    report.say(f"{bonds} bonds: deflection {deflection:.4f} of Timoshenko's, frequency {frequency:.4f} of Euler and "
               f"Bernoulli's, balance of energy within {residual:.1e} of the work, order {order:.2f} in the step.")


def draw(figure, curves):
    panel = figure.subplots()
    for colour, (bonds, curve) in zip(COLOURS, curves.items()):
        panel.plot(*curve, color=colour, label=f"{bonds} bonds")
    panel.axhline(1.0, color="black", linewidth=0.8, label="Timoshenko, static")
    panel.set(xlabel="time / period of the lowest mode", ylabel="deflection / static")
    panel.legend()


EXPERIMENT = Scenario("cantilever", __doc__, study=run)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
