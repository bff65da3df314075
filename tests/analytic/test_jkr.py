"""Adhesive contacts: formulas against Johnson, Kendall and Roberts' in 50 digits; collisions of eight contacts at once
with the law alone: restitution, sticking speed, and the energy that touch and tear-off lose."""
from decimal import Decimal, localcontext
from math import pi, sqrt

import numpy as np
import pytest

import minidem as md
from minidem.contact.columns import (
    COEFFICIENTS,
    DISSIPATED,
    FORCE,
    GOES_ON,
    MASS as OF_MASS,
    MIDDLE_NORMAL,
    NORMAL,
    OVERLAP,
    RADIUS as OF_RADIUS,
    STEP,
    VELOCITY,
)
from minidem.contact.pair_table import PROPERTIES, PairTable
from minidem.contact.parts.jkr import jkr_curves, jkr_limits, length_root, sticking_speed

CASES = {"glass": (1e-3, 3.5e10, 0.05), "soft": (2e-3, 1e7, 0.5), "virus": (1e-7, 1e9, 0.1), "weak": (5.0, 1e6, 1e-9)}
# of the overlap over the gap of tear-off, from next to it to deep
NEAR = -1.0 + np.logspace(-13, -1, 13)
PLACES = np.concatenate([NEAR, [-0.5, -0.1, -1e-9, 0.0, 1e-9], np.logspace(-3, 14, 18)])


def reference(overlap, radius, modulus, adhesion):
    """(radius of the contact, force, energy) by bisection on the stable branch, in Decimal."""
    with localcontext() as context:
        context.prec = 50
        d, r, e, w = map(Decimal, (float(overlap), radius, modulus, adhesion))
        pi50 = Decimal("3.14159265358979323846264338327950288419716939937511")
        s = (2 * pi50 * w / e).sqrt()
        low = (s * r / 4) ** (Decimal(1) / 3)
        high = low + (abs(d) * r).sqrt().sqrt() + 4 * low
        for _ in range(170):
            x = (low + high) / 2
            low, high = (x, high) if x**4 / r - s * x < d else (low, x)
        a = x * x
        force = 4 * e * a**3 / (3 * r) - (8 * pi50 * w * e * a**3).sqrt()
        elastic = 8 * e * a**5 / (15 * r * r) - (32 * pi50 * w * e * a**7 / 9).sqrt() / r + pi50 * w * a * a
        return float(a), float(force), float(elastic)


@pytest.mark.parametrize("case", CASES)
def test_the_stable_branch(case):
    """Radius, force and energy within 1e-12 up to 1e-6 gaps from tear-off, from there on as the overlap is rounded."""
    of_case = CASES[case]
    limits = jkr_limits(*of_case)
    overlaps = PLACES * limits["gap"]
    found, right = jkr_curves(overlaps, *of_case), np.array([reference(d, *of_case) for d in overlaps])
    lost = limits["lost_at_touch"] + limits["lost_at_tear_off"]
    scale = np.maximum(np.abs(right), [0.0, limits["pull_off"], lost])
    bound = 1e-14 + 1e-15 / np.sqrt(1.0 + np.minimum(PLACES, 0.0))
    assert (np.abs(found - right) <= bound[:, None] * scale).all()


@pytest.mark.parametrize("case", CASES)
def test_limits(case):
    """Pull-off, touch and tear-off; the integral of the force is the energy."""
    radius, modulus, adhesion = CASES[case]
    limits = jkr_limits(radius, modulus, adhesion)
    pull_off, gap = 1.5 * pi * adhesion * radius, limits["gap"]
    assert limits["pull_off"] == pytest.approx(pull_off, rel=1e-14)
    a_0 = (9 * pi * adhesion * radius**2 / (2 * modulus)) ** (1 / 3)        # without load
    assert gap == pytest.approx(a_0**2 / (2 * 6 ** (1 / 3) * radius), rel=1e-14)
    (a, touch, energy), (_, torn, held), (_, beyond, _) = jkr_curves([0.0, -gap, -3 * gap], *CASES[case])
    assert a**3 == pytest.approx(2 * pi * adhesion * radius**2 / modulus, rel=1e-14)
    assert (touch / pull_off, torn / pull_off) == (pytest.approx(-8 / 9, rel=1e-14), pytest.approx(-5 / 9, rel=1e-14))
    assert beyond == torn
    assert (-energy, held) == pytest.approx((limits["lost_at_touch"], limits["lost_at_tear_off"]), rel=1e-13)
    scale = (adhesion**5 * radius**4 / modulus**2) ** (1 / 3)
    assert (held - energy) / scale == pytest.approx(7.09, abs=5e-3)
    # substituted d = -gap + t^2: the force has the slope of a root at tear-off
    t, weights = np.polynomial.legendre.leggauss(40)
    top = sqrt(20 * gap)
    t, weights = 0.5 * top * (t + 1.0), 0.5 * top * weights
    overlaps = t * t - gap
    forces = jkr_curves(overlaps, *CASES[case])[:, 1]
    assert np.min(forces) == pytest.approx(-pull_off, rel=1e-2) and np.min(forces) >= -pull_off * (1 + 1e-14)
    [end] = jkr_curves([top**2 - gap], *CASES[case])[:, 2]
    assert held + np.sum(2 * t * weights * forces) == pytest.approx(end, rel=1e-10)


