"""Topic of a `Simulation`: bonds between spheres, part of the history of contacts (contact/parts/bond.pyx)."""
from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contacts import near_spheres, pair_keys, to_nearest_image
from minidem.analysis.diagnosis import ROUNDING
from minidem.contact.parts.bond import BondRecord
from minidem.core.checks import LARGEST, as_array, finite_array, non_negative, positive, real_array, refuse, short_repr
from minidem.core.guard import exclusive
from minidem.simulation.topic import Accessor

NEVER = 1e300               # strength [Pa] of a bond without one
SAFE = 0.9                  # of the largest gap of a bond, for a new one
THIN = 0.01                 # a radius below this was probably meant in metres
BOND = np.dtype([
    ("clump_i", np.int32), ("clump_j", np.int32), ("sphere_i", np.int32), ("sphere_j", np.int32),
    ("normal_force", float), ("shear_force", float, 3), ("bending", float, 3), ("torsion", float),
    ("tension", float), ("shear", float), ("energy", float)], align=True)
BROKEN = np.dtype([*((name, np.int64) for name in ("id_i", "id_j", "place_i", "place_j", "step")), ("time", float),
                   ("energy", float)])


class Bonds(Accessor):
    """`sim.bonds`: bonds of spheres of different clumps. `sim.bonds()` lists those that hold."""

    @exclusive
    def add(self, pairs: Any, *, young: float, stiffness_ratio: float = 2.5, radius: ArrayLike = 1.0,
            tensile: ArrayLike = np.inf, shear: ArrayLike = np.inf, damping: float = 0.0) -> int:
        """Bond pairs of spheres of different clumps by elastic beams that break.

        The contact law needs ``bonds=parallel``, such as ``hertz-mindlin:bonds=parallel``. Bonds are free of stress in
        the present pose. Add many in one call, which takes about 1 us for each contact and bond that is there.

        Parameters
        ----------
        pairs : (n, 2) array_like of int, or float
            Numbers of spheres, as in `sphere_centers`. Or a gap [m]: all pairs of spheres of different clumps with at
            most this gap that have no bond.
        young : float
            Young's modulus of the bonds [Pa]: k_n = young A / L, with the distance L of the centres.
        stiffness_ratio : float
            k_n / k_s.
        radius : (n,) array_like or float
            Radius of the bond over the radius of the smaller sphere, a ratio, not metres; A = pi R^2, I = pi R^4 / 4.
        tensile, shear : (n,) array_like or float
            Strengths [Pa]. Default: the bond breaks at the range of the law only.
        damping : float
            beta of the dashpots 2 beta sqrt(m k) beside each spring. `run` warns where the step does not resolve them.

        Returns
        -------
        int
            Number of new bonds.

        Raises
        ------
        ValueError
            For a law without bonds, a pair that cannot be bonded, or an argument out of range. No bond is added then.

        Warns
        -----
        UserWarning
            If the step is large for the stiffest bonds, or a `radius` is below 0.01.

        References
        ----------
        D. O. Potyondy & P. A. Cundall, Int. J. Rock Mech. Min. Sci. 41, 1329 (2004), doi 10.1016/j.ijrmms.2004.09.011.
        """
        sim = self._sim
        if sim.settings.law_value("bonds") != "parallel":
            raise ValueError(f"bonds.add: the contact law is {sim.contact!r}; take one with bonds=parallel, such as "
                             "'hertz-mindlin:bonds=parallel'")
        sim.reader.contacts()              # have a history then, also contacts of new clumps
        snapshot = sim.loop.snapshot()
        history = snapshot.history
        first = len(history["records"]) - int(BondRecord.RECORDS)
        bonded = history["spheres"][history["records"][first + BondRecord.STIFFNESS, :, 3] > 0.0]
        pairs, between, gap = _checked_pairs(sim, pairs, pair_keys(bonded))
        distance, size = np.linalg.norm(between, axis=1), _spheres(sim)[1][pairs]
        limit = SAFE * sim.settings.law_value("bond_range") * size.prod(axis=1) / size.sum(axis=1)
        if (gap > limit).any():
            k, largest = int(np.argmax(gap - limit)), sim.settings.law_value("bond_range")
            raise ValueError(f"pairs: spheres {pairs[k, 0]} and {pairs[k, 1]} have a gap of {gap[k]:.6g} m, which is "
                             f"near the range of bonds or beyond it; take a larger bond_range than {largest:g}")
        n = len(pairs)
        radii = finite_array("radius", radius, (n,), repeat=True, limit=LARGEST)
        strengths = [real_array(name, value, (n,), repeat=True)
                     for name, value in (("tensile", tensile), ("shear", shear))]
        for name, values in (("radius", radii), ("tensile", strengths[0]), ("shear", strengths[1])):
            refuse(name, values, ~(values >= 1.0 / LARGEST), "give numbers greater than 0, or check the units")
        if radii.min(initial=THIN) < THIN:
            k = int(np.argmin(radii))
            warnings.warn(f"bonds.add: radius = {radii[k]:g} is a ratio, not a length in metres: this bond between "
                          f"spheres of {size[k].min():g} m has a radius of {radii[k] * size[k].min():.3g} m; divide a "
                          "length by the radius of the smaller sphere", UserWarning, stacklevel=2)
        radii, strengths = radii * size.min(axis=1), np.minimum(strengths, NEVER)
        stiffness = positive("young", young) * np.pi * radii ** 2 / distance
        rows = np.zeros((int(BondRecord.RECORDS), n, 4))
        rows[BondRecord.SHEAR, :, 3], rows[BondRecord.SLIP, :, 3] = -gap, non_negative("damping", damping)
        rows[BondRecord.RATE, :, 3] = strengths[0]
        rows[BondRecord.STIFFNESS] = np.column_stack(
            [stiffness, stiffness / positive("stiffness_ratio", stiffness_ratio), radii, strengths[1]])
        mass, inertia = sim.loop.effective_inertia(pairs, between / distance[:, None])
        _warn_of_step(sim, pairs, rows[BondRecord.STIFFNESS], distance)
        history = _with_rows(history, pairs, rows, first, mass, inertia)
        sim.continue_from(replace(snapshot, history=history, forces_known=False))
        if damping > 0.0:
            sim.monitor.expect_rates(sim)
        return n

    @exclusive
    def __call__(self) -> np.ndarray:
        """The bonds that hold, by ascending numbers of their spheres.

        Returns
        -------
        structured array (n,)
            clump_i, clump_j, sphere_i, sphere_j; normal_force [N], compression positive; shear_force (3,) and bending
            (3,) on i, lab [N, N m]; torsion [N m]; tension and shear: the stresses that are compared with the strengths
            [Pa]; energy [J].
        """
        sim = self._sim
        if sim.settings.law_value("bonds") != "parallel":     # of other laws, no copy of the history
            return np.zeros(0, BOND)
        history = sim.reader.history()
        first = len(history["records"]) - int(BondRecord.RECORDS)
        holds = history["records"][first + BondRecord.STIFFNESS, :, 3] > 0.0
        rows, pairs = history["records"][first:, holds], history["spheres"][holds]
        centers, radii, clump = _spheres(sim)
        k_n, k_s, radius = np.abs(rows[BondRecord.STIFFNESS, :, :3]).T
        gap = np.linalg.norm(_between(sim, centers, pairs), axis=1) - radii[pairs].sum(axis=1)
        found = np.zeros(len(pairs), BOND)
        for column, side in enumerate("ij"):
            found[f"clump_{side}"], found[f"sphere_{side}"] = clump[pairs[:, column]], pairs[:, column]
        found["normal_force"] = -k_n * (gap + rows[BondRecord.SHEAR, :, 3])
        found["shear_force"], found["bending"] = rows[BondRecord.SHEAR, :, :3], rows[BondRecord.BENDING, :, :3]
        found["torsion"] = rows[BondRecord.BENDING, :, 3]
        force, moment = (np.linalg.norm(found[name], axis=1) for name in ("shear_force", "bending"))
        area, per_moment = np.pi * radius ** 2, 4.0 / (np.pi * radius ** 3)
        found["tension"] = moment * per_moment - found["normal_force"] / area
        found["shear"] = force / area + 0.5 * np.abs(found["torsion"]) * per_moment
        square = radius ** 2
        found["energy"] = 0.5 * (found["normal_force"] ** 2 / k_n + force ** 2 / k_s + moment ** 2
                                 / (0.25 * k_n * square) + found["torsion"] ** 2 / (0.5 * k_s * square))
        return found

    @exclusive
    def broken(self) -> np.ndarray:
        """The bonds that have broken since the start, by step and spheres, also bonds of clumps that were removed.

        Returns
        -------
        structured array (n,)
            id_i, id_j of the clumps, or -1 - k of what was wall k then; place_i, place_j of the spheres in their
            templates; number of the first step after which the bond does not hold, and its time [s]; energy of fracture
            [J]. Contacts of laws of your own are listed where they report one (`minidem.contact.registry.register`).
        """
        sim = self._sim
        rows = sim.reader.ledger().get("fractures", np.zeros((0, 6)))
        return np.array([(*row[:5], row[4] * sim.dt, row[5]) for row in rows.tolist()], BROKEN)


