"""Six asymmetric bodies under four kinds of torque: the order of convergence of any rotation scheme.

Errors are root mean squares over the bodies, each in a motion of its own, so that an order is not an
accident of one body whose leading error happens to vanish. Time is counted in seconds, moments of inertia in
kg m2, torques in N m; all are of order one, the bodies turn by about a radian. Inertia, angular velocity and
torque are components in the principal frame, quaternions (w, x, y, z) turn it into the lab frame.

The reference, `driven`, solves the equations of motion by DOP853 and shares nothing with the schemes.
"""
from functools import lru_cache

import numpy as np
from scipy.integrate import solve_ivp

from minidem import rotation
from minidem.core.quaternions import cross, rotate_back

DURATION = 1.0                                                      # [s]
# Records declare whole orders; a straight line through five errors, each at half the step of the one before,
# deviates by the next order's term: c dt at the largest step, with c of order one. 0.1 is that term for these
# bodies (measured: below 0.05), and far from the 1 that separates two orders.
TOLERANCE = 0.1


def _bodies(seed=5, n=6):
    """Moments (n, 3), none above the sum of the others, orientations (n, 4), angular velocities (n, 3)."""
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
    """A heavy body held at a point: arm x (downward force seen from the body)."""
    return cross(ARM, rotate_back(q, [0.3, 0.2, -1.5]))


def of_spin(t, q, w):
    """Drag, anisotropic and not linear."""
    return PUSH - w * np.array([0.3, 0.8, 0.5]) * np.sqrt(1.0 + (w * w).sum(-1, keepdims=True))


VARYING = {"time": of_time, "orientation": of_orientation, "spin": of_spin}
TORQUES = {"constant": constant, **VARYING}                         # of t, q (6, 4), w (6, 3): (6, 3)


def errors(scheme, torque, steps):
    """Errors of orientation and angular velocity after DURATION, array (2, n), for n numbers of steps.

    torque: one of TORQUES. Both at the whole step; that of the orientation is of its components, that of the
    angular velocity in rad/s.
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


def halvings(expected):
    """Five numbers of steps. Schemes of fourth order start coarser, to stay above round-off."""
    return (20 if expected >= 4 else 80) * 2**np.arange(5)


def order(errors):
    """One measured order from errors over halvings of the step: the slope of the straight line through all
    of them."""
    return -np.polyfit(np.arange(len(errors)), np.log2(errors), 1)[0]


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def orientation_error(q, reference):
    """Root mean square difference of the components, after choosing the sign of each q (q and -q are one
    pose)."""
    sign = np.where((q * reference).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    return rms(sign * q - reference)


def quaternion_rate(q, w):
    """qdot = 1/2 q (0, w) of orientations (..., 4) and angular velocities (..., 3), body components."""
    s, u = q[..., :1], q[..., 1:]
    return 0.5 * np.concatenate([-(u * w).sum(-1, keepdims=True), s * w + cross(u, w)], axis=-1)


def driven(inertia, q0, w0, torque, t, rtol=1e-13):
    """Orientation and angular velocity at time t [s] of one body, arrays (3,) and (4,), or n bodies, (n, 3)
    and (n, 4), in the shape of w0; for an ascending array of times, one of each per time.

    Euler's equations I wdot = torque(t, q, w) - w x I w and qdot = 1/2 q (0, w), by DOP853 (Hairer, Norsett &
    Wanner). The absolute tolerance is rtol times the largest angular velocity at the start, or the one that
    the torque of the start would give over the time if that is larger: nothing depends on the units.
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