def test_formulas_without_adhesion_are_those_of_hertz():
    """At w -> 0, in radius, force and energy."""
    radius, modulus, overlap = 2e-3, 1e9, 1e-5
    a = sqrt(radius * overlap)
    [found] = jkr_curves([overlap], radius, modulus, 1e-40)
    assert found == pytest.approx([a, 4 / 3 * modulus * a * overlap, 8 / 15 * modulus * a * overlap**2], rel=1e-13)


def test_helpers():
    assert length_root(2e9, 0.3) == pytest.approx(sqrt(2 * pi * 0.3 / 2e9), rel=1e-15)
    speed = sqrt(14.18 / 1e-5) * (0.1**5 * 1e-3**4 / 1e9**2) ** (1 / 6)
    assert sticking_speed(1e-5, 1e-3, 1e9, 0.1) == pytest.approx(speed, rel=5e-4)


RADIUS, MASS, YOUNG, ADHESION = 1e-3, 1e-5, 2e8, 0.2
LAW = "hertz-mindlin:cohesion=jkr,tangential_damping=0"
MATERIAL = md.Material(YOUNG, 0.3, adhesion=ADHESION)
MODULUS = md.effective_modulus(MATERIAL, MATERIAL)
STICKING = sticking_speed(MASS, RADIUS, MODULUS, ADHESION)
LIMITS = jkr_limits(RADIUS, MODULUS, ADHESION)
ENERGY = 0.5 * MASS * STICKING**2


def contact_time(speed):
    """Of a Hertz contact [s]."""
    return 2.868 * (MASS**2 / (RADIUS * MODULUS**2 * speed)) ** 0.2


def rebounds(speed, steps, phases=4, material=MATERIAL, law=LAW):
    """Restitution and error of the energy balance over the initial energy, over phases of the step."""
    found = []
    for k in range(phases):
        dt = contact_time(speed) / steps
        collisions = Collisions(law, material, RADIUS, MASS)
        phase = (np.arange(8) * phases + k + 0.5) / (8 * phases)
        collisions.collide(-phase * speed * dt, speed, dt, 4 * steps)
        assert not collisions.history.any()             # apart
        found.append((-collisions.speed / speed, (collisions.speed / speed) ** 2 - 1.0
                      + collisions.lost / (0.5 * MASS * speed**2)))
    return np.concatenate(found, axis=1)


@pytest.mark.parametrize("times, bound", [(1.5, 3e-3), (4.0, 1e-3)])
def test_restitution_of_undamped_collisions(times, bound):
    """e^2 = 1 - (v_s / v)^2, with a mean error and a scatter below the bound at 25 steps, which fall with order 1.5."""
    exact, errors, balances = sqrt(1.0 - 1.0 / times**2), [], []
    for steps in (25, 100, 400):
        e, balance = rebounds(times * STICKING, steps)
        errors.append(np.sqrt(np.mean((e - exact) ** 2)))
        balances.append(np.sqrt(np.mean(balance**2)))
    assert errors[0] < bound and balances[0] < bound
    for of_steps in errors, balances:
        assert np.log(of_steps[0] / of_steps[-1]) / np.log(16) > 1.45


def test_what_a_collision_loses():
    """7.09 (w^5 R*^4 / E*^2)^(1/3), of it -U at touch: booked at once."""
    collisions = Collisions(LAW, MATERIAL, RADIUS, MASS)
    dt = contact_time(3 * STICKING) / 50
    collisions.collide(-0.3 * dt * STICKING, 3 * STICKING, dt, 1)
    assert collisions.lost == pytest.approx(LIMITS["lost_at_touch"], rel=1e-12)
    collisions.collide(collisions.overlap, collisions.speed, dt, 200)
    assert collisions.lost == pytest.approx(ENERGY, rel=1e-12)
    assert pytest.approx(7.09 * (ADHESION**5 * RADIUS**4 / MODULUS**2) ** (1 / 3), rel=5e-4) == ENERGY


