#!/usr/bin/env python3
"""A user-defined contact law with history through four interfaces: NumPy, numba, ctypes and SciPy. A worked example.

The law is the linear hysteretic spring of O. R. Walton & R. L. Braun, J. Rheol. 30, 949 (1986), without friction. With
friction it is an option of minidem, `hooke-coulomb:plastic=walton-braun`. A contact is loaded with the stiffness k1 and
unloaded with k2 > k1:

    F = max(k2 d - (k2 - k1) d_max, 0),  d_max = largest overlap of the contact so far

d_max is its history. The coefficient of restitution is e = sqrt(k1 / k2), at any speed. k1 is a parameter of the law,
e a property of the pair of materials, so that k2 = k1 / e^2. The elastic energy is F^2 / (2 k2); what d_max has gained
in a step, k1 (1 - k1/k2) (d_max^2 - d_before^2) / 2, is dissipated. The law is written twice: below in Python, for
arrays of eight contacts (NumPy) and for single contacts (numba), and in C, in custom_law.c.

First, two spheres collide head on with each interface; restitution and the area of the hysteresis loop are compared
with the exact ones. Then each runs a gas of rods in a box, which cools, next to the built-in damped spring
hooke-coulomb with the same stiffness and restitution. Unavailable interfaces (no numba, no C compiler) are skipped.
"""

import sys
from pathlib import Path
from time import process_time

import numpy as np

import minidem as md
from minidem.contact import columns
from minidem.core.literature import article
from minidem.scenario import Scenario
from minidem.scenario.plot import styles
from minidem.scenarios.c_functions import ctypes_functions, scipy_functions
from minidem.scenarios.curves import together
from minidem.scenarios.papers import Finding, of_step

# --- The law in Python, for arrays or numbers.


def magnitude(overlap, largest, loading, unloading):
    """F [N] of overlap and largest overlap [m], k1 and k2 [N/m]."""
    return np.maximum(unloading * overlap - (unloading - loading) * largest, 0.0)


def lost(largest, before, loading, unloading):
    """Energy dissipated as the largest overlap grows [J]."""
    return 0.5 * loading * (1.0 - loading / unloading) * (largest * largest - before * before)


def force(contacts, stiffness):
    before, (loading, unloading) = contacts.history[:, 0, 3].copy(), contacts.coefficients.T[:2]
    largest = np.maximum(before, contacts.overlap)
    contacts.force = magnitude(contacts.overlap, largest, loading, unloading)[:, None] * contacts.normal
    contacts.dissipated[:, 0] = np.where(contacts.step > 0.0, lost(largest, before, loading, unloading), 0.0)
    contacts.history[:, 0, 3] = largest


def describe(contacts, stiffness):
    loading, unloading = contacts.coefficients.T[:2]
    size = magnitude(contacts.overlap, contacts.history[:, 0, 3], loading, unloading)
    contacts.normal_energy = 0.5 * size * size / unloading


# --- The interfaces: each returns the two functions for `register`, or None if something is missing.


def numpy_interface():
    return {"force": force, "describe": describe}


def numba_interface():
    try:
        import numba
        from numba.extending import register_jitable
    except ModuleNotFoundError:
        return None
    for function in (magnitude, lost):
        register_jitable(function)
    compiled = numba.cfunc("void(CPointer(float64), CPointer(float64), CPointer(float64), CPointer(float64))")
    loading, unloading = columns.COEFFICIENTS, columns.COEFFICIENTS + 1

    @compiled
    def force(contact, history, result, parameters):
        rows, records, results = (numba.carray(contact, (columns.IDS, 8)), numba.carray(history, (4, 8)),
                                  numba.carray(result, (columns.GOES_ON, 8)))
        results[:] = 0.0
        for k in range(8):
            before, largest = records[3, k], np.maximum(records[3, k], rows[columns.OVERLAP, k])
            size = magnitude(rows[columns.OVERLAP, k], largest, rows[loading, k], rows[unloading, k])
            for m in range(3):
                results[columns.FORCE + m, k] = size * rows[columns.NORMAL + m, k]
            if rows[columns.STEP, k] > 0.0:
                results[columns.DISSIPATED, k] = lost(largest, before, rows[loading, k], rows[unloading, k])
            records[3, k] = largest

    @compiled
    def describe(contact, history, result, parameters):
        rows, records, results = (numba.carray(contact, (columns.IDS, 8)), numba.carray(history, (4, 8)),
                                  numba.carray(result, (4, 8)))
        results[:] = 0.0
        for k in range(8):
            size = magnitude(rows[columns.OVERLAP, k], records[3, k], rows[loading, k], rows[unloading, k])
            results[columns.NORMAL_ENERGY, k] = 0.5 * size * size / rows[unloading, k]

    return {"force": force, "describe": describe}


