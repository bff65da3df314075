"""Conservation laws, kinetic theory and translation invariance in a periodic box."""
import numpy as np
import pytest
import scenes
from scenes import MATERIAL, scattered

import minidem as md

ALL, SIDE = (True, True, True), 1.0
ELASTIC = md.Material(young=1e8, poisson=0.1)


def cube(side=SIDE, axes=ALL, material=ELASTIC, dt=2e-5, **options):
    return md.Simulation(material, dt=dt, periodic=((0.0, 0.0, 0.0), (side, side, side), axes), **options)


def rods(seed=2, n=60, speed=4.0, **options):
    scene = scattered(seed, [scenes.rod()], n, np.zeros(3), np.full(3, SIDE), ALL, speed=speed)
    sim = cube(**options)
    sim.add_clumps(scene.shapes[0].template, **scenes.motion(scene.state))
    return sim


def collision(shift, contact, material):
    """Two rods that meet with a spin, at the middle of the box moved by `shift` and wrapped."""
    sim = cube(contact=contact, material=material)
    x = np.array([[0.46, 0.5, 0.5], [0.56, 0.51, 0.49]]) + [[0.0] * 3, [0.03, 0.0, 0.0]]
    start = np.mod(x + shift, SIDE) if np.any(shift) else x
    sim.add_clumps(scenes.rod().template, start, scenes.quaternion(scenes.unit_vectors(np.random.default_rng(5), 2),
                                                                       np.array([0.3, 1.9])),
                   velocity=[(3.0, 0.2, 0.0), (-3.0, 0.0, -0.1)], angular_velocity=[(1.0, 9.0, 2.0), (0.0, 4.0, -7.0)])
    rows = []
    sim.run(2000, every=20, callback=lambda sim: rows.append(np.concatenate([
        *(sim.position - start + x), *sim.orientation, *sim.velocity, *sim.angular_velocity,
        list(sim.energy().__dict__.values())[:3], [len(sim.contacts())]])))
    return np.array(rows)


@pytest.mark.parametrize("contact, material", [("hertz", ELASTIC), ("hertz:onset=corrected", ELASTIC),
                                               ("hertz-mindlin:rolling=epsd", MATERIAL)])
@pytest.mark.parametrize("shift", [(0.5, 0.0, 0.0), (0.49, 0.505, -0.505), (0.0, 0.0, 0.5)])
def test_collision_across_faces(shift, contact, material):
    """As in the middle of the box, except for the rounding of coordinates; with friction and its history."""
    middle, across = collision(np.zeros(3), contact, material), collision(np.array(shift), contact, material)
    assert np.count_nonzero(middle[:, -1]) > 3 and np.array_equal(middle[:, -1], across[:, -1])
    assert np.abs(middle[-1, 14:17] - middle[0, 14:17]).max() > 0.3         # velocities have changed
    error = np.abs(middle - across) / np.maximum(1.0, np.abs(middle).max(axis=0))
    assert error.max() < 1e-10 and error[:, :6].max() < 1e-12      # an overlap has the rounding of a coordinate


def test_energy_balance_with_gravity_and_friction():
    """Clumps fall through a periodic axis: what gravity supplies becomes heat and motion."""
    sim = rods(contact="hertz-mindlin", material=MATERIAL, gravity=(0.0, 0.0, -9.81), speed=1.0, dt=1e-5)
    start, kinetic, fallen_from = sim.energy(), [], np.array(sim.position[:, 2])
    sim.run(60000, every=60000, callback=lambda sim: kinetic.append(sim.energy()))
    end = kinetic[0]
    supplied = start.potential - end.potential
    assert np.all(sim.position[:, 2] < fallen_from - 1.0)
    assert supplied > 20.0 * start.kinetic and end.dissipated > 0.1 * start.kinetic
    assert abs(end.balance - start.balance) < 1e-4 * supplied