def _spheres(sim):
    """Centres (n, 3), radii and numbers of the clumps (n,) of all spheres."""
    return sim.sphere_centers, sim.sphere_radii, sim.sphere_clump


def _between(sim, centers, pairs):
    """Vectors (n, 3) from the second sphere to the first, to its nearest image."""
    return to_nearest_image(sim.box, centers[pairs[:, 0]] - centers[pairs[:, 1]])


def _checked_pairs(sim, pairs, bonded):
    """Pairs (n, 2), the smaller number first, vectors from the second to the first, gaps [m]. bonded : keys."""
    centers, radii, clump = _spheres(sim)
    given = as_array("pairs", pairs)
    if given.ndim == 0:
        found = _pairs_within(sim, centers, radii, clump, non_negative("pairs", pairs))
        given = found[~np.isin(pair_keys(found), bonded)]
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(f"pairs = {short_repr(pairs)}: give an array (n, 2) of numbers of spheres, or a gap [m]")
    if given.size and not (0 <= given.min() and given.max() < len(radii)):
        raise ValueError(f"pairs: there is no sphere {given.min() if given.min() < 0 else given.max()}; there are "
                         f"{len(radii)}, numbered from 0")
    pairs = np.sort(given.astype(np.int64), axis=1)
    same = clump[pairs[:, 0]] == clump[pairs[:, 1]]
    if same.any():
        raise ValueError(f"pairs: spheres {pairs[same][0].tolist()} belong to one clump; bond spheres of different "
                         "clumps")
    keys = pair_keys(pairs)
    again = np.isin(keys, bonded)
    again[np.setdiff1d(np.arange(len(keys)), np.unique(keys, return_index=True)[1])] = True
    if again.any():
        raise ValueError(f"pairs: spheres {pairs[again][0].tolist()} have a bond, or are given twice; give each pair "
                         "once")
    excluded = sim.reader.exclusions
    if excluded is not None:
        of_pairs = excluded[tuple(sim.material_index[clump[pairs]].T)]
        refuse("pairs", pairs, of_pairs, "the materials of these spheres have a Pair with contact=False, and cannot be "
                                         "bonded; leave them out")
    refuse("pairs", pairs, sim.reader.immovable()[clump[pairs]].all(axis=1),
           "no force moves these clumps; leave them out, or bond them before sim.set_motion")
    between = _between(sim, centers, pairs)
    return pairs, between, np.linalg.norm(between, axis=1) - radii[pairs].sum(axis=1)


