"""Mass properties of a rigid body of spheres: volume, centre of mass, principal moments and axes.

Axes need only products and sums in a fixed order, without a linear algebra library: the same spheres give the same bits
on any machine.
"""
from math import frexp, fsum, sqrt
from typing import NamedTuple

import numpy as np

from minidem.core.checks import refuse
from minidem.core.quaternions import cross
from minidem.templates.mass.union_of_spheres import moments_of_union

EPS = float(np.finfo(np.float64).eps)
TIE = 1e-6          # components of an axis that differ by less are equal, so that a choice does not depend on round-off
EQUAL = 1e-13       # moments of a given tensor that differ by less than this part of the largest are equal: round-off
SYMMETRIC = 1e-6    # largest difference of two elements, over the largest element: rounding to single precision
SAME = 1e-9         # largest difference of mass properties that are the same, over their size: few digits in a file


class MassProperties(NamedTuple):
    """Mass properties of a body of uniform density, input frame; the fields are attributes of ClumpTemplate."""
    volume: float
    center_of_mass: np.ndarray
    inertia: np.ndarray
    axes: np.ndarray
    relative_error: float
    density: float

    def scaled(self, scale: float, density: float) -> "MassProperties":
        """Return the mass properties of the body enlarged by `scale`, with another density."""
        return MassProperties(self.volume * scale ** 3, self.center_of_mass * scale,
                              self.inertia * (scale ** 5 * (density / self.density)), self.axes, self.relative_error,
                              density)

    @property
    def tensor(self) -> np.ndarray:
        """Tensor of inertia (3, 3) about the centre of mass, input frame."""
        return self.axes * self.inertia @ self.axes.T

    def is_distributed_as(self, other: "MassProperties") -> bool:
        """Whether mass is distributed as in another body of the same spheres: same centre and tensor per mass."""
        mine, theirs = (body.tensor / (body.density * body.volume) for body in (self, other))
        size = np.trace(theirs)
        return bool(np.sum((self.center_of_mass - other.center_of_mass) ** 2) <= SAME ** 2 * size
                    and np.abs(mine - theirs).max() <= SAME * size)


def possible_moments(low, middle, high):
    """Whether these, ascending, are principal moments of a rigid body, except for rounding."""
    return 0.0 < low <= middle <= high <= (low + middle) * (1.0 + 1e-9)


def tensor_properties(name, tensor, mass, center, volume, relative_error):
    """Return the MassProperties of a body with a given mass, centre of mass and tensor of inertia about it.

    name : of the tensor, for messages;  tensor : (3, 3), input frame [kg m2];  mass : [kg];  center : (3,) [m]
    volume : of the spheres [m3], for the density;  relative_error : of the volume

    ValueError for a tensor that no rigid body has.
    """
    refuse(name, tensor, np.abs(tensor - tensor.T) > SYMMETRIC * np.abs(tensor).max(),
           "not symmetric; give the tensor of inertia about the centre of mass")
    tensor = np.triu(tensor) + np.triu(tensor, 1).T
    with np.errstate(over="ignore", under="ignore"):        # a ratio in a Jacobi rotation may be infinite
        moments, axes = principal_axes(0.5 * np.trace(tensor) * np.eye(3) - tensor, EQUAL)
    exact = np.diagonal(axes.T @ tensor @ axes)             # without differences; equal ones stay equal
    moments = np.array([exact[moments == moment].mean() for moment in moments])
    if not possible_moments(*moments):
        raise ValueError(f"{name}: principal moments {moments.tolist()}, impossible for a rigid body; give the tensor "
                         "of inertia about the centre of mass, whose moments are positive, and none larger than the "
                         "sum of the others")
    return MassProperties(volume, center, moments, axes, relative_error, mass / volume)


def tensor_of_parts(masses, centers, tensors):
    """Return mass, centre of mass (3,) and tensor of inertia (3, 3) about it, of a body of several parts.

    masses : (n,);  centers : (n, 3) of mass;  tensors : (n, 3, 3) about these, input frame
    """
    mass = fsum(masses)
    origin = centers[0]                                     # against cancellation far from the origin of the frame
    center = origin + [fsum(masses * (centers[:, k] - origin[k])) / mass for k in range(3)]
    arms = centers - center
    tensor = np.zeros((3, 3))
    for m, arm, own in zip(masses, arms, tensors):
        tensor += own + m * ((arm * arm).sum() * np.eye(3) - arm[:, None] * arm)
    return mass, center, tensor


