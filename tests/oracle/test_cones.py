"""Cones against NumPy, against closed forms and against fine meshes; spheres that touch them all round."""
import warnings

import meshio
import numpy as np
import pytest
from reference_walls import BALL, MATERIAL, MINDLIN, ROLLING, simulation, turned

import minidem as md

AXIS, ORIGIN, G, RADIUS = (0, 0, 1), (0, 0, 0), 9.81, 0.1
BOWL = md.Cone(ORIGIN, AXIS, (0, 1), 1)
SHAPES = [(0.3, 1.0, 1.0), (0.0, 1.0, 0.7), (1.0, 0.0, 2.0), (1.0, 1.0, 1.0), (0.4, 1.0, 0.0), (0.0, 1.0, 0.0)]


def feet(radii, height, points):
    """Nearest points (n, 2, 3) of a cone about z in the half planes through n points and beyond the axis."""
    ends = np.array([[radii[0], 0.0], [radii[1], height]])
    out = points * (1, 1, 0) / np.linalg.norm(points[:, :2], axis=1)[:, None]
    found = []
    for sign in (1.0, -1.0):
        place = np.column_stack([sign * (points * out).sum(axis=1), points[:, 2]])
        part = np.clip((place - ends[0]) @ (ends[1] - ends[0]) / ((ends[1] - ends[0])**2).sum(), 0.0, 1.0)
        foot = ends[0] + part[:, None] * (ends[1] - ends[0])
        found.append(sign * foot[:, :1] * out + foot[:, 1:] * AXIS)
    return np.stack(found, axis=1)


def contacts_of(wall, points, radii, steps=0):
    """Contacts of each sphere, alone with the wall after so many steps."""
    found = []
    for point, radius in zip(points, radii):
        sim = simulation([wall], "hertz", 1e-3, material=MATERIAL)
        sim.run(steps)
        with warnings.catch_warnings(action="ignore"):
            sim.add_clumps(BALL, [point], scale=radius)
        found.append(sim.contacts())
    return found


@pytest.mark.parametrize("first, last, height", SHAPES)
def test_nearest_points(first, last, height):
    """Faces, edges and apices, from inside, outside and beyond the ends; both sides of the axis; after a motion."""
    rng = np.random.default_rng(1)
    points = rng.uniform(-1.5, 1.5, (60, 3))
    points[:20, :2] *= 0.02                             # near the axis, where both sides are touched
    apart = points[:, None] - (nearest := feet((first, last), height, points))
    distance = np.linalg.norm(apart, axis=2)
    radii = 1.08 * distance[:, 0]
    counts = (distance < radii[:, None]) & [[True, False]] | (distance < radii[:, None]) & (
        np.linalg.norm(nearest[:, :, :2], axis=2) > 0.0)
    spin, velocity, center = np.array([0.3, -0.7, 0.4]), np.array([2.0, -1.0, 0.5]), np.array([0.1, 0.2, -0.3])
    for steps in 0, 300:
        time = 1e-3 * steps
        wall = md.Cone(ORIGIN, AXIS, (first, last), height, velocity=velocity, angular_velocity=spin, center=center)
        moved = turned(points, center, time * spin) + time * velocity
        for k, found in enumerate(contacts_of(wall, moved, radii, steps)):
            order = np.argsort(-found["overlap"])
            expected = distance[k][counts[k]]
            assert len(found) == counts[k].sum()
            np.testing.assert_allclose(found["overlap"][order], radii[k] - np.sort(expected), atol=1e-12)
            normal = apart[k, 0] / distance[k, 0]
            np.testing.assert_allclose(found["normal"][order[0]], turned(normal[None], ORIGIN, time * spin)[0],
                                       atol=1e-10 if distance[k, 1] - distance[k, 0] > 1e-3 else 2.0)
    assert counts[:, 1].any() == (first > 0.0 or last > 0.0) or height == 0.0


@pytest.mark.parametrize("contact", ["hertz", MINDLIN])
@pytest.mark.parametrize("wall, foot, normal", [
    (BOWL, (0.5, 0.5), (-0.5**0.5, 0.5**0.5)), (md.Cone(ORIGIN, AXIS, (0, 2), 1), (1.0, 0.5), (-0.2**0.5, 0.8**0.5)),
    (md.Cone((0, 0, -1), AXIS, (0.5, 0.5), 1), (0.5, 0.0), (-0.6, 0.8)),
    (md.Cone(ORIGIN, AXIS, (0.5, 1.0), 0), (0.5, 0.0), (-0.6, 0.8))], ids=["45", "63", "edge", "ring"])
