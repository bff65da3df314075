"""Polynomials of the Hurwitz zeta function for the onset correction (ONSET.md).

In decimal numbers of 40 digits: NumPy's powers and matrix products round differently on different processors, and the
coefficients are part of the forces.
"""
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np

TERMS = 12              # of a polynomial
ARITHMETIC = Context(prec=40, rounding=ROUND_HALF_EVEN)
TERMS_BEFORE = 7        # of the sum, before the Euler-Maclaurin remainder
BERNOULLI = "1/6", "-1/30", "1/42", "-1/30", "5/66", "-691/2730", "7/6", "-3617/510"       # B_2, B_4, ... B_16
# TERMS_BEFORE and these terms of the remainder: exact to 4e-16 for 1 <= q <= 2, -4 < s < 4.


def hurwitz_zeta(s: float | Decimal, q: float | Decimal) -> Decimal:
    """Sum of (q + k)^-s over k = 0, 1, ..., continued analytically to s < 1: the Hurwitz zeta function.

    By the Euler-Maclaurin formula: F. W. J. Olver et al., NIST Handbook of Mathematical Functions (2010), Eq. 25.11.5
    with 25.11.7. -4 < s < 4, not 1;  1 <= q <= 2.
    """
    with localcontext(ARITHMETIC):
        s, q = Decimal(s), Decimal(q)
        end = q + TERMS_BEFORE
        last = end ** -s
        total = sum((q + k) ** -s for k in range(TERMS_BEFORE)) + last * end / (s - 1) + last / 2
        factor = s / (2 * end)                      # s (s + 1) ... (s + 2k - 2) / (2k)! / end^(2k - 1)
        for k, number in enumerate(map(Fraction, BERNOULLI), start=1):
            total += last * factor * number.numerator / number.denominator
            factor *= (s + 2 * k - 1) * (s + 2 * k) / ((2 * k + 1) * (2 * k + 2) * end * end)
        return total


def interpolate(nodes, values):
    """Coefficients by ascending powers of the polynomial through n points, by Newton's divided differences."""
    differences = list(values)
    for order in range(1, len(nodes)):
        for k in range(len(nodes) - 1, order - 1, -1):
            differences[k] = (differences[k] - differences[k - 1]) / (nodes[k] - nodes[k - order])
    coefficients = []
    for node, difference in zip(nodes[::-1], differences[::-1]):        # times (a - node), plus the difference
        coefficients = [above - node * here for above, here in zip([0, *coefficients], [*coefficients, 0])]
        coefficients[0] += difference
    return coefficients


@cache
def zeta_polynomials(power: float) -> np.ndarray:
    """Coefficients (2, TERMS) of polynomials that agree with -zeta(-p, 1 + a) and -zeta(-p - 1, 1 + a) for 0 <= a <= 1.

    By ascending powers of a, interpolated near Chebyshev nodes; off by 3e-12 at most for 1 <= p <= 2.5.

    power : p of the force k d^p
    """
    chebyshev = 0.5 - 0.5 * np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS)
    nodes = [Decimal(round(1000 * node)) / 1000 for node in chebyshev.tolist()]         # the same everywhere
    with localcontext(ARITHMETIC):
        polynomials = np.array([[float(c) for c in interpolate(nodes, [-hurwitz_zeta(-s, 1 + node) for node in nodes])]
                                for s in (power, power + 1.0)])
    polynomials.flags.writeable = False
    return polynomials
