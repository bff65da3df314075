"""Contacts with cohesion in the engine: collisions, walls, energy, equal bits, restarts."""
from math import sqrt

import numpy as np
import pytest
from bit_systems import STICKY, sticky

import minidem as md
from minidem.contact.parts.jkr import jkr_limits, sticking_speed

RADIUS, ADHESION = 2e-3, 0.2
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], density=2500.0)
ROD = md.ClumpTemplate([(-0.8 * RADIUS, 0.0, 0.0), (0.8 * RADIUS, 0.0, 0.0)], [RADIUS] * 2, density=2500.0)
CLEAN = md.Material(2e8, 0.3, adhesion=ADHESION)
MODULUS = md.effective_modulus(CLEAN, CLEAN)
LAW = "hertz-mindlin:cohesion=jkr"
PLANE = [md.Plane((RADIUS, 0.0, 0.0), (-1.0, 0.0, 0.0))]
WIDE = [(RADIUS, -1.0, -1.0), (RADIUS, 1.0, -1.0), (RADIUS, 1.0, 1.0), (RADIUS, -1.0, 1.0)]
WALLS = {"spheres": None, "plane": PLANE, "mesh": [md.MeshWall((WIDE, [(0, 1, 2), (0, 2, 3)]))]}


def scales(bodies):
    """Effective mass and radius, sticking speed, gap of tear-off."""
    mass, radius = (0.5 * BALL.mass, 0.5 * RADIUS) if bodies == "spheres" else (BALL.mass, RADIUS)
    return mass, radius, sticking_speed(mass, radius, MODULUS, ADHESION), jkr_limits(radius, MODULUS, ADHESION)["gap"]


def head_on(bodies, times, steps, material=CLEAN, contact=LAW):
    """Simulation of a collision at a speed over the sticking speed, before touch, and the speed."""
    mass, radius, sticking, _ = scales(bodies)
    speed = times * sticking
    dt = 2.868 * (mass**2 / (radius * MODULUS**2 * speed)) ** 0.2 / steps
    sim = md.Simulation(material, WALLS[bodies], contact=contact, dt=dt)
    if bodies == "spheres":
        sim.add_clumps(BALL, [(0.0, 0.0, 0.0), (2 * RADIUS + 0.3 * speed * dt, 0.0, 0.0)],
                       velocity=[(0.5 * speed, 0.0, 0.0), (-0.5 * speed, 0.0, 0.0)])
    else:
        sim.add_clumps(BALL, (-0.3 * speed * dt, 1e-4, 2e-4), velocity=(speed, 0.0, 0.0))
    return sim, speed


@pytest.mark.parametrize("bodies", WALLS)
@pytest.mark.parametrize("times", [1.5, 4.0])
def test_restitution_and_energy(bodies, times):
    """e^2 = 1 - (v_s / v)^2 of two spheres, and at walls; the balance closes after the contact as far as the error."""
    sim, speed = head_on(bodies, times, 100)
    start = sim.energy().balance
    sim.run(400)
    assert len(sim.contacts()) == 0
    rebound = sim.velocity[-1, 0] - sim.velocity[0, 0] if bodies == "spheres" else -sim.velocity[0, 0]
    assert rebound / speed == pytest.approx(sqrt(1.0 - times**-2), abs=3e-4)
    assert sim.energy().balance == pytest.approx(start, rel=5e-4)


@pytest.mark.parametrize("bodies", WALLS)
def test_bodies_stick_below_the_sticking_speed(bodies):
    """They oscillate across d = 0, within the gap of tear-off, and the balance stays."""
    sim, _ = head_on(bodies, 0.9, 100)
    start, overlaps = sim.energy().balance, []

    def note(sim):
        overlaps.extend(sim.contacts()["overlap"])

    sim.run(2000, 1, note)
    assert len(sim.contacts()) == 1 and -scales(bodies)[3] < min(overlaps) < -0.5 * scales(bodies)[3]
    assert sim.energy().balance == pytest.approx(start, rel=3e-3)


def test_bodies_in_a_gap_do_not_attract():
    """They have not touched."""
    sim = md.Simulation(CLEAN, contact=LAW, dt=1e-6)
    sim.add_clumps(BALL, [(0.0, 0.0, 0.0), (2 * RADIUS + 0.5 * scales("spheres")[3], 0.0, 0.0)])
    sim.run(100)
    assert len(sim.contacts()) == 0 and not sim.velocity.any()


def test_contacts_at_the_start_lose_nothing():
    """Bodies that overlap at the start are bound, and dissipate nothing."""
    sim = md.Simulation(CLEAN, contact=LAW, dt=1e-7)
    sim.add_clumps(BALL, [(0.0, 0.0, 0.0), (2 * RADIUS - 1e-9, 0.0, 0.0)])
    energy = sim.energy()
    assert energy.elastic < 0.0
    sim.run(2000)
    assert sim.energy().dissipated == 0.0
    assert sim.energy().balance == pytest.approx(energy.balance, rel=1e-3)


def sliding_over_a_mesh(speed, contact=LAW):
    """A ball that adheres to a floor of triangles and slides over their edges."""
    across = np.linspace(-0.02, 0.02, 9)
    x, y = np.meshgrid(across, across, indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    corner = np.arange(72).reshape(8, 9)[:, :8].ravel()
    faces = np.concatenate([np.column_stack([corner, corner + 9, corner + 10]),
                            np.column_stack([corner, corner + 10, corner + 1])])
    floor = md.MeshWall((points, faces))
    sim = md.Simulation(CLEAN, [floor], contact=contact, dt=2e-7)
    limits = jkr_limits(RADIUS, MODULUS, ADHESION)
    sim.add_clumps(BALL, (-0.01, 0.0012, RADIUS - 1.211 * limits["gap"]), velocity=(speed, 0.1 * speed, 0.0))
    return sim


def test_triangles_replace_each_other():
    """The contact goes on over edges: nothing is dissipated, and the height stays."""
    sim = sliding_over_a_mesh(1.0)
    start, heights = sim.energy(), []
    sim.run(90_000, 100, lambda sim: heights.append(sim.position[0, 2]))
    assert sim.position[0, 0] > 0.007 and len(sim.contacts()) >= 1
    assert np.ptp(heights) < 0.05 * jkr_limits(RADIUS, MODULUS, ADHESION)["gap"]
    lost = jkr_limits(RADIUS, MODULUS, ADHESION)["lost_at_touch"]
    assert abs(sim.energy().dissipated) < 1e-9 * lost
    assert sim.energy().balance == pytest.approx(start.balance, rel=1e-9)


@pytest.mark.parametrize("options", STICKY)
def test_balance_of_a_sticky_cloud(options):
    sim = sticky(f"{LAW},{options}")
    start = sim.energy()
    sim.run(8000)
    contacts = sim.contacts()
    assert (contacts["overlap"] > 0.0).any()
    if options == "rolling=epsd":
        assert (contacts["overlap"] < 0.0).any()
    assert sim.energy().balance == pytest.approx(start.balance, abs=5e-4 * start.kinetic)
