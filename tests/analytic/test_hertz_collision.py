"""Head-on collisions and free fall against closed forms (Johnson, Contact Mechanics, 1985, Eqs 11.24).

With reduced mass m, speed v and k = 4/3 E* sqrt(R*), the overlap obeys m d'' = -k d^(3/2): the largest is
D = (5 m v^2 / (4 k))^(2/5), and the duration (4/5) B(2/5, 1/2) D/v = 2.943275184324706 D/v. It is measured from the
straight lines before and after."""
import numpy as np
import pytest
import scenes
from oblique_impacts import Spheres, duration
from reference_contact import effective_modulus

import minidem as md
from minidem.scenarios.rotating_bodies.driven_bodies import order, rms

STEPS_PER_CONTACT = 20 * 2**np.arange(5)
PHASES = np.array([0.0, 0.2, 0.4, 0.6, 0.8])
CASES = {           # radii, Young's modulus, material of the wall
    "equal spheres": ((0.01, 0.01), 1e9, None), "unequal spheres": ((0.01, 0.07), 1e9, None),
    "dust": ((1e-6, 1e-6), 7e10, None), "soft boulders": ((2.0, 1.0), 1e3, None), "plane": ((0.01,), 1e9, None),
    "hard plane": ((0.01,), 1e9, md.Material(young=2e11, poisson=0.3)),
    "soft plane": ((0.01,), 1e9, md.Material(young=1e7, poisson=0.49))}


def outcomes(radii, young, wall, steps):
    """Relative errors of duration and of the speed of rebound, root mean squares over phases."""
    other = (young, 0.25) if wall is None else (wall.young, wall.poisson)
    modulus, n = effective_modulus(young, 0.25, *other), len(radii)
    speed = 0.02 * np.sqrt(young / 2500.0)              # a fiftieth of that of sound
    scene, dt = Spheres.meeting(radii, speed / n, modulus, steps, phases=PHASES)
    sim = scene.simulation(None, dt, wall, young=young, poisson=0.25)
    sim.run(steps + 10)
    mass, radius = 1 / (1 / scene.mass[0]).sum(), 1 / (1 / np.array(radii)).sum()
    x, v = (rows[:, 2].reshape(-1, n) for rows in (sim.position, sim.velocity))
    apart, rebound = (rows[:, 0] - rows[:, 1] if n == 2 else rows[:, 0] for rows in (x, v))
    time = sim.time - (2 + PHASES) * dt - (apart - sum(radii)) / rebound
    return rms(time / duration(mass, radius, modulus, speed) - 1), rms(rebound / speed - 1)


@pytest.mark.parametrize("name", CASES)
def test_duration_and_rebound(name):
    """The duration is of order 2, the rebound of 5/2: of the steps of first and last touch."""
    times, rebounds = zip(*(outcomes(*CASES[name], steps) for steps in STEPS_PER_CONTACT))
    assert order(times) == pytest.approx(2.0, abs=0.1), times
    assert order(rebounds) == pytest.approx(2.5, abs=0.1), rebounds


def test_free_fall():
    """Exact except for rounding x and v once or twice a step; a clump falls as one mass and does not turn."""
    g, v0, x0 = np.array([0.5, -1.0, -9.81]), np.array([3.0, 2.0, 1.0]), np.array([-7.0, 5.0, 11.0])
    steps, dt = 10_000, 1e-4
    lumpy = scenes.lumpy()
    sim = scenes.Scene([lumpy], x0[None], np.array([[0.5, 0.5, -0.5, 0.5]]), v0[None], np.zeros((1, 3)),
                       gravity=tuple(g)).simulation(dt)
    sim.run(steps)
    t, eps = steps * dt, np.finfo(float).eps
    v_exact, x_exact = v0 + g * t, x0 + v0 * t + 0.5 * g * t**2
    reached = np.max(np.abs([v0, v_exact]))
    assert np.max(np.abs(sim.velocity[0] - v_exact)) < steps * eps * reached
    assert np.max(np.abs(sim.position[0] - x_exact)) < steps * eps * (np.max(np.abs([x0, x_exact])) + reached * t)
    np.testing.assert_allclose(sim.force[0], lumpy.body.mass * g, rtol=4 * eps)
    assert not sim.torque.any() and not sim.angular_velocity.any()
    energy = sim.energy()
    assert energy.potential == pytest.approx(-lumpy.body.mass * g @ sim.position[0], rel=10 * eps)
    assert energy.total == pytest.approx(lumpy.body.mass * (0.5 * v0 @ v0 - g @ x0), rel=steps * eps * 10)
