"""Equal bits of contacts with history: threads, shares, slabs, sorting, pieces of a run, restarts, added clumps."""
import copy
import math
from functools import cache

import numpy as np
import pytest
from settling_scene import BALL, CLUMP, MATERIAL, ROLLING, settling

import minidem as md
import minidem.engine.loop_owner as owner

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
STATE = "position", "orientation", "velocity", "angular_velocity", "force", "torque"
LAWS = ["hertz-mindlin", ROLLING, "hooke-coulomb:stiffness=1e5,rolling=epsd"]
BEFORE, STEPS = 4000, 120           # most clumps touch; some contacts begin and end in the steps
SCHEMES = [name for name in md.rotation.available() if len(md.rotation.info(name).stages) == 1]


@cache
def heap(contact, rotation="spiral"):
    sim = settling(contact=contact, rotation=rotation, threads=1)
    sim.run(BEFORE)
    assert len(sim.contacts()) > 100 and sim.contacts()["sliding"].any()
    return sim


def with_threads(sim, threads, tmp_path):
    sim.save(tmp_path / "state.npz")
    return md.Simulation.load(tmp_path / "state.npz", threads=threads)


def bits(sim, n=None):
    """All that a simulation contains, of its first n clumps."""
    arrays = {name: np.array(getattr(sim, name))[:n] for name in STATE}
    if n is None:
        contacts = sim.contacts()
        arrays |= {name: contacts[name] for name in contacts.dtype.names} | sim.engine.loop.history()
        arrays["dissipated"] = sim.engine.loop.dissipated()
    return {name: np.ascontiguousarray(values).tobytes() for name, values in arrays.items()}


@cache
def undisturbed(contact, rotation="spiral"):
    """Bits at the end of a run in one go on one thread; contacts have begun and ended in it."""
    sim = copy.deepcopy(heap(contact, rotation))
    before = {tuple(pair) for pair in sim.engine.loop.history()["spheres"]}
    sim.run(STEPS)
    after = {tuple(pair) for pair in sim.engine.loop.history()["spheres"]}
    assert before - after and after - before and before & after
    return bits(sim)


@pytest.mark.parametrize("threads, shares, slabs", [
    (2, None, False), (3, None, False), (2, (0.25, 0.75), False), (3, (0.5, 0.125, 0.375), False), (1, None, True),
    (3, None, True)])
@pytest.mark.parametrize("contact", LAWS)
def test_threads(contact, threads, shares, slabs, monkeypatch, tmp_path):
    if slabs:
        monkeypatch.setattr(owner, "SLOTS_IN_CACHE", 0)
        monkeypatch.setattr(owner, "LOG_SLAB", 6)
    sim = with_threads(heap(contact), threads, tmp_path)
    assert sim.threads == threads
    if shares:
        sim.engine.loop.set_shares(shares)
    sim.run(STEPS)
    assert bits(sim) == undisturbed(contact)


@pytest.mark.parametrize("contact", LAWS)
def test_restart_at_any_step(contact, tmp_path):
    """With other numbers of threads, contacts looked at or not, clumps sorted or not."""
    sim = copy.deepcopy(heap(contact))
    for step in range(0, STEPS, 7):
        sim.run(BEFORE + step - sim.step_count)
        if step % 2:
            sim.contacts()
        if step % 3 == 0:
            sim.engine.loop.sort_clumps()
        for other in with_threads(sim, 1 + step % 3, tmp_path), copy.deepcopy(sim):
            assert bits(other) == bits(sim)
            other.run(STEPS - step)
            assert bits(other) == undisturbed(contact)
    sim.run(BEFORE + STEPS - sim.step_count)
    assert bits(sim) == undisturbed(contact)


