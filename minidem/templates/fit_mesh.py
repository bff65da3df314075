"""Spheres inside a solid, chosen one by one for the volume that each adds.

The method is that of Angelidakis, Nadimi, Otsubo and Utili, "CLUMP: a code library to generate universal
multi-sphere particles", SoftwareX 15 (2021) 100735, doi:10.1016/j.softx.2021.100735 (their Euclidean map):
the solid is cut into cubic cells, the distance of a cell from the surface is the radius of the largest sphere
inside the solid about it, and spheres are taken greedily. Three things differ. Not the largest sphere is
taken, but the one that covers most cells which no other covers yet; this greedy choice covers at least
1 - 1/e of what the best n spheres could (Nemhauser, Wolsey and Fisher 1978, doi:10.1007/BF01588971), and
spheres may overlap as they like. Distances are those from the triangles, not from other cells, so that no
sphere sticks out of the mesh. And only centres on the discrete medial axis compete: any other sphere lies
within one of theirs. Every sphere adds volume inside the solid, so that the volume error falls with each.
"""
import heapq

import numpy as np
import scipy

from minidem.core.checks import MOST_SPHERES, whole
from minidem.templates.mesh_repair import area, surrounded
from minidem.templates.sphere_spread import spread

CELLS = 80_000              # of the solid; some fifty across it, a second or two to fit
CELLS_PER_SPHERE = 200      # at least: an average sphere is then seven cells wide
CELLS_ACROSS = 4            # at least, of a thin part, up to
MOST_CELLS = 400_000        # of the solid for that
CANDIDATES = 40_000         # at most, in a large thin part


