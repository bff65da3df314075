"""The formulas of adhesive contacts against Johnson, Kendall and Roberts' in 50 digits, and their limits."""
from decimal import Decimal, localcontext
from math import pi, sqrt

import numpy as np
import pytest

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


def test_without_adhesion_it_is_hertz():
    """At w -> 0, in radius, force and energy."""
    radius, modulus, overlap = 2e-3, 1e9, 1e-5
    a = sqrt(radius * overlap)
    [found] = jkr_curves([overlap], radius, modulus, 1e-40)
    assert found == pytest.approx([a, 4 / 3 * modulus * a * overlap, 8 / 15 * modulus * a * overlap**2], rel=1e-13)


def test_helpers():
    assert length_root(2e9, 0.3) == pytest.approx(sqrt(2 * pi * 0.3 / 2e9), rel=1e-15)
    speed = sqrt(14.18 / 1e-5) * (0.1**5 * 1e-3**4 / 1e9**2) ** (1 / 6)
    assert sticking_speed(1e-5, 1e-3, 1e9, 0.1) == pytest.approx(speed, rel=5e-4)
