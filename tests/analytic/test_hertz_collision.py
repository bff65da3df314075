"""Head-on collisions and free fall against closed forms (Johnson, Contact Mechanics, 1985, Eqs 11.24).

With reduced mass m, speed v and k = 4/3 E* sqrt(R*), the overlap obeys m d'' = -k d^(3/2): the largest is
D = (5 m v^2 / (4 k))^(2/5), and the duration (4/5) B(2/5, 1/2) D/v = 2.943275184324706 D/v. It is measured from the
straight lines before and after."""
from dataclasses import dataclass

import numpy as np
import pytest
import scenes
from reference_contact import effective_modulus
from scipy.special import beta

import minidem as md
from minidem.scenarios.rotating_bodies.driven_bodies import order, rms

DURATION_FACTOR = 0.8 * beta(0.4, 0.5)
DIRECTION = np.array([[2.0, -3.0, 6.0]]) / 7.0       # along no axis of anything
STEPS_PER_CONTACT = 20 * 2**np.arange(5)


@dataclass
class Case:
    """A sphere of radius `radius` against another one of `partner` times its radius, or a plane if that is infinite."""
    radius: float
    young: float
    poisson: float = 0.25
    partner: float = 1.0
    wall: md.Material | None = None

    def __post_init__(self):
        other = self.wall or md.Material(young=self.young, poisson=self.poisson)
        modulus = effective_modulus(self.young, self.poisson, other.young, other.poisson)
        self.ball = scenes.ball(self.radius)
        self.partners = [] if np.isinf(self.partner) else [scenes.ball(self.radius * self.partner)]
        self.mass = 1 / (1 / self.ball.body.mass + sum(1 / ball.body.mass for ball in self.partners))
        self.speed = 0.02 * np.sqrt(self.young / 2500.0)     # a fiftieth of that of sound: D/R 0.05 to 0.4
        self.k = 4 / 3 * modulus * np.sqrt(self.radius / (1 + 1 / self.partner))
        self.overlap = (1.25 * self.mass * self.speed**2 / self.k)**0.4
        self.duration = DURATION_FACTOR * self.overlap / self.speed

    def simulation(self, steps_per_contact, phase):
        """First touch after 3 + phase steps. The line of centres passes through the origin, where the plane is."""
        dt = self.duration / steps_per_contact
        gap = (3 + phase) * dt * self.speed
        share = [self.mass / self.ball.body.mass] + [-self.mass / ball.body.mass for ball in self.partners]
        start = [self.radius + gap] + [-ball.reach for ball in self.partners]
        n = len(start)
        orientation, still = np.tile([0.6, 0.0, 0.8, 0.0], (n, 1)), np.zeros((n, 3))
        walls = [] if self.partners else [md.Plane([0.0] * 3, DIRECTION[0], self.wall)]
        return scenes.Scene([self.ball, *self.partners], np.outer(start, DIRECTION), orientation,
                            np.outer(share, -self.speed * DIRECTION), still, walls, self.young,
                            self.poisson).simulation(dt)

    def separation(self, values):
        """Component along the line of centres, of the first sphere relative to the second or to the plane."""
        along = values @ DIRECTION[0]
        return along[0] - (along[1] if self.partners else 0.0)


CASES = {
    "equal spheres": Case(radius=0.01, young=1e9),
    "unequal spheres": Case(radius=0.01, young=1e9, partner=7.0),
    "dust": Case(radius=1e-6, young=7e10),
    "soft boulders": Case(radius=2.0, young=1e3, partner=0.5),
    "plane": Case(radius=0.01, young=1e9, partner=np.inf),
    "hard plane": Case(radius=0.01, young=1e9, partner=np.inf, wall=md.Material(young=2e11, poisson=0.3)),
    "soft plane": Case(radius=0.01, young=1e9, partner=np.inf, wall=md.Material(young=1e7, poisson=0.49)),
}


def outcome(case, steps_per_contact, phase):
    """Relative errors of duration and of the speed of rebound."""
    sim = case.simulation(steps_per_contact, phase)
    sim.run(steps_per_contact + 10)
    rebound = case.separation(sim.velocity)
    gap = case.separation(sim.position) - case.radius * (1 + (case.partner if case.partners else 0))
    touch = (3 + phase) * sim.dt
    return (sim.time - touch - gap / rebound) / case.duration - 1, rebound / case.speed - 1


@pytest.mark.parametrize("name", CASES)
def test_duration_and_rebound(name):
    """The duration is of order 2, the rebound of 5/2: of the steps of first and last touch, where the force is not
    smooth. Mean over phases. A wrong modulus, radius or mass would leave a rest."""
    phases = 0.0, 0.2, 0.4, 0.6, 0.8
    found = np.array([[outcome(CASES[name], n, phase) for phase in phases] for n in STEPS_PER_CONTACT])
    duration, rebound = ([rms(row) for row in found[:, :, kind]] for kind in range(2))
    assert order(duration) == pytest.approx(2.0, abs=0.1), duration
    assert order(rebound) == pytest.approx(2.5, abs=0.1), rebound


def test_free_fall(lumpy):
    """Exact but for rounding x and v once or twice a step; a clump falls as one mass and does not turn."""
    g, v0, x0 = np.array([0.5, -1.0, -9.81]), np.array([3.0, 2.0, 1.0]), np.array([-7.0, 5.0, 11.0])
    steps, dt = 10_000, 1e-4
    sim = scenes.Scene([lumpy], x0[None], np.array([[0.5, 0.5, -0.5, 0.5]]), v0[None], np.zeros((1, 3)),
                       gravity=tuple(g)).simulation(dt)
    sim.run(steps)
    t, eps = steps * dt, np.finfo(float).eps
    v_exact = v0 + g * t
    x_exact = x0 + v0 * t + 0.5 * g * t**2
    reached = np.max(np.abs([v0, v_exact]))
    assert np.max(np.abs(sim.velocity[0] - v_exact)) < steps * eps * reached
    farthest = np.max(np.abs([x0, x_exact])) + reached * t
    assert np.max(np.abs(sim.position[0] - x_exact)) < steps * eps * farthest
    np.testing.assert_allclose(sim.force[0], lumpy.body.mass * g, rtol=4 * eps)
    assert not sim.torque.any() and not sim.angular_velocity.any()
    energy = sim.energy()
    assert energy.potential == pytest.approx(-lumpy.body.mass * g @ sim.position[0], rel=10 * eps)
    start = lumpy.body.mass * (0.5 * v0 @ v0 - g @ x0)
    assert energy.total == pytest.approx(start, rel=steps * eps * 10)
