# distutils: extra_compile_args = -O2
"""Spatial sort: an order of clumps in which neighbours in space are neighbours in memory.

Candidates are then near each other in memory, so that most of what a step reads is in cache. Results do not depend on
the order: sums are ordered by the user's numbers (contact/reduce.pyx). The loops are C, not NumPy: several releases of
NumPy abort the process where a broadcast finds no memory for its buffers.
"""
from libc.math cimport cbrt

import numpy as np

cdef enum:
    CLUMPS_PER_CELL = 2
    MOST_CELLS = 1048576        # along an axis, so that three numbers of cells fit into one integer

TINY = float(np.finfo(np.float64).tiny)


cdef void count_cells(const double[:, :] position, int axis, double low, double edge,
                      long long[::1] cell) noexcept nogil:
    """Append the cell along one axis to the cell numbers: layer, row, cell in the row."""
    cdef double along
    cdef Py_ssize_t k
    for k in range(position.shape[0]):
        along = (position[k, axis] - low) / edge
        along = min(max(along, -1.0), MOST_CELLS - 2.0) + 1.0
        cell[k] = cell[k] * MOST_CELLS + <long long> along


def row_major(const double[:, :] position):
    """Permutation (n,) that sorts points (n, 3) by the cells of a cubic lattice, row by row, layer by layer.

    A cell holds two points on the average. Its width does not depend on points far from most others, beyond the
    percentiles 1 and 99 along an axis. Points of one cell keep their order.
    """
    cdef Py_ssize_t k, n = position.shape[0], first = n // 100, last = n - 1 - n // 100
    cdef double[::1] values = np.empty(n)
    cdef long long[::1] cell = np.zeros(n, dtype=np.int64)
    cdef double low[3]
    cdef double extent[3]
    cdef double edge, tiny = TINY
    cdef int axis
    for axis in range(3):
        for k in range(n):
            values[k] = position[k, axis]
        np.asarray(values).partition((first, last))
        low[axis] = values[first]
        extent[axis] = max(values[last] - low[axis], tiny)
    edge = cbrt(CLUMPS_PER_CELL / <double> n * extent[0] * extent[1] * extent[2])
    edge = max(edge, max(extent[0], extent[1], extent[2]) / MOST_CELLS)
    for axis in range(2, -1, -1):
        count_cells(position, axis, low[axis], edge, cell)
    return np.asarray(cell).argsort(kind="stable")