C_FUNCTIONS = Path(__file__).with_suffix(".c"), ("force", "describe")
INTERFACES = {"numpy": numpy_interface, "numba": numba_interface, "ctypes": lambda: ctypes_functions(*C_FUNCTIONS),
              "scipy": lambda: scipy_functions(*C_FUNCTIONS)}
WALTON = article(
    "walton1986viscosity", ("Walton, Otis R.", "Braun, Robert L."),
    "Viscosity, granular-temperature, and stress calculations for shearing assemblies of inelastic, frictional disks",
    "Journal of Rheology", "30", "949--980", "1986", "10.1122/1.549893")
RECORD = {
    "title": "linear hysteretic spring", "cites": (WALTON,), "power": 1.0, "parameters": {"stiffness": None},
    "coefficients": lambda pair, values: (values["stiffness"], values["stiffness"] / pair["restitution"] ** 2),
    "reads_of_pairs": ("restitution",)}

# --- The comparison.

PAPER = "Walton & Braun 1986"
STIFFNESS, RESTITUTION = 1e6, 0.7                                   # k1 [N/m]
SECONDS = 4e-3                                                      # longer than any of the collisions
SPHERE = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05], density=2500.0)
ROD = md.ClumpTemplate([(-0.06, 0, 0), (0, 0, 0), (0.06, 0, 0)], [0.04] * 3, density=2500.0)


def simulation(law, restitution, walls, dt):
    material = md.Material(young=1e8, poisson=0.3, restitution=restitution)
    return md.Simulation(material, walls, contact=f"{law}:stiffness={STIFFNESS}", dt=dt)


def collide(law, restitution, dt=2e-6):
    """Two spheres head on: rows (overlap [m], force [N]) of the steps of the contact, and the rebound speed over that
    of approach."""
    sim, rows = simulation(law, restitution, None, dt), []

    def note(sim):
        for contact in sim.contacts():
            rows.append((contact["overlap"], np.linalg.norm(contact["force"])))

    sim.add_clumps(SPHERE, [(-0.05, 0, 0), (0.05, 0, 0)], velocity=[(1.0, 0, 0), (-1.0, 0, 0)])
    sim.run(round(SECONDS / dt), every=1, callback=note)
    return np.array(rows), 0.5 * (sim.velocity[1, 0] - sim.velocity[0, 0])


