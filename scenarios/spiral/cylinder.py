"""A steel cylinder driven by a constant torque about its axis: the benchmark of the SPIRAL paper.

Section 3 of C. A. del Valle et al., Comput. Phys. Commun. 297, 109077 (2024),
doi:10.1016/j.cpc.2023.109077; equation numbers refer to the paper. The principal frame has x along the axis;
angular velocities are body components.

Two readings of the error of a scheme:

published : as for the published curves. The time is the sum of the steps in floating point, which differs from
    steps * dt and gives all schemes the same error floor; the stored angular velocity of a staggered scheme is
    compared with the exact one half a step earlier; the rotation matrix of PFC4 has its own error measure; Fincham,
    Buss and Johnson are the variants that the authors used.
synchronised : the schemes as designed, q and w at the whole step n * dt, either sign of q, one error measure.
"""
from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
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

STEPS = np.logspace(-7, -1, 20)                                     # time steps of the published curves [s]
TARGETS = (1e-5, 1e-4, 1e-3, 1e-2)                                  # target errors: mean over q and w after 1 s

# reading: {name in the figures: scheme}
SCHEMES = {"published": {
    "SPIRAL": "spiral", "SPIRAL, non-leapfrog": "spiral-sync", "SPIRAL-O": "spiral-omelyan",
    "Omelyan": "omelyan", "Buss": "buss-published", "Velocity Verlet": "velocity-verlet",
    "Fincham": "fincham-published", "Direct Euler": "euler", "Johnson": "johnson-published", "PFC4": "pfc4",
    "Runge-Kutta 4": "rk4"}}
SCHEMES["synchronised"] = SCHEMES["published"] | {
    "Buss": "buss", "Fincham": "fincham", "Johnson": "johnson", "PCDM": "pcdm",
    "improved PCDM": "improved-pcdm"}


def spin(time: ArrayLike) -> np.ndarray:
    """Exact angular velocity (..., 3) [rad/s] at times (...) [s], Eqs 11 and 12."""
    omega = AXIAL / (2 * DRIVE) * abs(AXIAL - ACROSS) / ACROSS
    eta = ACROSS / (ACROSS - AXIAL) * 2 * DRIVE / AXIAL
    cosine, sine = np.cos(omega * SPIN[0]**2), np.sin(omega * SPIN[0]**2)
    k1 = SPIN[1] * cosine - SPIN[2] / (omega * eta) * sine
    k2 = SPIN[1] * sine + SPIN[2] / (omega * eta) * cosine
    axial = SPIN[0] + DRIVE / AXIAL * np.asarray(time)
    angle = omega * axial**2
    return np.stack([axial, k1 * np.cos(angle) + k2 * np.sin(angle),
                     eta * omega * (k2 * np.cos(angle) - k1 * np.sin(angle))], axis=-1)


def orientation(times: ArrayLike, rtol: float = 1e-13) -> np.ndarray:
    """Orientation (n, 4) at ascending times (n,) [s], by DOP853; accurate to 2e-12 at 20 s.

    The rotation phi about the axis is split off, q = p exp(phi/2 x), so that p is rotated only by the transverse
    angular velocity, a thousand times slower at 20 s. With quaternions as pairs of complex numbers, p = a + b j and the
    transverse angular velocity W j, pdot = 1/2 p W j reads adot = -1/2 b conj(W), bdot = 1/2 a W.
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


def deviation(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Relative error, Eq. 13: sum abs(found - exact) / sum abs(exact) over the last axis."""
    return np.sum(np.abs(found - exact), axis=-1) / np.sum(np.abs(exact), axis=-1)


def accumulated_time(dt: float, steps: int) -> np.ndarray:
    """Times after 1, 2, ..., `steps` steps as a running sum in floating point, array (steps,) [s]."""
    return np.add.accumulate(np.full(steps, dt))


def errors(scheme: str, dt: float, time: float = 1.0, reading: str = "published",
           rows: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Relative errors of orientation and angular velocity.

    Parameters
    ----------
    scheme : str
    dt, time : float
        Time step and end of the integration [s]; there are floor(time / dt) steps.
    reading : {"published", "synchronised"}
    rows : int
        Number of equidistant times at which errors are computed, the last at the end.

    Returns
    -------
    error_q, error_w : arrays, shape (rows,)
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
    """Times and exact orientations of the rows."""
    if reading == "synchronised":
        instants = every * dt * np.arange(1, rows + 1)
    else:
        instants = accumulated_time(dt, every * rows)[every - 1::every]
    return instants, orientation(instants)


def step_for(steps: np.ndarray, errors: np.ndarray, target: float) -> float | None:
    """Time step at which the mean of the errors of q and w is `target`, as in Table 2.

    Parameters
    ----------
    steps : array, shape (n,)
        Time steps, ascending [s].
    errors : array, shape (n, 2)
    target : float

    Returns
    -------
    float or None
        By log-log interpolation between the first two steps between which the mean exceeds the target [s]; None if
        there are no such steps.
    """
    excess = np.log(np.mean(errors, axis=1) / target)
    above = np.flatnonzero(excess > 0.0)
    if not len(above) or above[0] == 0:
        return None
    pair = slice(above[0] - 1, above[0] + 1)
    return float(np.exp(np.interp(0.0, excess[pair], np.log(steps[pair]))))


def _matrix_deviation(found, exact):
    """Published error of rotation matrices (lab to body), ||A - A_exact|| / ||A||; norm: largest column sum."""
    found, exact = (np.array([rotate_back(q, unit) for unit in np.eye(3)]) for q in (found, exact))

    def norm(columns):
        return np.max(np.sum(np.abs(columns), axis=-1), axis=0)

    return norm(found - exact) / norm(found)
