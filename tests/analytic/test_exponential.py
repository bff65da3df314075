"""Exponential of a rotation scheme: exact for every angle, with the same bits in every lane of a block."""
import numpy as np
import pytest
import scenes

import minidem as md

DT = 0.1                                                    # [s]
LITTLE = 2048 ** -0.5                                       # half-angle from which on the series are longer
# Half-angles of a step: across that limit, across odd multiples of pi/4, where the quadrant changes, and far beyond.
HALF_ANGLES = np.concatenate([
    [0.0, 1e-160, 1e-9], LITTLE * (1.0 + np.linspace(-1e-3, 1e-3, 11)), np.logspace(-4, 2, 61),
    *(np.pi / 4 * k * (1.0 + np.linspace(-1e-9, 1e-9, 5)) for k in (1, 2, 3, 4, 5))])


def turn(axes, half_angles, name="spiral", **options):
    """Orientations after one step of spheres that turn by twice these angles."""
    rate = 2.0 * half_angles[:, None] / DT * axes
    return md.rotation.integrate(name, (1.0, 1.0, 1.0), np.tile([1.0, 0.0, 0.0, 0.0], (len(axes), 1)), rate,
                                 (0.0, 0.0, 0.0), DT, 1, **options).orientation


def test_exact_for_every_angle():
    axes = scenes.unit_vectors(np.random.default_rng(1), len(HALF_ANGLES))
    found = turn(axes, HALF_ANGLES, start=False)
    h = (0.5 * DT * (2.0 * HALF_ANGLES[:, None] / DT * axes)).astype(np.longdouble)     # as the scheme has it
    angle = np.sqrt(np.sum(h * h, axis=1))
    with np.errstate(invalid="ignore"):
        sinc = np.where(angle > 1e-100, np.sin(angle) / angle, 1.0)
    exact = np.concatenate([np.cos(angle)[:, None], sinc[:, None] * h], axis=1)
    # An angle that is rounded to half a unit in its last place turns as far.
    assert np.all(np.abs(found - exact) <= (4.0 + angle[:, None]) * 2.0 ** -53)


@pytest.mark.parametrize("name", ["spiral", "spiral:inner=rk4", "spiral-sync", "pcdm", "improved-pcdm",
                                  "spiral-omelyan"])
def test_bits_do_not_depend_on_other_lanes(name):
    rng = np.random.default_rng(2)
    axes = scenes.unit_vectors(rng, len(HALF_ANGLES))
    together = turn(axes, HALF_ANGLES, name)
    for order in (np.argsort(HALF_ANGLES), rng.permutation(len(HALF_ANGLES))):
        assert np.array_equal(turn(axes[order], HALF_ANGLES[order], name), together[order])
    for k in range(len(HALF_ANGLES)):
        assert np.array_equal(turn(axes[k:k + 1], HALF_ANGLES[k:k + 1], name)[0], together[k])
