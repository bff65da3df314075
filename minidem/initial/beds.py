"""Clumps at rest, as initial states of bulk processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.diagnosis import DEEPEST_START, DeepOverlap
from minidem.core.checks import finite_array, flag, list_of, positive, short_repr, whole
from minidem.initial.dense_placement import place_densely
from minidem.initial.random_placement import solid_volume
from minidem.initial.sizes import Mixture
from minidem.material import Material, Pair
from minidem.simulation import Simulation
from minidem.templates.clump_template import ClumpTemplate
from minidem.walls import Wall, box_walls, scaled
from minidem.walls.periodic_box import periodic_box

SOFTER, SLOWER = 100.0, 10.0        # in the first stage: Young's moduli, and the step that they allow
FALLS, HARD = 2.0, 0.1          # durations: first stage / fall from the top, second stage / first
OVERLAP = 2.0                       # largest relative overlap over (pressure at the bottom / Young's modulus)^(2/3)
REPORTS = 100
STATE = "position", "orientation", "velocity", "angular_velocity"


@dataclass(frozen=True)
class Group:
    """Clumps of one template.

    Parameters
    ----------
    template : ClumpTemplate
    position : (n, 3) ndarray
        Centres of mass, lab frame [m].
    orientation : (n, 4) ndarray
        Quaternions (w, x, y, z), template frame -> lab.
    material : Material
    scale : (n,) array_like or float
        As for `Simulation.add_clumps`, for example from `Mixture.draw`.
    """

    template: ClumpTemplate
    position: np.ndarray
    orientation: np.ndarray
    material: Material
    scale: ArrayLike = 1.0

    @property
    def bounding_radius(self) -> float:
        """Bounding radius of the largest clump [m]."""
        return float(self.template.bounding_radius * np.max(self.scale, initial=0.0))


def settle(groups: Sequence[Group], walls: Iterable[Wall], dt: float, pairs: Iterable[Pair] = (),
           contact: str = "hertz-mindlin", gravity: float = 9.81, softer: float = SOFTER, slower: float = SLOWER,
           threads: int | None = None, report: Callable[[float], None] | None = None,
           periodic: Any = None) -> Simulation:
    """Clumps that fell to the bottom of a container and came to rest except for slow creep.

    They fall and settle with smaller moduli and a longer step, in a container that is smaller by about the largest
    relative overlap. Then clumps and container are stretched to the given size: else the elastic energy of the soft
    contacts, times `softer`, would throw the clumps up. A second stage with the given moduli and step follows.

    Parameters
    ----------
    groups : sequence of Group
        Without overlaps; of a material with friction and restitution below 1.
    walls : iterable of Wall
        At rest, each with a material of its own or with the material of the first group.
    dt : float
        Step of the second stage [s].
    pairs : iterable of Pair
        Of the materials.
    contact : str
        Contact law.
    gravity : float
        Towards -z [m/s2].
    softer, slower : float
        Ratios of the moduli and of the steps of the two stages.
    threads : int, optional
    report : callable, optional
        report(part) is called about a hundred times with the part of the steps that is done.
    periodic : PeriodicBox or (low, high, axes), optional
        As for `md.Simulation`, at rest; `Simulation.deform` lets it move afterwards.

    Returns
    -------
    Simulation
        After the second stage.

    Raises
    ------
    ValueError
        For an argument that `Simulation` refuses, or where clumps would overlap by more than a tenth of a radius in the
        smaller container of the first stage: the message has a value of `softer` with which they do not.
    """
    dt, gravity, softer, slower = (positive(name, value) for name, value in (
        ("dt", dt), ("gravity", gravity), ("softer", softer), ("slower", slower)))
    if not list_of(Group, "groups", groups):
        raise ValueError(f"groups = {groups!r}: give at least one")
    first, walls, periodic = groups[0].material, tuple(walls), periodic_box(periodic)
    if periodic is not None and periodic.moves:
        raise ValueError(f"periodic = {periodic!r}: clumps settle in a box at rest; give one, and let it move "
                         "afterwards, by sim.deform")
    centres = np.concatenate([finite_array(f"groups[{k}].position", group.position, (-1, 3))
                              for k, group in enumerate(groups)])
    origin, height = centres.min(axis=0), np.ptp(centres[:, 2])
    pressure = max(group.template.density for group in groups) * gravity * height
    softest = min(group.material.young for group in groups) / softer
    shrink = 1.0 / (1.0 + OVERLAP * (pressure / softest) ** (2.0 / 3.0)) if softer > 1.0 else 1.0

    def simulation(softer, step, factor, states):
        soft = {m: replace(m, young=m.young / softer)
                for m in (first, *(group.material for group in groups), *(w.material for w in walls if w.material))}
        sim = Simulation(soft[first], [scaled(replace(wall, material=soft[wall.material or first]), factor, origin)
                                       for wall in walls],
                         contact=contact, dt=step, gravity=(0.0, 0.0, -gravity), threads=threads,
                         periodic=_scaled_box(periodic, factor, origin),
                         pairs=[replace(pair, a=soft[pair.a], b=soft[pair.b]) for pair in pairs
                                if pair.a in soft and pair.b in soft])
        for group, state in zip(groups, states):
            sim.add_clumps(group.template, **dict(zip(STATE, state)), scale=group.scale, material=soft[group.material])
        return sim

    fall = FALLS * sqrt(2.0 * max(height, 4.0 * groups[0].bounding_radius) / gravity)
    soft_steps = round(fall / (slower * dt))
    hard_steps = round(HARD * slower * soft_steps) if softer > 1.0 else 0
    steps = soft_steps + hard_steps
    try:
        sim = simulation(softer, slower * dt, shrink,
                         [(origin + shrink * (g.position - origin), g.orientation) for g in groups])
    except DeepOverlap as error:
        if shrink == 1.0:
            raise
        # Of the nearest spheres, centres of mass are so far apart:
        farthest = 2.0 * max(group.bounding_radius for group in groups)
        smallest = min(group.template.radii.min() * np.min(group.scale, initial=np.inf) for group in groups)
        least = 1.0 - DEEPEST_START * smallest / farthest
        most = max(1.0, softer * ((1.0 / least - 1.0) / (1.0 / shrink - 1.0)) ** 1.5)
        raise ValueError(f"softer = {softer:g}: the first stage is in a container that is smaller by "
                         f"{1.0 - shrink:.2g}, and there clumps overlap that do not at full size ({error}). Take "
                         f"softer up to {math.floor(100.0 * most) / 100.0:g}, with slower up to its square root, or a "
                         "stiffer material or a lower bed") from None
    _run(sim, soft_steps, lambda done: report and report(done / steps))
    if hard_steps:
        ends = np.cumsum([len(group.position) for group in groups])[:-1]
        state = origin + (sim.position - origin) / shrink, sim.orientation, sim.velocity, sim.angular_velocity
        sim = simulation(1.0, dt, 1.0, zip(*(np.split(np.asarray(values), ends) for values in state)))
        _run(sim, hard_steps, lambda done: report and report((soft_steps + done) / steps))
    return sim


def settled_bed(template: ClumpTemplate | Mixture, number: int | None, low: ArrayLike, high: ArrayLike,
                material: Material, dt: float, wall: Material | None = None, fraction: float = 0.3, seed: int = 1,
                mass: float | None = None, periodic: Any = (False, False), **others) -> Simulation:
    """Clumps that were placed at random and settled in a box, see `settle`.

    Parameters
    ----------
    template : ClumpTemplate or Mixture
    number : int or None
        Number of clumps. Clumps of a Mixture follow its shares and sizes. None: as many as have the `mass`.
    low : (3,) array_like
        Corner of the box, lab frame [m]; low[2] is its bottom.
    high : (2,) array_like
        Opposite corner in x and y [m]. The height follows from `fraction`.
    material : Material
        Of the clumps.
    dt : float
        Step of the second stage [s].
    wall : Material, optional
        Of the box; default: the material of the clumps.
    fraction : float
        Solid volume fraction of the placement.
    seed : int
    mass : float, optional
        Of all clumps, if `number` is None [kg]. The bed has it within half a clump, or about the largest of a Mixture.
    periodic : (2,) of bool
        Whether the box is periodic along x and y, instead of having walls there.
    **others
        Further arguments of `settle`.

    Returns
    -------
    Simulation

    Raises
    ------
    ValueError
        If the clumps cannot be placed, or for an argument that `Simulation` refuses.
    """
    low, high, rng = finite_array("low", low, (3,)), finite_array("high", high, (2,)), np.random.default_rng(
        whole("seed", seed, 0))
    fraction = positive("fraction", fraction)
    if (number is None) == (mass is None):
        raise ValueError(f"number = {short_repr(number)}, mass = {short_repr(mass)}: give one, and None for the other")
    grains = template if isinstance(template, Mixture) else Mixture([template])
    number = whole("number", number, 1) if mass is None else max(1, round(positive("mass", mass) / grains.mean_mass))
    if np.shape(periodic) != (2,):
        raise ValueError(f"periodic = {short_repr(periodic)}: give two times True or False, for x and y")
    axes = (*(flag(f"periodic[{axis}]", one) for axis, one in enumerate(periodic)), False)
    templates = grains.templates
    numbers, scales = grains.draw(number, rng) if grains is template else ([number], [np.ones(number)])
    height = solid_volume(templates, scales) / (fraction * np.prod(high - low[:2]))
    largest = max(one.bounding_radius * scale.max(initial=0.0) for one, scale in zip(templates, scales))
    top = np.append(high, low[2] + max(height, 2.0 * largest))
    walls = [side for k, side in enumerate(box_walls(low, top, material=wall or material)) if not axes[k // 2]]
    connected = (low, top, axes) if any(axes) else None
    poses = place_densely(templates, numbers, low, top, rng, scales, connected)
    groups = [Group(one, *pose, material, scale) for one, pose, scale in zip(templates, poses, scales) if len(scale)]
    return settle(groups, walls, dt, periodic=connected, **others)


def kept_bed(file: Path, make: Callable[[], Simulation]) -> Simulation:
    """The bed in the checkpoint `file`; it is made and saved if there is none, or one of another version of minidem."""
    try:
        return Simulation.load(file)
    except (FileNotFoundError, ValueError):
        bed = make()
    file.parent.mkdir(parents=True, exist_ok=True)
    bed.save(file)
    return bed


def _scaled_box(periodic, factor, origin):
    """A periodic box at rest, or None, with all lengths multiplied by `factor`, about the point `origin` (3,)."""
    if periodic is None:
        return None
    *corners, axes = periodic.corners
    low, high = (corner + (factor - 1.0) * (corner - origin) for corner in np.array(corners))
    return low, high, axes


def _run(sim, steps, report):
    """Run in parts, with a report after each."""
    for part in range(REPORTS):
        sim.run((part + 1) * steps // REPORTS - part * steps // REPORTS)
        report(sim.step_count)
