"""Reference volumes and moments of unions of spheres: plane slices for any union, closed forms for chains.

Each slice is a union of discs, whose area and moments follow from Green's theorem along the exposed arcs of its circles
(Gauss's rule). Over the height they are smooth between poles of spheres, extremes of the circles in which two spheres
meet, and points where three meet: Gauss's rule again, in the angle x of z = middle + half sin(x). Exact as `nodes`
grows. """
from itertools import combinations, product

import numpy as np
from numpy import pi

TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
LATTICE = np.array(list(product((-1.0, 0.0, 1.0), repeat=3)))
ARC = np.polynomial.legendre.leggauss(24)       # a full circle: integrands up to cos(4 t), error below 1e-15


def random_rotation(rng):
    q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return q * np.sign(np.linalg.det(q))


def cap(r, h):
    """The part of a sphere beyond the plane z = h: integrals of 1, z, z^2, x^2."""
    return np.array([pi * (2 * r**3 / 3 - r * r * h + h**3 / 3), pi * (r * r - h * h) ** 2 / 4,
                     pi * (2 * r**5 / 15 - r * r * h**3 / 3 + h**5 / 5),
                     pi / 4 * (8 * r**5 / 15 - r**4 * h + 2 * r * r * h**3 / 3 - h**5 / 5)])


def chain(spheres):
    """Integrals of 1, z, z^2, x^2 over spheres (z, r) on the z axis, ascending, each overlapping the next only."""
    total = np.zeros(4)
    z, r = np.array(spheres, float).T
    cuts = (z[1:] ** 2 - z[:-1] ** 2 - r[1:] ** 2 + r[:-1] ** 2) / (2 * (z[1:] - z[:-1]))
    for k, (c, radius) in enumerate(spheres):
        part = cap(radius, -radius)
        if k + 1 < len(z):
            part = part - cap(radius, cuts[k] - c)
        if k > 0:
            part = part - cap(radius, c - cuts[k - 1]) * [1, -1, 1, 1]
        total += [part[0], part[1] + c * part[0], part[2] + 2 * c * part[1] + c * c * part[0], part[3]]
    return total


def union_by_slices(centers, radii, nodes):
    """Volume, first moments (3,) and second moments (3, 3) about the origin."""
    heights = _critical_heights(centers, radii)
    x, weight = np.polynomial.legendre.leggauss(nodes)
    half, middle = 0.5 * np.diff(heights)[:, None], 0.5 * (heights[1:] + heights[:-1])[:, None]
    z = (middle + half * np.sin(0.5 * np.pi * x)).ravel()
    weight = (half * weight * 0.5 * np.pi * np.cos(0.5 * np.pi * x)).ravel()
    area, sx, sy, sxx, syy, sxy = _slices(centers, radii, z)
    volume = weight @ area
    first = np.array([weight @ sx, weight @ sy, weight @ (area * z)])
    xz, yz = weight @ (sx * z), weight @ (sy * z)
    second = np.array([[weight @ sxx, weight @ sxy, xz], [weight @ sxy, weight @ syy, yz],
                       [xz, yz, weight @ (area * z * z)]])
    return volume, first, second


