# distutils: extra_compile_args = -O1
"""The formulas of jkr.pxd for Python: curves to compare with, and the limits of an adhesive contact."""
from math import pi, sqrt

import numpy as np

from minidem.contact.jkr cimport (
    Jkr, energy_at, force_at, lost_at_tear_off, lost_at_touch, pull_off_force, root_at, tear_off,
)


def length_root(modulus, adhesion):
    """s = sqrt(2 pi w / E*) [m^(1/2)] of moduli E* [Pa] and works of adhesion w [J/m2], arrays or numbers."""
    return (2.0 * pi * adhesion / modulus) ** 0.5


def jkr_curves(overlap, double radius, double modulus, double adhesion):
    """Contact radius, force and energy on the stable branch.

    Parameters
    ----------
    overlap : (n,) array
        [m], negative for a gap; beyond tear-off the values are those at tear-off.
    radius, modulus, adhesion : float
        Effective radius R* [m] and modulus E* [Pa], work of adhesion w [J/m2] greater than 0.

    Returns
    -------
    (n, 3) ndarray
        Contact radius [m], force [N], repulsion positive, and energy relative to separated spheres [J].
    """
    cdef double s = length_root(modulus, adhesion), stiffness = 4.0 / 3.0 * modulus, x
    cdef Jkr jkr = tear_off(radius, s)
    cdef double[::1] overlaps = np.ascontiguousarray(overlap, dtype=float)
    cdef double[:, ::1] values = np.empty((len(overlaps), 3))
    cdef Py_ssize_t k
    for k in range(len(overlaps)):
        x = root_at(overlaps[k], &jkr)
        values[k, 0], values[k, 1] = x * x, force_at(x, radius, stiffness, s)
        values[k, 2] = energy_at(x, radius, stiffness, s)
    return np.asarray(values)


def jkr_limits(double radius, double modulus, double adhesion):
    """Where an adhesive contact ends, and what it costs; arguments as for `jkr_curves`.

    Returns
    -------
    dict of str to float
        gap: at which it tears off [m];  pull_off: largest attraction, 3/2 pi w R* [N];  lost_at_touch,
        lost_at_tear_off: energies [J], together 7.09 (w^5 R*^4 / E*^2)^(1/3).
    """
    cdef double s = length_root(modulus, adhesion), stiffness = 4.0 / 3.0 * modulus
    cdef Jkr jkr = tear_off(radius, s)
    return {"gap": jkr.gap, "pull_off": pull_off_force(radius, stiffness, s),
            "lost_at_touch": lost_at_touch(&jkr, radius, stiffness, s),
            "lost_at_tear_off": lost_at_tear_off(&jkr, radius, stiffness, s)}


def sticking_speed(mass, radius, modulus, adhesion):
    """Relative speed up to which two bodies that meet head on stick, without other losses.

    C. Thornton & Z. Ning, Powder Technol. 99, 154 (1998), doi:10.1016/S0032-5910(98)00099-0; arguments as for
    `jkr_curves`, and the effective mass m* [kg].

    Returns
    -------
    float
        sqrt(14.18 / m*) (w^5 R*^4 / E*^2)^(1/6) [m/s].
    """
    limits = jkr_limits(radius, modulus, adhesion)
    return sqrt(2.0 * (limits["lost_at_touch"] + limits["lost_at_tear_off"]) / mass)
