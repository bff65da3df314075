"""Overlaps, normals and points of contacts with walls against NumPy; lists against all triangles."""
import warnings

import numpy as np
import pytest
from reference_walls import BALL, CUBE, CUBE_FACES, MATERIAL, distances, nearest_points, plate, simulation, turned
from scenes import unit_vectors

import minidem as md

OVERLAP = 0.02                          # of the radius
SPIN, VELOCITY, DT, STEPS = np.array([0.3, -0.7, 0.4]), np.array([2.0, -1.0, 0.5]), 1e-3, 1237


def soup(seed, n, thin=0.0):
    """Corners (n, 3, 3) of triangles ten metres from each other, with one point near each; thin : height of slivers."""
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(n, 3, 3))
    if thin:
        along, across = corners[:, 1] - corners[:, 0], unit_vectors(rng, n)
        corners[:, 2] = corners[:, 0] + rng.uniform(-0.2, 1.2, (n, 1)) * along + thin * across
    weights = rng.dirichlet([0.5] * 3, n)
    points = np.einsum("nk,nkc->nc", weights, corners) + rng.uniform(0.01, 0.8, (n, 1)) * unit_vectors(rng, n)
    place = 10.0 * np.argwhere(np.ones((8, 8, 8)))[rng.permutation(512)[:n]]
    return corners + place[:, None], points + place


def mesh(corners, **options):
    return md.MeshWall((corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)), **options)


def touching(walls, points, radii, steps=0):
    """Contacts of spheres that are added after so many steps, sorted by sphere."""
    sim = simulation(walls, "hertz", DT, material=MATERIAL)
    sim.run(steps)
    with warnings.catch_warnings(action="ignore", category=UserWarning):        # of the step, for small spheres
        sim.add_clumps(BALL, points, scale=radii)
    return sim.contacts()


def assert_touches(contacts, points, radii, height, normal, rtol=1e-12):
    size = np.abs(points).max()
    assert np.array_equal(contacts["sphere_i"], np.arange(len(points)))
    np.testing.assert_allclose(contacts["overlap"], radii - height, rtol=0, atol=1e-15 * size + rtol)
    np.testing.assert_allclose(contacts["normal"], normal, rtol=0, atol=1e3 * rtol)
    np.testing.assert_allclose(contacts["point"], points - height[:, None] * normal, rtol=0, atol=1e3 * rtol)
    assert np.all(np.sum(contacts["force"] * normal, axis=1) > 0.0)


@pytest.mark.parametrize("thin, rtol", [(0.0, 1e-12), (1e-2, 1e-12), (1e-4, 1e-10), (2e-6, 1e-8)])
@pytest.mark.parametrize("seed", [1, 2])
def test_triangles(seed, thin, rtol):
    corners, points = soup(seed, 400, thin)
    nearest = nearest_points(corners, points)[np.arange(400), np.arange(400)]
    height = np.linalg.norm(points - nearest, axis=1)
    radii = height * (1.0 + OVERLAP)
    contacts = touching([mesh(corners)], points, radii)
    assert_touches(contacts, points, radii, height, (points - nearest) / height[:, None], rtol)
    assert np.all(contacts["clump_j"] == -1)
    if not thin:                                        # faces, edges and corners are nearest
        parts = np.stack([np.linalg.solve(c.T, p) for c, p in zip(corners, nearest)])
        zeros = np.bincount((np.abs(parts) < 1e-6).sum(axis=1), minlength=3)
        assert zeros[:3].min() >= 10 and zeros[3:].sum() == 0


@pytest.mark.parametrize("outside", [False, True])
def test_cylinders(outside):
    rng = np.random.default_rng(3)
    axis, point = np.array([1.0, 2.0, -0.5]), np.array([0.3, -0.2, 0.1])
    unit = axis / np.linalg.norm(axis)
    away = np.cross(unit_vectors(rng, 60), unit)
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    radii = rng.uniform(0.05, 0.5, 60)
    height, along = (1.0 - OVERLAP) * radii, 2.0 * np.arange(60)[:, None] * unit
    points = point + along + (1.0 + height if outside else 1.0 - height)[:, None] * away
    normal = away if outside else -away
    wall = md.Cylinder(point - 3.0 * axis, 4.0 * axis, 1.0, outside=outside)
    assert_touches(touching([wall], points, radii), points, radii, height, normal)


