"""Weights of points and of lines in the cells of a regular grid, by a Gaussian that is cut off.

The kernel is a product of functions of one coordinate (of such kernels a Gaussian alone is isotropic, except for
the cut): its mean over a cell is a product of differences of error functions. Sums over neighbouring cells telescope:
over a grid that has the whole support of a point, weight times volume is 1, except for rounding, whatever the size of
the cells.

Along a line the weight of a cell is smooth except where an edge of the cell comes within reach of the kernel, or leaves
it. Lines are cut there, and into pieces of at most half a width, each integrated by Gauss quadrature with five nodes.
The error on a piece of L widths, L^11 (5!)^4 / (11 (10!)^3) f^(10), is below 2e-13 of the largest value of the kernel.
"""
from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array
from scipy.special import erf

CUTOFF = 3.0                                # reach of the kernel, in widths
_INSIDE = erf(CUTOFF / np.sqrt(2.0))        # of the Gaussian, by which it is divided
_PIECE = 0.5                                # longest piece of a line, in widths
_NODES, _SHARES = (0.5 * (values + shift) for values, shift in zip(np.polynomial.legendre.leggauss(5), (1.0, 0.0)))
_AT_ONCE = 2_000_000                        # numbers of a temporary array


class KernelGrid:
    """A regular grid and the kernel of its fields.

    low, high : (3,) corners [m]; where they are equal, along a flat axis, the kernel is taken there, not as a mean
    cells : (3,) ints;  width : (3,) standard deviations of the Gaussian, `reach` its cut [m]; 0: a point is in one cell
    """

    def __init__(self, low, high, cells, width):
        self.low, self.high, self.cells, self.width = low, high, cells, width
        self.reach, self.flat = CUTOFF * width, low == high
        self.edges = [np.linspace(*ends, n + 1)[:1 if flat else None]
                      for *ends, n, flat in zip(low, high, cells, self.flat)]
        size = np.where(self.flat, 1.0, (high - low) / cells)
        self.volume = float(np.prod(size))
        self._window = np.minimum(cells, np.ceil(2.0 * self.reach / size) + 1.0).astype(int)     # cells within reach
        self._knots = [np.sort(np.concatenate([edges - reach, edges + reach]))
                       for edges, reach in zip(self.edges, self.reach)]

    def points(self, places, values):
        """(*cells, m) sums of values (n, m) at places (n, 3), each times the mean of the kernel in the cell [1/m3]."""
        return self._spread(places[:, None], np.ones((len(places), 1)), values)

    def lines(self, starts, branches, values):
        """The same of lines from starts (n, 3) to starts + branches: of the mean of the kernel over the line, too."""
        total = np.zeros((*self.cells, values.shape[1]))
        for part in _parts(len(starts), _AT_ONCE // 100):
            owner, begin, end = self._pieces(starts[part], branches[part])
            along = begin[:, None] + (end - begin)[:, None] * _NODES
            nodes = starts[part][owner][:, None] + along[:, :, None] * branches[part][owner][:, None]
            total += self._spread(nodes, (end - begin)[:, None] * _SHARES, values[part][owner])
        return total

    def _pieces(self, starts, branches):
        """Cuts lines where the weight of a cell is not smooth: number of the line, begin and end (0 to 1) of pieces."""
        n = len(starts)
        lengths = np.divide(branches, self.width, where=self.width > 0.0, out=np.zeros((n, 3)))
        equal = np.maximum(1, np.ceil(np.linalg.norm(lengths, axis=1) / _PIECE).astype(int))
        owner, step = _counted(equal + 1)
        owners, cuts = [owner], [step / equal[owner]]
        for knots, x, b in zip(self._knots, starts.T, branches.T):
            first = np.searchsorted(knots, np.minimum(x, x + b), side="right")
            owner, step = _counted(np.maximum(0, np.searchsorted(knots, np.maximum(x, x + b)) - first))
            owners.append(owner)
            cuts.append(np.clip((knots[first[owner] + step] - x[owner]) / b[owner], 0.0, 1.0))
        owner, cut = np.concatenate(owners), np.concatenate(cuts)
        order = np.lexsort((cut, owner))
        owner, cut = owner[order], cut[order]
        whole = np.flatnonzero((owner[1:] == owner[:-1]) & (cut[1:] > cut[:-1]))
        return owner[whole], cut[whole], cut[whole + 1]

    def _spread(self, nodes, shares, values):
        """Sums of values (n, m) with the mean kernel over nodes (n, q, 3) of shares (n, q)."""
        total, size = np.zeros((np.prod(self.cells), values.shape[1])), int(np.prod(self._window))
        for part in _parts(len(nodes), _AT_ONCE // size):
            firsts, weights = zip(*(self._along(axis, nodes[part, :, axis]) for axis in range(3)))
            plane = (weights[1][:, :, :, None] * weights[2][:, :, None]).reshape(*weights[1].shape[:2], -1)
            weight = (shares[part, :, None] * weights[0]).transpose(0, 2, 1) @ plane
            cell = np.zeros((len(weight), 1), dtype=np.int32)
            for first, window, count in zip(firsts, self._window, self.cells):
                along = first[:, None] + np.arange(window, dtype=np.int32)
                cell = (cell[:, :, None] * np.int32(count) + along[:, None]).reshape(len(weight), -1)
            ends = np.arange(0, weight.size + 1, size, dtype=np.int32)
            total += csc_array((weight.ravel(), cell.ravel(), ends), (len(total), len(weight))) @ values[part]
        return total.reshape(*self.cells, -1) / self.volume

    def _along(self, axis, x):
        """First cell (n,) within reach of coordinates x (n, q), and the integrals of the kernel over window cells."""
        edges, width, window = self.edges[axis], self.width[axis], self._window[axis]
        if self.flat[axis]:
            u = (edges - x[:, :, None]) / width
            inside = np.abs(u) <= CUTOFF
            return np.zeros(len(x), np.int32), inside * np.exp(-0.5 * u * u) / (np.sqrt(2 * np.pi) * width * _INSIDE)
        first = np.searchsorted(edges, x.mean(axis=1) - self.reach[axis], side="right") - 1
        first = np.clip(first, 0, len(edges) - 1 - window).astype(np.int32)
        apart = edges[first[:, None] + np.arange(window + 1)][:, None] - x[:, :, None]
        below = np.clip(erf(apart / (np.sqrt(2.0) * width)) / _INSIDE, -1.0, 1.0) / 2.0 if width else apart > 0.0
        return first, np.diff(below.astype(float), axis=2)


def _parts(n, size):
    """Slices of at most `size` of n."""
    return [slice(k, k + max(1, size)) for k in range(0, n, max(1, size))]


def _counted(counts):
    """Numbers 0, 1, ... counts[k] - 1 of each k: arrays of k and of the number."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
