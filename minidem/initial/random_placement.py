"""Random positions and orientations for clumps: isotropic, and without a single overlap.

Random sequential addition: poses are proposed one after the other, uniformly over all places where the
clump is inside the box, and kept if no sphere overlaps a sphere already there. Proposals are made and
checked in batches but accepted in their order, so the outcome is what one at a time would give.
Everything is drawn from the generator that is passed in: the same seed gives the same poses.

Rods of three touching spheres reach a solid fraction of 0.2 within seconds; the effort then grows
without bound (45 proposals per rod at 0.20, 105 at 0.22, 580 at 0.24). For denser states see
dense_placement.py.
"""

import numpy as np
import scipy

BATCH = 8192          # a batch grows to this many proposals while few clumps wait
PATIENCE = 100_000    # proposals in vain after which the box counts as full, plus this ...
ATTEMPTS = 200        # ... many per clump on the average
PAIR_BLOCK = 2**17    # sphere pairs whose distances are computed at once: 3 MB, within a core's cache


def random_directions(n, rng):
    """n unit vectors (n, 3), isotropic."""
    return _unit(rng.standard_normal((n, 3)))


def random_orientations(n, rng):
    """n unit quaternions (n, 4), w x y z, uniform over all rotations (four normal deviates, normalised)."""
    return _unit(rng.standard_normal((n, 4)))


def place(templates, numbers, low, high, rng):
    """Poses for numbers[k] clumps of templates[k] in the box from corner `low` to corner `high` (3,) [m].

    No sphere overlaps a sphere of another clump or reaches through a side of the box. Orientations are
    isotropic (where a clump is longer than the box: among those that fit), positions uniform over what
    is free. Templates with a longer reach are placed first. Returns one pair (position (n, 3),
    orientation (n, 4)) per template, in the order given: centres of mass in the lab frame [m] and unit
    quaternions. rng: a numpy.random.Generator.

    ValueError: more clumps than random sequential addition brings into the box. `place_densely` brings in more.
    """
    return add_at_random(templates, numbers, low, high, rng,
                         remedy="use place_densely, which takes the same arguments, ")


def add_at_random(templates, numbers, low, high, rng, remedy=""):
    """What `place` does. remedy: what else than fewer clumps or a larger box helps where some found room."""
    low, high = (np.asarray(corner, dtype=float) for corner in (low, high))
    if not (low.shape == high.shape == (3,) and np.all(np.isfinite(high - low)) and np.all(low < high)):
        raise ValueError(f"low, high: the box from {low} to {high} has no volume; give (3,) with low < high")
    solid = sum(number * template.volume for template, number in zip(templates, numbers))
    solid_fraction = solid / np.prod(high - low)
    wanted = (f"numbers: {sum(numbers)} clumps do not fit at random into the box of {high - low} m "
              f"(solid fraction {solid_fraction:.3g})")
    if solid_fraction >= 1.0:
        raise ValueError(f"{wanted}; take fewer clumps or a larger box")

    shapes = [_Shape(template) for template in templates]
    placed = []
    for k in sorted(range(len(shapes)), key=lambda k: -shapes[k].reach):
        poses = _place_one_kind(shapes[k], int(numbers[k]), placed, low, high, rng)
        placed.append((k, poses))
        if len(poses.position) < numbers[k]:
            there = sum(len(poses.position) for _, poses in placed)
            raise ValueError(f"{wanted}: it was full with {there}; "
                             f"{remedy if len(poses.position) else ''}take fewer clumps or a larger box")
    return [(poses.position, poses.orientation) for _, poses in sorted(placed, key=lambda item: item[0])]


class _Shape:
    """The spheres of a template about its centre of mass."""

    def __init__(self, template):
        self.centers = np.asarray(template.centers, dtype=float) - template.center_of_mass
        self.radii = np.asarray(template.radii, dtype=float)
        self.reach = template.bounding_radius * (1 + 1e-9)  # a net a little too wide does no harm


