"""Measures of packings and flows, in the lab frame: slopes, forces, fabric, solid fraction, distances, displacements.

Standard errors are of one state: over strips, contacts, points or bodies, which count as independent. For the mean of
a measure over time take `block_mean`.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.averages import Mean, mean_of_rows
from minidem.analysis.contacts import averaging_volume, enclosed_box, near_spheres, pair_keys
from minidem.analysis.flow import clump_volumes
from minidem.core.checks import finite_array, flag, positive, refuse, unit_vector, whole


class Slope(NamedTuple):
    """Straight line through the highest points of strips."""

    value: float            # inclination [rad]
    error: float
    points: np.ndarray      # (n, 2), middle and highest point of each strip [m], nan where it is empty
    height: float           # of the line at the coordinate 0 [m]


def angle_of_repose(spheres, edges: ArrayLike, *, along: ArrayLike = (1, 0, 0), center: ArrayLike | None = None,
                    up: ArrayLike = (0, 0, 1)) -> Slope:
    """Inclination of a surface, of a straight line through the highest points of strips.

    Parameters
    ----------
    spheres : Simulation, or tuple of arrays (n, 3) and (n,)
        Centres and radii [m].
    edges : (n + 1,) array_like
        Ascending edges of strips that are two diameters wide or more [m], without the ends of the slope: strips beyond
        its foot, where grains lie in one layer, lower the angle (see `points` of the result).
    along : (3,) array_like
        Horizontal direction in which the surface falls and edges are measured.
    center : (3,) array_like, optional
        A point of the axis of a conical heap [m]: strips are then rings, and edges their radii.
    up : (3,) array_like
        Direction against gravity.

    Returns
    -------
    Slope
        atan(fall over distance) [rad]; nan for fewer than three strips. The standard error is of the fit, over strips;
        heaps of other seeds differ by more. Y. C. Zhou, B. H. Xu, A. B. Yu, P. Zulli, Phys. Rev. E 64, 021301 (2001),
        doi 10.1103/PhysRevE.64.021301.
    """
    centers, radii = spheres if isinstance(spheres, tuple) else (spheres.sphere_centers, spheres.sphere_radii)
    edges, up = finite_array("edges", edges, (-1,)), unit_vector("up", up, "give the direction against gravity")
    refuse("edges", edges, np.diff(edges, prepend=-np.inf) <= 0.0, "give ascending edges")
    height = centers @ up + radii
    if center is None:
        place = centers @ unit_vector("along", along, "give the direction in which the surface falls")
    else:
        arm = centers - finite_array("center", center, (3,))
        place = np.linalg.norm(arm - np.outer(arm @ up, up), axis=1)
    strip = np.digitize(place, edges) - 1
    tops = np.array([np.max(height[strip == k], initial=-np.inf) for k in range(len(edges) - 1)])
    tops[tops == -np.inf] = np.nan
    points = np.column_stack([0.5 * (edges[:-1] + edges[1:]), tops])
    x, z = points[np.isfinite(tops)].T
    if len(x) < 3:
        return Slope(np.nan, np.nan, points, np.nan)
    slope, level = np.polyfit(x, z, 1)
    variance = np.sum((z - level - slope * x) ** 2) / (len(x) - 2) / np.sum((x - x.mean()) ** 2)
    return Slope(float(np.arctan(-slope)), float(np.sqrt(variance) / (1.0 + slope ** 2)), points, float(level))


def unbalanced_force(sim, *, largest: bool = False) -> float:
    """Mean total force on a clump over the mean contact force: 0 in equilibrium, below 0.01 nearly so.

    Returns
    -------
    float
        ``(sum |F| / n) / (sum |f| / contacts)``. F : total force with gravity, of held clumps along the axes along
        which they are free; n : clumps that are free along one; f : contact forces, also of walls. With `largest` the
        largest F in place of the mean. nan without contacts. As `unbalancedForce` of Yade, doi 10.5281/zenodo.5705394.
    """
    free = np.broadcast_to(sim.reader.motion_factors()[0], (sim.n_clumps, 3))
    total = np.linalg.norm(free * sim.force, axis=1)[free.any(axis=1)]
    force = np.linalg.norm(sim.contacts()["force"], axis=1)
    if not len(force) or not len(total):
        return np.nan
    return float((np.max if flag("largest", largest) else np.mean)(total) / np.mean(force))


def fabric_tensor(sim, *, walls: bool = False, low: ArrayLike | None = None, high: ArrayLike | None = None) -> Mean:
    """Mean of n n over the unit normals n of contacts: a third of the unit tensor if they are isotropic.

    Parameters
    ----------
    walls : bool
        Count contacts with walls, too.
    low, high : (3,) array_like, optional
        Corners of a box to count contacts in [m]; inside the periodic box. Default: all contacts.

    Returns
    -------
    Mean
        (3, 3) tensor of trace 1, and the standard errors of its components over contacts; clumps that touch in several
        points count with each. K.-I. Kanatani, Int. J. Eng. Sci. 22, 149 (1984), doi 10.1016/0020-7225(84)90090-9.
    """
    found = sim.contacts()
    chosen = np.full(len(found), flag("walls", walls)) | (found["clump_j"] >= 0)
    if low is not None or high is not None:
        low, high, _ = averaging_volume(sim, None, low, high)
        point = found["point"] if sim.box is None else sim.box.wrapped(found["point"])
        chosen &= ((low <= point) & (point <= high)).all(axis=1)
    normal = found["normal"][chosen]
    return mean_of_rows(np.einsum("na,nb->nab", normal, normal))


def solid_fraction(sim, *, volume: float | None = None, low: ArrayLike | None = None, high: ArrayLike | None = None,
                   points: int = 100_000) -> Mean:
    """Volume of the clumps in a region over the volume of the region: 1 - porosity.

    Parameters
    ----------
    volume, low, high : optional
        The volume that holds all clumps [m3], or corners of a region [m], as for `Simulation.stress`.
    points : int
        Random points, the same in each call, that count the parts of clumps which the surface of the region cuts.

    Returns
    -------
    Mean
        The fraction and its standard error over points, 0 where no clump is cut. Spheres of a clump that overlap count
        once, as in its mass; two clumps in contact count with their volumes.
    """
    low, high, volume = averaging_volume(sim, volume, low, high)
    if not np.isfinite(low).all():
        return Mean(float(np.sum(clump_volumes(sim)) / volume), 0.0)
    centers, radii, clump, index = sim.sphere_centers, sim.sphere_radii, sim.sphere_clump, np.arange(sim.n_spheres)
    if sim.box is not None:
        centers, index = sim.box.images(centers, np.max(radii, initial=0.0))
    radii, owner = radii[index], clump[index]
    within = ((low <= centers - radii[:, None]) & (centers + radii[:, None] <= high)).all(axis=1)
    inside = np.bincount(owner[within], minlength=sim.n_clumps) == np.bincount(clump, minlength=sim.n_clumps)
    cut, place = ~inside[owner], np.random.default_rng(1).uniform(low, high, (whole("points", points, 2), 3))
    point, sphere = near_spheres(place, np.zeros(points), centers[cut], radii[cut], 0.0).T
    once = np.unique(pair_keys(np.column_stack([point, owner[cut][sphere]]))) >> 32
    counted = mean_of_rows(np.bincount(once, minlength=points))
    return Mean(float(np.sum(clump_volumes(sim)[inside]) / volume + counted.value), float(counted.error))


def radial_distribution(sim, r_max: float, bins: int = 50) -> tuple[np.ndarray, Mean]:
    """Pair correlation g(r), the density of centres of clumps around a centre over their mean density.

    Parameters
    ----------
    r_max, bins : float, int
        Largest distance, at most half the shortest length along a periodic axis [m]; shells of equal thickness.

    Returns
    -------
    r : (bins,) ndarray
        Middles of the shells [m].
    g : Mean
        Mean number of other centres in the shell around a centre / (shell volume * (n - 1) / V), 1 for independent
        positions. Standard errors are over bodies, times sqrt(2) since each pair is in the counts of two. M. P. Allen,
        D. J. Tildesley, Computer Simulation of Liquids (2017), section 2.6, doi 10.1093/oso/9780198803195.001.0001.

    Notes
    -----
    Along periodic axes nearest images count. Along others only centres count, as the first of a pair, that are at least
    r_max away from both sides of the box of volume V: planes of walls, or without these the outermost centres.
    """
    r_max, bins, box, position = positive("r_max", r_max), whole("bins", bins, 1), sim.box, sim.wrapped_position
    low, high = enclosed_box(sim.walls.at_rest, box)
    low = np.where(np.isfinite(low), low, np.min(position, axis=0, initial=np.inf))
    high = np.where(np.isfinite(high), high, np.max(position, axis=0, initial=-np.inf))
    open_sides, images, index = np.ones(3, dtype=bool), position, np.arange(len(position))
    if box is not None:
        open_sides, half = ~box.axes, 0.5 * np.min(box.length[box.axes])
        if r_max > half:
            raise ValueError(f"r_max = {r_max}: give at most half the shortest length of the periodic box, {half:g} m")
        images, index = box.images(position, r_max)
    near = (position - low < r_max) | (high - position < r_max)
    first = np.flatnonzero(~(open_sides & near).any(axis=1))
    if not len(first):
        raise ValueError(f"r_max = {r_max}: no clump is as far as that from the open sides; give a smaller one")
    i, j = near_spheres(position[first], np.zeros(len(first)), images, np.zeros(len(images)), r_max).T
    i, j = (number[first[i] != index[j]] for number in (i, j))
    edges = np.linspace(0.0, r_max, bins + 1)
    shell = np.searchsorted(edges[:-1], np.linalg.norm(position[first[i]] - images[j], axis=1), side="right") - 1
    counts = np.bincount(i * bins + shell, minlength=len(first) * bins).reshape(-1, bins)
    expected = 4.0 / 3.0 * np.pi * np.diff(edges ** 3) * (len(position) - 1) / np.prod(high - low)
    found = mean_of_rows(counts / expected)
    return 0.5 * (edges[1:] + edges[:-1]), Mean(found.value, np.sqrt(2.0) * found.error)


def mean_square_displacement(positions: ArrayLike, interval: float = 1.0) -> tuple[np.ndarray, Mean]:
    """Mean square displacement of bodies over the time between two frames.

    Parameters
    ----------
    positions : (frames, n, 3) array_like
        Of the same bodies at equal intervals, without jumps at the faces of a periodic box, such as a list of
        `sim.position` [m]. Without drift: ``positions - positions.mean(axis=1, keepdims=True)``.
    interval : float
        Time between two frames [s].

    Returns
    -------
    t : (frames,) ndarray
        Times from 0 [s].
    squares : Mean
        Mean of ``|x(s + t) - x(s)|^2`` over bodies and starts s [m2], 6 D t for diffusion. Standard errors are over
        bodies. A. Einstein, Ann. Phys. 322, 549 (1905), doi 10.1002/andp.19053220806.
    """
    x, interval = finite_array("positions", positions, (-1, -1, 3)), positive("interval", interval)
    squares = [np.mean(np.sum((x[k:] - x[:len(x) - k]) ** 2, axis=2), axis=0) for k in range(len(x))]
    return interval * np.arange(len(x)), mean_of_rows(np.array(squares).T)
