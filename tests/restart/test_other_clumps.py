"""Clumps that do not touch another change no bit of it: their order, their removal, their ids, signs of zeros."""
import copy

import numpy as np
import pytest
from bit_systems import MIXED
from reference_walls import plate, simulation
from settling_scene import BALL, CLUMP, ELASTIC, ROLLING, material_for

import minidem as md

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
STATE = "position", "orientation", "velocity", "angular_velocity", "force", "torque"


def test_order_of_added_clumps():
    """Clumps that are added in another order, one by one, move alike where they are too few to touch each other."""
    walls = [md.MeshWall(plate(6), angular_velocity=(0, 0, 1.0)), md.Cylinder((0, 0, 0), (0, 0, 1), 0.9,
                                                                              angular_velocity=(0, 0, -2.0))]
    rng, ends = np.random.default_rng(3), []
    places = np.column_stack([np.repeat([-0.5, 0.0, 0.5], 3), np.tile([-0.6, 0.0, 0.6], 3), np.full(9, 0.12)])
    velocity = rng.normal(size=(9, 3))
    for order in np.arange(9), rng.permutation(9):
        sim = simulation(walls, ROLLING, 2e-4, gravity=(0, 0, -9.81))
        for k in order:
            sim.add_clumps(MIXED, places[[k]], velocity=0.1 * velocity[k])
        sim.run(2000)
        assert (sim.contacts()["clump_j"] >= 0).sum() == 0 and len(sim.contacts()) > 1
        back = np.argsort(order)
        ends.append([sim.position[back].tolist(), sim.angular_velocity[back].tolist(),
                     sim.loop.ledger()["wall_work"].tolist()])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("contact", [ROLLING, "hooke-coulomb:stiffness=1e5", "hertz", "hertz:onset=corrected"])
def test_clumps_far_away_keep_their_bits(contact):
    """Two piles far from each other: removals from the second one, of which some clumps are in contact."""
    sim = md.Simulation(material_for(contact), [md.Plane((0, 0, 0), (0, 0, 1))], contact=contact, dt=1e-4,
                        gravity=(0, 0, -9.81), threads=1)
    for x in 0.0, 5.0:
        sim.add_clumps(CLUMP, [[x + 0.01 * (k % 3), 0.01 * (k % 2), 0.06 + 0.09 * k] for k in range(8)])
    sim.run(1200)
    removed, count = copy.deepcopy(sim), 0
    for _ in range(8):
        pairs = removed.contacts()
        touching = pairs["clump_i"][(pairs["clump_i"] >= 8) & (pairs["clump_j"] >= 0)]
        removed.remove_clumps(removed.ids[touching[:1]])
        count += len(touching) > 0
        for steps in (0, 40):
            sim.run(steps)
            removed.run(steps)
            for name in STATE:
                assert np.array_equal(getattr(sim, name)[:8], getattr(removed, name)[:8])
    assert removed.n_clumps == 16 - count < 16


@pytest.mark.parametrize("gravity", [(-0.0, 0.0, -0.0), (-0.0, -0.0, -9.81)])
@pytest.mark.parametrize("template, height", [(BALL, 0.0399), (CLUMP, 0.031)])
def test_signs_of_zeros(template, height, gravity, tmp_path):
    """Clumps in one block with one in contact are summed up, and others are not; the sort changes which."""
    sim = md.Simulation(ELASTIC, [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-5, gravity=gravity, threads=1)
    place = np.argwhere(np.ones((5, 5, 1))).astype(float)
    place[:, 2] = np.where(place[:, 1] < 2, height, 0.5)
    sim.add_clumps(template, place, velocity=np.where(place[:, [1, 2, 0]] < 2, -0.0, 0.0),
                   angular_velocity=(-0.0, 0.0, -0.0))
    assert len(sim.contacts()) >= 10
    for steps in 0, 3:
        sim.run(steps)
        sim.save(tmp_path / "state.npz")
        others = [md.Simulation.load(tmp_path / "state.npz"), copy.deepcopy(sim)]
        sim.continue_from(sim.loop.sorted(), sim.loop)
        for _ in range(2):
            assert all(getattr(other, name).tobytes() == getattr(sim, name).tobytes()
                       for other in others for name in STATE)
            for each in (sim, *others):
                each.run(1)


def through_a_file(sim, folder):
    sim.save(folder / "state.npz")
    return md.Simulation.load(folder / "state.npz")


def test_ids_are_never_used_again(tmp_path):
    sim = md.Simulation(ELASTIC, dt=1e-6)
    assert len(sim.ids) == 0
    places = np.arange(5.0)[:, None] * [1.0, 0.0, 0.0]
    assert sim.add_clumps(CLUMP, places).tolist() == [0, 1, 2, 3, 4]
    sim.remove_clumps([4])
    sim = through_a_file(sim, tmp_path)
    assert sim.add_clumps(CLUMP, places[:2] + 1.0).tolist() == [5, 6]
    sim.remove_clumps(sim.ids)
    assert sim.n_clumps == 0
    sim.run(3)
    sim = copy.deepcopy(through_a_file(sim, tmp_path))
    assert sim.n_clumps == 0 and sim.add_clumps(CLUMP, places[:1]).tolist() == [7]
    assert sim.ids.tolist() == [7] and sim.ids.dtype == np.int64
    sim.run(3)
