"""The dashpot of any power law: equations of motion solved by scipy, the laws here, and a law of a user in the loop."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

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
    """A held sphere stays below this step, and not above it; under the laws here it is 2 / w."""
    own_law("power", power_law, parameters={"k": 1e7, "p": p, "e": e})
    laws = {"power": (1e7, md.contact.critical_step(p, e, 1e7, BALL.mass, 0.5))}
    if p in HERE:
        law, k = HERE[p]
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
