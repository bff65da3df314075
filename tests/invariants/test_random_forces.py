"""Random numbers of forces: those of NumPy, with equal bits for all languages."""

import numpy as np
import pytest
from rods_with_fields import POINTERS, box_of_rods, same

import minidem as md


def noise(strength):
    def force(t, x, v, q, w, *, random):
        return strength * (random[:, :3] - 0.5), strength * 1e-2 * (random[:, 3:] - 0.5)
    return force


def compiled_noise():
    numba = pytest.importorskip("numba")

    @numba.cfunc(POINTERS)
    def force(time, clumps, wrenches, parameters):
        rows, out = numba.carray(clumps, (22, 8)), numba.carray(wrenches, (6, 8))
        for k in range(8):
            for m in range(3):
                out[m, k] = parameters[0] * (rows[16 + m, k] - 0.5)
                out[3 + m, k] = parameters[0] * 1e-2 * (rows[19 + m, k] - 0.5)

    return force


def test_random_numbers_are_those_of_numpy():
    seen = {}

    def force(t, x, v, q, w, *, random):
        seen[round(t / 1e-5)] = random
        return np.zeros(3), np.zeros(3)

    sim = md.Simulation(md.Material(young=1e7, poisson=0.3), dt=1e-5)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0), np.arange(5)[:, None] * [1.0, 0, 0])
    sim.remove_clumps([1])
    sim.add_force(force, random=6, seed=2 ** 40 + 17)
    sim.run(3)
    assert sorted(seen) == [0, 1, 2, 3]
    for step, numbers in seen.items():
        for id_, row in zip(sim.ids, numbers):
            philox = np.random.Philox(counter=[0, int(id_), step, 0], key=[2 ** 40 + 17, 0])
            assert np.array_equal(row, np.random.Generator(philox).random(6))


def test_languages_have_equal_bits():
    """Those over threads and restarts: test_bits."""
    sims = [box_of_rods() for _ in range(2)]
    sims[0].add_force(noise(1e-3), random=6, seed=5)
    sims[1].add_force(compiled_noise(), [1e-3], random=6, seed=5)
    for sim in sims:
        sim.run(100)
    assert same(*sims)


def test_random_needs_an_argument():
    sim = box_of_rods()
    for function, arguments in ((noise(1.0), {}), (lambda t, x, v, q, w: (0.0 * v, 0.0 * w), {"random": 3})):
        with pytest.raises(ValueError, match="random = "):
            sim.add_force(function, **arguments)
