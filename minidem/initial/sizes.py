"""Sizes of grains: lognormal, Rosin-Rammler and sieve curves, mixtures of shapes, and the curve that was achieved.

The size of a clump is the diameter of the sphere of equal volume. Sizes are not drawn independently: of n parts of the
wanted curve by number, each gives one (stratified sampling: Cochran, Sampling Techniques, Wiley 1977). So the mass that
passes a sieve differs from the wanted one by about the largest grain at most.
"""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import pi
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from minidem.analysis.flow import clump_volumes
from minidem.core.checks import LARGEST, finite_array, list_of, positive, refuse, short_repr, whole
from minidem.initial.random_placement import require_generator
from minidem.simulation import Simulation
from minidem.templates.clump_template import ClumpTemplate

LIMITS = 0.01, 0.99     # parts of a curve without ends at which it is cut off by default
CELLS = 4096            # of a curve between its limits; in a cell sizes are uniform by number
LARGEST_SIEVE = 0.2     # opening above which units are doubtful [m]
HEAVY = 0.1             # part of the mass of all grains beyond which they are too few for the largest one
CURVES = "mass", "number"
GOLDEN = np.uint64(0x9E3779B97F4A7C15)      # 2^64 over the golden ratio


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What all size distributions have.

    Parameters
    ----------
    by : str
        "mass": the curve tells the mass that passes, of grains of one density; "number": the number that passes.
    low, high : float, optional
        Sizes at which the curve is cut off [m]; what is between counts as the whole. Defaults: the sizes that 1 % and
        99 % pass, of the mass or number as `by` says, or the first and last sieve of a SieveCurve.

    Attributes
    ----------
    mean_volume : float
        Of a grain [m3].

    Raises
    ------
    ValueError
        For an argument out of range.
    """

    by: str = "mass"
    low: float | None = None
    high: float | None = None
    mean_volume: float = field(init=False, repr=False, compare=False)
    _table: tuple[np.ndarray, dict[str, np.ndarray]] = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        refuse_curve(self.by)
        (cumulative, limits), ends = self._curve(), []
        for name, given, limit in zip(("low", "high"), (self.low, self.high), limits):
            if given is None and not 1.0 / LARGEST <= limit <= LARGEST:
                raise ValueError(f"{self!r}: the curve is so wide that its default {name}, where it is cut off, is "
                                 f"{limit:g} m; give {name}, or a narrower curve")
            ends.append(positive(name, float(limit) if given is None else given))
        low, high = ends
        if not low < high:
            raise ValueError(f"low = {low:g}, high = {high:g}: give low below high [m]")
        sizes = np.geomspace(low, high, CELLS + 1)
        part = np.diff(cumulative(sizes))
        if part.sum() < 1e-6:
            raise ValueError(f"low = {low:g}, high = {high:g}: less than a millionth of the curve is between; give "
                             f"limits near {limits[0]:g} and {limits[1]:g} m")
        cube = 0.25 * (sizes[1:] + sizes[:-1]) * (sizes[1:] ** 2 + sizes[:-1] ** 2)     # mean in each cell
        number = part / cube if self.by == "mass" else part
        curves = {by: np.append(0.0, np.cumsum(w) / w.sum()) for by, w in zip(CURVES, (number * cube, number))}
        vars(self).update(low=low, high=high, _table=(sizes, curves),
                          mean_volume=float(pi / 6.0 * (number @ cube) / number.sum()))

    def _curve(self) -> tuple[Any, Any]:
        """What passes sizes (n,), as a function of them, and the default limits."""
        raise NotImplementedError

    def passing(self, sieves: ArrayLike, by: str = "mass") -> np.ndarray:
        """Wanted part of the mass or number that passes sieves (n,) [m], from 0 to 1."""
        refuse_curve(by)
        sizes, curves = self._table
        return np.interp(finite_array("sieves", sieves, (-1,)), sizes, curves[by])

    def quantile(self, part: np.ndarray) -> np.ndarray:
        """Sizes (n,) [m] that these parts (n,) of the number of grains pass."""
        sizes, curves = self._table
        return np.interp(part, curves["number"], sizes)

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Diameters (n,) [m] of n grains in random order, which follow the curve.

        A UserWarning tells if one grain of the size `high` has more than a tenth of the mass of all.
        """
        self.warn_of_few(whole("n", n, 0))
        return self.quantile(one_of_each(n, rng))

    def warn_of_few(self, n: int) -> None:
        """Warn the caller of the caller if n grains are too few for the curve."""
        largest = self._table[0][-1]
        mean_grains = pi / 6.0 * largest ** 3 / self.mean_volume
        if 0 < n < mean_grains / HEAVY:
            warnings.warn(f"n = {n}: too few grains for the curve: its largest, of {largest:.3g} m, has the mass of "
                          f"{mean_grains:.3g} mean ones; take {int(mean_grains / HEAVY) + 1} or more, or low and high "
                          "nearer to one another", UserWarning, stacklevel=3)


