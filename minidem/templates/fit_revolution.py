"""Spheres inside a solid of revolution, in rings about its axis.

In the half plane (z, r) the solid is the region between its profile and the axis. The largest sphere inside it about a
point of the half plane has the distance of that point from the profile as its radius. On the axis it is a single
sphere; elsewhere a ring of k equal spheres, evenly spaced. Rings and single spheres are chosen greedily, as in
`minidem.templates.fit_mesh`, by the volume that each adds per sphere. At a point (z, r) the spheres of a ring cover a
part of the circle about the axis; of several rings the largest part counts, which is a lower bound.
"""
from functools import reduce
from typing import NamedTuple

import numpy as np

from minidem.templates.fit_mesh import lazy_greedy, medial, segment_squared

CELLS = 6_000, 24_000, 96_000       # inside the profile; the finer ones if spheres are left over
SPACINGS = (0.6, 0.9, 1.2, 1.6)     # of the spheres of a ring, in radii


class Ring(NamedTuple):
    """`count` spheres of one radius with centres at height z and `distance` from the axis (0: a single sphere)."""
    z: float
    distance: float
    radius: float
    count: int      # type: ignore[assignment]     # tuple.count


def volume_of_revolution(profile):
    """Return the volume of the solid of the profile (k, 2) of [z, r], the sum of its frustums [m3]."""
    z, r = np.asarray(profile).T
    return float(np.pi / 3.0 * np.sum(np.diff(z) * (r[1:] ** 2 + r[1:] * r[:-1] + r[:-1] ** 2)))


def area_of_profile(profile):
    """Return the area between the profile (k, 2) of [z, r] and the axis, the sum of its trapezia [m2]."""
    z, r = np.asarray(profile).T
    return abs(float(np.sum(np.diff(z) * (r[1:] + r[:-1])))) / 2.0


def fit_rings(profile, spheres):
    """Return centers (n, 3), radii (n,) of spheres inside a solid of revolution about z, largest gain first [m].

    profile : (k, 2) points [z, r] [m];  spheres : their largest number; there are fewer only if they fill the solid
    """
    for cells in CELLS:
        rings = _fit(profile, spheres, cells)
        if sum(ring.count for ring in rings) == spheres:
            break
    if not rings:
        raise ValueError("profile: hardly any of it is thick enough for a sphere; give points that lie "
                         "further apart, or leave out the thin parts")
    return _place(rings)


def _fit(profile, spheres, cells):
    outline = np.concatenate([[[profile[0, 0], 0.0]], profile, [[profile[-1, 0], 0.0]]])
    size = np.sqrt(area_of_profile(profile) / cells)
    low = profile[:, 0].min()
    z = low + size * (np.arange(int(np.ptp(profile[:, 0]) / size) + 1) + 0.5)
    r = size * np.arange(int(profile[:, 1].max() / size) + 2)       # the first row on the axis itself
    inside = _inside(outline, z[:, None], r[None, :])
    distance = np.where(inside, _distance(outline, z[:, None], r[None, :]), 0.0)
    # a cell of the first row is a disc about the axis, any other an annulus
    weight = np.where(inside, 2.0 * np.pi * np.where(r > 0.0, r * size, size * size / 8.0) * size, 0.0)
    return _greedy(_candidates(z, r, distance, inside, size), z, r, weight, spheres)


def _candidates(z, r, distance, inside, size):
    """Return single spheres on the axis, and rings at cells whose sphere is not within the sphere of a neighbour."""
    around, cells, rings = np.pad(distance, 1), np.argwhere(inside), []
    around[:, 0] = around[:, 2]                                     # across the axis
    for i, j in cells[medial(around, cells, size) | (cells[:, 1] == 0)]:
        if r[j] == 0.0:
            rings.append(Ring(z[i], 0.0, distance[i, j], 1))
        else:
            counts = {max(3, round(2.0 * np.pi * r[j] / (spacing * distance[i, j]))) for spacing in SPACINGS}
            rings += [Ring(z[i], r[j], distance[i, j], count) for count in sorted(counts)]
    return rings


def _greedy(rings, z, r, weight, spheres):
    """Return rings of together `spheres` spheres, the greatest gain of volume per sphere first."""
    covered = np.zeros_like(weight)

    def evaluate(k):
        box, part = _coverage(rings[k], z, r)
        gain = float(np.sum(weight[box] * np.maximum(part - covered[box], 0.0))) / rings[k].count
        return gain, lambda: np.maximum(covered[box], part, out=covered[box])

    chosen = lazy_greedy([np.inf] * len(rings), evaluate, [ring.count for ring in rings], spheres)
    return [rings[k] for k in chosen]


def _coverage(ring, z, r):
    """Return a box of cells, and the part of each cell's circle about the axis that the spheres of the ring cover."""
    box = tuple(slice(*np.searchsorted(line, (middle - ring.radius, middle + ring.radius)))
                for line, middle in ((z, ring.z), (r, ring.distance)))
    half = ring.radius ** 2 - (z[box[0], None] - ring.z) ** 2   # squared, of the sphere's disc at that height
    r = r[None, box[1]]
    if ring.distance == 0.0:
        return box, (r * r <= half).astype(float)
    cosine = (r * r + ring.distance ** 2 - half) / np.maximum(2.0 * r * ring.distance, np.finfo(float).tiny)
    return box, np.minimum(1.0, ring.count * np.arccos(np.clip(cosine, -1.0, 1.0)) / np.pi)


def _place(rings):
    """Return centres (n, 3) and radii (n,) of the spheres of the rings."""
    centers, radii, turned = [], [], False
    for ring in rings:
        angle = 2.0 * np.pi / ring.count * (np.arange(ring.count) + 0.5 * turned)
        turned ^= ring.count > 1
        centers.append(np.stack([ring.distance * np.cos(angle), ring.distance * np.sin(angle),
                                 np.full(ring.count, ring.z)], axis=1))
        radii.append(np.full(ring.count, ring.radius))
    return np.concatenate(centers), np.concatenate(radii)


def _inside(outline, z, r):
    """Return whether (z, r) is inside the closed outline: an odd number of crossings along +r."""
    odd = np.zeros(np.broadcast(z, r).shape, dtype=bool)
    for (z0, r0), (z1, r1) in zip(outline[:-1], outline[1:]):
        if z0 != z1:
            odd ^= ((z0 <= z) != (z1 <= z)) & (r < r0 + (z - z0) / (z1 - z0) * (r1 - r0))
    return odd


def _distance(outline, z, r):
    """Return the distance of (z, r) from the outline, which does not include the axis."""
    points, sides = np.stack(np.broadcast_arrays(z, r), axis=-1), zip(outline[:-1], outline[1:])
    return np.sqrt(reduce(np.minimum, (segment_squared(points, *side) for side in sides if np.any(side[0] != side[1]))))
