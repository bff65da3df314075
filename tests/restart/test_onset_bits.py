"""Equal bits with the onset correction: threads, shares, slabs, order in memory, pieces of a run, copies, checkpoints.

Of two threads with a common contact each needs the motions of the other's clumps, and corrections are added to forces
that are summed already. test_restart_combinations combines the correction with schemes, forces and lists.
"""
import copy
from functools import cache

import custom_integrator as example
import numpy as np
import pytest
import scenes

import minidem as md
import minidem.engine.loop_owner as owner
from minidem.scenarios.spiral import chess_box

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
ONSET = "hertz:onset=corrected"
SCHEMES = [name for name in md.rotation.available() if len(md.rotation.info(name).stages) == 1]
STATE = "position", "orientation", "velocity", "angular_velocity", "force", "torque"


def drag(t, x, v, q, w):
    return -0.5 * v + 3.0 * np.sin(300.0 * t) * x[:, ::-1], -1e-3 * w


def mixture(rotation="spiral", contact=ONSET, threads=1):
    """Rods and small asymmetric clumps of soft material: spheres and clumps with several contacts each."""
    scene = scenes.packed_mixture(4, (4, 4, 4)).changed(young=1e7, gravity=(0.3, -0.2, -9.81))
    return scene.simulation(2e-4, rotation=rotation, contact=contact, threads=threads)


def mixture_with_force(**options):
    sim = mixture(**options)
    sim.add_force(drag)
    return sim


def without_walls(rotation="spiral", contact=ONSET, threads=1):
    scene = scenes.packed_mixture(4, (4, 4, 4), walls=False).changed(young=1e7)
    return scene.simulation(2e-4, rotation=rotation, contact=contact, threads=threads)


def bunches(rotation="spiral", contact=ONSET, threads=1):
    """Clumps of thirty spheres of many sizes."""
    scene = scenes.packed_bunches(6, 3).changed(young=1e7)
    return scene.simulation(5e-5, rotation=rotation, contact=contact, threads=threads)


def pieces(rotation="spiral", contact=ONSET, threads=1):
    """Thirty-two chess pieces of a hundred spheres each."""
    return chess_box.simulation(rotation, 2e-5, contact=contact, threads=threads)


def in_contact(rotation="spiral", contact=ONSET, threads=1):
    """Clumps of which two are within the first step of their contact at the start."""
    scene, before = scenes.packed_mixture(4, (4, 4, 4), walls=False).changed(young=1e7), without_walls(contact="hertz")
    before.run(9)
    position, orientation, velocity, angular_velocity = scenes.state_of(before)
    scene = scene.changed(position=position, orientation=orientation, velocity=velocity,
                          angular_velocity=angular_velocity)
    return scene.simulation(2e-4, rotation=rotation, contact=contact, threads=threads)


STEPS = {mixture: 50, mixture_with_force: 50, without_walls: 50, bunches: 250, pieces: 1500, in_contact: 30}
each_build = pytest.mark.parametrize("build", STEPS, ids=lambda build: build.__name__)


def state(sim):
    return {name: np.array(getattr(sim, name)) for name in STATE}


def assert_same_bits(sim, expected, what=""):
    for name, value in state(sim).items():
        assert np.array_equal(value, expected[name]), f"{name} differs: {what}"


def is_correcting(sim):
    """Whether a contact has a correction now: its force is not that of its overlap."""
    contacts = sim.contacts()
    plain = 2.5 * contacts["energy"] / contacts["overlap"]
    return np.any(np.abs(np.linalg.norm(contacts["force"], axis=1) / plain - 1.0) > 1e-9)


@cache
def undisturbed(build, rotation="spiral", contact=ONSET):
    """(state at the end of a run in one go on one thread, steps after which a contact has a correction)."""
    sim = build(rotation=rotation, contact=contact)
    sim.run(STEPS[build])
    end, other, corrected = state(sim), build(rotation=rotation, contact=contact), []
    other.run(STEPS[build], 1, lambda sim: is_correcting(sim) and corrected.append(sim.step_count))
    assert_same_bits(other, end, "looking at contacts")
    return end, corrected


@each_build
def test_corrections_take_place(build):
    end, corrected = undisturbed(build)
    assert len(corrected) >= 4 and corrected[-1] > corrected[0] + 3
    plain = build(contact="hertz")
    plain.run(STEPS[build])
    assert not np.array_equal(plain.velocity, end["velocity"])
    assert is_correcting(build()) == (build is in_contact)


@pytest.mark.parametrize("threads, shares, slabs", [
    (2, None, False), (4, None, False), (2, (0.25, 0.75), False), (3, (0.5, 0.125, 0.375), False), (1, None, True),
    (3, None, True)])
@each_build
def test_threads(build, threads, shares, slabs, monkeypatch):
    if slabs:
        monkeypatch.setattr(owner, "SLOTS_IN_CACHE", 0)
        monkeypatch.setattr(owner, "LOG_SLAB", 6)
    sim = build(threads=threads)
    assert sim.threads == threads
    if shares:
        sim.engine.loop.set_shares(shares)
    sim.run(STEPS[build])
    assert_same_bits(sim, undisturbed(build)[0])


@each_build
def test_single_steps(build):
    sim = build(threads=2)
    for _ in range(STEPS[build]):
        sim.run(1)
    assert_same_bits(sim, undisturbed(build)[0])


