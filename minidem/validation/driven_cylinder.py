"""A steel cylinder that a constant torque spins up about its axis: the benchmark of the SPIRAL paper.

Section 3 of C. A. del Valle et al., Comput. Phys. Commun. 297, 109077 (2024),
doi:10.1016/j.cpc.2023.109077; equation numbers are theirs. The principal frame has x along the axis;
angular velocities are body components.

Two readings of the error of a scheme:

published : as the published curves were made. The time T is the sum of the steps in floating point, which
    differs from steps * dt and gives all schemes the same error floor; the angular velocity of a staggered
    scheme is compared as stored, with the exact one half a step earlier; the matrices of PFC4 have a
    measure of their own; Fincham, Buss and Johnson are variants of what is printed or was designed.
synchronised : the schemes as designed, everything at the whole step n * dt, the sign of q free, one measure
    for all.
"""
from functools import lru_cache

import numpy as np
from scipy.integrate import solve_ivp

from minidem import rotation
from minidem.core.quaternions import rotate_back

MASS = 7750.0 * np.pi * 0.05**2 * 0.15                              # radius 5 cm, height 15 cm [kg]
AXIAL, ACROSS = 0.5 * MASS * 0.05**2, MASS * (3 * 0.05**2 + 0.15**2) / 12
INERTIA = np.array([AXIAL, ACROSS, ACROSS])                         # printed, rounded: 0.0114, 0.0228 [kg m2]
ORIENTATION = np.array([1.0, 0.0, 0.0, 0.0])
SPIN = np.array([0.3, -0.9, 0.6])                                   # [rad/s]
DRIVE = 0.5                                                         # along the axis [N m]
TORQUE = np.array([DRIVE, 0.0, 0.0])

STEPS = np.logspace(-7, -1, 20)                                     # of the published curves [s]
TARGETS = (1e-5, 1e-4, 1e-3, 1e-2)                                  # mean of the errors of q and w after 1 s

# reading: {name in the figures: scheme}
SCHEMES = {"published": {
    "SPIRAL": "spiral", "SPIRAL, non-leapfrog": "spiral-sync", "SPIRAL-O": "spiral-omelyan",
    "Omelyan": "omelyan", "Buss": "buss-published", "Velocity Verlet": "velocity-verlet",
    "Fincham": "fincham-published", "Direct Euler": "euler", "Johnson": "johnson-published", "PFC4": "pfc4",
    "Runge-Kutta 4": "rk4"}}
SCHEMES["synchronised"] = SCHEMES["published"] | {
    "Buss": "buss", "Fincham": "fincham", "Johnson": "johnson", "PCDM": "pcdm",
    "improved PCDM": "improved-pcdm"}


def spin(time):
    """Exact angular velocity (..., 3) at the times (...) [s], Eqs 11 and 12."""
    omega = AXIAL / (2 * DRIVE) * abs(AXIAL - ACROSS) / ACROSS
    eta = ACROSS / (ACROSS - AXIAL) * 2 * DRIVE / AXIAL
    cosine, sine = np.cos(omega * SPIN[0]**2), np.sin(omega * SPIN[0]**2)
    k1 = SPIN[1] * cosine - SPIN[2] / (omega * eta) * sine
    k2 = SPIN[1] * sine + SPIN[2] / (omega * eta) * cosine
    axial = SPIN[0] + DRIVE / AXIAL * np.asarray(time)
    angle = omega * axial**2
    return np.stack([axial, k1 * np.cos(angle) + k2 * np.sin(angle),
                     eta * omega * (k2 * np.cos(angle) - k1 * np.sin(angle))], axis=-1)