def test_wrapped_positions():
    """Free clumps: positions are those in unbounded space, wrapped ones in the box, and images connect them; a copy
    keeps its own."""
    sim = cube(axes=(True, False, True), dt=1e-3)
    ball, rng = scenes.ball(0.02).template, np.random.default_rng(3)
    x = 0.125 + 0.25 * np.argwhere(np.ones((4, 4, 4)))
    v = np.tile([8.0, 0.25, -31.0], (64, 1))
    sim.add_clumps(ball, x + [3, 0, -2] * rng.integers(0, 2, (64, 1)), velocity=v)
    start = np.array(sim.position)
    sim.run(40_000)
    kept, before = sim.loop.snapshot().copy().state, sim.position
    sim.run(30_000)
    assert np.array_equal(kept.column("position"), before)
    np.testing.assert_allclose(sim.position, start + sim.time * v, rtol=1e-11)
    assert np.array_equal(sim.wrapped_position[:, 1], sim.position[:, 1]) and not np.any(sim.image[:, 1])
    inside = sim.wrapped_position[:, [0, 2]]
    assert np.all((inside >= 0.0) & (inside <= 1.0)) and sim.image[:, 2].max() < -2000
    np.testing.assert_allclose(sim.wrapped_position + sim.image * SIDE, sim.position, rtol=1e-14)
    assert np.abs(sim.loop.state.in_slot_order("position")[:, [0, 2]]).max() < 200   # wrapped at 32768, 65536


@pytest.mark.parametrize("fraction", [pytest.param(0.05, marks=pytest.mark.slow), 0.15])
def test_pressure_of_a_gas(fraction):
    """Elastic spheres: p V = N k T (1 + f + f^2 - f^3) / (1 - f)^3, equal in all directions.

    N. F. Carnahan & K. E. Starling, J. Chem. Phys. 51, 635 (1969), doi 10.1063/1.1672048."""
    radius, n = 0.05, 512
    side = (n * 4.0 / 3.0 * np.pi * radius ** 3 / fraction) ** (1 / 3)
    rng, sim = np.random.default_rng(7), cube(side, dt=1e-5, material=md.Material(young=1e9, poisson=0.1))
    velocity = rng.normal(size=(n, 3))
    sim.add_clumps(scenes.ball(radius).template, side / 8 * (0.5 + np.argwhere(np.ones((8, 8, 8)))),
                   velocity=velocity - velocity.mean(axis=0))
    temperature = np.sum(sim.mass[:, None] * sim.velocity ** 2) / (3 * n)       # k T
    found = []
    sim.run(20_000)
    sim.run(40_000, every=20, callback=lambda sim: found.append(np.diag(sim.stress(kinetic=True))))
    expected = n * temperature / side ** 3 * (1 + fraction + fraction ** 2 - fraction ** 3) / (1 - fraction) ** 3
    assert np.mean(found) == pytest.approx(expected, rel=0.03)
    np.testing.assert_allclose(np.mean(found, axis=0), expected, rtol=0.1)


def test_stress_of_parts():
    """The stresses of the octants of the box add up to that of the box: branches across faces count once."""
    sim = rods(n=90, speed=6.0)
    parts, whole, contacts = np.zeros((3, 3)), np.zeros((3, 3)), 0
    def add(sim):
        nonlocal contacts
        contacts += len(sim.contacts())
        whole[:] += sim.stress()
        for corner in np.argwhere(np.ones((2, 2, 2))):
            parts[:] += sim.stress(low=corner * [0.3, 0.5, 0.6], high=np.where(corner, 1.0, [0.3, 0.5, 0.6])) * np.prod(
                np.where(corner, [0.7, 0.5, 0.4], [0.3, 0.5, 0.6]))
    sim.run(2000, every=40, callback=add)
    assert contacts > 100
    np.testing.assert_allclose(parts, whole * SIDE ** 3, rtol=0, atol=1e-12 * np.abs(whole).max())
