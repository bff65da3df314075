"""`sliding=static`: a larger limit of friction for contacts that stick."""
from dataclasses import replace

import numpy as np
import pytest

import minidem as md

R, G, STATIC, DYNAMIC = 0.01, 9.81, 0.6, 0.4
BALL = md.ClumpTemplate([(0, 0, 0)], [R], density=2500.0)
LAWS = ["hertz-mindlin:sliding=static", "hooke-coulomb:stiffness=1e5,sliding=static",
        "hertz-mindlin:sliding=static,tangential=mindlin"]
MATERIAL = md.Material(1e7, 0.3, restitution=0.5, friction=DYNAMIC, static_friction=STATIC)
FLOOR = md.Plane((0, 0, 0), (0, 0, 1))


def block(law, dt=2e-5):
    """A ball that rests on a plane and cannot turn."""
    sim = md.Simulation(MATERIAL, [FLOOR], contact=law, dt=dt, gravity=(0, 0, -G))
    load, modulus = BALL.mass * G, md.effective_modulus(MATERIAL, MATERIAL)
    overlap = load / 1e5 if "hooke" in law else (0.75 * load / (modulus * R ** 0.5)) ** (2 / 3)
    sim.add_clumps(BALL, (0, 0, R - overlap), turns="")
    return sim


@pytest.mark.parametrize("law", LAWS)
def test_a_force_that_grows(law):
    """The ball holds up to the static coefficient; then it slides with the other one, and rests below that one."""
    sim = block(law)
    sim.set_gravity(lambda t: (G * min(10.0 * t, 1.05 - 5.0 * t), 0.0, -G))
    sim.run_until(0.098 * STATIC)
    assert abs(sim.velocity[0, 0]) < 5e-3 and not sim.contacts()["sliding"][0]
    sim.run_until(0.102 * STATIC)
    assert sim.contacts()["sliding"][0]
    since, speed = sim.time, sim.velocity[0, 0]
    sim.run_until(0.07)
    t = np.linspace(since, 0.07, 10_001)
    push = G * np.minimum(10.0 * t, 1.05 - 5.0 * t)
    assert sim.velocity[0, 0] - speed == pytest.approx(np.trapezoid(push - DYNAMIC * G, t), rel=2e-3)
    assert -sim.contacts()["tangential"][0, 0] == pytest.approx(DYNAMIC * BALL.mass * G, rel=1e-6)
    sim.run_until(0.205)
    assert abs(sim.velocity[0, 0]) < 5e-3 and not sim.contacts()["sliding"][0]


def test_what_it_loses_is_dissipated_by_sliding():
    """A block that is drawn by a spring sticks and slips; the balance closes with second order."""
    changes, slips = [], []
    for dt in (4e-5, 2e-5):
        sim = block(LAWS[0], dt)

        def draw(t, x, v, q, w):
            return np.array([[2.0 * BALL.mass * G * (0.1 * t - x[0, 0]) / 0.005, 0.0, 0.0]]), 0.0 * w

        sim.forces.add(draw)
        start, states = sim.energy(), []
        for _ in range(100):
            sim.run_until(sim.time + 1e-3)
            states.append(bool(sim.contacts()["sliding"][0]))
        end = sim.energy()
        slips.append(np.sum(np.diff(np.array(states).astype(int)) == 1))
        changes.append(abs(end.balance - start.balance) / end.dissipated_sliding)
        assert end.dissipated_sliding > 0.0
    assert slips[0] == slips[1] == 1 and changes[0] < 1e-7 and 3.5 < changes[0] / changes[1] < 4.5


@pytest.mark.parametrize("law", LAWS)
def test_equal_coefficients_are_coulomb(law):
    """To the last bit, also where it is not given."""
    found = []
    for static, contact in ((0.0, law), (DYNAMIC, law), (0.0, law.replace("sliding=static", "sliding=coulomb"))):
        sim = md.Simulation(replace(MATERIAL, static_friction=static), [FLOOR], contact=contact, dt=2e-5)
        sim.add_clumps(BALL, (0, 0, R), velocity=(0.4, 0, -0.5), angular_velocity=(3.0, 10.0, 1.0))
        sim.run(600)
        found.append((sim.velocity.tobytes(), sim.angular_velocity.tobytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("law", LAWS[:2])
@pytest.mark.parametrize("slip", [0.2, 0.45])
def test_order_in_collisions(law, slip):
    """Balls that hit a plane at an angle, at different instants of a step: of the spin, and of the balance."""
    def after(dt, n):
        sim = md.Simulation(replace(MATERIAL, restitution=1.0), [FLOOR], dt=dt, contact=f"{law},tangential_damping=0")
        place = np.zeros((n, 3))
        place[:, 0], place[:, 2] = 0.1 * np.arange(n), R + (np.arange(n) + 0.5) / n * 0.5 * dt
        sim.add_clumps(BALL, place, velocity=(slip, 0, -0.5))
        start = sim.energy()
        sim.run(20)
        while len(sim.contacts()):
            sim.run(20)
        end = sim.energy()
        return sim.angular_velocity[:, 1], abs(end.balance - start.balance) / start.kinetic

    limit = after(2e-7, 8)[0].mean()
    (coarse, gained), (fine, less) = after(2e-5, 32), after(2.5e-6, 32)
    coarse, fine = (np.sqrt(np.mean((found - limit) ** 2)) for found in (coarse, fine))
    assert fine < coarse / 8.0 ** 0.95 and less < gained / 8.0 ** 1.9      # the drop happens at a pose
