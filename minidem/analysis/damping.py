"""Stability of what has the rates of two steps: dashpots of contacts and bonds, and fields that contacts change."""
from __future__ import annotations

import numpy as np

from minidem.analysis.contacts import pair_keys, to_nearest_image
from minidem.contact.pair_table import PROPERTIES
from minidem.contact.parts.bond import BondRecord
from minidem.core.quaternions import cross, rotate
from minidem.engine.population import field_rows
from minidem.state.hold import immovable
from minidem.state.state import FIELD_ROWS

DAMPING, TANGENTIAL, FRICTION = 1, 3, 4     # coefficients of pairs of materials, in the order of contact/part.pxd
CHANGE = 1e-6                           # of a field, over its largest value, for derivatives
ITERATIONS, MOST = 40, 50_000           # contacts that are looked at; of more those of the most heavily loaded clumps


def damping_rate(sim, contacts) -> tuple[float, int]:
    """Largest rate [1/s] at which dashpots slow down a motion, and the clump that moves most in it; else (0, -1).

    The rate is an eigenvalue of M^-1 C, of the masses and inertias M and the dashpots C of all contacts and bonds.

    A dashpot has the velocities of the last two steps, extrapolated. A motion that is slowed down at a rate above
    1 / dt alternates from step to step instead, and takes dashpots to the limit of friction: friction vanishes.
    Contacts that slide count as if they stuck. The power iteration finds a rate a few per cent too small. With a spring
    k beside it, a dashpot c is stable up to (c + dt k / 4) dt / m = 1: that is the rate of bonds with dashpots.
    """
    fixed = np.append(immovable(sim.loop.state), True)      # the last one for walls
    both = fixed[contacts["clump_i"]] & fixed[np.maximum(contacts["clump_j"], -1)]
    contacts = contacts[(contacts["overlap"] > 0.0) & ~both]        # of bonds that act across a gap, the bond alone
    if len(contacts) > MOST:
        contacts = _of_loaded_clumps(contacts, sim.n_clumps)
    parts = [_of_contacts(sim, contacts)] if len(contacts) and sim.settings.law.dashpots else []
    bonds = damped_bonds(sim)
    parts += [] if bonds is None else _of_bonds(sim, *bonds)
    if not parts:
        return 0.0, -1
    parts = [(slows, slows.T) for slows in parts]
    motion, rate = np.random.default_rng(1).normal(size=6 * sim.n_clumps), 0.0
    for _ in range(ITERATIONS):
        slowed = sum(transpose @ (slows @ motion) for slows, transpose in parts)
        rate = float(np.sqrt(_dot(slowed, slowed)))
        motion = slowed / rate if rate > 0.0 else slowed
    return rate, int(np.argmax(np.sum(motion.reshape(-1, 6) ** 2, axis=1)))


def _dot(a, b):
    """Scalar product of arrays (n,), without BLAS: its threads would spin on the other cores afterwards."""
    return np.sum(a * b)


def _of_contacts(sim, contacts):
    """Sparse matrix, whose product with its transpose is M^-1/2 C M^-1/2 of the dashpots of contacts."""
    from scipy.sparse import bsr_array  # not with minidem: it takes a tenth of a second
    law, values, state = sim.settings.law, sim.settings.law_values, sim.loop.state
    table, pairs, normal = sim.loop.pair_table, contacts["clump_j"] >= 0, contacts["normal"]
    first, second = _Side(sim, contacts, "i", -normal), _Side(sim, contacts[pairs], "j", normal[pairs])
    inverse, mobility = 1.0 / first.radius, first.mobility(normal)
    inverse[pairs] += 1.0 / second.radius
    mobility[pairs] += second.mobility(normal[pairs])
    if law.shares_mass(values):
        history, ends = sim.loop.history(), np.column_stack([contacts["sphere_i"], contacts["sphere_j"]])
        mobility = 1.0 / history["mass"][np.searchsorted(pair_keys(history["spheres"]), pair_keys(ends))]
    other = np.empty(len(contacts), dtype=np.intp)
    other[~pairs] = table.wall_index[-1 - contacts["clump_j"][~pairs]]
    other[pairs] = state.material_index[second.clump]
    rows = [row[state.material_index[first.clump], other]
            for row in law.coefficient_rows(table.properties(PROPERTIES), values)]
    radius = np.sqrt(np.maximum(contacts["overlap"], 0.0) / inverse) if law.power > 1.0 else 1.0     # of the contact
    c = rows[DAMPING] * np.sqrt(radius / mobility)
    ratio = np.where(rows[FRICTION] > 0.0, rows[TANGENTIAL], 0.0)           # without friction none acts
    root = np.sqrt(c)[:, None, None] * _tensors(np.ones(len(c)), np.sqrt(ratio), normal)
    blocks = np.concatenate([root @ first.motion, -root[pairs] @ second.motion])
    contact = np.concatenate([np.arange(len(contacts)), np.flatnonzero(pairs)])
    order = np.argsort(contact, kind="stable")
    ends = np.append(0, np.cumsum(1 + pairs))
    return bsr_array((blocks[order], np.concatenate([first.clump, second.clump])[order], ends),
                     shape=(3 * len(contacts), 6 * sim.n_clumps))


