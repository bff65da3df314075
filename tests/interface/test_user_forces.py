"""User forces, compiled and in Python: interfaces, agreement, order, work, restarts, and continuing without them."""
import numpy as np
import pytest
import scenes
from scenes import drag
from scipy import LowLevelCallable
from user_functions import CFUNC, GLASS, capsule, rods, same, state

import minidem as md

pytestmark = pytest.mark.filterwarnings("ignore:contact law")    # hertz does not read restitution and friction
SIGNATURE = b"void (const double *, const double *, double *, const double *)"
PARAMETERS = (-40.0, 3.0, 0.05, 1e-3)


@CFUNC
def compiled(time, clumps, wrenches, p):
    """What `in_python` returns a function for, as a pointer to a function of C."""
    rows, results = np.ctypeslib.as_array(clumps, (15, 8)), np.ctypeslib.as_array(wrenches, (6, 8))
    x, v, q, w, mass, ids = rows[:3], rows[3:6], rows[6:10], rows[10:13], rows[13], rows[14]
    results[:3] = p[0] * x / np.sqrt(1.0 + np.sum(x * x, axis=0)) - p[1] * mass * v
    results[1] += 1000.0 * time[0] * (1.0 + ids / 100.0)
    results[3:] = p[2] * q[1:] * q[0] - p[3] * w


def in_python(sim):
    mass, ids = sim.mass[:, None], sim.ids
    def force(t, x, v, q, w, a, b, c, d):
        r = np.sqrt(1.0 + x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1] + x[:, 2] * x[:, 2])
        push = a * x / r[:, None] - b * mass * v
        push[:, 1] = push[:, 1] + 1000.0 * t * (1.0 + ids / 100.0)
        return push, c * q[:, 1:] * q[:, :1] - d * w
    return force


def pushed(function, steps, parameters=PARAMETERS, contact="hertz", **options):
    sim = rods(contact, gravity=(0, 0, -9.81), **options)
    sim.add_force(function(sim) if function is in_python else function, parameters)
    sim.run(steps)
    return sim


CONTACTS = ["hertz", "hertz:onset=corrected", "hertz-mindlin"]


@pytest.mark.parametrize("contact, rotation", [*((contact, "spiral") for contact in CONTACTS), ("hertz", "rk4"),
                                               ("hertz", "no-squish")])
def test_agreement_with_python(contact, rotation):
    one = pushed(compiled, 150, contact=contact, rotation=rotation)
    other = pushed(in_python, 150, contact=contact, rotation=rotation)
    assert len(one.contacts()) > 10
    for a, b in zip(state(one)[:6], state(other)[:6]):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-9 * np.abs(b).max())
    assert one.energy().work == pytest.approx(other.energy().work, rel=1e-3)
    assert abs(one.energy().work) > 0.01 * rods(contact, rotation=rotation).energy().kinetic


@pytest.mark.parametrize("interface", ["scipy", "capsule"])
def test_interfaces_give_the_same_bits(interface):
    other = LowLevelCallable(compiled) if interface == "scipy" else capsule(compiled, SIGNATURE)
    assert same(pushed(other, 80), pushed(compiled, 80))