def test_sticking_speed():
    """By bisection of eight speeds at a time: within 0.5 % with 100 steps per contact."""
    low, high = 0.5 * STICKING, 2.0 * STICKING
    dt = contact_time(STICKING) / 100
    for _ in range(3):
        speeds = np.linspace(low, high, 10)
        collisions = Collisions(LAW, MATERIAL, RADIUS, MASS)
        collisions.collide(-0.5 * STICKING * dt, speeds[1:-1], dt, 600)
        sticks = collisions.history.any(axis=(0, 1))
        assert (np.diff(sticks.astype(int)) <= 0).all()
        low, high = speeds[np.count_nonzero(sticks)], speeds[np.count_nonzero(sticks) + 1]
    assert 0.5 * (low + high) == pytest.approx(STICKING, rel=5e-3)


def test_a_bound_pair_keeps_its_energy():
    """Below the sticking speed the contact oscillates across d = 0 for ever."""
    dt = contact_time(STICKING) / 100
    collisions, energies = Collisions(LAW, MATERIAL, RADIUS, MASS), []
    collisions.collide(-np.arange(8) / 8 * 0.6 * STICKING * dt, 0.6 * STICKING, dt, 3000, lambda speed: energies.append(
        0.5 * MASS * speed**2 + collisions.elastic() + collisions.lost))
    assert np.min(collisions.overlap) < 0.0 and collisions.history.any()
    # the mean speed of the first step is not that at the pose: the force acts from the touch on
    assert np.max(np.abs(np.array(energies[1:]) / (0.36 * ENERGY) - 1.0)) < 2e-3


def test_forces():
    """At given overlaps: contacts go on as far as tear-off, and begin at touch only."""
    collisions = Collisions(LAW, MATERIAL, RADIUS, MASS)
    places = np.array([-1.001, -0.999, -0.5, -1e-9, 1e-9, 1.0, 10.0, 100.0])
    collisions.overlap, collisions.speed = places * LIMITS["gap"], np.zeros(8)
    curves = jkr_curves(collisions.overlap, RADIUS, MODULUS, ADHESION)
    for known in (False, True):
        if known:
            collisions.history[0, 3] = 1e-6
        goes_on = places > (-1.0 if known else 0.0)
        assert np.allclose(collisions.elastic(), goes_on * curves[:, 2], rtol=1e-12, atol=0.0)
        collisions.evaluate(0.0)
        assert np.allclose(collisions.force, goes_on * curves[:, 1], rtol=1e-12, atol=0.0)
        assert np.allclose(collisions.history[0, 3], goes_on * curves[:, 0], rtol=1e-12, atol=0.0)
        assert not collisions.lost.any()


@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_without_adhesion_it_is_hertz(restitution):
    """Restitution of pairs without adhesion, where others have it; and its limit."""
    like = md.Material(YOUNG, 0.3, restitution=restitution)
    [e, _], [plain, _] = (rebounds(0.1, 25, 1, like, law) for law in (LAW, "hertz-mindlin:tangential_damping=0"))
    assert e == pytest.approx(plain, abs=1e-4)
    [limit, _] = rebounds(0.1, 100, 1, md.Material(YOUNG, 0.3, restitution=restitution, adhesion=1e-9), LAW)
    assert limit == pytest.approx(restitution, abs=1e-4)


def random_contacts(collisions):
    """Rows and history of eight contacts in motion."""
    random = np.random.default_rng(3)
    contact = collisions.contact.copy()
    directions = random.normal(size=(2, 3, 8))
    contact[0:3] = directions[0] / np.linalg.norm(directions[0], axis=0)
    contact[3:6] = contact[0:3]
    contact[6:13] = random.normal(size=(7, 8)) * STICKING
    contact[13], contact[16:18] = np.linspace(-1.2, 3.0, 8) * LIMITS["gap"], [[1e-12], [1e-7]]
    history = random.normal(size=collisions.history.shape)
    history[0, 3] = 1e-6 * np.array([1, 1, -1, 1, 0, 1, 1, -1])
    history[:, :3] *= 1e-4
    history[:, :, 4] = 0.0
    return contact, history


@pytest.mark.parametrize("options", ["", ",rolling=epsd", ",friction_limit=magnitude,tangential=mindlin"])
def test_exchange_of_the_bodies(options):
    """Forces, couples and vectors of the history change sign, and no other bit."""
    material = md.Material(YOUNG, 0.3, adhesion=ADHESION, restitution=0.6, friction=0.4, rolling_friction=0.1)
    collisions = Collisions("hertz-mindlin:cohesion=jkr" + options, material, RADIUS, MASS)
    contact, history = random_contacts(collisions)
    other, of_other = contact.copy(), history.copy()
    other[0:13] *= -1.0
    of_other[:, :3] *= -1.0
    results, of_others = (collisions.kernels.results_at(*rows, collisions.values)
                          for rows in ((contact, history), (other, of_other)))
    assert results[:3].any() and set(results[GOES_ON]) == {0.0, 1.0}
    of_others[:DISSIPATED] *= -1.0
    of_other[:, :3] *= -1.0
    assert (results == of_others).all() and (history == of_other).all()
    assert not results[:DISSIPATED, results[GOES_ON] == 0.0].any()


