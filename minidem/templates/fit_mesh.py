"""Spheres inside a closed mesh, chosen greedily by the volume that each adds.

The method follows Angelidakis, Nadimi, Otsubo and Utili 2021, "CLUMP: a code library to generate universal
multi-sphere particles", doi:10.1016/j.softx.2021.100735 (their Euclidean map). The solid is divided into cubic cells;
the distance of a cell centre from the surface is the radius of the largest inscribed sphere about it; spheres are
chosen greedily. Three things differ:

- The chosen sphere is not the largest one, but the one that covers most cells not yet covered. The greedy choice
  covers at least 1 - 1/e of what the best n spheres could (Nemhauser, Wolsey and Fisher 1978, doi:10.1007/BF01588971).
  Spheres may overlap without limit, and each adds volume inside the solid.
- Distances are those from the triangles, not from other cells, so that no sphere protrudes from the mesh.
- Candidates have their centres on the discrete medial axis, because any other sphere lies within one of these.
"""
import heapq

import numpy as np
import scipy

from minidem.core.checks import MOST_SPHERES, whole
from minidem.meshes.mesh_repair import area, surrounded
from minidem.templates.sphere_spread import spread

CELLS = 80_000              # at least, in the solid: about 50 across a compact one, fitted in one or two seconds
CELLS_PER_SPHERE = 200      # at least: the average sphere is then seven cells wide
CELLS_ACROSS = 4            # at least, across a thin part, as far as
MOST_CELLS = 400_000        # in the solid permit
MOST_OF_BOX = 10 ** 8       # cells of the box around a mesh, which take 2 GB
CANDIDATES = 40_000         # at most


