"""Clump templates: mass, centre of mass, inertia tensors, axes and frames."""
import numpy as np
import pytest
from numpy import pi
from reference_contact import rotation_matrix
from reference_union import LATTICE, TETRAHEDRON, random_rotation

import minidem as md
from minidem.templates.clump_template import ClumpTemplate

EPS = np.finfo(float).eps
NOISE = 64 * EPS            # tens of sums and products in the references of this file


def inertia_tensor(clump):
    """About the centre of mass, in the input frame."""
    return clump.axes @ np.diag(clump.inertia) @ clump.axes.T


def separate_spheres(centers, radii, density):
    """Mass, centre of mass and inertia tensor of spheres that do not overlap, by Steiner's theorem."""
    mass = density * 4 / 3 * pi * np.asarray(radii) ** 3
    center = mass @ centers / mass.sum()
    arm = centers - center
    tensor = sum(m * (0.4 * r * r * np.eye(3) + (a @ a) * np.eye(3) - np.outer(a, a))
                 for m, r, a in zip(mass, radii, arm))
    return mass.sum(), center, tensor


def assert_consistent(clump):
    """Properties of every template: right-handed consistent frames, ascending moments of a possible body."""
    assert np.abs(clump.axes.T @ clump.axes - np.eye(3)).max() < NOISE and np.linalg.det(clump.axes) > 0
    assert np.abs(rotation_matrix(clump.orientation) - clump.axes).max() < NOISE
    assert abs(np.linalg.norm(clump.orientation) - 1) < NOISE and clump.orientation[0] >= 0
    i1, i2, i3 = clump.inertia
    assert 0 < i1 <= i2 <= i3 <= (i1 + i2) * (1 + NOISE)
    size = clump.bounding_radius
    extent = np.abs(clump.centers).max() + size
    assert np.abs(clump.center_of_mass + clump.offsets @ clump.axes.T - clump.centers).max() < NOISE * extent
    farthest = (np.linalg.norm(clump.centers - clump.center_of_mass, axis=1) + clump.radii).max()
    assert abs(size - farthest) < NOISE * extent and clump.mass == clump.density * clump.volume
    assert 0 < clump.relative_error < 1e-12


@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_touching_or_separate_spheres(gap):
    rng = np.random.default_rng(1)
    for _ in range(20):
        radii = rng.uniform(0.1, 0.2, 4)
        centers = (np.array([[0, 0, 0], [1, 0, 0], [0, 1.1, 0], [0.2, 0.3, 1.3]]) @ random_rotation(rng)
                   + rng.normal(size=3))
        if gap == 0.0:
            radii[1] = np.linalg.norm(centers[1] - centers[0]) - radii[0]
        mass, center, tensor = separate_spheres(centers, radii, 2500.0)
        clump = ClumpTemplate(centers, radii)
        assert clump.mass == pytest.approx(mass, rel=NOISE)
        assert np.abs(clump.center_of_mass - center).max() < NOISE * np.abs(centers).max()
        assert np.abs(inertia_tensor(clump) - tensor).max() < NOISE * np.abs(tensor).max() * 4
        assert_consistent(clump)


def test_rods_in_any_direction():
    rng = np.random.default_rng(3)
    for k in range(200):
        direction = np.eye(3)[k % 3] if k < 6 else random_rotation(rng)[:, 0]
        n = rng.integers(2, 12)
        along, radii = np.cumsum(rng.uniform(0.1, 2.5, n)), rng.uniform(0.4, 1.0, n)
        place = rng.normal(size=3) * 10 ** rng.uniform(-1, 2)
        rod = ClumpTemplate(place + np.outer(along, direction), radii)
        assert np.array_equal(rod.offsets[:, 1:], np.zeros((n, 2)))
        assert rod.inertia[1] == rod.inertia[2] >= rod.inertia[0]       # equal if one sphere contains all
        # A centre is rounded to the last bit of its coordinates, the direction to that over the length.
        assert abs(abs(rod.axes[:, 0] @ direction) - 1) < NOISE
        assert np.abs(np.cross(rod.axes[:, 0], direction)).max() < 8 * EPS * np.abs(rod.centers).max() / 0.1
        straight = ClumpTemplate(np.outer(along, [1.0, 0, 0]), radii)
        loss = NOISE * (1 + np.abs(rod.centers).max() / rod.bounding_radius)
        assert rod.inertia == pytest.approx(straight.inertia, rel=max(loss, rod.relative_error))
        assert_consistent(rod)
    for axis, columns in enumerate(([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, -1]],
                                    [[0, 0, 1], [1, 0, 0], [0, 1, 0]])):
        for sign in (1.0, -1.0):
            rod = ClumpTemplate(sign * np.outer([0, 1, 2], np.eye(3)[axis]), [1, 1, 1])
            assert np.array_equal(rod.axes.T, columns)


SQUARE = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]], dtype=float)


