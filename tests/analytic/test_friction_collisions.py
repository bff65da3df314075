"""Collisions, elastic, with damping and with friction, against closed forms. The benchmarks of Chung and Ooi:
oblique_impact.py; a sphere that slides and rolls: incline.py."""
import numpy as np
import pytest
import scenes
from oblique_impacts import Law, Spheres, duration, simulation
from reference_contact import effective_modulus
from scenes import ball
from scipy.integrate import solve_ivp

import minidem as md
from minidem.scenarios.collisions.chung_ooi import OXIDE, TEST_4
from minidem.scenarios.rotating_bodies.driven_bodies import order, rms

UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize("restitution", np.arange(1, 11) / 10)
def test_restitution(restitution):
    """Within 3e-4 at fifty steps per elastic contact, at all fractions of a step."""
    law, modulus = Law(restitution), effective_modulus(1e9, 0.3, 1e9, 0.3)
    for radii in (0.01,), (0.01, 0.01), (0.01, 0.03), (0.01, 0.1):
        for speed in 0.01, 1.0, 10.0:
            scene, dt = Spheres.meeting(radii, speed, modulus)
            v, w = scene.after(law, dt, 400)
            relative = (v[:, 0] - np.roll(v, 1, 1)[:, 0] * (len(radii) > 1))[:, 2]
            np.testing.assert_allclose(relative / (speed * len(radii)), restitution, rtol=0, atol=3e-4)
            assert not w.any() and np.max(np.abs(v[..., :2])) == 0.0


@pytest.mark.parametrize("tangential, found", [("mindlin", (0.94, 0.690)), ("rescale", (0.854, 0.703))])
def test_tangential_restitution_at_small_angles(tangential, found):
    """At 5 and 10 degrees codes with tangential=mindlin have 0.94 and 0.690 in test 4 of Chung and Ooi."""
    law = Law(**TEST_4, tangential_damping=0.0, tangential=tangential)
    material = {"young": OXIDE.material.young, "poisson": OXIDE.material.poisson}
    for angle, expected in zip(np.radians([5.0, 10.0]), found):
        normal, along = OXIDE.speed * np.cos(angle), OXIDE.speed * np.sin(angle)
        modulus = effective_modulus(*2 * tuple(material.values()))
        scene, dt = Spheres.meeting((OXIDE.radius,), normal, modulus, 200, OXIDE.density, along, (0.5,))
        v, _ = scene.after(law, dt, 300, **material)
        assert v[0, 0, 0] / along == pytest.approx(expected, rel=0.02)


def impulses(restitution):
    """(repulsion, attraction) of a damped Hertz contact, relative to the sum, by integrating x'' = -F(x, x')."""
    damping = np.sqrt(5) * Law(restitution).beta
    def rates(_, y):
        overlap = max(y[0], 0.0)
        force = overlap**1.5 + damping * overlap**0.25 * y[1]
        return [y[1], -force, max(force, 0.0), max(-force, 0.0)]
    def end(_, y):
        return y[0]
    end.terminal, end.direction = True, -1.0
    start = [1e-12, 1.0, 0.0, 0.0]
    y = solve_ivp(rates, (0.0, 100.0), start, events=end, rtol=1e-9, atol=1e-12, max_step=0.01).y[:, -1]
    assert -y[1] == pytest.approx(restitution, rel=1e-3)
    return y[2:] / (y[2] - y[3])


@pytest.mark.parametrize("restitution", [0.6, 0.3])
def test_friction_under_attraction(restitution):
    """Sliding throughout: mu times the repulsive part of the impulse, or with magnitude both parts."""
    repulsion, attraction = impulses(restitution)
    tangential = 1e-4 * np.tan(np.radians(70.0))
    for limit, expected in (("repulsion", repulsion), ("magnitude", repulsion + attraction)):
        law = Law(restitution, 0.2, friction_limit=limit)
        scene, dt = Spheres.meeting(np.array([0.01]), 1e-4, effective_modulus(1e9, 0.3, 1e9, 0.3), 200,
                            tangential=tangential)
        change = scene.after(law, dt, 800)[0] - scene.velocity
        np.testing.assert_allclose(np.abs(change[..., 0] / change[..., 2]), 0.2 * expected, rtol=2e-3)


STIFF, RADIUS = 1e9, 0.01         # Young's modulus [Pa], [m]


def test_dashpots_before_the_first_step():
    """Of a sphere that spins on a plane: springs are zero; dashpots act with the given velocities."""
    law, overlap, spin = Law(0.5, 10.0, 0.3, tangential_damping=0.7, rolling_damping=0.2), 1e-5, 0.1
    shape, radius = ball(RADIUS), np.sqrt(RADIUS * overlap)
    modulus, mass = effective_modulus(STIFF, 0.3, STIFF, 0.3), shape.body.mass
    sim = simulation(law, 1e-6, [md.Plane([0.0] * 3, UP)], young=STIFF)
    sim.add_clumps(shape.template, [[0.0, 0.0, RADIUS - overlap]], angular_velocity=[[0.0, spin, 0.0]])
    contact, = sim.contacts()
    stiffness, rolling = 4 / 3 * modulus * radius, 2.25 * 0.3**2 * RADIUS**2 * 2 * modulus * radius
    slip = np.sqrt(5) * law.beta * np.sqrt(mass * stiffness) * spin * (RADIUS - overlap)
    couple = -0.4 * np.sqrt(1.4 * mass * RADIUS**2 * rolling) * spin
    np.testing.assert_allclose(contact["force"], [0.7 * slip, 0.0, stiffness * overlap], rtol=1e-12)
    np.testing.assert_allclose(contact["couple"], [0.0, couple, 0.0], rtol=1e-12)
    assert not contact["sliding"]


