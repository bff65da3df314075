"""Plastic contacts of Walton and Braun, and of Luding, which attract: restitution, path of the force, energy, order."""
import numpy as np
import pytest

import minidem as md

K, RADIUS = 1e5, 0.01
BALL = md.ClumpTemplate([(0, 0, 0)], [RADIUS], density=2500.0)
ROD = md.ClumpTemplate([(2.0 * RADIUS * k, 0, 0) for k in range(5)], 5 * [RADIUS], density=2500.0)
LAW = f"hooke-coulomb:stiffness={K},plastic=walton-braun"
LUDING = LAW.replace("walton-braun", "luding")


def falling(clump, e, speed, dt, gravity=0.0, contact=LAW, n=8, **material):
    """n clumps that reach a plane at different instants of a step."""
    sim = md.Simulation(md.Material(1e9, 0.2, restitution=e, **material), [md.Plane((0, 0, 0), (0, 0, 1))],
                        contact=contact, dt=dt, gravity=(0.0, 0.0, -gravity))
    place = np.zeros((n, 3))
    place[:, 1], place[:, 2] = 0.1 * np.arange(n), RADIUS + (np.arange(n) + 0.5) / n * speed * dt
    sim.add_clumps(clump, place, velocity=(0.0, 0.0, -speed))
    return sim


def period(e, mass):
    """Of the stiffer spring, over 2 pi [s]."""
    return e * np.sqrt(mass / K)


@pytest.mark.parametrize("e", [1.0, 0.9, 0.5, 0.1])
def test_restitution_at_any_speed(e):
    for speed in 10.0 ** np.arange(-4, 2):
        sim = falling(BALL, e, speed, period(e, BALL.mass) / 50.0)
        start, deepest = sim.energy(), np.sqrt(BALL.mass / K) * speed
        while (sim.velocity[:, 2] < 0.0).any():
            sim.run(1)
        assert np.max(RADIUS - sim.position[:, 2]) == pytest.approx(deepest, rel=2e-3)
        while len(sim.contacts()):
            sim.run(20)
        np.testing.assert_allclose(sim.velocity[:, 2] / speed, e, rtol=1e-3)
        energy = sim.energy()
        assert energy.dissipated == pytest.approx((1.0 - e ** 2) * start.kinetic, abs=1e-3 * start.kinetic)
        assert energy.balance == pytest.approx(start.balance, rel=1e-3)


@pytest.mark.parametrize("mass", ["shared", "single", "clump"])
def test_several_contacts_at_once(mass):
    """A rod of five that falls flat: no mass of a contact plays a role."""
    sim = falling(ROD, 0.5, 0.1, period(0.5, ROD.mass / 5.0) / 50.0, contact=f"{LAW},mass={mass}")
    sim.run(600)
    assert len(sim.contacts()) == 0
    np.testing.assert_allclose(sim.velocity[:, 2] / 0.1, 0.5, rtol=1e-3)


