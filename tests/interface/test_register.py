"""User-defined contact laws, rotation schemes and forces: interfaces, what functions receive and must keep to."""
import ctypes
import dataclasses
import functools
import re
import shutil
import types
from pathlib import Path

import custom_integrator
import custom_law as example
import numpy as np
import pytest
import scenes
from bit_systems import STATE, SYSTEMS, bits, python_scheme
from scenes import drag
from scipy import LowLevelCallable
from user_functions import BALL, CFUNC, COMPILED, GLASS, LAW, POINTER, capsule, functions_of, rods, same, two_balls

import minidem as md
from minidem.core.parameters import Count, NonNegative, Positive
from minidem.forces import columns as forces
from minidem.state import state

pytestmark = pytest.mark.filterwarnings("ignore:contact law")
ELASTIC = md.Material(young=1e7, poisson=0.3)
STEEL = md.Material(young=2e7, poisson=0.3, restitution=0.8, name="steel")


def viscous_spring(c, stiffness):
    spring, damping = c.coefficients.T[:2]
    rate = -np.sum(c.velocity * c.normal, axis=1)                       # of the overlap
    c.force = ((spring * c.overlap + damping * np.sqrt(c.mass) * rate) * (c.overlap > 0.0))[:, None] * c.normal
    c.dissipated[:, 0] = c.step * damping * np.sqrt(c.mass) * rate ** 2 * (c.overlap > 0.0)


def spring_energy(c, stiffness):
    c.normal_energy = 0.5 * c.coefficients[:, 0] * np.maximum(c.overlap, 0.0) ** 2
    c.sliding = 1.0


def spring_coefficients(pair, values):
    logarithm = -np.log(pair["restitution"])
    return values["stiffness"], 2.0 * np.sqrt(values["stiffness"]) * logarithm / np.sqrt(np.pi**2 + logarithm**2)


def test_a_law_with_dashpots(own_law):
    """Restitution of the linear spring in closed form, and the balance of energies."""
    own_law("mine", viscous_spring, spring_energy, records=1, coefficients=spring_coefficients,
            parameters={"stiffness": None}, reads_of_pairs=("restitution",))
    sim = two_balls(LAW, overlap=-1e-5, velocity=[(1, 0, 0), (0, 0, 0)])
    start = sim.energy()
    sim.run(20)
    assert sim.contacts()["sliding"].all() and sim.energy().elastic == pytest.approx(
        0.5 * 4e6 * sim.contacts()["overlap"][0] ** 2, rel=1e-12)
    sim.run(1000)
    assert sim.velocity[1, 0] - sim.velocity[0, 0] == pytest.approx(GLASS.restitution, rel=0.02)
    assert sim.energy().dissipated_damping == pytest.approx(start.kinetic - sim.energy().kinetic, rel=0.05)


def test_a_contact_ends_with_its_overlap_whatever_the_law_says(own_law):
    """Of a law without `range`: pairs with a gap are listed within a skin only. The next contact begins anew."""
    def sticky(c, stiffness):
        c.force = (stiffness * np.maximum(c.overlap, 0.0))[:, None] * c.normal
        c.history[:, 0, 3] = c.history[:, 0, 3] + 1.0
        c.goes_on = 1.0
    own_law("sticky", sticky, records=1, parameters={"stiffness": None})
    sim = md.Simulation(ELASTIC, contact="sticky:stiffness=1e4", dt=1e-6)
    radius = BALL.radii[0]
    sim.add_clumps(BALL, [(0, 0, 0), (1.99 * radius, 0, 0), (0, 9 * radius, 0), (2.014 * radius, 9 * radius, 0)],
                   velocity=[(0, 0, 0), (0, 0, 0), (0, 0, 0), (-radius, 0, 0)])
    sim.run(2)
    assert len(sim.contacts()) == 1
    while sim.position[1, 0] - sim.position[0, 0] <= 2.0 * radius:
        sim.run(1)
    assert len(sim.contacts()) == 0
    while len(sim.contacts()) == 0:
        sim.run(1)
    assert sim.contacts()["history"][0, 0, 3] == 1.0


