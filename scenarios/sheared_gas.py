#!/usr/bin/env python3
"""A sheared gas of spheres without friction, against kinetic theory.

Spheres of one size at a solid fraction of 0.3 in a box with Lees-Edwards boundaries, for several restitutions. In the
steady state the granular temperature is that at which collisions dissipate the work of the shear stress.

The anisotropic Gaussian theory takes Maxwell's velocity distribution with another variance along each direction and no
further assumption about the shear rate (J. T. Jenkins & M. W. Richman, J. Fluid Mech. 192, 313 (1988), doi
10.1017/S0022112088001892; S. Saha & M. Alam, J. Fluid Mech. 795, 549 (2016), doi 10.1017/jfm.2016.237). It is solved
here by quadrature over the directions of collisions. Dashed: the first order in the shear rate (V. Garzo & J. W.
Dufty, Phys. Rev. E 59, 5895 (1999), doi 10.1103/PhysRevE.59.5895), from which the gas deviates by 8 % at a restitution
of 0.9.

    python scenarios/sheared_gas.py --quick
    python scenarios/sheared_gas.py

table.csv has a row for each run, gas.csv the means over the seeds with standard errors beside the theories,
sheared_gas.png all over the restitution. The shear stress follows from the work of the box, without sampling error.
"""

import math
import sys

import numpy as np
import scipy.special
from scipy.optimize import fsolve

import minidem as md
from minidem.analysis.flow import granular_temperature
from minidem.initial import place_densely
from minidem.scenario import Scenario
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding, of_samples
from minidem.scenarios.periodic_grains import add_study_options, sample_mean

FRACTION, DIAMETER, DENSITY, RATE = 0.3, 1e-3, 2500.0, 100.0        # [m], [kg/m3], [1/s]
YOUNG, STEP = 1e9, 0.25                                 # [Pa]; of the Rayleigh step
START, SAMPLE = 10.0, 0.02                              # strain before measurements, and between them
RESTITUTIONS, QUICK = (0.7, 0.8, 0.9, 0.95, 0.98), (0.9,)
NEAR = 0.03                                             # allowed deviation from the theory


def contact_value(fraction):
    """Pair distribution function at contact (Carnahan & Starling)."""
    return (1.0 - 0.5 * fraction) / (1.0 - fraction) ** 3


def gaussian_theory(fraction, restitution, nodes=24):
    """Steady shear of smooth inelastic spheres: (T, p, shear stress) in units of diameter, mass and shear rate.

    With the velocity covariance K, the velocity gradient L and the number density n, n (L K + K L^T) = S(K); S is the
    change of m V V by collisions of relative normal velocity g = G.k - k_x k_y, G a normal deviate of covariance 2 K.
    """
    height, weight = np.polynomial.legendre.leggauss(nodes)
    angle = np.pi * np.arange(2 * nodes) / nodes
    height, angle = np.meshgrid(height, angle, indexing="ij")
    weight = np.repeat(weight, 2 * nodes) * np.pi / nodes
    across = np.sqrt(1.0 - height ** 2)
    k = np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=-1).reshape(-1, 3)
    flow, n, half = k[:, 0] * k[:, 1], 6.0 * fraction / np.pi, 0.5 * (1.0 + restitution)
    chi, gradient = contact_value(fraction), np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

    def covariance(x):
        return np.array([[x[0], x[3], 0.0], [x[3], x[1], 0.0], [0.0, 0.0, x[2]]])

    def moments(variance):
        """Width q of G.k, its covariance with G over q, and E[g^2], E[g^3], E[g^2 G.k] over g > 0."""
        q = np.sqrt(2.0 * np.einsum("ni,ij,nj->n", k, variance, k))
        b = flow / q
        zero, one = 0.5 * scipy.special.erfc(b / math.sqrt(2.0)), np.exp(-0.5 * b ** 2) / math.sqrt(2.0 * np.pi)
        two, three = zero + b * one, (b ** 2 + 2.0) * one
        return (2.0 * (k @ variance) / q[:, None] ** 2, q ** 2 * (two - 2.0 * b * one + b ** 2 * zero),
                q ** 3 * (three - 3.0 * b * two + 3.0 * b ** 2 * one - b ** 3 * zero),
                q ** 3 * (three - 2.0 * b * two + b ** 2 * one))

    def residual(x):
        variance = covariance(x)
        along, _, cubed, mixed = moments(variance)
        drift = -half * np.einsum("n,ni,nj->ij", weight * mixed, along, k)
        source = drift + drift.T + 2.0 * half ** 2 * np.einsum("n,ni,nj->ij", weight * cubed, k, k)
        left = gradient @ variance + variance @ gradient.T - 0.5 * chi * n * source
        return left[0, 0], left[1, 1], left[2, 2], left[0, 1]

    guess = 0.3 / (1.0 - restitution ** 2)
    variance = covariance(fsolve(residual, (guess, guess, guess, -0.1 * math.sqrt(guess)), xtol=1e-12))
    squared = moments(variance)[1]
    pressure = n * variance + 0.5 * chi * n ** 2 * half * np.einsum("n,ni,nj->ij", weight * squared, k, k)
    return np.trace(variance) / 3.0, np.trace(pressure) / 3.0, -pressure[0, 1]


