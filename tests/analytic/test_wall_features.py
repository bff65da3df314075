"""Faces, edges, corners and seams of meshes: each once, continuous forces, smooth surfaces as such."""
import numpy as np
import pytest
from bit_systems import STATE
from reference_walls import BALL, CUBE, CUBE_FACES, FRICTION, MINDLIN, ROLLING, plate, simulation, turned

import minidem as md

RADIUS, GRAVITY, FLOOR = 0.1, (0.0, 0.0, -9.81), md.Plane((0, 0, 0), (0, 0, 1))
MODULUS = md.effective_modulus(FRICTION, FRICTION)


def rolling(walls, contact, steps=2500, turn=(0, 0, 0), dt=1e-4):
    rng = np.random.default_rng(8)
    places = 0.25 * np.stack(np.meshgrid([-3, -1, 1, 3], [-3, -1, 1, 3], [0.0]), axis=-1).reshape(-1, 3)
    places[:, 2] = RADIUS * rng.choice([0.995, 1.05], len(places))
    velocity, spin = rng.normal(size=(2, len(places), 3)) * np.array([[[1.0, 1.0, 0.1]], [[9.0, 9.0, 9.0]]])
    sim = simulation(walls, contact, dt, gravity=turned([GRAVITY], (0, 0, 0), turn)[0])
    sim.add_clumps(BALL, turned(places, (0, 0, 0), turn), velocity=turned(velocity, (0, 0, 0), turn),
                   angular_velocity=turned(spin, (0, 0, 0), turn), scale=RADIUS)
    sim.run(steps)
    return sim


def with_t_joints():
    """A plate of strips whose triangles have no corners in common with those of the next strip."""
    rng, points, triangles = np.random.default_rng(2), [], []
    for x, width in zip((-3.0, -1.2, 0.1, 1.3), (1.8, 1.3, 1.2, 1.7)):
        cuts = np.concatenate([[-3.0], np.sort(rng.uniform(-2.9, 2.9, 9)), [3.0]])
        for low, high in zip(cuts[:-1], cuts[1:]):
            first = len(points)
            points += [(x, low, 0), (x + width, low, 0), (x + width, high, 0), (x, high, 0)]
            triangles += [(first, first + 1, first + 2), (first, first + 3, first + 2)]
    return np.array(points), np.array(triangles)


def doubled():
    (points, triangles), (others, more) = plate(3, -3.0, 3.0), plate(11, -2.9, 2.9, seed=4)
    return np.concatenate([points, others]), np.concatenate([triangles, more + len(points)])


@pytest.mark.parametrize("contact", ["hertz", MINDLIN, ROLLING])
@pytest.mark.parametrize("surface", [plate(20, -3.0, 3.0), plate(61, -3.0, 3.0, seed=3), with_t_joints(), doubled()],
                         ids=["coarse", "fine", "t-joints", "doubled"])
def test_coplanar_triangles_are_a_plane(surface, contact):
    sim, expected = rolling([md.MeshWall(surface)], contact), rolling([FLOOR], contact)
    assert len(expected.contacts()) > 8 and np.ptp(expected.position[:, 0]) > 1.5
    for name in STATE:
        assert np.array_equal(getattr(sim, name), getattr(expected, name)), name


def test_tilted_seams():
    turn = np.array([0.4, -0.9, 0.3])
    points, triangles = plate(30, -3.0, 3.0)
    sim = rolling([md.MeshWall((turned(points, (0, 0, 0), turn), triangles))], MINDLIN, 1500, turn)
    expected = rolling([FLOOR], MINDLIN, 1500)
    np.testing.assert_allclose(turned(sim.position, (0, 0, 0), -turn), expected.position, atol=1e-10)
    np.testing.assert_allclose(turned(sim.angular_velocity, (0, 0, 0), -turn), expected.angular_velocity, atol=1e-8)


def beside_cubes(places, radius, contact="hertz", scale=1.0, **options):
    """One ball beside each of n cubes, at the places (n, 3) in the frame of its cube."""
    shifts = 5.0 * np.argwhere(np.ones((10, 10, 10)))[:len(places)]
    points = (scale * CUBE + shifts[:, None]).reshape(-1, 3)
    triangles = (CUBE_FACES + 8 * np.arange(len(places))[:, None, None]).reshape(-1, 3)
    sim = simulation([md.MeshWall((points, triangles))], contact)
    sim.add_clumps(BALL, places + shifts, scale=radius, **options)
    return sim


@pytest.mark.parametrize("corner", [False, True])
def test_continuous_force(corner):
    s = np.linspace(-0.02, 0.03, 300)
    places = np.column_stack([1.0 + s, (0.995 if corner else 0.5) + 0.6 * s, 1.197 - 0.02 * s])
    on = np.count_nonzero(places > 1.0, axis=1)
    assert set(on) == ({1, 2, 3} if corner else {1, 2})
    sim = beside_cubes(places, 0.2)
    jumps = np.linalg.norm(np.diff(sim.force, axis=0), axis=1)
    deepest = 0.2 - np.linalg.norm(places - np.clip(places, 0.0, 1.0), axis=1).min()
    stiffness = 2 * MODULUS * np.sqrt(0.2 * deepest)
    assert np.all(np.any(sim.force, axis=1)[on < 2 + corner]) and len(sim.contacts()) <= len(places)
    assert jumps.max() < 1.2 * stiffness * np.linalg.norm(places[1] - places[0])


