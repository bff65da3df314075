"""The dashpot of any power law: equations of motion solved by scipy, the laws here, and a law of a user in the loop."""
from math import gamma

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from user_functions import CFUNC

import minidem as md

BALL = md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0)
MODULUS = md.effective_modulus(*2 * (md.Material(1e8, 0.2),))
HERE = {1.5: ("hertz-mindlin", 4.0 / 3.0 * MODULUS * 0.1), 1.0: ("hooke-coulomb:stiffness=1e5", 1e5)}   # p: law, k


def impact(p, e, k, m, v):
    """(speed after the impact, largest overlap), in units in which the impact takes a time of about 1."""
    d0 = ((p + 1.0) * m * v ** 2 / (2.0 * k)) ** (1.0 / (p + 1.0))
    t0, factor = d0 / v, md.contact.damping(p, e) * np.sqrt(k * d0 ** p / (m * d0)) * (d0 / v)

    def motion(t, y):
        d = max(y[0], 0.0)
        return y[1], -0.5 * (p + 1.0) * d ** p - factor * d ** (0.5 * (p - 1.0)) * y[1]

    def parted(t, y):
        return y[0] if t > 0.1 else 1.0

    def deepest(t, y):
        return y[1]

    parted.terminal, parted.direction, deepest.direction = True, -1, -1
    run = solve_ivp(motion, (0.0, 60.0), (0.0, 1.0), events=(parted, deepest), rtol=1e-11, atol=1e-13)
    return -v * run.y_events[0][0][1], d0 * run.y_events[1][0][0], t0