@each_build
def test_copies_and_checkpoints_within_corrections(build, tmp_path):
    """At steps at which a contact has a correction, the first and the last one among them, and at those beside them."""
    end, corrected = undisturbed(build)
    sim, path = build(threads=2), tmp_path / "state.npz"
    for step in sorted({first + k for first in (corrected[0], corrected[len(corrected) // 2], corrected[-1])
                        for k in (-1, 0, 1)} & set(range(STEPS[build]))):
        sim.run(step - sim.step_count)
        sim.save(path)
        loaded = md.Simulation.load(path, threads=3)
        for function in sim.user_forces:
            loaded.add_force(function)
        for other, name in (copy.deepcopy(sim), "copy"), (loaded, "checkpoint"):
            assert other.contact == ONSET
            assert_same_bits(other, state(sim), f"{name} at step {step}")
            other.run(STEPS[build] - step)
            assert_same_bits(other, end, f"{name} of step {step}")


@pytest.mark.parametrize("rotation", SCHEMES)
@pytest.mark.parametrize("build", [mixture, mixture_with_force], ids=lambda build: build.__name__)
def test_every_scheme(build, rotation):
    end, corrected = undisturbed(build, rotation)
    sim = build(rotation=rotation, threads=3)
    sim.run(corrected[len(corrected) // 2])
    sim = copy.deepcopy(sim)
    sim.run(STEPS[build] - sim.step_count)
    assert_same_bits(sim, end)


@pytest.mark.parametrize("rotation", SCHEMES)
def test_clumps_added_within_corrections(rotation):
    """Those that touch nobody change no bit of the others."""
    end, corrected = undisturbed(without_walls, rotation)
    for step in corrected[::3]:
        sim = without_walls(rotation)
        sim.run(step)
        new = sim.add_clumps(sim.templates[0], [[50.0, 60.0, 70.0]])
        sim.run(STEPS[without_walls] - step)
        for name in STATE:
            assert np.array_equal(getattr(sim, name)[:new[0]], end[name]), f"{name} differs, added at step {step}"


def test_clump_added_in_contact_within_corrections():
    """A ball that touches the topmost clump: forces are computed anew, and the momentum of all is conserved.

    Rounding: half an eps of m v per clump and step, all in one direction.
    """
    sim = without_walls()
    sim.run(undisturbed(without_walls)[1][2])
    centers = sim.sphere_centers()
    top = np.argmax(centers[:, 2])
    radius = sim.sphere_radii[top]
    sim.add_clumps(md.ClumpTemplate([(0.0, 0.0, 0.0)], [radius]), [centers[top] + [0.0, 0.0, 1.98 * radius]])
    before, touching = sim.linear_momentum(), sim.contacts()["clump_j"] == sim.n_clumps - 1
    assert np.count_nonzero(touching) >= 1 and np.any(sim.force[-1] != 0.0)
    sim.run(20)
    scale = np.sum(sim.mass) * np.max(np.linalg.norm(sim.velocity, axis=1))
    assert np.max(np.abs(sim.linear_momentum() - before)) < 20 * np.finfo(float).eps * scale


def leapfrog(calls_to_error=None):
    """SPIRAL's leapfrog in Python. calls_to_error : [n], n calls of `sync` are left until one raises."""
    def kicked(bodies, h):
        return example.flow(bodies.w.T, bodies.torque.T, bodies.inertia.T, h)

    def start(bodies, dt, stage):
        bodies.w.T[:] = kicked(bodies, -0.5 * dt)

    def move(bodies, dt, stage):
        bodies.w.T[:] = kicked(bodies, dt)
        bodies.q.T[:] = example.turn(bodies.q.T, bodies.w.T, dt)

    def sync(bodies, dt, stage):
        if calls_to_error:
            calls_to_error[0] -= 1
            if calls_to_error[0] == 0:
                raise ArithmeticError("not now")
        bodies.predicted.T[:] = kicked(bodies, 0.5 * dt)

    return {"start": start, "move": move, "sync": sync, "angular_velocity_offset": -0.5}


def test_scheme_in_python(own):
    """The same bits on three threads, and those of the built-in scheme but for rounding, which collisions amplify."""
    own("my-leapfrog", **leapfrog())
    sims = [mixture("my-leapfrog"), mixture("my-leapfrog", threads=3)]
    for sim in sims:
        sim.run(STEPS[mixture])
    assert_same_bits(sims[1], state(sims[0]))
    for name, value in undisturbed(mixture)[0].items():
        assert np.allclose(getattr(sims[0], name), value, rtol=0.0, atol=1e-10 * np.max(np.abs(value)))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("calls", [1, 5, 14])
def test_step_with_an_error_in_a_scheme_is_undone(own, threads, calls):
    """`sync` is called for corrections only, so it raises while they are computed."""
    countdown = [0]
    own("my-leapfrog", **leapfrog(countdown))
    whole = mixture("my-leapfrog")
    whole.run(STEPS[mixture])
    sim = mixture("my-leapfrog", threads=threads)
    sim.run(3)
    countdown[0] = calls
    with pytest.raises(ArithmeticError, match="not now"):
        sim.run(STEPS[mixture])
    assert 3 < sim.step_count < STEPS[mixture]
    sim.run(STEPS[mixture] - sim.step_count)
    assert_same_bits(sim, state(whole))
