"""Random positions and isotropic orientations of clumps without overlap, by random sequential addition.

Poses are proposed uniformly over all places where the clump is inside the box, and accepted if no sphere overlaps an
accepted one. Proposals are checked in batches and accepted in their order, with the result of checking one at a time.
All random numbers are from the generator of the caller: the same seed gives the same poses.

Rods of three touching spheres reach a solid fraction of 0.2 within seconds; the cost then diverges (45 proposals per
rod at 0.20, 105 at 0.22, 580 at 0.24). For higher solid fractions see dense_placement.py.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from minidem.core.checks import list_of, short_repr, whole
from minidem.templates.clump_template import ClumpTemplate

BATCH = 8192            # largest number of proposals in a batch while few clumps are missing
PATIENCE = 100_000      # number of proposals after which the box counts as full, plus ...
ATTEMPTS = 200          # ... this number per clump
# No shape is known to get beyond this solid fraction in a large box; spheres end at 0.384: Feder, J. Theor. Biol. 87,
# 237 (1980), doi:10.1016/0022-5193(80)90358-6.
JAMMED, MANY = 0.5, 1000
PAIR_BLOCK = 2**17      # sphere pairs whose distances are computed at once: 3 MB, within a core's cache


def random_directions(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, 3) isotropic unit vectors."""
    return _unit(rng.standard_normal((n, 3)))


def random_orientations(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, 4) unit quaternions (w, x, y, z), uniform over all rotations (four normal deviates, normalised)."""
    return _unit(rng.standard_normal((n, 4)))


def place(templates: Sequence[ClumpTemplate], numbers: Sequence[int], low: ArrayLike, high: ArrayLike,
          rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Place clumps at random in a box, without overlap between clumps or with the walls.

    Orientations are isotropic (if a clump is longer than the box: among those that fit), positions uniform over the
    free volume. Templates with larger bounding radius are placed first.

    Parameters
    ----------
    templates : sequence of ClumpTemplate
    numbers : sequence of int
        Number of clumps of each template.
    low, high : (3,)
        Corners of the box, lab frame [m].
    rng : numpy.random.Generator

    Returns
    -------
    list of (position (n, 3), orientation (n, 4))
        For each template the centres of mass, lab frame [m], and unit quaternions (w, x, y, z), template -> lab frame.

    Raises
    ------
    ValueError
        For another argument than these, or if the box has no volume, or is full before all clumps are placed;
        `place_densely` places more.
    """
    return add_at_random(templates, numbers, low, high, rng,
                         remedy="use place_densely, which takes the same arguments, ")


def add_at_random(templates, numbers, low, high, rng, remedy=""):
    """`place`; remedy: advice in the message for a full box, besides fewer clumps or a larger box."""
    check_placement(templates, numbers, rng)
    low, high = (np.asarray(corner, dtype=float) for corner in (low, high))
    if not (low.shape == high.shape == (3,) and np.all(np.isfinite(high - low)) and np.all(low < high)):
        raise ValueError(f"low, high: the box from {low} to {high} has no volume; give (3,) with low < high")
    solid = sum(number * template.volume for template, number in zip(templates, numbers))
    solid_fraction = solid / np.prod(high - low)
    wanted = (f"numbers: {sum(numbers)} clumps do not fit at random into the box of {high - low} m "
              f"(solid fraction {solid_fraction:.3g})")
    if solid_fraction >= 1.0:
        raise ValueError(f"{wanted}; take fewer clumps or a larger box")
    for template, number in zip(templates, numbers):
        if number > MANY and number * template.volume > JAMMED * np.prod(high - low):
            raise ValueError(f"{wanted}: random addition ends below {JAMMED} (spheres: at 0.38); {remedy}take fewer "
                             "clumps or a larger box")

    shapes = [Shape(template) for template in templates]
    placed = []
    for k in sorted(range(len(shapes)), key=lambda k: -shapes[k].bounding_radius):
        poses = _place_one_shape(shapes[k], int(numbers[k]), placed, low, high, rng)
        placed.append((k, poses))
        if len(poses.position) < numbers[k]:
            there = sum(len(poses.position) for _, poses in placed)
            raise ValueError(f"{wanted}: it was full with {there}; "
                             f"{remedy if len(poses.position) else ''}take fewer clumps or a larger box")
    return [(poses.position, poses.orientation) for _, poses in sorted(placed, key=lambda item: item[0])]


