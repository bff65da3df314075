"""What several modules need of clumps, contacts and walls: near spheres, nearest images, sizes, neighbours, forces."""
from itertools import chain

import numpy as np
import scipy

from minidem.core.checks import corners, positive
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
    box, real, shifts = sim.box, pairs["sphere_j"] >= 0, np.zeros((len(pairs), 3))
    if box is not None:
        centers = sim.sphere_centers
        i, j = (pairs[name][real] for name in ("sphere_i", "sphere_j"))
        shifts[real] = box.displacement(box.lengths_in(centers[i] - centers[j]))
    return shifts


def near_spheres(a, radii_a, b, radii_b, gap):
    """Pairs (k, 2), indices in a and in b, of spheres whose surfaces are at most a gap apart [m].

    Spheres of b are searched by classes of size, a factor of two wide: the cost grows as the number of pairs for any
    radii.

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


def averaging_volume(sim, volume, low, high):
    """Corners of the box to average over, infinite ones included, and its volume."""
    everything, box = (np.full(3, -np.inf), np.full(3, np.inf)), sim.box
    if volume is not None:
        if low is not None or high is not None:
            raise ValueError("volume, low, high: give the volume, or both corners of a box")
        return *everything, positive("volume", volume)
    if (low is None) != (high is None):
        raise ValueError("low and high belong together: give both or none")
    if low is None:
        low, high = enclosed_box(sim.walls.at_rest, box)
        if not np.isfinite([low, high]).all():
            raise ValueError("volume = None: walls and periodic axes do not enclose a box; give volume, or low and "
                             "high")
        return *everything, float(np.prod(high - low))
    low, high = corners(low, high)
    if box is not None:
        box.refuse_outside(low, high)
    return low, high, float(np.prod(high - low))


def wall_wrenches(sim, contacts, about=None):
    """(n, 6) forces on the walls and torques about `about` [N, N m], lab; default: the centre of each wall.

    contacts : contacts of the simulation. In a periodic box contacts with images of a wall act on the wall itself, at
        the image nearest to its centre.

    A wall that carries clumps takes all forces on them.
    """
    walls, box, found = sim.walls.at_rest, sim.box, contacts[contacts["clump_j"] < 0]
    wrenches, centers, wall = np.zeros((len(walls), 6)), np.array([w.center for w in walls]), -1 - found["clump_j"]

    def add(wall, point, force, couple, repeats):
        arms = point - (centers[wall] if about is None else about)
        if box is not None:
            arms[repeats] -= box.displacement(box.lengths_in((point - centers[wall])[repeats]))
        np.add.at(wrenches, wall, np.hstack([force, cross(arms, force) + couple]))

    if len(found):
        repeats = np.array([box is not None and w.uneven(box.axes)[0].any() for w in walls])
        add(wall, found["point"], -found["force"], -found["couple"], repeats[wall])
    wall = sim.reader.carriers()
    carried = np.flatnonzero(wall >= 0)
    if len(carried):
        add(wall[carried], sim.position[carried], sim.force[carried], sim.torque[carried], np.zeros(0, dtype=int))
    return wrenches
