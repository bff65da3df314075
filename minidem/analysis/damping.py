"""Stability: springs and dashpots of contacts and bonds, and fields that contacts change."""
from __future__ import annotations

from functools import lru_cache

import numpy as np

from minidem.analysis.contacts import to_nearest_image
from minidem.contact.parts.bond import BondRecord
from minidem.core.quaternions import cross, rotate, rotate_back
from minidem.fields.rates import FIELD_ROWS

CHANGE = 1e-6                           # of a field, over its largest value, for derivatives
ITERATIONS, MOST = 40, 5000             # contacts that are looked at; of more, those of clumps with the largest bounds
CALLS = 10                              # of user forces, in the power iteration of their rate


def damping_rate(sim, least: float = 0.0) -> tuple[float, int]:
    """Largest rate [1/s] at which dashpots slow down a motion, and the clump that moves most in it; else (0, -1).

    (0, -1) also where a bound shows that it is below `least`. The rate is an eigenvalue of M^-1 C, of the masses and
    inertias M and the dashpots C of all contacts and bonds.

    A dashpot has the velocities of the last two steps, extrapolated. A motion that is slowed down at a rate above
    1 / dt alternates from step to step instead, and takes dashpots to the limit of friction: friction vanishes.
    Contacts that slide count as if they stuck. The power iteration finds a rate a few per cent too small. With a spring
    k beside it, a dashpot c is stable up to (c + dt k / 4) dt / m = 1: that is the rate of bonds with dashpots.
    """
    parts, bonds = [], damped_bonds(sim)
    if sim.settings.law.dashpots:
        contacts, history = sim.reader.contacts_and_history()
        acting = _acting(sim, contacts)
        contacts, mass, least = contacts[acting], history["mass"][acting], least if bonds is None else 0.0
        parts += _of_contacts(sim, contacts, sim.reader.dashpots(contacts, mass), least)
    parts += [] if bonds is None else _of_bonds(sim, bonds, 1.0, 0.25 * sim.dt)
    return _largest_rate(sim, parts)


def stable_step(sim) -> float:
    """The largest step [s] that is stable for the present contacts and bonds of a simulation; inf: there are none.

    Parameters
    ----------
    sim : Simulation

    Returns
    -------
    float
        For small motions about the present state: contacts that become deeper need a shorter step. A step for accuracy
        is shorter, see `minidem.suggest_step`.

    Notes
    -----
    With masses and inertias M, springs K and dashpots C, which have the velocities of the last two steps, leapfrog is
    stable as long as no eigenvalue of M^-1 (C dt + K dt^2 / 4) is above 1: an eigenvector of it leaves a cubic equation
    whose roots are in the unit circle up to there. The relative motion a - b of the two sides of a contact has
    ``|a - b|^2 <= (1 + t) |a|^2 + (1 + 1 / t) |b|^2`` for any t > 0, so that springs can be summed clump by clump: the
    eigenvalues of 6 x 6 matrices bound all others. Two equal spheres, and a sphere on walls, have the step itself.

    Contacts that slide have no friction spring. Rolling resistance, cohesion, user forces and driven walls are not
    counted. Normal dashpots of contacts are partly implicit, and count as if they were not: for them the bound is
    tested, in beds at rest, and not proved.
    """
    springs, dashpots = [], []
    contacts, history = sim.reader.contacts_and_history()
    acting = _acting(sim, contacts)
    if acting.any():
        springs.append(_rows(sim, contacts[acting], *sim.reader.stiffnesses(contacts[acting])))
        if sim.settings.law.dashpots:
            dashpots.append(_rows(sim, contacts[acting], *sim.reader.dashpots(
                contacts[acting], history["mass"][acting])))
    if (bonds := damped_bonds(sim, undamped=True)) is not None:
        springs, dashpots = springs + _of_bonds(sim, bonds, 0.0, 1.0), dashpots + _of_bonds(sim, bonds, 1.0, 0.0)
    square, rate = _bound(sim, springs), _bound(sim, dashpots)
    return 2.0 / (rate + np.sqrt(rate ** 2 + square)) if square > 0.0 else np.inf


