"""The visible polygons of infinite planes."""

import numpy as np

# Side of the square that represents an infinite plane, in sizes of the scene. Clipping loses about
# HUGE * 2^-52 = 2e-13 of the scene's size, below the resolution of float32.
HUGE = 1e3


def wall_polygons(walls, bounds):
    """The visible part of each wall, cut by the other walls, and by `bounds` where it would be infinite.

    Parameters
    ----------
    walls : list of (point (3,), normal (3,))
        The normal points to the side of the clumps.
    bounds : pair of (3,), or None
        Low and high corner of a box; with None walls that extend to infinity are omitted.

    Returns
    -------
    list of (n, 3)
        Corners, counter-clockwise about the wall's normal; walls of which nothing remains are omitted.
    """
    planes = [(np.asarray(p, dtype=float), np.asarray(n, dtype=float) / np.linalg.norm(n)) for p, n in walls]
    marks = [point for point, _ in planes] + list(bounds or ())
    if not planes or np.ptp(marks, axis=0).max() == 0.0:
        return []       # a single plane without spheres: the extent is undefined
    middle = 0.5 * (np.max(marks, axis=0) + np.min(marks, axis=0))
    size = np.ptp(marks, axis=0).max()
    sides = []
    if bounds is not None:
        sides = [(np.asarray(corner), sign * axis)
                 for corner, sign in zip(bounds, (1.0, -1.0)) for axis in np.eye(3)]
    polygons = []
    for k, (point, normal) in enumerate(planes):
        polygon = _square(middle - normal * np.dot(normal, middle - point), normal, HUGE * size)
        for other in planes[:k] + planes[k + 1:]:
            polygon = _clip(polygon, *other)
        for corner, inward in sides:
            if len(polygon) and np.min((polygon - corner) @ inward) < -0.1 * HUGE * size:  # open on this side
                polygon = _clip(polygon, corner, inward)
        infinite = len(polygon) and np.abs(polygon - middle).max() > 0.1 * HUGE * size
        if len(polygon) >= 3 and not infinite:
            polygons.append(polygon)
    return polygons


def _square(center, normal, side):
    """Corners (4, 3) of a square of this side, counter-clockwise about the normal."""
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    return center + 0.5 * side * np.array([first + second, second - first, -first - second, first - second])


def _clip(polygon, point, normal):
    """The part of a convex polygon on the positive side of a plane (Sutherland and Hodgman)."""
    height = (polygon - point) @ normal
    corners = []
    for k in range(len(polygon)):
        last, this = k - 1, k
        if (height[last] >= 0.0) != (height[this] >= 0.0):
            fraction = height[last] / (height[last] - height[this])
            corners.append(polygon[last] + fraction * (polygon[this] - polygon[last]))
        if height[this] >= 0.0:
            corners.append(polygon[this])
    return np.array(corners).reshape(-1, 3)