def layered_properties(centers, radii, densities):
    """Return the MassProperties of spheres with a density each (n,), the largest of which counts where some overlap.

    The integral over the largest density is a sum over its values in ascending order: the difference to the value
    below, times the integral over the union of the spheres that are at least as dense. All terms are positive.
    """
    levels = np.unique(densities)
    unions = [union_properties(centers[densities >= level], radii[densities >= level], step)[0]
              for level, step in zip(levels, np.diff(levels, prepend=0.0))]
    parts = tensor_of_parts(np.array([union.density * union.volume for union in unions]),
                            np.array([union.center_of_mass for union in unions]), [union.tensor for union in unions])
    error = max(union.relative_error for union in unions)
    return tensor_properties("density", parts[2], *parts[:2], unions[0].volume, error)


def union_properties(centers, radii, density):
    """Return the MassProperties of a union of spheres, and the offsets (n, 3) of their centres in the principal frame.

    centers, radii : (n, 3), (n,), input frame [m];  density : [kg/m3]
    """
    # Lengths are relative to a point near the centre of mass, against cancellation far from the origin, and scaled
    # by a power of two near the size of the clump, so that fifth powers neither overflow nor underflow.
    origin = _middle(centers, radii)
    local = centers - origin
    exponent = frexp(float((np.abs(local).max(axis=1) + radii).max()))[1]
    local = np.ldexp(local, -exponent)
    # Resolution of the input coordinates: the user's computation of them has rounded a few times.
    resolution = 16.0 * EPS * float(np.ldexp(np.abs(centers).max(), -exponent))
    volume, center, inertia, axes, offsets, error = _scaled_properties(local, np.ldexp(radii, -exponent), resolution)
    return MassProperties(float(np.ldexp(volume, 3 * exponent)), origin + np.ldexp(center, exponent),
                          density * np.ldexp(inertia, 5 * exponent), axes, error, density), np.ldexp(offsets, exponent)


def _scaled_properties(centers, radii, resolution):
    """Return volume, centre of mass, moments of inertia per density, axes, offsets and relative error.

    The body has a size of about 1. A rod is computed in a frame along its line, where its symmetry is exact.
    """
    line = _common_line(centers, resolution)
    axes = np.eye(3) if line is None else frame_about(line)
    offsets = components(centers, axes)
    if line is not None:
        offsets[:, 1:] = 0.0
    volume, first, second, volume_error, second_error = moments_of_union(offsets, radii)
    center = first / volume
    if line is not None:
        center[1:] = 0.0
    offsets -= center
    second -= volume * center[:, None] * center[None, :]
    # Moments closer than this are equal: an error of `resolution` in a coordinate changes them by a few times that.
    equal = 8.0 * resolution + fsum(second_error) / np.trace(second) + 64.0 * EPS
    if line is None:
        moments, axes = principal_axes(second, equal)
        offsets = components(offsets, axes)
        inertia_error = fsum(second_error) / moments[0]
    else:
        across = 0.5 * (second[1, 1] + second[2, 2])
        along = second[0, 0]        # at least `across`, for any union of spheres on a line
        if along - across <= equal * along:
            along = across
        moments = np.array([2.0 * across, along + across, along + across])
        center = center[0] * axes[:, 0]
        inertia_error = max((second_error[1] + second_error[2]) / moments[0],
                            (second_error[0] + second_error[1]) / moments[1])
    return volume, center, moments, axes, offsets, max(volume_error / volume, inertia_error)


def _common_line(centers, resolution):
    """Return the unit vector of the line through all centres; None for one point, or without a common line."""
    start = centers[np.argmax(lengths(centers))]
    span = centers - start
    end = span[np.argmax(lengths(span))]
    length = float(lengths(end))
    if length <= resolution:
        return None
    line = end / length
    away = span - components(span, line[:, None]) * line
    return line if lengths(away).max() <= resolution else None


def _middle(centers, radii):
    """Return the mean centre weighted by volume, near the centre of mass and independent of the order of spheres."""
    box = 0.5 * centers.min(axis=0) + 0.5 * centers.max(axis=0)
    weights = (radii / radii.max()) ** 3
    return box + [fsum(weights * (centers[:, k] - box[k])) / fsum(weights) for k in range(3)]


def components(vectors, axes):
    """Return the components (n, k) of vectors (n, 3) along the columns of axes (3, k), summed in order."""
    return vectors[:, 0:1] * axes[0] + vectors[:, 1:2] * axes[1] + vectors[:, 2:3] * axes[2]


def lengths(vectors):
    """Return the lengths (...) of vectors (..., 3), summed in order."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.sqrt(x * x + y * y + z * z)


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

    The direction has its largest component positive; u is along the input axis farthest from it.
    """
    direction = _pointed(direction / lengths(direction))
    size = np.abs(direction)
    k = int(np.argmax(size <= size.min() + TIE))
    u = -direction[k] * direction
    u[k] += 1.0
    u /= lengths(u)
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
    """Eigenvalues (list) and orthonormal eigenvectors (columns) of a symmetric 3 x 3 matrix, by Jacobi's rotations."""
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
