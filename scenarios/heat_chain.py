#!/usr/bin/env python3
"""Heat conduction through contacts: a chain of spheres and a packing of dimers against the exact solution.

Grains of a uniform temperature each exchange h (T_j - T_i) through a contact, h = 2 k a (G. K. Batchelor & R. W.
O'Brien, Proc. R. Soc. A 355, 313 (1977), doi 10.1098/rspa.1977.0100; in simulations of grains W. L. Vargas & J. J.
McCarthy, AIChE J. 47, 1052 (2001), doi 10.1002/aic.690470511), with the conductivity k of the grains and the radius a
= sqrt(R d) of the circle of contact, of effective radius R and overlap d. The temperature is a field of the clumps, the
heat a flux in twelve lines of Python.

First, a chain of spheres is pressed between a wall at 400 K and one at 300 K, its temperature at the start. Nothing
moves, so that the temperatures obey a linear system with constant coefficients, whose solution is a matrix exponential;
at late times they are linear along the chain. Then a packing of dimers, pressed together in a box until it is at rest,
is heated from below and cooled from above, between adiabatic side walls; the matrix follows from sim.contacts() at the
start. The conductivity is 3e4 times the conductivity of glass: heat, which is slower than elastic waves by orders of
magnitude, takes some seconds of processor time.

    python scenarios/heat_chain.py --quick
    python scenarios/heat_chain.py

chain.csv and packing.csv have the temperature of each grain at several times with the exact one, heat_chain.png both;
the folders `chain` and `packing` have frames for ParaView, with the field `temperature`.
"""
import math
import sys

import numpy as np
from scipy.linalg import expm

import minidem as md
from minidem.initial import place_densely
from minidem.scenario import Scenario, at_least
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding

RADIUS, DENSITY = 1e-3, 2500.0                          # of the spheres [m], [kg/m3]
CAPACITY, CONDUCTIVITY = 800.0, 3e4                     # [J/(kg K)], [W/(m K)]
HOT, COLD = 400.0, 300.0                                # of the walls [K]
STEP, OVERLAP = 1e-5, 0.01                              # [s]; of the spheres of the chain / RADIUS
MATERIAL = md.Material(young=1e7, poisson=0.3, restitution=0.5, friction=0.5)
BALL = md.ClumpTemplate([(0, 0, 0)], [RADIUS], density=DENSITY)
DIMER = md.ClumpTemplate([(-0.5 * RADIUS, 0, 0), (0.5 * RADIUS, 0, 0)], [RADIUS] * 2, density=DENSITY)
TIMES = 0.05, 0.1, 0.25, 1.6                            # of the chain, over the square of its length, in units of C / h
FRACTION, GROWTH, DRAG = 0.5, (1.0, 1.02, 1.035), 30.0  # of the packing: at the start; of all lengths; [1/s]
REST, PAUSE, PAUSES = 1e-7, 1000, 200                   # change of the radii of contacts in PAUSE steps; at most
STEPS = 600, 1500, 4500                                 # at which the packing is compared
LIMIT = 1e-6                                            # of deviations over HOT - COLD


def conduction(contacts, conductivity):
    """Flux of heat through the circle of contact."""
    temperature = contacts.fields["temperature"]
    width = 2.0 * np.sqrt(contacts.radius * np.maximum(contacts.overlap, 0.0))
    heat = conductivity * width * (temperature[:, 1] - temperature[:, 0])                   # into i [W]
    contacts.rates["temperature"][:] = np.column_stack([heat, -heat])


def heated(sim, walls):
    """Give a simulation a temperature, COLD at first. walls : temperatures of the walls; NaN: adiabatic."""
    sim.fields.add("temperature", COLD, capacity=CAPACITY, per_mass=True, walls=walls)
    sim.fields.add_flux(conduction, [CONDUCTIVITY])
    return sim


