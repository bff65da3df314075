"""The bound of stable steps: how far it is below the limit, and what runs at 0.95 of it do."""
from math import pi, sin, sqrt

import numpy as np
import pytest

import minidem as md
from minidem.accuracy.verify import changed
from minidem.analysis import stable_step
from minidem.analysis.damping import damping_rate, spring_rate
from minidem.initial import place

R, K, DEEP = 0.01, 1e5, 1e-5
BALL = md.ClumpTemplate([(0, 0, 0)], [R], 2500.0)
ROD = md.ClumpTemplate([(-R, 0, 0), (0, 0, 0), (R, 0, 0)], [0.6 * R] * 3, 2500.0)


def chain(count, dt=1e-6, walls=True, contact=f"hooke:stiffness={K:g}"):
    """Spheres in a row, overlapping alike, between two planes or free."""
    spacing, last = 2 * R - DEEP, (count - 1) * (2 * R - DEEP) + R - DEEP
    planes = [md.Plane((DEEP - R, 0, 0), (1, 0, 0)), md.Plane((last, 0, 0), (-1, 0, 0))]
    sim = md.Simulation(md.Material(1e7, 0.3), planes if walls else [], contact=contact, dt=dt)
    sim.add_clumps(BALL, [(spacing * k, 0, 0) for k in range(count)])
    return sim


@pytest.mark.parametrize("count, walls, square, part", [
    (1, True, 2.0, 1.0), (2, False, 2.0, 1.0), (2, True, 3.0, 1.0), (3, True, 4.0 * sin(3 * pi / 8) ** 2, 0.923),
    (10, True, 4.0 * sin(10 * pi / 22) ** 2, 0.989), (10, False, 4.0 * sin(9 * pi / 20) ** 2, 0.987)])
def test_chains(count, walls, square, part):
    """Exact for one and two spheres; of longer chains the bound is that of an infinite one.

    square : largest eigenvalue of M^-1 K, over k / m
    """
    sim = chain(count, walls=walls)
    limit = 2.0 * sqrt(sim.mass[0] / K / square)
    assert stable_step(sim) == pytest.approx(part * limit, rel=1e-3) and stable_step(sim) <= limit * (1.0 + 1e-9)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_energy_of_chains(count):
    """It is bounded at 0.95 of the step, and grows above the limit."""
    bound, limit = stable_step(chain(count)), 2.0 / spring_rate(chain(count), chain(count).contacts())[0]
    for dt in 0.95 * bound, 1.01 * limit:
        sim = chain(count, dt)
        sim.set_motion(range(count), velocity=np.random.default_rng(1).normal(0.0, 1e-6, (count, 1)) * [1, 0, 0])
        before = sim.energy().total - chain(count).energy().total
        sim.run(2000)
        growth = (sim.energy().total - chain(count).energy().total) / before
        assert (growth < 20.0) == (dt < bound), growth


def bed(contact, **material):
    """Rods at rest in a box."""
    rough = md.Material(young=1e7, poisson=0.2, restitution=0.3, **material)
    sim = md.Simulation(rough, md.box_walls((0, 0, 0), (0.08, 0.08, 0.4)), dt=2e-5, threads=1, contact=contact,
                        gravity=(0, 0, -9.81))
    (position, orientation), = place([ROD], [60], (0, 0, 0), (0.08, 0.08, 0.3), np.random.default_rng(1))
    sim.add_clumps(ROD, position, orientation)
    sim.run_until(1.0)
    return sim


@pytest.mark.parametrize("contact", ["hertz-mindlin", "hertz-mindlin:mass=single", "hooke-coulomb:stiffness=1e4"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_bed_of_rods(contact):
    """At rest it stays so at 0.95 of the step; no rate is above the bound, and the bound is not far away."""
    sim = bed(contact, friction=0.4)
    bound = stable_step(sim)
    measured = 2.0 / spring_rate(sim, sim.contacts())[0], 1.0 / damping_rate(sim)[0]
    print(f"{contact}: {bound:.3g} s; springs {measured[0]:.3g} s, dashpots {measured[1]:.3g} s")
    assert 0.4 * min(measured) < bound < min(measured)
    count = np.ceil(sim.step_count * sim.dt / (0.95 * bound))
    coarse = changed(sim, sim.step_count / count)
    assert 0.9 * bound < coarse.dt <= 0.95 * bound
    before = coarse.energy()
    coarse.run(4000)
    after = coarse.energy()
    print(before.kinetic, after.kinetic, after.total - before.total)
    assert after.kinetic < max(2.0 * before.kinetic, 1e-9) and stable_step(coarse) > 0.9 * bound


def bonded(damping, dt):
    """A chain of six spheres across small gaps."""
    sim = md.Simulation(md.Material(1e7, 0.3), dt=dt, contact="hertz-mindlin:bonds=parallel")
    sim.add_clumps(BALL, [(2.01 * R * k, 0, 0) for k in range(6)])
    sim.bonds.add(0.1 * R, young=1e7, damping=damping)
    return sim


def test_bonds():
    """Beside the rate at which the monitor warns, and above it without dashpots."""
    sim = bonded(1.5, 1e-6)
    dt = 1e-5
    for _ in range(12):
        again = bonded(1.5, dt)
        dt *= (1.0 / (damping_rate(again)[0] * dt)) ** 0.5
    print(stable_step(sim) / dt)
    assert 0.5 * dt < stable_step(sim) < dt < stable_step(bonded(0.0, 1e-6))


def test_nothing_touches():
    assert stable_step(md.Simulation(md.Material(1e7, 0.3), dt=1e-6)) == np.inf
