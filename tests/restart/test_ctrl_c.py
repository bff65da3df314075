"""Ctrl-C at any instant: the operation, repeated, gives the bits of an uninterrupted run.

The signals are real ones, from a timer, and answered as Ctrl-C is: by KeyboardInterrupt.
"""
import copy
import random
import signal
import sys
import time

import numpy as np
import pytest
import scenes

import minidem as md
import minidem.engine.loop_memory

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")     # of ZipFile.__del__
DT = 38e-6
INSTANTS = 20       # of each operation
ADDED = 2           # the last clumps of a scene, put into it later


def drag(t, x, v, q, w):
    return -0.1 * v * (1.0 + np.sin(1e4 * t)), -1e-3 * w


MANY = scenes.rods_in_box(seed=3, n=700, side=3.0, speed=20.0, spin=20.0)
FEW = scenes.rods_in_box(seed=4, n=8, speed=20.0, spin=20.0)


def all_but_the_last(scene, **options):
    return scene.part(range(len(scene.shapes) - ADDED)).simulation(DT, **options)


def add_the_last(sim, scene):
    n = len(scene.shapes)
    if sim.n_clumps < n:
        sim.add_clumps(scene.shapes[-1].template, *(values[n - ADDED:] for values in scene.state))


def many():
    return all_but_the_last(MANY, threads=1)


def driven(path=None):
    sim = all_but_the_last(FEW)
    sim.add_force(drag)
    return sim


def saved(tmp_path):
    sim = driven()
    sim.run(20)
    sim.save(tmp_path / "state.npz")
    sim = md.Simulation.load(tmp_path / "state.npz")
    sim.add_force(drag)
    return sim


@pytest.fixture(autouse=True)
def answered_as_ctrl_c():
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def interrupted(act, after):
    """Call act(), with a signal after so many seconds [s]; whether it came in time."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            act()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        time.sleep(0.0)                     # a signal that came last is answered here
    except KeyboardInterrupt:
        return True
    return False


def bits(sim):
    """State, energy and contacts of a simulation."""
    energy = sim.energy()
    values = *scenes.state_of(sim), sim.force, sim.torque, sim.contacts()
    return [sim.step_count, energy.total, *(array.tobytes() for array in values)]


OPERATIONS = {
    "look": (saved, lambda sim, path: (sim.contacts(), sim.energy())),
    "add clumps": (driven, lambda sim, path: add_the_last(sim, FEW)),
    "add a force": (driven, lambda sim, path: len(sim.user_forces) > 1 or sim.add_force(drag)),
    "save": (driven, lambda sim, path: sim.save(path / "saved.npz")),
    "copy": (driven, lambda sim, path: copy.copy(sim)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_interrupted_operations_are_atomic(name, tmp_path, monkeypatch):
    monkeypatch.setattr(minidem.engine.loop_memory, "REBUILDS_PER_SORT", 1)
    make, act = OPERATIONS[name]

    def prepared():
        sim = make(tmp_path)
        sim.run(3)
        return sim

    def finished(sim):
        act(sim, tmp_path)
        sim.run(30)
        return bits(sim)

    def seconds_of(sim):
        began = time.perf_counter()
        act(sim, tmp_path)
        return time.perf_counter() - began

    seconds = min(seconds_of(prepared()) for _ in range(3))
    expected, hits = finished(prepared()), 0
    for part in np.linspace(0.001, 1.0, INSTANTS):
        sim = prepared()
        hits += interrupted(lambda: act(sim, tmp_path), part * seconds)
        assert finished(sim) == expected, f"after an interrupt at {part:.3f} of {seconds:.3g} s"
    assert hits > 0.2 * INSTANTS


def interrupting(countdown):
    """A trace function that raises KeyboardInterrupt at one of the next lines or calls, as a signal handler may."""
    def trace(frame, event, argument):
        nonlocal countdown
        if event in ("call", "line"):
            countdown -= 1
            if countdown == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace
    return trace


def test_a_sort_interrupted_at_every_line(monkeypatch):
    """The clumps are in the old or the new order. Each call of run sorts, and is interrupted one line later than the
    one before, until it gets through."""
    monkeypatch.setattr(minidem.engine.loop_memory, "REBUILDS_PER_SORT", 0)
    scene = scenes.packed_mixture(4, (8, 8, 10), speed=20.0)
    sim, uninterrupted = (scene.simulation(DT, threads=1) for _ in range(2))
    for one in sim, uninterrupted:
        one.run(150)                                # in contact with one another; no longer in order
    orders, lines = {sim.loop.state.clump_number.tobytes()}, 0
    interrupted = True
    while interrupted:
        interrupted = False
        lines += 1
        try:
            sys.settrace(interrupting(lines))
            sim.run(1)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.settrace(None)
        uninterrupted.run(sim.step_count - uninterrupted.step_count)
        assert bits(sim) == bits(uninterrupted), f"other bits after Ctrl-C at line {lines}"
        orders.add(sim.loop.state.clump_number.tobytes())
    assert lines > 50 and len(orders) > 1 and len(sim.contacts()) > 50


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_signals_at_random_times(count, tmp_path, monkeypatch):
    """In runs with sorting, user forces, new clumps, saving and loading."""
    monkeypatch.setattr(minidem.engine.loop_memory, "REBUILDS_PER_SORT", 1)
    chance, path, start, loaded = random.Random(5), tmp_path / "state.npz", many(), []

    def perform(sim):
        add_the_last(sim, MANY)
        sim.run_until(20 * DT)
        if not sim.user_forces:
            sim.add_force(drag)
        sim.run_until(30 * DT)
        sim.save(path)
        loaded[:] = [md.Simulation.load(path, threads=1)]
        loaded[0].add_force(drag)
        loaded[0].run(5)

    began = time.perf_counter()
    perform(copy.deepcopy(start))
    seconds = time.perf_counter() - began
    expected, hits = bits(loaded[0]), 0
    for k in range(count):
        sim = copy.deepcopy(start)
        while interrupted(lambda: perform(sim), chance.uniform(1e-5, 1.2 * seconds)):
            hits += 1
        assert bits(loaded[0]) == expected, f"try {k}"
    assert hits > 0.3 * count
