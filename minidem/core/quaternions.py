"""Quaternion arithmetic on NumPy arrays (..., 4) and vectors (..., 3), in the conventions of the kernels."""
import numpy as np


def multiply(a, b):
    """Hamilton product of (..., 4) and (..., 4)."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b), -1, 0)
    return np.stack([aw * bw - ax * bx - ay * by - az * bz,
                     aw * bx + ax * bw + ay * bz - az * by,
                     aw * by - ax * bz + ay * bw + az * bx,
                     aw * bz + ax * by - ay * bx + az * bw], axis=-1)


def conjugate(q):
    return np.asarray(q) * [1.0, -1.0, -1.0, -1.0]


def cross(a, b):
    """Cross product of (..., 3) and (..., 3); for few vectors much faster than numpy.cross."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def rotate(q, v):
    """q v q* for unit q: vectors from the body frame to the lab."""
    q, v = np.asarray(q), np.asarray(v)
    u, w = q[..., 1:], q[..., :1]
    return v + 2.0 * cross(u, cross(u, v) + w * v)


def rotate_back(q, v):
    """q* v q for unit q: vectors from the lab to the body frame."""
    return rotate(conjugate(q), v)
