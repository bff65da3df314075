"""Rotations in which a careless formula divides by zero or loses the norm, for every scheme."""
import numpy as np
import pytest

import minidem as md

EPS = np.finfo(float).eps
SCHEMES = md.rotation.available()
NORM_KEEPING = [name for name in SCHEMES if md.rotation.info(name).keeps_norm]
Q = np.array([0.1, -0.7, 0.5, 0.5])


def turn(name, inertia=(1.0, 2.0, 2.5), q=Q, w=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0), dt=1e-3, steps=1000):
    return md.rotation.integrate(name, inertia, q, w, torque, dt, steps)


@pytest.mark.parametrize("name", SCHEMES)
def test_at_rest(name):
    """Nothing turns; what is normalised in every step keeps each component within a rounding a step."""
    end = turn(name)
    assert np.array_equal(end.angular_velocity, np.zeros(3))
    assert np.abs(end.orientation - Q).max() <= 2 * EPS * 1000


@pytest.mark.parametrize("name", SCHEMES)
def test_from_rest(name):
    """A torque along a principal axis, from rest: w = t M / I whatever the scheme."""
    end = turn(name, torque=(0.0, 3.0, 0.0))
    assert end.angular_velocity == pytest.approx([0.0, 1.5, 0.0], abs=1e-3 * 1.5)     # one step of first order
    assert np.isfinite(end.orientation).all()


@pytest.mark.parametrize("name", SCHEMES)
def test_sphere(name):
    """Exact where Euler's equations are integrated in the body frame, else off by dt |w|^2 / 2 at worst."""
    w = np.array([0.3, -2.0, 1.0])
    end = turn(name, inertia=(2.0, 2.0, 2.0), w=w)
    exact = name.startswith(("direct", "euler", "improved", "omelyan", "pcdm", "rk4", "scalar", "spiral", "velocity",
                             "walton"))
    assert np.abs(end.angular_velocity - w).max() <= (0.0 if exact else np.linalg.norm(w) ** 2 * 1e-3)


@pytest.mark.parametrize("name", SCHEMES)
def test_both_signs_of_q_are_one_orientation(name):
    how = dict(w=(0.3, -2.0, 1.0), torque=(0.1, 0.2, -0.3))
    plus, minus = turn(name, **how), turn(name, q=-Q, **how)
    assert np.array_equal(plus.angular_velocity, minus.angular_velocity)
    assert np.array_equal(plus.orientation, -minus.orientation)


def norm_error(name, steps):
    """Largest departure of |q| from 1 over eight bodies of different spin; a free sphere, whose w stays as it is."""
    rng = np.random.default_rng(1)
    q = rng.normal(size=(8, 4))
    end = turn(name, (1.0, 1.0, 1.0), q / np.linalg.norm(q, axis=1)[:, None], rng.normal(size=(8, 3)), steps=steps)
    return np.abs(np.linalg.norm(end.orientation, axis=1) - 1.0).max()


@pytest.mark.parametrize("name", NORM_KEEPING)
def test_norm_is_kept_without_normalisation(name):
    """Between two corrections, 32768 steps apart, rounding adds up in proportion to the steps at worst: eps a step."""
    assert norm_error(name, 100_000) <= 32768 * EPS


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_looks_after_the_norm(name):
    record = md.rotation.info(name)
    assert record.normalises != record.keeps_norm


@pytest.mark.slow
@pytest.mark.parametrize("name", NORM_KEEPING)
def test_norm_after_a_hundred_million_steps(name):
    assert norm_error(name, 10**8) <= 32768 * EPS       # 7e-12