def test_circular_orbit(wall, foot, normal, contact):
    """A damped contact dissipates nothing while the normal turns about the axis: the curvature is exact."""
    material = md.Material(1e7, 0.2, restitution=0.5)
    stiffness = 4 / 3 * md.effective_modulus(material, material) * np.sqrt(RADIUS)
    mass = BALL.mass * RADIUS**3
    force = mass * G / normal[1]
    rho, z = np.add(foot, (RADIUS - (force / stiffness)**(2 / 3)) * np.array(normal))
    speed = np.sqrt(-force * normal[0] * rho / mass)
    sim = simulation([wall], contact, 5e-5, material=material, gravity=(0, 0, -G))
    sim.add_clumps(BALL, [(rho, 0, z)], velocity=(0, speed, 0), scale=RADIUS)
    energy = sim.energy()
    sim.run(4000)
    angle = speed / rho * sim.time
    np.testing.assert_allclose(sim.position, [(rho * np.cos(angle), rho * np.sin(angle), z)], atol=3e-8)
    assert abs(sim.energy().dissipated) < 1e-13 * energy.kinetic
    np.testing.assert_allclose(sim.energy().total, energy.total, rtol=1e-8)


@pytest.mark.parametrize("start", [(0, 0), (1e-6, 0), (0.01, 0.005)])
@pytest.mark.parametrize("radii, height, rest", [((0.0, 1.0), 1.0, 2**0.5 * RADIUS), ((0.08, 1.0), 0.0, 0.06)])
def test_touching_all_round(radii, height, rest, start):
    """At the bottom of a bowl, or in a hole too small for it, a ball comes to rest on two opposite contacts."""
    sim = simulation([md.Cone(ORIGIN, AXIS, radii, height)], ROLLING, 5e-5, gravity=(0, 0, -G))
    sim.add_clumps(BALL, [(*start, rest + 0.02)], scale=RADIUS)
    before = sim.energy().balance
    sim.run(20_000)
    contacts = sim.contacts()
    np.testing.assert_allclose(sim.position, [(0, 0, rest)], atol=0.03 * RADIUS)
    assert np.abs(sim.velocity).max() < 2e-3 and len(contacts) == 2
    weight = BALL.mass * RADIUS**3 * G
    np.testing.assert_allclose(contacts["force"].sum(axis=0), (0, 0, weight), atol=0.01 * weight)
    np.testing.assert_allclose(sim.energy().balance, before, rtol=2e-3)


@pytest.mark.parametrize("aside", [0.0, 0.01, 0.03])
def test_an_apex_touches_once(aside):
    sim = simulation([md.Cone((0, 0, -1), AXIS, (1, 0), 1)], "hertz")
    sim.add_clumps(BALL, [(aside, 0, np.sqrt(0.098**2 - aside**2))], scale=RADIUS)
    contact, = sim.contacts()
    np.testing.assert_allclose(contact["normal"], sim.position[0] / 0.098, atol=1e-12)
    np.testing.assert_allclose(contact["overlap"], RADIUS - 0.098, rtol=1e-9)


def test_scaled_and_drawn(tmp_path):
    """walls.vtu has the cone between its circles, wherever clumps are."""
    cone = md.Cone((1, 2, 3), (0, 0, 2), (0.5, 1.0), 2.0, velocity=(0, 0, 1.0))
    sim = simulation([cone, md.Plane(ORIGIN, AXIS)], "hertz", 1e-3)
    sim.run(500)
    assert sim.walls.at_rest[0].point == pytest.approx((1, 2, 3.5)) and sim.walls.at_rest[0].radii == cone.radii
    larger = md.walls.scaled(md.Cone((1, 2, 3), (0, 0, 2), (0.5, 1.0), 2.0), 2.0, np.zeros(3))
    assert (larger.point, larger.axis, larger.radii, larger.height) == ((2, 4, 6), (0, 0, 1), (1, 2), 4)
    md.output.wall_shapes.write_walls(tmp_path / "walls.vtu", sim)
    mesh = meshio.read(tmp_path / "walls.vtu")
    points = mesh.points[np.unique(mesh.cells_dict["quad"])]
    np.testing.assert_allclose(np.hypot(*(points[:, :2] - (1, 2)).T), 0.5 + 0.25 * (points[:, 2] - 3.5), atol=1e-6)
    assert np.ptp(points[:, 2]) == pytest.approx(2.0)
