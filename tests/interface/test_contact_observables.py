"""Coordination number, stress and forces on walls: values computed by hand, and the balance of momentum."""
import numpy as np
import pytest
from scenes import BALL, ELASTIC, MATERIAL, ROLLING, material_for, settling

import minidem as md

RADIUS, GRAVITY, FLOOR = 0.04, 9.81, md.Plane((0, 0, 0), (0, 0, 1))
STIFFNESS = 4.0 / 3.0 * md.effective_modulus(ELASTIC, ELASTIC)


def spheres(position, walls=(), contact="hertz", velocity=(0, 0, 0), gravity=(0, 0, 0)):
    sim = md.Simulation(material_for(contact), walls, contact=contact, dt=1e-5, gravity=gravity)
    sim.add_clumps(BALL, position, velocity=velocity)
    return sim


def column(n=4, contact="hertz"):
    """n spheres in equilibrium above each other, and their heights: each contact bears the weight above it."""
    weight = BALL.mass * GRAVITY * np.arange(n, 0, -1)
    radius = np.r_[RADIUS, np.full(n - 1, 0.5 * RADIUS)]                # effective: wall, spheres
    overlap = (weight / (STIFFNESS * np.sqrt(radius))) ** (2.0 / 3.0)
    height = np.cumsum(np.r_[RADIUS, np.full(n - 1, 2.0 * RADIUS)] - overlap)
    box = md.box((0.0, 0.0, 0.0), (1.0, 0.5, 2.0))
    return spheres(np.column_stack([np.full((n, 2), 0.2), height]), box, contact, gravity=(0, 0, -GRAVITY)), height


LENGTH = 1.98 * RADIUS      # of the line of centres of two spheres


@pytest.mark.parametrize("axis, low, high, part", [
    ((0.0, 1.0, 0.0), (-1.0, -1.0, -1.0), (1.0, 0.5 * LENGTH, 1.0), 0.5),
    ((2 / 3, -1 / 3, 2 / 3), (LENGTH / 6, -1.0, -1.0), (1.0, 1.0, LENGTH / 2), 0.5)])
def test_stress_of_two_spheres(axis, low, high, part):
    """F l n n / V along the line of centres, of which a box takes the part of the line inside."""
    sim = spheres([(0.0, 0.0, 0.0), LENGTH * np.array(axis)])
    force = STIFFNESS * np.sqrt(0.5 * RADIUS) * (0.02 * RADIUS) ** 1.5
    expected, volume = force * LENGTH * np.outer(axis, axis), np.prod(np.subtract(high, low))
    for given, found in ((sim.stress(volume=3.0), expected / 3.0),
                         (sim.stress(low=(-1.0, -0.5, -0.5), high=(0.5, 1.5, 0.5)), expected / 3.0),
                         (sim.stress(low=low, high=high), part * expected / volume),
                         (sim.stress(low=(1.0, -1.0, -1.0), high=(2.0, 1.0, 1.0)), 0.0 * expected)):
        np.testing.assert_allclose(given, found, rtol=1e-11, atol=1e-11 * force * LENGTH)


def test_stress_of_a_sliding_sphere():
    """Force in the row, vector in the column: the stress of friction on a wall is not symmetric."""
    sim = spheres((0.0, 0.0, 0.99 * RADIUS), [FLOOR], "hertz-mindlin", velocity=(3.0, 0.0, 0.0))
    sim.run(20)
    force, height = -sim.wall_force(0), sim.position[0, 2]
    assert force[0] == pytest.approx(-MATERIAL.friction * force[2], rel=1e-4) and force[2] > 0.0
    expected = np.zeros((3, 3))
    expected[:, 2] = force * height / 5.0
    np.testing.assert_allclose(sim.stress(volume=5.0), expected, rtol=1e-12, atol=1e-12 * force[2])


def test_kinetic_stress():
    """m v' v' / V relative to the mean velocity, of the clumps in the box."""
    sim = spheres([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (9.0, 0.0, 0.0)],
                  velocity=[(5.0, 1.0, 0.0), (3.0, -1.0, 0.0), (9.0, 9.0, 9.0)])
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
    whole = np.sum((4 - np.arange(4)) * weight * np.diff(np.r_[0.0, height]))
    assert sim.stress()[2, 2] == pytest.approx(whole / 1.0, rel=1e-6)                   # the box has 1 m3


@pytest.mark.parametrize("contact", ["hertz", ROLLING])
def test_forces_on_walls_change_the_momentum(contact):
    """The leapfrog adds the trapezoidal sum of all forces to the momentum, their moments to the spin of spheres."""
    sim, about = settling(contact=contact, template=BALL), (0.3, 0.1, 0.2)
    sim.run(500)
    mass, impulse, twist = sim.mass.sum(), np.zeros(3), np.zeros(3)
    momentum, spin = sim.linear_momentum(), sim.angular_momentum(about)
    steps = 300
    for k in range(steps + 1):
        force = mass * np.array(sim.gravity) - sum(sim.wall_force(w) for w in range(6))
        weights = sim.mass[:, None] * np.array(sim.gravity)
        torque = np.cross(sim.position - about, weights).sum(0) - sum(sim.wall_torque(w, about) for w in range(6))
        share = 0.5 if k in (0, steps) else 1.0
        impulse, twist = impulse + share * sim.dt * force, twist + share * sim.dt * torque
        if k < steps:
            sim.run(1)
    assert np.count_nonzero(sim.contacts()["clump_j"] < 0) > 5
    np.testing.assert_allclose(sim.linear_momentum() - momentum, impulse, atol=1e-9 * np.abs(momentum).max())
    # rolling couples on a wall are no part of the moment of its forces
    np.testing.assert_allclose(sim.angular_momentum(about) - spin, twist, atol=1e-8 * np.abs(spin).max())


def test_coordination_number():
    """Two rods of three spheres side by side on a wall, a ball apart: six contacts with it, three with each other."""
    rod = md.ClumpTemplate([(-0.1, 0.0, 0.0), (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)], [RADIUS] * 3)
    sim = spheres([(0.0, 0.0, 1.0)], [FLOOR])
    sim.add_clumps(rod, [(0.0, 0.0, 0.0395), (0.0, 0.079, 0.0395)])
    contacts, columns = sim.contacts(), sim.contact_columns()
    assert len(contacts) == 9 and all(column.shape == (9,) for column in columns.values())
    assert np.array_equal(columns["force_y"], contacts["force"][:, 1]) and columns["force_y"].any()
    for options, expected in (({}, 12), ({"walls": False}, 6), ({"neighbours": True}, 4),
                              ({"walls": False, "neighbours": True}, 2)):
        assert sim.coordination_number(**options) == pytest.approx(expected / 3.0)
    assert spheres(np.zeros((0, 3))).coordination_number() == 0.0
