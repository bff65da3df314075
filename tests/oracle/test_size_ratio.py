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
    monkeypatch.setattr("minidem.engine.loop_memory.SPHERES_PER_THREAD", 1)
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
