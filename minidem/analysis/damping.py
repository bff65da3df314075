"""Stability of the dashpots of contacts: the largest rate at which they slow down a motion of the clumps."""
from __future__ import annotations

import numpy as np

from minidem.contact.pair_table import PROPERTIES
from minidem.core.quaternions import cross, rotate

DAMPING, TANGENTIAL, FRICTION = 1, 3, 4     # coefficients of pairs of materials, in the order of contact/part.pxd
ITERATIONS, MOST = 40, 50_000           # contacts that are looked at; of more those of the most heavily loaded clumps


def damping_rate(sim, contacts) -> tuple[float, int]:
    """Largest eigenvalue of M^-1 C [1/s], of the masses and inertias M and the dashpots C of all contacts, and the
    clump that moves most in that motion; (0, -1) without dashpots.

    A dashpot has the velocities of the last two steps, extrapolated. A motion that is slowed down at a rate above
    1 / dt alternates from step to step instead, and takes dashpots to the limit of friction: friction vanishes.
    Contacts that slide count as if they stuck. The power iteration finds a rate a few per cent too small.
    """
    law, values, state = sim.engine.law, sim.engine.law_values, sim.engine.state
    if not law.dashpots or not len(contacts):
        return 0.0, -1
    if len(contacts) > MOST:
        contacts = _of_loaded_clumps(contacts, sim.n_clumps)
    from scipy.sparse import bsr_array  # not with minidem: it takes a tenth of a second
    table, pairs, normal = sim.engine.loop.pair_table, contacts["clump_j"] >= 0, contacts["normal"]
    first, second = _Side(sim, contacts, "i", -normal), _Side(sim, contacts[pairs], "j", normal[pairs])
    inverse, mobility = 1.0 / first.radius, first.mobility(normal)
    inverse[pairs] += 1.0 / second.radius
    mobility[pairs] += second.mobility(normal[pairs])
    other = np.empty(len(contacts), dtype=np.intp)
    other[~pairs] = table.wall_index[-1 - contacts["clump_j"][~pairs]]
    other[pairs] = state.material_index[second.clump]
    rows = [row[state.material_index[first.clump], other]
            for row in law.coefficient_rows(table.properties(PROPERTIES), values)]
    radius = np.sqrt(np.maximum(contacts["overlap"], 0.0) / inverse) if law.power > 1.0 else 1.0     # of the contact
    c = rows[DAMPING] * np.sqrt(radius / mobility)
    outer = normal[:, :, None] * normal[:, None]
    ratio = np.where(rows[FRICTION] > 0.0, rows[TANGENTIAL], 0.0)           # without friction none acts
    root = np.sqrt(c)[:, None, None] * (outer + np.sqrt(ratio)[:, None, None] * (np.eye(3) - outer))
    blocks = np.concatenate([root @ first.motion, -root[pairs] @ second.motion])
    contact = np.concatenate([np.arange(len(contacts)), np.flatnonzero(pairs)])
    order = np.argsort(contact, kind="stable")
    ends = np.append(0, np.cumsum(1 + pairs))
    slows = bsr_array((blocks[order], np.concatenate([first.clump, second.clump])[order], ends),
                      shape=(3 * len(contacts), 6 * sim.n_clumps))
    motion, rate = np.random.default_rng(1).normal(size=6 * sim.n_clumps), 0.0
    for _ in range(ITERATIONS):
        slowed = slows.T @ (slows @ motion)
        rate = float(np.linalg.norm(slowed))
        motion = slowed / rate if rate > 0.0 else slowed
    return rate, int(np.argmax(np.sum(motion.reshape(-1, 6) ** 2, axis=1)))


def _of_loaded_clumps(contacts, n_clumps):
    """All contacts of clumps with the largest sums of sqrt(overlap), about MOST: that motion is local."""
    i, j, share = contacts["clump_i"], contacts["clump_j"], np.sqrt(np.maximum(contacts["overlap"], 0.0))
    pairs = j >= 0
    load = np.bincount(i, share, n_clumps) + np.bincount(j[pairs], share[pairs], n_clumps)
    per_clump = 1.0 + (len(contacts) + np.count_nonzero(pairs)) / n_clumps
    chosen = np.zeros(n_clumps, dtype=bool)
    chosen[np.argsort(load)[-max(1, int(MOST / per_clump)):]] = True
    return contacts[chosen[i] | pairs & chosen[np.maximum(j, 0)]]


class _Side:
    """The clumps on one side of contacts, and the velocities of their contact points.

    motion : (n, 3, 6), of a unit velocity times the root of the mass, and of the inertia about each principal axis
    """

    def __init__(self, sim, contacts, side, towards):
        state, sphere = sim.engine.state, contacts[f"sphere_{side}"]
        self.clump, self.radius = contacts[f"clump_{side}"].astype(np.intp), sim.sphere_radii[sphere]
        arm = sim.sphere_centers()[sphere] - sim.position[self.clump] + self.radius[:, None] * towards
        mass, inertia = sim.mass[self.clump], state.column("inertia")[self.clump]
        self.motion = np.zeros((len(sphere), 3, 6))
        self.motion[:, range(3), range(3)] = 1.0 / np.sqrt(mass)[:, None]
        self._of_mass = 1.0 / mass if sim.engine.law.mass_of_clumps(sim.engine.law_values) else None
        for k in range(3):
            axis = rotate(state.column("orientation")[self.clump], np.broadcast_to(np.eye(3)[k], (len(sphere), 3)))
            self.motion[:, :, 3 + k] = cross(axis, arm) / np.sqrt(inertia[:, k])[:, None]

    def mobility(self, normal):
        """(n,) of the effective mass of the law: acceleration along the normal per force along it [1/kg]."""
        if self._of_mass is not None:
            return self._of_mass
        return np.sum(np.einsum("nk,nkl->nl", normal, self.motion) ** 2, axis=1)