def _bound(sim, parts):
    """No eigenvalue of the sum of `parts`, as for `_largest_rate`, is above this one."""
    of_clumps = np.zeros((sim.n_clumps + 1, 6, 6))          # the last one, of walls, is zero
    for blocks, clumps, ends in parts:
        size = np.sqrt(np.sum(blocks ** 2, axis=(1, 2)))
        both = np.repeat(np.add.reduceat(size, ends[:-1]), np.diff(ends))
        weight = both / np.where(size > 0.0, size, 1.0)
        np.add.at(of_clumps, clumps, weight[:, None, None] * (blocks.swapaxes(1, 2) @ blocks))
    return float(np.linalg.eigvalsh(of_clumps).max())


def _largest_rate(sim, parts):
    """Largest eigenvalue [1/s] of the sum of products of matrices and their transposes, and the clump that moves most.

    parts : sparse matrices (k, 6 n_clumps), whose columns are velocities times the root of mass or inertia: blocks
        (m, 3, 6), their columns (m,), and their ends in each row of blocks
    """
    if not parts:
        return 0.0, -1
    from scipy.sparse import bsr_array  # not with minidem: it takes a tenth of a second
    parts = [bsr_array(part, shape=(3 * len(part[2]) - 3, 6 * sim.n_clumps)) for part in parts]
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


def spring_rate(sim, contacts, least=0.0) -> tuple[float, int]:
    """Largest angular frequency [1/s] of a motion against the springs of contacts, and the clump that moves most in it.

    Its square is the largest eigenvalue of M^-1 K; leapfrog is unstable from 2 / dt on. Normal springs count and,
    where a contact does not slide, its friction spring. (0, -1) where a bound shows that it is below `least`.
    """
    contacts = contacts[_acting(sim, contacts)]
    square, clump = _largest_rate(sim, _of_contacts(sim, contacts, sim.reader.stiffnesses(contacts), least ** 2))
    return square ** 0.5, clump


def _acting(sim, contacts):
    """(n,) bool, contacts that overlap and move a clump; of bonds that act across a gap, the bond alone counts."""
    fixed = np.append(sim.reader.immovable(), True)         # the last one for walls
    both = fixed[contacts["clump_i"]] & fixed[np.maximum(contacts["clump_j"], -1)]
    return (contacts["overlap"] > 0.0) & ~both


def _of_contacts(sim, contacts, tensors, least):
    """A list of the sparse matrix B of contacts; empty where the eigenvalues of B^T B are zero, or below `least`.

    B^T B is M^-1/2 C M^-1/2 of tensors C, along and across the normals (n,).
    """
    along, across = tensors
    clumps = [np.where(contacts[f"clump_{side}"] >= 0, contacts[f"clump_{side}"], sim.n_clumps) for side in "ij"]
    bounds = _bounds(sim, clumps, *tensors)
    if bounds.max() <= least:
        return []
    if len(contacts) > MOST:                                # the motion is local
        per_clump = 2.0 * len(contacts) / sim.n_clumps
        chosen = np.zeros(sim.n_clumps + 1, dtype=bool)
        chosen[np.argsort(bounds)[-max(1, int(MOST / per_clump)):]] = True
        chosen = chosen[clumps[0]] | chosen[clumps[1]]
        contacts, along, across = contacts[chosen], along[chosen], across[chosen]
    return [_rows(sim, contacts, along, across)]


def _rows(sim, contacts, along, across):
    """The sparse matrix B of `_of_contacts`, as for `_largest_rate`."""
    pairs, normal = contacts["clump_j"] >= 0, contacts["normal"]
    first, second = _Side(sim, contacts, "i", -normal), _Side(sim, contacts[pairs], "j", normal[pairs])
    root = _tensors(np.sqrt(along), np.sqrt(across), normal)
    blocks = np.concatenate([root @ first.motion, -root[pairs] @ second.motion])
    contact = np.concatenate([np.arange(len(contacts)), np.flatnonzero(pairs)])
    order = np.argsort(contact, kind="stable")
    ends = np.append(0, np.cumsum(1 + pairs))
    return blocks[order], np.concatenate([first.clump, second.clump])[order], ends


