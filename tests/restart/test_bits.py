"""Identical bits for any number of threads, any output, any division into runs, after a restart or Ctrl-C."""
import _thread
import threading
import time

import numpy as np
import pytest
import scenes
from scenes import Scene

import minidem as md

DT = 38e-6


def dilute():
    return scenes.rods_in_box(seed=1)


def dense():
    """3060 rods at solid fraction 0.2: enough work per step for several threads."""
    return scenes.packed_rods(2, (10, 17, 18))


def soft():
    """2240 rods of soft material: contacts last for hundreds of steps, and a rod has several of them at a
    time, so that the order in which they are added up matters."""
    return scenes.packed_rods(5, (10, 14, 16)).changed(young=1e7)


def no_walls():
    return scenes.packed_rods(3, (3, 5, 5), walls=False)


def mixed():
    """Rods and four-sphere clumps between walls, under gravity."""
    return scenes.packed_mixture(4, (4, 6, 6)).changed(gravity=(0.0, 0.0, -9.81))


def many_spheres():
    """343 clumps of thirty spheres: the search compares bounding spheres of clumps first."""
    return scenes.packed_bunches(6, 7)


STEPS = {many_spheres: 500, dilute: 3000, dense: 300, soft: 400, no_walls: 600, mixed: 600}
each_scene = pytest.mark.parametrize("build", STEPS, ids=lambda build: build.__name__)


PUBLIC_STATE = ("position", "orientation", "velocity", "angular_velocity", "force", "torque", "time",
                "step_count")


def state(sim):
    return {name: getattr(sim, name) for name in PUBLIC_STATE}


def assert_same_bits(sim, expected):
    for name, value in state(sim).items():
        assert np.array_equal(value, expected[name]), f"{name} differs"


def finished(build, **options):
    sim = build().simulation(DT, **options)
    sim.run(STEPS[build])
    return state(sim)


@pytest.fixture(scope="module")
def uninterrupted():
    """The ends of runs with one thread and nothing else going on, each computed once."""
    return {build: finished(build, threads=1) for build in STEPS}


@each_scene
def test_clumps_collide(build, uninterrupted):
    """Clumps collide: velocities at the end are not those of the start."""
    struck = np.any(uninterrupted[build]["velocity"] != build().velocity, axis=1)
    assert np.mean(struck) > 0.3


@each_scene
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_and_repetition(build, threads, uninterrupted):
    sim = build().simulation(DT, threads=threads)
    sim.run(STEPS[build])
    assert_same_bits(sim, uninterrupted[build])


@each_scene
@pytest.mark.parametrize("every", [1, 7])
def test_output_changes_nothing(build, every, uninterrupted, tmp_path):
    """At every so many steps up to the end: from the start, or as long as looking at so many spheres is quick."""
    def look_at_everything(sim):
        sim.energy(), sim.contacts(), sim.force, sim.angular_velocity, sim.sphere_centers()
        sim.linear_momentum(), sim.angular_momentum()
        if sim.step_count % 100 == 0:
            sim.write_vtu(tmp_path / "frame.vtu")

    sim = build().simulation(DT)
    outputs = 200_000 // sim.n_spheres
    sim.run(max(0, STEPS[build] - outputs * every))
    sim.run(STEPS[build] - sim.step_count, every, look_at_everything)
    assert_same_bits(sim, uninterrupted[build])


@each_scene
def test_pieces_of_a_run(build, uninterrupted):
    sim = build().simulation(DT)
    for piece in (1, 2, 100, 0, 57):
        sim.run(piece)
    sim.run(STEPS[build] - sim.step_count)
    assert_same_bits(sim, uninterrupted[build])


@each_scene
def test_run_until(build, uninterrupted):
    """The fewest steps that reach a time: half a step before a whole one, that one; at a whole one, no step
    more."""
    sim = build().simulation(DT)
    sim.run_until(100.5 * DT)
    assert sim.step_count == 101
    sim.run_until(sim.time)
    assert sim.step_count == 101
    sim.run_until((STEPS[build] - 0.5) * DT)
    assert_same_bits(sim, uninterrupted[build])


