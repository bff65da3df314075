"""Equal bits of every system of bit_systems for any number of threads, their shares and slabs."""
import _thread
import threading
import time

import bit_systems
import numpy as np
import pytest
import scenes
from bit_systems import CASES, STATE, SYSTEMS, begun, bits, some, undisturbed

import minidem.engine.loop_memory as owner

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
each_case = pytest.mark.parametrize("name, law", CASES)


@each_case
def test_contacts_begin_and_end(name, law):
    bit_systems.assert_eventful(name, law)


@pytest.mark.parametrize("name, law, threads, shares, slabs", some(CASES, [
    (2, None, False), (3, None, False), (2, (0.25, 0.75), False), (3, (0.5, 0.125, 0.375), False), (1, None, True),
    (3, None, True)], 6))
def test_threads(name, law, threads, shares, slabs, monkeypatch, tmp_path):
    if slabs:
        monkeypatch.setattr(owner, "SLOTS_IN_CACHE", 0)
        monkeypatch.setattr(owner, "LOG_SLAB", 6)
    system = SYSTEMS[name]
    sim = system.reloaded(begun(name, law), threads, tmp_path) if system.before else system.build(law, threads=threads)
    assert sim.threads == threads
    if shares:
        sim.loop.set_shares(shares)
    sim.run(system.steps)
    assert bits(sim) == undisturbed(name, law)


def test_clumps_added_in_several_calls():
    """Numbering is by the order of adding; how many are added at a time does not matter."""
    scene = scenes.rods_in_box(seed=1)
    sim = scene.part([]).simulation(38e-6)
    for k in range(0, len(scene.shapes), 7):
        index = sim.add_clumps(scene.shapes[0].template, *(values[k:k + 7] for values in scene.state))
        assert list(index) == list(range(k, min(k + 7, len(scene.shapes))))
    sim.run(SYSTEMS["dilute"].steps)
    assert bits(sim) == undisturbed("dilute", "hertz")


@pytest.mark.parametrize("every", [None, 10])
def test_interrupt_ends_a_long_run(every):
    """Ctrl-C of the operating system, 0.2 s from now; test_ctrl_c compares bits after it."""
    def interrupt():
        requested.append(time.perf_counter())
        _thread.interrupt_main()

    sim, requested = begun("dilute", "hertz"), []
    threading.Timer(0.2, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        sim.run(10**9, every, (lambda sim: None) if every else None)
    assert time.perf_counter() - requested[0] < 10.0         # 0.2 s on an idle machine
    assert 0 < sim.step_count < 10**9


def test_order_of_clumps_in_a_periodic_box():
    """A sphere has two contacts at most here, so that sums do not depend on the order."""
    sims = bit_systems.gas("hertz"), bit_systems.gas("hertz", order=slice(None, None, -1))
    for sim in sims:
        sim.run(SYSTEMS["gas"].steps)
    for name in STATE:
        assert np.array_equal(getattr(sims[0], name), getattr(sims[1], name)[::-1])
