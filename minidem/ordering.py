"""The order in which clumps stand in memory: neighbours in space beside one another.

Whatever is near in space is then near in memory, and what a step needs is still in the caches. The
results do not depend on it: sums are ordered by the user's numbers (contact/gather.pyx).
"""
import numpy as np

CLUMPS_PER_CELL = 2
MOST_CELLS = 2 ** 20        # along an axis, so that three numbers of cells fit into one integer


def row_major(position):
    """Permutation (n,) that sorts points (n, 3) by the cells of a cubic lattice, row by row, layer by layer.

    The cells are so wide that two points share one, on the average. Points far from most others, beyond the
    percentiles 1 and 99 along an axis, do not make them wider. What stands in one cell keeps its order.
    """
    low, high = np.percentile(position, [1.0, 99.0], axis=0)
    extent = np.maximum(high - low, np.finfo(float).tiny)
    edge = np.cbrt(CLUMPS_PER_CELL / len(position) * np.prod(extent))
    cell = np.clip((position - low) / max(edge, np.max(extent) / MOST_CELLS), -1.0, MOST_CELLS - 2.0) + 1.0
    x, y, z = cell.astype(np.int64).T
    return np.argsort((z * MOST_CELLS + y) * MOST_CELLS + x, kind="stable")
