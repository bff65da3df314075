#!/usr/bin/env python3
"""A cohesive powder: two spheres stick below a speed, and a bed stands the steeper the larger its Bond number.

The contacts follow Johnson, Kendall and Roberts: contact="hertz-mindlin:cohesion=jkr". First, two spheres collide
head on without damping. Thornton & Ning, Powder Technol. 99, 154 (1998), have the speed below which they stick,

    v_s = sqrt(14.18 / m*) (w^5 R*^4 / E*^2)^(1/6)

and the restitution above it, sqrt(1 - (v_s / v)^2).

Then spheres of 0.5 mm with friction and rolling resistance settle in a box. One side is opened: powder falls over the
edge of the floor, and a slope remains. The Bond number is the pull-off force 3/2 pi w R* of two spheres over their
weight. slopes.csv has for each Bond number the part of the spheres that stays, the angle of the surface, and the error
of the energy balance; cohesive_slope.png shows the slopes from the side. The angle is measured on a straight line
through the highest spheres of eight strips; a bed with a large Bond number does not flow, and its top stays level.
"""

import sys
from math import pi, sqrt

import numpy as np

import minidem as md
from minidem.contact.parts.jkr import sticking_speed
from minidem.initial import place_densely
from minidem.scenario import Scenario, at_least
from minidem.scenario.plot import COLOURS
from minidem.scenarios.papers import Finding, of_step

RADIUS, YOUNG, POISSON, DENSITY, G = 2.5e-4, 1e6, 0.2, 2500.0, 9.81     # [m], [Pa], -, [kg/m3], [m/s2]
SPHERE = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], density=DENSITY)
BONDS, QUICK_BONDS = (0.0, 1.0, 3.0, 10.0, 30.0), (0.0, 3.0, 30.0)
LENGTH, QUICK_LENGTH, WIDTH = 32, 16, 8                             # of the bed, in radii; it is as high as long
FRACTION = 0.3                                                      # of the placement
STEP = 6e-6                                                         # [s]
LAW = "hertz-mindlin:cohesion=jkr"
SPEEDS = np.array([0.5, 0.9, 0.99, 1.01, 1.1, 1.5, 2.0, 4.0])       # over the sticking speed
PAPER = "Thornton & Ning 1998"


def add_options(group):
    group.add_argument("--steps", type=at_least(10), default=100, metavar="N",
                       help="steps in a contact of two spheres (default: %(default)s)")
    group.add_argument("--seed", type=at_least(0), default=1, help="of the bed (default: %(default)s)")


def adhesion(bond):
    """Work of adhesion [J/m2] of a Bond number."""
    return bond * SPHERE.mass * G / (1.5 * pi * 0.5 * RADIUS)


# --- Two spheres.


def rebound(times, steps):
    """Restitution of two spheres at a speed over the sticking speed; 0 if they stick."""
    material = md.Material(YOUNG, POISSON, adhesion=adhesion(10.0))
    mass, radius, modulus = 0.5 * SPHERE.mass, 0.5 * RADIUS, md.effective_modulus(material, material)
    speed = times * sticking_speed(mass, radius, modulus, material.adhesion)
    dt = 2.868 * (mass ** 2 / (radius * modulus ** 2 * speed)) ** 0.2 / steps
    sim = md.Simulation(material, contact=LAW, dt=dt)
    sim.add_clumps(SPHERE, [(0.0, 0.0, 0.0), (2.0 * RADIUS + 0.4 * speed * dt, 0.0, 0.0)],
                   velocity=[(0.5 * speed, 0.0, 0.0), (-0.5 * speed, 0.0, 0.0)])
    sim.run(round(6 * steps))
    return 0.0 if len(sim.contacts()) else (sim.velocity[1, 0] - sim.velocity[0, 0]) / speed


# --- The slope.


def powder(bond):
    """The powder, smooth walls, and their pair."""
    rough = md.Material(YOUNG, POISSON, restitution=0.5, friction=0.5, rolling_friction=0.1, adhesion=adhesion(bond),
                        name="powder")
    smooth = md.Material(YOUNG, 0.25, name="smooth")
    return rough, smooth, [
        md.Pair(rough, smooth, restitution=0.5, friction=0.0, rolling_friction=0.0, adhesion=0.0)]