def test_sphere_on_the_axis():
    sim = simulation([md.Cylinder((0, 0, 0), (0, 0, 1), 0.95)], "hertz", 1e-5)
    sim.add_clumps(BALL, [(0, 0, 0)], velocity=(0, 0, 1))
    sim.run(10)
    assert len(sim.contacts()) == 1 and np.array_equal(sim.velocity, [[0, 0, 1]])


def moved_walls(time=0.0):
    """Two meshes, a plane and a cylinder, and the same where they are at a time, at rest."""
    corners, points = soup(5, 200)
    plane = {"point": (0, 0, -500.0), "normal": (0.0, 0.6, 0.8)}
    tube = {"point": (500.0, 0, 0), "axis": (0, 0, 1), "radius": 3.0, "outside": True}
    swing = md.Oscillation((0.4, -0.2, 0.3), 0.7, phase=0.3)
    center = np.array([1.0, 2.0, 3.0])
    def motion(t):
        return (0.2 * t, -0.1 * t * t, 0.0), (0.5 * t, 0.0, -0.3 * t)
    walls = [mesh(corners[:100], velocity=VELOCITY, angular_velocity=SPIN, center=center),
             md.Plane(**plane, motion=swing), mesh(corners[100:], motion=motion, angular_velocity=(0, 0.4, 0),
                                                   center=center),
             md.Cylinder(**tube, angular_velocity=(0, 0, 2.0), velocity=VELOCITY)]
    first = turned(corners[:100].reshape(-1, 3), center, SPIN * time).reshape(-1, 3, 3) + VELOCITY * time
    second = turned(corners[100:].reshape(-1, 3), center, (0, 0.4 * time, 0))
    second = (turned(second, center, motion(time)[1]) + motion(time)[0]).reshape(-1, 3, 3)
    shift = np.sin(2 * np.pi * 0.7 * time + 0.3) - np.sin(0.3)
    rest = [mesh(first), md.Plane(shift * np.array(swing.amplitude) + plane["point"], plane["normal"]), mesh(second),
            md.Cylinder(VELOCITY * time + tube["point"], tube["axis"], tube["radius"], outside=True)]
    return walls, rest, np.concatenate([first, second]), points


def test_moved_walls():
    walls, rest, corners, _ = moved_walls(DT * STEPS)
    points = corners.mean(axis=1) + 0.3 * np.random.default_rng(2).normal(size=(200, 3))
    radii = (1.0 + OVERLAP) * distances(corners, points).min(axis=1)
    beside = np.array(rest[3].point) + (0, 3.2, 0), np.array(rest[1].point) + (0, 0.06, 0.08)
    points = np.concatenate([points, beside])
    radii = np.append(radii, [0.202, 0.101])
    moved, expected = touching(walls, points, radii, STEPS), touching(rest, points, radii)
    assert len(expected) == 202 and np.unique(expected["clump_j"]).size == 4
    for name in "overlap", "normal", "point", "force":
        np.testing.assert_allclose(moved[name], expected[name], rtol=1e-9, atol=1e-10)
    assert np.array_equal(moved["clump_j"], expected["clump_j"])
    sim = simulation(walls, "hertz", DT)
    assert sim.walls.at_rest[1] == md.Plane(walls[1].point, walls[1].normal)
    sim.run(STEPS)
    for wall, there in zip(sim.walls.at_rest, rest):
        assert not wall.moves
        one, other = ((each.points[each.triangles] if hasattr(each, "triangles") else each.point)
                      for each in (wall, there))
        np.testing.assert_allclose(one, other, atol=1e-11)


