"""Meshes, cylinders and cones in periodic boxes, against the same walls repeated in open space."""
from itertools import product

import numpy as np
import pytest
from bit_systems import bumps, shaken_floor
from reference_walls import BALL, MATERIAL, MINDLIN, ROLLING, simulation

import minidem as md
from minidem.walls.mesh_grid import PART, divided

LENGTH = np.array([1.0, 0.7, 0.0])      # periodic along x and y
LOW, HIGH = np.array([0.2, -0.3, -1.0]), np.array([1.2, 0.4, 1.0])
BOX = LOW, HIGH, (True, True, False)
BUMPS, COARSE = bumps(LOW, LENGTH), bumps(LOW, LENGTH, 3)


def flat():
    x, y = (LOW[0], HIGH[0]), (LOW[1], HIGH[1])
    points = np.array([(x[0], y[0], 0), (x[1], y[0], 0), (x[1], y[1], 0), (x[0], y[1], 0)])
    return points, np.array([(0, 1, 2), (0, 2, 3)])


def tetrahedron(size=0.16):
    points = size * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / np.sqrt(3) + (1.15, 0.02, 0.0)
    return points, np.array([(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)])


def repeated(surface, reach=2):
    """The surface and its images in open space, of small triangles as in the box: where a sphere touches two faces of
    a coarse surface, what counts as one contact depends on the triangles."""
    points, triangles, _ = divided(*surface, PART * 0.7)
    shifts = [np.array(s) * LENGTH for s in product(range(-reach, reach + 1), range(-reach, reach + 1), (0,))]
    return (np.concatenate([points + shift for shift in shifts]),
            np.concatenate([triangles + k * len(points) for k in range(len(shifts))]))


def touching(walls, centers, radius, periodic=None):
    """(n, 4) number of contacts of a ball at each centre, and force on it; -1 contacts: too deep to begin there."""
    sim, found = md.Simulation(MATERIAL, walls, dt=1e-5, periodic=periodic), []
    for center in centers:
        try:
            sim.add_clumps(BALL, center, scale=radius)
            found.append((len(sim.contacts()), *sim.force[0]))
            sim.remove_clumps(sim.ids)
        except ValueError:
            found.append((-1, 0.0, 0.0, 0.0))
    return np.array(found)


def compare(wall, images, centers, radius):
    """A hundred balls that touch, and ten each that overlap too much or do not touch, of balls at the centres."""
    near, deep = (md.Simulation(MATERIAL, images, dt=1e-5).walls.overlap(
        np.column_stack([centers, np.full(len(centers), part * radius)])) for part in (1.0, 0.91))
    centers = np.concatenate([centers[near & ~deep][:100], centers[deep][:10], centers[~near][:10]])
    shifts = np.column_stack([np.random.default_rng(5).integers(-3, 4, (len(centers), 2)), np.zeros(len(centers))])
    expected, found = touching(images, centers, radius), touching([wall], centers + shifts * LENGTH, radius, BOX)
    assert np.count_nonzero(expected[:, 0] > 0) > 90
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * abs(expected).max())


@pytest.mark.parametrize("surface, radius", [
    (tetrahedron(), 0.05), (BUMPS, 0.16),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        (BUMPS, 0.05), (COARSE, 0.05), (COARSE, 0.16), (flat(), 0.05), (flat(), 0.16),
        (tetrahedron(), 0.16)))])
def test_forces_of_images(surface, radius):
    rng, n = np.random.default_rng(3), 5000
    near = surface[0][rng.integers(0, len(surface[0]), n)] + rng.normal(size=(n, 3)) * (0.1, 0.1, 0.0)
    near[:, 2] += rng.choice((-1, 1), n) * radius * rng.uniform(0.93, 1.1, n)
    compare(md.MeshWall(surface), [md.MeshWall(repeated(surface))], near, radius)


@pytest.mark.parametrize("wall", [
    md.Cylinder((0.25, 0.35, 0.0), (0, 0, 1), 0.15, outside=True),
    md.Cone((1.15, 0.0, -0.1), (0.6, 0.0, 0.8), (0.12, 0.05), 0.2)])
def test_cylinder_and_cone(wall):
    near = np.array(wall.point) + np.random.default_rng(4).normal(size=(4000, 3)) * 0.15
    images = [wall.mapped(lambda x, s=s: np.asarray(x) + np.array((*s, 0)) * LENGTH)
              for s in product((-1, 0, 1), (-1, 0, 1))]
    compare(wall, images, near, 0.1)


def thrown(walls, contact=MINDLIN, velocity=(2.0, 1.3, 0.0), periodic=BOX, n=1, **options):
    sim = simulation(walls, contact, gravity=(0, 0, -9.81), periodic=periodic, **options)
    sim.add_clumps(BALL, [(0.3 + 0.31 * k, 0.1 * k, 0.05) for k in range(n)], velocity=velocity, scale=0.05)
    return sim


@pytest.mark.parametrize("contact", [MINDLIN, ROLLING])
def test_a_ball_rolls_over_faces_as_on_a_plane(contact):
    """Through two boxes; the friction spring persists over all seams."""
    on_mesh, on_plane = thrown([md.MeshWall(flat())], contact), thrown([md.Plane((0, 0, 0), (0, 0, 1))], contact)
    for sim in on_mesh, on_plane:
        sim.run(100_000)
    assert on_plane.position[0, 0] > LOW[0] + 1.2
    np.testing.assert_allclose(on_mesh.position, on_plane.position, rtol=0, atol=1e-9)
    np.testing.assert_allclose(on_mesh.angular_velocity, on_plane.angular_velocity, rtol=0, atol=1e-7)
    assert on_mesh.walls.force(0) == pytest.approx(on_plane.walls.force(0), rel=1e-6, abs=1e-9)
    assert abs(on_mesh.walls.torque(0)).max() < 0.5 * 9.81 * on_mesh.mass[0]         # of the image in the box


