"""Polynomials of the Hurwitz zeta function for the onset correction (ONSET.md)."""
import numpy as np
from scipy.special import bernoulli

from minidem.contact.law import LawLimits

TERMS_BEFORE = 7        # of the sum, before the Euler-Maclaurin remainder; more add rounding errors
REMAINDERS = 8          # terms of the remainder; both together are exact to rounding for 1 <= q <= 2, s > -4


def hurwitz_zeta(s: float, q: np.ndarray) -> np.ndarray:
    """The Hurwitz zeta function by the Euler-Maclaurin formula.

    Parameters
    ----------
    s : float
        Not 1; between -4 and 4.
    q : (n,) array
        Between 1 and 2.

    Returns
    -------
    (n,) array
        Sum of (q + k)^-s over k = 0, 1, ..., continued analytically to s < 1. F. W. J. Olver et al., NIST Handbook of
        Mathematical Functions (2010), Eq. 25.11.5 with 25.11.7.
    """
    q = np.asarray(q, dtype=float)
    end = q + TERMS_BEFORE
    total = np.sum((q[..., None] + np.arange(TERMS_BEFORE)) ** -s, axis=-1)
    total += end ** (1.0 - s) / (s - 1.0) + 0.5 * end ** -s
    numbers, factor = bernoulli(2 * REMAINDERS), 1.0
    for k in range(1, REMAINDERS + 1):          # factor: s (s + 1) ... (s + 2k - 2) / (2k)!
        factor *= s / 2.0 if k == 1 else (s + 2 * k - 3) * (s + 2 * k - 2) / ((2 * k - 1) * (2 * k))
        total += numbers[2 * k] * factor * end ** (1.0 - s - 2 * k)
    return total


def zeta_polynomials(power: float) -> np.ndarray:
    """Coefficients of polynomials that agree with -zeta(-p, 1 + a) and -zeta(-p - 1, 1 + a) for 0 <= a <= 1.

    Parameters
    ----------
    power : float
        p of the force k d^p.

    Returns
    -------
    (2, ZETA_TERMS) array
        By ascending powers of a, interpolated at Chebyshev nodes; off by 3e-12 at most for 1 <= p <= 2.5.
    """
    terms = int(LawLimits.ZETA_TERMS)
    return np.array([
        np.polynomial.Chebyshev.interpolate(lambda a, s=s: -hurwitz_zeta(-s, 1.0 + a), terms - 1, domain=(0.0, 1.0))
        .convert(kind=np.polynomial.Polynomial, domain=(-1.0, 1.0), window=(-1.0, 1.0)).coef
        for s in (power, power + 1.0)])