def exact(i, j, conductance, walls, capacity, times):
    """Temperatures (times, n) of n grains with constant conductances, all COLD at first.

    i, j : clumps of each contact, as of sim.contacts().  conductance : [W/K].  capacity : (n,) [J/K].
    """
    n = len(capacity)
    rates = np.zeros((n + 1, n + 1))                    # of T, and of 1, by which walls at constant temperature act
    for a, b, h in zip(i, j, conductance):
        if b >= 0:
            rates[[a, b], [b, a]] += h
            rates[[a, b], [a, b]] -= h
        elif not np.isnan(walls[-1 - b]):
            rates[a, a] -= h
            rates[a, n] += h * walls[-1 - b]
    rates[:n] /= capacity[:, None]
    start = np.append(np.full(n, COLD), 1.0)
    return np.array([expm(time * rates)[:n] @ start for time in times])


def measured(sim, contacts, walls, steps, frames=None):
    """Times, temperatures (times, n), exact ones at these numbers of steps from now, when all are COLD."""
    start, found = sim.time, []
    for count in (0, *steps):
        sim.run_until(start + count * sim.dt)
        found.append(sim.fields["temperature"])
        frames and frames(sim)
    times = sim.dt * np.array(steps)
    return times, np.array(found[1:]), exact(*contacts, walls, sim.mass * CAPACITY, times)


def deviation(found, expected):
    """Largest, over the difference of the walls."""
    return np.abs(found - expected).max() / (HOT - COLD)


# --- The chain.


def chain(count, step=STEP):
    """The chain in equilibrium, and its contacts: i, j, conductances [W/K]."""
    overlap = OVERLAP * RADIUS
    at_wall = overlap * 2.0 ** (-1 / 3)                 # for equal forces: the effective radius is twice as large
    z = RADIUS - at_wall + (2.0 * RADIUS - overlap) * np.arange(count)
    walls = [md.Plane((0, 0, 0), (0, 0, 1)), md.Plane((0, 0, z[-1] + RADIUS - at_wall), (0, 0, -1))]
    sim = md.Simulation(MATERIAL, walls, contact="hertz-mindlin", dt=step, threads=1)
    sim.add_clumps(BALL, np.outer(z, (0, 0, 1)))
    links = [(k, k + 1, 0.5 * RADIUS * overlap) for k in range(count - 1)]
    links += [(0, -1, RADIUS * at_wall), (count - 1, -2, RADIUS * at_wall)]
    i, j, squares = zip(*links)
    return heated(sim, [HOT, COLD]), (i, j, 2.0 * CONDUCTIVITY * np.sqrt(squares))


def straight(contacts):
    """Steady temperatures of the chain: contacts are resistances in series, the last two of them at the walls."""
    resistance = 1.0 / contacts[2]
    return HOT - (HOT - COLD) * np.append(resistance[-2], resistance[:-2]).cumsum() / resistance.sum()


def chain_steps(contacts):
    """Steps at TIMES."""
    unit = BALL.mass * CAPACITY / (contacts[2][0] * STEP)
    return [round(time * len(contacts[0]) ** 2 * unit) for time in TIMES]


# --- The packing.


def radii_of_contacts(sim):
    """Pairs of clumps, and radii of their circles of contact; walls have twice the effective radii of pairs."""
    contacts = sim.contacts()
    radius = np.where(contacts["clump_j"] < 0, 1.0, 0.5) * RADIUS * GROWTH[-1]
    return contacts["clump_i"], contacts["clump_j"], np.sqrt(radius * contacts["overlap"])


def change(before, after):
    """Largest change of the radii of contacts over the largest; infinite if contacts have begun or ended."""
    if not all(np.array_equal(a, b) for a, b in zip(before[:2], after[:2])):
        return math.inf
    return np.abs(after[2] - before[2]).max() / before[2].max()


