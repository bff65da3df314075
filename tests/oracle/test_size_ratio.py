"""A few large spheres among many small ones: contacts against a k-d tree, and the cost of a step."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import minidem as md

SMALL, RATIO, SPACING = 0.01, 50.0, 2.4         # radius [m]; of large spheres to it; of small centres, in radii


def lattice(n, spacing):
    """(n, 3) points of a cubic lattice that fill a cube."""
    side = int(np.ceil(np.cbrt(n) - 1e-9))
    return spacing * (0.5 + np.stack(np.unravel_index(np.arange(n), (side, side, side)), axis=1))


def crowd(n_small, n_large, threads=1, sizes=(1.0,), seed=1):
    """Small spheres, of several sizes in turn, around large ones; 1 m/s at most along each axis, no walls."""
    rng = np.random.default_rng(seed)
    big = RATIO * SMALL
    large = lattice(n_large, 2.2 * big)
    room = lattice(int(1.3 * n_small + 300 * n_large * RATIO ** 3 / 100), SPACING * SMALL)
    if n_large:                                # the free places next to them first
        away = cKDTree(large).query(room)[0] - big
        room = room[np.argsort(away, kind="stable")][np.count_nonzero(away <= 1.4 * SMALL):]
    small = room[:n_small] + 0.19 * SMALL * rng.uniform(-1.0, 1.0, (n_small, 3))
    sim = md.Simulation(md.Material(young=1e8, poisson=0.2), dt=2e-5, threads=threads)
    for radius, position in [(size * SMALL, small[k::len(sizes)]) for k, size in enumerate(sizes)] + [(big, large)]:
        if len(position):
            sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [radius], 2500.0), position,
                           velocity=rng.uniform(-1.0, 1.0, (len(position), 3)))
    return sim


@pytest.mark.parametrize("threads", [1, 2])
def test_contacts(threads, monkeypatch):
    """Three large spheres, which touch many small spheres each after a while; three grids."""
    monkeypatch.setattr("minidem.engine.driver.SPHERES_PER_THREAD", 1)
    sim = crowd(4000, 3, threads, sizes=(1.0, 0.3))
    assert sim.threads == threads
    larger = np.array([(i, j) for j in range(4000, sim.n_spheres) for i in range(j)])
    of_giants = 0
    for _ in range(5):
        sim.run(200)
        centre, radius = sim.sphere_centers(), sim.sphere_radii
        close = cKDTree(centre[:4000]).query_pairs(2.0 * SMALL, output_type="ndarray")
        i, j = np.concatenate([close, larger]).T
        overlap = radius[i] + radius[j] - np.linalg.norm(centre[i] - centre[j], axis=1)
        found = sim.contacts()
        assert set(zip(i[overlap > 0], j[overlap > 0])) == set(zip(found["sphere_i"], found["sphere_j"]))
        of_giants += np.count_nonzero(found["sphere_j"] >= 4000)
    assert of_giants > 50


def covered(n, wall=False, contact="hertz"):
    """A large sphere that n small ones touch, numbered at random; and a wall that touches it, on request."""
    heights = 1.0 - 2.0 * (np.arange(n) + 0.5) / n
    turns = np.arange(n) * np.pi * (3.0 - np.sqrt(5.0))
    outward = np.stack([np.sqrt(1.0 - heights ** 2) * np.cos(turns), np.sqrt(1.0 - heights ** 2) * np.sin(turns),
                        heights], axis=1)
    radius = 0.75 * np.sqrt(n) * SMALL
    rng = np.random.default_rng(n)
    walls = [md.Plane((0.0, 0.0, 0.999 * radius), (0.0, 0.0, -1.0))] if wall else []
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), walls=walls, contact=contact, dt=1e-5, threads=1)
    around = radius + SMALL * rng.uniform(0.95, 0.999, (n, 1))
    keep = around * outward[:, 2:] < 0.99 * radius - SMALL if wall else np.ones((n, 1), dtype=bool)
    place = rng.permutation(np.flatnonzero(keep))
    for ball, position in ((SMALL, (around * outward)[place[1:]]), (radius, np.zeros((1, 3))),
                           (SMALL, (around * outward)[place[:1]])):
        sim.add_clumps(md.ClumpTemplate([(0.0, 0.0, 0.0)], [ball], 2500.0), position)
    return sim


@pytest.mark.parametrize("n, contact", [(10, "hertz"), (60, "hooke:stiffness=1e6"), (3000, "hertz")])
def test_bits_of_a_long_sum(n, contact):
    """Forces on a large sphere are added as integers, as contact/fixed_point.pxd says, to the last bit."""
    sim = covered(n, True, contact)
    large = sim.n_clumps - 2
    contacts = sim.contacts()
    mine = contacts[(contacts["sphere_i"] == large) | (contacts["sphere_j"] == large)]
    assert np.count_nonzero(mine["sphere_j"] < 0) == 1
    force = np.where(mine["sphere_i"] == large, 1.0, -1.0)[:, None] * mine["force"]
    radius = 2.0 ** np.floor(np.log2(sim.sphere_radii[large]))
    unit = 2.0 ** (np.floor(np.log2(1e6 * radius if "hooke" in contact else 1e7 / (1.0 - 0.2 ** 2) * radius ** 2)) - 54)
    expected = unit * np.rint(force / unit).astype(np.int64).sum(axis=0)
    assert np.array_equal(sim.force[large], expected)
    assert len(mine) > 0.5 * n and np.allclose(expected, force.sum(axis=0), rtol=0.0, atol=n * unit)
    assert not np.array_equal(np.cumsum(force, axis=0)[-1], np.cumsum(force[::-1], axis=0)[-1])
