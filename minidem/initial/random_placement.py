"""Random positions and isotropic orientations of clumps without overlap, by random sequential addition.

Poses are proposed uniformly over all places where the clump is inside the box, and accepted if no sphere overlaps an
accepted one. Proposals are checked in batches and accepted in their order, with the result of checking one at a time.
All random numbers are from the generator of the caller: the same seed gives the same poses.

Rods of three touching spheres reach a solid fraction of 0.2 within seconds; the cost then diverges (45 proposals per
rod at 0.20, 105 at 0.22, 580 at 0.24). For higher solid fractions see dense_placement.py.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from minidem.analysis.contacts import to_nearest_image
from minidem.core.checks import finite_array, list_of, refuse, short_repr, whole
from minidem.templates.clump_template import ClumpTemplate
from minidem.walls.periodic_box import Box, periodic_box

BATCH = 8192            # largest number of proposals in a batch while few clumps are missing
PATIENCE = 100_000      # number of proposals after which the box counts as full, plus ...
ATTEMPTS = 200          # ... this number per clump
# No shape is known to get beyond this solid fraction in a large box; spheres end at 0.384: Feder, J. Theor. Biol. 87,
# 237 (1980), doi:10.1016/0022-5193(80)90358-6.
JAMMED, MANY = 0.5, 1000
CLASS = 0.25            # logarithm of the ratio of scales in a class, of which all clumps are added together
PAIR_BLOCK = 2**17      # sphere pairs whose distances are computed at once: 3 MB, within a core's cache


def random_directions(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, 3) isotropic unit vectors."""
    return _unit(rng.standard_normal((n, 3)))


def random_orientations(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, 4) unit quaternions (w, x, y, z), uniform over all rotations (four normal deviates, normalised)."""
    return _unit(rng.standard_normal((n, 4)))


def place(templates: Sequence[ClumpTemplate], numbers: Sequence[int], low: ArrayLike, high: ArrayLike,
          rng: np.random.Generator, scales: Sequence[ArrayLike] | None = None,
          periodic: Any = None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Place clumps at random in a box, without overlap between clumps or with the walls.

    Orientations are isotropic (if a clump is longer than the box: among those that fit), positions uniform over the
    free volume. Larger clumps are placed first, clumps of one template whose scales differ by less than 28 % together.

    Parameters
    ----------
    templates : sequence of ClumpTemplate
    numbers : sequence of int
        Number of clumps of each template.
    low, high : (3,)
        Corners of the box, lab frame [m].
    rng : numpy.random.Generator
    scales : sequence of (n,) or float, optional
        Of the clumps of each template, as for `Simulation.add_clumps`, for example from `Mixture.draw`. Default: 1.
    periodic : PeriodicBox, (low, high, axes) or Box, optional
        Periodic box of the simulation, as for `md.Simulation`, or as it is now, `sim.box`. Where low and high are on
        two of its faces, clumps reach across them, and their centres of mass are uniform up to them. Default: clumps
        are inside on all sides.

    Returns
    -------
    list of (position (n, 3), orientation (n, 4))
        For each template the centres of mass, lab frame [m], and unit quaternions (w, x, y, z), template -> lab frame.

    Raises
    ------
    ValueError
        For another argument than these, or if the box has no volume, or is full before all clumps are placed;
        `place_densely` places more. For clumps that are too large for the periodic box, or corners outside of it.
    """
    low, high, scales, box = check_placement(templates, numbers, low, high, rng, scales, periodic)
    return add_at_random(templates, numbers, low, high, rng, scales, box,
                         remedy="use place_densely, which takes the same arguments, ")


def add_at_random(templates, numbers, low, high, rng, scales, box, remedy=""):
    """`place` of checked arguments; remedy: advice in the message for a full box, besides fewer clumps or a larger box.

    box : Box of the region, None without periodic axes
    """
    solid_fraction = solid_volume(templates, scales) / np.prod(high - low)
    wanted = (f"numbers: {sum(numbers)} clumps do not fit at random into the box of {high - low} m "
              f"(solid fraction {solid_fraction:.3g})")
    if solid_fraction >= 1.0:
        raise ValueError(f"{wanted}; take fewer clumps or a larger box")
    classes = size_classes(templates, scales)
    for k, which in classes:
        if len(which) > MANY and solid_volume([templates[k]], [scales[k][which]]) > JAMMED * np.prod(high - low):
            raise ValueError(f"{wanted}: random addition ends below {JAMMED} (spheres: at 0.38); {remedy}take fewer "
                             "clumps or a larger box")

    placed = []
    found = [(np.empty((n, 3)), np.empty((n, 4))) for n in numbers]
    for k, which in classes:
        poses = _place_one_shape(Shape(templates[k]), scales[k][which], placed, low, high, rng, box)
        placed.append(poses)
        if len(poses.scale) < len(which):
            there = sum(len(poses.scale) for poses in placed)
            raise ValueError(f"{wanted}: it was full with {there}; "
                             f"{remedy if len(poses.scale) else ''}take fewer clumps or a larger box")
        which = which[np.argsort(scales[k][which], kind="stable")]
        poses = poses[np.argsort(poses.scale, kind="stable")]
        found[k][0][which], found[k][1][which] = poses.position, poses.orientation
    return found