def _bounds(sim, clumps, along, across):
    """(n_clumps + 1,), no eigenvalue of B^T B of `_of_contacts` is above the largest; zero for walls, the last one.

    Twice the sum of the squares of the blocks of a clump, since (a + b)^2 <= 2 (a^2 + b^2) for the two in a row.
    """
    per_mass = np.append(~sim.reader.immovable() / sim.mass, 0.0)
    turning = np.array([_turning(template) for template in sim.reader.templates]).take(sim.reader.template_index)
    larger, turning = np.maximum(along, across), np.append(turning, 0.0)
    return sum(np.bincount(clump, 2.0 * per_mass[clump] * (along + 2.0 * across + larger * turning[clump]),
                           sim.n_clumps + 1) for clump in clumps)


@lru_cache(maxsize=1024)
def _turning(template):
    """Mass times the sum of d^2 / I over the principal axes; no point of a sphere is farther from an axis than d."""
    squares = template.offsets ** 2
    distance = np.sqrt(squares.sum(axis=1, keepdims=True) - squares) + template.radii[:, None]
    return template.mass * np.sum(distance.max(axis=0) ** 2 / template.inertia)


def _tensors(along, across, normal):
    """(n, 3, 3) that multiply vectors by `along` (n,) along the normals (n, 3), and by `across` across them."""
    outer = normal[:, :, None] * normal[:, None]
    return along[:, None, None] * outer + across[:, None, None] * (np.eye(3) - outer)


def damped_bonds(sim, undamped=False):
    """Bonds with dashpots: spheres (n, 2), effective mass and rolling inertia (n,), rows of BondRecord; None: none.

    undamped : whether others count as well
    """
    history = sim.reader.history() if sim.settings.law_value("bonds") == "parallel" else None
    if history is None:
        return None
    rows = history["records"][-int(BondRecord.RECORDS):]
    damped = (rows[BondRecord.STIFFNESS, :, 3] > 0.0) & (undamped | (rows[BondRecord.SLIP, :, 3] > 0.0))
    return (history["spheres"][damped], history["mass"][damped], history["rolling_inertia"][damped],
            rows[:, damped]) if damped.any() else None


def _of_bonds(sim, bonds, dashpots, springs):
    """The same matrices of bonds, of forces and of couples; factors of their dashpots and springs."""
    spheres, mass, inertia, rows = bonds
    centers, beta = sim.sphere_centers, rows[BondRecord.SLIP, :, 3]
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
        along, across = (np.sqrt(2.0 * dashpots * beta * np.sqrt(of_mass * k) + springs * k) for k in (along, across))
        root = _tensors(along, across, normal)
        blocks = np.stack([root @ a, -root @ b], axis=1).reshape(-1, 3, 6)
        found.append((blocks, pairs, 2 * np.arange(len(normal) + 1)))
    return found