def orientation(times, rtol=1e-13):
    """Orientation (n, 4) at ascending times (n,) [s], by DOP853 to 2e-12 at 20 s.

    Split off the turn phi about the axis, q = p exp(phi/2 x): p is turned by the spin across the axis alone,
    a thousand times slower at 20 s. With quaternions as pairs of complex numbers, p = a + b j and the spin
    W j, pdot = 1/2 p W j reads adot = -1/2 b conj(W), bdot = 1/2 a W.
    """
    def phi(t):
        return SPIN[0] * t + 0.5 * DRIVE / AXIAL * t * t

    def rate(t, p):
        across = (SPIN[1] + 1j * SPIN[2]) * np.exp(1j * AXIAL / ACROSS * phi(t))
        return np.array([-0.5 * p[1] * across.conjugate(), 0.5 * p[0] * across])

    p, now, rows = np.array([1.0 + 0.0j, 0.0]), 0.0, []
    for time in times:
        if time > now:
            p, now = solve_ivp(rate, (now, time), p, "DOP853", rtol=rtol, atol=rtol).y[:, -1], time
        turn = np.exp(0.5j * phi(time))
        a, b = p[0] * turn, p[1] * turn.conjugate()
        rows.append((a.real, a.imag, b.real, b.imag))
    return np.array(rows)


def deviation(found, exact):
    """Eq. 13: sum |found - exact| / sum |exact| over the last axis."""
    return np.sum(np.abs(found - exact), axis=-1) / np.sum(np.abs(exact), axis=-1)


def accumulated_time(dt, steps):
    """Sum of dt over the steps 1, 2, ..., `steps`, rounded at each: array (steps,)."""
    return np.add.accumulate(np.full(steps, dt))


def errors(scheme, dt, time=1.0, reading="published", rows=1):
    """Errors of orientation and angular velocity, two arrays (rows,), at `rows` instants up to `time` [s].

    dt [s]; the steps are the whole number below time / dt; reading: "published" or "synchronised".
    """
    if reading not in ("published", "synchronised"):
        raise ValueError(f"reading is {reading!r}; give 'published' or 'synchronised'")
    every = round(time / dt) // rows if rows > 1 else int(time / dt)
    end = rotation.integrate(scheme, INERTIA, ORIENTATION, SPIN, TORQUE, dt, every * rows,
                             sync=reading == "synchronised", record_every=every)
    instants, q = _reference(dt, every, rows, reading)
    if reading == "synchronised":
        sign = np.where(np.sum(end.orientation * q, axis=1, keepdims=True) < 0.0, -1.0, 1.0)
        return deviation(sign * end.orientation, q), deviation(end.angular_velocity, spin(instants))
    record = rotation.info(scheme)
    error_w = deviation(end.angular_velocity, spin(instants + record.angular_velocity_offset * dt))
    if record.name == "pfc4":
        return _matrix_deviation(end.orientation, q), error_w
    return deviation(end.orientation, q), error_w


@lru_cache(maxsize=64)
def _reference(dt, every, rows, reading):
    """(instants, exact orientations) of the rows."""
    if reading == "synchronised":
        instants = every * dt * np.arange(1, rows + 1)
    else:
        instants = accumulated_time(dt, every * rows)[every - 1::every]
    return instants, orientation(instants)


def step_for(steps, errors, target):
    """The time step [s] at which the mean of the errors of q and w is `target`.

    steps (n,) ascending [s], errors (n, 2). As in the paper's Table 2: log-log interpolation between those
    two of the steps between which the mean first exceeds the target. None if there are no such two.
    """
    excess = np.log(np.mean(errors, axis=1) / target)
    above = np.flatnonzero(excess > 0.0)
    if not len(above) or above[0] == 0:
        return None
    pair = slice(above[0] - 1, above[0] + 1)
    return float(np.exp(np.interp(0.0, excess[pair], np.log(steps[pair]))))


def _matrix_deviation(found, exact):
    """The published measure for rotation matrices lab -> body, ||A - A_exact|| / ||A||, with the norm induced
    by the sum norm: the largest column sum. It is divided by what was found, not by what is exact."""
    found, exact = (np.array([rotate_back(q, unit) for unit in np.eye(3)]) for q in (found, exact))

    def norm(columns):
        return np.max(np.sum(np.abs(columns), axis=-1), axis=0)

    return norm(found - exact) / norm(found)