def size_classes(templates, scales):
    """(index of a template, indices of its clumps) of each class of like scale, the largest clumps first."""
    classes = []
    for k, scale in enumerate(scales):
        label = np.floor(np.log(scale.max(initial=0.0) / scale) / CLASS)
        classes += [(k, np.flatnonzero(label == one)) for one in np.unique(label)]
    return sorted(classes, key=lambda one: -templates[one[0]].bounding_radius * scales[one[0]][one[1]].max())


def solid_volume(templates, scales):
    """Volume of clumps of these scales, (n,) for each template [m3]."""
    return sum(template.volume * np.sum(of_one ** 3) for template, of_one in zip(templates, scales))


def check_placement(templates, numbers, low, high, rng, scales, periodic):
    """Corners, scales (n,) for each template, and `box` of `add_at_random`; ValueError for wrong arguments of `place`.
    """
    if isinstance(templates, ClumpTemplate):
        raise ValueError(f"templates = {templates}: give a list of minidem.ClumpTemplate, [template], and of numbers")
    list_of(ClumpTemplate, "templates", list(templates) if isinstance(templates, Sequence) else templates)
    if np.ndim(numbers) != 1 or len(numbers) != len(templates):
        raise ValueError(f"numbers = {short_repr(numbers)}: give a list of whole numbers, one for each template")
    for k, number in enumerate(numbers):
        whole(f"numbers[{k}]", number, 0)
    require_generator(rng)
    if scales is None:
        scales = [1.0] * len(numbers)
    elif not isinstance(scales, (list, tuple)) or len(scales) != len(templates):
        raise ValueError(f"scales = {short_repr(scales)}: give a list of scales (n,) or numbers, one for each template")
    scales = [finite_array(f"scales[{k}]", one, (n,), repeat=True) for k, (one, n) in enumerate(zip(scales, numbers))]
    for k, one in enumerate(scales):
        refuse(f"scales[{k}]", one, one <= 0.0, "give scales greater than 0")
    low, high = (np.asarray(corner, dtype=float) for corner in (low, high))
    if not (low.shape == high.shape == (3,) and np.all(np.isfinite(high - low)) and np.all(low < high)):
        raise ValueError(f"low, high: the box from {low} to {high} has no volume; give (3,) with low < high")
    if periodic is None:
        return low, high, scales, None
    box = periodic if isinstance(periodic, Box) else periodic_box(periodic).start
    for template, of_one in zip(templates, scales):
        box.refuse_large(template, of_one)
    return low, high, scales, box.spanned(low, high)


