"""Equal bits in a periodic box: threads, sorting, order of clumps, restarts, and wrapped positions."""
import copy
import ctypes
from functools import cache

import numpy as np
import pytest
import scenes
from settling_scene import MATERIAL

import minidem as md
import minidem.engine.loop_owner as owner

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts", "frequent_wraps")
LAWS = ["hertz", "hertz:onset=corrected", "hertz-mindlin:rolling=epsd"]
STATE = "position", "orientation", "velocity", "angular_velocity", "force", "torque"
AXES = [(True, True, True), (True, False, True)]
STEPS, WRAP, DT, DRIFT = 400, 64, 38e-6, (120.0, 0.0, -60.0)


@pytest.fixture
def frequent_wraps(monkeypatch):
    monkeypatch.setattr(owner, "STEPS_PER_WRAP", WRAP)


def gas(contact, axes=AXES[0], threads=1, order=slice(None)):
    """75 rods that drift through several box lengths; friction between soft ones, else of a common law."""
    scene = scenes.packed_rods(3, (3, 5, 5), walls=False)
    side = scenes.ROD_RADIUS * np.array([6.2, 3.2, 3.2]) * (3, 5, 5)
    walls = [plane for plane in md.box((0, 0, 0), side) if not np.any(np.array(plane.normal)[list(axes)])]
    material = MATERIAL if "mindlin" in contact else md.Material(young=1e8, poisson=0.1)
    sim = md.Simulation(material, walls, contact=contact, dt=DT, threads=threads, periodic=((0, 0, 0), side, axes))
    drift = np.where(axes, DRIFT, 0.0)
    sim.add_clumps(scene.shapes[0].template, scene.position[order], scene.orientation[order],
                   scene.velocity[order] + drift, scene.angular_velocity[order])
    return sim


def bits(sim):
    """All that a simulation contains."""
    arrays = {name: np.array(getattr(sim, name)) for name in STATE} | {"shift": np.array(sim.engine.state.shift)}
    contacts = sim.contacts()
    arrays |= {name: contacts[name] for name in contacts.dtype.names} | (sim.engine.loop.history() or {})
    return {name: np.ascontiguousarray(values).tobytes() for name, values in arrays.items()}


@cache
def undisturbed(contact, axes=AXES[0]):
    """Bits at the end of a run on one thread, in which clumps have collided across faces and were wrapped."""
    sim, across = gas(contact, axes), []
    sim.run(STEPS, 20, lambda sim: across.append(any_across(sim)))
    assert np.count_nonzero(across) > 5 and np.any(np.abs(sim.engine.state.shift) >= 2)
    assert np.all(np.abs(sim.engine.state.in_slot_order("position")) < 3.0 * np.max(sim.periodic[1]))
    assert np.any(sim.velocity != gas(contact, axes).velocity, axis=1).mean() > 0.3
    return bits(sim)


def any_across(sim):
    """Whether a contact is across a face of the box."""
    contacts, x = sim.contacts(), sim.wrapped_position
    pair = contacts["clump_j"] >= 0
    return np.any(np.abs(x[contacts["clump_i"][pair]] - x[contacts["clump_j"][pair]]) > 0.5 * np.max(sim.periodic[1]))


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("contact", LAWS)
@pytest.mark.parametrize("threads, slabs", [(2, False), (3, False), (3, True)])
def test_threads(contact, axes, threads, slabs, monkeypatch):
    if slabs:
        monkeypatch.setattr(owner, "SLOTS_IN_CACHE", 0)
        monkeypatch.setattr(owner, "LOG_SLAB", 5)
    sim = gas(contact, axes, threads)
    assert sim.threads == threads
    sim.run(STEPS)
    assert bits(sim) == undisturbed(contact, axes)


@pytest.mark.parametrize("contact", LAWS)
def test_pieces_copies_and_checkpoints(contact, tmp_path):
    """At steps in which positions are wrapped, and at others; clumps sorted or not, contacts looked at or not."""
    sim = gas(contact)
    for k, step in enumerate([0, 1, WRAP - 1, WRAP, WRAP + 1, 3 * WRAP, 3 * WRAP + 30, 5 * WRAP]):
        sim.run(step - sim.step_count)
        if k % 2:
            sim.contacts(), sim.stress()
        if k % 3 == 0:
            sim.engine.loop.sort_clumps()
        sim.save(tmp_path / "state.npz")
        for other in md.Simulation.load(tmp_path / "state.npz", threads=1 + k % 3), copy.deepcopy(sim):
            assert other.periodic == sim.periodic and bits(other) == bits(sim)
            other.run(STEPS - step)
            assert bits(other) == undisturbed(contact)
    sim.run(STEPS - sim.step_count)
    assert bits(sim) == undisturbed(contact)


def test_order_of_clumps():
    """A sphere has two contacts at most here, so that sums do not depend on the order."""
    sims = gas("hertz"), gas("hertz", order=slice(None, None, -1))
    for sim in sims:
        sim.run(STEPS)
    for name in STATE:
        assert np.array_equal(getattr(sims[0], name), getattr(sims[1], name)[::-1])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("contact", LAWS)
def test_step_with_an_error_is_undone(contact, threads):
    """In the step before which positions are wrapped, several times."""
    def fail(t, x, v, q, w):
        if failing and abs(t - (failing[0] + 1) * DT) < 0.1 * DT:
            raise ZeroDivisionError
        return np.zeros((2, len(x), 3))

    def run(steps_of_errors):
        sim = gas(contact, threads=threads)
        failing[:] = steps_of_errors
        sim.add_force(lambda *state: tuple(fail(*state)))
        while failing:
            with pytest.raises(ZeroDivisionError):
                sim.run(STEPS)
            assert sim.step_count == failing.pop(0)
        sim.run(STEPS - sim.step_count)
        return bits(sim)

    failing = []
    assert run([3 * WRAP, 3 * WRAP, 5 * WRAP + 1]) == run([])


def test_added_and_removed_clumps_keep_their_box_lengths():
    """Positions of the others do not change, and the new clump is where it was added."""
    sim = gas("hertz")
    sim.run(4 * WRAP + 1)
    position, orientation, shift = np.array(sim.position), np.array(sim.orientation), np.array(sim.engine.state.shift)
    assert np.any(shift)
    sim.remove_clumps(sim.ids[::3])
    kept = np.arange(len(position)) % 3 > 0
    assert np.array_equal(sim.position, position[kept]) and np.array_equal(sim.engine.state.shift, shift[kept])
    sim.add_clumps(sim.templates[0], position[0], orientation[0])
    assert np.array_equal(sim.position[:-1], position[kept]) and np.array_equal(sim.position[-1], position[0])


def test_compiled_forces_see_positions_in_unbounded_space():
    """A spring to the origin, as in Python, for rods that were wrapped; also after a spatial sort."""
    @ctypes.CFUNCTYPE(None, *4 * [ctypes.POINTER(ctypes.c_double)])
    def spring(time, clumps, wrenches, parameters):
        np.ctypeslib.as_array(wrenches, (6, 8))[:3] = -20.0 * np.ctypeslib.as_array(clumps, (15, 8))[:3]

    one, other = gas("hertz", threads=2), gas("hertz")
    one.add_force(spring)
    other.add_force(lambda t, x, v, q, w: (-20.0 * x, np.zeros(3)))
    for sim in one, other:
        sim.run(STEPS)
    assert np.any(np.abs(one.engine.state.shift) >= 2)
    np.testing.assert_allclose(one.position, other.position, rtol=0, atol=1e-9)
    assert one.energy().work == pytest.approx(other.energy().work, rel=1e-3)
