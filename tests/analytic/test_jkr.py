"""Adhesive contacts: formulas against Johnson, Kendall and Roberts' in 50 digits; the law alone."""
from decimal import Decimal, localcontext
from math import pi, sqrt

import numpy as np
import pytest

import minidem as md
from minidem.contact import columns
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
    scale = np.maximum(np.abs(right), [0.0, limits["pull_off"], limits["lost_at_touch"] + limits["lost_at_tear_off"]])
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
    assert (held - energy) / (adhesion**5 * radius**4 / modulus**2) ** (1 / 3) == pytest.approx(7.09, abs=5e-3)
    # substituted d = -gap + t^2: the force has the slope of a root at tear-off
    t, weights = np.polynomial.legendre.leggauss(40)
    top = sqrt(20 * gap)
    t, weights = 0.5 * top * (t + 1.0), 0.5 * top * weights
    overlaps = t * t - gap
    forces = jkr_curves(overlaps, *CASES[case])[:, 1]
    assert np.min(forces) == pytest.approx(-pull_off, rel=1e-2) and np.min(forces) >= -pull_off * (1 + 1e-14)
    [end] = jkr_curves([top**2 - gap], *CASES[case])[:, 2]
    assert held + np.sum(2 * t * weights * forces) == pytest.approx(end, rel=1e-10)


def test_limit_without_adhesion_and_scales():
    radius, modulus, overlap = 2e-3, 1e9, 1e-5
    a = sqrt(radius * overlap)
    [found] = jkr_curves([overlap], radius, modulus, 1e-40)
    assert found == pytest.approx([a, 4 / 3 * modulus * a * overlap, 8 / 15 * modulus * a * overlap**2], rel=1e-13)
    assert length_root(2e9, 0.3) == pytest.approx(sqrt(2 * pi * 0.3 / 2e9), rel=1e-15)
    speed = sqrt(14.18 / 1e-5) * (0.1**5 * 1e-3**4 / 1e9**2) ** (1 / 6)
    assert sticking_speed(1e-5, 1e-3, 1e9, 0.1) == pytest.approx(speed, rel=5e-4)


RADIUS, MASS, YOUNG, ADHESION = 1e-3, 1e-5, 2e8, 0.2
MATERIAL = md.Material(YOUNG, 0.3, adhesion=ADHESION, restitution=0.6, friction=0.3, rolling_friction=0.1)
MODULUS = md.effective_modulus(MATERIAL, MATERIAL)
LIMITS = jkr_limits(RADIUS, MODULUS, ADHESION)


class Contacts:
    """Eight contacts along x: rows that a law reads, and their histories."""
    def __init__(self, contact):
        law, self.values = md.contact.registry.select(contact)
        self.kernels = law.kernels_for(self.values)
        coefficients = law.coefficient_rows(PairTable(MATERIAL).properties(PROPERTIES), self.values)
        self.rows = np.zeros((columns.COEFFICIENTS + len(coefficients), 8))
        self.rows[columns.COEFFICIENTS:] = np.reshape(coefficients, (-1, 1))
        self.rows[[columns.NORMAL, columns.MIDDLE_NORMAL]] = 1.0
        self.rows[columns.RADIUS], self.rows[columns.MASS] = RADIUS, MASS
        self.history = np.zeros((self.kernels.n_records, 4, 8))

    def results(self):
        return self.kernels.results_at(self.rows, self.history, self.values)


@pytest.mark.parametrize("load", ["tension", "pressure"])
def test_friction_is_limited_by_the_force_beyond_pull_off(load):
    """mu (F_n + 2 F_c), in tension too: two bodies that slide past each other at a given overlap."""
    contacts = Contacts("hertz-mindlin:cohesion=jkr,tangential_damping=0,rolling=epsd,rolling_damping=0")
    overlap = {"tension": -0.5, "pressure": 5.0}[load] * LIMITS["gap"]
    contacts.rows[columns.OVERLAP], contacts.rows[16], contacts.rows[columns.STEP] = overlap, 1e-12, 1e-6
    contacts.rows[7], contacts.rows[11] = 10.0, 1e5          # along y, about z
    contacts.history[0, 3] = 1e-6
    [normal] = jkr_curves([overlap], RADIUS, MODULUS, ADHESION)[:, 1]
    for _ in range(20):
        result = contacts.results()
    limit = normal + 2.0 * LIMITS["pull_off"]
    assert (normal < 0.0) == (load == "tension") and limit > 0.0 and result[1] == pytest.approx(-0.3 * limit, rel=1e-9)
    assert result[5] == pytest.approx(-0.1 * RADIUS * limit, rel=1e-9)
