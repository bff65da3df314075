"""Contacts with cohesion in the engine: restitution, sticking, what touch and tear-off lose, walls, energy."""
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from bit_systems import STICKY, bumps, sticky
from oblique_impacts import duration

import minidem as md
from minidem.contact.parts.jkr import jkr_curves, jkr_limits, sticking_speed

RADIUS, ADHESION = 2e-3, 0.2
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], density=2500.0)
CLEAN = md.Material(2e8, 0.3, adhesion=ADHESION)
MODULUS = md.effective_modulus(CLEAN, CLEAN)
LAW, HERTZ = "hertz-mindlin:cohesion=jkr", "hertz-mindlin"
WIDE = [(RADIUS, -1.0, -1.0), (RADIUS, 1.0, -1.0), (RADIUS, 1.0, 1.0), (RADIUS, -1.0, 1.0)]
WALLS = {"spheres": None, "plane": [md.Plane((RADIUS, 0.0, 0.0), (-1.0, 0.0, 0.0))],
         "mesh": [md.MeshWall((WIDE, [(0, 1, 2), (0, 2, 3)]))]}


def scales(bodies):
    """Effective mass and radius, sticking speed, and what `jkr_limits` has."""
    mass, radius = (0.5 * BALL.mass, 0.5 * RADIUS) if bodies == "spheres" else (BALL.mass, RADIUS)
    return mass, radius, sticking_speed(mass, radius, MODULUS, ADHESION), jkr_limits(radius, MODULUS, ADHESION)


def head_on(bodies, times, steps, phases=(0.3,), material=CLEAN, contact=LAW):
    """Collisions, each at another fraction of a step, at speeds over the sticking speed, (n,) or one; and the speeds.

    steps : of a Hertz contact at the first speed
    """
    mass, radius, sticking, _ = scales(bodies)
    speed = sticking * np.broadcast_to(times, len(phases))
    dt = duration(mass, radius, MODULUS, speed[0]) / steps
    sim = md.Simulation(material, WALLS[bodies], contact=contact, dt=dt)
    gap, n = np.array(phases) * speed * dt, len(phases)
    place, velocity = np.zeros((2, n, 3)), np.zeros((2, n, 3))
    place[:, :, 1] = 6.0 * RADIUS * np.arange(n)
    if bodies == "spheres":
        place[1, :, 0], velocity[:, :, 0] = 2.0 * RADIUS + gap, [0.5 * speed, -0.5 * speed]
    else:
        place[0, :, 0], velocity[0, :, 0] = -gap, speed
    count = 2 if bodies == "spheres" else 1
    sim.add_clumps(BALL, place[:count].reshape(-1, 3), velocity=velocity[:count].reshape(-1, 3))
    return sim, speed


def rebounds(sim, speed, steps=None):
    """Speeds of separation over speeds of approach, NaN for bodies that stick."""
    sim.run(steps)
    velocity, contacts = sim.velocity[:, 0].reshape(-1, len(speed)), sim.contacts()
    found = (velocity[-1] - velocity[0] if len(velocity) == 2 else -velocity[0]) / speed
    found[contacts["clump_i"] % len(speed)] = np.nan
    return found


PHASES = (np.arange(32) + 0.5) / 32


@pytest.mark.parametrize("times, bound", [(1.5, 3e-3), (4.0, 1e-3)])
def test_order_of_restitution_and_energy(times, bound):
    """e^2 = 1 - (v_s / v)^2 with an error below the bound at 25 steps, which falls with order 1.5; and the balance."""
    errors = []
    for steps in (25, 100, 400):
        sim, speed = head_on("spheres", times, steps, PHASES)
        before, found = sim.energy(), rebounds(sim, speed, 4 * steps)
        errors.append((np.sqrt(np.mean((found - sqrt(1.0 - times**-2)) ** 2)),
                       abs(sim.energy().balance - before.balance) / before.kinetic))
        assert sim.energy().dissipated == pytest.approx(before.kinetic / times**2, rel=1e-12)
    assert max(errors[0]) < bound
    assert np.log(errors[0][0] / errors[-1][0]) / np.log(16) > 1.45 and errors[-1][1] < errors[0][1] / 16


@pytest.mark.parametrize("bodies", WALLS)
def test_restitution_at_walls(bodies):
    sim, speed = head_on(bodies, 1.5, 100)
    start, touch = sim.energy().balance, scales(bodies)[3]["lost_at_touch"]
    sim.run(1)
    assert sim.energy().dissipated == pytest.approx(touch, rel=1e-12)       # booked at once
    assert rebounds(sim, speed, 400) == pytest.approx([sqrt(1.0 - 1.5**-2)], abs=3e-4)
    assert sim.energy().balance == pytest.approx(start, rel=5e-4)


def test_sticking_speed():
    times = np.linspace(0.95, 1.05, 41)
    found = rebounds(*head_on("spheres", times, 100, np.full(41, 0.5)), 600)
    assert np.isnan(found[times < 0.995]).all() and np.isfinite(found[times > 1.005]).all()