def bed(bond, length, walls, position, orientation, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0)):
    """A simulation of the powder between the back, the smooth sides and further walls."""
    rough, smooth, pairs = powder(bond)
    half = 0.5 * WIDTH * RADIUS
    sides = [md.Plane((0.0, -half, 0.0), (0.0, 1.0, 0.0), material=smooth),
             md.Plane((0.0, half, 0.0), (0.0, -1.0, 0.0), material=smooth)]
    sim = md.Simulation(rough, [md.Plane((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), *sides, *walls], dt=STEP, pairs=pairs,
                        contact=f"{LAW},rolling=epsd", gravity=(0.0, 0.0, -G))
    sim.add_clumps(SPHERE, position, orientation, velocity=velocity, angular_velocity=spin)
    return sim


def settle(bond, length, seed):
    """The bed in the closed box at rest."""
    count = round(0.6 * length ** 2 * WIDTH * RADIUS ** 3 / SPHERE.volume)
    low = (0.0, -0.5 * WIDTH * RADIUS, 0.0)
    high = (length * RADIUS, 0.5 * WIDTH * RADIUS, count * SPHERE.volume / (FRACTION * length * WIDTH * RADIUS ** 2))
    [state] = place_densely([SPHERE], [count], low, high, np.random.default_rng(seed))
    closed = md.Plane((length * RADIUS, 0.0, 0.0), (-1.0, 0.0, 0.0)), md.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    sim = bed(bond, length, closed, *state)
    sim.run_until(5.0 * sqrt(2.0 * high[2] / G))
    return sim


def flow(settled, bond, length):
    """The bed after one side was opened: the positions of the spheres that stay, and the error of the balance over the
    energy that was dissipated."""
    wide, far = WIDTH * RADIUS, length * RADIUS
    floor = md.MeshWall(([(-far, -wide, 0.0), (far, -wide, 0.0), (far, wide, 0.0), (-far, wide, 0.0)],
                         [(0, 1, 2), (0, 2, 3)]))
    sim = bed(bond, length, [floor], settled.position, settled.orientation, settled.velocity,
              settled.angular_velocity)
    before = sim.energy()
    for _ in range(30):
        sim.run_until(sim.time + 0.2 * sqrt(2.0 * far / G))
        sim.remove_clumps(sim.ids[sim.position[:, 2] < -0.5 * far])
    after = sim.energy()
    position = sim.position[sim.position[:, 2] > 0.0]
    return position, abs(after.balance - before.balance) / (after.dissipated - before.dissipated)


def surface(position, length):
    """The straight line through the highest spheres of eight strips."""
    return md.analysis.angle_of_repose((position, RADIUS), np.linspace(0.1, 0.8, 9) * length * RADIUS)


def slope(bond, length, seed):
    """Row (Bond number, part that stays, angle, error of the balance), and the positions."""
    settled = settle(bond, length, seed)
    position, error = flow(settled, bond, length)
    return (bond, len(position) / settled.n_clumps, np.degrees(surface(position, length).value), error), position


def run(options, report):
    bonds, length = (QUICK_BONDS, QUICK_LENGTH) if options.quick else (BONDS, LENGTH)
    collisions = np.array([[rebound(speed, options.steps / part) for part in (4, 2, 1)]
                           for speed in report.progress("collisions", SPEEDS)])
    found, errors = collisions[:, -1], [of_step(values) for values in collisions]
    report.table("restitution", ("speed_over_sticking_speed", "restitution", "error"), list(zip(SPEEDS, found, errors)))
    slopes = [slope(bond, length, options.seed) for bond in report.progress("Bond numbers", bonds)]
    rows = [row for row, _ in slopes]
    report.table("slopes", ("bond_number", "stays", "angle", "balance_error"), rows)
    for finding in findings(found, errors, np.array(rows)):
        report.find(finding)
    report.figure("cohesive_slope", lambda figure: draw(figure, found, slopes, length), (9.0, 6.5))
    report.say(f"{100 * rows[0][1]:.0f} % of the spheres stay without cohesion, {100 * rows[-1][1]:.0f} % at a Bond "
               f"number of {rows[-1][0]:g}.")


def findings(found, errors, rows):
    exact = np.sqrt(np.maximum(0.0, 1.0 - 1.0 / SPEEDS ** 2))
    for speed, e, error, right in zip(SPEEDS, found, errors, exact):
        yield Finding(PAPER, "two spheres", f"restitution at {speed:g} times the sticking speed", None, e, error=error,
                      holds=bool(abs(e - right) < 5e-3), note=f"within 0.005 of {right:.4f}")
    yield Finding(PAPER, "slopes", "the more stays, the larger the Bond number", None, rows[-1, 1],
                  holds=bool((np.diff(rows[:, 1]) > -0.02).all() and rows[-1, 1] > rows[0, 1] + 0.2),
                  note="parts of the spheres increase, within 0.02, and by more than 0.2 in total")
    yield Finding(PAPER, "slopes", "error of the energy balance over the dissipated energy", None, np.max(rows[:, 3]),
                  holds=bool(np.max(rows[:, 3]) < 0.02), note="below 0.02 for every Bond number")


def draw(figure, found, slopes, length):
    panels = figure.subplots(2, 3).ravel()
    curve = np.linspace(1.0, SPEEDS[-1], 400)
    panels[0].plot(curve, np.sqrt(1.0 - 1.0 / curve ** 2), color=COLOURS[1], label="theory")
    panels[0].plot(SPEEDS, found, ".", color=COLOURS[0], label="two spheres")
    panels[0].set(xlabel="speed / sticking speed", ylabel="restitution")
    panels[0].legend()
    for panel, ((bond, stays, *_), position) in zip(panels[1:], slopes):
        panel.plot(*(1e3 * position[:, [0, 2]].T), ".", color="0.6", markersize=2)
        panel.plot(*(1e3 * surface(position, length).points.T), color=COLOURS[1])
        panel.set_title(f"Bo = {bond:g}: {100 * stays:.0f} % stay", fontsize="medium")
        panel.set(xlabel="x (mm)", ylabel="z (mm)", xlim=(0.0, 1.1e3 * length * RADIUS),
                  ylim=(0.0, 1.5e3 * length * RADIUS), aspect="equal")
    for panel in panels[len(slopes) + 1:]:
        panel.set_axis_off()


EXPERIMENT = Scenario("cohesive_slope", __doc__, study=run, add_options=add_options)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
