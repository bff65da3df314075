"""Beds of clumps at rest on the bottom of a box, as initial states of bulk processes."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from minidem.initial.dense_placement import place_densely
from minidem.material import Material, Pair
from minidem.simulation import Simulation
from minidem.templates.clump_template import ClumpTemplate
from minidem.walls import box

SOFTER, SLOWER = 100.0, 10.0        # in the first stage: Young's moduli, and the step that they allow
FALLS, HARD = 2.0, 0.1          # durations: first stage / fall from the top, second stage / first
OVERLAP = 2.0                       # largest relative overlap over (pressure at the bottom / Young's modulus)^(2/3)
REPORTS = 100


def settled_bed(template: ClumpTemplate, number: int, low: ArrayLike, high: ArrayLike, material: Material, dt: float,
                wall: Material | None = None, pairs: Iterable[Pair] = (), contact: str = "hertz-mindlin",
                gravity: float = 9.81, fraction: float = 0.3, seed: int = 1, threads: int | None = None,
                report: Callable[[float], None] | None = None) -> Simulation:
    """Clumps that were placed at random, fell to the bottom of a box and came to rest, but for slow creep.

    They fall and settle with moduli a hundred times smaller and a ten times longer step, in a box that is smaller by
    about the largest relative overlap. Then bed and box are stretched to the given size: else the elastic energy of the
    soft contacts, times a hundred, would throw the clumps up. A second stage with the given moduli and step follows.

    Parameters
    ----------
    template : ClumpTemplate
    number : int
        Clumps.
    low : (3,) array_like
        Corner of the box, lab frame [m]; low[2] is its bottom.
    high : (2,) array_like
        Opposite corner in x and y [m]. The height follows from `fraction`.
    material : Material
        Of the clumps, with friction and restitution below 1.
    dt : float
        Step of the second stage [s].
    wall : Material, optional
        Of the box; default: that of the clumps.
    pairs : iterable of Pair
        Of these materials.
    contact : str
        Contact law.
    gravity : float
        Towards -z [m/s2].
    fraction : float
        Solid volume fraction of the placement.
    seed : int
    threads : int, optional
    report : callable, optional
        report(part) is called about a hundred times with the part of the steps that is done.

    Returns
    -------
    Simulation
        After the second stage.

    Raises
    ------
    ValueError
        If the clumps cannot be placed, or for an argument that `Simulation` refuses.
    """
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    height = number * template.volume / (fraction * np.prod(high - low[:2]))
    top = np.append(high, low[2] + max(height, 2.0 * template.bounding_radius))
    pressure = template.density * gravity * (top[2] - low[2])
    stretch = 1.0 + OVERLAP * (pressure * SOFTER / material.young) ** (2.0 / 3.0)
    [(position, orientation)] = place_densely([template], [number], low, low + (top - low) / stretch,
                                              np.random.default_rng(seed))

    def simulation(softer, step, corner, position, motion, orientation):
        soft = {m: replace(m, young=m.young / softer) for m in (material, wall or material)}
        between = [replace(pair, a=soft[pair.a], b=soft[pair.b]) for pair in pairs]
        sim = Simulation(soft[material], box(low, corner, material=soft[wall or material]), contact=contact, dt=step,
                         gravity=(0.0, 0.0, -gravity), threads=threads, pairs=between)
        sim.add_clumps(template, position, orientation, *motion)
        return sim

    soft_steps = round(FALLS * sqrt(2.0 * (top[2] - low[2]) / gravity) / (SLOWER * dt))
    hard_steps = round(HARD * SLOWER * soft_steps)
    steps = soft_steps + hard_steps
    soft = simulation(SOFTER, SLOWER * dt, low + (top - low) / stretch, position, (), orientation)
    _run(soft, soft_steps, lambda done: report and report(done / steps))
    hard = simulation(1.0, dt, top, low + stretch * (soft.position - low), (soft.velocity, soft.angular_velocity),
                      soft.orientation)
    _run(hard, hard_steps, lambda done: report and report((soft_steps + done) / steps))
    return hard


def kept_bed(file: Path, make: Callable[[], Simulation]) -> Simulation:
    """The bed in the checkpoint `file`; it is made and saved if there is none, or one of another version of minidem."""
    try:
        return Simulation.load(file)
    except (FileNotFoundError, ValueError):
        bed = make()
    file.parent.mkdir(parents=True, exist_ok=True)
    bed.save(file)
    return bed


def _run(sim, steps, report):
    """Run in parts, with a report after each."""
    for part in range(REPORTS):
        sim.run((part + 1) * steps // REPORTS - part * steps // REPORTS)
        report(sim.step_count)
