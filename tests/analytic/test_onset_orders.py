"""Order of the energy error of one collision, with and without the onset correction (minidem/onset/ONSET.md): without
it p + 1 for a force like t^p, 2.5 with Hertz's law and 2 with a spring; with it 2p + 2, 5 and 4."""
import hashlib
import re
from functools import cache

import numpy as np
import pytest
import scenes
from examples import in_one_line, rows_of
from isolated_collisions import STEP, energy_errors, of_pairs, on_wall

import minidem as md
from minidem.onset.onset_pass import onset_force_at
from minidem.onset.series import zeta_polynomials
from minidem.scenarios.rotating_bodies.driven_bodies import order, rms

STEPS_PER_CONTACT = 17, 34, 68, 136
HERTZ_DURATION = 2.943275184324706 * (5 / 4)**0.4       # of a contact with m = k = v = 1: test_friction_collisions


class HeadOn:
    """One collision in one dimension with m = k = v = 1: d'' = -d^p + g, for many phases at a time."""
    def __init__(self, law, steps, g):
        self.law = md.contact.info(law)
        duration = HERTZ_DURATION if law == "hertz" else np.pi
        self.zeta = zeta_polynomials(self.law.power)
        # Durations of all fractions of a step: otherwise the errors of the first and the last step are correlated.
        k = np.arange(60)
        self.phase = (k + 0.5) / len(k)
        self.h, self.g = duration / (steps + k * (np.sqrt(5.0) - 1.0) / 2.0 % 1.0), g / duration
        self.steps = int(1.3 * np.max(duration / self.h)) + 6

    def energy(self, d, u):
        return 0.5 * u**2 + np.maximum(d, 0.0)**(self.law.power + 1) / (self.law.power + 1) - self.g * d

    def correction(self, d, rate):
        """By the compiled formula; radius 1 and coefficient 1 give Hertz's law k = 1."""
        near = np.flatnonzero((d > 0.0) & (d < 1.5 * self.h * (np.abs(rate) + self.h * abs(self.g))))
        force = np.zeros(len(d))
        for k in near:
            force[k] = onset_force_at(self.law.kernels, d[k], 1.0, [1.0], self.law.power, self.zeta,
                                                       self.h[k], rate[k], self.g, 1.0)
        return force

    def error(self, corrected):
        """Root mean square over phases of the relative energy error after the collision."""
        h, g = self.h, self.g
        d = -h * (self.phase + 3.0)
        before, half = self.energy(d, 1.0), 1.0 + 0.5 * h * g
        for _ in range(self.steps):
            d = d + h * half
            force = np.maximum(d, 0.0)**self.law.power
            if corrected:
                force = force + self.correction(d, half + 0.5 * h * (g - force))
            half = half + h * (g - force)
        assert np.all(d < 0.0) and np.all(half < 0.0)
        return rms(self.energy(d, half - 0.5 * h * g) / before - 1.0)


@pytest.mark.parametrize("g", [0.0, -0.2, 0.2])         # other forces, in speeds of impact per contact
def test_order_of_springs(g):
    """Between 17 and 136 steps per contact: 2, and 4 with the correction. The next terms change it by 0.18 at most."""
    for corrected, expected in enumerate((2.0, 4.0)):
        errors = [HeadOn("hooke", n, g).error(corrected) for n in STEPS_PER_CONTACT]
        assert order(errors) == pytest.approx(expected, abs=0.25), errors


@pytest.mark.parametrize("kind, g, errors, slope", rows_of(
    "onset/ONSET.md", r"(plain|corrected), \$g = (.*)\$ \| (.*) \| ([\d.]+)", 5))
def test_table_of_orders(kind, g, errors, slope):
    """ONSET.md. The order is that from 17 steps per contact on."""
    expected = [float(error) for error in errors.split("|")]
    found = [HeadOn("hertz", n, float(g)).error(kind == "corrected") for n in (8, *STEPS_PER_CONTACT)]
    assert found == pytest.approx(expected, rel=0.04) and order(found[1:]) == pytest.approx(float(slope), abs=0.06)