def require_generator(rng):
    """ValueError for another thing than a numpy.random.Generator."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng = {short_repr(rng)}: give a numpy.random.Generator, np.random.default_rng(SEED)")


class Shape:
    """The spheres of a template about its centre of mass."""

    def __init__(self, template):
        self.centers = np.asarray(template.centers, dtype=float) - template.center_of_mass
        self.radii = np.asarray(template.radii, dtype=float)
        self.bounding_radius = template.bounding_radius * (1 + 1e-9)        # an upper bound despite rounding


class _Poses:
    """Clumps of one shape: scale (n,), position (n, 3), orientation (n, 4) and centres of their spheres (n, m, 3)."""

    def __init__(self, shape, scale, position, orientation, spheres):
        self.shape, self.scale = shape, scale
        self.position, self.orientation, self.spheres = position, orientation, spheres

    def __getitem__(self, which):
        return _Poses(self.shape, self.scale[which], self.position[which], self.orientation[which], self.spheres[which])

    def __add__(self, other):
        arrays = ((getattr(poses, name) for poses in (self, other))
                  for name in ("scale", "position", "orientation", "spheres"))
        return _Poses(self.shape, *(np.concatenate(tuple(both)) for both in arrays))

    @property
    def radii(self):
        """(n, m), of the spheres."""
        return self.scale[:, None] * self.shape.radii

    @property
    def bounding_radius(self):
        """Bounding radius of the largest clump."""
        return self.shape.bounding_radius * self.scale.max(initial=0.0)


def _place_one_shape(shape, scale, placed, low, high, rng, box):
    """Up to one pose of the shape for each scale (n,), without overlap with the `placed` poses of others."""
    poses = propose(shape, 0, low, high, rng, scale, box)
    batch, left, missing, likely = len(scale), PATIENCE + ATTEMPTS * len(scale), scale, np.inf
    # The accepted part of the proposals falls while the box fills. So the search ends where even the present part would
    # most likely accept too few.
    while 0 < len(missing) <= likely and left > 0:
        proposed = propose(shape, batch, low, high, rng, missing, box)
        free = np.ones(len(proposed.position), dtype=bool)
        for others in [poses, *placed]:
            free[overlapping(proposed, others, box)[:, 0]] = False
        accepted, missing = accept(proposed[free], missing, box)
        poses, count, left = poses + accepted, len(accepted.scale), left - batch
        likely = (count + 4.0 * np.sqrt(count) + 16.0) / batch * left
        batch = max(len(missing), min(2 * batch, BATCH))
    return poses


def propose(shape, number, low, high, rng, scales, box):
    """Poses uniform over all inside the box, with these scales in turn; less than `number` if some do not fit.

    Along the axes on which `box` is periodic, only the centre of mass need be inside.
    """
    orientation, scale = random_orientations(number, rng), np.resize(scales, number)
    spheres = scale[:, None, None] * np.einsum("nij,mj->nmi", _matrices(orientation), shape.centers)
    # A margin above the rounding of sphere centres computed elsewhere.
    margin = (scale[:, None] * shape.radii + rounding(low, high))[:, :, None]
    first = low - np.min(spheres - margin, axis=1)
    last = high - np.max(spheres + margin, axis=1)
    if box is not None:
        first, last = np.where(box.axes, low, first), np.where(box.axes, high, last)
    position = first + rng.random((number, 3)) * (last - first)
    fits = np.all(first <= last, axis=1)
    return _Poses(shape, scale[fits], position[fits], orientation[fits], (position[:, None, :] + spheres)[fits])


def overlapping(a, b, box):
    """Pairs (i, j) of overlapping clumps, i of a and j of b, through faces of the box as well; b None: i < j within a.
    """
    alone, b = b is None, a if b is None else b
    near = pairs_within(a.bounding_radius + b.bounding_radius, a.position, None if alone else b.position, box)
    radii_a, radii_b = a.radii + rounding(a.spheres, b.spheres), b.radii
    overlap = np.empty(len(near), dtype=bool)
    step = max(1, PAIR_BLOCK // (len(a.shape.radii) * len(b.shape.radii)))
    for start in range(0, len(near), step):
        i, j = near[start:start + step].T
        between = to_nearest_image(box, a.spheres[i][:, :, None, :] - b.spheres[j][:, None, :, :])
        square = np.einsum("pijx,pijx->pij", between, between)
        closest = radii_a[i][:, :, None] + radii_b[j][:, None, :]
        closest *= closest
        overlap[start:start + step] = np.any(square < closest, axis=(1, 2))
    return near[overlap]


def pairs_within(cutoff, a, b, box):
    """Pairs (n, 2) of points nearer than `cutoff`, i of a and j of b; b None: pairs i < j within a.

    In a periodic box a pair is there once for each image that is near.
    """
    tree = scipy.spatial.cKDTree(a if box is None else box.wrapped(a))
    if b is None and box is None:
        return tree.query_pairs(cutoff, output_type="ndarray")
    others = a if b is None else b
    images, index = (others, np.arange(len(others))) if box is None else box.images(others, cutoff)
    near = tree.sparse_distance_matrix(scipy.spatial.cKDTree(images), cutoff, output_type="ndarray")
    pairs = np.column_stack((near["i"], index[near["j"]]))
    return pairs[pairs[:, 0] < pairs[:, 1]] if b is None else pairs


def in_order(proposed, box):
    """Indices of proposals that do not overlap an earlier accepted one."""
    pairs = overlapping(proposed, None, box)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    keep = np.ones(len(proposed.position), dtype=bool)
    for early, late in pairs.tolist():      # ascending in `early`, whose own state is final
        if keep[early]:
            keep[late] = False
    return np.flatnonzero(keep)


def accept(proposed, missing, box):
    """Proposals that overlap no earlier accepted one, at most those that are missing; the scales still missing."""
    accepted = in_order(proposed, box)
    kinds, number = np.unique(missing, return_counts=True)
    kind = np.searchsorted(kinds, proposed.scale[accepted])
    order = np.argsort(kind, kind="stable")
    before = np.empty_like(order)               # of the same scale
    before[order] = np.arange(len(order)) - np.searchsorted(kind[order], kind[order])
    taken = before < number[kind]
    number -= np.bincount(kind[taken], minlength=len(kinds))
    return proposed[accepted[taken]], np.repeat(kinds, number)


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
