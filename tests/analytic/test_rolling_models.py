"""Rolling resistance of constant torque, and the dashpot of the elastic-plastic model beyond its limit."""
import numpy as np
import pytest

import minidem as md

R, G, ROLLING = 0.01, 9.81, 0.05
BALL = md.ClumpTemplate([(0, 0, 0)], [R], density=2500.0)
LAWS = ["hertz-mindlin", "hooke-coulomb:stiffness=1e5"]
FLOOR = md.Plane((0, 0, 0), (0, 0, 1))


def rolling(law, options, speed=0.5, dt=2e-5, slope=0.0, friction=0.8, **settings):
    """A ball that rests on a plane and rolls without slip."""
    material = md.Material(1e8, 0.3, restitution=0.5, friction=friction, rolling_friction=ROLLING)
    sim = md.Simulation(material, [FLOOR], contact=f"{law}{',' if ':' in law else ':'}{options}", dt=dt,
                        gravity=(G * np.sin(slope), 0, -G * np.cos(slope)), **settings)
    load, modulus = BALL.mass * G * np.cos(slope), md.effective_modulus(material, material)
    overlap = load / 1e5 if "hooke" in law else (0.75 * load / (modulus * R ** 0.5)) ** (2 / 3)
    sim.add_clumps(BALL, (0, 0, R - overlap), velocity=(speed, 0, 0), angular_velocity=(0, speed / (R - overlap), 0))
    return sim


@pytest.mark.parametrize("law", LAWS)
def test_a_constant_couple_slows_a_ball_down(law):
    """With 5/7 mu_r g, whatever the speed, until it stands; what it loses is dissipated by rolling."""
    sim = rolling(law, "rolling=constant")
    start = sim.energy()
    sim.run_until(0.5)
    assert sim.velocity[0, 0] == pytest.approx(0.5 - 5.0 / 7.0 * ROLLING * G * 0.5, rel=3e-3)
    sim.run_until(1.6)
    end = sim.energy()
    assert np.abs(sim.velocity).max() < 1e-6 and np.abs(sim.angular_velocity).max() < 1e-4
    assert end.dissipated_rolling == pytest.approx(start.kinetic, rel=1e-2)
    assert end.balance == pytest.approx(start.balance, abs=1e-4 * start.kinetic)


def test_a_slope():
    """Steeper than mu_r it rolls down with 5/7 g (sin - mu_r cos); on a less steep one it creeps the less, the smaller
    the step is: a couple against the rotation holds nothing at rest, and a spring does."""
    sim = rolling("hertz-mindlin", "rolling=constant", 0.0, slope=0.2)
    sim.run_until(0.5)
    expected = 5.0 / 7.0 * G * (np.sin(0.2) - ROLLING * np.cos(0.2)) * 0.5
    assert sim.velocity[0, 0] == pytest.approx(expected, rel=5e-3)
    crept = []
    for options, dt in (("rolling=constant", 2e-5), ("rolling=constant", 1e-5), ("rolling=epsd", 2e-5)):
        sim = rolling("hertz-mindlin", options, 0.0, dt, slope=0.02)
        sim.run_until(0.5)
        crept.append(sim.velocity[0, 0])
    assert crept[1] == pytest.approx(0.5 * crept[0], rel=0.05) and 0.0 < crept[0] < 1e-3 and abs(crept[2]) < 1e-6


@pytest.mark.parametrize("law", LAWS)
def test_order_of_a_constant_couple(law):
    """Balls that hit a plane while they spin, at different instants of a step: of spin and balance."""
    def after(dt, n):
        material = md.Material(1e8, 0.3, friction=0.3, rolling_friction=ROLLING)
        sim = md.Simulation(material, [FLOOR], dt=dt,
                            contact=f"{law}{',' if ':' in law else ':'}rolling=constant,tangential_damping=0")
        place = np.zeros((n, 3))
        place[:, 0], place[:, 2] = 0.1 * np.arange(n), R + (np.arange(n) + 0.5) / n * 0.5 * dt
        sim.add_clumps(BALL, place, velocity=(0, 0, -0.5), angular_velocity=(0, 200.0, 0))
        start = sim.energy()
        sim.run(20)
        while len(sim.contacts()):
            sim.run(20)
        end = sim.energy()
        assert end.dissipated_rolling > 0.0
        return sim.angular_velocity[:, 1], abs(end.balance - start.balance) / start.rotational

    limit = after(1e-7, 4)[0].mean()
    (coarse, gained), (fine, less) = after(1e-5, 32), after(1.25e-6, 32)
    coarse, fine = (np.sqrt(np.mean((found - limit) ** 2)) for found in (coarse, fine))
    assert fine < coarse / 8.0 ** 1.8 and less < gained / 8.0 ** 1.8


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_the_dashpot_beyond_the_limit(law, part):
    """The ball is slowed by limit and a part of the dashpot: dw/dt = -(limit + f c w) / I."""
    sim = rolling(law, f"rolling=epsd,rolling_damping=0.05,mobilised_damping={part}", friction=5.0)
    start = sim.energy()
    sim.run_until(0.02)
    first, since = sim.angular_velocity[0, 1], sim.time
    material = sim.material
    overlap = R - sim.position[0, 2]
    stiffness = 1e5 if "hooke" in law else 2.0 * md.effective_modulus(material, material) * np.sqrt(R * overlap)
    inertia = 1.4 * BALL.mass * R ** 2
    c = part * 2.0 * 0.05 * np.sqrt(inertia * 2.25 * ROLLING ** 2 * R ** 2 * stiffness)
    limit = ROLLING * R * BALL.mass * G
    sim.run_until(0.1)
    t = sim.time - since
    expected = first - limit / inertia * t if not c else (first + limit / c) * np.exp(-c / inertia * t) - limit / c
    assert sim.angular_velocity[0, 1] == pytest.approx(expected, rel=5e-3)
    sim.run_until(0.3)
    assert sim.energy().balance == pytest.approx(start.balance, abs=1e-4 * start.kinetic)