@each_scene
def test_restart_in_the_middle(build, uninterrupted, tmp_path):
    sim = build().simulation(DT, threads=2)
    sim.run(STEPS[build] // 2 + 1)
    sim.save(tmp_path / "state.npz")
    saved = state(sim)
    restarted = md.Simulation.load(tmp_path / "state.npz")
    assert_same_bits(restarted, saved)
    assert restarted.energy().total == sim.energy().total
    assert np.array_equal(restarted.contacts(), sim.contacts())
    for continued in (restarted, sim):
        continued.run(STEPS[build] - continued.step_count)
        assert_same_bits(continued, uninterrupted[build])


def interrupt_soon(requested):
    """Ctrl-C, 0.2 s from now, as the operating system would send it to the main thread."""
    def interrupt():
        requested.append(time.perf_counter())
        _thread.interrupt_main()
    threading.Timer(0.2, interrupt).start()


@pytest.mark.parametrize("build", [dilute, dense], ids=lambda build: build.__name__)
@pytest.mark.parametrize("every", [None, 10])
def test_interrupt_leaves_a_whole_step(build, every):
    """After Ctrl-C in a long run the state is that of some whole step, and goes on from there with the same
    bits."""
    sim, requested = build().simulation(DT), []
    with pytest.raises(KeyboardInterrupt):
        interrupt_soon(requested)
        sim.run(10**9, every, (lambda sim: None) if every else None)
    assert time.perf_counter() - requested[0] < 10.0         # 0.2 s on an idle machine
    reached, more = sim.step_count, 150
    assert 0 < reached < 10**9
    sim.energy(), sim.contacts()
    sim.run(more)
    whole = build().simulation(DT)
    whole.run(reached + more)
    assert_same_bits(sim, state(whole))


def test_error_in_a_callback_leaves_a_whole_step(uninterrupted):
    class Full(Exception):
        pass

    def fail(sim):
        if sim.step_count == 120:
            raise Full

    sim = dilute().simulation(DT)
    with pytest.raises(Full):
        sim.run(STEPS[dilute], 40, fail)
    assert sim.step_count == 120
    sim.run(STEPS[dilute] - 120)
    assert_same_bits(sim, uninterrupted[dilute])


def test_clumps_added_on_the_way(uninterrupted):
    """One that is added in the middle of a run and touches nobody changes nothing for the others."""
    scene, half, start = no_walls(), STEPS[no_walls] // 2, np.array([50.0, 60.0, 70.0])
    sim = scene.simulation(DT)
    sim.run(half)
    new, = sim.add_clumps(scene.shapes[0].template, start[None], *(a[:1] for a in scene.state[1:]))
    sim.run(STEPS[no_walls] - half)
    for name, value in state(sim).items():
        others = value[:new] if np.ndim(value) else value
        assert np.array_equal(others, uninterrupted[no_walls][name]), f"{name} differs"
    expected = start + (STEPS[no_walls] - half) * DT * scene.velocity[0]
    allowed = (STEPS[no_walls] - half) * np.finfo(float).eps * np.max(start)      # a rounding per step
    assert np.max(np.abs(sim.position[new] - expected)) < allowed


def test_clumps_added_in_several_calls(uninterrupted):
    """Numbering is by the order of adding; how many are added at a time does not matter."""
    scene = dilute()
    empty = Scene([], *(np.empty((0, n)) for n in (3, 4, 3, 3)), scene.walls).simulation(DT)
    for k in range(0, len(scene.shapes), 7):
        index = empty.add_clumps(scene.shapes[0].template, *(a[k:k + 7] for a in scene.state))
        assert list(index) == list(range(k, min(k + 7, len(scene.shapes))))
    empty.run(STEPS[dilute])
    assert_same_bits(empty, uninterrupted[dilute])