def test_the_spring_turns_with_the_spin():
    """With half of the spin about the normal: T' = -k u + i W T, so that T = k u (1 - exp(i W t)) / (i W)."""
    spin, speed = 10.0, 1e-4
    sim = simulation(Law(1.0, 10.0, stiffness=1.0), 2e-3, [md.Plane([0.0] * 3, UP)])
    sim.add_clumps(ball(RADIUS, density=1e12).template, [[0.0, 0.0, 0.9 * RADIUS]], velocity=[[speed, 0.0, 0.0]],
                   angular_velocity=[[0.0, 0.0, spin]])
    for time in 3.0, 7.0, 10.0:
        sim.run_until(time)
        expected = 2 / 7 * speed * (1 - np.exp(0.5j * spin * sim.time)) / (0.5j * spin)
        x, y, _ = sim.contacts()["tangential"][0]
        assert abs(x + 1j * y - expected) < 0.01 * 2 / 7 * speed / spin


def test_mercurydpm_mindlin_self_test():
    """MercuryDPM prints 0.0200031141978808 m/s and 12.4983210042401 rad/s for a steel sphere that slides from rest."""
    steel, soft = md.Material(210e9, 0.2), md.Material(1e9, 0.2)
    sim = md.Simulation(steel, [md.Plane([0.0] * 3, UP, material=soft)], contact="hertz-mindlin", dt=5e-7,
                        gravity=(5.0, 0.0, -5.0), pairs=[md.Pair(steel, soft, restitution=0.4, friction=0.2)])
    sim.add_clumps(ball(1e-3, density=7200.0).template, [[0.0, 0.0, 1e-3]])
    sim.run(10_001)
    assert sim.velocity[0, 0] == pytest.approx(0.0200031141978808, rel=2e-4)
    assert sim.angular_velocity[0, 1] == pytest.approx(12.4983210042401, rel=3e-4)
    assert sim.position[0, 0] == pytest.approx(5.00201149456655e-5, rel=2e-4)
    assert sim.position[0, 2] == pytest.approx(0.999977169022224e-3, abs=2e-10)
    contact, = sim.contacts()
    assert contact["sliding"] and np.linalg.norm(contact["tangential"]) == pytest.approx(3.0159e-5, rel=1e-3)


# --- Elastic collisions, and free fall (Johnson, Contact Mechanics, 1985, Eqs 11.24).

# With reduced mass m, speed v and k = 4/3 E* sqrt(R*), the overlap obeys m d'' = -k d^(3/2): the largest is
# D = (5 m v^2 / (4 k))^(2/5), and the duration (4/5) B(2/5, 1/2) D/v = 2.943275184324706 D/v. It is measured from the
# straight lines before and after.
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


@pytest.mark.parametrize("spring, spin", [("rescale", 0.344), ("mindlin", 0.032),
                                          ("mindlin-rescale", 0.269), (None, 0.269)])
def test_tangential_springs_of_lammps(spring, spin):
    """Spin after an elastic impact that sticks: coming_from.md. None: mindlin_rescale, whose displacement shrinks."""
    speed, radius, poisson, angle = 0.01, 1e-3, 0.3, np.radians(10.0)
    ball = md.ClumpTemplate([(0, 0, 0)], [radius], density=2500.0)
    modulus = 1e9 / (2.0 * (1.0 - poisson**2))
    time = 2.94 * (15 / 16 * ball.mass / (modulus * np.sqrt(radius)))**0.4 * (speed * np.cos(angle))**-0.2
    if spring:
        sim = md.Simulation(md.Material(1e9, poisson, friction=10.0, restitution=1.0), [md.Plane((0, 0, 0), (0, 0, 1))],
                            contact=f"hertz-mindlin:tangential={spring}", dt=time / 400)
        sim.add_clumps(ball, (0, 0, radius), velocity=(speed * np.sin(angle), 0, -speed * np.cos(angle)))
        sim.run(500)
        found = sim.angular_velocity[0, 1] * radius
    else:
        d, a, xi, rate, v, surface = 0.0, 0.0, 0.0, speed * np.cos(angle), speed * np.sin(angle), 0.0
        dt, k = time / 4000, 4.0 * modulus * (1.0 - poisson) / (2.0 - poisson)
        while d >= 0.0:
            d += rate * dt
            last, a = a, np.sqrt(radius * max(d, 0.0))
            xi = xi * min(a / last, 1.0) + (v - surface) * dt if last else (v - surface) * dt
            rate -= 4.0 / 3.0 * modulus * a * d / ball.mass * dt
            v -= k * a * xi / ball.mass * dt
            surface += k * a * xi / (0.4 * ball.mass) * dt
        found = surface
    assert found / (speed * np.sin(angle)) == pytest.approx(spin, abs=3e-3)
