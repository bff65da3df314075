#!/usr/bin/env python3
"""Capillary bridges between wet spheres: a contact law of a user that reaches beyond touch. A worked example.

The built-in laws have bridges of a constant volume with another formula, `hertz-mindlin:liquid=willett`. These here can
share a liquid.

At touch a bridge of a liquid forms; it pulls until the gap s of the spheres reaches the rupture distance s_c. The pull
follows Rabinovich, Esayanur & Moudgil, Langmuir 21, 10992 (2005), without the term of the immersion angle; s_c follows
Lian, Thornton & Adams, J. Colloid Interface Sci. 161, 138 (1993):

    F_c = 2 pi R gamma cos(theta) (1 - s / sqrt(s^2 + 2 V / (pi R))),  s_c = (1 + theta/2) V^(1/3)

with the radius R = 2 R* of two equal spheres, the volume V of the bridge, the surface tension gamma and the contact
angle theta. In contact s = 0, and Hertz's repulsion is added. The history of a contact says whether it has a bridge:
a pair in a gap that has not touched has none. At touch the pull begins at once. The energy that a slow separation
would take from then on,

    E = 2 pi R gamma cos(theta) (s_c + b - sqrt(s_c^2 + b^2)),  b^2 = 2 V / (pi R)

is dissipated then, by viscosity and waves; at rupture the bridge holds no energy. Bodies that meet more slowly than
sqrt(2 E / m*) stick. The law is written twice: below in Python, for arrays of eight contacts, and in C, in
capillary_bridge.c.

First, two spheres collide head on at several speeds; the restitution is compared with sqrt(1 - 2 E / (m* v^2)). Then
64 wet spheres fly about in a box and stick together, with each interface. Without a C compiler C is skipped.

Last, the 64 spheres share a liquid, half of them being dry at first: each gives a part of the liquid that it has, the
field `liquid`, to each bridge that forms, and gets half of the bridge at rupture. The law transfers these amounts; the
volume of the bridge is in the history of the contact. The liquid on spheres and in bridges stays the same to rounding.
"""

import sys
from math import cos, pi, sqrt
from pathlib import Path

import numpy as np

import minidem as md
from minidem.core.literature import article
from minidem.core.parameters import NonNegative, Positive
from minidem.scenario import Scenario
from minidem.scenario.plot import COLOURS, styles
from minidem.scenarios.c_functions import ctypes_functions
from minidem.scenarios.papers import Finding, of_step

# --- The law in Python, for arrays of eight contacts.


def capillary_energy(gap, pull, width, rupture):
    """Energy of a bridge relative to separated bodies [J]; pull : at touch [N], width : b^2 [m2]."""
    return -pull * (rupture - gap - (np.sqrt(rupture * rupture + width) - np.sqrt(gap * gap + width)))


def geometry(contacts):
    """Overlap and gap [m], 0 or 1 for a bridge, and what a bridge has: pull, width and rupture distance."""
    _, per_radius, area, rupture = contacts.coefficients.T[:4]
    deep, gap = np.maximum(contacts.overlap, 0.0), np.maximum(-contacts.overlap, 0.0)
    bridge = (contacts.overlap > 0.0) | (contacts.history[:, 0, 3] > 0.0) & (gap < rupture)
    return deep, gap, bridge.astype(float), per_radius * contacts.radius, area / contacts.radius, rupture


def force(contacts, tension, angle, volume):
    deep, gap, bridge, pull, width, rupture = geometry(contacts)
    elastic = contacts.coefficients[:, 0] * np.sqrt(contacts.radius * deep) * deep
    size = elastic - bridge * pull * (1.0 - gap / np.sqrt(gap * gap + width))
    contacts.force = size[:, None] * contacts.normal
    begins = (contacts.step > 0.0) & (contacts.history[:, 0, 3] == 0.0)
    contacts.dissipated[:, 0] = np.where(begins, -bridge * capillary_energy(0.0, pull, width, rupture), 0.0)
    contacts.history[:, 0, 3] = contacts.goes_on = bridge


def describe(contacts, tension, angle, volume):
    deep, gap, bridge, pull, width, rupture = geometry(contacts)
    contacts.normal_energy = 0.4 * contacts.coefficients[:, 0] * np.sqrt(contacts.radius * deep) * deep * deep \
        + bridge * (capillary_energy(gap, pull, width, rupture) - pull * deep)