CLUB = scenes.Shape([[0.0, 0.0, 0.0], [0.03, 0.0, 0.0], [0.055, 0.0, 0.0]], [0.03, 0.02, 0.015])
GRAVITY = 600.0                 # [m/s2]: a fifth of the speed of impact per contact
COLLISIONS, PHASES = 80, 4
SCENES = {
    **{name: lambda shape=shape: of_pairs(1, COLLISIONS, shape, shape)
       for name, shape in (("rods", scenes.rod()), ("clubs", CLUB), ("asymmetric", scenes.lumpy()))},
    **{f"{name} on a wall": lambda shape=shape: on_wall(1, COLLISIONS, shape)
       for name, shape in (("rods", scenes.rod()), ("asymmetric", scenes.lumpy()))},
    "under gravity": lambda: with_gravity(GRAVITY), "against gravity": lambda: with_gravity(-GRAVITY)}
SCHEMES = ["spiral", "fincham", "omelyan", "no-squish", "exact"]
ONE_EVALUATION = [name for name in md.rotation.available() if len(md.rotation.info(name).stages) == 1]


def with_gravity(g):
    """Rods on a wall, pressed against it by g or pulled off it."""
    scene = on_wall(1, COLLISIONS, scenes.rod())
    return scene.changed(gravity=tuple(-g * np.array(scene.walls[0].normal)))


def phase_error(scene, dt, contact, scheme):
    """Root mean square of the energy error less its mean over the phases, which is that of the scheme."""
    errors = np.array([energy_errors(scene.changed(position=scene.position - k / PHASES * dt * scene.velocity), dt,
                                     contact, scheme) for k in range(PHASES)])
    errors = errors[:, np.all(np.isfinite(errors), axis=0)]
    assert errors.shape[1] > 0.75 * COLLISIONS
    return rms(errors - np.mean(errors, axis=0)) * np.sqrt(PHASES / (PHASES - 1))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", SCENES)
def test_order_of_oblique_collisions(name, scheme):
    scene, steps = SCENES[name](), STEP * np.array([2.0, 1.0, 0.5, 0.25])
    plain, corrected = ([phase_error(scene, dt, contact, scheme) for dt in steps]
                        for contact in ("hertz", "hertz:onset=corrected"))
    assert order(plain) == pytest.approx(2.5, abs=0.25), plain
    assert order(corrected) > 4.5, corrected
    assert corrected[0] < 0.05 * plain[0] and corrected[1] < 0.01 * plain[1], (plain, corrected)


@pytest.mark.parametrize("scheme", ONE_EVALUATION)
def test_all_schemes(scheme):
    """The error is at least five times smaller with each; with those of first order their own error remains."""
    scene = SCENES["rods"]()
    plain, corrected = (phase_error(scene, STEP, contact, scheme) for contact in ("hertz", "hertz:onset=corrected"))
    assert corrected < 0.2 * plain


mpmath = pytest.importorskip("mpmath")
A = np.linspace(0.0, 1.0, 41)                   # fractions of a step
POWERS = 1.0, 1.5, 2.25
RADIUS, MODULUS, INTERVAL, SPEED = 0.01, 1e9, 1e-5, 0.7
HERTZ = md.contact.info("hertz")
STIFFNESS = HERTZ.kernels.force_at(1.0, RADIUS, [4.0 / 3.0 * MODULUS])       # k of k d^1.5


def minus_zeta(power, q):
    """-zeta(-power, q) for an array q, to round-off."""
    with mpmath.workdps(30):
        return -np.array([float(mpmath.zeta(-mpmath.mpf(power), mpmath.mpf(float(each)))) for each in q])


@pytest.mark.parametrize("power", POWERS)
def test_polynomials(power):
    for row, exponent in zip(zeta_polynomials(power), (power, power + 1.0)):
        assert np.max(np.abs(np.polynomial.Polynomial(row)(A) - minus_zeta(exponent, 1.0 + A))) < 3e-12


def test_coefficients_have_the_same_bits_on_every_processor():
    """They are part of the forces. This is their hash on x86-64 and arm64, with any NumPy."""
    coefficients = b"".join(zeta_polynomials(power).astype("<f8").tobytes() for power in POWERS)
    assert hashlib.sha256(coefficients).hexdigest() == \
        "6b6d15f81e20c7c6fae579f1350f3999459324764bab3e369a9396791ddf2a78"


zeta_of = cache(zeta_polynomials)


def onset_force(overlap, rate, acceleration=0.0, law="hertz", mobility=0.0):
    record = md.contact.info(law)
    coefficients = [4.0 / 3.0 * MODULUS if law == "hertz" else STIFFNESS]
    return onset_force_at(record.kernels, overlap, RADIUS, coefficients, record.power, zeta_of(record.power), INTERVAL,
                                         rate, acceleration, mobility)


