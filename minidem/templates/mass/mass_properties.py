"""Mass properties of a rigid body of spheres: volume, centre of mass, principal moments and axes."""
from math import frexp, fsum
from typing import NamedTuple

import numpy as np

from minidem.templates.mass.principal_axes import frame_about, principal_axes
from minidem.templates.mass.union_of_spheres import moments_of_union

EPS = float(np.finfo(np.float64).eps)


class MassProperties(NamedTuple):
    """Mass properties of a body of uniform density, input frame; the fields are attributes of ClumpTemplate."""
    volume: float
    center_of_mass: np.ndarray
    inertia: np.ndarray
    axes: np.ndarray
    relative_error: float
    density: float

    def scaled(self, scale: float, density: float) -> "MassProperties":
        """Return those of the body enlarged by `scale`, with another density."""
        return MassProperties(self.volume * scale ** 3, self.center_of_mass * scale,
                              self.inertia * (scale ** 5 * (density / self.density)), self.axes, self.relative_error,
                              density)


def possible_moments(low, middle, high):
    """Whether these, ascending, are principal moments of a rigid body, but for rounding."""
    return 0.0 < low <= middle <= high <= (low + middle) * (1.0 + 1e-9)


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

    The body has a size between 0.5 and 1; `resolution` is that of its coordinates. A rod is computed in a frame along
    its line, where its symmetry is exact: centre of mass and offsets lie on the axis, and both transverse moments are
    one number.
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
    length = float(lengths(end[None])[0])
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
    """Return the lengths (n,) of vectors (n, 3)."""
    return np.sqrt(components(vectors * vectors, np.ones((3, 1))))[:, 0]
