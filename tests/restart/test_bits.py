"""Equal bits of every system of bit_systems: threads, looks, files, copies, sorts, undone steps, signals."""
import copy
import pickle
import time
from functools import cache, partial, wraps
from itertools import cycle

import bit_systems
import numpy as np
import pytest
import scenes
from bit_systems import CASES, ERRORS, ONSET, SYSTEMS, WRAP, begun, bits, trap, undisturbed
from operations import interrupted
from random_scenes import RandomScene, differences
from reference_walls import ROLLING
from user_functions import COMPILED, functions_of, two_balls

import minidem as md
import minidem.loop.bare_loop as owner
from minidem.broadphase.broadphase import rebalanced_shares
from minidem.contact.registry import with_mass

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
MAIN = [case for case in CASES if case[2] in ("exact", bit_systems.OWN_SCHEME, bit_systems.MULTISTAGE)]
each_case = pytest.mark.parametrize("name, law, rotation", MAIN)
LAW = "own-python:stiffness=4e6"
SPRING = bit_systems.spring
SIGNATURE = b"void (const double *, double *, double *, const double *)"


@pytest.fixture(autouse=True)
def own_functions(own_law, own):
    bit_systems.register_own(own_law, own)


# --- What is done to a simulation: functions (simulation, number of the time, its system, folder) -> simulation.

def sorted_in_space(sim, k, system, folder):
    sim.continue_from(sim.loop.sorted(), sim.loop)
    return sim


def looked_at(sim, k, system, folder):
    """In single steps, every second step, in the middle of the others; with an error of a callback in between."""
    def look(sim):
        sim.energy(), sim.contacts(), sim.force, sim.angular_velocity, sim.sphere_centers
        sim.linear_momentum(), sim.angular_momentum(), sim.stress(volume=1.0)
    def fail(sim):
        look(sim)
        raise error("said by the callback")
    end, error = sim.step_count + 5, ERRORS[k % len(ERRORS)]
    look(sim)
    sim.run(1)
    sim.run(2, every=2, callback=look)
    with pytest.raises(error, match="said by the callback"):
        sim.run(2, every=1, callback=fail)
    sim.run_until(sim.time + 0.5 * sim.dt)                  # the fewest steps that reach a time
    sim.run_until(sim.time)
    sim.run(0)
    assert sim.step_count == end
    if k == 1:
        sim.io.write_vtu(folder / "frame.vtu")
    return sim


def another(make):
    """Continue with another simulation in the same state; every other time before anything was looked at."""
    @wraps(make)
    def disturb(sim, k, system, folder):
        saved = bits(sim) if k % 2 else None
        other = make(sim, k, system, folder)
        assert with_mass(other.contact) == with_mass(sim.contact) and repr(other.periodic) == repr(sim.periodic)
        assert saved is None or bits(other) == saved
        return other
    return disturb


