"""The Hurwitz zeta function and its polynomials against mpmath, and the formula of the onset correction."""
import hashlib
from functools import cache

import numpy as np
import pytest
from scipy.special import bernoulli

import minidem as md
from minidem.contact.onset_series import hurwitz_zeta, zeta_polynomials

mpmath = pytest.importorskip("mpmath")
A = np.linspace(0.0, 1.0, 41)                   # fractions of a step
POWERS = 1.0, 1.5, 2.25
RADIUS, MODULUS, STEP, SPEED = 0.01, 1e9, 1e-5, 0.7
HERTZ = md.contact.info("hertz")
STIFFNESS = HERTZ.kernels.force_at(1.0, RADIUS, MODULUS, [0])       # k of k d^1.5


def minus_zeta(power, q):
    """-zeta(-power, q) for an array q, to round-off."""
    with mpmath.workdps(30):
        return -np.array([float(mpmath.zeta(-mpmath.mpf(power), mpmath.mpf(float(each)))) for each in q])


@pytest.mark.parametrize("s", [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 3.5])
def test_hurwitz_zeta(s):
    """To rounding."""
    found = [float(hurwitz_zeta(s, q)) for q in 1.0 + A]
    assert np.allclose(found, -minus_zeta(-s, 1.0 + A), rtol=2 * np.finfo(float).eps, atol=2e-16)


@pytest.mark.parametrize("power", POWERS)
def test_polynomials(power):
    for row, exponent in zip(zeta_polynomials(power), (power, power + 1.0)):
        assert np.max(np.abs(np.polynomial.Polynomial(row)(A) - minus_zeta(exponent, 1.0 + A))) < 3e-12


def test_coefficients_have_the_same_bits_on_every_processor():
    """They are part of the forces. This is their hash on x86-64 and arm64, with any NumPy."""
    coefficients = b"".join(zeta_polynomials(power).astype("<f8").tobytes() for power in POWERS)
    assert hashlib.sha256(coefficients).hexdigest() == \
        "6b6d15f81e20c7c6fae579f1350f3999459324764bab3e369a9396791ddf2a78"


def test_polynomials_of_a_spring_are_those_of_bernoulli():
    """-zeta(-n, q) = B_(n+1)(q) / (n + 1), and B_n(q) = sum of binomial(n, k) B_k q^(n - k)."""
    for row, n in zip(zeta_polynomials(1.0), (1, 2)):
        numbers = bernoulli(n + 1)
        exact = np.poly1d([float(mpmath.binomial(n + 1, k)) * numbers[k] for k in range(n + 2)]) / (n + 1)
        assert np.max(np.abs(np.polynomial.Polynomial(row)(A) - exact(1.0 + A))) < 1e-13


zeta_of = cache(zeta_polynomials)


def onset_force(overlap, rate, acceleration=0.0, law="hertz", mobility=0.0):
    record = md.contact.info(law)
    values = [0] if law == "hertz" else [STIFFNESS, 0]
    return record.kernels.onset_force_at(overlap, RADIUS, MODULUS, values, record.power, zeta_of(record.power), STEP,
                                         rate, acceleration, mobility)


@pytest.mark.parametrize("law", ["hertz", "hooke"])
@pytest.mark.parametrize("ratio", [-0.7, 0.0, 0.4])
def test_formula(law, ratio):
    """f = w k (v h)^p [(1 - r t) Z_p(a) + (1 + p/2) r Z_(p+1)(a)] at t steps after touch, d = v h (t + r t^2 / 2).

    Z_s(a) = -zeta(-s, a), a = t mod 1. The window w rises in the first tenth of a step and falls in the tenth after it.
    """
    power = md.contact.info(law).power
    for steps in (0.03, 0.1, 0.37, 0.5, 0.999, 1.001, 1.06):
        overlap = SPEED * STEP * (steps + 0.5 * ratio * steps**2)
        a, window = steps % 1.0, min(10.0 * steps, 1.0, 11.0 - 10.0 * steps)
        (z,), (above,) = minus_zeta(power, [a]), minus_zeta(power + 1.0, [a])
        expected = window * STIFFNESS * (SPEED * STEP)**power * ((1.0 - ratio * steps) * z
                                                                 + (1.0 + 0.5 * power) * ratio * above)
        for direction in (1.0, -1.0):                   # onset, lift-off: the same motion in reverse
            rate = direction * SPEED * (1.0 + ratio * steps)
            found = onset_force(overlap, rate, ratio * SPEED / STEP, law)
            assert found == pytest.approx(expected, rel=0.0, abs=1e-11 * STIFFNESS * (SPEED * STEP)**power)


