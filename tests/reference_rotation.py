"""The oracle for one rigid body that turns freely or about its axis: Jacobi elliptic functions, closed forms
and DOP853. Shares no code with minidem's kernels. Under other torques: minidem.scenarios.rotating_bodies.driven_bodies.

Principal frame, body components. Euler's equations I wdot = M - w x I w and qdot = 1/2 q (0, w);
quaternions (w, x, y, z), body -> lab. All functions take one body, arrays (3,) and (4,).
"""
import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipkinc

from minidem.scenarios.rotating_bodies.driven_bodies import quaternion_rate


def free_spin(inertia, w0, t):
    """Angular velocity of one torque-free body with three different moments (Landau & Lifshitz, Mechanics, 37).

    It tumbles about the axis c of its largest moment if L^2 > 2T I_2, else about that of its smallest:
    w_a = A cn(u), w_b = B sn(u), w_c = +-C dn(u), u = u_0 +- rate t.
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


def turned_by(spin, q0, t, rtol=1e-13):
    """Orientation at time t of a body whose body-frame angular velocity is the known function spin(t)."""
    y = solve_ivp(lambda s, q: quaternion_rate(q, spin(s)), (0.0, t), q0, method="DOP853", rtol=rtol,
                  atol=rtol).y[:, -1]
    return y / np.linalg.norm(y)