@pytest.mark.parametrize("contact", ["hertz", MINDLIN])
def test_concave_corner(contact):
    """Two contacts in the corner of two, three of three faces, equal to those with Planes."""
    faces = CUBE_FACES[(CUBE[CUBE_FACES] == 0.0).all(axis=1).any(axis=1)]
    planes = [md.Plane((0, 0, 0), normal) for normal in np.eye(3)]
    ends = []
    for walls in [md.MeshWall((CUBE, faces))], planes:
        sim = simulation(walls, contact, 1e-4, gravity=(-5, -5.5, -6))
        sim.add_clumps(BALL, [[0.0997, 0.0995, 0.6], [0.0998, 0.0995, 0.0996]], velocity=(0.3, 0.1, 0.1), scale=0.1,
                       angular_velocity=(3, -20, 5))
        assert np.array_equal(np.bincount(sim.contacts()["clump_i"]), [2, 3])
        counts = []
        sim.run(4000, every=10,
                callback=lambda sim: counts.append(np.bincount(sim.contacts()["clump_i"], minlength=2).max()))
        assert set(counts) == {0, 1, 2} or set(counts) == {0, 1, 2, 3}
        ends.append((sim.position, sim.velocity, sim.angular_velocity, sim.energy().dissipated))
    for one, other in zip(*ends):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-7)


def passing_an_edge(contact, mu, dt):
    """Normal and tangential forces (steps,) of a ball of infinite mass, which a face of a cube, an edge and the next
    face pass at constant distance with 1 m/s for 0.2 s; largest step of the force, from the edge on."""
    heavy, height = md.ClumpTemplate([(0, 0, 0)], [1.0], density=1e15), 0.099
    def path(t):
        s = t - 0.02
        angle = np.clip(s / height, 0.0, np.pi / 2)
        x, z = min(s, 0.0), max(s - height * np.pi / 2, 0.0)
        return np.array([-x - height * np.sin(angle), 0.5, 1.0 - z + height * np.cos(angle)])
    sim = simulation([md.MeshWall((CUBE, CUBE_FACES), motion=lambda t: (tuple(path(0.0) - path(t)), (0.0, 0.0, 0.0)))],
                     contact, dt, material=md.Material(1e7, 0.2, friction=mu))
    sim.add_clumps(heavy, [path(0.0)], scale=0.1)
    found = []
    sim.run(round(0.2 / dt), every=1, callback=lambda sim: found.append(sim.contacts().copy()))
    assert all(len(contacts) == 1 for contacts in found)
    found = np.concatenate(found)
    assert np.array_equal(found["normal"][-1], [-1, 0, 0]) and np.abs(found["force"][:, 1]).max() < 1e-9
    along = np.cross([0.0, 1.0, 0.0], found["normal"])              # against the way of the ball
    normal, tangential = (np.sum(found["force"] * n, axis=1) for n in (found["normal"], along))
    np.testing.assert_allclose(normal, 4 / 3 * MODULUS * np.sqrt(0.1) * 1e-3**1.5 if "hertz" in contact else 100.0,
                               rtol=1e-3)
    return normal, tangential, np.linalg.norm(np.diff(found["force"], axis=0), axis=1)[round(0.01 / dt):].max()


@pytest.mark.parametrize("contact", [MINDLIN, "hooke-coulomb:stiffness=1e5"])
def test_sliding_over_an_edge(contact):
    """The tangential force has Coulomb's value and the direction of the motion; the force is continuous."""
    jumps = []
    for dt in 4e-4, 2e-4:
        normal, tangential, jump = passing_an_edge(contact, 0.4, dt)
        np.testing.assert_allclose(tangential[round(0.01 / dt):], 0.4 * normal[0], rtol=1e-3)
        jumps.append(jump / normal[0])
    assert jumps[0] < 8e-3 and jumps[1] < 0.6 * jumps[0]


def test_spring_around_an_edge():
    normal, tangential, _ = passing_an_edge(MINDLIN, 1e4, 2e-4)
    stiffness = 8 * md.effective_shear_modulus(FRICTION, FRICTION) * np.sqrt(0.1 * 1e-3)
    np.testing.assert_allclose(tangential, stiffness * 2e-4 * np.arange(1, 1001), rtol=2e-3)


@pytest.mark.parametrize("wall, normal", [
    (md.Cylinder((0, 0, 1), (0, 1, 0), 1.0), (0, 0, 1)),
    (md.Cylinder((0, 0, -1), (0, 1, 0), 1.0, outside=True), (0, 0, 1)),
    (md.MeshWall((5 * CUBE - (5, 2, 5), CUBE_FACES)), (1, 0, 1))], ids=["inside", "outside", "edge"])
def test_straight_way_along_a_curved_wall(wall, normal):
    """Along the axis of a cylinder and along an edge, a ball slips and rolls as on a plane."""
    up, ends = np.array(normal) / np.linalg.norm(normal), []
    for walls in [wall], [md.Plane((0, 0, 0), normal)]:
        sim = simulation(walls, ROLLING, 1e-4, gravity=-9.81 * up)
        sim.add_clumps(BALL, [0.0985 * up], velocity=(0, 2.0, 0), scale=RADIUS)
        sim.run(1500)
        ends.append((sim.position, sim.velocity, sim.angular_velocity, sim.energy().dissipated))
    assert ends[0][1][0, 1] < 1.7
    for one, other in zip(*ends):
        np.testing.assert_allclose(one, other, atol=1e-9)
