"""Principal moments and axes of a body, well defined also for equal moments.

Only products and sums in a fixed order, without a linear algebra library: the same spheres give the same bits on any
machine.
"""
from math import sqrt

import numpy as np

from minidem.core.quaternions import cross

# Components of an axis that differ by less are equal, so that a choice between them does not depend on round-off.
TIE = 1e-6


def principal_axes(second, tolerance):
    """Principal moments (3,) of inertia per density, ascending, and axes (3, 3), columns, right-handed.

    Three equal moments: the axes of the input frame. Two equal moments: `frame_about` the third axis. Otherwise axes 1
    and 2 have their largest component positive.

    second : (3, 3) integral of x_a x_b over the body about its centre of mass, symmetric
    tolerance : moments that differ by less than this part of the largest are made equal
    """
    spread, axes = _diagonalise(second)
    order = sorted(range(3), key=lambda k: -spread[k])       # the long direction has the smallest moment
    a, b, c = (spread[k] for k in order)
    moments = [b + c, a + c, a + b]                          # no difference, so nothing cancels
    first, third = axes[:, order[0]], axes[:, order[2]]

    near = tolerance * moments[2]
    lower, upper = moments[1] - moments[0], moments[2] - moments[1]
    if lower + upper <= near:
        return np.full(3, (moments[0] + moments[1] + moments[2]) / 3.0), np.eye(3)
    if lower <= near and lower <= upper:
        third, first, second_axis = frame_about(third).T
        moments[0] = moments[1] = 0.5 * (moments[0] + moments[1])
    elif upper <= near:
        first, second_axis, third = frame_about(first).T
        moments[1] = moments[2] = 0.5 * (moments[1] + moments[2])
    else:
        first, second_axis = _pointed(first), _pointed(axes[:, order[1]])
        third = cross(first, second_axis)
    return np.array(moments), np.stack([first, second_axis, third], axis=1)


def frame_about(direction):
    """Return orthonormal right-handed columns (direction, u, w), the same for both signs of `direction`.

    The direction has its largest component positive; u is the input axis farthest from it (the first of several),
    made perpendicular.
    """
    direction = _pointed(direction / _length(direction))
    size = np.abs(direction)
    k = int(np.argmax(size <= size.min() + TIE))
    u = -direction[k] * direction
    u[k] += 1.0
    u /= _length(u)
    return np.stack([direction, u, cross(direction, u)], axis=1)


def quaternion(axes):
    """Return the unit quaternion (w, x, y, z), w >= 0, of the rotation matrix `axes` (3, 3).

    It rotates components along the columns of `axes` to the input frame. Of the four equivalent formulas the one with
    the largest divisor is used, for accuracy near 180 degrees (Shepperd 1978, doi:10.2514/3.55767b).
    """
    m = axes
    pivots = [m[0, 0] + m[1, 1] + m[2, 2], m[0, 0], m[1, 1], m[2, 2]]
    largest = pivots.index(max(pivots))
    q = np.empty(4)
    if largest == 0:
        q[:] = 1.0 + pivots[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    else:
        i = largest - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        q[0] = m[k, j] - m[j, k]
        q[1 + i] = 1.0 + m[i, i] - m[j, j] - m[k, k]
        q[1 + j] = m[j, i] + m[i, j]
        q[1 + k] = m[k, i] + m[i, k]
    q /= sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return -q if q[0] < 0.0 else q


def _diagonalise(matrix):
    """Return eigenvalues (list) and orthonormal eigenvectors (columns) of a symmetric 3 x 3 matrix.

    Jacobi's rotations are accurate to round-off of the largest eigenvalue, and leave a diagonal matrix unchanged.
    """
    a, v = np.array(matrix), np.eye(3)
    while True:
        off = [(p, q) for p, q in ((0, 1), (0, 2), (1, 2))
               if abs(a[p, q]) > 1e-17 * (abs(a[p, p]) + abs(a[q, q]))]     # below a tenth of the last bit
        if not off:
            return [float(a[k, k]) for k in range(3)], v
        for p, q in off:
            if a[p, q] == 0.0:
                continue
            slope = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
            t = (1.0 if slope >= 0.0 else -1.0) / (abs(slope) + sqrt(slope * slope + 1.0))
            c = 1.0 / sqrt(t * t + 1.0)
            s = t * c
            shift, r = t * a[p, q], 3 - p - q
            a[p, p] -= shift
            a[q, q] += shift
            a[p, q] = a[q, p] = 0.0
            rp, rq = a[r, p], a[r, q]
            a[r, p] = a[p, r] = c * rp - s * rq
            a[r, q] = a[q, r] = s * rp + c * rq
            vp, vq = v[:, p].copy(), v[:, q].copy()
            v[:, p], v[:, q] = c * vp - s * vq, s * vp + c * vq


def _pointed(v):
    """Return `v` or `-v`, with its largest component (the first of several) positive."""
    size = np.abs(v)
    return v if v[int(np.argmax(size >= size.max() - TIE))] > 0.0 else -v


def _length(v):
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
