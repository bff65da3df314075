"""Volume and moments of unions of spheres: closed forms, degenerate layouts, independent integration."""
import time

import numpy as np
import pytest
from numpy import pi, sqrt
from reference_union import LATTICE, TETRAHEDRON, chain, random_rotation, union_by_slices

from minidem.templates.mass.union_of_spheres import moments_of_union

EPS = np.finfo(float).eps
# Round-off of the references and of rotated centres: tens of sums and products of numbers near 1. Measured: at most
# 5e-15.
NOISE = 64 * EPS


def rotations(count, seed=1):
    rng = np.random.default_rng(seed)
    yield np.eye(3)
    for _ in range(count - 1):
        yield random_rotation(rng)


def assert_same(got, volume, first, second, extra=0.0):
    """Equal within the error bounds of the result, which are below 1e-12."""
    v, f, s, volume_error, second_error = got
    size = np.trace(second)
    length = sqrt(size / volume)
    assert volume_error < 1e-12 * volume and second_error.sum() < 1e-12 * size
    assert abs(v - volume) <= volume_error + (NOISE + extra) * volume
    assert np.abs(f - first).max() <= volume_error * length + (NOISE + extra) * volume * length
    assert np.abs(s - second).max() <= second_error.sum() + (NOISE + extra) * size


def solid_of_revolution(total, q):
    """Volume, first and second moments of a chain along q e_z."""
    volume, z, zz, xx = total
    return volume, z * q[:, 2], xx * np.eye(3) + (zz - xx) * np.outer(q[:, 2], q[:, 2])


def turned(heights, q):
    return np.outer(heights, q[:, 2])


def test_two_overlapping_spheres():
    rng = np.random.default_rng(2)
    for q in rotations(300):
        r1, r2 = 1.0, 10 ** rng.uniform(-1.5, 0)
        d = rng.uniform(abs(r1 - r2), r1 + r2)
        got = moments_of_union(turned([0, d], q), np.array([r1, r2]))
        assert_same(got, *solid_of_revolution(chain([(0, r1), (d, r2)]), q))


@pytest.mark.parametrize("off", [s * 10.0**k for k in range(-16, -3) for s in (-1, 1)] + [0.0])
def test_nearly_tangent(off):
    """The small sphere is outside, partly inside or inside, within 1e-16 to 1e-4 of tangency."""
    ball = chain([(0, 1)])
    for q in rotations(8):
        d = 1.3 + off
        apart = ball + 4 / 3 * pi * 0.3**3 * np.array([1, d, d * d + 0.3**2 / 5, 0.3**2 / 5])
        exact = chain([(0, 1), (d, 0.3)]) if d < 1.3 else apart
        assert_same(moments_of_union(turned([0, d], q), np.array([1.0, 0.3])), *solid_of_revolution(exact, q))
        d = 0.7 + off
        exact = chain([(0, 1), (d, 0.3)]) if d > 0.7 else ball
        assert_same(moments_of_union(turned([0, d], q), np.array([1.0, 0.3])), *solid_of_revolution(exact, q))


def test_contained_spheres_add_nothing():
    rng = np.random.default_rng(3)
    base = np.array([[0, 0, 0], [0.9, 0.3, 0], [0.2, 1.0, 0.4]]), np.array([1.0, 0.7, 0.8])
    exact = moments_of_union(*base)[:3]
    inside = rng.normal(size=(20, 3))
    inside *= rng.uniform(0, 0.6, (20, 1)) / np.linalg.norm(inside, axis=1)[:, None]
    extra = np.vstack([base[0], base[0][0:1], inside]), np.concatenate([base[1], [0.4], np.full(20, 0.4)])
    for centers, radii in [(np.repeat(base[0], 3, axis=0), np.repeat(base[1], 3)), extra]:
        for order in [np.arange(len(radii)), *(rng.permutation(len(radii)) for _ in range(5))]:
            assert_same(moments_of_union(centers[order], radii[order]), *exact)


@pytest.mark.parametrize("gap", 10.0 ** np.arange(-17, -2))
@pytest.mark.parametrize("copies", [2, 3, 5, 20])
def test_near_duplicates(gap, copies):
    """Copies within `gap` add a shell of at most this thickness."""
    others = np.array([[1, 0, 0], [0, 1.3, 0], [0.7, 0.7, 0.7]])
    radii = np.array([1, 0.8, 0.8, 0.8])
    volume, first, second = moments_of_union(np.vstack([np.zeros(3), others]), radii)[:3]
    rng = np.random.default_rng(4)
    for _ in range(5):
        moved = rng.normal(size=(copies, 3))
        moved *= gap / np.linalg.norm(moved, axis=1)[:, None]
        got = moments_of_union(np.vstack([moved, others]), np.concatenate([np.ones(copies), radii[1:]]))
        # The shell's part of the volume is below 4 pi gap / (4 pi / 3), that of the moments below
        # its size times the squared extent, 1.6 clump radii.
        assert_same(got, volume, first, second, extra=8 * gap)


