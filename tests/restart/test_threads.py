"""The same bits from one, two, three and four threads, in a crowd and in a gas, while lists are renewed and clumps are
put into the order of space anew; where contacts are looked for slab by slab, as in large systems; and whatever part of
the clumps each thread owns."""
import time
from functools import lru_cache

import numpy as np
import pytest

import minidem.driver
import scenes
from minidem import sharing

DT = 38e-6          # [s]: a contact at 20 m/s lasts for some 25 steps, a list of neighbours for 13 to 50
PIECES = 10         # of a run: clumps can be put in order where a piece begins
SLABS = 1000, 9     # from so many spheres on (else 200 000), contacts are looked for amid the motion, 2^9 slots at once
LISTS = 2           # after which they are: ten times as often as usual, so that a short run sees it happen


def crowd():
    """3060 rods at solid fraction 0.2, and steps enough for 18 lists."""
    return scenes.packed_rods(2, (10, 17, 18), speed=20.0, spin=20.0), 200


@lru_cache
def gas():
    """2700 rods at the number density of thirty in a box of 1 m, and steps enough for 9 lists."""
    return scenes.rods_in_box(seed=3, n=2700, side=(2700 / 30)**(1 / 3), speed=20.0, spin=20.0), 400


@lru_cache
def run(build, threads, slabs=False, shares=None):
    """State and contacts after each piece of a run, and the share of clumps that were struck."""
    scene, steps = build()
    states, orders = [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minidem.driver, "LISTS_PER_ORDER", LISTS)
        if slabs:
            patch.setattr(minidem.driver, "SLOTS_IN_CACHE", SLABS[0])
            patch.setattr(minidem.driver, "LOG_SLAB", SLABS[1])
        if shares:
            patch.setattr(sharing, "even_out", lambda *times: np.array(shares))
        sim = scene.simulation(DT, threads=threads)
        for _ in range(PIECES):
            sim.run(steps // PIECES)
            states.append([*scenes.state_of(sim), sim.force, sim.torque, sim.contacts()])
            orders.append(np.array(sim._state.clump_number[:sim.n_clumps]))
    assert sim._loop.threads == threads                         # small systems keep to fewer
    assert shares is None or sim.statistics["shares"] == list(shares)
    assert sim._loop.statistics["outer_lists"] > 2 * LISTS
    assert np.any(np.diff(orders[0]) < 0)                       # they no longer stand as they were added
    assert len({order.tobytes() for order in orders}) > 2       # ... and were put in order again and again
    return states, np.mean(np.any(sim.velocity != scene.velocity, axis=1))


@pytest.mark.parametrize("threads, slabs, shares", [
    (2, False, None), (3, False, None), (4, False, None), (1, True, None), (2, True, None), (3, True, None),
    (2, False, (0.25, 0.75)), (3, True, (0.5, 0.125, 0.375))])
@pytest.mark.parametrize("build, contacts_at_once", [(crowd, 1000), (gas, 50)], ids=["crowd", "gas"])
def test_same_bits(build, contacts_at_once, threads, slabs, shares):
    expected, struck = run(build, 1)
    found, _ = run(build, threads, slabs, shares)
    assert struck > 0.3 and len(expected[-1][-1]) > contacts_at_once
    for piece, (one, other) in enumerate(zip(expected, found)):
        for name, a, b in zip(("x", "q", "v", "w", "force", "torque", "contacts"), one, other):
            assert np.array_equal(a, b), f"{name} differs after piece {piece}"


def test_threads_own_more_where_they_are_faster():
    assert np.array_equal(sharing.even_out([0.5, 0.5], [2.0, 2.02]), [0.5, 0.5])        # as good as equal
    assert np.array_equal(sharing.even_out([0.3, 0.7], [0.0, 1.0]), [0.3, 0.7])         # nothing is known
    shares, cost = np.array([1.0, 1.0, 1.0]) / 3, np.array([1.0, 2.0, 1.0])             # of a clump with each thread
    for _ in range(10):
        shares = sharing.even_out(shares, shares * cost)
        assert shares.sum() == pytest.approx(1.0)
    assert np.allclose(shares, [0.4, 0.2, 0.4], atol=sharing.WORTH_IT)
    assert np.min(sharing.even_out([0.5, 0.5], [1.0, 1e9])) >= 0.5 * sharing.LEAST


def test_time_of_each_thread_is_known(monkeypatch):
    """What clumps are shared out by: each thread's time in runs since they were, without that in which it waited.

    A thread with a seventh of the other's clumps waits for most of it.
    """
    asked, uneven = [], np.array([0.125, 0.875])
    monkeypatch.setattr(minidem.driver, "LISTS_PER_ORDER", LISTS)
    monkeypatch.setattr(sharing, "even_out", lambda shares, seconds: asked.append(list(seconds)) or uneven)
    scene, steps = crowd()
    sim = scene.simulation(DT, threads=2)
    began = time.perf_counter()
    for _ in range(PIECES):
        sim.run(steps // PIECES)
    seconds = np.array(asked[1:])                               # before the first, nothing had run
    assert len(seconds) > 2 and np.all(seconds > 0.0)
    few, many = seconds.sum(axis=0)
    assert 1.2 * few < many < time.perf_counter() - began