def fit_spheres(mesh, spheres):
    """Centres (n, 3) and radii (n,) of at most `spheres` spheres inside the `TriangleMesh`, best first.

    Every part of the solid is within (volume / spheres)^(1/3) of a sphere, or the spheres are spread evenly.
    Fewer than asked for come back only when no cell is left to be covered. The same mesh gives the same
    spheres. Up to CELLS / CELLS_PER_SPHERE = 400, and where none was moved to a thin part, fewer spheres are the
    first of more: the volume error falls. ValueError for a mesh so thin that no cell lies inside, a plate of a
    thousandth of its width.
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
    ridge = _medial(inside, cells, distance / size)
    ridge = ridge[::-(-len(ridge) // CANDIDATES)]
    centers, radii = _climb(surface, low + (cells[ridge] + 0.5) * size, size)
    chosen = _Cover(inside, (centers - low) / size - 0.5, radii / size).greedy(spheres)
    chosen = spread(low + (cells + 0.5) * size, centers, radii, chosen, spheres, (mesh.volume / spheres) ** (1.0 / 3.0))
    centers = centers[chosen]
    # so far the distance is that from a few triangles near a point; of the chosen ones, from all
    radii = np.array([triangle_distance(center, mesh.corners).min() for center in centers])
    # in a part thinner than the cells a climb may have gone through the wall
    sound = radii > 0.0
    small = np.nonzero(radii < 2.0 * size)[0]
    sound[small] &= surrounded(centers[small], mesh.corners)
    if not sound.any():
        raise _too_thin(mesh, size, spheres)
    return centers[sound], radii[sound]


def _too_thin(mesh, size, spheres):
    return ValueError(f"{mesh.name}: thinner than the cells of {size:.3g} m that it is cut into for "
                      f"{spheres} spheres; ask for more, or give a thicker body")


def _cell_size(mesh, spheres):
    """Of cells that are small for the solid, for an average sphere, and for a plate of its volume and surface."""
    across = 2.0 * mesh.volume / area(mesh.vertices, mesh.triangles) / CELLS_ACROSS
    cells = max(CELLS, CELLS_PER_SPHERE * spheres, min(mesh.volume / across ** 3, MOST_CELLS))
    return (mesh.volume / cells) ** (1.0 / 3.0)


class _Cover:
    """Which cells the chosen spheres cover, and how many another one would add. Lengths in cells."""

    def __init__(self, inside, centers, radii):
        self.free, self.centers, self.radii = inside.copy(), centers, radii

    def greedy(self, count):
        """Indices of up to `count` spheres, each adding most.

        What a sphere adds only shrinks as others are chosen, so that the best of the old numbers, counted
        anew and still best, is best (lazy evaluation).
        """
        # at first no more cells than the volume about them: a cell reaches half its diagonal from its middle
        most = 4.0 / 3.0 * np.pi * (self.radii + np.sqrt(0.75)) ** 3
        heap = [(-bound, k) for k, bound in enumerate(most.tolist())]
        heapq.heapify(heap)
        chosen = []
        while heap and len(chosen) < count:
            k = heap[0][1]
            view, ball = self._ball(k)
            gain = int(np.count_nonzero(view & ball))
            if gain == 0:
                heapq.heappop(heap)
            elif len(heap) > 1 and (-gain, k) > min(heap[1:3]):
                heapq.heapreplace(heap, (-gain, k))
            else:
                view &= ~ball
                chosen.append(k)
                heapq.heappop(heap)
        return chosen

    def _ball(self, k):
        """The free cells of a box about sphere k, and the mask of the sphere in it."""
        center, radius = self.centers[k], self.radii[k]
        low = np.maximum(np.ceil(center - radius).astype(int), 0)
        high = np.minimum(np.floor(center + radius).astype(int) + 1, self.free.shape)
        x, y, z = ((np.arange(low[a], high[a]) - center[a]) ** 2 for a in range(3))
        view = self.free[low[0]:high[0], low[1]:high[1], low[2]:high[2]]
        return view, x[:, None, None] + (y[:, None] + z) <= radius * radius


class _Surface:
    """The triangles, found through samples of them about `spacing` apart."""

    def __init__(self, corners, spacing):
        self.corners = corners
        self.samples, self.owner = _samples(corners, spacing)
        self.tree = scipy.spatial.cKDTree(self.samples)

    def nearest(self, points):
        """Distance of each point from the triangle of the nearest sample, and that sample."""
        sample = self.tree.query(points)[1]
        return triangle_distance(points, self.corners[self.owner[sample]]), self.samples[sample]


def _climb(surface, points, size):
    """Points moved by up to 1.6 cells onto the ridge of the distance from the surface; and that distance."""
    distance, sample = surface.nearest(points)
    for step in size * np.array([0.5, 0.5, 0.25, 0.25, 0.125]):
        away = points - sample
        length = np.sqrt((away * away).sum(axis=1, keepdims=True))
        # no farther than the sphere reaches: not through the other side of a thin part
        trial = points + np.minimum(step, distance)[:, None] * away / np.where(length > 0.0, length, 1.0)
        reached, its_sample = surface.nearest(trial)
        better = reached > distance
        distance = np.where(better, reached, distance)
        points = np.where(better[:, None], trial, points)
        sample = np.where(better[:, None], its_sample, sample)
    return points, distance


def _medial(inside, cells, radii):
    """Indices of the cells whose sphere lies in that of no neighbour, but for a fraction of a cell."""
    grid = np.zeros(np.array(inside.shape) + 2)
    grid[tuple((cells + 1).T)] = radii
    keep = np.ones(len(cells), dtype=bool)
    for step in np.ndindex(3, 3, 3):
        apart = np.sqrt(sum((s - 1) ** 2 for s in step))
        if apart > 0.0:         # on a slope without a ridge distances rise by `apart`, nowhere by more
            keep &= grid[tuple((cells + step).T)] < radii + 0.9 * apart
    return np.nonzero(keep)[0]


def _cells_inside(mesh, low, size):
    """Boolean grid: is the middle of the cell inside? By the crossings of vertical lines with the triangles."""
    shape = np.ceil((mesh.vertices.max(axis=0) - low) / size).astype(int) + 1
    corners = (mesh.corners - low) / size - 0.5
    # Lines through cell middles would meet edges of meshes drawn on a grid; a hair aside they do not.
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
        np.add.at(change, (x0 + i, y0 + j, k), -1 if area > 0.0 else 1)     # from below one enters
    return np.cumsum(change, axis=2)[:, :, :-1] > 0


def _side(p, q, x, y):
    """Twice the signed area of p, q, (x, y); for q, p the very opposite, so that neighbours share no line."""
    if (p[0], p[1]) > (q[0], q[1]):
        return -_side(q, p, x, y)
    return (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])


def _samples(corners, spacing):
    """Points on the triangles, about `spacing` apart, and the triangle of each.

    Triangles are halved across their longest side until it is twice the spacing at most, so that long slivers
    become a row of pieces; the points are their middles.
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
    """Distance of each point (3,) or (n, 3) from its triangle (n, 3, 3): (n,)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    squared = np.min([_segment_squared(points, p, q) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    normal = np.cross(b - a, c - a)
    length = np.sqrt((normal * normal).sum(axis=1))
    normal /= np.where(length > 0.0, length, 1.0)[:, None]
    above = length > 0.0
    for p, q in ((a, b), (b, c), (c, a)):
        above &= (np.cross(q - p, points - p) * normal).sum(axis=1) >= 0.0
    height = ((points - a) * normal).sum(axis=1)
    return np.sqrt(np.where(above, height * height, squared))


def _segment_squared(points, p, q):
    along, away = q - p, points - p
    squared = np.maximum((along * along).sum(axis=1), np.finfo(float).tiny)
    rest = away - np.clip((away * along).sum(axis=1) / squared, 0.0, 1.0)[:, None] * along
    return (rest * rest).sum(axis=1)