def ring(n, radius=1.0):
    angle = 2 * pi * np.arange(n) / n
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(n)], axis=1)


HEXAGON = np.array([[2, 0, 0], [1, sqrt(3), 0], [-1, sqrt(3), 0],
                    [-2, 0, 0], [-1, -sqrt(3), 0], [1, -sqrt(3), 0]]) / 2
PENCIL = np.array([[0, 0, -0.5], [0, 0, 0.25], [0, 0, 1], [0, 0, -2]])

DEGENERATE = {
    "three tangent": (np.array([[0, 0, 0], [0, 0, 2], [sqrt(3), 0, 1]]), np.ones(3)),
    "three through one circle": (PENCIL[:3], sqrt([1.25, 1.0625, 2])),
    "four through one circle, one beside": (
        np.vstack([PENCIL, [0.9, 0, 0.2]]), sqrt([1.25, 1.0625, 2, 5, 0.3])),
    "hexagon, all through its centre": (HEXAGON, np.ones(6)),
    "hexagon with its centre": (np.vstack([HEXAGON, np.zeros(3)]), np.ones(7)),
    "square through its centre": (ring(4, sqrt(2)), np.full(4, sqrt(2))),
    "tetrahedron": (TETRAHEDRON, np.full(4, 1.6)),
    "tetrahedron, three through each face's centre": (TETRAHEDRON, np.full(4, sqrt(8 / 3))),
    "tetrahedron through its centre": (TETRAHEDRON, np.full(4, sqrt(3))),
    "ring": (ring(12), np.full(12, 0.4)),
    "ring through its centre": (ring(12), np.ones(12)),
    "tiny sphere": (np.array([[0, 0, 0], [0, 0, 1.0]]), np.array([1, 1e-6])),
    "two tiny spheres": (np.array([[0, 0, 0], [0, 0, 1], [0, 1e-6, 1]]), np.array([1, 1e-6, 1e-6])),
    "far parts": (np.array([[0, 0, -8], [0.5, 0, -8], [0, 0, 8], [0, 0.6, 8.2]]), np.array([1, 1, 1, 0.8])),
    **{f"cube lattice r = {r:.3f}": (LATTICE, np.full(27, r))
       for r in (0.5, 0.6, sqrt(0.5), 0.8, sqrt(0.75), 0.9, 1.0)},
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate(name):
    centers, radii = DEGENERATE[name]
    centers = centers - centers.mean(axis=0)
    volume, first, second = union_by_slices(centers, radii, nodes=30)
    for q in rotations(12):
        got = moments_of_union(centers @ q.T, radii)
        assert_same(got, volume, q @ first, q @ second @ q.T)


def random_clump(n, seed, smallest, largest):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n, 3))
    centers *= rng.uniform(0, 1, (n, 1)) ** (1 / 3) / np.linalg.norm(centers, axis=1)[:, None]
    return centers, rng.uniform(smallest, largest, n)


@pytest.mark.parametrize("seed", range(6))
def test_random_clumps(seed):
    centers, radii = random_clump(12, seed, 0.2, 0.7)
    assert_same(moments_of_union(centers, radii), *union_by_slices(centers, radii, nodes=30))


def test_hundred_spheres():
    centers, radii = random_clump(100, 11, 0.1, 0.3)
    started = time.process_time()
    got = moments_of_union(centers, radii)
    assert time.process_time() - started < 0.05           # 1.5 ms when nothing else runs
    # The slices converge to the result: 2e-7, 2e-12, 1e-14 with 6, 10, 16 nodes.
    assert_same(got, *union_by_slices(centers, radii, nodes=12), extra=1e-12)


def test_sizes_over_nine_decades():
    """Each sphere on the surface of another, inside, outside or across: rotations change round-off only."""
    rng = np.random.default_rng(6)
    for _ in range(300):
        n = rng.integers(2, 25)
        radii = np.append(1.0, 10 ** rng.uniform(-9, 0, n - 1))
        centers = np.zeros((n, 3))
        for i in range(1, n):
            other, direction = rng.integers(i), rng.normal(size=3)
            offset = radii[other] + rng.choice([-1, 0, 1, rng.uniform(-1, 1)]) * radii[i]
            centers[i] = centers[other] + offset * direction / np.linalg.norm(direction)
        volume, first, second = moments_of_union(centers, radii)[:3]
        order = rng.permutation(n)
        for q in rotations(3, seed=rng.integers(1000)):
            got = moments_of_union(centers[order] @ q.T, radii[order])
            assert_same(got, volume, q @ first, q @ second @ q.T)