@pytest.mark.parametrize("rotation", SCHEMES)
def test_every_scheme(rotation, tmp_path):
    sim = with_threads(heap(ROLLING, rotation), 3, tmp_path)
    sim.run(STEPS // 2)
    sim = copy.deepcopy(sim)
    sim.run(STEPS - STEPS // 2)
    assert bits(sim) == undisturbed(ROLLING, rotation)


@pytest.mark.parametrize("contact", LAWS)
def test_clumps_added_while_running(contact):
    """Those that touch nobody change no bit of the others, whatever the order in which they were added."""
    expected = copy.deepcopy(heap(contact))
    n = expected.n_clumps
    expected.run(STEPS)
    ends = []
    for order in (0, 1), (1, 0):
        sim = copy.deepcopy(heap(contact))
        sim.run(STEPS // 3)
        new = [sim.add_clumps((BALL, CLUMP)[k], [[0.5, 0.1 + 0.3 * k, 0.55]], angular_velocity=(0, 0, k))[0]
               for k in order]
        sim.run(STEPS - STEPS // 3)
        assert bits(sim, n) == bits(expected, n)
        ends.append([sim.position[new[order.index(k)]].tolist() for k in (0, 1)])
    assert ends[0] == ends[1]


def test_order_of_other_clumps():
    """Two heaps far from each other: neither depends on the order in which they were added."""
    ends = {}
    for order in ("ab", "ba"):
        sim = md.Simulation(MATERIAL, [md.Plane((0, 0, 0), (0, 0, 1))], contact=ROLLING, dt=1e-4, gravity=(0, 0, -9.81))
        rows = {}
        for name in order:
            x = {"a": 0.0, "b": 5.0}[name]
            places = [[x + 0.01 * (k % 3), 0.01 * (k % 2), 0.06 + 0.11 * k] for k in range(8)]
            rows[name] = sim.add_clumps(CLUMP, places)
        sim.run(3000)
        assert (sim.contacts()["clump_j"] >= 0).any()
        sim.run(5000)
        ends[order] = [np.concatenate([sim.position[rows[name]], sim.velocity[rows[name]]]).tobytes() for name in "ab"]
    assert ends["ab"] == ends["ba"]


@pytest.mark.parametrize("threads", [1, 3])
def test_order_of_the_sum(threads):
    """Forces of hundreds of contacts of one sphere are added without an order. The first forty of the others only come
    near it."""
    n, big, rng = 700, 350, np.random.default_rng(1)
    z, turn = np.linspace(-1.0, 1.0, n), 2.399963 * np.arange(n)
    normal = np.column_stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z])
    place = np.where(np.arange(n) < 40, 0.10403, 0.10399)[:, None] * rng.permutation(normal)
    velocity = rng.normal(size=(n, 3)) * (np.arange(n) >= 40)[:, None]
    sim = md.Simulation(MATERIAL, contact=ROLLING, dt=1e-6, threads=threads)
    sim.add_clumps(BALL, place[:big], velocity=velocity[:big], scale=0.1)
    # of two spheres, so that no other clump shares its block, in which lists are processed together
    sim.add_clumps(md.ClumpTemplate([(0.0, 0.0, 0.0)] * 2, [0.1, 0.05]), (0.0, 0.0, 0.0))
    sim.add_clumps(BALL, place[big:], velocity=velocity[big:], scale=0.1)
    sim.run(5)
    found = sim.contacts()
    found = found[(found["sphere_i"] == big) | (found["sphere_j"] == big)]
    sign = np.where(found["sphere_i"] == big, 1.0, -1.0)[:, None]
    moment = sign * (np.cross(found["point"] - sim.position[big], found["force"]) + found["couple"])
    assert len(found) > 500 and min(found["sphere_i"]) >= 40 and np.any(found["couple"])
    exact = [math.fsum(column) for column in (sign * found["force"]).T]
    np.testing.assert_allclose(sim.force[big], exact, rtol=0, atol=1e-12 * np.abs(found["force"]).max())
    np.testing.assert_allclose(sim.torque[big], moment.sum(axis=0), rtol=1e-9)


def test_undone_step(tmp_path):
    """A step whose user force raises is undone, with the history of all contacts."""
    def force(t, x, v, q, w):
        if fails[0]:
            raise ZeroDivisionError
        return -0.1 * v, 0.0 * w

    fails = [False]
    whole = with_threads(heap(ROLLING), 2, tmp_path)
    whole.add_force(force)
    sim = copy.deepcopy(whole)
    whole.run(STEPS)
    for step in range(5, STEPS, 23):
        sim.run(BEFORE + step - sim.step_count)
        before, fails[0] = bits(sim), True
        with pytest.raises(ZeroDivisionError):
            sim.run(3)
        fails[0] = False
        assert bits(sim) == before
    sim.run(BEFORE + STEPS - sim.step_count)
    assert bits(sim) == bits(whole)


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("good", (0, 1, 40))
def test_run_on_after_an_undone_step(good, threads, tmp_path):
    """Nothing is read in between; good : steps before it, 0: contacts are those of a checkpoint, or of a sort."""
    def force(t, x, v, q, w):
        calls.append(t)
        if len(calls) - 1 in fails:
            raise ZeroDivisionError
        return -0.1 * v, 0.0 * w

    calls, fails = [], ()
    whole = with_threads(heap(ROLLING), threads, tmp_path)
    whole.add_force(force)
    whole.run(1)                                        # forces with those of the user are known
    sim = copy.deepcopy(whole)
    whole.run(STEPS)
    calls, fails = [], (good,)
    with pytest.raises(ZeroDivisionError):
        sim.run(STEPS)
    calls, fails = [], (7,)
    if good == 0:
        sim.engine.loop.sort_clumps()
        fails = (0,)
    with pytest.raises(ZeroDivisionError):
        sim.run(STEPS)
    calls, fails = [], ()
    sim.run(BEFORE + 1 + STEPS - sim.step_count)
    assert bits(sim) == bits(whole)