def first_order(fraction, restitution):
    """The same of the first order in the shear rate."""
    chi, a, n = contact_value(fraction), restitution, 6.0 * fraction / np.pi
    excess = 32.0 * (1.0 - a) * (1.0 - 2.0 * a ** 2) / (81.0 - 17.0 * a + 30.0 * a ** 2 * (1.0 - a))
    cooling = 5.0 / 12.0 * chi * (1.0 - a ** 2) * (1.0 + 3.0 * excess / 32.0)
    collisions = chi * (1.0 - 0.25 * (1.0 - a) ** 2) * (1.0 - excess / 64.0)
    kinetic = (1.0 - 0.4 * (1.0 + a) * (1.0 - 3.0 * a) * fraction * chi) / (collisions - 0.5 * cooling)
    bulk = 128.0 / (5.0 * np.pi) * fraction ** 2 * chi * (1.0 + a) * (1.0 - excess / 32.0)
    viscosity = kinetic * (1.0 + 0.8 * fraction * chi * (1.0 + a)) + 0.6 * bulk
    unit = 5.0 / 16.0 / math.sqrt(np.pi)                # viscosity of the dilute elastic gas at T = 1
    root = unit / n * math.sqrt(viscosity / (1.5 * cooling))
    return root ** 2, n * root ** 2 * (1.0 + 2.0 * (1.0 + a) * fraction * chi), viscosity * unit * root


def simulation(restitution, count, seed, contact="hertz-mindlin", threads=1):
    """Spheres with the temperature of the theory, before the first step."""
    ball = md.ClumpTemplate([(0, 0, 0)], [0.5 * DIAMETER], DENSITY)
    rng, low = np.random.default_rng(seed), np.zeros(3)
    high = np.full(3, (count * ball.volume / FRACTION) ** (1 / 3))
    [(position, orientation)] = place_densely([ball], [count], low, high, rng)
    material = md.Material(YOUNG, 0.3, restitution=restitution)
    sim = md.Simulation(material, contact=contact, dt=STEP * material.rayleigh_step(0.5 * DIAMETER, DENSITY),
                        threads=threads, periodic=md.PeriodicBox(low, high, axes=(True,) * 3, shear=("x", "y", RATE)))
    speed = math.sqrt(gaussian_theory(FRACTION, restitution)[0]) * RATE * DIAMETER
    velocity = rng.normal(0.0, speed, (count, 3))
    sim.add_clumps(ball, position, orientation, velocity=velocity - velocity.mean(axis=0))
    return sim


