"""Equal bits of every system of bit_systems after output, pieces of a run, restarts, copies, sorting, undone steps,
added and removed clumps. test_restart_combinations adds rotation schemes."""
import copy
import pickle
from itertools import cycle

import bit_systems
import numpy as np
import pytest
import scenes
from bit_systems import CASES, MULTISTAGE, ONSET, SYSTEMS, WRAP, begun, bits, cases, some, undisturbed
from reference_walls import ROLLING

import minidem as md

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
ERRORS = KeyboardInterrupt, ValueError, FloatingPointError, SystemExit
each_case = pytest.mark.parametrize("name, law", CASES)


def stops(name, law):
    """Steps at which a run is disturbed: in onset corrections and beside them, at wraps, or any."""
    steps = SYSTEMS[name].steps
    if name.startswith("gas"):
        return [0, 1, WRAP - 1, WRAP, WRAP + 1, 3 * WRAP, 3 * WRAP + 30, 5 * WRAP]
    if law == ONSET and not SYSTEMS[name].before:
        found = bit_systems.corrected(name)
        return sorted({step + k for step in (found[0], found[len(found) // 2], found[-1]) for k in (-1, 0, 1)
                       if 0 <= step + k < steps})
    return [0, 1, *range(steps // 10, steps, steps // 5)]


@pytest.mark.parametrize("name, law, first", some(CASES, [(0,), (1,), (2,)], 6))
def test_restarts(name, law, first, tmp_path):
    """At every third of the steps, with other numbers of threads, contacts looked at or not, clumps sorted or not; from
    files, pickles, copies."""
    system, sim = SYSTEMS[name], begun(name, law)
    for k, step in list(enumerate(stops(name, law)))[first::3]:
        sim.run(system.before + step - sim.step_count)
        if k % 2:
            sim.contacts(), sim.energy(), sim.linear_momentum(), sim.angular_momentum(), sim.sphere_centers()
        if k % 4 < 2:
            sim.continue_from(sim.loop.sorted(), sim.loop)
        saved = bits(sim)
        others = [system.reloaded(sim, 1 + (k + k // 3) % 3, tmp_path), copy.deepcopy(sim)]
        if k < 3 and not sim.user_forces:
            others.append(pickle.loads(pickle.dumps(sim)))
        for other in others:
            assert bits(other) == saved and other.contact == law and other.periodic == sim.periodic
            other.run(system.steps - step)
            assert bits(other) == undisturbed(name, law)
    sim.run(system.before + system.steps - sim.step_count)
    assert bits(sim) == undisturbed(name, law)


@each_case
def test_output_and_pieces(name, law, tmp_path):
    """Single steps in which everything is looked at, every seventh step, and pieces up to a time."""
    def look(sim):
        sim.energy(), sim.contacts(), sim.force, sim.angular_velocity, sim.sphere_centers()
        sim.linear_momentum(), sim.angular_momentum(), sim.stress() if sim.periodic else None
        if sim.step_count % 100 == 0:
            sim.write_vtu(tmp_path / "frame.vtu")

    steps, sim = SYSTEMS[name].steps, begun(name, law)
    end = sim.step_count + steps
    sim.run(steps // 3, 7, look)
    for _ in range(min(20, steps // 4)):
        sim.run(1)
    sim.run(5, 1, look)
    sim.run_until(sim.time + 1.5 * sim.dt)                  # the fewest steps that reach a time
    assert sim.step_count == end - steps + steps // 3 + min(20, steps // 4) + 7
    sim.run_until(sim.time)
    sim.run(0)
    sim.run_until((end - 0.5) * sim.dt)
    assert bits(sim) == undisturbed(name, law)


@pytest.mark.parametrize("name", ["heap", "mixer"])
def test_multistage_scheme(name, tmp_path):
    """Half steps: forces are evaluated there with the walls where they are then."""
    system = SYSTEMS[name]
    sim = system.reloaded(begun(name, "hertz", MULTISTAGE), 3, tmp_path)
    for steps in 1, system.steps // 2, system.steps - system.steps // 2 - 1:
        sim.run(steps)
        sim.energy()
    assert bits(sim) == undisturbed(name, "hertz", MULTISTAGE)


@pytest.mark.parametrize("name, law, rotation, threads", some([
    *((*case, "spiral") for case in CASES), *(("mixture", "hertz", name) for name in (MULTISTAGE, "improved-pcdm"))],
    [(1,), (3,)], 4))
def test_undone_steps(name, law, rotation, threads, tmp_path):
    """Steps whose user force raises are undone: at the first one, in a row, around wraps, read afterwards or not."""
    def force(t, x, v, q, w):
        calls.append(t)
        if len(calls) - 1 in fails:
            raise next(errors)("said by the force")
        return -0.1 * v, 0.0 * w

    def fail(after):
        calls.clear()
        fails[:] = [after]
        with pytest.raises(ERRORS, match="said by the force"):
            sim.run(system.steps)
        fails.clear()

    calls, fails, errors, system = [], [], cycle(ERRORS), SYSTEMS[name]
    whole = system.reloaded(begun(name, law, rotation), threads, tmp_path)
    whole.add_force(force)
    whole.run(1)                                            # forces with those of the user are known
    sim = copy.deepcopy(whole)
    whole.run(system.steps)
    fail(0)
    sim.continue_from(sim.loop.sorted(), sim.loop)
    fail(0)                                                 # contacts are those of a copy, or of a sort
    for count in (1, 1, 7):
        fail(count)
        before = bits(sim)
        fail(0)
        assert bits(sim) == before
    for step in (3 * WRAP, 3 * WRAP, 5 * WRAP + 1) if sim.periodic else ():
        fail(step - sim.step_count)
        assert sim.step_count == step
    sim.run(whole.step_count - sim.step_count)
    assert bits(sim) == bits(whole)


@pytest.mark.parametrize("name, law", [case for case in CASES if SYSTEMS[case[0]].place])
def test_added_clumps_that_touch_nobody(name, law):
    """They change no bit of the others, whatever the order in which they are added, and when."""
    system, expected = SYSTEMS[name], begun(name, law)
    n, steps = expected.n_clumps, system.steps
    expected.run(steps)
    balls = [md.ClumpTemplate([(0.0, 0.0, 0.0)], [radius], density=2500.0) for radius in (0.04, 0.03)]
    for after in (corrected[::3] if law == ONSET and not system.before and (corrected := bit_systems.corrected(name))
                  else [steps // 3]):
        ends = []
        for order in (0, 1), (1, 0):
            sim = begun(name, law)
            sim.run(after)
            new = [sim.add_clumps(balls[k], [np.add(system.place, [0.0, 0.3 * k, 0.0])], angular_velocity=(0, 0, k))[0]
                   for k in order]
            sim.run(steps - after)
            assert bits(sim, n) == bits(expected, n)
            ends.append([sim.position[new[order.index(k)]].tolist() for k in (0, 1)])
        assert ends[0] == ends[1]


def replaced(sim, between, law):
    """Three times, clumps that touch go, a smaller one comes where the first was, and there is a run; `between` is
    called after each part. Work and balance of energy are continuous."""
    for k in range(3):
        contacts, energy = sim.contacts(), sim.energy()
        before = [energy.balance, energy.work]
        at_wall, pair = (contacts[chosen] for chosen in (contacts["clump_j"] < 0, contacts["clump_j"] >= 0))
        gone = np.unique([*at_wall["clump_i"][k::7][:4], pair["clump_i"][0], pair["clump_j"][0]])
        place, turn = sim.position[gone[0]], sim.orientation[gone[0]]
        sim.remove_clumps(sim.ids[gone])
        after = [sim.energy().balance, sim.energy().work]
        np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12 * energy.kinetic)
        sim = between(sim)
        sim.add_clumps(sim.templates[0], [place], [turn], scale=0.9)
        after = [sim.energy().balance, sim.energy().work]
        np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12 * energy.kinetic)
        sim = between(sim)
        sim.run(40)
        if law != ONSET:
            assert abs(sim.energy().balance - energy.balance) < 5e-3 * sim.energy().kinetic
        sim = between(sim)
    return sim


@pytest.mark.parametrize("name, law", some(cases("heap", "mixer"), [()], 2))
def test_clumps_come_and_go(name, law, tmp_path):
    """On one, two and three threads through files; sorted, and through pickles."""
    def disturbed(sim):
        sim.run(0)
        sim.continue_from(sim.loop.sorted(), sim.loop)
        return pickle.loads(pickle.dumps(sim))

    expected = bits(replaced(begun(name, law), lambda sim: sim, law))
    for between in disturbed, *(lambda sim, n=n: SYSTEMS[name].reloaded(sim, n, tmp_path) for n in (1, 2, 3)):
        assert bits(replaced(begun(name, law), between, law)) == expected


def test_run_from_the_start_beyond_a_table_of_poses(tmp_path):
    """Poses of moving walls are computed for 1000 steps at once; where a table begins changes nothing, nor do threads
    change the first contacts."""
    whole = SYSTEMS["mixer"].build(ROLLING)
    other = SYSTEMS["mixer"].build(ROLLING, threads=3)
    whole.run(2100)
    other.run(999)
    other = SYSTEMS["mixer"].reloaded(other, 2, tmp_path)
    other.run(1101)
    assert bits(other) == bits(whole)


@pytest.mark.parametrize("steps", [0, 7])
def test_looks_before_a_step_do_no_work(steps):
    """A force in Python is called again at the same poses, where something is added after a look."""
    rod, rng = md.shapes.rod(0.03, 0.01, 3, density=2500.0), np.random.default_rng(1)
    given = (0.05 * np.argwhere(np.ones((4, 4, 4))), scenes.unit_vectors(rng, 64, 4), rng.normal(size=(64, 3)),
             30.0 * rng.normal(size=(64, 3)))
    expected, sim = (md.Simulation(md.Material(1e7, 0.3), dt=1e-5) for _ in range(2))
    for one in expected, sim:
        one.add_clumps(rod, *given)
        one.add_force(bit_systems.drag)
        one.run(steps)
        one.add_field("T", 0.0)
        for k in range(3):
            one.energy() if one is sim else None
            one.set_field("T", k)
        one.run(3)
    assert bits(sim) == bits(expected) and sim.energy().work != 0.0