def force_rate(sim) -> tuple[float, int]:
    """Largest rate [1/s] at which user forces change velocities, and the clump that moves most in it; else (0, -1).

    Drag has the velocities that are predicted from the last forces. At a rate above 1 / dt it turns them round in each
    step. Only where one turns the motion of a clump round in a step, all functions are called with slightly changed
    velocities, and a power iteration finds the rate.
    """
    frame, inertia, velocity, turning = map(sim.reader.column, (
        "orientation", "inertia", "predicted_velocity", "predicted"))
    moving = [np.sum(of_body * rate ** 2, axis=1) for of_body, rate in ((sim.mass[:, None], velocity), (
        inertia, turning))]
    loads = sim.reader.user_wrenches()
    taken = [-sim.dt * np.sum(load * rate, axis=1) for load, rate in zip(loads, (velocity, turning))]
    if not np.greater(taken, moving).any():
        return 0.0, -1

    def forces(change):                                 # by changes of momenta over the roots of mass and inertia
        v = velocity + change[:, :3] / np.sqrt(sim.mass)[:, None]
        w = rotate(frame, turning + change[:, 3:] / np.sqrt(inertia))
        force, torque = np.split(sim.reader.user_forces_at(np.hstack([v, w])), 2, axis=1)
        return np.hstack([force / np.sqrt(sim.mass)[:, None], rotate_back(frame, torque) / np.sqrt(inertia)])

    mode = np.random.default_rng(1).normal(size=(sim.n_clumps, 6)) * ~sim.reader.immovable()[:, None]
    size, rate = CHANGE * np.sqrt(np.max(moving)), 0.0
    try:
        before = forces(0.0 * mode)
        for _ in range(CALLS):
            mode *= size / np.sqrt(_dot(mode, mode))
            mode = forces(mode) - before
            rate = np.sqrt(_dot(mode, mode)) / size
            if not 0.0 < rate < np.inf:
                return 0.0, -1
    except Exception:                                   # of a function of the user, at a value that it does not take
        return 0.0, -1
    return float(rate), int(np.argmax(np.sum(mode ** 2, axis=1)))


def exchange_rate(sim) -> tuple[float, int, str]:
    """Largest rate [1/s] at which contacts let differences of fields decay; (0, -1, "") without any.

    Also the clump and the field that change most in that mode. The rate is minus an eigenvalue of the derivatives
    of the rates of contact laws and fluxes by the fields, found by small differences of these and a power
    iteration. Not seen are rates of forces, and modes slower than one that grows by itself.
    """
    rows = sim.reader.field_rows()
    n = rows.shape[1]
    largest = np.abs(rows[:, :, FIELD_ROWS.index("value")]).max(axis=0, initial=0.0)
    try:
        found = sim.reader.rate_slopes(CHANGE * np.where(largest > 0.0, largest, 1.0)) if n else None
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
    return rate, clump, _named(sim, component)


def alternating_rate(sim) -> tuple[float, int, str]:
    """The same of whatever changes a field, also forces, once that is seen; else (0, -1, "").

    It is seen where rates have changed their signs since the last step, have grown, and change the field by more
    than its values in a step. One mode then dominates, whose growth g belongs to the rate lambda with lambda dt = g
    (1 + g) / (1.5 g + 0.5).
    """
    rows = sim.reader.field_rows()
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
            _named(sim, component))


def _named(sim, component):
    """Name of the field of a component."""
    return next(name for name, first, size in sim.reader.population.components if first <= component < first + size)


class _Side:
    """The clumps on one side of contacts, and the velocities of their contact points.

    motion, turns : (n, 3, 6) velocities and angular velocities for unit velocities times root of mass and inertia
    """

    def __init__(self, sim, contacts, side, towards, beyond=0.0):
        sphere = contacts[f"sphere_{side}"]
        self.clump = contacts[f"clump_{side}"].astype(np.intp)
        reach = (sim.sphere_radii[sphere] + beyond)[:, None] * towards
        arm = sim.sphere_centers[sphere] - sim.position[self.clump] + reach
        moved = ~sim.reader.immovable()[self.clump, None]   # of what is held in part, an upper bound
        mass, inertia = sim.mass[self.clump], sim.reader.column("inertia")[self.clump]
        self.motion, self.turns = np.zeros((2, len(sphere), 3, 6))
        self.motion[:, range(3), range(3)] = moved / np.sqrt(mass)[:, None]
        axes = rotate(sim.reader.column("orientation")[self.clump, None], np.eye(3))
        turns = moved[:, None] * axes / np.sqrt(inertia)[:, :, None]                    # about each axis
        self.turns[:, :, 3:], self.motion[:, :, 3:] = (of.swapaxes(1, 2) for of in (turns, cross(turns, arm[:, None])))