@pytest.mark.parametrize("p", [1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("e", [0.9, 0.5, 0.2])
def test_any_power_and_speed(p, e):
    for v in 10.0 ** np.arange(-3, 4):
        after, deepest, _ = impact(p, e, 1e7, 0.02, v)
        assert after / v == pytest.approx(e, abs=2e-5)
        assert md.contact.largest_overlap(p, e, 1e7, 0.02, v) == pytest.approx(deepest, rel=1e-6)


def power_law(contacts, k, p, e):
    overlap = np.maximum(contacts.overlap, 0.0)
    dashpot = md.contact.damping(p, e) * np.sqrt(contacts.mass * k) * overlap ** (0.5 * (p - 1.0))
    approach = -np.sum(contacts.velocity * contacts.normal, axis=1)
    contacts.force = ((overlap > 0.0) * (k * overlap ** p + dashpot * approach))[:, None] * contacts.normal


@pytest.mark.parametrize("e", [0.9, 0.3])
def test_laws_with_dashpots(e):
    """`hertz-mindlin` and `hooke-coulomb` have these dashpots, and their deepest overlap is the one stated."""
    v = 0.7
    for p, (contact, k) in HERE.items():
        sim = md.Simulation(md.Material(1e8, 0.2, restitution=e), [md.Plane((0, 0, 0), (0, 0, 1))],
                            contact=contact, dt=1e-6)
        sim.add_clumps(BALL, (0.0, 0.0, 0.0100005), velocity=(0.0, 0.0, -v))
        deepest = 0.0
        while sim.velocity[0, 2] < 0.0 or len(sim.contacts()):
            sim.run(5)
            deepest = max(deepest, 0.01 - sim.position[0, 2])
        assert sim.velocity[0, 2] / v == pytest.approx(e, abs=1e-4)
        assert deepest == pytest.approx(md.contact.largest_overlap(p, e, k, BALL.mass, v), rel=1e-3)


@pytest.mark.parametrize("p", [1.25, 2.0])
def test_a_law_of_a_user(p, own_law):
    own_law(f"power-{p:g}", power_law, parameters={"k": 1e7, "p": p, "e": 0.6})
    for v in (0.05, 0.5):
        sim = md.Simulation(md.Material(1e8, 0.2), [md.Plane((0, 0, 0), (0, 0, 1))], contact=f"power-{p:g}", dt=1e-6)
        sim.add_clumps(BALL, (0.0, 0.0, 0.0100005), velocity=(0.0, 0.0, -v))
        while sim.velocity[0, 2] < 0.0 or len(sim.contacts()):
            sim.run(10)
        assert sim.velocity[0, 2] / v == pytest.approx(0.6, abs=1e-3)


def elastic_law(contacts, k, p):
    overlap = np.maximum(contacts.overlap, 0.0)
    contacts.force = ((overlap > 0.0) * k * overlap ** p)[:, None] * contacts.normal


def elastic_energy(contacts, k, p):
    contacts.normal_energy = k * np.maximum(contacts.overlap, 0.0) ** (p + 1.0) / (p + 1.0)


def duration(p, k, mass, speed):
    """Of an elastic impact [s]."""
    deepest = md.contact.largest_overlap(p, 1.0, k, mass, speed)
    return 2.0 * np.sqrt(np.pi) * gamma(1.0 + 1.0 / (p + 1.0)) / gamma(0.5 + 1.0 / (p + 1.0)) * deepest / speed


def impacts(contact, clump, height, dt, steps, e, speed, n=8):
    """A simulation after n impacts on a plane, which begin at different instants of a step, and its balance before."""
    sim = md.Simulation(md.Material(1e12, 0.2, restitution=e), [md.Plane((0, 0, 0), (0, 0, 1))], contact=contact, dt=dt)
    place = np.zeros((n, 3))
    place[:, 1], place[:, 2] = 0.1 * np.arange(n), height + (np.arange(n) + 0.5) / n * speed * dt
    sim.add_clumps(clump, place, velocity=(0.0, 0.0, -speed))
    balance = sim.energy().balance
    sim.run(steps)
    assert len(sim.contacts()) == 0
    return sim, balance


@pytest.mark.parametrize("p", [1.0, 1.25, 1.5, 2.0])
def test_a_registered_law_is_damped_by_a_word(p, own_law):
    """The law gives k d^p alone, the material the restitution, over six decades of speed; energy is accounted for."""
    own_law("power", elastic_law, elastic_energy, parameters={"k": None, "p": p}, damped=True, power=p)
    k = 0.5 * (p + 1.0) * BALL.mass * 1e6 / 5e-4 ** (p + 1.0)           # at 1000 m/s an overlap of 0.05 radii
    for e, speed in [(e, speed) for e in (0.9, 0.5, 0.2) for speed in 10.0 ** np.arange(-3, 4)]:
        dt = duration(p, k, BALL.mass, speed) / 100.0
        sim, balance = impacts(f"power:k={k}", BALL, 0.01, dt, 200, e, speed)
        assert np.mean(sim.velocity[:, 2]) / speed == pytest.approx(e, abs=3e-4)
        np.testing.assert_allclose(sim.velocity[:, 2] / speed, e, rtol=0, atol=1.5e-3)
        energy = sim.energy()
        assert energy.dissipated == pytest.approx(4.0 * BALL.mass * speed ** 2 * (1.0 - e ** 2), rel=4e-3)
        assert energy.balance == pytest.approx(balance, rel=4e-4)


@pytest.mark.parametrize("mass, flat", [("shared", 0.5), ("single", 0.288), ("clump", 0.178)])
def test_damped_laws_share_the_mass(mass, flat, own_law):
    """A rod of five falls flat: as with `hertz-mindlin`, guide/friction.md."""
    own_law("power", elastic_law, elastic_energy, parameters={"k": 1e9, "p": 1.5}, damped=True)
    rod = md.ClumpTemplate([(0.02 * k, 0, 0) for k in range(5)], 5 * [0.01], density=2500.0)
    dt = duration(1.5, 5e9, rod.mass, 0.1) / 200.0
    sim, _ = impacts(f"power:mass={mass}", rod, 0.01, dt, 800, 0.5, 0.1)
    assert np.mean(sim.velocity[:, 2]) / 0.1 == pytest.approx(flat, abs=6e-4)


def test_damped_laws_in_c(own_law):
    """Python and C have the same bits: a compiled function writes forces and dissipation, and its own history."""
    @CFUNC
    def force(contact, history, result, parameters):
        rows, results = (np.ctypeslib.as_array(array, (16, 8)) for array in (contact, result))
        overlap = np.maximum(rows[md.contact.columns.OVERLAP], 0.0)
        results[:10] = 0.0
        results[:3] = (overlap > 0.0) * parameters[0] * overlap ** parameters[1] * rows[:3]
        np.ctypeslib.as_array(history, (4, 8))[:] += 1.0

    def counted(contacts, k, p):
        elastic_law(contacts, k, p)
        assert contacts.history.shape == (8, 1, 4)
        contacts.history += 1.0

    found = []
    for name, function in ("power", counted), ("power-c", force):
        own_law(name, function, parameters={"k": 1e9, "p": 1.5}, damped=True)
        sim, _ = impacts(name, BALL, 0.01, duration(1.5, 1e9, BALL.mass, 1.0) / 50.0, 100, 0.5, 1.0)
        found.append(sim.velocity)
    assert np.array_equal(*found) and found[0][0, 2] == pytest.approx(0.5, abs=3e-3)


def test_a_damped_law_at_rest(own_law):
    """The dashpot of a sphere at rest exerts no force."""
    own_law("power", elastic_law, parameters={"k": 1e7, "p": 1.25}, damped=True, power=1.25)
    step = md.contact.critical_step(1.25, 0.1, 1e7, BALL.mass, 0.5)
    assert shift_of_held_sphere("power", 1.25, 0.1, 1e7, 0.3 * step) < 1e-10


def test_what_damped_laws_refuse(own_law):
    for given, told in (({"parameters": {"mass": 1.0}}, "mass"), ({"records": 16}, "records = 16"),
                        ({"damped": 1}, "damped = 1")):
        with pytest.raises(ValueError, match=told):
            own_law("power", elastic_law, **{"parameters": {"k": 1.0, "p": 1.0}, "damped": True} | given)


def shift_of_held_sphere(contact, p, e, k, dt, speed=0.5):
    """How far a sphere at rest on a plane moves, under the weight with the largest overlap of an impact; over that."""
    deepest = md.contact.largest_overlap(p, e, k, BALL.mass, speed)
    sim = md.Simulation(md.Material(1e8, 0.2, restitution=e), [md.Plane((0, 0, 0), (0, 0, 1))], contact=contact, dt=dt,
                        gravity=(0.0, 0.0, -k * deepest ** p / BALL.mass))
    sim.add_clumps(BALL, (0.0, 0.0, 0.01 - (1.0 + 1e-6) * deepest))
    sim.run(760)
    found = []
    for _ in range(5):
        sim.run(8)
        found.append(abs(0.01 - sim.position[0, 2] - deepest) / deepest)
    return max(found)


@pytest.mark.filterwarnings("ignore:dt = .*above the Rayleigh step:UserWarning", "ignore:step .*:UserWarning")
@pytest.mark.parametrize("e", [0.9, 0.5, 0.1])
@pytest.mark.parametrize("p", [1.0, 1.25, 1.5, 2.0])
def test_critical_step(p, e, own_law):
    """A held sphere stays below this step, and not above it; under the laws here and damped ones it is 2 / w."""
    own_law("power", power_law, parameters={"k": 1e7, "p": p, "e": e})
    own_law("damped", elastic_law, parameters={"k": 1e7, "p": p}, damped=True, power=p)
    laws = {"power": (1e7, md.contact.critical_step(p, e, 1e7, BALL.mass, 0.5))}
    for law, k in [("damped", 1e7), *([HERE[p]] if p in HERE else [])]:
        deepest = md.contact.largest_overlap(p, e, k, BALL.mass, 0.5)
        laws[law] = k, 2.0 / np.sqrt(p * k / BALL.mass * deepest ** (p - 1.0))
    for law, (k, step) in laws.items():
        assert shift_of_held_sphere(law, p, e, k, 0.995 * step) < 2e-6
        assert shift_of_held_sphere(law, p, e, k, 1.005 * step) > 1e-2


@pytest.mark.parametrize("p, e, word", [(0.0, 0.5, "power"), (1.0, 0.0, "restitution"), (1.0, 1.1, "restitution")])
def test_what_is_refused(p, e, word):
    with pytest.raises(ValueError, match=word):
        md.contact.damping(p, e)
    with pytest.raises(ValueError, match=word):
        md.contact.critical_step(p, e, 1e5, 0.01, 0.5)


def test_no_critical_step_where_a_contact_begins_stiff():
    with pytest.raises(ValueError, match="give at least 1"):
        md.contact.critical_step(0.9, 0.5, 1e5, 0.01, 0.5)