def check_placement(templates, numbers, rng):
    """ValueError for wrong arguments of `place`."""
    if isinstance(templates, ClumpTemplate):
        raise ValueError(f"templates = {templates}: give a list of minidem.ClumpTemplate, [template], and of numbers")
    list_of(ClumpTemplate, "templates", list(templates) if isinstance(templates, Sequence) else templates)
    if np.ndim(numbers) != 1 or len(numbers) != len(templates):
        raise ValueError(f"numbers = {short_repr(numbers)}: give a list of whole numbers, one for each template")
    for k, number in enumerate(numbers):
        whole(f"numbers[{k}]", number, 0)
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng = {short_repr(rng)}: give a numpy.random.Generator, np.random.default_rng(SEED)")


class Shape:
    """The spheres of a template about its centre of mass."""

    def __init__(self, template):
        self.centers = np.asarray(template.centers, dtype=float) - template.center_of_mass
        self.radii = np.asarray(template.radii, dtype=float)
        self.bounding_radius = template.bounding_radius * (1 + 1e-9)        # an upper bound despite rounding


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


def _place_one_shape(shape, number, placed, low, high, rng):
    """Up to `number` poses of one shape without overlap with `placed` (pairs of template index and poses)."""
    poses = propose(shape, 0, low, high, rng)
    batch, left, missing, likely = number, PATIENCE + ATTEMPTS * number, number, np.inf
    # The accepted part of the proposals falls while the box fills. So the search ends where even with the present one,
    # but for chance, too few would be accepted.
    while 0 < missing <= likely and left > 0:
        proposed = propose(shape, batch, low, high, rng)
        free = np.ones(len(proposed.position), dtype=bool)
        for others in [poses] + [others for _, others in placed]:
            free[overlapping(proposed, others)[:, 0]] = False
        proposed = proposed[free]
        accepted = in_order(proposed)[:missing]
        poses, missing, left = poses + proposed[accepted], missing - len(accepted), left - batch
        likely = (len(accepted) + 4.0 * np.sqrt(len(accepted)) + 16.0) / batch * left
        batch = max(missing, min(2 * batch, BATCH))
    return poses


def propose(shape, number, low, high, rng):
    """Poses uniform over all that are inside the box; fewer than `number` if some orientations do not fit."""
    orientation = random_orientations(number, rng)
    spheres = np.einsum("nij,mj->nmi", _matrices(orientation), shape.centers)
    # A margin above the rounding of sphere centres computed elsewhere.
    margin = shape.radii[:, None] + rounding(low, high)
    first = low - np.min(spheres - margin, axis=1)
    last = high - np.max(spheres + margin, axis=1)
    position = first + rng.random((number, 3)) * (last - first)
    fits = np.all(first <= last, axis=1)
    return _Poses(shape, position[fits], orientation[fits], (position[:, None, :] + spheres)[fits])


def overlapping(a, b=None):
    """Pairs (i, j) of overlapping clumps, i of a and j of b; without b: pairs i < j within a."""
    tree = scipy.spatial.cKDTree(a.position)
    if b is None:
        b = a
        near = tree.query_pairs(2.0 * a.shape.bounding_radius, output_type="ndarray")
    else:
        cutoff = a.shape.bounding_radius + b.shape.bounding_radius
        near = tree.sparse_distance_matrix(scipy.spatial.cKDTree(b.position), cutoff, output_type="ndarray")
        near = np.column_stack((near["i"], near["j"]))
    closest = a.shape.radii[:, None] + b.shape.radii
    closest = (closest + rounding(a.spheres, b.spheres)) ** 2
    overlap = np.empty(len(near), dtype=bool)
    step = max(1, PAIR_BLOCK // closest.size)
    for start in range(0, len(near), step):
        i, j = near[start:start + step].T
        between = a.spheres[i][:, :, None, :] - b.spheres[j][:, None, :, :]
        square = np.einsum("pijx,pijx->pij", between, between)
        overlap[start:start + step] = np.any(square < closest, axis=(1, 2))
    return near[overlap]


def in_order(proposed):
    """Indices of proposals that do not overlap an earlier accepted one."""
    pairs = overlapping(proposed)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    keep = np.ones(len(proposed.position), dtype=bool)
    for early, late in pairs.tolist():      # ascending in `early`, whose own state is final
        if keep[early]:
            keep[late] = False
    return np.flatnonzero(keep)


def rounding(*coordinates):
    """A bound, 64 units, on the rounding of coordinates of this magnitude computed in another order."""
    largest = max((np.max(np.abs(array)) for array in coordinates if array.size), default=0.0)
    return 64 * np.finfo(float).eps * largest


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _matrices(orientation):
    """Rotation matrices (n, 3, 3), template to lab frame, of unit quaternions (n, 4)."""
    w, x, y, z = orientation.T
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    return np.moveaxis(np.array(rows), -1, 0)
