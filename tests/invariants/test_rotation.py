"""Rotation schemes where a careless formula divides by zero, loses the norm or drifts; what symplectic ones keep."""
import numpy as np
import pytest
from scenes import unit_vectors

import minidem as md
from minidem.core.quaternions import rotate
from minidem.scenarios.rotating_bodies.driven_bodies import ARM, INERTIA, ORIENTATION, SPIN, of_orientation

EPS = np.finfo(float).eps
SCHEMES = md.rotation.available()
NORM_KEEPING = [name for name in SCHEMES if md.rotation.info(name).keeps_norm]
SYMPLECTIC = [name for name in SCHEMES if md.rotation.info(name).symplectic]
# Symmetric in time, with constant angular momentum in the lab.
REVERSIBLE = [*SYMPLECTIC, "austin", "lie-midpoint", "simo-wong"]
Q = np.array([0.1, -0.7, 0.5, 0.5])
WEIGHT = [0.3, 0.2, -1.5]               # of the heavy bodies under `of_orientation`, lab frame [N]
DT = 0.05                               # [s]; a swing takes some hundred steps


def turn(name, inertia=(1.0, 2.0, 2.5), q=Q, w=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0), dt=1e-3, steps=1000):
    return md.rotation.integrate(name, inertia, q, w, torque, dt, steps)


@pytest.mark.parametrize("name", SCHEMES)
def test_degenerate_rotations(name):
    """At rest; from rest about a principal axis; a sphere, for many exactly; both signs of q."""
    end = turn(name)
    assert np.array_equal(end.angular_velocity, np.zeros(3))
    assert np.abs(end.orientation - Q).max() <= 2 * EPS * 1000         # what is normalised rounds in every step
    end = turn(name, torque=(0.0, 3.0, 0.0))
    assert end.angular_velocity == pytest.approx([0.0, 1.5, 0.0], abs=1e-3 * 1.5)     # one step of first order
    assert np.isfinite(end.orientation).all()
    w = np.array([0.3, -2.0, 1.0])
    end = turn(name, inertia=(2.0, 2.0, 2.0), w=w)
    exact = name.startswith(("direct", "dmv", "euler", "exact", "improved", "omelyan", "pcdm", "rk4", "scalar",
                             "spiral", "velocity", "walton"))
    assert np.abs(end.angular_velocity - w).max() <= (0.0 if exact else np.linalg.norm(w) ** 2 * 1e-3)
    plus, minus = (turn(name, q=q, w=w, torque=(0.1, 0.2, -0.3)) for q in (Q, -Q))
    assert np.array_equal(plus.angular_velocity, minus.angular_velocity)
    assert np.array_equal(plus.orientation, -minus.orientation)
    record = md.rotation.info(name)
    assert record.normalises != record.keeps_norm