def _slices(c, r, z):
    """Rows: area, x, y, xx, yy, xy of the sections at heights z."""
    total = np.zeros((6, len(z)))
    for i in range(len(r)):
        near = np.nonzero((np.linalg.norm(c - c[i], axis=1) < r + r[i]) & (np.arange(len(r)) != i))[0]
        rows = np.nonzero(np.abs(z - c[i, 2]) < r[i])[0]
        own = np.sqrt((r[i] - (z[rows] - c[i, 2])) * (r[i] + (z[rows] - c[i, 2])))[:, None]
        squared = (r[near] - (z[rows, None] - c[near, 2])) * (r[near] + (z[rows, None] - c[near, 2]))
        other = np.sqrt(np.maximum(squared, 0.0))
        apart = np.hypot(*(c[near] - c[i])[:, :2].T)
        same = (apart == 0.0) & (own == other) & (near < i)
        free = ~((squared > 0.0) & ((apart + own < other) | same)).any(axis=1)
        # own^2 - other^2 without cancellation, for spheres that almost coincide
        surplus = (r[i] - r[near]) * (r[i] + r[near]) + (c[i, 2] - c[near, 2]) * (
            2.0 * z[rows, None] - c[i, 2] - c[near, 2])
        cosine = (apart ** 2 + surplus) / (2.0 * np.where(apart > 0.0, apart, 1.0) * own)
        cuts = (squared > 0.0) & (apart > 0.0) & (np.abs(cosine) < 1.0)
        half = np.where(cuts, np.arccos(np.clip(cosine, -1.0, 1.0)), 0.0)
        toward = np.arctan2(c[near, 1] - c[i, 1], c[near, 0] - c[i, 0])
        row, begin, end = _gaps(np.where(cuts, toward - half, 0.0)[free], 2.0 * half[free])
        row = np.nonzero(free)[0][row]
        t = 0.5 * (begin + end)[:, None] + 0.5 * (end - begin)[:, None] * ARC[0]
        dt = 0.5 * (end - begin)[:, None] * ARC[1] * own[row]
        x, y = c[i, 0] + own[row] * np.cos(t), c[i, 1] + own[row] * np.sin(t)
        dx, dy = -np.sin(t) * dt, np.cos(t) * dt
        parts = [0.5 * (x * dy - y * dx), 0.5 * x * x * dy, -0.5 * y * y * dx,
                 x * x * x * dy / 3.0, -y * y * y * dx / 3.0, 0.5 * x * x * y * dy]
        for line, part in zip(total, parts):
            line += np.bincount(rows[row], part.sum(axis=1), len(z))
    return total


def _gaps(begin, length):
    """What the intervals (begin, begin + length) of each row leave free of a turn: row, from, to."""
    begin = np.mod(begin, 2.0 * np.pi)
    begin = np.hstack([begin - 2.0 * np.pi, begin])      # once more a turn earlier, for those that wrap
    end = begin + np.tile(length, 2)
    order = np.argsort(begin, axis=1)
    begin, end = np.take_along_axis(begin, order, 1), np.take_along_axis(end, order, 1)
    n = len(begin)
    covered = np.maximum.accumulate(np.hstack([np.zeros((n, 1)), end]), axis=1)
    begin = np.hstack([begin, np.full((n, 1), 2.0 * np.pi)])
    row, column = np.nonzero(begin > covered)
    return row, covered[row, column], begin[row, column]


def _critical_heights(c, r):
    heights = [*(c[:, 2] - r), *(c[:, 2] + r)]
    meets = np.zeros((len(r), len(r)), dtype=bool)
    for i, j in combinations(range(len(r)), 2):
        d = np.linalg.norm(c[j] - c[i])
        meets[i, j] = abs(r[i] - r[j]) < d < r[i] + r[j]
        if meets[i, j]:
            n = (c[j] - c[i]) / d
            h = (d * d + (r[i] - r[j]) * (r[i] + r[j])) / (2.0 * d)
            swing = np.sqrt((r[i] - h) * (r[i] + h)) * np.hypot(n[0], n[1])
            heights += [c[i, 2] + h * n[2] - swing, c[i, 2] + h * n[2] + swing]
    for i, j in np.argwhere(meets):
        for k in np.nonzero(meets[i] & meets[j])[0]:
            heights += _triple_point(c[[i, j, k]], r[[i, j, k]])
    heights = np.unique(heights)
    return heights[np.append(True, np.diff(heights) > 1e-13 * (heights[-1] - heights[0]))]


def _triple_point(c, r):
    p, q = c[1] - c[0], c[2] - c[0]
    d = np.linalg.norm(p)
    along = q @ p / d
    across = q - along * p / d
    width = np.linalg.norm(across)
    if width < 1e-9 * d:                                # on a line: one circle, or no point
        return []
    x = (d * d + (r[0] - r[1]) * (r[0] + r[1])) / (2.0 * d)
    y = (q @ q - 2.0 * along * x + (r[0] - r[2]) * (r[0] + r[2])) / (2.0 * width)
    rest = r[0] ** 2 - x * x - y * y
    normal = np.cross(p, across) / (d * width)
    point = c[0] + x * p / d + y * across / width
    return [point[2] + s * np.sqrt(rest) * normal[2] for s in (-1.0, 1.0)] if rest > 0.0 else []