@pytest.mark.parametrize("books", [False, True])
def test_what_springs_hold_at_the_end_is_dissipated(own_law, books):
    """Of a spring with a dashpot in series beside another spring; also if the law has dissipated it itself."""
    def force(c, stiffness, decay):
        arm, before = c.history[:, 0, 0].copy(), c.history[:, 0, 1].copy()
        overlap, kept = np.maximum(c.overlap, 0.0), np.exp(-c.step / decay)
        step = np.where(c.step > 0.0, c.step, 1.0)
        new = arm * kept + stiffness * decay * (overlap - before) / step * (1.0 - kept)
        c.force = (np.where(c.overlap > 0.0, stiffness * overlap + new, 0.0))[:, None] * c.normal
        c.dissipated[:, 0] = (c.step > 0.0) * 0.5 * ((arm + new) * (overlap - before) - (new**2 - arm**2) / stiffness)
        if books:
            c.dissipated[:, 0] += (c.step > 0.0) * (c.overlap <= 0.0) * 0.5 * new ** 2 / stiffness
        c.history[:, 0, 0], c.history[:, 0, 1] = new, overlap

    def describe(c, stiffness, decay):
        c.normal_energy = 0.5 * (stiffness * np.maximum(c.overlap, 0.0) ** 2 + c.history[:, 0, 0] ** 2 / stiffness)

    own_law("arm", force, describe, parameters={"stiffness": 1e6, "decay": 3e-4})
    sim = two_balls("arm", overlap=0.0, velocity=[(1, 0, 0), (-1, 0, 0)])
    start = sim.energy().balance
    sim.run(240)
    held = sim.energy().elastic
    assert len(sim.contacts()) and held > 0.05 * start
    sim.run(20)
    assert not len(sim.contacts()) and sim.energy().balance == pytest.approx(start, rel=3e-3)
    end = sim.energy().dissipated
    sim.run(100)
    assert sim.energy().dissipated == end


def test_energies_at_the_end_of_a_contact(own_law):
    """Each counts among those of its kind, once. What is not finite, here at the wall, does not count."""
    def force(c):
        c.force = (1e6 * np.maximum(c.overlap, 0.0))[:, None] * c.normal
        c.history[:, 0, 0] = 1.0

    def describe(c):
        at_wall, held = c.ids[:, 1] == -1, 1e-6 * c.history[:, 0, 0]
        c.normal_energy, c.tangential_energy, c.rolling_energy = held, np.where(at_wall, np.nan, 2.0 * held), 3.0 * held

    own_law("held", force, describe)
    floor = md.Plane((0, 0, -0.05 + 1e-4), (0, 0, 1))
    sim = two_balls("held", walls=[floor], overlap=1e-4, velocity=[(0, 0, 1), (1, 0, 1)])
    sim.run(1)
    assert len(sim.contacts()) == 3 and sim.energy().dissipated == 0.0
    sim.run(200)
    energy = sim.energy()
    assert not len(sim.contacts()) and [energy.dissipated_damping, energy.dissipated_tangential,
                                        energy.dissipated_sliding, energy.dissipated_rolling] == pytest.approx(
        [1e-6, 0.0, 2e-6, 3e-6], rel=1e-12)


def linear(c, stiffness):
    c.force = (stiffness * np.maximum(c.overlap, 0.0))[:, None] * c.normal


def test_size_of_the_forces(own_law):
    """A law far stiffer than the material is refused with the reason, until it says its own scale."""
    soft, options = md.Material(1.0, 0.3), {"overlap": -1e-5, "velocity": [(1, 0, 0), (-1, 0, 0)]}
    own_law("mine", linear, parameters={"stiffness": None})
    with pytest.raises(FloatingPointError, match=r"clump \d is not finite\. At step \d+ the forces .* sum up to .* N, "
                                                 r"with overlaps up to 0\.0.* of its radius 0\.05 m\. Sums hold up to "
                                                 r"0\.25 N .*Young's modulus of its material, 1 Pa\..*scale="):
        two_balls("mine:stiffness=1e5", material=soft, steps=1000, **options)
    for scale in lambda pair, values, radius: values["stiffness"] * radius, \
            lambda pair, values, radius: values["stiffness"] * radius ** 2 / 0.05 + 0.0 * pair["modulus"]:
        own_law("mine", linear, parameters={"stiffness": None}, scale=scale)
        assert two_balls("mine:stiffness=1e5", material=soft, steps=1000, **options).velocity[1, 0] == pytest.approx(
            1.0, rel=1e-3)
    own_law("mine", linear, parameters={"stiffness": None}, scale=lambda pair, values, radius: 1e-3 * radius)
    with pytest.raises(FloatingPointError, match="the scale of the contact law.*register the law with a larger one"):
        two_balls("mine:stiffness=1e5", material=soft, steps=1000, **options)
    for wrong in (0.0, np.nan, [1.0, 2.0]):
        own_law("mine", linear, parameters={"stiffness": None}, scale=lambda pair, values, radius: wrong)
        with pytest.raises(ValueError, match="contact 'mine': scale returned .*greater than 0"):
            two_balls("mine:stiffness=1e5")
    own_law("mine", lambda c: vars(c)["force"].fill(np.nan))
    with pytest.raises(FloatingPointError, match="'mine' returned a force that is not finite"):
        two_balls("mine", steps=10)


@pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin", "hooke:stiffness=5"])
def test_forces_beyond_those_of_the_material(contact):
    """Of a material that is far too soft, deep in a wall."""
    sim = two_balls(contact, [md.Plane((0, 0, -0.05), (0, 0, 1))], material=md.Material(70.0, 0.3), overlap=-1.0,
                    velocity=(0, 0, -100.0))
    words = "the stiffness of contact law" if "hooke" in contact else "Young's modulus of its material, 70 Pa"
    with pytest.raises(FloatingPointError, match=rf"overlaps up to \d.*{words}.*If such forces are meant, raise"):
        sim.run(100_000)


def test_bonds_beyond_the_forces_of_the_material():
    sim = two_balls("hertz-mindlin:bonds=parallel", material=md.Material(1e3, 0.3), overlap=0.0)
    sim.bonds.add([(0, 1)], radius=1.0, young=1e9, stiffness_ratio=2.0, tensile=1e30, shear=1e30)
    sim.set_motion([0], velocity=(5, 0, 0))
    with pytest.raises(FloatingPointError, match="of its material, 1000 Pa.*or lower that of the bonds"):
        sim.run(1000)


def test_describe(own_law):
    """Without it energies are zero; its errors are raised by what reads them, and the simulation can continue."""
    own_law("mine", example.force, **example.RECORD)
    contact, = two_balls(LAW, steps=3).contacts()
    assert contact["energy"] == contact["energy_tangential"] == contact["energy_rolling"] == 0.0
    assert contact["force"][0] < 0.0 and not contact["sliding"]
    own_law("mine", example.force, lambda contacts, stiffness: contacts.colour, **example.RECORD)
    sim = two_balls(LAW, steps=3)
    for read in sim.contacts, sim.energy:
        with pytest.raises(AttributeError, match="colour"):
            read()
    sim.run(3)


VALUES = {"normal": 0, "middle_normal": 3, "velocity": 6, "angular_velocity": 9, "spin": 12, "overlap": 13,
          "radius": 14, "mass": 15, "rolling_inertia": 16, "step": 17, "coefficients": 18}


def test_python_and_c_receive_the_same(own_law):
    """Rows of a C function are where `register` says; parameters are doubles, words their index."""
    seen, rows, given = [], [], []
    def python(contacts, gain, mode, count):
        seen.append(contacts)
        given.append((gain, mode, count))
        contacts.force = 10.0 * contacts.normal
    @CFUNC
    def c(contact, history, result, parameters):
        rows.append(np.ctypeslib.as_array(contact, (26, 8)).copy())
        given.append(tuple(parameters[:3]))
        np.ctypeslib.as_array(result, (10, 8))[:] = 0.0
        np.ctypeslib.as_array(result, (10, 8))[:3] = 10.0 * rows[-1][:3]
    record = {"parameters": {"gain": None, "mode": ("plain", "odd"), "count": 4}, "couples": True, "records": 2,
              "reads_of_pairs": ("restitution",),
              "coefficients": lambda pair, values: [pair["modulus"], pair["restitution"], values["gain"]]}
    motion = {"velocity": [(1, 2, 3), (0, 0, 0)], "angular_velocity": [(3, 2, 1), (0, 5, 0)]}
    for name, function in ("mine", python), ("mine-c", c):
        own_law(name, function, **record)
        two_balls(f"{name}:gain=2.5,mode=odd", steps=2, **motion)
    assert given[0] == (2.5, 1, 4) and {type(value) for value in given[0][1:]} == {int}
    assert given[-1] == (2.5, 1.0, 4.0) and len(seen) == len(rows) >= 3
    for contacts, found in zip(seen, rows):
        for name, row in VALUES.items():
            values = getattr(contacts, name)
            assert not values.flags.writeable
            assert np.array_equal(values, found[row:row + values[0].size].T.reshape(values.shape)), name
        assert contacts.history.shape == (8, 2, 4) and contacts.couple.shape == (8, 3)
    last = seen[-1]
    assert last.step[0] == 1e-5 and np.linalg.norm(last.normal[0]) == pytest.approx(1.0)
    assert last.mass[0] == pytest.approx(BALL.mass / 2)
    assert last.coefficients[0, :4] == pytest.approx([md.effective_modulus(GLASS, GLASS), 0.7, 2.5, 0.0])


def test_couples(own_law):
    """A couple against the relative rotation brings both balls to the same spin, and keeps the angular momentum."""
    def force(contacts):
        contacts.couple = -0.5 * contacts.angular_velocity
        contacts.dissipated[:, 3] = -contacts.step * np.sum(contacts.couple * contacts.angular_velocity, axis=1)
    own_law("mine", force, couples=True)
    sim = two_balls("mine", steps=2000, material=ELASTIC, angular_velocity=[(4.0, 1.0, 2.0), (0.0, 1.0, -2.0)])
    np.testing.assert_allclose(sim.angular_velocity, np.tile([2.0, 1.0, 0.0], (2, 1)), atol=1e-6)
    assert np.all(sim.velocity == 0.0)
    lost = 0.5 * BALL.inertia[0] * (21.0 + 5.0 - 2 * 5.0)
    assert sim.energy().dissipated == sim.energy().dissipated_rolling == pytest.approx(lost, rel=0.05)   # first order
    own_law("none", lambda contacts: setattr(contacts, "couple", 1.0))
    with pytest.raises(AttributeError, match="couple"):
        two_balls("none", steps=1, material=ELASTIC)