# --- The law where spheres share the liquid, in Python.


def shared_geometry(contacts, volume, tension):
    """Overlap and gap [m], pull, width and rupture distance of bridges of these volumes (8,); no volume: no pull."""
    pull = 4.0 * pi * tension * contacts.radius * (volume > 0.0)
    return (np.maximum(contacts.overlap, 0.0), np.maximum(-contacts.overlap, 0.0), pull,
            volume / (pi * contacts.radius), np.cbrt(volume))


def shared_force(contacts, tension, part, reach):
    volume = contacts.history[:, 0, 3].copy()
    forms = (volume == 0.0) & (contacts.overlap > 0.0) & (contacts.ids[:, 1] >= 0)          # not at walls
    given = np.where(forms[:, None], part * contacts.fields["liquid"], 0.0)
    volume += given.sum(axis=1)
    deep, gap, pull, width, rupture = shared_geometry(contacts, volume, tension)
    breaks = (volume > 0.0) & (gap >= np.minimum(rupture, reach))
    contacts.transfer["liquid"] = np.where(breaks, 0.5 * volume, 0.0)[:, None] - given
    volume[breaks] = pull[breaks] = 0.0
    size = contacts.coefficients[:, 0] * np.sqrt(contacts.radius * deep) * deep
    size -= pull * (1.0 - gap / np.sqrt(gap * gap + width + (volume == 0.0)))
    contacts.force = size[:, None] * contacts.normal
    lost = -capillary_energy(0.0, pull, width, rupture)
    contacts.dissipated[:, 0] = np.where(forms & (contacts.step > 0.0), lost, 0.0)
    contacts.history[:, 0, 3] = volume
    contacts.goes_on = (contacts.overlap > 0.0) | (volume > 0.0)


def shared_describe(contacts, tension, part, reach):
    deep, gap, pull, width, rupture = shared_geometry(contacts, contacts.history[:, 0, 3], tension)
    contacts.normal_energy = 0.4 * contacts.coefficients[:, 0] * np.sqrt(contacts.radius * deep) * deep * deep \
        + capillary_energy(gap, pull, width, rupture) - pull * deep


# --- The interfaces: each returns the two functions for `register`, or None if something is missing.

INTERFACES = {"numpy": lambda: {"force": force, "describe": describe},
              "ctypes": lambda: ctypes_functions(Path(__file__).with_suffix(".c"), ("force", "describe"))}
RABINOVICH = article(
    "rabinovich2005capillary", ("Rabinovich, Yakov I.", "Esayanur, Madhavan S.", "Moudgil, Brij M."),
    "Capillary forces between two spheres with a fixed volume liquid bridge: theory and experiment", "Langmuir", "21",
    "10992--10997", "2005", "10.1021/la0517639")
LIAN = article(
    "lian1993theoretical", ("Lian, Guoping", "Thornton, Colin", "Adams, Michael J."),
    "A theoretical study of the liquid bridge forces between two rigid spherical bodies",
    "Journal of Colloid and Interface Science", "161", "138--147", "1993", "10.1006/jcis.1993.1452")


def rupture_distance(values):
    """s_c [m]."""
    return (1.0 + 0.5 * values["angle"]) * values["volume"] ** (1.0 / 3.0)


def coefficients(pair, values):
    """4/3 E*; pull at touch and b^2, both per or times R*; s_c."""
    return (4.0 / 3.0 * pair["modulus"], 4.0 * pi * values["tension"] * cos(values["angle"]), values["volume"] / pi,
            rupture_distance(values))


RECORD = {
    "title": "capillary bridges", "cites": (RABINOVICH, LIAN), "coefficients": coefficients,
    "reads": ("young", "poisson"), "range": lambda pair, values, radius: rupture_distance(values),
    "parameters": {"tension": NonNegative(0.073), "angle": NonNegative(0.0), "volume": Positive}}
SHARED = {
    "title": "capillary bridges that share a liquid", "cites": (RABINOVICH, LIAN), "reads": ("young", "poisson"),
    "coefficients": lambda pair, values: (4.0 / 3.0 * pair["modulus"],),
    "range": lambda pair, values, radius: values["reach"],
    "parameters": {"tension": NonNegative(0.073), "part": NonNegative(0.05), "reach": Positive}}

# --- The comparison.