class _Poses:
    """Clumps of one shape: position (n, 3), orientation (n, 4) and the centres of their spheres (n, m, 3)."""

    def __init__(self, shape, position, orientation, spheres):
        self.shape, self.position, self.orientation, self.spheres = shape, position, orientation, spheres

    def __getitem__(self, which):
        return _Poses(self.shape, self.position[which], self.orientation[which], self.spheres[which])

    def __add__(self, other):
        arrays = ((getattr(poses, name) for poses in (self, other))
                  for name in ("position", "orientation", "spheres"))
        return _Poses(self.shape, *(np.concatenate(tuple(both)) for both in arrays))


def _place_one_kind(shape, number, placed, low, high, rng):
    """Up to `number` poses of one shape beside the ones already placed (pairs of kind and poses)."""
    poses = _propose(shape, 0, low, high, rng)
    batch, proposals = number, 0
    while len(poses.position) < number and proposals < PATIENCE + ATTEMPTS * number:
        proposed = _propose(shape, batch, low, high, rng)
        free = np.ones(len(proposed.position), dtype=bool)
        for others in [poses] + [others for _, others in placed]:
            free[_overlapping(proposed, others)[:, 0]] = False
        proposed = proposed[free]
        room = number - len(poses.position)
        poses = poses + proposed[_in_turn(proposed)[:room]]
        proposals += batch
        batch = max(number - len(poses.position), min(2 * batch, BATCH))
    return poses


def _propose(shape, number, low, high, rng):
    """Poses uniform over all with every sphere inside the box; fewer than `number` where some cannot be."""
    orientation = random_orientations(number, rng)
    spheres = np.einsum("nij,mj->nmi", _matrices(orientation), shape.centers)
    # Inside by more than the rounding of poses that are computed again elsewhere.
    margin = shape.radii[:, None] + _rounding(low, high)
    first = low - np.min(spheres - margin, axis=1)
    last = high - np.max(spheres + margin, axis=1)
    position = first + rng.random((number, 3)) * (last - first)
    fits = np.all(first <= last, axis=1)
    return _Poses(shape, position[fits], orientation[fits], (position[:, None, :] + spheres)[fits])


def _overlapping(a, b=None):
    """Pairs (i, j) of clumps, i of a and j of b, whose spheres overlap; without b: pairs i < j within a."""
    tree = scipy.spatial.cKDTree(a.position)
    if b is None:
        b = a
        near = tree.query_pairs(2.0 * a.shape.reach, output_type="ndarray")
    else:
        reach = a.shape.reach + b.shape.reach
        near = tree.sparse_distance_matrix(scipy.spatial.cKDTree(b.position), reach, output_type="ndarray")
        near = np.column_stack((near["i"], near["j"]))
    closest = a.shape.radii[:, None] + b.shape.radii
    closest = (closest + _rounding(a.spheres, b.spheres)) ** 2
    overlap = np.empty(len(near), dtype=bool)
    step = max(1, PAIR_BLOCK // closest.size)
    for start in range(0, len(near), step):
        i, j = near[start:start + step].T
        between = a.spheres[i][:, :, None, :] - b.spheres[j][:, None, :, :]
        square = np.einsum("pijx,pijx->pij", between, between)
        overlap[start:start + step] = np.any(square < closest, axis=(1, 2))
    return near[overlap]


def _in_turn(proposed):
    """Indices of the proposals that are kept when each may not overlap an earlier one that is kept."""
    pairs = _overlapping(proposed)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    keep = np.ones(len(proposed.position), dtype=bool)
    for early, late in pairs.tolist():  # ascending in `early`: all that could dismiss it has been seen
        if keep[early]:
            keep[late] = False
    return np.flatnonzero(keep)


def _rounding(*coordinates):
    """A bound on the rounding of coordinates of this size that are computed in another order: 64 units."""
    largest = max((np.max(np.abs(array)) for array in coordinates if array.size), default=0.0)
    return 64 * np.finfo(float).eps * largest


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _matrices(orientation):
    """Rotation matrices (n, 3, 3), body to lab, of unit quaternions (n, 4)."""
    w, x, y, z = orientation.T
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    return np.moveaxis(np.array(rows), -1, 0)