@pytest.mark.parametrize("law", ["hertz", "hooke"])
@pytest.mark.parametrize("ratio", [-0.7, 0.0, 0.4])
def test_formula(law, ratio):
    """f = w k (v h)^p [(1 - r t) Z_p(a) + (1 + p/2) r Z_(p+1)(a)] at t steps after touch, d = v h (t + r t^2 / 2).

    Z_s(a) = -zeta(-s, a), a = t mod 1. The window w rises in the first tenth of a step and falls in the tenth after it.
    """
    power = md.contact.info(law).power
    for steps in (0.0, 0.03, 0.1, 0.37, 0.5, 0.999, 1.001, 1.06, 1.1 + 1e-9, 1.2):
        overlap = SPEED * INTERVAL * (steps + 0.5 * ratio * steps**2)
        a, window = steps % 1.0, max(min(10.0 * steps, 1.0, 11.0 - 10.0 * steps), 0.0)
        (z,), (above,) = minus_zeta(power, [a]), minus_zeta(power + 1.0, [a])
        expected = window * STIFFNESS * (SPEED * INTERVAL)**power * ((1.0 - ratio * steps) * z
                                                                 + (1.0 + 0.5 * power) * ratio * above)
        for direction in (1.0, -1.0):                   # onset, lift-off: the same motion in reverse
            rate = direction * SPEED * (1.0 + ratio * steps)
            found = onset_force(overlap, rate, ratio * SPEED / INTERVAL, law)
            assert found == pytest.approx(expected, rel=0.0, abs=1e-11 * STIFFNESS * (SPEED * INTERVAL)**power)


def test_no_force():
    """Exactly zero without overlap, and where other forces prevent the contact from ending: 1e-6 < 2 * 1e-6."""
    for arguments in ((-1e-7, SPEED), (0.0, SPEED), (1e-6, 0.0), (1e-6, 1e-3, 1.0), (1.2 * SPEED * INTERVAL, SPEED)):
        assert onset_force(*arguments) == 0.0
    assert onset_force(0.5 * SPEED * INTERVAL, SPEED) != 0.0


def test_the_correction_is_continuous_and_small():
    """Its slope is about 10 Z at the edges of the window, where Z is 0.0255. Largest values as in ONSET.md."""
    unit = STIFFNESS * (SPEED * INTERVAL)**1.5
    force = np.array([onset_force(SPEED * INTERVAL * steps, SPEED) for steps in np.arange(0.0, 1.2, 1e-4)]) / unit
    assert np.max(np.abs(np.diff(force))) < 1.5e-4 * 10 * 0.0255
    phases = np.linspace(0.0, 1.0, 1001)
    z = minus_zeta(1.5, 1.0 + phases) - phases**1.5
    sizes = [abs(z[0]), abs(z[-1]), np.max(np.abs(z)), np.max(np.abs(force))]
    page = re.search(r"is (\S+) at \$a = 0\$ and \$a = 1\$, and at most (\S+), at \$a = (\S+)\$.*?\\le (\S+)\$",
                     in_one_line("onset/ONSET.md"))
    assert sizes == pytest.approx([float(page[k]) for k in (1, 1, 2, 4)], abs=6e-5)
    assert phases[np.argmax(np.abs(z))] == pytest.approx(float(page[3]), abs=1e-3)


@pytest.mark.parametrize("steps", [0.05, 0.4, 0.8, 1.04])
@pytest.mark.parametrize("law", ["hertz", "hooke"])
def test_symmetry_in_time(law, steps):
    """f at an onset, and at a lift-off in reverse, to the square of the relative kick by f."""
    mobility = 0.02 * SPEED / INTERVAL / (STIFFNESS * (SPEED * INTERVAL)**md.contact.info(law).power)
    overlap, ratio = SPEED * INTERVAL * steps, 0.1 * SPEED / INTERVAL
    onset = onset_force(overlap, SPEED, ratio, law, mobility)
    lift_off = onset_force(overlap, -SPEED + onset * mobility * INTERVAL, ratio, law, mobility)
    unit = STIFFNESS * (SPEED * INTERVAL)**md.contact.info(law).power
    assert abs(lift_off - onset) < 2e-6 * unit
    assert abs(onset_force(overlap, -SPEED, ratio, law, mobility) - onset) > 2.0 * abs(lift_off - onset)