@pytest.mark.parametrize("load", ["tension", "pressure"])
def test_friction_is_limited_by_the_force_beyond_pull_off(load):
    """mu (F_n + 2 F_c), in tension too: two bodies that slide past each other at a given overlap."""
    material = md.Material(YOUNG, 0.3, adhesion=ADHESION, friction=0.3, rolling_friction=0.1)
    collisions = Collisions(LAW + ",rolling=epsd,rolling_damping=0", material, RADIUS, MASS)
    collisions.overlap = np.full(8, {"tension": -0.5, "pressure": 5.0}[load] * LIMITS["gap"])
    collisions.contact[16], collisions.history[0, 3] = 1e-12, 1e-6
    [normal] = jkr_curves(collisions.overlap[:1], RADIUS, MODULUS, ADHESION)[:, 1]
    collisions.contact[13], collisions.contact[17] = collisions.overlap, 1e-6
    collisions.contact[7], collisions.contact[11] = 10.0, 1e5          # along y, about z
    for _ in range(20):
        result = collisions.kernels.results_at(collisions.contact, collisions.history, collisions.values)
    limit = normal + 2.0 * LIMITS["pull_off"]
    assert (normal < 0.0) == (load == "tension") and limit > 0.0
    assert result[1] == pytest.approx(-0.3 * limit, rel=1e-9)
    assert result[5] == pytest.approx(-0.1 * RADIUS * limit, rel=1e-9)
    assert collisions.contact.shape[0] > COEFFICIENTS + 8


@pytest.mark.parametrize("contact, words", [
    ("hertz-mindlin:cohesion=jkr,limit_damping=yes", "limit_damping = yes.*leave one out"),
    ("hooke-coulomb:stiffness=1e5,cohesion=jkr", "cohesion"), ("hertz-mindlin:cohesion=glue", "glue")])
def test_refused(contact, words):
    with pytest.raises(ValueError, match=words):
        md.Simulation(MATERIAL, contact=contact, dt=1e-6)


class Collisions:
    """Of eight contacts along x.

    Parameters
    ----------
    contact : str
    material : Material
    radius, mass : float
        Effective ones of the contact [m], [kg].

    Attributes
    ----------
    overlap, speed : (8,) ndarray
        [m], at the whole step; approach speed half a step later [m/s].
    lost : (8,) ndarray
        Dissipated energy [J].
    """

    def __init__(self, contact, material, radius, mass):
        law, self.values = md.contact.registry.select(contact)
        self.kernels, self.mass = law.kernels_for(self.values), mass
        rows = law.coefficient_rows(PairTable(material).properties(PROPERTIES), self.values)
        self.contact = np.zeros((COEFFICIENTS + len(rows), 8))
        self.contact[COEFFICIENTS:] = np.reshape(rows, (-1, 1))
        self.contact[[NORMAL, MIDDLE_NORMAL]], self.contact[OF_RADIUS], self.contact[OF_MASS] = 1.0, radius, mass
        self.history = np.zeros((self.kernels.n_records, 4, 8))
        self.lost, self.force = np.zeros(8), np.zeros(8)

    def evaluate(self, dt):
        """Forces at the present overlaps; contacts that end lose their history."""
        self.contact[OVERLAP], self.contact[VELOCITY], self.contact[STEP] = self.overlap, -self.speed, dt
        result = self.kernels.results_at(self.contact, self.history, self.values)
        self.lost += result[DISSIPATED:DISSIPATED + 4].sum(axis=0)
        self.force, goes_on = result[FORCE], result[GOES_ON] > 0.0
        assert not self.force[~goes_on].any()
        self.history[:, :, ~goes_on] = 0.0

    def collide(self, overlap, speed, dt, steps, watch=None):
        """From gaps, until all contacts have ended or the steps are done; energy at the start and at each step."""
        self.overlap, self.speed = np.array(overlap) + np.zeros(8), np.array(speed) + np.zeros(8)
        for _ in range(steps):
            self.overlap = self.overlap + dt * self.speed
            self.evaluate(dt)
            before, self.speed = self.speed, self.speed - dt / self.mass * self.force
            if watch is not None:
                watch(0.5 * (before + self.speed))
            if (self.speed < 0.0).all() and not self.history.any():
                break

    def elastic(self):
        """Energies of the contacts at the present overlaps [J]."""
        self.contact[OVERLAP] = self.overlap
        return self.kernels.results_at(self.contact, self.history.copy(), self.values, True)[:3].sum(axis=0)
