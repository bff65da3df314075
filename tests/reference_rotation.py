"""The oracle for one rigid body: Jacobi elliptic functions, closed forms and DOP853. Shares no code with
minidem.

Principal frame, body components. Euler's equations I wdot = M - w x I w and qdot = 1/2 q (0, w);
quaternions (w, x, y, z), body -> lab. All functions take one body, arrays (3,) and (4,), or n bodies, (n,
3) and (n, 4).
"""
import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipkinc

from reference_contact import quaternion_rate


def free_spin(inertia, w0, t):
    """Angular velocity of one torque-free body with three different moments, exactly (Landau & Lifshitz,
    Mechanics, 37).

    With 2T the doubled energy and L the angular momentum, the body tumbles about the axis of its largest
    moment if L^2 > 2T I_2, else about that of its smallest. Numbering the axes (a, b, c) so that c is that
    axis,
        w_a = A cn(u), w_b = B sn(u), w_c = +-C dn(u),   u = u_0 +- rate t.
    """
    inertia, w0 = np.asarray(inertia, float), np.asarray(w0, float)
    order = np.argsort(inertia)
    handed = np.linalg.det(np.eye(3)[order])         # -1: a mirror image, which turns the other way
    twice_energy, square = np.sum(inertia * w0**2), np.sum((inertia * w0)**2)
    if square < twice_energy * inertia[order[1]]:
        order = order[::-1]         # mirrors again; the changed signs of I_a - I_b etc. make up for it
    a, b, c = order
    i_a, i_b, i_c = inertia[order]
    amplitude_a = np.sqrt((twice_energy * i_c - square) / (i_a * (i_c - i_a)))
    amplitude_b = np.sqrt((twice_energy * i_c - square) / (i_b * (i_c - i_b)))
    amplitude_c = np.sqrt((square - twice_energy * i_a) / (i_c * (i_c - i_a)))
    rate = np.sqrt((i_c - i_b) * (square - twice_energy * i_a) / (i_a * i_b * i_c))
    parameter = (i_b - i_a) * (twice_energy * i_c - square) / ((i_c - i_b) * (square - twice_energy * i_a))
    side = np.sign(w0[c])
    start = ellipkinc(np.arctan2(w0[b] / amplitude_b, w0[a] / amplitude_a), parameter)
    sn, cn, dn, _ = ellipj(start + handed * side * rate * np.asarray(t), parameter)
    w = np.empty(np.shape(t) + (3,))
    w[..., a], w[..., b], w[..., c] = amplitude_a * cn, amplitude_b * sn, side * amplitude_c * dn
    return w


def symmetric_spin(inertia, w0, axial_torque, t):
    """Angular velocity of one body with moments (I_1, I, I) under a constant torque about axis 1: w_1 grows
    linearly, w_2 + i w_3 turns through -(I - I_1)/I times the angle swept by w_1."""
    first, other = inertia[0], inertia[1]
    swept = w0[0] * t + 0.5 * axial_torque / first * t**2
    across = (w0[1] + 1j * w0[2]) * np.exp(-1j * (other - first) / other * swept)
    return np.array([w0[0] + axial_torque / first * t, across.real, across.imag])


def turned_by(spin, q0, t, rtol=1e-13):
    """Orientation at time t of a body whose body-frame angular velocity is the known function spin(t)."""
    y = solve_ivp(lambda s, q: quaternion_rate(q, spin(s)), (0.0, t), q0, method='DOP853', rtol=rtol,
                  atol=rtol).y[:, -1]
    return y / np.linalg.norm(y)


def driven(inertia, q0, w0, torque, t, rtol=1e-13):
    """Orientation and angular velocity at time t under torque(t, q, w), body frame, in the shape of w0; for
    an ascending array of times, one of each per time. DOP853.

    The absolute tolerance is rtol times the largest angular velocity at the start, or the one that the
    torque of the start would give over the time if that is larger: nothing depends on the units.
    """
    inertia, q0, w0 = (np.asarray(value, float) for value in (inertia, q0, w0))
    times = np.atleast_1d(t)
    pushed = np.max(np.abs(torque(0.0, q0, w0)) / inertia) * times[-1]

    def split(y):
        return y[:q0.size].reshape(q0.shape), y[q0.size:].reshape(w0.shape)

    def rate(s, y):
        q, w = split(y)
        wdot = (torque(s, q, w) - np.cross(w, inertia * w)) / inertia
        return np.concatenate([quaternion_rate(q, w).ravel(), wdot.ravel()])

    scale = np.concatenate([np.ones(q0.size), np.full(w0.size, max(np.max(np.abs(w0)), pushed))])
    found = solve_ivp(rate, (0.0, times[-1]), np.concatenate([q0.ravel(), w0.ravel()]), method='DOP853',
                      t_eval=times, rtol=rtol, atol=rtol * scale).y.T
    q, w = (np.array(part) for part in zip(*map(split, found)))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return (q, w) if np.ndim(t) else (q[0], w[0])


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def orientation_error(q, reference):
    """Root mean square difference of the components, after choosing the sign of each q (q and -q are one
    pose)."""
    sign = np.where((q * reference).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    return rms(sign * q - reference)


def slopes(errors):
    """Measured orders: log2 of the ratio of successive errors, each at half the step of the one before."""
    errors = np.asarray(errors)
    return np.log2(errors[:-1] / errors[1:])


def order(errors):
    """One measured order from errors over halvings of the step: the slope of the straight line through all
    of them."""
    return -np.polyfit(np.arange(len(errors)), np.log2(errors), 1)[0]
