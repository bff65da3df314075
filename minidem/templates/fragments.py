"""Patterns of fragments that replace a clump, in the frame of its template."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import LARGEST, finite_array, list_of, refuse, short_repr, unit_quaternions, whole
from minidem.core.quaternions import rotate
from minidem.core.read_only import Immutable
from minidem.templates.clump_template import ClumpTemplate, template_scales
from minidem.templates.mass.mass_properties import tensor_of_parts

EXACT = 1e-12           # largest difference of mass over the mass, of centres of mass over the radius of the parent
SWEEPS = 1500           # of a packing
FIRST_GROWTH, LAST_GROWTH = 0.3, 3e-4       # of fragments in a sweep, over the largest size that has fitted
SPREAD, LEAST = 0.3, 1e-3       # of the first positions, and first size, over the radius of a sphere of the parent
SAME = "offsets", "radii", "inertia", "orientation", "mass"


class Fragments(Immutable):
    """A pattern of fragments that replaces clumps of one template, of any scale: see `Simulation.replace`.

    Mass and centre of mass are those of the parent. Spheres that do not overlap fill a part of it only, and need a
    higher density: the parent is an agglomerate, with pores. `packed` makes such a pattern. Fragments that overlap may
    have the density of the parent; `replace` needs `overlap` then.

    Parameters
    ----------
    parent : ClumpTemplate
    templates : ClumpTemplate or sequence of ClumpTemplate
        Of all fragments, or of each one.
    positions : (n, 3) array_like
        Centres of mass of the fragments, input frame of the parent [m].
    orientations : (n, 4) or (4,) array_like
        Quaternions (w, x, y, z), input frame of each fragment -> input frame of the parent.
    scales : (n,) array_like or float
        Factors of the lengths of each fragment.

    Attributes
    ----------
    parent, templates, scales
        As given; templates is a tuple (n,).
    offsets : (n, 3) ndarray
        Positions relative to the centre of mass of the parent [m].
    orientations : (n, 4) ndarray
        Unit quaternions.
    masses : (n,) ndarray
        Of the fragments of a parent with scale 1 [kg].
    inertia : (3, 3) ndarray
        Tensor of all of them about the centre of mass, input frame of the parent [kg m2].

    Raises
    ------
    ValueError
        For another mass or centre of mass than the parent has, by more than 1e-12 of them; the message has the factor
        or shift that would do.
    """

    parent: ClumpTemplate
    templates: tuple[ClumpTemplate, ...]
    offsets: np.ndarray
    orientations: np.ndarray
    scales: np.ndarray
    masses: np.ndarray
    inertia: np.ndarray

    def __init__(self, parent: ClumpTemplate, templates: ClumpTemplate | Sequence[ClumpTemplate], positions: ArrayLike,
                 orientations: ArrayLike = (1.0, 0.0, 0.0, 0.0), scales: ArrayLike = 1.0):
        if not isinstance(parent, ClumpTemplate):
            raise ValueError(f"parent = {short_repr(parent)}: give a minidem.ClumpTemplate")
        offsets = finite_array("positions", positions, (-1, 3), limit=LARGEST) - parent.center_of_mass
        n = len(offsets)
        shapes = [templates] * n if isinstance(templates, ClumpTemplate) else list_of(
            ClumpTemplate, "templates", templates)
        if n == 0 or len(shapes) != n:
            raise ValueError(f"positions has shape {offsets.shape}, and there are {len(shapes)} templates: give "
                             "positions (n, 3), and one template or n, for one fragment at least")
        orientations = unit_quaternions("orientations", orientations, n)
        scales = finite_array("scales", scales, (n,), repeat=True, limit=LARGEST)
        for template in dict.fromkeys(shapes):
            template_scales(template, scales, n)
        turned = [rotate(q, template.axes.T) for q, template in zip(orientations, shapes)]      # rows are the axes
        masses = np.array([template.mass for template in shapes]) * scales ** 3
        tensors = [(axes.T * (template.inertia * scale ** 5)) @ axes
                   for axes, template, scale in zip(turned, shapes, scales)]
        mass, center, inertia = tensor_of_parts(masses, offsets, tensors)
        if not abs(mass / parent.mass - 1.0) <= EXACT:
            factor = float(parent.mass / mass)
            raise ValueError(f"templates: the fragments have a mass of {mass:.9g} kg, and the parent of "
                             f"{parent.mass:.9g} kg; multiply their densities by {factor!r}, or their scales by "
                             f"{float(np.cbrt(factor))!r}")
        if not np.abs(center).max() <= EXACT * parent.bounding_radius:
            raise ValueError(f"positions: the centre of mass of the fragments is {center.tolist()} m from the centre "
                             "of mass of the parent; subtract this from all positions")
        vars(self).update(parent=parent, templates=tuple(shapes), offsets=offsets, orientations=orientations,
                          scales=scales, masses=masses, inertia=inertia)

    @classmethod
    def packed(cls, parent: ClumpTemplate, n: int, *, sizes: ArrayLike = 1.0, template: ClumpTemplate | None = None,
               seed: int = 0) -> Self:
        """Pack n fragments without overlap, as large as they fit, each into one of the spheres of the parent.

        Their density follows from the mass of the parent. They have one template, and can break by a pattern of it.

        Parameters
        ----------
        parent : ClumpTemplate
        n : int
            Number of fragments, 2 or more.
        sizes : (n,) array_like or float
            Their diameters, in any unit: only ratios count.
        template : ClumpTemplate, optional
            Shape of the fragments, whose bounding spheres are packed, in random orientations. Default: spheres.
        seed : int
            Of the positions at which the packing begins.

        Returns
        -------
        Fragments
            ``templates[0]`` is the template of all.
        """
        if not isinstance(parent, ClumpTemplate):
            raise ValueError(f"parent = {short_repr(parent)}: give a minidem.ClumpTemplate")
        n, rng = whole("n", n, 2), np.random.default_rng(whole("seed", seed, 0))
        if template is not None and not isinstance(template, ClumpTemplate):
            raise ValueError(f"template = {short_repr(template)}: give a minidem.ClumpTemplate, or None for spheres")
        if template is None:
            template = ClumpTemplate([(0.0, 0.0, 0.0)], [parent.bounding_radius], parent.density)
        ratios = finite_array("sizes", sizes, (n,), repeat=True, limit=LARGEST)
        refuse("sizes", ratios, ratios <= 0.0, "give sizes greater than 0")
        ratios = ratios / ratios.max()
        places = np.column_stack([parent.centers - parent.center_of_mass, parent.radii])
        offsets, size = _packing(places, ratios, rng)
        masses = template.mass * ratios ** 3
        offsets -= (masses[:, None] * offsets).sum(axis=0) / masses.sum()           # what rounding has left
        orientations = (1.0, 0.0, 0.0, 0.0)
        if len(template.radii) > 1:
            orientations = rng.normal(size=(n, 4))
            orientations /= np.sqrt((orientations ** 2).sum(axis=1, keepdims=True))
        scales = ratios * (size / template.bounding_radius)
        factor = parent.mass / (template.mass * (scales ** 3).sum())
        return cls(parent, template.with_density(template.density * factor), offsets + parent.center_of_mass,
                   orientations, scales)

    def parents(self, sim) -> np.ndarray:
        """Ids of the clumps of a simulation that are of the template of `parent`."""
        fits = np.array([same(self.parent, template) for template in sim.templates], dtype=bool)
        return np.array(sim.ids[fits[sim.template_index]])

    def __len__(self):
        return len(self.templates)

    def __repr__(self):
        volume = sum(template.volume * scale ** 3 for template, scale in zip(self.templates, self.scales))
        return (f"<{len(self)} Fragments of {self.parent!r}: volume {volume / self.parent.volume:.3g} of the parent's>")


def same(a: ClumpTemplate, b: ClumpTemplate) -> bool:
    """Whether two templates have the same spheres, frame and mass properties, to the last bit."""
    return a is b or all(np.array_equal(getattr(a, name), getattr(b, name)) for name in SAME)


def _packing(places, ratios, rng):
    """Positions (n, 3) of spheres about their centre of mass, and the size by which their radii `ratios` fit.

    places : (m, 4) centres and radii of spheres; each of the n spheres is in one of them

    In each sweep, spheres that are a little larger than have fitted so far push one another apart, and are drawn back
    into the nearest place.
    """
    n, mass = len(ratios), (ratios ** 3)[:, None] / (ratios ** 3).sum()
    i, j = np.triu_indices(n, 1)
    begun = places[rng.choice(len(places), n, p=places[:, 3] ** 3 / (places[:, 3] ** 3).sum())]
    points, best, fitted = begun[:, :3] + rng.normal(size=(n, 3)) * (SPREAD * begun[:, 3:]), None, 0.0
    for sweep in range(SWEEPS):
        points -= (mass * points).sum(axis=0)
        away = np.sqrt(((points[:, None] - places[None, :, :3]) ** 2).sum(axis=2))
        between = points[i] - points[j]
        distance = np.sqrt((between ** 2).sum(axis=1))
        room = (places[:, 3] - away) / ratios[:, None]
        size = min((distance / (ratios[i] + ratios[j])).min(), room.max(axis=1).min())
        if size > fitted:
            best, fitted = points.copy(), size
        growth = FIRST_GROWTH * (LAST_GROWTH / FIRST_GROWTH) ** (sweep / SWEEPS)
        radii = ratios * ((1.0 + growth) * max(fitted, LEAST * places[:, 3].min()))
        overlap = np.maximum(radii[i] + radii[j] - distance, 0.0)
        step = (0.5 * overlap / np.maximum(distance, np.finfo(float).tiny))[:, None] * between
        for k, of_spheres in enumerate((i, j)):
            for axis in range(3):
                points[:, axis] += (1 - 2 * k) * np.bincount(of_spheres, step[:, axis], n)
        center = places[np.argmax(room, axis=1)]
        arms = points - center[:, :3]
        lengths = np.sqrt((arms ** 2).sum(axis=1))
        allowed = np.maximum(center[:, 3] - radii, 0.0)
        points = center[:, :3] + arms * np.minimum(1.0, allowed / np.maximum(lengths, np.finfo(float).tiny))[:, None]
    if best is None:
        raise ValueError(f"n = {n}: found no places for fragments with the centre of mass of the parent; give more of "
                         "them, or another seed")
    return best, fitted