RADIUS, DENSITY, VOLUME, TENSION = 1e-3, 2500.0, 1e-11, 0.073       # [m], [kg/m3], [m3], water [N/m]
GLASS = md.Material(young=1e7, poisson=0.3, density=DENSITY)
SPHERE = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], density=DENSITY)
STEP = 2e-6                                                         # 150 in a contact [s]
SPEEDS = np.array([0.5, 0.9, 1.1, 1.5, 2.0, 4.0])                   # over the sticking speed
PAPER = "Rabinovich et al. 2005"


def energy_of_separation():
    """E of two of the spheres [J]."""
    width = 2.0 * VOLUME / (pi * RADIUS)
    rupture = VOLUME ** (1.0 / 3.0)
    return 2.0 * pi * RADIUS * TENSION * (rupture + sqrt(width) - sqrt(rupture * rupture + width))


STICKING = sqrt(4.0 * energy_of_separation() / SPHERE.mass)         # m* = m / 2


def simulation(law, walls=None, options=f"volume={VOLUME}", dt=STEP):
    return md.Simulation(GLASS, walls, contact=f"{law}:{options}", dt=dt)


def collide(law, speed, dt=STEP):
    """Two spheres head on: rebound speed over approach speed, 0 if they stick; rows (gap, force) of the contact."""
    sim, rows = simulation(law, dt=dt), []

    def note(sim):
        for contact in sim.contacts():
            rows.append((-contact["overlap"], contact["force"] @ contact["normal"]))

    sim.add_clumps(SPHERE, [(0.0, 0.0, 0.0), ((2.0 + 1e-6) * RADIUS, 0.0, 0.0)],
                   velocity=[(0.5 * speed, 0.0, 0.0), (-0.5 * speed, 0.0, 0.0)])
    sim.run(round(8.0 * VOLUME ** (1.0 / 3.0) / (STICKING * dt)), every=1, callback=note)
    apart = sim.velocity[1, 0] - sim.velocity[0, 0]
    return (0.0 if len(sim.contacts()) else apart / speed), np.array(rows)


def clusters(sim):
    """Largest number of spheres that are connected by bridges."""
    group = np.arange(sim.n_clumps)
    contacts = sim.contacts()
    contacts = contacts[contacts["clump_j"] >= 0]
    for _ in range(sim.n_clumps):
        least = np.minimum(group[contacts["clump_i"]], group[contacts["clump_j"]])
        np.minimum.at(group, contacts["clump_i"], least)
        np.minimum.at(group, contacts["clump_j"], least)
    return np.max(np.bincount(group))


def cloud(law, **settings):
    """64 spheres in a box."""
    spacing = 2.4 * RADIUS
    sim = simulation(law, md.box_walls(np.zeros(3), np.full(3, 4.0 * spacing)), **settings)
    places = spacing * (0.5 + np.stack(np.meshgrid(*3 * [np.arange(4)]), axis=-1).reshape(-1, 3))
    sim.add_clumps(SPHERE, places, velocity=0.4 * STICKING * np.random.default_rng(1).normal(size=(len(places), 3)))
    return sim


def liquid(sim):
    """Liquid on the spheres, and in bridges [m3]."""
    return sim.fields["liquid"].sum(), sim.contacts()["history"][:, 0, 3].sum()


