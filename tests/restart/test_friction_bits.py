"""Equal bits of contacts with history in any order of the clumps; test_bits and test_disturbed_bits have the rest."""
import math

import numpy as np
import pytest
from settling_scene import BALL, CLUMP, MATERIAL, ROLLING

import minidem as md

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")


@pytest.mark.slow
def test_order_of_other_clumps():
    """Two heaps far from each other: neither depends on the order in which they were added."""
    ends = {}
    for order in ("ab", "ba"):
        sim = md.Simulation(MATERIAL, [md.Plane((0, 0, 0), (0, 0, 1))], contact=ROLLING, dt=1e-4, gravity=(0, 0, -9.81))
        rows = {}
        for name in order:
            x = {"a": 0.0, "b": 5.0}[name]
            places = [[x + 0.01 * (k % 3), 0.01 * (k % 2), 0.06 + 0.11 * k] for k in range(8)]
            rows[name] = sim.add_clumps(CLUMP, places)
        sim.run(3000)
        assert (sim.contacts()["clump_j"] >= 0).any()
        sim.run(5000)
        ends[order] = [np.concatenate([sim.position[rows[name]], sim.velocity[rows[name]]]).tobytes() for name in "ab"]
    assert ends["ab"] == ends["ba"]


@pytest.mark.parametrize("threads", [1, 3])
def test_order_of_many_contacts_with_friction(threads):
    """Forces of hundreds of contacts of one sphere are added without an order. The first forty of the others only come
    near it."""
    n, big, rng = 700, 350, np.random.default_rng(1)
    z, turn = np.linspace(-1.0, 1.0, n), 2.399963 * np.arange(n)
    normal = np.column_stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z])
    place = np.where(np.arange(n) < 40, 0.10403, 0.10399)[:, None] * rng.permutation(normal)
    velocity = rng.normal(size=(n, 3)) * (np.arange(n) >= 40)[:, None]
    sim = md.Simulation(MATERIAL, contact=ROLLING, dt=1e-6, threads=threads)
    sim.add_clumps(BALL, place[:big], velocity=velocity[:big], scale=0.1)
    # of two spheres, so that no other clump shares its block, in which lists are processed together
    sim.add_clumps(md.ClumpTemplate([(0.0, 0.0, 0.0)] * 2, [0.1, 0.05]), (0.0, 0.0, 0.0))
    sim.add_clumps(BALL, place[big:], velocity=velocity[big:], scale=0.1)
    sim.run(5)
    found = sim.contacts()
    found = found[(found["sphere_i"] == big) | (found["sphere_j"] == big)]
    sign = np.where(found["sphere_i"] == big, 1.0, -1.0)[:, None]
    moment = sign * (np.cross(found["point"] - sim.position[big], found["force"]) + found["couple"])
    assert len(found) > 500 and min(found["sphere_i"]) >= 40 and np.any(found["couple"])
    exact = [math.fsum(column) for column in (sign * found["force"]).T]
    np.testing.assert_allclose(sim.force[big], exact, rtol=0, atol=1e-12 * np.abs(found["force"]).max())
    np.testing.assert_allclose(sim.torque[big], moment.sum(axis=0), rtol=1e-9)
