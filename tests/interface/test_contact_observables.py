"""Coordination number, stress and forces on walls: values computed by hand, and the balance of momentum."""
import numpy as np
import pytest
from settling_scene import BALL, ELASTIC, MATERIAL, ROLLING, material_for, settling

import minidem as md
from minidem.contact.pair_table import PROPERTIES

RADIUS, GRAVITY = 0.04, 9.81
STIFFNESS = 4.0 / 3.0 * md.effective_modulus(ELASTIC, ELASTIC)


def spheres(position, walls=(), contact="hertz", **options):
    sim = md.Simulation(material_for(contact), walls, contact=contact, **{"dt": 1e-5} | options)
    sim.add_clumps(BALL, position)
    return sim


def column(n=4, contact="hertz"):
    """n spheres in equilibrium above each other, and their heights: each contact bears the weight above it."""
    weight = BALL.mass * GRAVITY * np.arange(n, 0, -1)
    radius = np.r_[RADIUS, np.full(n - 1, 0.5 * RADIUS)]                # effective: wall, spheres
    overlap = (weight / (STIFFNESS * np.sqrt(radius))) ** (2.0 / 3.0)
    height = np.cumsum(np.r_[RADIUS, np.full(n - 1, 2.0 * RADIUS)] - overlap)
    box = md.box((0.0, 0.0, 0.0), (1.0, 0.5, 2.0))
    return spheres(np.column_stack([np.full((n, 2), 0.2), height]), box, contact, gravity=(0, 0, -GRAVITY)), height


def test_stress_of_two_spheres():
    """F (2 R - d) / V along the line of centres; half of it in a box that holds half of this line."""
    overlap = 0.02 * RADIUS
    sim = spheres([(0.0, 0.0, 0.0), (0.0, 2.0 * RADIUS - overlap, 0.0)])
    force, length = STIFFNESS * np.sqrt(0.5 * RADIUS) * overlap ** 1.5, 2.0 * RADIUS - overlap
    expected = np.zeros((3, 3))
    expected[1, 1] = force * length / 3.0
    np.testing.assert_allclose(sim.stress(volume=3.0), expected, rtol=1e-12, atol=1e-12 * expected[1, 1])
    np.testing.assert_allclose(sim.stress(low=(-1.0, -0.5, -0.5), high=(0.5, 1.5, 0.5)), expected, rtol=1e-12,
                               atol=1e-12 * expected[1, 1])
    half = sim.stress(low=(-1.0, -0.5, -1.0), high=(1.0, 0.5 * length, 1.0))
    assert half[1, 1] == pytest.approx(0.5 * force * length / (4.0 * (0.5 + 0.5 * length)), rel=1e-12)
    assert not sim.stress(low=(1.0, -1.0, -1.0), high=(2.0, 1.0, 1.0)).any()


def test_stress_of_spheres_on_a_diagonal():
    """F l n n / V, of which a box takes the part of the line inside."""
    axis, overlap = np.array([2.0, -1.0, 2.0]) / 3.0, 0.01 * RADIUS
    length = 2.0 * RADIUS - overlap
    sim = spheres([(0.0, 0.0, 0.0), length * axis])
    force = STIFFNESS * np.sqrt(0.5 * RADIUS) * overlap ** 1.5
    np.testing.assert_allclose(sim.stress(volume=1.0), force * length * np.outer(axis, axis), rtol=1e-11)
    part = sim.stress(low=(0.25 * length * axis[0], -1.0, -1.0), high=(1.0, 1.0, 0.75 * length * axis[2]))
    volume = (1.0 - 0.25 * length * axis[0]) * 2.0 * (1.0 + 0.75 * length * axis[2])
    np.testing.assert_allclose(part, 0.5 * force * length * np.outer(axis, axis) / volume, rtol=1e-11)


def test_stress_of_a_sliding_sphere():
    """Force in the row, vector in the column: the stress of friction on a wall is not symmetric."""
    sim = md.Simulation(MATERIAL, [md.Plane((0, 0, 0), (0, 0, 1))], contact="hertz-mindlin", dt=1e-5)
    sim.add_clumps(BALL, (0.0, 0.0, 0.99 * RADIUS), velocity=(3.0, 0.0, 0.0))
    sim.run(20)
    force, height = -sim.wall_force(0), sim.position[0, 2]
    assert force[0] == pytest.approx(-MATERIAL.friction * force[2], rel=1e-4) and force[2] > 0.0
    expected = np.zeros((3, 3))
    expected[:, 2] = force * height / 5.0
    np.testing.assert_allclose(sim.stress(volume=5.0), expected, rtol=1e-12, atol=1e-12 * force[2])


def test_kinetic_stress():
    """m v' v' / V relative to the mean velocity, of the clumps in the box."""
    sim = md.Simulation(ELASTIC, dt=1e-5)
    velocity = [(5.0, 1.0, 0.0), (3.0, -1.0, 0.0), (9.0, 9.0, 9.0)]
    sim.add_clumps(BALL, [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (9.0, 0.0, 0.0)], velocity=velocity)
    corners = {"low": (-1.0, -1.0, -1.0), "high": (2.0, 1.0, 1.0)}
    expected = BALL.mass * 2.0 * np.outer([1, 1, 0], [1, 1, 0]) / 12.0
    np.testing.assert_allclose(sim.stress(**corners, kinetic=True), expected, rtol=1e-12)
    assert not sim.stress(**corners).any() and not sim.stress(low=(3,) * 3, high=(4,) * 3, kinetic=True).any()


@pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin"])
def test_column_at_rest(contact):
    """The bottom wall bears the weight; so does each slab between two centres that of the spheres above it."""
    sim, height = column(contact=contact)
    weight = BALL.mass * GRAVITY
    np.testing.assert_allclose(sim.wall_force(4), [0.0, 0.0, -4.0 * weight], rtol=1e-9, atol=1e-12)
    assert not any(sim.wall_force(k).any() or sim.wall_torque(k).any() for k in (0, 1, 2, 3, 5))
    np.testing.assert_allclose(sim.wall_torque(4), np.cross([0.2, 0.2, 0.0], sim.wall_force(4)), rtol=1e-9)
    np.testing.assert_allclose(sim.wall_torque(4, about=(0.2, 0.2, 7.0)), 0.0, atol=1e-9)
    for k, (low, high) in enumerate(zip(np.r_[0.0, height[:-1]], height)):
        stress = sim.stress(low=(0.0, 0.0, low + 1e-3), high=(1.0, 0.5, high - 1e-3))
        assert stress[2, 2] == pytest.approx((4 - k) * weight / 0.5, rel=1e-6)
        assert np.count_nonzero(np.abs(stress) > 1e-9 * stress[2, 2]) == 1
    lengths = np.diff(np.r_[0.0, height])
    whole = np.sum((4 - np.arange(4)) * weight * lengths)
    assert sim.stress()[2, 2] == pytest.approx(whole / 1.0, rel=1e-6)                   # the box has 1 m3


@pytest.mark.parametrize("contact", ["hertz", ROLLING])
def test_forces_on_walls_change_the_momentum(contact):
    """Between two instants the leapfrog adds the trapezoidal sum of all forces to the momentum, and for spheres that of
    all moments to the angular momentum, to round-off."""
    sim, about = settling(contact=contact, template=BALL), (0.3, 0.1, 0.2)
    mass, impulse, twist = sim.mass.sum(), np.zeros(3), np.zeros(3)
    momentum, spin = sim.linear_momentum(), sim.angular_momentum(about)
    last, steps = None, 800
    for k in range(steps + 1):
        force = mass * np.array(sim.gravity) - sum(sim.wall_force(w) for w in range(6))
        weights = sim.mass[:, None] * np.array(sim.gravity)
        torque = np.cross(sim.position - about, weights).sum(0) - sum(sim.wall_torque(w, about) for w in range(6))
        share = 0.5 if k in (0, steps) else 1.0
        impulse, twist = impulse + share * sim.dt * force, twist + share * sim.dt * torque
        last = sim.contacts()
        if k < steps:
            sim.run(1)
    assert np.count_nonzero(last["clump_j"] < 0) > 5
    np.testing.assert_allclose(sim.linear_momentum() - momentum, impulse, atol=1e-9 * np.abs(momentum).max())
    # rolling couples on a wall are no part of the moment of its forces
    np.testing.assert_allclose(sim.angular_momentum(about) - spin, twist, atol=1e-8 * np.abs(spin).max())


def test_coordination_number():
    """Two spheres side by side on a wall and a third one apart: each contact of two clumps counts twice."""
    place = [(0.0, 0.0, 0.0395), (0.079, 0.0, 0.0395), (1.0, 0.0, 1.0)]
    sim = spheres(place, [md.Plane((0, 0, 0), (0, 0, 1))])
    assert sim.coordination_number() == pytest.approx(4.0 / 3.0)
    assert sim.coordination_number(walls=False) == pytest.approx(2.0 / 3.0)
    assert spheres(np.zeros((0, 3))).coordination_number() == 0.0


def test_contacts_of_neighbours():
    """Two rods of three spheres side by side on a wall: three contacts with each other, three of each with the wall."""
    rod = md.ClumpTemplate([(-0.1, 0.0, 0.0), (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)], [RADIUS] * 3)
    sim = md.Simulation(ELASTIC, [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-5)
    sim.add_clumps(rod, [(0.0, 0.0, 0.0395), (0.0, 0.079, 0.0395)])
    assert len(sim.contacts()) == 9
    assert sim.coordination_number() == 6.0 and sim.coordination_number(walls=False) == 3.0
    assert sim.coordination_number(neighbours=True) == 2.0
    assert sim.coordination_number(walls=False, neighbours=True) == 1.0


@pytest.mark.filterwarnings("ignore:dt =:UserWarning")
@pytest.mark.parametrize("pair", [("hertz", "hertz-mindlin"), ("hooke:stiffness=2e5", "hooke-coulomb:stiffness=2e5")])
def test_checks_of_laws_with_history(pair):
    """The monitor takes the same stiffness, and with it the same safe overlap, for a law with and without friction."""
    forces, overlaps, warnings = [], [], []
    for contact in pair:
        sim = spheres([(0.0, 0.0, 0.0), (0.0, 0.0, 1.91 * RADIUS)], contact=contact, dt=2.5e-3)
        properties = sim.loop.pair_table.properties(PROPERTIES)
        forces.append(sim.settings.law.normal_force(0.3, 0.04, properties, sim.settings.law_values))
        sim.monitor.serve({}, lambda text: None)
        sim.monitor.check(sim, sim.contacts())
        overlaps.append(sim.monitor._limits["step"])
        warnings.append(sim.monitor.issued)
    assert forces[0] == pytest.approx(forces[1], rel=1e-12) and overlaps[0] == pytest.approx(overlaps[1], rel=1e-12)
    assert "times sqrt(m/k)" in warnings[0]["step"]
    assert warnings[0]["step"] == warnings[1]["step"]
