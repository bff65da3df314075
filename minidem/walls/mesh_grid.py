"""Cells of a mesh and the triangles near them."""
import numpy as np

ENTRIES = 24                    # most entries per triangle; larger cells otherwise
MOST_CELLS = 2 ** 21


def mesh_grid(corners, first_element):
    """Grid over the bounding box of a mesh.

    Parameters
    ----------
    corners : (m, 3, 3) ndarray
        Frame of the wall [m].
    first_element : int
        Number of the first triangle.

    Returns
    -------
    (low (3,), width, sides (3,), start (cells + 1,) int32, elements (entries,) int32)
        Cell c has the elements start[c] to start[c + 1], ascending.
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
    return origin, width, sides, start.astype(np.int32), (first_element + triangle[order]).astype(np.int32)