def test_pairs_of_materials(own_law):
    """Coefficients are those of the two materials; a pair that is read must be given. They are checked."""
    own_law("mine", **example.numpy_interface(), **example.RECORD)
    wall = md.Plane((0, 0, -0.05), (0, 0, 1), material=STEEL)
    with pytest.raises(ValueError, match="'glass'.*'steel'.*restitution"):
        two_balls(LAW, walls=[wall])
    sim = two_balls(LAW, walls=[wall], pairs=[md.Pair(GLASS, STEEL, restitution=0.5)], overlap=-0.1,
                    velocity=[(0, 0, -1.0), (0, 0, 0)])
    sim.run(1000)
    assert sim.velocity[0, 2] == pytest.approx(0.5, rel=1e-3)
    for rows in 65 * [1.0], [np.ones(3)]:
        own_law("mine", nothing, coefficients=lambda pair, values: rows)
        with pytest.raises(ValueError, match="contact 'mine': coefficients returned .*at most 64"):
            two_balls("mine", material=ELASTIC)


def test_record(own_law):
    record = own_law("mine", **example.numpy_interface(), **example.RECORD, doc="A hysteretic spring.")
    assert md.contact.info("mine:stiffness=1") is record and "mine" in md.contact.available()
    assert record.has_history and record.needs_velocity and not record.conservative
    assert (record.title, record.doi, record.doc, record.reads_of_pairs, record.parameters) == (
        "linear hysteretic spring", "10.1122/1.549893", "A hysteretic spring.", ("restitution",), {"stiffness": None})
    assert "Walton" in md.cite(two_balls(LAW)).text
    with pytest.raises(ValueError, match="one force evaluation per step, and 'rk4' has 4"):
        rods(rotation="rk4")


def test_a_user_law_can_be_replaced(own_law):
    own_law("mine", **example.numpy_interface(), **example.RECORD)
    sim, other = two_balls(LAW), two_balls(LAW, steps=20)
    own_law("mine", nothing, **example.RECORD)
    sim.run(20)
    assert same(sim, other) and np.all(two_balls(LAW, steps=20).velocity == 0.0)


def nothing(contacts, *parameters):
    pass


# --- what functions must keep to ---

def test_parameters_of_a_law(own_law):
    """They may have any sign, if the law does not say otherwise."""
    seen = []
    own_law("mine", lambda contacts, shift, count: seen.append((shift, count)), parameters={"shift": 1.0, "count": 3})
    for shift in "0", "-2.5":
        two_balls(f"mine:shift={shift},count=-4", steps=1)
    assert set(seen) == {(0.0, -4), (-2.5, -4)}
    own_law("other", lambda contacts, *values: None, parameters={
        "k": Positive, "x": NonNegative(0.0), "n": Count(2), "mode": ("plain", Positive)})
    law = md.contact.info("other")
    assert law.values("k=2") == [2.0, 0.0, 2, -1.0] and law.values("k=2,mode=3,x=1") == [2.0, 1.0, 2, 3.0]
    for name, given, words in (
            ("mine", "shift=inf", "shift is 'inf', must be a finite number"),
            ("mine", "count=0.5", "count is '0.5', must be a whole number up to 2147483647"),
            ("other", "k=0", "a positive number"), ("other", "x=-1,k=1", "a number from 0 on"),
            ("other", "", "k is missing"), ("other", "n=0,k=1", "a positive whole number"),
            ("other", "mode=-1,k=1", "plain, or a positive number")):
        with pytest.raises(ValueError, match=words):
            md.contact.info(name).values(given)


def test_forces_are_not_broadcast(own_law):
    for force, shape in ((lambda c: c.normal[0], "3,"), (lambda c: 1.0, ""), (lambda c: c.overlap[:, None], "8, 1")):
        own_law("mine", lambda contacts: setattr(contacts, "force", force(contacts)))
        with pytest.raises(ValueError, match=rf"force has shape \({shape}\); give shape .8, 3.$"):
            two_balls("mine", steps=1)


def pulling(contacts, stiffness):
    contacts.force = stiffness * contacts.overlap[:, None] * contacts.normal


@CFUNC
def compiled_pulling(contact, history, result, parameters):
    rows, results = np.ctypeslib.as_array(contact, (26, 8)), np.ctypeslib.as_array(result, (10, 8))
    results[:] = 0.0
    results[:3] = parameters[0] * rows[13] * rows[:3]


@pytest.mark.parametrize("in_python, threads", [
    (True, 2), (False, 2), *(pytest.param(kind, 1, marks=pytest.mark.slow) for kind in (True, False))])