def test_what_a_function_receives():
    """Rows of three clumps; the other lanes repeat the first, and what they return is ignored."""
    seen = []
    @CFUNC
    def look(time, clumps, wrenches, parameters):
        rows, results = np.ctypeslib.as_array(clumps, (15, 8)), np.ctypeslib.as_array(wrenches, (6, 8))
        assert np.all(results == 0.0)
        seen.append((time[0], rows.copy(), parameters[1]))
        results[:] = np.arange(1.0, 7.0)[:, None] * (rows[14] + 1.0)
        results[:, 3:] = np.nan
    sim = md.Simulation(GLASS, dt=1e-3, contact="hertz-mindlin")
    given = scenes.unit_vectors(np.random.default_rng(3), 3, 4)
    motion = {"velocity": [(1, 2, 3)] * 3, "angular_velocity": [(0, 0, 4), (5, 0, 0), (0, 6, 0)]}
    sim.add_clumps(scenes.lumpy().template, [(0, 0, 0), (1, 0, 0), (2, 0, 0), (9, 9, 9)], [*given, (1, 0, 0, 0)],
                   **{name: [*rows, (0, 0, 0)] for name, rows in motion.items()})
    sim.remove_clumps([0])
    sim.add_force(look, (7.0, 8.0))
    factor = np.array([2.0, 3.0, 4.0])[:, None]         # ids 1 to 3
    np.testing.assert_array_equal(sim.force, factor * [1.0, 2.0, 3.0])
    np.testing.assert_allclose(sim.torque, factor * [4.0, 5.0, 6.0], rtol=1e-12)
    del seen[:2]                                        # calls that check the parameters
    time, rows, parameter = seen[0]
    assert (time, parameter) == (0.0, 8.0)
    expected = np.column_stack([sim.position, sim.velocity, sim.orientation, sim.angular_velocity, sim.mass, sim.ids])
    np.testing.assert_allclose(rows[:, :3].T, expected, atol=1e-13)
    np.testing.assert_array_equal(rows[:13, 3:], np.tile(rows[:13, :1], (1, 5)))
    sim.run(2)
    assert [time for time, *_ in seen] == [0.0, 1e-3, 2e-3] and np.isfinite(sim.position).all()


@pytest.mark.parametrize("in_c, steps", [(True, 0), (True, 1), (True, 100), (False, 100)])
def test_continuing_without_the_forces(tmp_path, in_c, steps):
    """Dropped forces: positions, velocities, work and balance stay; from there on as a new simulation."""
    sim = pushed(compiled if in_c else in_python, steps, contact="hertz-mindlin")
    sim.save(tmp_path / "state.npz")
    free = md.Simulation.load(tmp_path / "state.npz", forces="drop")
    assert free.user_forces == () and free.step_count == steps
    for one, other in zip(scenes.state_of(free), scenes.state_of(sim), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    energy, before = free.energy(), sim.energy()
    assert energy.work == pytest.approx(before.work, rel=1e-12)
    assert energy.balance == pytest.approx(before.balance, rel=1e-12)
    free.run(100)
    assert free.energy().work == energy.work and abs(free.energy().balance - energy.balance) < 1e-2 * before.kinetic
    free.save(tmp_path / "free.npz")
    md.Simulation.load(tmp_path / "free.npz").run(1)    # expects none


# --- forces in Python ---

def few(**changes):
    return scenes.rods_in_box(seed=4, n=6, speed=20.0, spin=20.0).changed(**changes).simulation(38e-6)


def test_functions_get_separate_arrays():
    def spoiling(t, x, v, q, w):
        force, torque = drag(t, x, v, q, w)
        for values in (x, v, q, w):
            values -= 7.0
        return force, torque
    one, other = few(), few()
    for first, sim in ((spoiling, one), (drag, other)):
        sim.add_force(first)
        sim.add_force(lambda t, x, v, q, w: (-x, np.zeros(3)))
        sim.run(20)
    assert np.array_equal(one.position, other.position) and np.array_equal(one.orientation, other.orientation)


def test_forces_are_not_evaluated_before_user_forces_are_added_again(tmp_path):
    """Saved before the first evaluation: without the user force the first step would lack it."""
    sim = few()
    sim.add_force(drag)
    sim.save(tmp_path / "state.npz")
    other = md.Simulation.load(tmp_path / "state.npz")
    for look in (other.contacts, lambda: other.force, lambda: other.run(1)):
        with pytest.raises(ValueError, match="saved with 1 user forces and has 0: call add_force again"):
            look()
    other.add_force(drag)
    for one in (sim, other):
        one.run(5)
    assert np.array_equal(sim.velocity, other.velocity)