def cool(law, steps):
    """A gas of 64 rods in a box. Returns rows (time, kinetic energy, error of the energy balance) of 50 samples, the
    final state as bytes, and the CPU time per step [us]."""
    spacing = np.array([0.22, 0.1, 0.1])
    sim = simulation(law, RESTITUTION, md.box_walls(np.zeros(3), 4.0 * spacing), 2e-5)
    places = spacing * (0.5 + np.stack(np.meshgrid(*3 * [np.arange(4)]), axis=-1).reshape(-1, 3))
    velocity, spin = np.random.default_rng(1).normal(size=(2, len(places), 3))
    sim.add_clumps(ROD, places, velocity=5.0 * velocity, angular_velocity=50.0 * spin)
    start, rows, seconds = sim.energy().balance, [], 0.0
    for _ in range(50):
        begun = process_time()
        sim.run(steps // 50)
        seconds += process_time() - begun
        energy = sim.energy()
        rows.append((sim.time, energy.kinetic, energy.balance / start - 1.0))
    state = b"".join(a.tobytes() for a in (sim.position, sim.orientation, sim.velocity, sim.angular_velocity))
    return np.array(rows), state, 1e6 * seconds / sim.step_count


def run(options, report):
    laws = []
    for name, interface in INTERFACES.items():
        functions = interface()
        if functions:
            md.contact.register(f"walton-braun-{name}", **functions, **RECORD)
            laws.append(f"walton-braun-{name}")
    shown = (0.5, RESTITUTION, 0.9)
    loops = {e: [collide(laws[0], e, part * 2e-6) for part in (4, 2, 1)] for e in report.progress("loops", shown)}
    rebounds = {law: collide(law, RESTITUTION) for law in report.progress("collisions", laws)}
    gases = {law: cool(law, 500 if options.quick else 10000)
             for law in report.progress("gas of rods", ["hooke-coulomb", *laws])}
    report.table("interfaces", ("law", "restitution", "kinetic_energy", "us_per_step"),
                 [(law, rebounds[law][1] if law in rebounds else None, gas[0][-1, 1], gas[2])
                  for law, gas in gases.items()])
    for finding in findings(laws, loops, rebounds, gases):
        report.find(finding)
    report.figure("hysteresis", lambda figure: draw(figure, loops, gases))
    for law, (_, _, cost) in gases.items():
        report.say(f"{law}: {cost:.1f} us per step of 64 rods")


def findings(laws, loops, rebounds, gases):
    for e, runs in loops.items():
        speeds = [rebound for _, rebound in runs]
        areas = [np.sum(0.5 * (rows[1:, 1] + rows[:-1, 1]) * np.diff(rows[:, 0])) / SPHERE.mass for rows, _ in runs]
        yield Finding(PAPER, "two spheres", "restitution", e, speeds[-1], tolerance=2e-3, error=of_step(speeds))
        yield Finding(PAPER, "two spheres", f"area of the loop over kinetic energy, e = {e}", round(1.0 - e * e, 3),
                      areas[-1], tolerance=2e-3, error=of_step(areas))
    bits = {rows.tobytes() for rows, _ in rebounds.values()}
    yield Finding(PAPER, "two spheres", "every interface gives the same bits", None, len(bits), holds=len(bits) == 1,
                  note=f"different collisions of {', '.join(laws)}")
    states = {gases[law][1] for law in laws}
    yield Finding(PAPER, "gas of rods", "every interface gives the same bits", None, len(states),
                  holds=len(states) == 1, note=f"different final states of {', '.join(laws)}")
    error = np.max(np.abs(gases[laws[0]][0][:, 2]))
    yield Finding(PAPER, "gas of rods", "error of the energy balance over the initial energy", None, error,
                  holds=bool(error < 1e-3), note="kinetic, elastic and dissipated energy, below a thousandth")


def draw(figure, loops, gases):
    left, right = figure.subplots(1, 2)
    for (e, (*_, (rows, _))), (colour, style) in zip(loops.items(), styles(len(loops))):
        left.plot(1e3 * rows[:, 0], 1e-3 * rows[:, 1], color=colour, linestyle=style, label=f"e = {e}")
    left.set_xlabel("overlap (mm)")
    left.set_ylabel("force (kN)")
    left.legend()
    curves = together({law: rows for law, (rows, _, _) in gases.items()})
    for (laws, rows), (colour, style) in zip(curves.items(), styles(len(curves))):
        right.plot(rows[:, 0], 1e-3 * rows[:, 1], color=colour, linestyle=style, label=laws.replace(", ", ",\n"))
    right.set_xlabel("time (s)")
    right.set_ylabel("kinetic energy (kJ)")
    right.legend()


EXPERIMENT = Scenario("custom_law", __doc__, study=run)
main = EXPERIMENT.main

if __name__ == "__main__":
    sys.exit(main())