@pytest.mark.usefixtures("many_threads_and_sorts")
def test_no_force_after_the_end(own_law, in_python, threads):
    """The error names the contact. A law in Python leaves the state before the step, a compiled one an earlier one."""
    own_law("mine", pulling if in_python else compiled_pulling, parameters={"stiffness": None})
    sim = rods(threads=threads)
    with pytest.raises(ValueError, match=r"force \(.*\) N, or a couple, on clump \d+ in its contact with (clump|wall) "
                                         r"\d+, which has ended: the force must be zero where the overlap"):
        sim.run(400)
    if in_python:
        assert sim.step_count > 10 and len(sim.contacts()) and same(sim, rods(steps=sim.step_count))
    else:
        assert np.array_equal(sim.position, rods(steps=sim.step_count).position)    # of the last copy, by the clock
        with pytest.raises(ValueError, match=r"which has ended.* in step \d+: the simulation is back at step \d+ "):
            sim.run(400)


def test_no_copy_of_a_large_state(own_law, monkeypatch):
    """Of many spheres there is no copy: after a step that failed, the last checkpoint continues."""
    monkeypatch.setattr("minidem.engine.undo.MOST_COPIED", 10)
    own_law("mine", compiled_pulling, parameters={"stiffness": None})
    sim = rods()
    with pytest.raises(ValueError, match="which has ended: the force must be zero where the overlap is not positive"):
        sim.run(400)
    with pytest.raises(RuntimeError, match="in step .*, and forces are missing; load its last checkpoint"):
        sim.run(1)


def test_functions_of_many_kinds():
    """They are accepted if they can be called."""
    sim, seen = two_balls("hertz"), []
    sim.forces.add(types.MethodType(lambda self, t, x, v, q, w: (-v, 0.0 * w), sim))
    sim.forces.add(functools.partial(lambda a, t, x, v, q, w: (a * v, 0.0 * w), -1.0))
    sim.forces.add(lambda *everything: (0.0 * everything[2], 0.0 * everything[2]), [1.0, 2.0])
    sim.run(2, every=1, callback=seen.append)               # a built-in function
    assert seen == [sim, sim]


@CFUNC
def third_parameter(time, clumps, wrenches, parameters):
    wrenches[0] = -parameters[2] * clumps[3 * 8]


def test_compiled_forces_do_not_read_behind_their_parameters():
    sim = two_balls("hertz", overlap=-0.1)
    with pytest.raises(ValueError, match=r"parameters = \[1.0, 2.0\]: the compiled function reads more numbers"):
        sim.forces.add(third_parameter, [1.0, 2.0])
    assert sim.forces.functions == ()
    sim.forces.add(third_parameter, [1.0, 2.0, 0.5])
    sim.run(1)
    empty = md.Simulation(GLASS, dt=1e-5)                   # found as soon as there is a clump
    empty.forces.add(third_parameter)
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


# --- rotation schemes ---

INERTIA, SPIN = np.array([1.0, 2.0, 3.5]), np.array([0.3, 1.0, 0.2])
SIGNATURE = b"void (double *, double const *, double const *, double const *)"      # spaces do not matter


@pytest.fixture(params=COMPILED)
def compiled(request):
    return functions_of(custom_integrator, request.param, SIGNATURE)


def driven(t, q, w):
    """A torque that depends on all that it may depend on, for one body or many."""
    return np.array([np.sin(3 * t), 0.3, 0.2]) + q[..., 1:] - 0.5 * w


def turned(name, bodies=None, steps=64, **how):
    """Bits of orientation and angular velocity of one body, or of many with different spins."""
    shape = () if bodies is None else (bodies, 1)
    spin = SPIN * np.linspace(1.0, 2.0, bodies)[:, None] if bodies else SPIN
    start = np.ones(shape) * [1.0, 0.0, 0.0, 0.0]
    end = md.rotation.integrate(name, INERTIA, start, spin, driven, 1.0 / steps, steps, **how)
    return end.orientation, end.angular_velocity


def equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other))


def test_compiled_functions_give_the_bits_of_python(own, compiled):
    own("mine-python", **custom_integrator.numpy_interface())
    own("mine", **compiled)
    many = turned("mine", bodies=9)                                             # a second block of eight
    assert equal(turned("mine-python"), turned("mine")) and equal(turned("mine-python", bodies=9), many)
    assert equal([rows[0] for rows in many], turned("mine"))
    last = md.rotation.integrate("mine", INERTIA, (1, 0, 0, 0), 2.0 * SPIN, driven, 1 / 64, 64)
    assert equal([rows[8] for rows in many], (last.orientation, last.angular_velocity))


