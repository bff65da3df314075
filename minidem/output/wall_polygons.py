"""Infinite planes -> the polygons of them that a picture shows."""

import numpy as np

# Side of the square that stands for an infinite plane, in sizes of the scene. Clipping loses about
# HUGE * 2^-52 = 2e-13 of the scene's size, far below what a picture or float32 can show.
HUGE = 1e3


def wall_polygons(walls, bounds):
    """The visible part of each wall: a list of corners (n, 3), counter-clockwise about the wall's normal.

    walls: (point, normal) pairs; clumps live on the side to which the normal points. Each plane is cut
    off where it passes behind another wall. Where it still reaches towards infinity it is cut at that
    side of `bounds`, a pair of (3,) corners of a box, or left out if bounds is None. Walls of which
    nothing remains are left out.
    """
    planes = [(np.asarray(p, dtype=float), np.asarray(n, dtype=float) / np.linalg.norm(n)) for p, n in walls]
    marks = [point for point, _ in planes] + list(bounds or ())
    if not planes or np.ptp(marks, axis=0).max() == 0.0:
        return []  # a single plane and no sphere: nothing tells how far to draw
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
        endless = len(polygon) and np.abs(polygon - middle).max() > 0.1 * HUGE * size
        if len(polygon) >= 3 and not endless:
            polygons.append(polygon)
    return polygons


def _square(center, normal, side):
    """Corners (4, 3) of a square of this side, counter-clockwise about the normal."""
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    return center + 0.5 * side * np.array([first + second, second - first, -first - second, first - second])


def _clip(polygon, point, normal):
    """The part of a convex polygon on the side to which a plane's normal points (Sutherland and Hodgman)."""
    height = (polygon - point) @ normal
    corners = []
    for k in range(len(polygon)):
        here, there = k - 1, k
        if (height[here] >= 0.0) != (height[there] >= 0.0):
            share = height[here] / (height[here] - height[there])
            corners.append(polygon[here] + share * (polygon[there] - polygon[here]))
        if height[there] >= 0.0:
            corners.append(polygon[there])
    return np.array(corners).reshape(-1, 3)