@pytest.mark.parametrize("radius", [0.6, 1.0, 1.2, 1.6])
@pytest.mark.parametrize("place", [0.0, 30.0])
def test_two_equal_moments(radius, place):
    rng = np.random.default_rng(4)
    flat = ClumpTemplate(SQUARE + place, np.full(4, radius))
    assert flat.inertia[0] == flat.inertia[1] < flat.inertia[2]
    assert np.abs(flat.axes - np.eye(3)).max() < NOISE * (1 + place)
    # Stretched along z, the single moment is the smallest one.
    tall = ClumpTemplate(np.vstack([SQUARE, SQUARE + [0, 0, 2.5]]), np.full(8, radius))
    assert tall.inertia[0] < tall.inertia[1] == tall.inertia[2]
    assert np.abs(tall.axes.T - [[0, 0, 1], [1, 0, 0], [0, 1, 0]]).max() < NOISE
    for _ in range(20):
        q = random_rotation(rng)
        turned = ClumpTemplate((SQUARE + place) @ q.T, np.full(4, radius))
        assert turned.inertia[0] == turned.inertia[1]
        assert np.abs(inertia_tensor(turned) - q @ inertia_tensor(flat) @ q.T).max() < (
            NOISE * (1 + place) * flat.inertia[2])
        assert_consistent(turned)
    nearly = ClumpTemplate(SQUARE * [1 + 1e-12, 1, 1], np.full(4, 0.5))     # a thousand times round-off
    assert nearly.inertia[0] < nearly.inertia[1] and abs(abs(nearly.axes[0, 0]) - 1) < 1e-4


@pytest.mark.parametrize("centers, radius", [(np.zeros((1, 3)), 0.3), (TETRAHEDRON, 1.0), (TETRAHEDRON, 1.6),
                                             (LATTICE, 0.5), (LATTICE, 0.9)])
def test_three_equal_moments(centers, radius):
    rng = np.random.default_rng(5)
    for q in [np.eye(3), *(random_rotation(rng) for _ in range(10))]:
        clump = ClumpTemplate(centers @ q.T + rng.normal(size=3), np.full(len(centers), radius))
        assert clump.inertia[0] == clump.inertia[1] == clump.inertia[2] and np.array_equal(clump.axes, np.eye(3))
        assert_consistent(clump)


def random_clump(rng, n):
    return rng.normal(size=(n, 3)) * 0.6, rng.uniform(0.2, 0.8, n)


def test_rotation_shift_order_and_units_change_round_off_only():
    rng = np.random.default_rng(7)
    for _ in range(50):
        centers, radii = random_clump(rng, 10)
        base = ClumpTemplate(centers, radii)
        q, place, order = random_rotation(rng), rng.normal(size=3) * 100, rng.permutation(10)
        unit = 10 ** rng.uniform(-6, 6)
        other = ClumpTemplate(unit * (centers[order] @ q.T + place), unit * radii[order])
        # Coordinates of size 100 to 400 keep the clump's shape to their last bit only.
        loss = NOISE * (np.abs(other.centers).max() / unit)
        assert other.mass == pytest.approx(base.mass * unit**3, rel=loss)
        tensor = q @ inertia_tensor(base) @ q.T * unit**5
        assert np.abs(inertia_tensor(other) - tensor).max() < loss * np.abs(tensor).max()
        assert np.abs(other.center_of_mass - unit * (q @ base.center_of_mass + place)).max() < loss * unit
        assert other.relative_error == pytest.approx(base.relative_error, rel=0.5)
        assert_consistent(base)
    for power in (-30, -1, 10, 40):                     # no bit
        other = ClumpTemplate(np.ldexp(centers, power), np.ldexp(radii, power))
        assert other.mass == np.ldexp(base.mass, 3 * power) and np.array_equal(other.axes, base.axes)
        assert np.array_equal(other.inertia, np.ldexp(base.inertia, 5 * power))
        assert np.array_equal(other.offsets, np.ldexp(base.offsets, power))


def test_template_is_immutable():
    centers, radii = random_clump(np.random.default_rng(10), 3)
    given = centers.copy()
    clump, same = ClumpTemplate(centers, radii), ClumpTemplate(centers, radii)
    centers[0] = 7.0
    assert np.array_equal(clump.centers, given) and "3 spheres" in repr(clump) and "bounding radius" in repr(clump)
    for name in ("centers", "radii", "center_of_mass", "inertia", "axes", "orientation", "offsets"):
        with pytest.raises(ValueError, match=f"{name} is a copy"):
            getattr(clump, name)[0] = 1.0
        getattr(clump, name).fill(1.0)
        assert np.array_equal(getattr(clump, name), getattr(same, name))
    with pytest.raises(AttributeError, match="is immutable"):
        clump.mass = 1.0


def test_loaded_ball_rocks():
    """A ball whose centre of mass is below its centre, on a smooth floor: a pendulum with w^2 = m g h / I."""
    m, h, moment, radius, tilt = 0.01, 0.003, 4e-7, 0.01, 0.02
    ball = md.ClumpTemplate([(0, 0, 0)], [radius], mass=m, center_of_mass=(0, 0, -h),
                            inertia=np.diag([moment, moment, 3e-7]))
    sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.3), [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-5,
                        contact="hertz-mindlin", gravity=(0, 0, -9.81), threads=1)
    height = radius - (m * 9.81 / (4.0 / 3.0 * 1e7 / (2.0 * 0.91) * np.sqrt(radius))) ** (2.0 / 3.0)    # at rest
    sim.add_clumps(ball, [(0.0, h * np.sin(tilt), height - h * np.cos(tilt))],
                   orientation=(np.cos(tilt / 2), np.sin(tilt / 2), 0, 0))
    assert sim.sphere_centers == pytest.approx(np.array([[0.0, 0.0, height]]), abs=1e-15)
    found, frequency = [], np.sqrt(m * 9.81 * h / moment)
    sim.run(40_000, every=1000, callback=lambda sim: found.append((sim.time, 2.0 * sim.orientation[0, 1])))
    times, angles = np.array(found).T
    assert angles == pytest.approx(tilt * np.cos(frequency * times), abs=1e-3 * tilt)
    assert np.abs(sim.position[0, :2]).max() < 1e-4         # no force along the floor