def test_no_force_beyond_the_window():
    """Exactly zero without overlap, from 1.1 steps on, and where other forces prevent the contact from ending."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        rate, ratio = SPEED * rng.normal(), rng.uniform(-0.5, 0.5)
        assert onset_force(-rng.random() * STEP, rate, ratio * abs(rate) / STEP) == 0.0
        assert onset_force(0.0, rate) == 0.0
        steps = 1.1 + 10.0 * rng.random()**4
        overlap = abs(rate) * STEP * (steps - 0.5 * ratio * steps**2)       # rate is that at the end of `steps`
        if 0.0 < ratio * steps < 1.0 or ratio < 0.0:
            assert onset_force(overlap * (1.0 + 1e-12), rate, ratio * abs(rate) / STEP) == 0.0
    assert onset_force(1e-6, 0.0) == 0.0
    assert onset_force(1e-6, 1e-3, acceleration=1.0) == 0.0                 # 1e-6 < 2 * 1e-6
    assert onset_force(0.5 * SPEED * STEP, SPEED) != 0.0


def test_the_correction_is_continuous_and_small():
    """Its slope is about 10 Z at the edges of the window, where Z is 0.0255; the largest |Z|, 0.0307, is in between."""
    unit = STIFFNESS * (SPEED * STEP)**1.5
    force = np.array([onset_force(SPEED * STEP * steps, SPEED) for steps in np.arange(0.0, 1.2, 1e-4)]) / unit
    assert np.max(np.abs(np.diff(force))) < 1.5e-4 * 10 * 0.0255
    assert np.max(np.abs(force)) == pytest.approx(0.0307, abs=1e-4)


@pytest.mark.parametrize("steps", [0.0, 0.02, 0.07, 0.1])
def test_windows_of_two_steps_add_up_to_one(steps):
    """The contact with 1 + a and a steps to lift-off gets one whole correction in two parts."""
    unit, (whole,) = STIFFNESS * (SPEED * STEP)**1.5, minus_zeta(1.5, [steps])
    parts = [onset_force(SPEED * STEP * (steps + k), SPEED) for k in (0, 1)]
    assert sum(parts) / unit == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("steps", [0.05, 0.4, 0.8, 1.04])
@pytest.mark.parametrize("law", ["hertz", "hooke"])
def test_symmetry_in_time(law, steps):
    """At an onset the rate is that before half the kick by f, at the lift-off in reverse that after it: f is the same.

    f takes part in its own speed, which two iterations solve to the square of the relative kick.
    """
    mobility = 0.02 * SPEED / STEP / (STIFFNESS * (SPEED * STEP)**md.contact.info(law).power)
    overlap, ratio = SPEED * STEP * steps, 0.1 * SPEED / STEP
    onset = onset_force(overlap, SPEED, ratio, law, mobility)
    lift_off = onset_force(overlap, -SPEED + onset * mobility * STEP, ratio, law, mobility)
    unit = STIFFNESS * (SPEED * STEP)**md.contact.info(law).power
    assert abs(lift_off - onset) < 2e-6 * unit
    assert abs(onset_force(overlap, -SPEED, ratio, law, mobility) - onset) > 2.0 * abs(lift_off - onset)
