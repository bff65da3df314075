"""Means over correlated samples, and their statistical errors."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import finite_array, refuse, whole


class Mean(NamedTuple):
    """A mean and its standard error, two numbers or two arrays."""

    value: Any
    error: Any


def mean_of_rows(rows: np.ndarray) -> Mean:
    """Mean of independent rows (n, ...) and its standard error; nan for fewer than two, and of none."""
    n = len(rows)
    value = np.mean(rows, axis=0) if n else np.full(rows.shape[1:], np.nan)
    return Mean(value, np.std(rows, axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(rows.shape[1:], np.nan))


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
    means = np.array([block.mean() for block in np.array_split(samples, blocks)])
    return Mean(float(samples.mean()), float(mean_of_rows(means).error))


def mean_rate(times: ArrayLike, totals: ArrayLike, blocks: int = 10) -> Mean:
    """Mean rate of a total that grows, with the standard error of the rates over blocks of equal duration.

    For the flow through an Outlet, whose counts since the start are the columns of a table. Leave out the time before
    the flow is steady; the error is right if a block is long compared with the correlation time of the flow.

    Where an Inlet sets the rate, the error is an upper bound, up to sqrt(blocks) times too large: the total varies
    about a straight line, and what comes too late for one block is in the next one. Runs with other seeds have the
    right one.

    Parameters
    ----------
    times : (n,) array_like
        Ascending [s]. Between them totals are interpolated: take many in a block.
    totals : (n,) array_like
        Number or mass [kg], for example `table["outlet_mass"]`.
    blocks : int
        At least 2, and below n.

    Returns
    -------
    Mean
        Rate and its error [1/s, kg/s].

    Raises
    ------
    ValueError
        For values that are not finite, times that do not ascend, or fewer intervals than blocks.
    """
    times, blocks = finite_array("times", times, (-1,)), whole("blocks", blocks, 2)
    totals = finite_array("totals", totals, (len(times),))
    refuse("times", times, np.diff(times, prepend=-np.inf) <= 0.0, "give ascending times")
    if len(times) <= blocks:
        raise ValueError(f"times: {len(times)} have fewer intervals than blocks = {blocks}; give more, or fewer blocks")
    ends = np.linspace(times[0], times[-1], blocks + 1)
    return block_mean(np.diff(np.interp(ends, times, totals)) / np.diff(ends), blocks)
