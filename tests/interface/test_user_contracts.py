"""What functions of a user's own must keep to: arguments, shapes, the end of a contact, parameters; else an error."""
import ctypes
import functools

import numpy as np
import pytest
import scenes
from user_functions import BALL, GLASS, rods, same, two_balls

import minidem as md

BOUNCE = {"velocity": [(1, 0, 0), (-1, 0, 0)]}
pytestmark = pytest.mark.filterwarnings("ignore:contact law")


@pytest.mark.parametrize("parameter", ["0", "-2.5"])
def test_parameters_of_a_law_may_have_any_sign(own_law, parameter):
    seen = []
    own_law("mine", lambda contacts, shift, count: seen.append((shift, count)),
            parameters={"shift": 1.0, "count": 3})
    two_balls(f"mine:shift={parameter},count=-4", steps=1)
    assert set(seen) == {(float(parameter), -4)}
    with pytest.raises(ValueError, match="shift is 'inf', must be a finite number"):
        two_balls("mine:shift=inf")
    with pytest.raises(ValueError, match="count is '0.5', must be a whole number up to 2147483647"):
        two_balls("mine:count=0.5")


def test_ranges_of_parameters(own_law):
    from minidem.core.parameters import Count, NonNegative, Positive
    own_law("mine", lambda contacts, *values: None, parameters={
        "k": Positive, "x": NonNegative(0.0), "n": Count(2), "mode": ("plain", Positive)})
    law = md.contact.info("mine")
    assert law.values("k=2") == [2.0, 0.0, 2, -1.0] and law.values("k=2,mode=3,x=1") == [2.0, 1.0, 2, 3.0]
    for given, words in (("k=0", "a positive number"), ("x=-1,k=1", "a number from 0 on"), ("", "k is missing"),
                         ("n=0,k=1", "a positive whole number"), ("mode=-1,k=1", "plain, or a positive number")):
        with pytest.raises(ValueError, match=words):
            law.values(given)


@pytest.mark.parametrize("force, shape", [
    (lambda c: c.normal[0], r"\(3,\)"), (lambda c: 1.0, r"\(\)"), (lambda c: c.overlap[:, None], r"\(8, 1\)")])
def test_forces_are_not_broadcast(own_law, force, shape):
    own_law("mine", lambda contacts: setattr(contacts, "force", force(contacts)))
    sim = two_balls("mine")
    with pytest.raises(ValueError, match=f"force has shape {shape}; give shape .8, 3.$"):
        sim.run(1)


def pulling(contacts, stiffness):
    contacts.force = stiffness * contacts.overlap[:, None] * contacts.normal


@ctypes.CFUNCTYPE(None, *4 * [ctypes.POINTER(ctypes.c_double)])
def compiled_pulling(contact, history, result, parameters):
    """The same, as compiled laws are called."""
    rows, results = np.ctypeslib.as_array(contact, (26, 8)), np.ctypeslib.as_array(result, (10, 8))
    results[:] = 0.0
    results[:3] = parameters[0] * rows[13] * rows[:3]


@pytest.mark.parametrize("in_python, threads", [
    (True, 2), (False, 2), *(pytest.param(kind, 1, marks=pytest.mark.slow) for kind in (True, False))])
@pytest.mark.usefixtures("many_threads_and_sorts")
def test_no_force_after_the_end(own_law, in_python, threads):
    """The error names the contact. A law in Python leaves the state at the beginning of the step, a compiled one at an
    earlier step."""
    own_law("mine", pulling if in_python else compiled_pulling, parameters={"stiffness": None})
    sim = rods(threads=threads)
    with pytest.raises(ValueError, match=r"force \(.*\) N, or a couple, on clump \d+ in its contact with (clump|wall) "
                                         r"\d+, which has ended: the force must be zero where the overlap"):
        sim.run(400)
    if in_python:
        assert sim.step_count > 10 and len(sim.contacts())
        assert same(sim, rods(steps=sim.step_count))
    else:
        assert np.array_equal(sim.position, rods(steps=sim.step_count).position)    # of the last copy, by the clock
        with pytest.raises(ValueError, match=r"which has ended.* in step \d+: the simulation is back at step \d+ "):
            sim.run(400)


def test_no_copy_of_a_large_state(own_law, monkeypatch):
    """Of many spheres there is no copy: after a step that failed, the last checkpoint continues."""
    monkeypatch.setattr("minidem.engine.driver.MOST_COPIED", 10)
    own_law("mine", compiled_pulling, parameters={"stiffness": None})
    sim = rods()
    with pytest.raises(ValueError, match="which has ended: the force must be zero where the overlap is not positive"):
        sim.run(400)
    with pytest.raises(RuntimeError, match="in step .*, and forces are missing; load its last checkpoint"):
        sim.run(1)


