"""One simulation in several Python threads, forked processes and user forces: a result or a clear error."""
import hashlib
import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scenes
from examples import ROOT
from processes import python

import minidem as md
from minidem.core.processors import available_processors
from minidem.core.threads import has_openmp

DT, STEPS = 38e-6, 30
pytestmark = pytest.mark.skipif(not has_openmp(), reason="built without OpenMP")
USES = {
    **{name: lambda sim, path, name=name: getattr(sim, name)()
       for name in ("contacts", "energy", "sphere_centers", "angular_momentum")},
    "run": lambda sim, path: sim.run(1), "run_until": lambda sim, path: sim.run_until(1.0),
    "position": lambda sim, path: sim.position, "statistics": lambda sim, path: sim.diagnostics.statistics,
    "save": lambda sim, path: sim.save(path), "write_vtu": lambda sim, path: sim.io.write_vtu(path),
    "pickle": lambda sim, path: pickle.dumps(sim), "add_force": lambda sim, path: sim.forces.add(lambda *pose: 1 / 0),
    "add_clumps": lambda sim, path: sim.add_clumps(scenes.rod().template, (0.5, 0.5, 0.5))}


def many_rods(threads=2):
    return scenes.rods_in_box(seed=3, n=1400, side=(1400 / 30)**(1 / 3), speed=20.0, spin=20.0).simulation(
        DT, threads=threads)


def after_a_run(threads=2):
    sim = many_rods(threads)
    sim.run(STEPS)
    return sim.threads, sim.position.tobytes()


def test_forked_processes_run_on_two_threads_too():
    expected = after_a_run()
    assert expected[0] == 2
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(after_a_run, [2, 2]).get(timeout=60) == [expected] * 2
    assert after_a_run() == expected                                # and so does the parent, afterwards


def test_concurrent_use_is_refused(tmp_path):
    sim, uninterrupted, end = many_rods(1), many_rods(1), threading.Event()
    def run():
        while not end.is_set():
            sim.run(2000)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        try:
            while sim.step_count < 5:
                pass
            for name, use in 3 * list(USES.items()):
                with pytest.raises(RuntimeError, match="another thread is using this simulation"):
                    use(sim, tmp_path / name)
            assert sim.time > 0.0 and sim.n_clumps == 1400 and "1400 clumps" in repr(sim)       # what can be read
        finally:
            end.set()
        running.result()
    uninterrupted.run(sim.step_count)
    assert sim.energy() == uninterrupted.energy() and np.array_equal(sim.position, uninterrupted.position)
    assert list(tmp_path.iterdir()) == []


def test_simulations_of_several_python_threads_run_at_once():
    """With and without a GIL, with laws and forces in Python too: each has the bits that it has alone."""
    def after(k):
        sim = scenes.rods_in_box(seed=k, n=30, speed=20.0, spin=20.0).simulation(
            DT, threads=1 + k % 2, rotation=md.rotation.available()[k], contact="hertz-mindlin" if k % 3 else "hertz")
        if k % 2:
            sim.forces.add(lambda t, x, v, q, w: (-v, -w))
        sim.run(300)
        return sim.position.tobytes(), sim.orientation.tobytes(), sim.energy()
    expected = [after(k) for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(after, [*range(8), *range(8)])) == expected * 2


def test_threads_that_use_a_simulation_at_the_same_instant():
    """One of them does, or none; the others are refused; the simulation counts what was done."""
    sim, start, done = scenes.rods_in_box(seed=3, n=2, speed=1.0, spin=1.0).simulation(DT), threading.Barrier(4), []
    def use():
        start.wait()
        for _ in range(2000):
            try:
                sim.run(1)
                done.append(1)
            except RuntimeError as error:
                assert "another thread is using this simulation" in str(error)
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(use) for _ in range(4)]:
            future.result()
    assert 0 < len(done) == sim.step_count


def test_no_module_brings_the_gil_back():
    """In a Python without GIL, a module that does not declare that it needs none would, with a RuntimeWarning."""
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "minidem").rglob("*.pyx")]
    program = ("import sys, sysconfig, importlib; list(map(importlib.import_module, sys.argv[1:])); "
               "assert not sysconfig.get_config_var('Py_GIL_DISABLED') or not sys._is_gil_enabled()")
    python("-W", "error::RuntimeWarning", "-c", program, *modules, cwd=ROOT)


def test_a_user_force_may_not_use_its_simulation(tmp_path):
    def force(t, x, v, q, w):
        for use in USES.values():
            try:
                use(sim, tmp_path / "file")
            except RuntimeError as error:
                said.append(str(error))
        return -v, -w
    sim, uninterrupted = (scenes.rods_in_box(seed=4, n=6, speed=20.0, spin=20.0).simulation(DT) for _ in range(2))
    said = []
    sim.forces.add(force)
    uninterrupted.forces.add(lambda t, x, v, q, w: (-v, -w))
    for one in (sim, uninterrupted):
        one.run(20)
    assert len(said) == 21 * len(USES) and all("during a step" in text for text in said)
    assert sim.energy() == uninterrupted.energy() and np.array_equal(sim.position, uninterrupted.position)
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("setting, default, requested", [
    ("OMP_THREAD_LIMIT=1", 1, 1),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (("OMP_STACKSIZE=64k", None, 2),
        ("OMP_DYNAMIC=true", None, 2), ("OMP_NUM_THREADS=1", 1, 2), ("OMP_MAX_ACTIVE_LEVELS=0", 1, 1)))])
def test_settings_of_openmp(setting, default, requested):
    """They decide how many threads there are at most, and no bit of the result."""
    program = ("import sys; sys.path[:0] = ['tests', 'tests/interface']\n"
               "import hashlib, test_concurrency\n"
               "for threads in (None, 2):\n"
               "    threads, position = test_concurrency.after_a_run(threads)\n"
               "    print(threads, hashlib.sha1(position).hexdigest())\n")
    name, value = setting.split("=")
    environment = {key: text for key, text in os.environ.items() if not key.startswith("OMP_")}
    done = python("-c", program, env={**environment, name: value}, cwd=ROOT, timeout=60)
    (of_default, bits), (of_two, same) = (line.split() for line in done.stdout.splitlines())
    assert bits == same == hashlib.sha1(after_a_run()[1]).hexdigest()
    assert int(of_two) == requested and int(of_default) == (default or min(2, available_processors()))