def _tensors(along, across, normal):
    """(n, 3, 3) that multiply vectors by `along` (n,) along the normals (n, 3), and by `across` across them."""
    outer = normal[:, :, None] * normal[:, None]
    return along[:, None, None] * outer + across[:, None, None] * (np.eye(3) - outer)


def damped_bonds(sim):
    """Bonds with dashpots: spheres (n, 2), effective mass and rolling inertia (n,), rows of BondRecord; None: none."""
    history = sim.loop.history() if sim.settings.law_value("bonds") == "parallel" else None
    if history is None:
        return None
    rows = history["records"][-int(BondRecord.RECORDS):]
    damped = (rows[BondRecord.STIFFNESS, :, 3] > 0.0) & (rows[BondRecord.SLIP, :, 3] > 0.0)
    return (history["spheres"][damped], history["mass"][damped], history["rolling_inertia"][damped],
            rows[:, damped]) if damped.any() else None


def _of_bonds(sim, spheres, mass, inertia, rows):
    """The same matrices of bonds, of forces and of couples."""
    from scipy.sparse import bsr_array
    centers, beta = sim.sphere_centers(), rows[BondRecord.SLIP, :, 3]
    between = to_nearest_image(sim.box, centers[spheres[:, 0]] - centers[spheres[:, 1]])
    distance = np.linalg.norm(between, axis=1)
    normal = between / distance[:, None]
    half_gap = 0.5 * (distance - sim.sphere_radii[spheres].sum(axis=1))
    first, second = (_Side(sim, {f"sphere_{side}": spheres[:, k], f"clump_{side}": sim.sphere_clump[spheres[:, k]]},
                           side, towards, half_gap) for k, side, towards in ((0, "i", -normal), (1, "j", normal)))
    k_n, k_s, radius = np.abs(rows[BondRecord.STIFFNESS, :, :3]).T
    found, pairs = [], np.column_stack([first.clump, second.clump]).ravel()
    for along, across, of_mass, a, b in ((k_n, k_s, mass, first.motion, second.motion), (
            0.5 * k_s * radius ** 2, 0.25 * k_n * radius ** 2, inertia, first.turns, second.turns)):
        along, across = (np.sqrt(2.0 * beta * np.sqrt(of_mass * k) + 0.25 * sim.dt * k) for k in (along, across))
        root = _tensors(along, across, normal)
        blocks = np.stack([root @ a, -root @ b], axis=1).reshape(-1, 3, 6)
        found.append(bsr_array((blocks, pairs, 2 * np.arange(len(normal) + 1)),
                               shape=(3 * len(normal), 6 * sim.n_clumps)))
    return found


