"""Which spheres are near each other, among spheres of any sizes."""
from itertools import chain

import numpy as np
import scipy


def near_spheres(a, radii_a, b, radii_b, gap):
    """Pairs (k, 2), indices in a and in b, of spheres whose surfaces are at most a gap apart [m].

    Spheres are sorted into classes of size, a factor of two wide. Each sphere of the larger class looks for those of
    the smaller one, so that the cost is about that of the pairs that are found, for any ratio of radii.

    a, b : (n, 3), (m, 3) centres [m];  radii_a, radii_b : (n,), (m,) [m]
    """
    trees_a, trees_b = _trees(a, radii_a), _trees(b, radii_b)
    found = [np.zeros((0, 2), dtype=np.intp)]
    for size_a, of_a, tree_a in trees_a:
        for size_b, of_b, tree_b in trees_b:
            if size_a < size_b:
                j, i = _within(b[of_b], radii_b[of_b] + size_a + gap, tree_a)
            else:
                i, j = _within(a[of_a], radii_a[of_a] + size_b + gap, tree_b)
            i, j = of_a[i], of_b[j]
            near = np.linalg.norm(a[i] - b[j], axis=1) <= radii_a[i] + radii_b[j] + gap
            found.append(np.column_stack([i, j])[near])
    return np.concatenate(found)


def _trees(centers, radii):
    """(largest radius, indices, tree of centres) of each class of size."""
    size = np.frexp(radii)[1]
    classes = [np.flatnonzero(size == one) for one in np.unique(size)]
    return [(radii[one].max(), one, scipy.spatial.cKDTree(centers[one])) for one in classes]


def _within(centers, distances, tree):
    """Indices (k,) of centres, and of the points of a tree within the distance of each."""
    lists = tree.query_ball_point(centers, distances)
    counts = np.array([len(one) for one in lists], dtype=np.intp)
    return (np.repeat(np.arange(len(centers)), counts),
            np.fromiter(chain.from_iterable(lists), np.intp, counts.sum()))