@pytest.mark.parametrize("steps", [100_000, pytest.param(10**8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NORM_KEEPING)
def test_norm_is_kept_without_normalisation(name, steps):
    """Of free spheres. Between two corrections, 32768 steps apart, rounding adds up to eps a step at worst, 7e-12."""
    rng = np.random.default_rng(1)
    end = turn(name, (1.0, 1.0, 1.0), unit_vectors(rng, 8, 4), rng.normal(size=(8, 3)), steps=steps)
    assert np.abs(np.linalg.norm(end.orientation, axis=1) - 1.0).max() <= 32768 * EPS


def growth(name, steps=10_000):
    """Root mean square energy error of six heavy bodies in the last tenth of a run over that in the first."""
    path = md.rotation.integrate(name, INERTIA, ORIENTATION, SPIN, of_orientation, DT, steps, record_every=1)
    def energy(q, w):
        return 0.5 * np.sum(INERTIA * w * w, axis=-1) - np.sum(rotate(q, ARM) * WEIGHT, axis=-1)
    errors, tenth = energy(path.orientation, path.angular_velocity) - energy(ORIENTATION, SPIN), steps // 10
    return np.sqrt(np.mean(errors[-tenth:]**2) / np.mean(errors[:tenth]**2))


@pytest.mark.parametrize("name", SYMPLECTIC)
def test_energy_of_heavy_bodies_does_not_drift(name):
    """It oscillates: the first and the last fifty seconds differ by the phases of the swings only."""
    assert growth(name) < 1.2


@pytest.mark.parametrize("name", ["omelyan", "richardson", "fincham"])
def test_a_drift_is_seen(name):
    """These are not symmetric in time; omelyan with three iterations."""
    assert growth(name) > 5.0


@pytest.mark.slow
def test_slow_drift_of_lie_midpoint():
    """Symmetric in time, but not symplectic; ORDERS.md says so."""
    assert growth("lie-midpoint", 100_000) > 1.4 > 1.2 > growth("exact", 100_000)


@pytest.mark.parametrize("name", REVERSIBLE)
def test_reversed_rotation(name):
    """Bodies return to their start; rounding grows less than a hundredfold."""
    def there_and_back(w):
        end = md.rotation.integrate(name, INERTIA, ORIENTATION, w, of_orientation, DT, 200)
        back = md.rotation.integrate(name, INERTIA, end.orientation, -end.angular_velocity, of_orientation, DT, 200)
        return end, np.hstack([back.orientation, -back.angular_velocity])
    end, back = there_and_back(SPIN)
    disturbed, _ = there_and_back(SPIN + 1e-9)
    assert np.max(np.abs(end.orientation - disturbed.orientation)) < 100 * 1e-9
    assert np.max(np.abs(end.orientation - ORIENTATION)) > 0.5
    assert np.max(np.abs(back - np.hstack([ORIENTATION, SPIN]))) < 100 * 10 * 400 * EPS


UNIT_SPIN = SPIN / np.linalg.norm(SPIN, axis=-1, keepdims=True)


@pytest.mark.parametrize("name, lost", [
    ("dmv", (2e-12, 3e-7, 9e-5)), ("simo-wong", (2e-12, 6e-8, 3e-5)), ("austin", (0, 0, 0)), ("exact", (0, 0, 0))])
def test_energy_of_free_tops_in_long_steps(name, lost):
    """Of a step of 0.5, 1 and 1.5 rad, relative: numbers of ORDERS.md."""
    for angle, part in zip((0.5, 1.0, 1.5), lost):
        end = md.rotation.integrate(name, INERTIA, ORIENTATION, UNIT_SPIN, (0.0, 0.0, 0.0), angle, 1)
        change = np.abs(energy(INERTIA * end.angular_velocity) / energy(INERTIA * UNIT_SPIN) - 1.0).max()
        assert change == pytest.approx(part, rel=0.2, abs=1e-14)


@pytest.mark.parametrize("angle, error", [(18.0, 0.0), (60.0, 3e-13), (100.0, 3e-11), (200.0, 1e-8)])
def test_exact_in_very_long_steps(angle, error):
    """Errors of the orientation that the docstring of exact.pyx names."""
    ends = [md.rotation.integrate("exact", INERTIA, ORIENTATION, UNIT_SPIN, (0.0, 0.0, 0.0), angle / n, n)
            for n in (1, 512)]
    one, many = (end.orientation for end in ends)
    difference = np.minimum(np.abs(one - many).max(axis=-1), np.abs(one + many).max(axis=-1)).max()
    assert difference == pytest.approx(error, rel=0.5, abs=1e-13)


TOP_STEPS = [20_000, pytest.param(10**6, marks=pytest.mark.slow)]


def free_tops(name, steps, **options):
    """Angular momenta in the body frame and the lab of six asymmetric bodies, first and last."""
    end = md.rotation.integrate(name, INERTIA, ORIENTATION, SPIN, (0.0, 0.0, 0.0), DT, steps, **options)
    return INERTIA * SPIN, INERTIA * end.angular_velocity, rotate(ORIENTATION, INERTIA * SPIN), rotate(
        end.orientation, INERTIA * end.angular_velocity)


def relative(before, after):
    return np.max(np.linalg.norm(after - before, axis=-1) / np.linalg.norm(before, axis=-1))


def energy(momentum):
    return np.sum(momentum**2 / INERTIA, axis=-1, keepdims=True)


@pytest.mark.parametrize("steps", TOP_STEPS)
@pytest.mark.parametrize("name", [*REVERSIBLE, "richardson"])
def test_free_tops(name, steps):
    """Angular momentum in the lab is constant to rounding, and the energy of two schemes to a few eps a step."""
    body, body_end, lab, lab_end = free_tops(name, steps)
    assert relative(body, body_end) > 0.1
    assert relative(lab, lab_end) < 12 * steps * EPS
    assert name not in ("austin", "simo-wong") or relative(energy(body), energy(body_end)) < 4 * steps * EPS


@pytest.mark.parametrize("dt", [1e-3, 0.02, 0.3])
@pytest.mark.parametrize("steps", TOP_STEPS)
def test_free_symmetric_tops(steps, dt):
    """Energy and angular momentum are constant to a small part of eps a step; apart from it, rounding is random."""
    inertia = np.array([np.roll((ratio, 1.0, 1.0), axis) for axis in range(3) for ratio in (1e-3, 0.2, 1.0, 1.7)])
    rng = np.random.default_rng(2)
    q, w = unit_vectors(rng, len(inertia), 4), unit_vectors(rng, len(inertia))
    end = md.rotation.integrate("exact", inertia, q, w, (0.0, 0.0, 0.0), dt, steps)
    bound = (10.0 * np.sqrt(steps) + dt * steps) * EPS
    turned = end.orientation / np.linalg.norm(end.orientation, axis=1, keepdims=True)       # the norm has its own test
    assert relative(rotate(q, inertia * w), rotate(turned, inertia * end.angular_velocity)) < bound
    assert relative(*(np.sum(inertia * v * v, axis=1, keepdims=True) for v in (w, end.angular_velocity))) < bound


@pytest.mark.parametrize("steps", TOP_STEPS)
def test_midpoint_rule_of_free_tops(steps):
    """Lie-Newmark conserves energy and the magnitude of the angular momentum at the half steps, not the direction."""
    first, last = (free_tops("lie-newmark", n, sync=False) for n in (0, steps))
    assert relative(energy(first[1]), energy(last[1])) < 4 * steps * EPS
    assert relative(*(np.linalg.norm(m[1], axis=1, keepdims=True) for m in (first, last))) < 4 * steps * EPS
    assert relative(first[2], last[3]) > 1e-4


@pytest.mark.parametrize("inertia", [(1.0, 2.0, 2.0), (2.0, 1.0, 2.0), (2.0, 2.0, 3.0)])
def test_touma_wisdom_is_exact_for_axisymmetric_tops(inertia):
    """A thousand short steps and two long ones."""
    short, long = (turn("touma-wisdom", inertia, w=(0.3, -2.0, 1.0), dt=2.0 / n, steps=n) for n in (1000, 2))
    assert np.max(np.abs(short.orientation - long.orientation)) < 10 * 1000 * EPS
    assert np.max(np.abs(short.angular_velocity - long.angular_velocity)) < 10 * 1000 * EPS