@dataclass(frozen=True)
class Lognormal(Sizes):
    """Sizes whose logarithm has a normal distribution.

    The median by number is that by mass times exp(-3 sigma^2), sigma is the same: Hatch and Choate, J. Franklin Inst.
    207, 369 (1929).

    Parameters
    ----------
    median : float
        Size that half of the mass or number passes [m].
    sigma : float
        Standard deviation of the natural logarithm of the size.
    by, low, high
        As for `Sizes`.
    """

    median: float
    sigma: float

    def _curve(self):
        curve = scipy.stats.lognorm(positive("sigma", self.sigma), scale=positive("median", self.median))
        return curve.cdf, curve.ppf(LIMITS)


@dataclass(frozen=True)
class RosinRammler(Sizes):
    """Sizes as of ground coal: a sieve d retains exp(-(d / size)^exponent), a Weibull distribution.

    Rosin and Rammler, J. Inst. Fuel 7, 29 (1933). By mass, most grains are hardly larger than `low`; up to an exponent
    of 3 their number has no limit when `low` goes to 0.

    Parameters
    ----------
    size : float
        Size that 63.2 % of the mass or number passes, 1 - 1/e [m].
    exponent : float
        The larger, the narrower.
    by, low, high
        As for `Sizes`.
    """

    size: float
    exponent: float

    def _curve(self):
        curve = scipy.stats.weibull_min(positive("exponent", self.exponent), scale=positive("size", self.size))
        return curve.cdf, curve.ppf(LIMITS)


@dataclass(frozen=True)
class SieveCurve(Sizes):
    """Sizes by a sieve analysis, with straight lines between the sieves over the logarithm of the size.

    Parameters
    ----------
    points : sequence of (float, float)
        Openings of the sieves [m], ascending, and the part of the mass or number that passes each, from 0 to 1.
    by, low, high
        As for `Sizes`.
    """

    points: Sequence[tuple[float, float]]

    def _curve(self):
        points = finite_array("points", self.points, (-1, 2))
        refuse("points", points, np.diff(points, axis=0, prepend=0.0) < [np.finfo(float).tiny, 0.0],
               "give sieves above 0 in ascending order, each with a part not smaller than that of the sieve before")
        if len(points) < 2 or points[0, 1] != 0.0 or points[-1, 1] != 1.0:
            raise ValueError(f"points = {short_repr(self.points)}: give a first sieve that nothing passes, 0.0, and a "
                             "last one that all passes, 1.0")
        if points[-1, 0] > LARGEST_SIEVE:
            warnings.warn(f"points: the largest sieve has an opening of {points[-1, 0]:g} m; 4 mm are 0.004 m. Give "
                          "all sieves in metres", stacklevel=4)
        vars(self).update(points=tuple(map(tuple, points.tolist())))
        return lambda sizes: np.interp(np.log(sizes), np.log(points[:, 0]), points[:, 1]), points[[0, -1], 0]