def test_moving_meshes():
    """A plate that shakes, as a plane; one that turns in its box, as in open space."""
    shake = {"motion": md.Oscillation((0.0, 0.0, 0.01), 20.0)}
    sims = [thrown([wall]) for wall in (md.MeshWall(flat(), **shake), md.Plane((0, 0, 0), (0, 0, 1), **shake))]
    spin = {"angular_velocity": (1.0, 2.0, 30.0)}
    sims += [simulation([md.MeshWall(tetrahedron(), **spin)], MINDLIN, periodic=box) for box in (BOX, None)]
    for sim, shift in zip(sims[2:], ((-2.0, 0.7, 0.0), (0.0, 0.0, 0.0))):
        for place in (1.15, 0.22, 0.0), (0.96, 0.02, 0.02), (1.15, 0.02, 0.2):
            sim.add_clumps(BALL, np.add(place, shift), velocity=3.0 * np.subtract((1.15, 0.02, 0.0), place), scale=0.05)
    for sim in sims:
        sim.run(5000)
    np.testing.assert_allclose(sims[0].position, sims[1].position, rtol=0, atol=1e-9)
    assert sims[0].energy().work == pytest.approx(sims[1].energy().work, rel=1e-6)
    assert abs(sims[3].velocity).max() > 0.1
    np.testing.assert_allclose(sims[2].position, sims[3].position + (-2.0, 0.7, 0.0), rtol=0, atol=1e-7)
    assert sims[2].walls.torque(0) == pytest.approx(sims[3].walls.torque(0), rel=1e-5, abs=1e-9)


def test_energy_balance():
    sim = shaken_floor(ROLLING, dt=2e-5)
    before = sim.energy().balance
    sim.run(15_000)
    energy = sim.energy()
    assert energy.work > 10.0 and energy.dissipated > 10.0 and abs(sim.image).max() >= 1
    assert abs(energy.balance - before) < 2e-3 * energy.dissipated


@pytest.mark.parametrize("wall, message", [
    (md.MeshWall(repeated(flat(), 1)), r"takes 3 m along the periodic axis x, of a box of 1 m; give a part that fits"),
    (md.MeshWall(flat(), angular_velocity=(0, 0, 1.0)), "takes 1.22.* m when it turns along the periodic axis x"),
    (md.Cylinder((0.5, 0.0, 0.0), (0, 0, 1), 0.1), "it is around the clumps, .* or outside=True"),
    (md.Cylinder((0.5, 0.0, 0.0), (1, 0, 1), 0.1, outside=True), "leaves the periodic box along its axis .* x, y or z"),
    (md.Cylinder((0.5, 0.0, 0.0), (0, 0, 1), 0.2, outside=True), "radius = 0.2 m is more than a quarter of the box"),
    (md.Cone((0.5, 0.0, 0.0), (0, 0, 1), (0.1, 0.1), 0.4), "reaches 0.223607 m from its middle, more than a quarter"),
])
def test_refused(wall, message):
    with pytest.raises(ValueError, match=rf"walls\[0\] = .*: .*{message}"):
        md.Simulation(MATERIAL, [wall], dt=1e-5, periodic=BOX)


def test_refused_in_boxes_that_move():
    for motion, axis in (({"shear": ("x", "y", 1.0)}, "x"), ({"rates": (0.0, -1.0, 0.0)}, "y")):
        box = md.PeriodicBox(LOW, HIGH, axes=BOX[2], **motion)
        with pytest.raises(ValueError, match=rf"not the same along the axis {axis}, which moves; give walls"):
            md.Simulation(MATERIAL, [md.MeshWall(flat())], dt=1e-5, periodic=box)
        sim = md.Simulation(MATERIAL, [md.MeshWall(flat())], dt=1e-5, periodic=BOX)
        with pytest.raises(ValueError, match="which moves"):
            sim.deform(**motion)
    def motion(t):
        return (0.0, 0.0, 0.0), (0.0, 0.0, t)
    sim = md.Simulation(MATERIAL, [md.MeshWall(flat(), motion=motion)], dt=1e-5, periodic=BOX)
    with pytest.raises(ValueError, match="motion of .*takes .* m when it turns"):
        sim.run(10)


def test_numbers_of_triangles():
    """Those of the mesh that was given, whose triangles are divided in a periodic box; the second of two meshes."""
    (points, triangles), rng = flat(), np.random.default_rng(2)
    which, part = rng.integers(0, 2, 60), rng.dirichlet((2.0, 2.0, 2.0), 60)
    centers = np.einsum("nk,nki->ni", part, points[triangles[which]]) + (0.0, 0.0, 0.009)
    centers[:, :2] += rng.integers(-2, 3, (60, 2)) * LENGTH[:2]
    above = md.MeshWall((tetrahedron()[0] + (0.0, 0.0, 0.5), tetrahedron()[1]))
    sim = md.Simulation(MATERIAL, [above, md.MeshWall(flat())], dt=1e-5, periodic=BOX)
    for center, triangle in zip(centers, which):
        sim.add_clumps(BALL, center, scale=0.01)
        found = sim.contacts()
        assert found["triangle"][found["clump_j"] == -2].tolist() == [triangle]
        sim.remove_clumps(sim.ids)