def test_the_path_of_the_force():
    """Loading, unloading, and loading again along the stiffer spring, as a weight brings the ball back."""
    e, speed = 0.6, 0.05
    sim, rows = falling(BALL, e, speed, period(e, BALL.mass) / 200.0, gravity=150.0, n=1), []
    while len(rows) < 3000:
        sim.run(1)
        for contact in sim.contacts():
            rows.append((contact["overlap"], contact["force"][2], contact["energy"]))
    overlap, force, energy = np.array(rows).T
    largest = np.maximum.accumulate(overlap)
    expected = np.maximum(K / e ** 2 * overlap - (K / e ** 2 - K) * largest, 0.0)
    np.testing.assert_allclose(force, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(energy, 0.5 * expected ** 2 * e ** 2 / K, rtol=1e-9, atol=1e-12)
    assert np.sum(np.diff(np.sign(np.diff(overlap))) != 0) >= 4 and (largest > overlap).any()


@pytest.mark.parametrize("friction, slip, kept", [(0.5, 1e-3, -8.75e-4), (0.1, 6e-3, 4.215e-3)])
def test_second_order(friction, slip, kept):
    """Of oblique impacts that stick or slide, root mean squares over phases of the step, from 25 to 200 steps."""
    e, speed = 0.7, 3e-3

    def after(steps, n):
        sim = falling(BALL, e, speed, period(e, BALL.mass) / steps, n=n, friction=friction,
                      contact=f"{LAW},tangential_damping=0")
        sim.set_motion(range(n), velocity=(slip, 0.0, -speed))
        while sim.velocity[:, 2].min() < 0.0 or len(sim.contacts()):
            sim.run(20)
        return np.array([sim.velocity[:, 2], sim.velocity[:, 0] - RADIUS * sim.angular_velocity[:, 1]])

    limit = after(1600, 4).mean(axis=1, keepdims=True)
    assert limit[:, 0] == pytest.approx([e * speed, kept], rel=1e-3)
    coarse, fine = (np.sqrt(np.mean((after(steps, 32) - limit) ** 2, axis=1)) for steps in (25, 200))
    assert (coarse / fine > 8.0 ** 1.8).all()


@pytest.mark.parametrize("e, adhesive, rebound", [
    (0.8, 0.0, 0.8), (0.8, 1.0, np.sqrt(0.64 - 0.36 ** 2 / 1.64)), (0.5, 0.2, np.sqrt(0.25 - 0.2 * 0.75 ** 2 / 1.05)),
    (0.5, 1.0, 0.0)])
def test_restitution_of_contacts_that_attract(e, adhesive, rebound):
    """What is left of the kinetic energy over that of loading: e^2 - k_c/k (1 - e^2)^2 / (1 + k_c/k_2); if it is
    negative, the ball stays, and oscillates without loss once d_max has ceased to fall."""
    for speed in (1e-3, 1.0):
        sim = falling(BALL, e, speed, period(e, BALL.mass) / 200.0, contact=f"{LUDING},adhesive_stiffness={adhesive}")
        start = sim.energy()
        sim.run(3000)
        energy = sim.energy()
        assert energy.balance == pytest.approx(start.balance, rel=2e-4)
        if rebound:
            assert len(sim.contacts()) == 0
            np.testing.assert_allclose(sim.velocity[:, 2] / speed, rebound, rtol=2e-3)
        else:
            assert len(sim.contacts()) == len(sim.ids)
            sim.run(3000)
            assert sim.energy().dissipated == pytest.approx(energy.dissipated, rel=1e-6)


def test_the_path_of_a_force_that_attracts():
    """Of a ball that a plane presses and pulls: eq. 4 of Luding 2008, with d_max that falls along the limit."""
    e, adhesive, stiff = 0.6, 0.8, K / 0.36
    plane = md.Plane((0, 0, 0), (0, 0, 1), motion=md.Oscillation((0.0, 0.0, 2e-5), 50.0))
    sim = md.Simulation(md.Material(1e9, 0.2, restitution=e), [plane], dt=1e-6,
                        contact=f"{LUDING},adhesive_stiffness={adhesive}")
    sim.add_clumps(BALL.with_density(2.5e9), [(0.0, 0.0, RADIUS - 1e-6)])       # so heavy that it stays
    rows, largest, expected, start = [], 0.0, [], sim.energy().balance
    sim.run(41_000, every=1, callback=lambda sim: rows.extend(
        (sim.step_count, one["overlap"], one["force"][2], one["energy"]) for one in sim.contacts()))
    step, overlap, force, energy = np.transpose(rows)
    for d, begins in zip(overlap, np.append(True, np.diff(step) > 1)):
        largest = d if begins else max(largest, d)
        spring = stiff * (d - (1.0 - e * e) * largest)
        if spring < -adhesive * K * d:
            largest = d * (1.0 + adhesive * K / stiff) / (1.0 - e * e)
        expected.append(max(spring, -adhesive * K * d))
    np.testing.assert_allclose(force, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(energy, 0.5 * np.square(expected) / stiff, rtol=1e-7, atol=1e-14)
    attracts, presses = np.array(expected) < 0.0, np.array(expected) > 0.0
    assert attracts.sum() > 1000 and presses.sum() > 1000
    assert abs(sim.energy().balance - start) < 1e-4 * sim.energy().dissipated


def test_second_order_with_attraction():
    """Of impacts, root mean squares over phases of the step, from 25 to 200 steps."""
    def after(steps):
        sim = falling(BALL, 0.7, 0.1, period(0.7, BALL.mass) / steps, n=32, contact=f"{LUDING},adhesive_stiffness=0.5")
        while sim.velocity[:, 2].min() < 0.0 or len(sim.contacts()):
            sim.run(20)
        return sim.velocity[:, 2] / 0.1 - np.sqrt(0.49 - 0.5 * 0.51 ** 2 / 1.245)
    coarse, fine = (np.sqrt(np.mean(after(steps) ** 2)) for steps in (25, 200))
    assert coarse / fine > 8.0 ** 1.8
