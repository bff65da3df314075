"""Quaternion arithmetic on NumPy arrays (..., 4), ordered (w, x, y, z), and vectors (..., 3)."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

NORM_ERROR = 0.05       # of the square of the norm in a time loop, beyond which spheres are out of place


def multiply(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Hamilton product of quaternions (..., 4) and (..., 4)."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b), -1, 0)
    return np.stack([aw * bw - ax * bx - ay * by - az * bz,
                     aw * bx + ax * bw + ay * bz - az * by,
                     aw * by - ax * bz + ay * bw + az * bx,
                     aw * bz + ax * by - ay * bx + az * bw], axis=-1)


def conjugate(q: ArrayLike) -> np.ndarray:
    """Conjugate quaternions (..., 4)."""
    return np.asarray(q) * [1.0, -1.0, -1.0, -1.0]


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product of vectors (..., 3) and (..., 3); for few vectors much faster than numpy.cross."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def rotate(q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Vectors (..., 3) rotated from the body frame to the lab frame, q v q*, by unit quaternions (..., 4)."""
    q, v = np.asarray(q), np.asarray(v)
    u, w = q[..., 1:], q[..., :1]
    return v + 2.0 * cross(u, cross(u, v) + w * v)


def rotate_back(q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Vectors (..., 3) rotated from the lab frame to the body frame, q* v q, by unit quaternions (..., 4)."""
    return rotate(conjugate(q), v)