@pytest.mark.parametrize("pieces", [1, 60])
def test_wall_reaches_a_clump_at_rest(pieces):
    """Lists remain valid from one call of `run` to the next one, in which only the wall moves."""
    sim = simulation([md.Plane((0, 0, 0), (1, 0, 0), velocity=(1, 0, 0)),
                      md.MeshWall((CUBE + (5, 0, 0), CUBE_FACES), velocity=(0, 0, -1))], "hertz", 1e-5)
    paddle = simulation([md.MeshWall((CUBE, CUBE_FACES), angular_velocity=(0, 0, 1), center=(0, 0, 0))], "hertz", 1e-5)
    sim.add_clumps(BALL, [(0.5, 3.0, 0.0), (5.4, 0.4, -0.5)], scale=0.05)
    paddle.add_clumps(BALL, [0.7 * np.array([-np.sin(0.4), np.cos(0.4), 0.0]) + (0, 0, 0.5)], scale=0.05)
    for _ in range(pieces):
        sim.run(60000 // pieces)
        paddle.run(60000 // pieces)
    np.testing.assert_allclose(sim.velocity, [(2, 0, 0), (0, 0, -2)], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(paddle.velocity), 1.4, rtol=0.02)


@pytest.mark.parametrize("contact, threads", [
    pytest.param("hertz", 1, marks=pytest.mark.slow), ("hertz-mindlin", 3)])
def test_lists(contact, threads, many_threads_and_sorts):
    """The deepest contact of each sphere with each moving mesh is the one with the nearest triangle."""
    rng = np.random.default_rng(7)
    size = 0.02 * 50.0 ** rng.uniform(0.0, 1.0, (80, 1, 1))
    corners = rng.uniform(0.2, 0.8, (80, 1, 3)) + 0.5 * size * rng.normal(size=(80, 3, 3))
    points, triangles = plate(6, 0.0, 1.0, height=0.3)
    walls = [*md.box_walls((0, 0, 0), (1, 1, 1)), mesh(corners, angular_velocity=(0.5, 1.0, 2.0), motion=md.Oscillation(
        (0.2, 0, 0.1), 2.0)), md.MeshWall((points, triangles), velocity=(0, 0, 0.4))]
    sim = simulation(walls, contact, 1e-4, threads=threads)
    places = rng.uniform(0.1, 0.9, (4000, 3))
    radii = 0.005 * 20.0 ** rng.uniform(0.0, 1.0, 4000)
    free = ~sim.walls.overlap(np.column_stack([places, radii]))
    kept = []
    for k in np.nonzero(free)[0]:
        if all(np.linalg.norm(places[k] - places[m]) > radii[k] + radii[m] for m in kept) and len(kept) < 90:
            kept.append(k)
    sim.add_clumps(BALL, places[kept], velocity=unit_vectors(rng, len(kept)), scale=radii[kept])
    radii, seen = radii[kept], 0
    for _ in range(50):
        sim.run(40)
        found = sim.contacts()
        for k in (6, 7):
            wall = sim.walls.at_rest[k]
            nearest = distances(np.asarray(wall.points)[wall.triangles], sim.position).min(axis=1)
            deepest = np.zeros(len(radii))
            of_wall = found[found["clump_j"] == -1 - k]
            np.maximum.at(deepest, of_wall["sphere_i"], of_wall["overlap"])
            np.testing.assert_allclose(deepest, np.maximum(radii - nearest, 0.0), atol=1e-12)
            seen += np.count_nonzero(deepest)
    assert seen > 100 and sim.loop.statistics["outer_lists"] > 10


def test_grid_finds_what_overlaps():
    """`sim.walls.overlap` for meshes at rest and turned, spheres far outside too."""
    rng = np.random.default_rng(4)
    corners = rng.normal(size=(300, 3, 3)) * 30.0 ** rng.uniform(-1.0, 0.5, (300, 1, 1))
    turn = np.array([0.3, 0.1, -0.5])
    points, radii = 3.0 * rng.normal(size=(700, 3)), 10.0 ** rng.uniform(-3.0, 0.5, 700)
    points[:20] *= 1e3
    for wall, placed in [(mesh(corners), corners), (mesh(corners, angular_velocity=turn / DT, center=(0, 0, 1)), turned(
            corners.reshape(-1, 3), (0, 0, 1), turn).reshape(-1, 3, 3))]:
        sim = simulation([wall], "hertz", DT)
        sim.run(int(wall.moves))
        overlap = distances(placed, points).min(axis=1) < radii
        assert 100 < overlap.sum() < 600
        assert np.array_equal(sim.walls.overlap(np.column_stack([points, radii])), overlap)
