"""Equal bits in periodic boxes that move: threads, divided runs, restart at any step, order in memory."""
import copy

import pytest
from sheared_scenes import MOTIONS, digest, gas

import minidem as md

STEPS, LARGE = 700, 2000                # clumps for which two threads are used


@pytest.mark.parametrize("contact", ["hertz", "hertz:onset=corrected", "hertz-mindlin:rolling=epsd"])
@pytest.mark.parametrize("name", MOTIONS)
def test_divided_and_restarted(name, contact, tmp_path):
    whole, parts = gas(MOTIONS[name], contact), gas(MOTIONS[name], contact)
    whole.run(STEPS)
    for steps in (1, 2, 97, 200):
        parts.run(steps)
    parts.energy(), parts.contacts()
    copied = copy.deepcopy(parts)
    parts.save(tmp_path / "state.npz")
    motions = {"periodic": parts.periodic} if parts.engine.state.box.functions else None
    if motions:
        with pytest.raises(ValueError, match="motions: the rate of the periodic box is a function"):
            md.Simulation.load(tmp_path / "state.npz")
    loaded = md.Simulation.load(tmp_path / "state.npz", motions=motions)
    for sim in parts, loaded, copied:
        sim.run(STEPS - 300)
        assert digest(sim) == digest(whole)


@pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin"])
@pytest.mark.parametrize("name", ["stretched", "pressure"])
def test_threads_and_order_in_memory(name, contact):
    found = set()
    for threads in (1, 2):
        sim = gas(MOTIONS[name], contact, LARGE, threads=threads)
        sim.run(150)
        if threads == 2:
            assert sim.statistics["threads"] == 2
            sim.engine.loop.sort_clumps()
        sim.run(150)
        found.add(digest(sim))
    assert len(found) == 1


def test_precision_far_away():
    """Positions along the flow are wrapped, so that a long strain costs no digits: bits of two divisions agree, and the
    positions of images within the box are those of a simulation that has just begun."""
    sim = gas({"shear": ("x", "y", 400.0)}, n=8, solid_fraction=0.01, dt=1e-4)
    sim.run(33_000)
    assert sim.box.strain[3] > 1000.0
    assert abs(sim.engine.state.in_slot_order("position")).max() < 1e3 * sim.box.length[0]
    inside = sim.wrapped_position
    assert (inside >= sim.box.low).all() and (inside <= sim.box.high).all()
    unbounded = inside + sim.box.displacement(sim.image)
    assert abs(unbounded - sim.position).max() < 1e-9 * abs(sim.position).max()
