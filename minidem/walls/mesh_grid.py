"""Triangles of a mesh as primitives: small ones in a periodic box, and the cells of a grid near them."""
import numpy as np
import scipy

from minidem.core.rows import unique_rows
from minidem.meshes.mesh_repair import groups

PART = 0.24                     # longest edge of a triangle in a periodic box / its shortest length; see in_box
SAME = 1e-8                     # distance of points that are one, across a face of the box / length of the box

ENTRIES = 24                    # most entries per triangle; larger cells otherwise
MOST_CELLS = 2 ** 21


def mesh_grid(corners, first_primitive):
    """Grid over the bounding box of a mesh: low (3,), width, sides (3,), start (cells + 1,), primitives (entries,).

    Cell c has the primitives start[c] to start[c + 1], ascending.

    corners : (m, 3, 3), frame of the wall [m];  first_primitive : number of the first triangle
    """
    low, high = corners.min(axis=1), corners.max(axis=1)
    origin, size = low.min(axis=0), high.max(axis=0) - low.min(axis=0)
    width = float(max(np.median((high - low).max(axis=1)), size.max() / 1000.0))
    while True:
        sides = (size // width).astype(np.int64) + 1
        first, last = (np.minimum(((x - origin) // width).astype(np.int64), sides - 1) for x in (low, high))
        counts = np.prod(last - first + 1, axis=1)
        if np.prod(sides) <= MOST_CELLS and counts.sum() <= ENTRIES * len(corners) + 1000:
            break
        width *= 1.25
    triangle = np.repeat(np.arange(len(corners)), counts)
    rest = np.arange(len(triangle)) - np.repeat(np.cumsum(counts) - counts, counts)
    spans, cells = (last - first + 1)[triangle], np.zeros(len(triangle), dtype=np.int64)
    for axis, stride in zip((2, 1, 0), (1, sides[2], sides[1] * sides[2])):
        rest, index = np.divmod(rest, spans[:, axis])
        cells += stride * (first[triangle, axis] + index)
    order = np.lexsort((triangle, cells))
    start = np.searchsorted(cells[order], np.arange(np.prod(sides) + 1))
    return origin, width, sides, start.astype(np.int32), (first_primitive + triangle[order]).astype(np.int32)


def divided(points, triangles, longest):
    """Points (n, 3) and triangles (m, 3) of the same surface without edges above `longest` [m], and of which each is a
    part, (m,)."""
    whole = np.arange(len(triangles))
    while True:
        ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2), axis=2)      # of the edges
        length = np.linalg.norm(points[ends[:, :, 1]] - points[ends[:, :, 0]], axis=2)
        edge = length.argmax(axis=1)
        cut = np.flatnonzero(length.max(axis=1, initial=0.0) > longest)
        if not len(cut):
            return points, triangles, whole
        halved, _, middle = unique_rows(ends[cut, edge[cut]])
        middle = middle + len(points)
        points = np.concatenate([points, points[halved].mean(axis=1)])
        a, b, c = (triangles[cut, (edge[cut] + k) % 3] for k in range(3))
        copies = np.ones(len(triangles), dtype=np.int64)
        copies[cut] = 2
        first = (np.cumsum(copies) - copies)[cut]
        triangles, whole = np.repeat(triangles, copies, axis=0), np.repeat(whole, copies)
        triangles[first], triangles[first + 1] = np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)


def joined_across(points, triangles, length):
    """Triangles (m, 3) in which points that differ by whole lengths (3,) of a periodic box, 0: open, are one."""
    inside = np.where(length > 0.0, np.mod(points, np.where(length > 0.0, length, 1.0)), points - points.min(axis=0))
    inside = np.where((length > 0.0) & (inside >= length), 0.0, inside)             # by rounding
    same = scipy.spatial.cKDTree(inside, boxsize=length).query_pairs(SAME * length.max(), output_type="ndarray")
    return groups(same.T, len(points))[triangles]