@another
def reloaded(sim, k, system, folder):
    return system.reloaded(sim, 1 + (k + k // 3) % 3, folder)


@another
def copied(sim, k, system, folder):
    return copy.deepcopy(sim)


@another
def pickled(sim, k, system, folder):
    cannot = SPRING in sim.forces.functions or sim.box is not None and sim.loop.state.box.functions
    return copy.copy(sim) if cannot else pickle.loads(pickle.dumps(sim))


def signalled(sim, k, system, folder):
    """Ctrl-C, from a timer, while a piece is run, until it is through."""
    if SPRING in sim.forces.functions:                           # ctypes ignores errors in Python functions
        return sim
    end, delay = sim.step_count + 10, 1e-5 * (1 + k)
    while interrupted(lambda: sim.run(end - sim.step_count), delay):
        delay *= 2.0
    return sim


DISTURBANCES = [sorted_in_space, looked_at, reloaded, signalled, copied, pickled]


def stops(name, law, rotation):
    """Steps at which a run is disturbed: in onset corrections and beside them, at wraps, or any."""
    steps = SYSTEMS[name].steps
    if name.startswith("gas"):
        return [0, 1, WRAP - 1, WRAP, WRAP + 1, 3 * WRAP, 3 * WRAP + 30, 5 * WRAP]
    if law == ONSET and not SYSTEMS[name].before:
        found = bit_systems.corrected(name, rotation)
        return sorted({step + k for step in (found[0], found[len(found) // 2], found[-1]) for k in (-1, 0, 1)
                       if 0 <= step + k < steps})
    return [0, 1, *range(steps // 10, steps, steps // 5)]


def compare_disturbed(name, law, rotation, disturbances, folder):
    """Bits at the end of a run that is disturbed at all stops, in turn; a disturbance takes up to ten steps."""
    system, sim = SYSTEMS[name], begun(name, law, rotation)
    end = system.before + system.steps
    for k, step in enumerate(stops(name, law, rotation)):
        sim.run(max(0, system.before + step - sim.step_count))
        if sim.step_count <= end - 10:
            sim = disturbances[k % len(disturbances)](sim, k, system, folder)
    sim.run(end - sim.step_count)
    assert bits(sim) == undisturbed(name, law, rotation)


@pytest.mark.parametrize("name, law, rotation", [*MAIN, *bit_systems.some(
    [case for case in CASES if case not in MAIN], [()], 3)])
def test_disturbed(name, law, rotation, tmp_path):
    if (name, law, rotation) in MAIN:
        bit_systems.assert_eventful(name, law, rotation)
    first = CASES.index((name, law, rotation)) % len(DISTURBANCES)
    compare_disturbed(name, law, rotation, DISTURBANCES[first:] + DISTURBANCES[:first], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("disturbance", DISTURBANCES, ids=lambda function: function.__name__)
@each_case
def test_disturbed_in_one_way(name, law, rotation, disturbance, tmp_path):
    compare_disturbed(name, law, rotation, [disturbance], tmp_path)


@pytest.mark.parametrize("name, law, rotation, threads, shares, slabs", bit_systems.some(MAIN, [
    (2, None, False), (3, None, False), (2, (0.25, 0.75), False), (3, (0.5, 0.125, 0.375), False), (1, None, True),
    (3, None, True)], 6))
def test_threads(name, law, rotation, threads, shares, slabs, monkeypatch, tmp_path):
    if slabs:
        monkeypatch.setattr(owner, "SLOTS_IN_CACHE", 0)
        monkeypatch.setattr(owner, "LOG_SLAB", 6)
    system = SYSTEMS[name]
    sim = system.reloaded(begun(name, law, rotation), threads, tmp_path) if system.before else system.build(
        law, rotation=rotation, threads=threads)
    assert sim.threads == threads
    if shares:
        sim.loop.set_shares(shares)
    sim.run(system.steps)
    assert bits(sim) == undisturbed(name, law, rotation)


@cache
def crowd(threads):
    """Bits of 6000 dense rods, sorted again and again, with contacts found slab by slab."""
    scene = scenes.packed_rods(2, (20, 20, 15), speed=20.0, spin=20.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, "SLOTS_IN_CACHE", 1000)
        patch.setattr(owner, "LOG_SLAB", 9)
        sim = scene.simulation(38e-6, threads=threads)
        sim.run(150)
    assert sim.threads == threads and sim.loop.statistics["outer_lists"] > 4
    assert np.any(np.diff(sim.loop.state.clump_number[:sim.n_clumps]) < 0)        # no longer as added
    assert np.mean(np.any(sim.velocity != scene.velocity, axis=1)) > 0.3 and len(sim.contacts()) > 1000
    return bits(sim)


@pytest.mark.parametrize("threads", [2, 8])
def test_more_threads_than_processors(threads):
    assert crowd(threads) == crowd(1)


def test_rebalanced_shares():
    assert rebalanced_shares([0.5, 0.5], [2.0, 2.01]) == [0.5, 0.5]            # little to gain
    assert rebalanced_shares([0.3, 0.7], [0.0, 1.0]) == [0.3, 0.7]             # no measurement
    assert rebalanced_shares([0.5, 0.5], [1e-4, 2e-4]) == [0.5, 0.5]           # too short for one
    shares, cost = np.array([1.0, 1.0, 1.0]) / 3, np.array([1.0, 2.0, 1.0])             # of a clump with each thread
    for _ in range(10):
        shares = rebalanced_shares(shares, shares * cost)
        assert sum(shares) == pytest.approx(1.0)
    assert np.allclose(shares, [0.4, 0.2, 0.4], atol=0.01)
    for _ in range(10):
        shares = rebalanced_shares(shares, [1.0, 1e9, 1.0])
    assert 0.25 / 3 > shares[1] > 0.2 / 3                               # it keeps some work


def test_load_balance_in_a_run():
    """From one to seven shares to about equal ones, in a few runs where other programs disturb the times."""
    sim = scenes.packed_rods(2, (10, 17, 18), speed=20.0, spin=20.0).simulation(38e-6, threads=2)
    sim.loop.set_shares([0.125, 0.875], keep=False)
    for _ in range(20):
        sim.run(200)
        if 0.3 < sim.diagnostics.statistics["shares"][0] < 0.7:
            return
    pytest.fail(f"shares {sim.diagnostics.statistics['shares']}")


# --- Errors in functions of the user.

def raising(sim, calls, error=ValueError):
    """Run until a function of the user raises in its call number `calls` from now."""
    trap.set(calls, error)
    with pytest.raises(error, match="said by the function"):
        sim.run(SYSTEMS["dilute"].steps)


@pytest.mark.parametrize("name, law, rotation, threads", bit_systems.some(
    [*MAIN, *(("with force", ONSET, scheme) for scheme in ("improved-pcdm", "pfc4"))], [(1,), (3,)], 4))
def test_undone_steps(name, law, rotation, threads, tmp_path):
    """In which a force, a law or a scheme raises: the first one, in a row, around wraps, read afterwards or not."""
    errors, system = cycle(ERRORS), SYSTEMS[name]
    whole = system.reloaded(begun(name, law, rotation), threads, tmp_path)
    if not system.traps:
        whole.forces.add(bit_systems.brake)
    whole.run(1)                                            # forces with those of the user are known
    sim = copy.deepcopy(whole)
    whole.run(system.steps)
    raising(sim, 1, next(errors))
    sim.continue_from(sim.loop.sorted(), sim.loop)
    raising(sim, 1, next(errors))                           # contacts are those of a copy, or of a sort
    for calls in (2, 2, 8):
        raising(sim, calls, next(errors))
        before = bits(sim)
        raising(sim, 1, next(errors))
        assert bits(sim) == before
    for step in (3 * WRAP, 3 * WRAP, 5 * WRAP + 1) if name.startswith("gas") else ():
        raising(sim, step - sim.step_count + 1, next(errors))
        assert sim.step_count == step
    assert sim.step_count < whole.step_count
    sim.run(whole.step_count - sim.step_count)
    assert bits(sim) == bits(whole)


@pytest.mark.parametrize("build", [partial(SYSTEMS["with force"].build, ONSET), partial(two_balls, LAW)],
                         ids=["force", "law"])
def test_an_error_at_the_first_evaluation(build):
    """Forces at the start are computed before the first step; nothing is known of them after an error."""
    sim, expected = build(), build()
    for _ in range(2):
        raising(sim, 1)
        assert sim.step_count == 0
    for one in sim, expected:
        one.run(150)
    assert bits(sim) == bits(expected)


# --- Functions of the user in other languages.

@pytest.mark.parametrize("interface", COMPILED)
def test_interfaces_of_a_law_have_equal_bits(interface, own_law):
    own_law("mine", **functions_of(bit_systems.custom_law, interface, SIGNATURE), **bit_systems.custom_law.RECORD)
    for threads in 1, 2:
        assert bits(bit_systems.rods("mine:stiffness=4e6", threads, steps=200)) == undisturbed("own law", LAW)


# --- Clumps that come and go.

@pytest.mark.parametrize("name, law, rotation", [case for case in CASES if SYSTEMS[case[0]].place])
def test_added_clumps_that_touch_nobody(name, law, rotation):
    """They change no bit of the others, whatever the order in which they are added, and when; nor do removed ones."""
    system, ends = SYSTEMS[name], []
    n = begun(name, law, rotation).n_clumps
    balls = [md.ClumpTemplate([(0.0, 0.0, 0.0)], [radius], density=2500.0) for radius in (0.04, 0.03)]
    for order in (0, 1), (1, 0):
        sim, new = begun(name, law, rotation), {}
        for k, step in enumerate(stops(name, law, rotation)):
            sim.run(system.before + step - sim.step_count)
            sim.remove_clumps(list(new.values()))
            for ball in order:
                new[ball] = sim.add_clumps(balls[ball], [np.add(system.place, [0.0, 0.3 * ball, 0.0])],
                                           angular_velocity=(0, 0, k))[0]
        sim.run(system.before + system.steps - sim.step_count)
        found, expected = bits(sim, n), undisturbed(name, law, rotation, n)
        assert found == expected
        ends.append([sim.position[sim.ids.tolist().index(new[ball])].tolist() for ball in (0, 1)])
    assert ends[0] == ends[1]


# --- Parts of a run.

def test_run_from_the_start_beyond_a_table_of_poses(tmp_path):
    """Poses of moving walls are computed for 1000 steps at once; where a table begins changes nothing."""
    system = SYSTEMS["mixer"]
    sim = system.build(ROLLING, threads=2)
    sim.run(999)
    sim = system.reloaded(sim, 1, tmp_path)
    sim.run(system.before - 999)
    assert bits(sim) == bits(begun("mixer", ROLLING))


def test_ctrl_c_ends_a_long_run():
    sim, began = begun("dilute", "hertz"), time.perf_counter()
    assert interrupted(lambda: sim.run(10**9), 0.2) and 0 < sim.step_count < 10**9
    assert time.perf_counter() - began < 10.0               # 0.2 s on an idle machine


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seeds", [*([seed] for seed in range(12)), *(
    pytest.param(range(first, first + 24), marks=pytest.mark.slow) for first in range(12, 324, 24))], ids=min)
def test_random_scenes(seeds, tmp_path):
    for seed in seeds:
        scene = RandomScene(seed)
        expected = scene.run()
        for threads in (1, 2, 3) if len(seeds) > 1 else [1 + seed % 3]:
            found = differences(expected, scene.run(threads, threads, tmp_path))
            assert not any(found), f"{scene}, {threads} threads: {found}"