@dataclass(frozen=True)
class Mixture:
    """Grains of one template or more, in given shares and sizes.

    Parameters
    ----------
    templates : sequence of ClumpTemplate
    shares : sequence of float
        Of each template; their sum counts as the whole.
    by : str
        "mass" or "number", which the shares are parts of.
    sizes : Sizes or sequence of (Sizes or None), optional
        Equal-volume diameters, one for all clumps or one per template. Default, and None: the template as it is.

    Attributes
    ----------
    mean_mass : float
        Of a grain [kg]. A mass over it is the number to draw.

    Raises
    ------
    ValueError
        For an argument out of range.
    """

    templates: Sequence[ClumpTemplate]
    shares: Sequence[float] = (1.0,)
    by: str = "mass"
    sizes: Sizes | Sequence[Sizes | None] | None = None
    mean_mass: float = field(init=False, repr=False, compare=False)
    _sizes: tuple[Sizes | None, ...] = field(init=False, repr=False, compare=False)
    _ends: np.ndarray = field(init=False, repr=False, compare=False)        # of the templates, parts of the number

    def __post_init__(self):
        templates = list_of(ClumpTemplate, "templates", self.templates)
        if not templates:
            raise ValueError(f"templates = {short_repr(self.templates)}: give at least one")
        shares = finite_array("shares", self.shares, (len(templates),))
        refuse("shares", shares, shares < 0.0, "give shares of 0 or more")
        if not shares.sum() > 0.0:
            raise ValueError(f"shares = {short_repr(self.shares)}: give one template at least a share above 0")
        refuse_curve(self.by)
        sizes = self.sizes if isinstance(self.sizes, (list, tuple)) else [self.sizes] * len(templates)
        if len(sizes) != len(templates) or not all(one is None or isinstance(one, Sizes) for one in sizes):
            raise ValueError(f"sizes = {short_repr(self.sizes)}: give a Lognormal, RosinRammler or SieveCurve, or a "
                             "list with one of them or None for each template")
        mass = [t.density * (t.volume if one is None else one.mean_volume) for t, one in zip(templates, sizes)]
        number = shares / mass if self.by == "mass" else shares
        number /= number.sum()
        vars(self).update(mean_mass=float(number @ mass), _sizes=tuple(sizes), _ends=np.cumsum(number))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[list[int], list[np.ndarray]]:
        """Draw n grains that follow the shares and curves, as `Sizes.draw` does.

        Returns
        -------
        numbers : list of int
            Of clumps of each template, for `place` and `place_densely`.
        scales : list of (n,) ndarray
            Of the clumps of each template, for `place`, `place_densely` and `Simulation.add_clumps`.
        """
        which, scale = self._grains(one_of_each(whole("n", n, 0), rng))
        scales = [scale[which == k] for k in range(len(self.templates))]
        for sizes, of_one in zip(self._sizes, scales):
            if sizes is not None and len(of_one):
                sizes.warn_of_few(len(of_one))
        return list(map(len, scales)), scales

    def stream(self, first: int, last: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Indices of templates (n,) and scales (n,) of the grains `first` to `last` - 1 of an endless sequence.

        From its beginning up to any grain, it follows the shares and curves within a few grains: Weyl's sequence with
        the golden ratio (Kuipers and Niederreiter, Uniform Distribution of Sequences, Wiley 1974).
        """
        start, = np.random.SeedSequence(seed).generate_state(1, np.uint64)
        part = np.arange(first, last, dtype=np.uint64) * GOLDEN + start         # modulo 2^64
        return self._grains((part >> np.uint64(11)) * 2.0 ** -53)

    def _grains(self, part):
        """Indices of templates and scales of the grains at these parts (n,) of the number of all."""
        which = np.minimum(np.searchsorted(self._ends, part, side="right"), np.argmax(self._ends))
        scale, begins = np.ones(len(part)), np.append(0.0, self._ends)
        for k, (template, sizes) in enumerate(zip(self.templates, self._sizes)):
            if sizes is not None:
                part_of_mine = (part[which == k] - begins[k]) / (begins[k + 1] - begins[k])
                scale[which == k] = sizes.quantile(part_of_mine) / equal_volume_diameter(template)
        return which, scale


def refuse_curve(by):
    """ValueError for another curve than those by mass and by number."""
    if by not in CURVES:
        raise ValueError(f"by = {short_repr(by)}: give 'mass' or 'number'")


def one_of_each(n, rng):
    """(n,) numbers in random order, one in each of n equal parts of [0, 1)."""
    require_generator(rng)
    return (rng.permutation(n) + rng.random(n)) / max(n, 1)


def equal_volume_diameter(grains: ClumpTemplate | Simulation) -> Any:
    """Diameter of the sphere of equal volume [m]: of a template, or (n_clumps,) of the clumps of a simulation."""
    volume = clump_volumes(grains) if isinstance(grains, Simulation) else grains.volume
    return (6.0 / pi * volume) ** (1.0 / 3.0)


def passing(grains: Simulation | ArrayLike, sieves: ArrayLike, by: str = "mass") -> np.ndarray:
    """Part of the mass or number of grains that passes sieves: the curve that was achieved.

    Parameters
    ----------
    grains : Simulation or (n,) array_like
        Clumps, with their masses, or sizes of grains of one density [m].
    sieves : (m,) array_like
        Openings [m]; grains pass whose equal-volume diameter is not larger.
    by : str
        "mass" or "number".

    Returns
    -------
    (m,) ndarray
        From 0 to 1, to compare with `Sizes.passing`.
    """
    refuse_curve(by)
    if isinstance(grains, Simulation):
        sizes, mass = equal_volume_diameter(grains), grains.mass
    else:
        sizes = finite_array("grains", grains, (-1,))
        refuse("grains", sizes, sizes <= 0.0, "give sizes greater than 0 [m]")
        mass = sizes ** 3
    if len(sizes) == 0:
        raise ValueError("grains: there are none that could pass; add clumps, or give sizes [m]")
    order = np.argsort(sizes)
    below = np.append(0.0, np.cumsum(mass[order] if by == "mass" else np.ones(len(sizes))))
    return below[np.searchsorted(sizes[order], finite_array("sieves", sieves, (-1,)), side="right")] / below[-1]