def share(steps):
    """64 spheres of which half are dry: rows (time, liquid on spheres, in bridges, spheres with liquid)."""
    md.contact.register("capillary-shared", shared_force, shared_describe, **SHARED)
    sim = cloud("capillary-shared", options=f"reach={RADIUS / 5.0}")
    sim.fields.add("liquid", 10.0 * VOLUME * (np.arange(sim.n_clumps) % 2))
    rows = [(0.0, *liquid(sim), np.count_nonzero(sim.fields["liquid"]))]
    for _ in range(25):
        sim.run(steps // 25)
        rows.append((sim.time, *liquid(sim), np.count_nonzero(sim.fields["liquid"])))
    return np.array(rows)


def fly(law, steps):
    """64 spheres in a box: rows (time, kinetic energy, largest cluster, error of the balance) and the final state."""
    sim = cloud(law)
    start, rows = sim.energy().balance, []
    for _ in range(25):
        sim.run(steps // 25)
        energy = sim.energy()
        rows.append((sim.time, energy.kinetic, clusters(sim), energy.balance / start - 1.0))
    return np.array(rows), b"".join(a.tobytes() for a in (sim.position, sim.velocity, sim.angular_velocity))


def run(options, report):
    laws = []
    for name, interface in INTERFACES.items():
        functions = interface()
        if functions:
            md.contact.register(f"capillary-{name}", **functions, **RECORD)
            laws.append(f"capillary-{name}")
    found, errors = [], []
    for speed in report.progress("collisions", SPEEDS):
        runs = [collide(laws[-1], speed * STICKING, part * STEP) for part in (4, 2, 1)]
        found.append(runs[-1])
        errors.append(of_step([e for e, _ in runs]))
    steps = 5000 if options.quick else 40_000
    flights = {law: fly(law, steps) for law in report.progress("spheres in a box", laws)}
    shares = share(steps)
    exact = np.sqrt(np.maximum(0.0, 1.0 - 1.0 / SPEEDS ** 2))
    report.table("restitution", ("speed_over_sticking_speed", "restitution", "error", "exact"),
                 [(speed, e, error, right) for speed, (e, _), error, right in zip(SPEEDS, found, errors, exact)])
    for finding in findings(found, errors, exact, flights, shares):
        report.find(finding)
    report.figure("capillary_bridge", lambda figure: draw(figure, found, flights[laws[-1]][0]), (9.0, 4.0))
    report.say(f"Sticking speed {STICKING:.3g} m/s; the largest cluster has "
               f"{flights[laws[-1]][0][-1, 2]:.0f} of 64 spheres.")


def findings(found, errors, exact, flights, shares):
    for speed, (e, _), error, right in zip(SPEEDS, found, errors, exact):
        yield Finding(PAPER, "two spheres", f"restitution at {speed:g} times the sticking speed", None, e, error=error,
                      holds=bool(abs(e - right) < 5e-3), note=f"within 0.005 of {right:.4f}")
    states = {state for _, state in flights.values()}
    yield Finding(PAPER, "64 spheres", "every interface gives the same bits", None, len(states),
                  holds=len(states) == 1, note=f"different final states of {', '.join(flights)}")
    rows = next(iter(flights.values()))[0]
    yield Finding(PAPER, "64 spheres", "error of the energy balance over the initial energy", None,
                  np.max(np.abs(rows[:, 3])), holds=bool(np.max(np.abs(rows[:, 3])) < 5e-3),
                  note="kinetic, elastic, capillary and dissipated energy, below five thousandths")
    yield Finding(PAPER, "64 spheres", "they stick together", None, rows[-1, 2], holds=bool(rows[-1, 2] > 3.0),
                  note="more than three spheres in the largest cluster")
    total = shares[:, 1] + shares[:, 2]
    error = np.max(np.abs(total / total[0] - 1.0))
    yield Finding(PAPER, "64 spheres that share a liquid", "change of the liquid over all of it", None, error,
                  holds=bool(error < 1e-13 and shares[-1, 2] > 0.0), note="on spheres and in bridges, below 1e-13")
    yield Finding(PAPER, "64 spheres that share a liquid", "spheres with liquid, of which 32 had it at first", None,
                  shares[-1, 3], holds=bool(shares[-1, 3] > 32.0), note="more than 32")


def draw(figure, found, rows):
    left, right = figure.subplots(1, 2)
    shown = [(speed, force) for speed, (_, force) in zip(SPEEDS, found) if speed in (0.9, 1.5)]
    for (speed, force), (colour, style) in zip(shown, styles(len(shown))):
        left.plot(1e3 * force[:, 0], 1e3 * force[:, 1], color=colour, linestyle=style,
                  label=f"{speed:g} times the sticking speed")
    left.set(xlabel="gap (mm)", ylabel="force, repulsion positive (mN)", ylim=(-0.6, 1.0))
    left.legend()
    right.plot(1e3 * rows[:, 0], 1e6 * rows[:, 1], color=COLOURS[0])
    right.set(xlabel="time (ms)", ylim=(0.0, None))
    right.set_ylabel("kinetic energy (µJ)", color=COLOURS[0])
    size = right.twinx()
    size.plot(1e3 * rows[:, 0], rows[:, 2], "--", color=COLOURS[1])
    size.set_ylim(0.0, None)
    size.set_ylabel("spheres in the largest cluster (dashed)", color=COLOURS[1])
    size.grid(False)
    size.spines["right"].set_visible(True)


EXPERIMENT = Scenario("capillary_bridge", __doc__, study=run)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
