"""More threads than there are processors: the same bits of many clumps; load balance; the cost of sorting."""

import numpy as np
import pytest
import scenes
from bit_systems import bits

import minidem.engine.loop_memory
from minidem.broadphase.broadphase import rebalanced_parts

DT = 38e-6          # [s]: a contact at 20 m/s lasts for some 25 steps, a list of neighbours for 13 to 50


@pytest.fixture(scope="module")
def crowded():
    """{threads: bits of the end} of 6000 dense rods, sorted again and again, with contacts found slab by slab."""
    scene, found = scenes.packed_rods(2, (20, 20, 15), speed=20.0, spin=20.0), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minidem.engine.loop_memory, "REBUILDS_PER_SORT", 2)
        patch.setattr(minidem.engine.loop_memory, "SLOTS_IN_CACHE", 1000)
        patch.setattr(minidem.engine.loop_memory, "LOG_SLAB", 9)
        for threads in 1, 2, 8:
            sim = scene.simulation(DT, threads=threads)
            sim.run(150)
            assert sim.threads == threads and sim.loop.statistics["outer_lists"] > 4
            assert np.any(np.diff(sim.loop.state.clump_number[:sim.n_clumps]) < 0)        # no longer as added
            found[threads] = bits(sim)
    assert np.mean(np.any(sim.velocity != scene.velocity, axis=1)) > 0.3 and len(sim.contacts()) > 1000
    return found


@pytest.mark.parametrize("threads", [2, 8])
def test_more_threads_than_processors(crowded, threads):
    assert crowded[threads] == crowded[1]


def test_rebalanced_parts():
    assert rebalanced_parts([0.5, 0.5], [2.0, 2.01]) == [0.5, 0.5]            # little to gain
    assert rebalanced_parts([0.3, 0.7], [0.0, 1.0]) == [0.3, 0.7]             # no measurement
    assert rebalanced_parts([0.5, 0.5], [1e-4, 2e-4]) == [0.5, 0.5]           # too short for one
    shares, cost = np.array([1.0, 1.0, 1.0]) / 3, np.array([1.0, 2.0, 1.0])             # of a clump with each thread
    for _ in range(10):
        shares = rebalanced_parts(shares, shares * cost)
        assert sum(shares) == pytest.approx(1.0)
    assert np.allclose(shares, [0.4, 0.2, 0.4], atol=0.01)
    for _ in range(10):
        shares = rebalanced_parts(shares, [1.0, 1e9, 1.0])
    assert 0.25 / 3 > shares[1] > 0.2 / 3                               # it keeps some work


def test_load_balance_in_a_run():
    """From one to seven shares to about equal ones, in a few runs where other programs disturb the times."""
    sim = scenes.packed_rods(2, (10, 17, 18), speed=20.0, spin=20.0).simulation(DT, threads=2)
    sim.loop.set_shares([0.125, 0.875], keep=False)
    for _ in range(20):
        sim.run(200)
        if 0.3 < sim.statistics["shares"][0] < 0.7:
            return
    pytest.fail(f"shares {sim.statistics['shares']}")
