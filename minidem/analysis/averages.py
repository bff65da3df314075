"""Means over correlated samples, and their statistical errors."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import finite_array, whole


class Mean(NamedTuple):
    """A mean and its standard error."""

    value: float
    error: float


def block_mean(samples: ArrayLike, blocks: int = 10) -> Mean:
    """Mean of consecutive samples, with the standard error of means over blocks of them.

    The error is right if a block is long compared with the time over which samples are correlated. H. Flyvbjerg & H. G.
    Petersen, J. Chem. Phys. 91, 461 (1989), doi 10.1063/1.457480.

    Parameters
    ----------
    samples : (n,) array_like
        At equal intervals.
    blocks : int
        At least 2, and at most n.

    Raises
    ------
    ValueError
        For samples that are not finite, or fewer than blocks.
    """
    samples, blocks = finite_array("samples", samples, (-1,)), whole("blocks", blocks, 2)
    if len(samples) < blocks:
        raise ValueError(f"samples: {len(samples)} are fewer than blocks = {blocks}; give more, or fewer blocks")
    means = [block.mean() for block in np.array_split(samples, blocks)]
    return Mean(float(samples.mean()), float(np.std(means, ddof=1) / np.sqrt(blocks)))
