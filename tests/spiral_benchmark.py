"""The published benchmark of SPIRAL: a cylinder spun up about its axis, and the errors of a scheme on it.

Section 3 of del Valle et al., SPIRAL, Comput. Phys. Commun. 297, 109077 (2024),
doi:10.1016/j.cpc.2023.109077. A cylinder (radius 0.05 m, height 0.15 m, density 7750 kg/m^3, axis x) starts
at q = 1 with w = (0.3, -0.9, 0.6) rad/s under 0.5 N m along its own axis. The moments are those of the
cylinder: the rounded ones that the paper prints miss its own figures by one percent. The error is
sum |a - a_exact| / sum |a_exact| over the components, Eq. 13. The published figures compare the w of
staggered schemes, as last used, with the exact w half a step earlier; so is it done here (sync=False).
"""
from functools import cache

import numpy as np
from reference_contact import rotation_matrix
from reference_rotation import symmetric_spin, turned_by

import minidem as md

MASS = 7750.0 * np.pi * 0.05**2 * 0.15
INERTIA = np.array([0.5 * MASS * 0.05**2, *2 * [MASS * (3 * 0.05**2 + 0.15**2) / 12]])
ORIENTATION, SPIN = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.3, -0.9, 0.6])
TORQUE = np.array([0.5, 0.0, 0.0])
REPORTED_AT_THE_WHOLE_STEP = ("improved-pcdm",)      # its paper gives the predicted q and w of the whole step


def exact_spin(t):
    return symmetric_spin(INERTIA, SPIN, TORQUE[0], t)


@cache
def exact_orientation(t):
    return turned_by(exact_spin, ORIENTATION, t)


def relative(found, reference):
    return np.sum(np.abs(found - reference)) / np.sum(np.abs(reference))


def column_sum_norm(a):
    return np.max(np.sum(np.abs(a), axis=0))


def errors(name, dt, steps, end=None):
    """Errors of q and w after so many steps; `end` is the time to which the exact solution is taken, steps *
    dt if not given."""
    last = md.rotation.integrate(name, INERTIA, ORIENTATION, SPIN, TORQUE, dt, steps,
                                 sync=name in REPORTED_AT_THE_WHOLE_STEP)
    end = last.time if end is None else end
    q = exact_orientation(end + (last.orientation_time - last.time))
    w = exact_spin(end + (last.angular_velocity_time - last.time))
    error_q = relative(last.orientation, q)
    if name == "pfc4":      # published as the error of the matrix lab -> body that this scheme stores
        found, reference = rotation_matrix(last.orientation).T, rotation_matrix(q).T
        error_q = column_sum_norm(found - reference) / column_sum_norm(found)
    return error_q, relative(last.angular_velocity, w)
