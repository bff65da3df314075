"""Ctrl-C at any instant, and memory that is refused at any allocation: the operation, repeated, gives equal bits."""
import copy
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scenes
from bit_systems import SYSTEMS
from operations import DT, OPERATIONS, bits, finished, interrupted
from processes import python

from minidem.core.threads import has_openmp

pytestmark = [pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),     # of ZipFile.__del__
              pytest.mark.usefixtures("many_threads_and_sorts")]


@pytest.mark.parametrize("instants", [20, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", OPERATIONS)
def test_interrupted_operations_are_atomic(name, instants, tmp_path):
    make, act = OPERATIONS[name]
    start, path = make(1), tmp_path / "state.npz"
    def seconds():
        sim, began = copy.deepcopy(start), time.perf_counter()
        act(sim, path)
        return time.perf_counter() - began
    duration = min(seconds() for _ in range(3))
    expected, hits = finished(copy.deepcopy(start), act, path), 0
    for part in np.linspace(0.001, 1.0, instants):
        sim = copy.deepcopy(start)
        for again in 1.0, 0.5:
            hits += interrupted(lambda: act(sim, path), again * part * duration)
        assert finished(sim, act, path) == expected, f"after an interrupt at {part:.3f} of {duration:.3g} s"
    assert hits > 0.2 * instants


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


def interrupted_at(line, act):
    """Call act(), with Ctrl-C at its line or call of this number; whether it got that far."""
    try:
        sys.settrace(interrupting(line))
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_a_sort_interrupted_at_every_line(monkeypatch):
    """Each call of run sorts, and is interrupted one line later than the one before, until it gets through."""
    monkeypatch.setattr("minidem.engine.driver.REBUILDS_PER_SORT", 0)
    scene = scenes.packed_mixture(4, (8, 8, 10), speed=20.0)
    sim, uninterrupted = (scene.simulation(DT, threads=1) for _ in range(2))
    for one in sim, uninterrupted:
        one.run(150)                                # in contact with one another; no longer in order
    orders, lines, hit = {sim.loop.state.clump_number.tobytes()}, 0, True
    while hit:
        lines += 1
        hit = interrupted_at(lines, lambda: sim.run(1))
        uninterrupted.run(sim.step_count - uninterrupted.step_count)
        assert bits(sim) == bits(uninterrupted), f"other bits after Ctrl-C at line {lines}"
        orders.add(sim.loop.state.clump_number.tobytes())
    assert lines > 50 and len(orders) > 1 and len(sim.contacts()) > 50


@pytest.mark.parametrize("every", [13, pytest.param(3, marks=pytest.mark.slow)])
def test_a_moving_box_interrupted_at_every_few_lines(every):
    """Where the steps to come are tabulated, too."""
    start = SYSTEMS["pressure box"].build("hertz", rotation="exact")
    start.run(7)
    uninterrupted, lines, hit = copy.deepcopy(start), 0, True
    uninterrupted.run(3)
    expected = bits(uninterrupted)
    while hit:
        lines, sim = lines + every, copy.deepcopy(start)
        hit = interrupted_at(lines, partial(sim.run, 1))
        sim.run(10 - sim.step_count)
        assert bits(sim) == expected, f"other bits after Ctrl-C at line {lines}"
    assert lines > 200


def test_broken_bonds_interrupted_at_every_line(bonded):
    """NumPy must not make another error of Ctrl-C, and no bond is lost or noted twice."""
    while not len(bonded.bonds.broken()):
        start = copy.deepcopy(bonded)
        bonded.run(1)
    lines, hit = 0, True
    while hit:
        lines, sim = lines + 1, copy.deepcopy(start)
        sim.loop.run(1)                             # without a look of the monitor, which reads the energies
        hit = interrupted_at(lines, sim.loop.broken_bonds)
        assert sim.bonds.broken().tolist() == bonded.bonds.broken().tolist(), f"Ctrl-C at line {lines}"
    assert lines > 10


# --- Memory that the garbage collector frees.

COLLECTED = """
import gc
import bit_systems, minidem as md
bit_systems.register_own(md.contact.register, md.rotation.register)
def refused(sim):
    try:
        sim.add_clumps(sim.templates[0], sim.position[:1])
    except ValueError as error:
        kept = error                        # a cycle through its traceback, with a time loop that was never used
for system in bit_systems.SYSTEMS.values():
    sim = system.build(system.laws[0], threads=2)
    sim.run(2)
    refused(sim)
    vars(sim)["itself"] = sim
    del sim
    gc.collect()
print("collected")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_the_garbage_collector_may_free_a_simulation_in_any_order():
    """It clears lists in a cycle, and so frees arrays, before it calls __dealloc__ of a time loop."""
    done = python("-c", COLLECTED, env={
        **os.environ, "MALLOC_PERTURB_": "165", "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout == "collected\n"


# --- Memory that is refused.

HERE = Path(__file__).parent
FROM_PYTHON = "save and load", "hold", "run", "many runs", "force", "add clumps", "look"       # with one thread
BETWEEN_STEPS = ("bonds", "copy", "add many", "remove", "break", "grow", "fluxes", "copy with onsets", "onsets",
                 "deform")


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    library = tmp_path_factory.mktemp("memory") / "failing_memory.so"
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", "-o", library, HERE / "failing_memory.c", "-ldl"], check=True)
    return library


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="LD_PRELOAD and glibc's allocator")
@pytest.mark.parametrize("name, threads, every", [("friction", 0, 3), ("bonds", 2, 11), *(
    pytest.param(name, 2, 31, marks=pytest.mark.slow) for name in ("machine", "hold")), *(
    pytest.param(name, threads, 1, marks=pytest.mark.slow) for name, threads in (
        *((name, 0) for name in FROM_PYTHON),
        *((name, threads) for name in ("friction", *BETWEEN_STEPS) for threads in (1, 2, 3))))])
def test_every_allocation_is_refused_in_turn(name, threads, every, preloaded, tmp_path):
    """threads : 0: of one thread, those of Python too; else of the package, in so many threads, every so many."""
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("AddressSanitizer replaces the allocator itself")
    if threads > 1 and not has_openmp():
        pytest.skip("compiled without OpenMP")
    paths = [str(HERE.parent), str(HERE.parents[1])]
    done = python(HERE / "exhausted_memory.py", name, threads, tmp_path, every, timeout=None, env={
        **os.environ, "LD_PRELOAD": str(preloaded), "PYTHONPATH": os.pathsep.join(paths)})
    results = json.loads(done.stdout)
    assert results["tried"] > 5 and results["raised"] > 0, results
    fewest = {"run": 4, "friction": 1, "many runs": 1}      # contacts that stay in place rarely need memory
    assert results["went back"] >= fewest.get(name, 0), results
    assert results["raised"] + results["other"] > 0.5 * results["tried"], results