def packing(count, part=lambda done: None, rest=REST):
    """Dimers that grow in a box until they are pressed together, at rest. part : is called with the part done."""
    side = (count * DIMER.volume / FRACTION) ** (1 / 3)
    (position, orientation), = place_densely([DIMER], [count], (0, 0, 0), (side,) * 3, np.random.default_rng(1))
    for scale in GROWTH:
        sim = md.Simulation(MATERIAL, md.box_walls((0, 0, 0), (side,) * 3), contact="hertz-mindlin", dt=STEP,
                            gravity=(0, 0, -9.81), threads=1)
        sim.add_clumps(DIMER, position, orientation, scale=scale)
        drag, spin = DRAG * sim.mass[0], DRAG * sim.mass[0] * 0.4 * RADIUS ** 2
        sim.forces.add(lambda t, x, v, q, w: (-drag * v, -spin * w))
        sim.run(4 * PAUSE)
        position, orientation = sim.position, sim.orientation
    for k in range(PAUSES):
        before = radii_of_contacts(sim)
        sim.run(PAUSE)
        part(k / PAUSES)
        if change(before, radii_of_contacts(sim)) < rest:
            return sim
    raise RuntimeError(f"the packing is not at rest after {sim.step_count} steps")


def warmed(sim, steps=STEPS, frames=None):
    """The packing between the hot bottom and the cold top: as `measured`, and the change of the contacts meanwhile."""
    walls = [np.nan] * 4 + [HOT, COLD]
    i, j, radius = before = radii_of_contacts(sim)
    found = measured(heated(sim, walls), (i, j, 2.0 * CONDUCTIVITY * radius), walls, steps, frames)
    return *found, change(before, radii_of_contacts(sim))


def run(options, report):
    sim, contacts = chain(options.spheres)
    found = measured(sim, contacts, [HOT, COLD], chain_steps(contacts), md.Frames(report.path / "chain"))
    height = sim.position[:, 2]
    write(report, "chain", height, found)
    late = deviation(found[1][-1], straight(contacts))
    sim = packing(options.clumps, lambda part: report.part("the packing comes to rest", part))
    *others, moved = warmed(sim, frames=md.Frames(report.path / "packing"))
    write(report, "packing", sim.position[:, 2], others)
    chains, packings = deviation(*found[1:]), deviation(*others[1:])
    for item, quantity, value in (("chain", "deviation from the matrix exponential", chains),
                                  ("chain", "deviation from the straight line, late", late),
                                  ("packing", "deviation from the matrix exponential", packings)):
        report.find(Finding("Batchelor & O'Brien 1977", item, quantity, None, value, holds=value < LIMIT,
                            note="below 1e-6 of the difference of the walls"))
    parts = (height, *found), (sim.position[:, 2], *others)
    report.figure("heat_chain", lambda figure: draw(figure, parts), (9.0, 4.0))
    report.say(f"{options.spheres} spheres: temperatures are within {chains:.1e} of the exact ones, relative to the "
               f"difference of the walls, and at the end within {late:.1e} of a straight line. {options.clumps} "
               f"dimers with {len(sim.contacts())} contacts: within {packings:.1e}; the radii of contacts "
               f"changed by {moved:.1e} of the largest.")


def write(report, name, height, found):
    report.table(name, ("time", "height", "temperature", "exact"), [
        (time, *row) for time, *both in zip(*found) for row in zip(height, *both)])


def draw(figure, parts):
    for panel, (height, times, found, expected), title in zip(figure.subplots(1, 2), parts, ("chain", "packing")):
        for colour, time, here, there in zip(COLOURS, times, found, expected):
            panel.plot(1e3 * height, here, "o", color=colour, markersize=4, label=f"{time:.2g} s")
            exact_line, = panel.plot(1e3 * height, there, "k-" if title == "chain" else "k.", linewidth=0.8,
                                     markersize=1.5)
        exact_line.set_label("exact")
        panel.set(xlabel="height [mm]", ylabel="temperature [K]", title=title)
        panel.legend()


def add_options(group):
    group.add_argument("--spheres", type=at_least(2), default=lambda options: 8 if options.quick else 20,
                       help="of the chain (default: 20; with --quick 8)")
    group.add_argument("--clumps", type=at_least(20), default=lambda options: 60 if options.quick else 200,
                       help="of the packing (default: 200; with --quick 60)")


EXPERIMENT = Scenario("heat_chain", __doc__, study=run, add_options=add_options)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