@pytest.mark.parametrize("bodies", WALLS)
def test_bodies_stick_below_the_sticking_speed(bodies):
    """They oscillate across d = 0, within the gap of tear-off, and the balance stays."""
    sim, _ = head_on(bodies, 0.9, 100)
    start, overlaps, gap = sim.energy().balance, [], scales(bodies)[3]["gap"]
    sim.run(2000, every=1, callback=lambda sim: overlaps.extend(sim.contacts()["overlap"]))
    assert len(sim.contacts()) == 1 and -gap < min(overlaps) < -0.5 * gap
    assert sim.energy().balance == pytest.approx(start, rel=3e-3)


def test_contacts_at_the_start():
    """Bodies in a gap do not attract each other. Those that overlap are bound, and have lost nothing."""
    _, radius, _, limits = scales("spheres")
    overlaps = np.array([-0.5, -1e-9, 1e-3, 0.5, 2.0]) * limits["gap"]
    sim, place = md.Simulation(CLEAN, contact=LAW, dt=1e-7), np.zeros((2, 5, 3))
    place[:, :, 1], place[1, :, 0] = 6.0 * RADIUS * np.arange(5), 2.0 * RADIUS - overlaps
    sim.add_clumps(BALL, place.reshape(-1, 3))
    energy, curves = sim.energy(), jkr_curves(overlaps[2:], radius, MODULUS, ADHESION)
    np.testing.assert_allclose(-sim.contacts()["force"][:, 0], curves[:, 1], rtol=1e-6)
    assert energy.elastic == pytest.approx(curves[:, 2].sum(), rel=1e-6)
    sim.run(2000)
    assert sim.energy().dissipated == 0.0 and not sim.velocity[[0, 1, 5, 6]].any()
    assert sim.energy().balance == pytest.approx(energy.balance, rel=1e-3)


@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_without_adhesion_it_is_hertz(restitution):
    """Of pairs without adhesion, where others have it; and its limit."""
    like = md.Material(2e8, 0.3, restitution=restitution)
    jkr, plain = (rebounds(*head_on("spheres", 9.0, 100, material=like, contact=law), 400) for law in (LAW, HERTZ))
    weak = md.Material(2e8, 0.3, restitution=restitution, adhesion=1e-9)
    limit = rebounds(*head_on("spheres", 9.0, 100, material=weak), 400)
    assert jkr == pytest.approx(plain, abs=1e-4) and limit == pytest.approx([restitution], abs=1e-4)


@pytest.mark.parametrize("changes", [{}, {"feature_angle": 0.0}])
def test_triangles_replace_each_other(changes):
    """A ball that adheres to a floor of triangles and slides over their edges: one contact, no loss, at one height.
    Without a feature angle each triangle has a contact of its own."""
    floor = md.MeshWall(bumps((-0.02, -0.02), (0.04, 0.04), 8, height=0.0), **changes)
    sim, limits = md.Simulation(CLEAN, [floor], contact=LAW, dt=2e-7), jkr_limits(RADIUS, MODULUS, ADHESION)
    sim.add_clumps(BALL, (-0.01, 0.0012, RADIUS - 1.211 * limits["gap"]), velocity=(1.0, 0.1, 0.0))
    start, heights = sim.energy(), []
    sim.run(90_000, every=100, callback=lambda sim: heights.append(sim.position[0, 2]))
    assert sim.position[0, 0] > 0.007 and len(sim.contacts()) >= 1 and np.ptp(heights) < 0.05 * limits["gap"]
    assert abs(sim.energy().dissipated) < 1e-9 * limits["lost_at_touch"]
    assert sim.energy().balance == pytest.approx(start.balance, rel=1e-9)


def test_friction_begins_at_the_radius_of_touch():
    """A heavy ball touches a plane in the middle of a step and moves along it: T = -8 G* a s from then on."""
    limits, rough = jkr_limits(RADIUS, MODULUS, ADHESION), replace(CLEAN, friction=1e6)
    heavy, dt, steps = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], density=1e12), 1e-6, 10
    sim = md.Simulation(rough, [md.Plane((0, 0, 0), (0, 0, 1))], contact=f"{LAW},tangential_damping=0", dt=dt)
    speed = 1e-4 * limits["gap"] / dt
    sim.add_clumps(heavy, (0, 0, RADIUS + 0.5 * speed * dt), velocity=(1e-6 / dt, 0.0, -speed))
    sim.run(steps)
    radius = jkr_curves(np.zeros(1), RADIUS, MODULUS, ADHESION)[0, 0]
    shear = 1.0 / (2.0 * 2.0 * (2.0 - 0.3) * (1.0 + 0.3) / 2e8)
    assert sim.contacts()["tangential"][0, 0] == pytest.approx(-8.0 * shear * radius * (steps - 0.5) * 1e-6, rel=5e-3)


@pytest.mark.parametrize("contact", STICKY)
def test_balance_of_a_sticky_cloud(contact):
    sim = sticky(contact)
    start = sim.energy()
    sim.run(8000)
    contacts = sim.contacts()
    assert (contacts["overlap"] > 0.0).any()
    if contact == STICKY[0] or "liquid" in contact:
        assert (contacts["overlap"] < 0.0).any()
    assert sim.energy().balance == pytest.approx(start.balance, abs=5e-4 * start.kinetic)