def shear(restitution, count, strain, seed):
    """Means of one run over a strain: temperature, pressure and shear stress, in units of the theory."""
    sim, rows = simulation(restitution, count, seed), []
    volume, unit = sim.box.volume, sim.mass[0] * RATE ** 2 / DIAMETER
    sim.run(round(START / RATE / sim.dt))
    work, start = sim.energy().work, sim.time

    def measure(sim):
        rows.append((granular_temperature(sim) / (RATE * DIAMETER) ** 2,
                     np.trace(sim.stress(kinetic=True)) / 3.0 / unit))

    sim.run(round(strain / RATE / sim.dt), every=round(SAMPLE / RATE / sim.dt), callback=measure)
    stress = (sim.energy().work - work) / (volume * RATE * (sim.time - start)) / unit
    temperature, pressure = np.mean(rows, axis=0)
    return {"temperature": temperature, "pressure": pressure, "stress": stress}


def add_options(group):
    add_study_options(group, count=1000, quick_count=1000, seeds=5)


def run(options, report):
    restitutions = QUICK if options.quick else RESTITUTIONS
    rows = report.runs(f"{__file__}:shear", {
        "restitution": restitutions, "count": [options.count], "strain": [20.0 if options.quick else 50.0],
        "seed": range(1, options.seeds + 1)})
    names, table = ("temperature", "pressure", "stress"), {}
    for restitution in restitutions:
        found = [row for row in rows if row["restitution"] == restitution and not row["error"]]
        if len(found) > 1:
            theories = zip(names, gaussian_theory(FRACTION, restitution), first_order(FRACTION, restitution))
            table[restitution] = [(*sample_mean([row[name] for row in found]), theory, first)
                                  for name, theory, first in theories]
    report.table("gas", ("restitution", "quantity", "mean", "error", "gaussian_theory", "first_order"),
                 [(e, name, *values) for e, found in table.items() for name, values in zip(names, found)])
    for restitution, found in table.items():
        for name, (value, error, theory, first) in zip(names, found):
            report.find(Finding(
                "Saha 2016", f"restitution {restitution:g}", f"{name} / that of the theory", None, value / theory,
                error=of_samples(error / theory, options.seeds),
                holds=abs(value / theory - 1.0) < NEAR, too_short=error > 0.5 * NEAR * theory,
                note=f"{value / theory:.3f} ± {error / theory:.3f}, of the first order {value / first:.3f}; within "
                     f"{NEAR:.0%} of the anisotropic Gaussian theory holds"))
    for finding in report.findings:
        report.say(f"{finding.item}, {finding.quantity}: {finding.note}")
    if table:
        report.figure("sheared_gas", lambda figure: draw(figure, table), size=(9.0, 3.2))


def draw(figure, table):
    fine = np.linspace(0.65, 0.99, 60)
    theories = [np.array([theory(FRACTION, e) for e in fine]) for theory in (gaussian_theory, first_order)]
    labels = (r"temperature / $(\dot\gamma d)^2$", r"pressure / $(m\dot\gamma^2/d)$",
              r"shear stress / $(m\dot\gamma^2/d)$")
    for k, (panel, label) in enumerate(zip(figure.subplots(1, 3), labels)):
        panel.plot(fine, theories[0][:, k], color=COLOURS[0], label="anisotropic Gaussian")
        panel.plot(fine, theories[1][:, k], "--", color="0.5", label="first order in the shear rate")
        values, errors = ([found[k][part] for found in table.values()] for part in (0, 1))
        panel.errorbar(list(table), values, errors, fmt="o", color=COLOURS[1], markersize=4, label="minidem")
        panel.set(xlabel="restitution", ylabel=label, yscale="log")
        if k == 0:
            panel.legend(fontsize=7)


EXPERIMENT = Scenario("sheared_gas", __doc__, study=run, add_options=add_options, defaults={"workers": None})
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