def exchange_rate(sim) -> tuple[float, int, str]:
    """Largest rate [1/s] at which contacts let differences of fields decay; (0, -1, "") without any.

    Also the clump and the field that change most in that mode. The rate is minus an eigenvalue of the derivatives
    of the rates of contact laws and fluxes by the fields, found by small differences of these and a power
    iteration. Not seen are rates of forces, and modes slower than one that grows by itself.
    """
    components = sim.loop.population.components
    rows = field_rows(sim.loop.state, components)
    n = rows.shape[1]
    largest = np.abs(rows[:, :, FIELD_ROWS.index("value")]).max(axis=0, initial=0.0)
    try:
        found = sim.loop.rate_slopes(CHANGE * np.where(largest > 0.0, largest, 1.0)) if n else None
    except Exception:                                   # of a function of the user, at a value that it does not take
        found = None
    if found is None or not len(found[0]):
        return 0.0, -1, ""
    from scipy.sparse import coo_array
    clumps, slopes = found
    index = (clumps[:, :, None] * n + np.arange(n)).reshape(len(clumps), -1)
    row, column = np.broadcast_arrays(index[:, :, None], index[:, None])
    chosen = (row >= 0) & (column >= 0) & np.isfinite(slopes)
    root = np.sqrt(rows[:, :, FIELD_ROWS.index("per_capacity")]).ravel()
    row, column, slopes = row[chosen], column[chosen], slopes[chosen]
    matrix = coo_array((slopes * root[row] * root[column], (row, column)), shape=2 * (n * sim.n_clumps,)).tocsr()
    mode, rate = np.random.default_rng(1).normal(size=n * sim.n_clumps), 0.0
    for _ in range(ITERATIONS):
        mode /= np.sqrt(_dot(mode, mode))
        change = matrix @ mode
        rate = -float(_dot(mode, change))
        if not change.any():
            return 0.0, -1, ""
        mode = change
    clump, component = divmod(int(np.argmax(np.abs(mode))), n)
    return rate, clump, _named(components, component)


def alternating_rate(sim) -> tuple[float, int, str]:
    """The same of whatever changes a field, also forces, once that is seen; else (0, -1, "").

    It is seen where rates have changed their signs since the last step, have grown, and change the field by more
    than its values in a step. One mode then dominates, whose growth g is that of the rate lambda with lambda dt = g
    (1 + g) / (1.5 g + 0.5).
    """
    components = sim.loop.population.components
    rows = field_rows(sim.loop.state, components)
    if not rows.size:
        return 0.0, -1, ""
    value, rate, last, per_capacity = (rows[:, :, FIELD_ROWS.index(name)] for name in (
        "value", "rate", "last_rate", "per_capacity"))
    size, before, values = (np.linalg.norm(of / np.sqrt(per_capacity), axis=0) for of in (rate, last, value))
    found = (np.sum(rate * last / per_capacity, axis=0) < -0.9 * size * before) & (size > before) \
        & (sim.dt * size > values)
    component = int(np.argmax(found))
    if not found[component]:
        return 0.0, -1, ""
    growth = size[component] / before[component]
    return (growth * (1.0 + growth) / ((1.5 * growth + 0.5) * sim.dt), int(np.argmax(np.abs(rate[:, component]))),
            _named(components, component))


def _named(components, component):
    """Name of the field of a component."""
    return next(name for name, first, size in components if first <= component < first + size)


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

    motion, turns : (n, 3, 6) velocities and angular velocities for unit velocities times root of mass and inertia
    """

    def __init__(self, sim, contacts, side, towards, beyond=0.0):
        state, sphere = sim.loop.state, contacts[f"sphere_{side}"]
        self.clump, self.radius = contacts[f"clump_{side}"].astype(np.intp), sim.sphere_radii[sphere]
        arm = sim.sphere_centers()[sphere] - sim.position[self.clump] + (self.radius + beyond)[:, None] * towards
        moved = ~immovable(state)[self.clump, None]         # of what is held in part, an upper bound
        mass, inertia = sim.mass[self.clump], state.column("inertia")[self.clump]
        self.motion, self.turns = np.zeros((2, len(sphere), 3, 6))
        self.motion[:, range(3), range(3)] = moved / np.sqrt(mass)[:, None]
        self._of_mass = 1.0 / mass if sim.settings.law.mass_of_clumps(sim.settings.law_values) else None
        axes = rotate(state.column("orientation")[self.clump, None], np.eye(3))
        turns = moved[:, None] * axes / np.sqrt(inertia)[:, :, None]                    # about each axis
        self.turns[:, :, 3:], self.motion[:, :, 3:] = (of.swapaxes(1, 2) for of in (turns, cross(turns, arm[:, None])))

    def mobility(self, normal):
        """(n,) of the effective mass of the law: acceleration along the normal per force along it [1/kg]."""
        if self._of_mass is not None:
            return self._of_mass
        return np.sum(np.einsum("nk,nkl->nl", normal, self.motion) ** 2, axis=1)
