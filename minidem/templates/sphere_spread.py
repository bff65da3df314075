"""Spheres spread over all parts of a solid, where the greedy choice leaves parts without any.

The greedy choice (`minidem.templates.fit_mesh`) is used as long as its spheres come near every part of the solid. In a
thin plate all spheres are equal, and it would fill one corner; of a hammer it would fill the head. Here every cell of
the solid must lie within a given distance of a sphere. First, as few spheres as possible of the greedy choice are
replaced by others, each in the part that is farthest from all spheres (farthest-point rule, Gonzalez 1985,
doi:10.1016/0304-3975(85)90224-5). If more than a quarter would be replaced, as in a plate, each sphere gets an equal
part of the solid: boxes of equally many cells, improved by Lloyd's method to a centroidal Voronoi tessellation (Du,
Faber and Gunzburger 1999, doi:10.1137/S0036144599352836). Centre of mass and ratios of the moments of inertia are then
nearly right, whatever volume is missing.
"""
import numpy as np
import scipy

CELLS = 20_000      # at most, sampled evenly: about 30 across a compact solid
ROUNDS = 10         # of Lloyd's method
MIN_GREEDY = 0.75   # part of the greedy choice that stays at least; otherwise the spheres are spread evenly
LARGE = 0.8         # of the largest radius in a part: minimum for the sphere that represents the part


def spread(cells, centers, radii, chosen, count, distance):
    """Return the indices of at most `count` spheres that represent all parts of a solid.

    cells : (m, 3) centres of the cells inside [m];  centers, radii : (k, 3), (k,) candidates [m]
    chosen : greedy choice, best first, which is returned if no cell is farther from it than `distance` [m]
    """
    if len(chosen) < count:         # they cover all cells
        return chosen
    cells = cells[::-(-len(cells) // CELLS)]
    solid = _Solid(cells, centers, radii, distance)
    if not solid.added(chosen, 1):
        return chosen
    least, most = int(MIN_GREEDY * count), count    # of the greedy choice; `least` is few enough, `most` too many
    if len(solid.added(chosen[:least], count - least + 1)) > count - least:
        even = _even(cells, centers, radii, count)
        return even + solid.added(even, count - len(even), 0.0)
    while most - least > 1:
        middle = (most + least) // 2
        if len(solid.added(chosen[:middle], count - middle + 1)) <= count - middle:
            least = middle
        else:
            most = middle
    return chosen[:least] + solid.added(chosen[:least], count - least)


class _Solid:
    def __init__(self, cells, centers, radii, distance):
        self.cells, self.centers, self.radii, self.distance = cells, centers, radii, distance
        self.tree = scipy.spatial.cKDTree(centers)

    def added(self, chosen, most, distance=None):
        """Return up to `most` more spheres, each in the farthest part, until no cell is farther than `distance`."""
        distance = self.distance if distance is None else distance
        away = np.full(len(self.cells), np.inf)
        for k in chosen:
            np.minimum(away, _gap(self.cells, self.centers[k], self.radii[k]), out=away)
        free = np.ones(len(self.radii), dtype=bool)
        free[chosen] = False
        found = []
        while len(found) < most:
            cell = int(away.argmax())
            if away[cell] <= distance:
                break
            k = self._largest(self.cells[cell], 0.5 * away[cell], free)
            if k is None:
                break
            found.append(k)
            free[k] = False
            np.minimum(away, _gap(self.cells, self.centers[k], self.radii[k]), out=away)
        return found

    def _largest(self, point, distance, free):
        """Return the largest free sphere within `distance` of the point; None if there is none."""
        near = np.array(sorted(self.tree.query_ball_point(point, distance + self.radii.max())), dtype=int)
        near = near[free[near]]
        near = near[_gap(self.centers[near], point, self.radii[near]) <= distance]
        return int(near[self.radii[near].argmax()]) if len(near) else None


def _gap(points, center, radius):
    """Return the distances of points from a sphere, or of a point from spheres."""
    return np.sqrt(((points - center) ** 2).sum(axis=1)) - radius


def _even(cells, centers, radii, count):
    """Return the indices of spheres near the centroids of equal parts of the solid."""
    candidates = scipy.spatial.cKDTree(centers)
    points = np.array([part.mean(axis=0) for part in _parts(cells, count)])
    chosen = candidates.query(points)[1]
    for _ in range(ROUNDS):
        tree = scipy.spatial.cKDTree(points)
        part, of_sphere = tree.query(cells)[1], tree.query(centers)[1]
        size = np.maximum(np.bincount(part, minlength=count), 1)
        middle = np.stack([np.bincount(part, x, minlength=count) for x in cells.T], axis=1) / size[:, None]
        largest = np.zeros(count)
        np.maximum.at(largest, of_sphere, radii)
        off = ((centers - middle[of_sphere]) ** 2).sum(axis=1)
        off[radii < LARGE * largest[of_sphere]] = np.inf
        order = np.lexsort((off, of_sphere))
        parts, first = np.unique(of_sphere[order], return_index=True)
        before = chosen.copy()
        chosen[parts] = order[first]
        if np.array_equal(chosen, before):
            break
        points = centers[chosen]
    return list(dict.fromkeys(chosen.tolist()))


def _parts(cells, count):
    """Return the cells in `count` boxes of equally many cells, within one, bisected across their longest sides."""
    if count == 1 or len(cells) < 2:
        return [cells]
    axis = int(np.ptp(cells, axis=0).argmax())
    cells = cells[np.argsort(cells[:, axis], kind="stable")]
    half = min(max(round(len(cells) * (count // 2) / count), 1), len(cells) - 1)
    return _parts(cells[:half], count // 2) + _parts(cells[half:], count - count // 2)
