"""Equal bits in periodic boxes that move: threads, divided runs, restart at any step, order in memory."""
import copy

import pytest
from bit_systems import some
from sheared_scenes import MOTIONS, digest, gas

import minidem as md

STEPS = 700


@pytest.mark.parametrize("name, contact", some([(name,) for name in MOTIONS], [
    ("hertz",), ("hertz:onset=corrected",), ("hertz-mindlin:rolling=epsd",)], 3))
def test_divided_and_restarted(name, contact, tmp_path):
    whole, parts = gas(MOTIONS[name], contact), gas(MOTIONS[name], contact)
    whole.run(STEPS)
    for steps in (1, 2, 97, 200):
        parts.run(steps)
    parts.energy(), parts.contacts()
    copied = copy.deepcopy(parts)
    parts.save(tmp_path / "state.npz")
    motions = {"periodic": parts.periodic} if parts.loop.state.box.functions else None
    if motions:
        with pytest.raises(ValueError, match="motions: the rate of the periodic box is a function"):
            md.Simulation.load(tmp_path / "state.npz")
    loaded = md.Simulation.load(tmp_path / "state.npz", motions=motions)
    for sim in parts, loaded, copied:
        sim.run(STEPS - 300)
        assert digest(sim) == digest(whole)


@pytest.mark.parametrize("name, contact", [
    ("stretched", "hertz-mindlin"), *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("stretched", "hertz"), ("pressure", "hertz-mindlin"), ("pressure", "hertz")))])
@pytest.mark.usefixtures("many_threads_and_sorts")
def test_threads_and_order_in_memory(name, contact):
    found = set()
    for threads in (1, 2):
        sim = gas(MOTIONS[name], contact, threads=threads)
        sim.run(150)
        if threads == 2:
            assert sim.statistics["threads"] == 2
            sim.continue_from(sim.loop.sorted(), sim.loop)
        sim.run(150)
        found.add(digest(sim))
    assert len(found) == 1


def test_precision_far_away():
    """Positions along the flow are wrapped, so that a long strain costs no digits: bits of two divisions agree, and the
    positions of images within the box are those of a simulation that has just begun."""
    sim = gas({"shear": ("x", "y", 400.0)}, n=8, solid_fraction=0.01, dt=1e-4)
    sim.run(33_000)
    assert sim.box.strain[3] > 1000.0
    assert abs(sim.loop.state.in_slot_order("position")).max() < 1e3 * sim.box.length[0]
    inside = sim.wrapped_position
    assert (inside >= sim.box.low).all() and (inside <= sim.box.high).all()
    unbounded = inside + sim.box.displacement(sim.image)
    assert abs(unbounded - sim.position).max() < 1e-9 * abs(sim.position).max()


@pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin:rolling=epsd"])
def test_deform_has_the_bits_of_rates_that_are_functions(contact, tmp_path):
    """Compressed, at rest, sheared, sheared back and stretched, with a checkpoint in each part."""
    parts, dt = [({}, 100), ({"rates": (0.0, -2.0, 0.0)}, 100), ({}, 50), ({"shear": ("x", "y", 5.0)}, 150),
                 ({"shear": ("x", "y", -3.0), "rates": (0.0, 0.0, 0.7)}, 100), ({}, 100)], 2e-5
    ends = [dt * sum(steps for _, steps in parts[:k + 1]) for k in range(len(parts) - 1)] + [1.0]

    def function(value):
        return lambda t: value(next(motion for (motion, _), end in zip(parts, ends) if t < end))

    rates = tuple(function(lambda motion, axis=axis: motion.get("rates", (0.0,) * 3)[axis]) for axis in range(3))
    whole = gas({"rates": rates, "shear": ("x", "y", function(lambda motion: motion.get("shear", (0, 0, 0.0))[2]))},
                contact)
    whole.run(sum(steps for _, steps in parts))
    sim = gas({}, contact)
    for motion, steps in parts:
        before = sim.energy()
        sim.deform(**motion)
        assert sim.energy() == before
        sim.run(steps // 2)
        sim.save(tmp_path / "state.npz")
        sim = md.Simulation.load(tmp_path / "state.npz")
        sim.run(steps - steps // 2)
    assert digest(sim) == digest(whole)


@pytest.mark.parametrize("looks", [False, True])
def test_work_after_deform(looks):
    """The power of the box at the step where its motion changes, whether energies were asked for or not."""
    sim, whole = gas({}, speed=3.0), gas({"shear": ("x", "y", lambda t: 0.0 if t < 200 * 2e-5 else 3.0)}, speed=3.0)
    whole.run(400)
    sim.run(200)
    if looks:
        sim.energy()
    sim.deform(shear=("x", "y", 3.0))
    sim.run(200)
    assert sim.energy() == whole.energy()


def test_deform_of_clumps_that_are_boxes_away():
    """Clumps that have left a resting box take part in the shear of unbounded space."""
    sim = gas({}, speed=30.0, solid_fraction=0.02)
    sim.run(3000)
    away = sim.image.copy()
    assert abs(away).max() > 1
    before, velocity = sim.position.copy(), sim.velocity.copy()
    sim.deform(shear=("x", "y", 5.0))
    assert (sim.position == before).all() and (sim.velocity == velocity).all()
    sim.run(1)
    change = sim.velocity - velocity
    free = abs(change[:, 1:]).max(axis=1) == 0.0
    assert free.sum() > 50
    assert abs(change - sim.box.flow(before))[free].max() < 1e-9