def test_many_body_run_is_the_same_through_every_interface(own, compiled):
    """On two threads, too; and the energy is that of the built-in scheme, since its error is of the translation."""
    own("mine-python", **custom_integrator.numpy_interface())
    own("mine", **compiled)
    sims = [SYSTEMS["mixture"].build("hertz", name, threads) for name, threads in (
        ("mine-python", 1), ("mine", 1), ("mine", 2), ("spiral", 1))]
    start = sims[0].energy().total
    for sim in sims:
        sim.run(50)
    python, one, two, built_in = map(bits, sims)
    assert python == one == two != built_in and len(sims[0].contacts()) > 10
    assert sims[0].energy().total - start == pytest.approx(sims[3].energy().total - start, rel=0.01)


@pytest.mark.parametrize("sync", [True, False])
def test_a_leapfrog_is_the_built_in_one_to_round_off(own, sync):
    """32 steps, each with some ten roundings of w and q, which are of size 1 and below."""
    record = own("my-leapfrog", **python_scheme(), n_scratch=2, doc="A leapfrog.")
    assert (record.title, record.doc, record.angular_velocity_offset) == ("my-leapfrog", "A leapfrog.", -0.5)
    for one, other in zip(turned("my-leapfrog", steps=32, sync=sync), turned("spiral", steps=32, sync=sync)):
        np.testing.assert_allclose(one, other, rtol=0, atol=10 * 32 * np.finfo(float).eps)
    end = md.rotation.integrate("my-leapfrog", INERTIA, (1, 0, 0, 0), SPIN, (0, 0, 0), 0.1, 3, sync=False)
    assert (end.orientation_time, end.angular_velocity_time) == pytest.approx((0.3, 0.25), rel=1e-15)


def test_tables_of_schemes_and_laws(own):
    own("mine", lambda bodies, dt, stage: None, order_q_varying=2, order_w_varying=3, used_in="a < b")
    rows = {row["name"]: row for row in md.rotation.table()}
    assert list(rows) == md.rotation.available() and rows["spiral"]["cost"] == 1.0 < rows["rk4"]["cost"]
    assert [rows["mine"][name] for name in ("order", "symplectic", "forces", "cost")] == [2, False, 1, None]
    assert all(row["cost"] for name, row in rows.items() if name != "mine") and rows["cf4"]["forces"] == 4
    heading, *lines = str(md.rotation.table()).splitlines()
    assert heading.split() == ["name", "order", "symplectic", "forces", "cost", "used", "in"]
    assert len(lines) == len(rows) and re.search(r"^exact +2 +yes +1 +[1-3]", "\n".join(lines), re.M)
    assert "<td>a &lt; b</td></tr>" in md.rotation.table()._repr_html_()
    laws = {row["name"]: row for row in md.contact.table()}
    assert list(laws) == md.contact.available() and laws["hertz-mindlin"]["history"] and laws["hertz"]["power"] == 1.5


