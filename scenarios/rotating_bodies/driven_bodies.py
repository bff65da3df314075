"""Six asymmetric bodies under four kinds of torque: the order of convergence of a rotation scheme.

Errors are root mean squares over bodies with different motions, because the leading error of a single body may
vanish by accident. SI units; all quantities are of order one, the bodies rotate by about a radian. Inertia, angular
velocity and torque are components in the principal frame; quaternions (w, x, y, z) rotate it to the lab frame.

The reference solution, `driven`, is computed by DOP853 and shares no code with the schemes.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from minidem import rotation
from minidem.core.quaternions import cross, rotate_back

DURATION = 1.0                                                      # [s]
# Orders are integers. A straight line through five errors, with the step halved four times, deviates by the next
# term of the error: c dt at the largest step, with c of order one. For these bodies it is below 0.05 (measured).
TOLERANCE = 0.1


def _bodies(seed=5, n=6):
    """Physically possible moments (n, 3), orientations (n, 4), angular velocities (n, 3)."""
    rng = np.random.default_rng(seed)
    smallest_two = rng.uniform(0.6, 1.4, (n, 2))
    inertia = np.sort(np.column_stack([smallest_two, smallest_two.sum(1) * rng.uniform(0.7, 0.9, n)]), axis=1)
    q = rng.normal(size=(n, 4))
    return inertia, q / np.linalg.norm(q, axis=1, keepdims=True), rng.normal(size=(n, 3))


INERTIA, ORIENTATION, SPIN = _bodies()                              # [kg m2], 1, [rad/s]
_rng = np.random.default_rng(9)
PUSH, SWING, PHASE, ARM = (_rng.normal(size=SPIN.shape) for _ in range(4))


def constant(t, q, w):
    return PUSH


def of_time(t, q, w):
    return PUSH + SWING * np.sin(3.0 * t + PHASE)


def of_orientation(t, q, w):
    """Gravity on a body held at a point: arm x (downward force in the body frame)."""
    return cross(ARM, rotate_back(q, [0.3, 0.2, -1.5]))


def of_spin(t, q, w):
    """Anisotropic, nonlinear drag."""
    return PUSH - w * np.array([0.3, 0.8, 0.5]) * np.sqrt(1.0 + (w * w).sum(-1, keepdims=True))


VARYING = {"time": of_time, "orientation": of_orientation, "spin": of_spin}
TORQUES = {"constant": constant, **VARYING}                         # of t, q (6, 4), w (6, 3): (6, 3)


def errors(scheme: str, torque: Callable, steps: Sequence[int]) -> np.ndarray:
    """Errors of orientation and angular velocity after DURATION, at the whole step.

    Parameters
    ----------
    scheme : str
    torque : callable
        One of TORQUES.
    steps : sequence of int, length n
        Numbers of steps.

    Returns
    -------
    array, shape (2, n)
        Of the components of the quaternion, and of the angular velocity [rad/s].
    """
    q, w = _end(torque)
    found = []
    for n in steps:
        end = rotation.integrate(scheme, INERTIA, ORIENTATION, SPIN, PUSH if torque is constant else torque,
                                 DURATION / n, n)
        found.append((orientation_error(end.orientation, q), rms(end.angular_velocity - w)))
    return np.array(found).T


@lru_cache
def _end(torque):
    """Exact orientation and angular velocity after DURATION."""
    return driven(INERTIA, ORIENTATION, SPIN, torque, DURATION)


def halvings(expected: int) -> np.ndarray:
    """Five numbers of steps for an expected order; smaller ones for fourth order, to stay above round-off."""
    return (20 if expected >= 4 else 80) * 2**np.arange(5)


def order(errors: np.ndarray) -> float:
    """Measured order: slope of the straight line through the errors of successive halvings of the step."""
    return -np.polyfit(np.arange(len(errors)), np.log2(errors), 1)[0]


def order_error(errors: np.ndarray) -> float:
    """Standard error of `order`, from the scatter of the errors about the line."""
    return np.sqrt(np.polyfit(np.arange(len(errors)), np.log2(errors), 1, cov=True)[1][0, 0])


def rms(values: np.ndarray) -> float:
    """Root mean square."""
    return np.sqrt(np.mean(np.square(values)))


def rms_error(values: np.ndarray) -> float:
    """Standard error of `rms`, of independent values."""
    return np.std(np.square(values), ddof=1) / np.sqrt(len(values)) / (2.0 * rms(values)) if np.any(values) else 0.0


def orientation_error(q: np.ndarray, reference: np.ndarray) -> float:
    """Root mean square difference of the components; q and -q are the same orientation."""
    sign = np.where((q * reference).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    return rms(sign * q - reference)


def quaternion_rate(q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """qdot = 1/2 q (0, w) for orientations (..., 4) and body angular velocities (..., 3)."""
    s, u = q[..., :1], q[..., 1:]
    return 0.5 * np.concatenate([-(u * w).sum(-1, keepdims=True), s * w + cross(u, w)], axis=-1)


def driven(inertia: ArrayLike, q0: ArrayLike, w0: ArrayLike, torque: Callable, t: ArrayLike,
           rtol: float = 1e-13) -> tuple[np.ndarray, np.ndarray]:
    """Solve Euler's equations I wdot = torque(t, q, w) - w x I w and qdot = 1/2 q (0, w) by DOP853.

    Parameters
    ----------
    inertia, w0 : array, shape (3,) or (n, 3)
        Principal moments [kg m2] and initial angular velocities in the body frame [rad/s].
    q0 : array, shape (4,) or (n, 4)
    torque : callable
        torque(t, q, w) in the body frame [N m].
    t : float, or ascending array of float
        Time or times [s].
    rtol : float
        Relative tolerance. The absolute tolerance is rtol times the largest initial angular velocity, or the angular
        velocity that the initial torque would give over the time if that is larger; it does not depend on units.

    Returns
    -------
    q, w : arrays
        Orientation and angular velocity in the shapes of q0 and w0; with a leading axis for an array of times.
    """
    inertia, q0, w0 = (np.asarray(value, float) for value in (inertia, q0, w0))
    times = np.atleast_1d(t)
    pushed = np.max(np.abs(torque(0.0, q0, w0)) / inertia) * times[-1]

    def split(y):
        return y[:q0.size].reshape(q0.shape), y[q0.size:].reshape(w0.shape)

    def rate(s, y):
        q, w = split(y)
        wdot = (torque(s, q, w) - cross(w, inertia * w)) / inertia
        return np.concatenate([quaternion_rate(q, w).ravel(), wdot.ravel()])

    scale = np.concatenate([np.ones(q0.size), np.full(w0.size, max(np.max(np.abs(w0)), pushed))])
    found = solve_ivp(rate, (0.0, times[-1]), np.concatenate([q0.ravel(), w0.ravel()]), method="DOP853",
                      t_eval=times, rtol=rtol, atol=rtol * scale).y.T
    q, w = (np.array(part) for part in zip(*map(split, found)))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return (q, w) if np.ndim(t) else (q[0], w[0])