def _pairs_within(sim, centers, radii, clump, gap):
    """Pairs (n, 2) of spheres of different clumps with at most this gap, within rounding."""
    gap += ROUNDING * radii.max(initial=0.0)
    inside, images, index = centers, centers, np.arange(len(radii))
    if sim.box is not None:
        inside = sim.box.wrapped(centers)
        images, index = sim.box.images(centers, gap + 2.0 * radii.max(initial=0.0))
    i, j = near_spheres(inside, radii, images, radii[index], gap).T
    j = index[j]
    pairs = np.column_stack([i, j])[(i < j) & (clump[i] != clump[j])]
    return pairs[np.unique(pair_keys(pairs), return_index=True)[1]]


def _with_rows(history, pairs, rows, first, mass, inertia):
    """The history with the records of new bonds; pairs that are in contact keep their other records."""
    known, keys = pair_keys(history["spheres"]), pair_keys(pairs)           # the first ascend
    place = np.searchsorted(known, keys)
    new = np.append(known, -1)[place] != keys
    n_new = int(new.sum())
    joined = {name: np.concatenate([values, np.zeros((n_new, *values.shape[1:]), dtype=values.dtype)])
              for name, values in history.items() if name != "records"}
    joined["records"] = np.concatenate([history["records"], np.zeros((len(history["records"]), n_new, 4))], axis=1)
    place[new] = len(history["spheres"]) + np.arange(n_new)
    joined["spheres"][place], joined["records"][first:, place] = pairs, rows
    joined["mass"][place[new]], joined["rolling_inertia"][place[new]] = mass[new], inertia[new]
    order = np.argsort(pair_keys(joined["spheres"]))
    return {name: np.ascontiguousarray(values[:, order] if name == "records" else values[order])
            for name, values in joined.items()}


def _warn_of_step(sim, pairs, stiffness, distance):
    """UserWarning where the step is above half of the limit of stability, by Gershgorin's bound of each clump."""
    clump, n = sim.sphere_clump[pairs], sim.n_clumps
    least = sim.reader.column("inertia").min(axis=1)
    k_n, k_s, radius = stiffness[:, :3].T
    rate = np.zeros(n)
    for side in range(2):
        k = clump[:, side]
        np.add.at(rate, k, 2.0 * k_n / sim.mass[k])
        turning = np.zeros(n)
        np.add.at(turning, k, 2.0 * (k_s * (0.5 * distance) ** 2 + 0.25 * k_n * radius ** 2) / least[k])
        rate = np.maximum(rate, turning)
    largest = np.sqrt(rate.max(initial=0.0))
    if sim.dt * largest > 1.0:
        warnings.warn(f"bonds.add: the step {sim.dt:g} s is large for these bonds, whose fastest oscillation has at "
                      f"most {largest:.4g} rad/s; a step below {1.0 / largest:.2g} s is safe", stacklevel=3)