@pytest.fixture
def cython_file(here):
    """A .pyx file with the source of a built-in scheme under the name "mine"."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    source = Path(md.rotation.__file__).with_name("no_squish.pyx").read_text(encoding="utf-8")
    (here / "mine.pyx").write_text(source.replace('name="no-squish"', 'name="mine"'), encoding="utf-8")
    return here / "mine.pyx"


def made(path):
    return set(path.parent.glob(f"__pycache__/{path.stem}-*"))


@pytest.mark.usefixtures("many_threads_and_sorts")
def test_a_cython_file_gives_the_bits_of_the_tree(own, cython_file):
    """On any number of threads, and after a restart by name. It is compiled once, and again after a change."""
    [scheme] = md.rotation.compile("mine.pyx")
    assert own(scheme) is md.rotation.info("mine") and "NO_SQUISH" in scheme.doc
    assert equal(turned("mine", bodies=9), turned("no-squish", bodies=9))
    [library] = made(cython_file)
    date = library.stat().st_mtime_ns
    one, half = (rods("hertz-mindlin", rotation="no-squish", threads=1, steps=steps) for steps in (120, 60))
    assert same(one, rods("hertz-mindlin", rotation="mine", threads=3, steps=120)) and not same(one, half)
    half = rods("hertz-mindlin", rotation="mine", threads=1, steps=60)
    half.save("half.npz")
    own(*md.rotation.compile(cython_file))
    half = md.Simulation.load("half.npz", threads=2)
    half.run(60)
    assert same(one, half) and made(cython_file) == {library} and library.stat().st_mtime_ns == date
    cython_file.write_text(cython_file.read_text(encoding="utf-8").replace("-versine", "-2.0 * versine"))
    own(*md.rotation.compile("mine.pyx"))
    assert not equal(turned("mine"), turned("no-squish")) and len(made(cython_file)) == 2


@pytest.mark.parametrize("text, told", [
    ("x = 1", "has SCHEMES = None; end it with SCHEMES"),
    ("cdef int f(:", r"cannot be compiled; Cython says:(?s:.*)1:11"),
    ('cdef extern from "none.h":\n    int f()\nx = f()', "cannot be compiled; .* says:(?s:.*)none.h")])
def test_a_cython_file_that_cannot_be_used(here, text, told):
    (here / "mine.pyx").write_text(text)
    with pytest.raises(ValueError, match=f"path: .*mine.pyx {told}"):
        md.rotation.compile("mine.pyx")


def test_what_is_missing_for_a_cython_file_is_named(cython_file, monkeypatch):
    for wrong, told in (("none.pyx", "no such file"), ("mine.py", "give a file .pyx"), (".", "give a file .pyx")):
        with pytest.raises(ValueError, match=f"path: .*: .*{told}"):
            md.rotation.compile(wrong)
    cython_file.rename("my-own.pyx")
    with pytest.raises(ValueError, match="rename the file"):
        md.rotation.compile("my-own.pyx")
    Path("my-own.pyx").rename("mine.pyx")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match="needs a C compiler; .*apt-get install"):
        md.rotation.compile("mine.pyx")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="needs Cython; .* -m pip install 'Cython"):
        md.rotation.compile("mine.pyx")
    assert not made(cython_file)


def test_a_description_that_cannot_be_registered(own):
    spiral = md.rotation.info("spiral")
    mine = functools.partial(dataclasses.replace, spiral, name="mine")
    assert own(mine()).name == "mine" and equal(turned("mine"), turned("spiral"))
    for given, told in (((spiral,), "name = 'spiral': this name is built-in"),
                        ((mine(kernels=None),), "kernels = None: give Kernels"),
                        ((mine(), abs), "move: name is a Scheme, which has all"),
                        ((mine(kernels=md.rotation.info("euler").kernels),), "angular_velocity_offset = -0.5: .*start"),
                        (([mine()],), "name = .*: give a name of letters")):
        with pytest.raises(ValueError, match=told):
            own(*given)


@pytest.mark.parametrize("in_c", [False, True])
def test_stages_and_parameters_arrive(own, in_c):
    """In C all are doubles: step[0] is dt, step[1] the stage, step[2:] the parameters, words as their index. In Python
    a torque that is kept does not change."""
    seen, instants, kept = [], [], []
    def move(bodies, dt, stage, gain, mode, count):
        seen.append((dt, stage, gain, mode, count))
        kept.append(bodies.torque)
        assert (bodies.q.shape, bodies.w.shape, bodies.scratch.shape) == ((8, 4), (8, 3), (8, 3))
        assert type(stage) is type(mode) is type(count) is int
    compiled = CFUNC(lambda block, torque, fixed, step: seen.append(tuple(step[:5])))
    own("staged", compiled if in_c else move, stages=(0.5, 1.0), n_scratch=3,
        parameters={"gain": 2.5, "mode": ("plain", "odd"), "count": 4})
    md.rotation.integrate("staged:mode=odd,count=7", INERTIA, (1, 0, 0, 0), SPIN,
                          lambda t, q, w: instants.append(t) or (t, 0.0, 0.0), 0.25, 2)
    assert seen == [(0.25, k % 2, 2.5, 1, 7) for k in range(4)] and instants == [0.0, 0.125, 0.25, 0.375, 0.5]
    assert in_c or [torque[0, 0] for torque in kept] == instants[:-1]
    with pytest.raises(ValueError, match="gain"):
        md.rotation.integrate("staged:gain=nan", INERTIA, (1, 0, 0, 0), SPIN, (0, 0, 0), 0.25, 2)


def test_rows_have_names_and_stay():
    """Compiled functions of users keep working: the numbers are those of version 0.22."""
    schemes, laws = md.rotation.columns, md.contact.columns
    assert [schemes.ORIENTATION, schemes.ANGULAR_VELOCITY, schemes.PREDICTED, schemes.SCRATCH] == [0, 4, 14, 20]
    assert [schemes.TORQUE, schemes.INERTIA, schemes.INVERSE_INERTIA] == [0, 0, 3]
    assert [laws.NORMAL, laws.MIDDLE_NORMAL, laws.VELOCITY, laws.ANGULAR_VELOCITY, laws.SPIN, laws.OVERLAP, laws.RADIUS,
            laws.MASS, laws.ROLLING_INERTIA, laws.STEP] == [0, 3, 6, 9, *range(12, 18)]
    assert [laws.COEFFICIENTS, laws.IDS, laws.VALUES] == [18, 82, 84]
    assert [laws.FORCE, laws.COUPLE, laws.DISSIPATED, laws.GOES_ON, laws.FRACTURE, laws.RATES] == [0, 3, 6, 10, 11, 12]
    assert [forces.POSITION, forces.VELOCITY, forces.ORIENTATION, forces.ANGULAR_VELOCITY, forces.MASS, forces.ID,
            forces.VALUES, forces.FORCE, forces.TORQUE, forces.RATES] == [0, 3, 6, 10, 13, 14, 15, 0, 3, 6]
    assert [laws.NORMAL_ENERGY, laws.TANGENTIAL_ENERGY, laws.ROLLING_ENERGY, laws.SLIDING] == [0, 1, 2, 3]


@pytest.mark.parametrize("columns", [
    md.contact.columns.CONTACT, md.contact.columns.RESULT, md.contact.columns.ENERGIES, forces.CLUMPS, forces.WRENCHES,
    state.COLUMNS, state.WRENCH, state.CONSTANTS])
def test_cython_and_c_declare_the_same_rows(columns):
    """First rows are those of the headers, widths are those that Cython declares."""
    rows, widths = zip(*columns.values())
    assert rows == (0, *np.cumsum(widths)[:-1])


def test_signatures_are_checked(own):
    function = ctypes.CDLL(None).labs                                # any function: it is never called
    for restype, argtypes in ((ctypes.c_int, 4 * [POINTER]), (None, 3 * [POINTER]), (None, None)):
        function.restype, function.argtypes = restype, argtypes
        with pytest.raises(ValueError, match="move.*restype"):
            own("mine", function)
    for wrong in (b"void (double *, double *, double *)", SIGNATURE.replace(b"void", b"double"), None):
        with pytest.raises(ValueError, match="move.*signature"):
            own("mine", capsule(function, wrong))
    numba = pytest.importorskip("numba")
    single = "void(CPointer(float32), CPointer(float64), CPointer(float64), CPointer(float64))"
    for wrong, word in ((numba.cfunc(single)(lambda a, b, c, d: None), "float32"),
                        (numba.cfunc("void(CPointer(float64))")(lambda a: None), r"\(float64\*,\)")):
        with pytest.raises(ValueError, match=word):
            own("mine", wrong)


@pytest.mark.parametrize("role", ["start", "move", "finish", "sync", "predict"])
def test_an_error_in_a_python_scheme_is_raised(own, role):
    def fails(bodies, dt, stage):
        raise ArithmeticError(f"in {role}")
    own("failing", **{"move": lambda bodies, dt, stage: None, role: fails})
    with pytest.raises(ArithmeticError, match=f"in {role}"):
        turned("failing", steps=3)


# --- forces ---

OF_FORCES = b"void (const double *, const double *, double *, const double *)"
PARAMETERS = (-40.0, 3.0, 0.05, 1e-3)


@CFUNC
def compiled_force(time, clumps, wrenches, p):
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
    sim.forces.add(function(sim) if function is in_python else function, parameters)
    sim.run(steps)
    return sim


CONTACTS = ["hertz", "hertz:onset=corrected", "hertz-mindlin"]


@pytest.mark.parametrize("contact, rotation", [*((contact, "spiral") for contact in CONTACTS), ("hertz", "rk4"),
                                               ("hertz", "no-squish")])
def test_agreement_with_python(contact, rotation):
    one = pushed(compiled_force, 150, contact=contact, rotation=rotation)
    other = pushed(in_python, 150, contact=contact, rotation=rotation)
    assert len(one.contacts()) > 10
    for a, b in ((getattr(one, name), getattr(other, name)) for name in STATE):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-9 * np.abs(b).max())
    assert one.energy().work == pytest.approx(other.energy().work, rel=1e-9)
    assert abs(one.energy().work) > 0.01 * rods(contact, rotation=rotation).energy().kinetic


@pytest.mark.parametrize("interface", ["scipy", "capsule"])
def test_interfaces_give_the_same_bits(interface):
    other = LowLevelCallable(compiled_force) if interface == "scipy" else capsule(compiled_force, OF_FORCES)
    assert same(pushed(other, 80), pushed(compiled_force, 80))


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
    sim.forces.add(look, (7.0, 8.0))
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
    sim = pushed(compiled_force if in_c else in_python, steps, contact="hertz-mindlin")
    sim.save(tmp_path / "state.npz")
    free = md.Simulation.load(tmp_path / "state.npz", forces="drop")
    assert free.forces.functions == () and free.step_count == steps
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
        sim.forces.add(first)
        sim.forces.add(lambda t, x, v, q, w: (-x, np.zeros(3)))
        sim.run(20)
    assert np.array_equal(one.position, other.position) and np.array_equal(one.orientation, other.orientation)


def test_forces_are_not_evaluated_before_user_forces_are_added_again(tmp_path):
    """Saved before the first evaluation: without the user force the first step would lack it."""
    sim = few()
    sim.forces.add(drag)
    sim.save(tmp_path / "state.npz")
    other = md.Simulation.load(tmp_path / "state.npz")
    for look in (other.contacts, lambda: other.force, lambda: other.run(1)):
        with pytest.raises(ValueError, match="saved with 1 user forces and has 0: call sim.forces.add again"):
            look()
    other.forces.add(drag)
    for one in (sim, other):
        one.run(5)
    assert np.array_equal(sim.velocity, other.velocity)
