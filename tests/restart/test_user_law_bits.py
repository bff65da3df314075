"""Equal bits of user-defined contact laws: five interfaces, threads, checkpoints, steps undone after an error.

The law is that of scenarios/custom_law.py, which uses + - * / alone, so that its bits depend on neither language nor
compiler.
"""
import copy

import custom_law as example
import numpy as np
import pytest
from user_functions import COMPILED, LAW, functions_of, rods, same, two_balls

import minidem as md

SIGNATURE = b"void (const double *, double *, double *, const double *)"


@pytest.fixture(params=COMPILED)
def compiled(request):
    return functions_of(example, request.param, SIGNATURE)


def test_compiled_functions_give_the_bits_of_python(own_law, compiled):
    own_law("mine-python", **example.numpy_interface(), **example.RECORD)
    own_law("mine", **compiled, **example.RECORD)
    python, found = rods("mine-python:stiffness=4e6", steps=200), rods(steps=200)
    assert same(python, found)
    assert len(found.contacts()) > 10 and found.contacts()["energy"].max() > 0.0


@pytest.mark.usefixtures("many_threads_and_sorts")
def test_threads_do_not_change_a_bit(own_law, compiled):
    one = None
    for functions in example.numpy_interface(), compiled:
        own_law("mine", **functions, **example.RECORD)
        for threads in 1, 2, 3:
            sim = rods(threads=threads, steps=200)
            assert sim.loop.threads == threads
            one = one or sim
            assert same(one, sim)


@pytest.mark.parametrize("interface", ["numpy", "ctypes"])
@pytest.mark.usefixtures("many_threads_and_sorts")
def test_checkpoint_with_a_user_law(own_law, tmp_path, interface):
    own_law("mine", **functions_of(example, interface), **example.RECORD)
    sim = rods(steps=130)
    assert len(sim.contacts()) > 10
    sim.save(tmp_path / "here.npz")
    others = [md.Simulation.load(tmp_path / "here.npz", threads=2), copy.deepcopy(sim)]
    sim.run(70)
    for again in others:
        again.run(70)
        assert again.contact == LAW and same(sim, again)


@pytest.mark.usefixtures("many_threads_and_sorts")
def test_a_law_that_distinguishes_its_two_bodies(own_law, tmp_path):
    """i is the sphere with the lower number for the life of a contact: over threads, sorting and restart."""
    def force(contacts, stiffness):
        example.force(contacts, stiffness)
        first = contacts.history[:, 0, :3] == 0.0           # zero in a new contact
        contacts.history[:, 0, :3] = np.where(first, 1.0 + 0.1 * contacts.velocity, contacts.history[:, 0, :3])
        touching = contacts.overlap[:, None] > 0.0
        contacts.force = np.where(touching, contacts.force + 0.1 * contacts.history[:, 0, :3], 0.0)

    own_law("mine", force, example.describe, **example.RECORD)
    sims = [rods(threads=threads, steps=120) for threads in (1, 2, 3)]
    contacts = sims[0].contacts()
    pairs = contacts[contacts["sphere_j"] >= 0]
    assert len(pairs) > 3 and (pairs["sphere_i"] < pairs["sphere_j"]).all()
    sims[2].save(tmp_path / "here.npz")
    sims.append(md.Simulation.load(tmp_path / "here.npz", threads=2))
    for sim in sims:
        sim.run(80)
        assert same(sims[0], sim)


def test_a_checkpoint_needs_its_law(own_law, tmp_path):
    own_law("mine", **example.numpy_interface(), **example.RECORD)
    rods(steps=100).save(tmp_path / "here.npz")
    md.contact.registry._registry.remove_own()
    with pytest.raises(ValueError, match="contact is 'mine:stiffness=4e6'.*first, by md.contact.register"):
        md.Simulation.load(tmp_path / "here.npz")
    own_law("mine", **example.numpy_interface(), **example.RECORD, records=2)
    with pytest.raises(ValueError, match="history_records"):
        md.Simulation.load(tmp_path / "here.npz")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("at_call", [1, 100])
@pytest.mark.usefixtures("many_threads_and_sorts")
def test_an_error_in_a_python_law_undoes_the_step(own_law, threads, at_call):
    """The error is raised, and a run goes on with the bits of an undisturbed one."""
    calls = []

    def force(contacts, stiffness):
        calls.append(None)
        if len(calls) == at_call:
            contacts.history[:] = contacts.force[:] = np.nan
            raise ArithmeticError("in force")
        example.force(contacts, stiffness)

    own_law("mine", force, example.describe, **example.RECORD)
    sim = rods(threads=threads)
    with pytest.raises(ArithmeticError, match="in force"):
        sim.run(200)
    at_fault = sim.step_count
    assert 0 < at_fault < 199
    own_law("undisturbed", example.force, example.describe, **example.RECORD)
    expected = rods("undisturbed:stiffness=4e6", steps=at_fault)
    assert same(sim, expected)
    for running in sim, expected:
        running.run(200 - at_fault)
    assert same(sim, expected)


def test_an_error_at_the_first_evaluation(own_law):
    """Forces of contacts at the start are computed before the first step; nothing is known of them after an error."""
    broken = [True]

    def force(contacts, stiffness):
        if broken[0]:
            raise ArithmeticError("in force")
        example.force(contacts, stiffness)

    own_law("mine", force, example.describe, **example.RECORD)
    own_law("sound", **example.numpy_interface(), **example.RECORD)
    sim = two_balls(LAW)
    for _ in range(2):
        with pytest.raises(ArithmeticError, match="in force"):
            sim.run(3)
        assert sim.step_count == 0
    broken[0] = False
    sim.run(10)
    assert same(sim, two_balls("sound:stiffness=4e6", steps=10))
