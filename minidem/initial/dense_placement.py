"""Random placement at solid fractions beyond the limit of random sequential addition.

Clumps with spheres of reduced radius at the same centres are placed by random_placement.py. Then the spheres get their
full radius, and overlapping clumps are pushed apart by overlap_relaxation.py. Orientations are isotropic and positions
disordered, but not in thermal equilibrium: simulate a few mean free paths before measuring.
"""
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.quaternions import rotate
from minidem.initial.overlap_relaxation import OverlapRelaxation
from minidem.initial.random_placement import add_at_random
from minidem.templates.clump_template import ClumpTemplate

DILUTE = 0.04           # solid fraction of the reduced clumps, at which random addition needs two proposals per clump
NEAR = 0.3              # largest gap over the sum of radii of pairs in the list of a round
PUSHES, ROUNDS = 12, 50


def place_densely(templates: Sequence[ClumpTemplate], numbers: Sequence[int], low: ArrayLike, high: ArrayLike,
                  rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Place clumps without overlap at higher solid fractions than `place`.

    340 000 rods of three touching spheres at a solid fraction of 0.3 take 20 s. Below 0.04 the poses are those of
    `place`.

    Parameters
    ----------
    templates, numbers, low, high, rng
        As for `minidem.initial.place`.

    Returns
    -------
    list of (position (n, 3), orientation (n, 4))
        As from `minidem.initial.place`.

    Raises
    ------
    ValueError
        If overlaps remain after the last round.
    """
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    solid_fraction = sum(n * t.volume for n, t in zip(numbers, templates)) / np.prod(high - low)
    if not DILUTE < solid_fraction < 1.0:       # dilute, or an error that `add_at_random` reports
        return add_at_random(templates, numbers, low, high, rng)
    size = (DILUTE / solid_fraction) ** (1 / 3)
    reduced = [ClumpTemplate(t.centers, size * t.radii, t.density) for t in templates]
    placed = add_at_random(reduced, numbers, low, high, rng)
    poses = [(position + rotate(orientation, t.center_of_mass - s.center_of_mass), orientation)
             for (position, orientation), t, s in zip(placed, templates, reduced)]
    relaxation = OverlapRelaxation(templates, poses, low, high)
    for _ in range(ROUNDS):
        near = relaxation.near(NEAR)
        if not relaxation.push_apart(near):
            return relaxation.poses()
        for _ in range(PUSHES - 1):
            if not relaxation.push_apart(near):
                break
    raise ValueError(f"numbers: {sum(numbers)} clumps could not be pushed apart in the box of {high - low} m "
                     f"(solid fraction {solid_fraction:.3g}); take fewer clumps or a larger box")