class Method:
    def force(self, t, x, v, q, w):
        return -v, 0.0 * w


WRONG_CALLS = {
    "a callback": (lambda sim: sim.run(1, every=1, callback=lambda: None), r"callback = .*\(simulation\)"),
    "a class": (lambda sim: sim.run(1, every=1, callback=scenes.rod), r"callback = .*\(simulation\)"),
    "a force": (lambda sim: sim.add_force(lambda t, x, v: None), r"function = .*w\), and takes \(t, x, v\)"),
    "parameters": (lambda sim: sim.add_force(Method().force, [1.0]), r"function = .*\(t, x, v, q, w, p0\)"),
    "a law": (lambda sim: md.contact.register("no", lambda c: None, parameters={"k": 1.0}),
              r"force = .*\(contacts, k\)"),
    "describe": (lambda sim: md.contact.register("no", lambda c: None, lambda: 1), r"describe = .*\(contacts\)"),
    "coefficients": (lambda sim: md.contact.register("no", lambda c: None, coefficients=lambda pair: ()),
                     r"coefficients = .*\(pair, values\)"),
    "a scheme": (lambda sim: md.rotation.register("no", lambda bodies, dt: None), r"move = .*\(bodies, dt, stage\)"),
    "a motion": (lambda sim: md.Plane((0, 0, 0), (0, 0, 1), motion=lambda: None), r"motion = .*\(t\), and takes \(\)"),
    "a torque": (lambda sim: md.rotation.integrate("spiral", (1, 2, 3), (1, 0, 0, 0), (0, 0, 1), lambda t: 0, 0.1, 1),
                 r"torque = .*\(t, q, w\)")}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_numbers_of_arguments_are_checked(name):
    """Functions of many kinds are accepted, if they can be called."""
    call, words = WRONG_CALLS[name]
    sim, seen = two_balls("hertz"), []
    with pytest.raises(ValueError, match=f"{words}.*(missing|too many)"):
        call(sim)
    assert "no" not in md.contact.available() + md.rotation.available()
    sim.add_force(Method().force)
    sim.add_force(functools.partial(lambda a, t, x, v, q, w: (a * v, 0.0 * w), -1.0))
    sim.add_force(lambda *everything: (0.0 * everything[2], 0.0 * everything[2]), [1.0, 2.0])
    sim.run(2, every=1, callback=seen.append)               # a built-in function
    assert seen == [sim, sim]


POINTERS = 4 * [ctypes.POINTER(ctypes.c_double)]


@ctypes.CFUNCTYPE(None, *POINTERS)
def third_parameter(time, clumps, wrenches, parameters):
    wrenches[0] = -parameters[2] * clumps[3 * 8]


def test_compiled_forces_do_not_read_behind_their_parameters():
    sim = two_balls("hertz", overlap=-0.1)
    with pytest.raises(ValueError, match=r"parameters = \[1.0, 2.0\]: the compiled function reads more numbers"):
        sim.add_force(third_parameter, [1.0, 2.0])
    assert sim.user_forces == ()
    sim.add_force(third_parameter, [1.0, 2.0, 0.5])
    sim.run(1)
    empty = md.Simulation(GLASS, dt=1e-5)                   # found as soon as there is a clump
    empty.add_force(third_parameter)
    with pytest.raises(ValueError, match=r"parameters = \[\]"):
        empty.add_clumps(BALL, [(0, 0, 0)])


@pytest.mark.parametrize("use", [lambda sim: sim.run(1), lambda sim: sim.add_clumps(BALL, [(5, 5, 5)]),
                                 lambda sim: sim.remove_clumps([0]), lambda sim: sim.contacts()])
def test_motions_must_not_use_the_simulation(use):
    sims = []

    def motion(t):
        if sims and t > 3e-5:
            use(sims[0])
        return (1e-3 * t, 0.0, 0.0), (0.0, 0.0, 0.0)

    sims.append(two_balls("hertz", walls=[md.Plane((0, 0, -1), (0, 0, 1), motion=motion)]))
    with pytest.raises(RuntimeError, match="during a step.*motions of walls"):
        sims[0].run(100)
    assert sims[0].n_clumps == 2 and np.isfinite(sims[0].position).all()        # usable
