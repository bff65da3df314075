"""Spheres spread over all parts of a solid, where a greedy choice by volume leaves some without any.

The greedy choice (`minidem.templates.fit_mesh`) is right as long as its spheres come near every part of the solid. In a
thin plate all spheres are equal, and it would fill one corner; of a hammer it would fill the head. Here every
cell of the solid is to lie within some reach of a sphere. First, as few spheres of the greedy choice as need be
give way to others, each in the part that is farthest from all, by the farthest-point rule of Gonzalez 1985,
doi:10.1016/0304-3975(85)90224-5. Where that takes more than a quarter of them, as in a plate, each gets an equal
part of the solid: boxes of as many cells, from which Lloyd's method makes a centroidal Voronoi tessellation (Du,
Faber and Gunzburger 1999, doi:10.1137/S0036144599352836). The centre of mass and the ratios of the moments of
inertia are then nearly right, whatever volume is missing.
"""
import numpy as np
import scipy

CELLS = 20_000      # at most, of the solid, evenly taken: some thirty across a compact body
ROUNDS = 10         # of Lloyd's method
KEPT = 0.75         # of the greedy choice, at least; where fewer would be left the solid is thin as a whole
LARGE = 0.8         # of the largest radius of its part: a sphere that may stand for it


def spread(cells, centers, radii, chosen, count, reach):
    """Indices of the spheres that stand for the solid, at most `count`; `chosen` if these are spread already.

    Args:
        cells: (m, 3) middles of the cells inside the solid.
        centers, radii: (k, 3), (k,) the spheres to choose from.
        chosen: indices of the greedy choice, best first.
        count: how many there may be.
        reach: the distance from the nearest sphere in which every cell shall lie.
    """
    if len(chosen) < count:         # no cell is left
        return chosen
    cells = cells[::-(-len(cells) // CELLS)]
    solid = _Solid(cells, centers, radii, reach)
    if not solid.added(chosen, 1):
        return chosen
    least, most = int(KEPT * count), count      # of the greedy choice; `least` leave enough for the rest
    if len(solid.added(chosen[:least], count - least + 1)) > count - least:
        even = _even(cells, centers, radii, count)
        return even + solid.added(even, count - len(even), 0.0)
    while most - least > 1:
        kept = (most + least) // 2
        if len(solid.added(chosen[:kept], count - kept + 1)) <= count - kept:
            least = kept
        else:
            most = kept
    return chosen[:least] + solid.added(chosen[:least], count - least)


class _Solid:
    def __init__(self, cells, centers, radii, reach):
        self.cells, self.centers, self.radii, self.reach = cells, centers, radii, reach
        self.tree = scipy.spatial.cKDTree(centers)

    def added(self, chosen, most, reach=None):
        """Up to `most` more spheres, each in the part that is farthest; fewer if every cell is in reach."""
        reach = self.reach if reach is None else reach
        away = np.full(len(self.cells), np.inf)
        for k in chosen:
            np.minimum(away, _gap(self.cells, self.centers[k], self.radii[k]), out=away)
        free = np.ones(len(self.radii), dtype=bool)
        free[chosen] = False
        found = []
        while len(found) < most:
            cell = int(away.argmax())
            if away[cell] <= reach:
                break
            k = self._largest(self.cells[cell], 0.5 * away[cell], free)
            if k is None:
                break
            found.append(k)
            free[k] = False
            np.minimum(away, _gap(self.cells, self.centers[k], self.radii[k]), out=away)
        return found

    def _largest(self, point, distance, free):
        """The largest free sphere that comes so near to the point; None if none does."""
        near = np.array(sorted(self.tree.query_ball_point(point, distance + self.radii.max())), dtype=int)
        near = near[free[near]]
        near = near[_gap(self.centers[near], point, self.radii[near]) <= distance]
        return int(near[self.radii[near].argmax()]) if len(near) else None


def _gap(points, center, radius):
    return np.sqrt(((points - center) ** 2).sum(axis=1)) - radius


def _even(cells, centers, radii, count):
    """Indices of spheres, each in the middle of an equal part of the solid, as nearly as may be."""
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
    """The cells in `count` boxes of as many cells each, but for one, cut across their longest sides."""
    if count == 1 or len(cells) < 2:
        return [cells]
    axis = int(np.ptp(cells, axis=0).argmax())
    cells = cells[np.argsort(cells[:, axis], kind="stable")]
    half = min(max(round(len(cells) * (count // 2) / count), 1), len(cells) - 1)
    return _parts(cells[:half], count // 2) + _parts(cells[half:], count - count // 2)