def fit_spheres(mesh, spheres):
    """Fit spheres into a TriangleMesh: centers (n, 3), radii (n,), in its frame, largest gain of volume first [m].

    Every part of the solid is within (volume / spheres)^(1/3) of a sphere, or the spheres are spread evenly. The
    result is deterministic. Up to CELLS / CELLS_PER_SPHERE = 400 spheres, and if none was moved to a thin part, fewer
    spheres are the first of more. ValueError for a mesh so thin that no cell lies inside.

    spheres : int, their largest number; there are fewer only if they cover all cells
    """
    spheres = whole("spheres", spheres, 1, MOST_SPHERES)
    size = _cell_size(mesh, spheres)
    low = mesh.vertices.min(axis=0)
    inside = _cells_inside(mesh, low, size)
    cells = np.argwhere(inside)
    if len(cells) == 0:
        raise _too_thin(mesh, size, spheres)
    surface = _Surface(mesh.corners, size)
    distance = surface.nearest(low + (cells + 0.5) * size)[0]
    around = np.zeros(np.array(inside.shape) + 2)
    around[tuple((cells + 1).T)] = distance / size
    ridge = np.flatnonzero(medial(around, cells))
    ridge = ridge[::-(-len(ridge) // CANDIDATES)]
    centers, radii = _ascend(surface, low + (cells[ridge] + 0.5) * size, size)
    chosen = _largest_cover(inside, (centers - low) / size - 0.5, radii / size, spheres)
    chosen = spread(low + (cells + 0.5) * size, centers, radii, chosen, spheres, (mesh.volume / spheres) ** (1.0 / 3.0))
    centers = centers[chosen]
    # so far the distance is that from nearby triangles; for the chosen spheres it is the one from all
    radii = np.array([triangle_distance(center, mesh.corners).min() for center in centers])
    # in a part thinner than the cells the ascent may have crossed the surface
    valid = radii > 0.0
    small = np.nonzero(radii < 2.0 * size)[0]
    valid[small] &= surrounded(centers[small], mesh.corners)
    if not valid.any():
        raise _too_thin(mesh, size, spheres)
    return centers[valid], radii[valid]


def _too_thin(mesh, size, spheres):
    return ValueError(f"{mesh.name}: thinner than the cells of {size:.3g} m into which it is divided for {spheres} "
                      "spheres; increase spheres, or give a thicker body")


def _cell_size(mesh, spheres):
    """Return the size of cells that resolve the solid, an average sphere, and a plate of its volume and surface."""
    across = 2.0 * mesh.volume / area(mesh.vertices, mesh.triangles) / CELLS_ACROSS
    cells = max(CELLS, CELLS_PER_SPHERE * spheres, min(mesh.volume / across ** 3, MOST_CELLS))
    return (mesh.volume / cells) ** (1.0 / 3.0)


def lazy_greedy(bounds, evaluate, sizes, count):
    """Return the indices of candidates chosen by greatest gain (lazy evaluation, Minoux 1978, doi:10.1007/BFb0006528).

    Gains only shrink as others are chosen. A candidate whose updated gain still exceeds all earlier ones is the best.

    bounds : upper bounds of the gains;  evaluate : function of k, returns (gain, function that chooses candidate k)
    sizes, count : the sizes of the chosen candidates add up to at most `count`
    """
    heap = [(-bound, k) for k, bound in enumerate(bounds)]
    heapq.heapify(heap)
    chosen = []
    while heap and count > 0:
        k = heap[0][1]
        gain, choose = evaluate(k) if sizes[k] <= count else (0.0, None)
        if gain <= 0.0:
            heapq.heappop(heap)
        elif len(heap) > 1 and (-gain, k) > min(heap[1:3]):
            heapq.heapreplace(heap, (-gain, k))
        else:
            heapq.heappop(heap)
            choose()
            chosen.append(k)
            count -= sizes[k]
    return chosen


def _largest_cover(inside, centers, radii, count):
    """Return the indices of up to `count` spheres that cover most cells `inside`; lengths in cells."""
    free = inside.copy()

    def evaluate(k):
        center, radius = centers[k], radii[k]
        low = np.maximum(np.ceil(center - radius).astype(int), 0)
        high = np.minimum(np.floor(center + radius).astype(int) + 1, free.shape)
        x, y, z = ((np.arange(low[a], high[a]) - center[a]) ** 2 for a in range(3))
        box = free[low[0]:high[0], low[1]:high[1], low[2]:high[2]]
        ball = x[:, None, None] + (y[:, None] + z) <= radius * radius
        return int(np.count_nonzero(box & ball)), lambda: np.logical_and(box, ~ball, out=box)

    # a cell extends by half its diagonal from its centre, so no sphere covers more cells than this volume
    bounds = 4.0 / 3.0 * np.pi * (radii + np.sqrt(0.75)) ** 3
    return lazy_greedy(bounds.tolist(), evaluate, np.ones(len(radii), dtype=int), count)


class _Surface:
    """Nearest-triangle search through sample points on the triangles, about `spacing` apart."""

    def __init__(self, corners, spacing):
        self.corners = corners
        self.samples, self.owner = _samples(corners, spacing)
        self.tree = scipy.spatial.cKDTree(self.samples)

    def nearest(self, points):
        """Return the distance of each point from the triangle of the nearest sample, and that sample."""
        sample = self.tree.query(points)[1]
        return triangle_distance(points, self.corners[self.owner[sample]]), self.samples[sample]


def _ascend(surface, points, size):
    """Return points moved by up to 1.6 cells to the ridge of the distance from the surface, and that distance."""
    distance, sample = surface.nearest(points)
    for step in size * np.array([0.5, 0.5, 0.25, 0.25, 0.125]):
        away = points - sample
        length = np.sqrt((away * away).sum(axis=1, keepdims=True))
        # by the radius at most, so as not to cross the opposite side of a thin part
        trial = points + np.minimum(step, distance)[:, None] * away / np.where(length > 0.0, length, 1.0)
        trial_distance, trial_sample = surface.nearest(trial)
        better = trial_distance > distance
        distance = np.where(better, trial_distance, distance)
        points = np.where(better[:, None], trial, points)
        sample = np.where(better[:, None], trial_sample, sample)
    return points, distance


def medial(around, cells, size=1.0):
    """Return a mask of the cells whose sphere is not within a neighbour's sphere, up to a fraction of a cell.

    around : radii of the spheres about the centres of all cells, 0 outside, with a border of one cell
    cells : (n, 2) or (n, 3), indices without the border;  size : of a cell
    """
    keep, radii = np.ones(len(cells), dtype=bool), around[tuple((cells + 1).T)]
    for step in np.ndindex(*cells.shape[1] * [3]):
        apart = size * np.sqrt(sum((s - 1) ** 2 for s in step))
        if apart > 0.0:         # away from ridges the distance rises by `apart`, and nowhere by more
            keep &= around[tuple((cells + step).T)] < radii + 0.9 * apart
    return keep


def _cells_inside(mesh, low, size):
    """Return the grid of cells whose centre is inside, by the crossings of vertical lines with the triangles."""
    sides = np.ceil((mesh.vertices.max(axis=0) - low) / size) + 1.0
    if sides.prod() > MOST_OF_BOX:
        raise ValueError(f"{mesh.name}: it fills so little of its box from {low} to {mesh.vertices.max(axis=0)} m that "
                         f"this has {sides.prod():.2g} cells; look for a vertex that is far from the others")
    shape = sides.astype(int)
    corners = (mesh.corners - low) / size - 0.5
    # Lines through cell centres would meet the edges of meshes on a regular grid; a small shift avoids it.
    corners[:, :, :2] += [1.3e-5, 2.9e-5]
    first = np.maximum(np.ceil(corners[:, :, :2].min(axis=1)).astype(int), 0)
    last = np.minimum(np.floor(corners[:, :, :2].max(axis=1)).astype(int), shape[:2] - 1)
    change = np.zeros(shape + [0, 0, 1], dtype=np.int32)
    for (a, b, c), (x0, y0), (x1, y1) in zip(corners, first, last):
        if x0 > x1 or y0 > y1:
            continue
        x, y = np.arange(x0, x1 + 1)[:, None], np.arange(y0, y1 + 1)
        area = _side(a, b, c[0], c[1])
        if area == 0.0:
            continue
        wa, wb, wc = (_side(p, q, x, y) / area for p, q in ((b, c), (c, a), (a, b)))
        i, j = np.nonzero((wa >= 0.0) & (wb >= 0.0) & (wc >= 0.0))
        height = wa[i, j] * a[2] + wb[i, j] * b[2] + wc[i, j] * c[2]
        k = np.clip(np.ceil(height).astype(int), 0, shape[2])
        np.add.at(change, (x0 + i, y0 + j, k), -1 if area > 0.0 else 1)     # upward lines enter here
    return np.cumsum(change, axis=2)[:, :, :-1] > 0


def _side(p, q, x, y):
    """Return twice the signed area of p, q, (x, y), exactly the opposite for q, p: no line hits two neighbours."""
    if (p[0], p[1]) > (q[0], q[1]):
        return -_side(q, p, x, y)
    return (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])


def _samples(corners, spacing):
    """Return points on the triangles, about `spacing` apart, and the index of the triangle of each.

    They are the centroids of parts, bisected across the longest side until that is at most twice the spacing.
    """
    points, owners, owner = [], [], np.arange(len(corners))
    while len(corners):
        sides = ((np.roll(corners, -1, axis=1) - corners) ** 2).sum(axis=2)
        long = sides.max(axis=1) > 4.0 * spacing * spacing
        points.append(corners[~long].mean(axis=1))
        owners.append(owner[~long])
        corners, owner, k = corners[long], owner[long], sides[long].argmax(axis=1)
        a, b, c = (corners[np.arange(len(k)), (k + step) % 3] for step in range(3))
        middle = 0.5 * (a + b)
        corners = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
        owner = np.concatenate([owner, owner])
    return np.concatenate(points), np.concatenate(owners)


def triangle_distance(points, corners):
    """Return the distances (n,) of points (3,) or (n, 3) from triangles (n, 3, 3), one each."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    squared = np.min([segment_squared(points, p, q) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    normal = np.cross(b - a, c - a)
    length = np.sqrt((normal * normal).sum(axis=1))
    normal /= np.where(length > 0.0, length, 1.0)[:, None]
    above = length > 0.0
    for p, q in ((a, b), (b, c), (c, a)):
        above &= (np.cross(q - p, points - p) * normal).sum(axis=1) >= 0.0
    height = ((points - a) * normal).sum(axis=1)
    return np.sqrt(np.where(above, height * height, squared))


def segment_squared(points, p, q):
    """Return the squared distances of points from the segments from p to q, all (..., 2) or (..., 3)."""
    along, away = q - p, points - p
    squared = np.maximum((along * along).sum(axis=-1), np.finfo(float).tiny)
    rest = away - np.clip((away * along).sum(axis=-1) / squared, 0.0, 1.0)[..., None] * along
    return (rest * rest).sum(axis=-1)
