"""Self-test of an installation, in a few seconds: conservation, equal bits, orders of convergence, exact solutions.

It is a short selection from the tests of the source tree, for machines where minidem is installed without them.
"""
import tempfile
import time
from pathlib import Path

import numpy as np

from minidem import rotation
from minidem.initial import place_densely, random_directions
from minidem.material import Material, effective_modulus
from minidem.simulation import Simulation
from minidem.templates.clump_template import ClumpTemplate
from minidem.walls import box_walls

STEP, RESTITUTION = 2e-5, 0.5
HARD = Material(young=1e9, poisson=0.1)
GLASS = Material(young=4e8, poisson=0.2, restitution=RESTITUTION, friction=0.3)
ROD = ClumpTemplate([(-0.04, 0, 0), (0, 0, 0), (0.04, 0, 0)], [0.02] * 3, density=2500.0)
BALL = ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0)
COMPARED = "position", "velocity", "orientation", "angular_velocity"


def gas(count, contact="hertz", walls=True, threads=1, material=HARD, solid=0.05):
    """Rods with random velocities, in a box if `walls`."""
    rng = np.random.default_rng(1)
    edge = (count * ROD.volume / solid) ** (1.0 / 3.0)
    low, high = np.zeros(3), np.full(3, edge)
    sim = Simulation(material, box_walls(low, high) if walls else None, contact=contact, dt=STEP, threads=threads)
    [(position, orientation)] = place_densely([ROD], [count], low, high, rng)
    sim.add_clumps(ROD, position, orientation, velocity=4.0 * random_directions(count, rng),
                   angular_velocity=rng.normal(size=(count, 3)))
    return sim


def difference(sims, steps):
    """Number of values of two simulations that differ in any bit after a number of steps."""
    for sim in sims:
        sim.run(steps)
    first, second = (np.hstack([getattr(sim, name) for name in COMPARED]).view(np.int64) for sim in sims)
    return np.count_nonzero(first != second)


def energy():
    sim = gas(30, contact="hertz:onset=corrected")
    start = sim.energy().total
    sim.run(100_000)
    return abs(sim.energy().total / start - 1.0)


def momentum():
    sim = gas(100, walls=False, solid=0.2)
    scale = (sim.mass * np.linalg.norm(sim.velocity, axis=1)).sum()
    start = sim.linear_momentum()
    sim.run(10_000)
    return np.abs(sim.linear_momentum() - start).max() / scale


def balance():
    sim = gas(200, contact="hertz-mindlin", material=GLASS, solid=0.2)
    start = sim.energy()
    sim.run(10_000)
    end = sim.energy()
    if not end.dissipated > 0.01 * start.total:
        return np.inf               # nothing that could be balanced
    return abs(end.balance - start.balance) / start.total


def overlap():
    """Largest overlap of two elastic spheres head on, against the solution of Hertz."""
    speed = 1.0
    modulus, mass, radius = effective_modulus(HARD, HARD), BALL.mass / 2.0, BALL.radii[0] / 2.0
    deepest = (15.0 / 16.0 * mass * speed ** 2 / (modulus * radius ** 0.5)) ** 0.4
    halfway = 1.4716377 * deepest / speed       # time from the first touch to the largest overlap
    sim = Simulation(HARD, dt=halfway / 500)
    sim.add_clumps(BALL, [(0, 0, 0), (0.02, 0, 0)], velocity=[(speed / 2, 0, 0), (-speed / 2, 0, 0)])
    sim.run(500)
    return abs((0.02 - np.ptp(sim.position[:, 0])) / deepest - 1.0)


def restitution():
    sim = Simulation(GLASS, contact="hertz-mindlin", dt=2e-6)
    sim.add_clumps(BALL, [(0, 0, 0), (0.0201, 0, 0)], velocity=[(0.5, 0, 0), (-0.5, 0, 0)])
    sim.run(3000)
    return abs(np.ptp(sim.velocity[:, 0]) - RESTITUTION)


def threads():
    return difference([gas(2000, threads=number, solid=0.2) for number in (1, 2)], 300)


def checkpoint():
    sim = gas(200, contact="hertz-mindlin", material=GLASS, solid=0.2)
    sim.run(500)
    with tempfile.TemporaryDirectory() as folder:
        sim.save(Path(folder, "checkpoint.npz"))
        return difference([sim, Simulation.load(Path(folder, "checkpoint.npz"))], 500)


def orders():
    """Largest shortfall of a measured order of convergence from that in the record of the scheme."""
    body = dict(inertia=(1.0, 2.0, 3.0), orientation=(1, 0, 0, 0), angular_velocity=(1.0, 2.0, 3.0), torque=(1, 0, 1))
    exact = rotation.integrate("rk4", **body, dt=1 / 6400, steps=6400)
    shortfall = []
    for name in rotation.available():
        record = rotation.info(name)
        runs = [rotation.integrate(name, **body, dt=1.0 / steps, steps=steps) for steps in (400, 800)]
        for quantity, order in (("orientation", record.order_q), ("angular_velocity", record.order_w)):
            coarse, fine = (np.abs(getattr(run, quantity) - getattr(exact, quantity)).max() for run in runs)
            shortfall.append(order - np.log2(coarse / fine))
    return max(shortfall)


CHECKS = {          # name: (function, largest number that passes)
    "relative energy error of 30 rods after 100 000 steps": (energy, 1e-4),
    "relative change of momentum of 100 rods without walls": (momentum, 1e-13),
    "relative change of the energy balance with friction": (balance, 1e-3),
    "relative error of the largest Hertz overlap": (overlap, 1e-5),
    "error of a coefficient of restitution of 0.5": (restitution, 2e-3),
    "values that differ between 1 and 2 threads": (threads, 0),
    "values that differ after a checkpoint": (checkpoint, 0),
    "largest shortfall of the order of a rotation scheme": (orders, 0.1),
}


def run() -> bool:
    """Print one line per check; return whether all passed."""
    start, failed = time.perf_counter(), 0
    for name, (check, limit) in CHECKS.items():
        try:
            number = check()
            passed, result = number <= limit, f"{number:10.2g}   limit {limit:g}"       # nan does not pass
        except Exception as error:          # a defect; the other checks continue
            passed, result = False, f"{type(error).__name__}: {error}"
        failed += not passed
        print(f"{'ok' if passed else 'FAILED':7} {name:56} {result}", flush=True)
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} checks passed in {time.perf_counter() - start:.1f} s")
    return not failed
