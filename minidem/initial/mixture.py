"""Mixtures of clump shapes, each with its sizes."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from minidem.core.checks import finite_array, list_of, refuse, short_repr, whole
from minidem.initial.sizes import Sizes, equal_volume_diameter, one_of_each, refuse_curve
from minidem.templates.clump_template import ClumpTemplate

GOLDEN = np.uint64(0x9E3779B97F4A7C15)      # 2^64 over the golden ratio


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
        Equal-volume diameters of all clumps, or those of each template. Default, and None: the template as it is.

    Attributes
    ----------
    mean_mass : float
        Of a grain [kg]. A mass over it is the number to draw, a mass flow [kg/s] over it the `rate` of an Inlet.

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

        From its beginning up to any grain, it follows the shares and curves but for a few grains: Weyl's sequence with
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
