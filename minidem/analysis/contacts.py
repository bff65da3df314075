"""What several modules need of clumps, contacts and walls: near spheres, nearest images, sizes, neighbours, forces."""
from itertools import chain

import numpy as np
import scipy

from minidem.core.quaternions import cross


def pair_keys(pairs):
    """(n,) one number for each pair (i, j) of spheres, in the same order; j is negative at a wall."""
    return (pairs[:, 0].astype(np.int64) << 32) + pairs[:, 1]


def to_nearest_image(box, vectors):
    """Vectors (..., 3) between spheres, those to the nearest images in a periodic box, or None."""
    if box is None:
        return vectors
    rows = vectors.reshape(-1, 3)
    return (rows - box.displacement(box.lengths_in(rows))).reshape(vectors.shape)


def image_shifts(sim, pairs):
    """(n, 3) displacements [m] of the images that touch in `pairs` from the second bodies; 0 of walls, without a box.

    pairs : structured array (n,) with `sphere_i` and `sphere_j`
    """
    box, real, shifts = sim.loop.box, pairs["sphere_j"] >= 0, np.zeros((len(pairs), 3))
    if box is not None:
        centers = sim.sphere_centers()
        i, j = (pairs[name][real] for name in ("sphere_i", "sphere_j"))
        shifts[real] = box.displacement(box.lengths_in(centers[i] - centers[j]))
    return shifts


def bounding_radii(sim):
    """(n_clumps,) radii of the smallest spheres about the centres of mass that contain the clumps [m]."""
    of_template = np.array([template.bounding_radius for template in sim.loop.state.templates])
    return of_template.take(sim.loop.state.template_index) * sim.loop.state.scale


def near_spheres(a, radii_a, b, radii_b, gap):
    """Pairs (k, 2), indices in a and in b, of spheres whose surfaces are at most a gap apart [m].

    Spheres of b are searched by classes of size, a factor of two wide: the cost is that of the pairs for any radii.

    a, b : (n, 3), (m, 3) centres [m];  radii_a, radii_b : (n,), (m,) [m]
    """
    found, size = [np.zeros((0, 2), dtype=np.intp)], np.frexp(radii_b)[1]
    for one in np.unique(size):
        of_class = np.flatnonzero(size == one)
        lists = scipy.spatial.cKDTree(b[of_class]).query_ball_point(a, radii_a + radii_b[of_class].max() + gap)
        i = np.repeat(np.arange(len(a)), np.array([len(near) for near in lists], dtype=np.intp))
        j = of_class[np.fromiter(chain.from_iterable(lists), np.intp, len(i))]
        near = np.linalg.norm(a[i] - b[j], axis=1) <= radii_a[i] + radii_b[j] + gap
        found.append(np.column_stack([i, j])[near])
    return np.concatenate(found)


def neighbours_of(sim, walls):
    """(m, 2) int64, clump and its neighbour: each contact twice, except those with walls, -1 - k for wall k."""
    found = sim.contacts()
    i, j = found["clump_i"].astype(np.int64), found["clump_j"].astype(np.int64)
    return np.concatenate([np.stack([i, j], axis=1)[(j >= 0) | walls], np.stack([j, i], axis=1)[j >= 0]])


def rattlers(sim, least: int = 4) -> np.ndarray:
    """(n_clumps,) bool, clumps that are not held: with fewer than `least` neighbours that are held, or walls.

    Found by leaving them out until none is left; a sphere without friction is held by four.
    """
    ends = neighbours_of(sim, True)
    ends = ends[np.unique(pair_keys(ends), return_index=True)[1]]
    loose = np.zeros(sim.n_clumps, dtype=bool)
    while True:
        holds = ends[(ends[:, 1] < 0) | ~loose[np.maximum(ends[:, 1], 0)], 0]
        fewer = np.bincount(holds, minlength=len(loose)) < least
        if not (fewer & ~loose).any():
            return loose
        loose |= fewer


def enclosed_box(walls, box=None):
    """(low, high) corners (3,) of the room that planes normal to the axes, or a PeriodicBox, enclose; else infinite."""
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    if box is not None:
        low, high = np.where(box.axes, box.low, low), np.where(box.axes, box.high, high)
    for wall in walls:
        axis, sign, place = wall.face() or (0, 0.0, 0.0)
        if sign > 0.0:
            low[axis] = max(low[axis], place)
        elif sign < 0.0:
            high[axis] = min(high[axis], place)
    return low, high


def wall_wrenches(found, walls, box=None, about=None, carriers=None):
    """(n, 6) forces on walls at rest and torques about `about` [N, N m], lab; default: the centre of each wall.

    In a periodic box contacts with images of a wall act on the wall itself, at the image nearest to its centre.

    carriers : (n_clumps,) numbers of the walls that carry the clumps, -1: none; forces on these act on the wall
    """
    wrenches, j = np.zeros((len(walls), 6)), found["clump_j"]
    carriers = np.full(1, -1) if carriers is None else carriers
    of_j = np.where(j < 0, -1 - j, carriers.take(j, mode="clip"))
    for wall, sign in (of_j, -1.0), (carriers.take(found["clump_i"], mode="clip"), 1.0):
        touch, wall = found[wall >= 0], wall[wall >= 0]
        centers = np.array([w.center for w in walls]).reshape(-1, 3)[wall]
        arms = touch["point"] - (centers if about is None else about)
        if box is not None:
            repeats = np.array([w.uneven(box.axes)[0].any() for w in walls], dtype=bool)[wall] | (touch["clump_j"] >= 0)
            arms[repeats] -= box.displacement(box.lengths_in((touch["point"] - centers)[repeats]))
        np.add.at(wrenches[:, :3], wall, sign * touch["force"])
        np.add.at(wrenches[:, 3:], wall, sign * (cross(arms, touch["force"]) + touch["couple"]))
    return wrenches
