"""The springs of friction on the way to LAMMPS and back.

No text file of LAMMPS has them, but it stretches them: T = -k a u dt in a step dt in which nothing moves, u from
velocities and spins of the spheres. These are the solution of a linear system with two equations per contact and six
unknowns per sphere. Up to six contacts per sphere it mostly has one; beyond, not all springs can be met at once.
"""
import numpy as np

from minidem.analysis.contacts import pair_keys
from minidem.engine.population import Population
from minidem.engine.snapshot import Snapshot
from minidem.output.lammps.walls import has_drum, regions_of

STEP = 1e6                  # s, of that step: so slow that dashpots do nothing
LARGEST_RESIDUAL = 1e-3     # of all forces, relative


def has_springs(sim):
    """Whether LAMMPS can be given springs, and writes them at the end."""
    box = sim.box
    return sim.settings.law.has_history and not has_drum(sim) and (box is None or not box.moves and box.across is None)


def loading(sim):
    """Velocities and spins (n_spheres, 6) that stretch the springs in STEP, or None; a text: why they cannot."""
    if not sim.settings.law.has_history:
        return None, ""
    ends, normal, force, stiffness = springs(sim)
    if not force.any():
        return None, ""
    if not has_springs(sim):
        return None, ("LAMMPS cannot be given those in a drum (a cylinder that turns, or has two ends) or in a "
                      "periodic box that moves or is tilted")
    motion, residual = stretching(sim, ends, normal, force / np.maximum(stiffness, 1e-300)[:, None], stiffness)
    if residual > LARGEST_RESIDUAL:
        return None, (f"no velocities of spheres stretch all {len(ends)} springs, {len(ends) / sim.n_spheres:.2g} per "
                      f"sphere, at once: a relative residual of {residual:.1e}, above {LARGEST_RESIDUAL:g}")
    return motion, ""


def frozen(sim):
    """(n_clumps,) bool, clumps that are held at rest."""
    reader = sim.reader
    return reader.immovable() & (reader.carriers() < 0) & ~np.any(np.hstack(reader.rates()), axis=1)


def springs(sim):
    """Springs of contacts, of which one body moves: spheres (n, 2), the second -1 - k for wall k; normals (n, 3) from
    the second to the first; T (n, 3) on the first [N]; stiffness k a in LAMMPS (n,) [N/m]."""
    contacts, history = sim.reader.contacts_and_history()
    still = np.append(frozen(sim), True)                # and a wall
    moves = ~(still[contacts["clump_i"]] & still[np.maximum(contacts["clump_j"], -1)])
    contacts, spring = contacts[moves], history["records"][0][moves]
    ends, normal = ends_of(contacts), contacts["normal"]
    force, value = tangential(spring[:, :3], normal), sim.settings.law_value
    material = sim.material_index[sim.sphere_clump]
    second = np.append(material, sim.reader.wall_materials[::-1])[ends[:, 1]]        # -1 - k: from the end
    stiffness = 8.0 * sim.reader.pair_properties()["shear_modulus"][material[ends[:, 0]], second]
    if value("tangential_stiffness") != "none":
        stiffness[:] = value("tangential_stiffness")
    if value("tangential") != "linear":
        stiffness *= np.abs(spring[:, 3]) / np.sqrt(1.0 + curvature(sim, contacts))
    return ends, normal, force, stiffness


def ends_of(contacts):
    return np.column_stack([contacts["sphere_i"], contacts["sphere_j"]])


def tangential(vectors, normal):
    """The parts of these (n, 3) across the normals."""
    return vectors - np.sum(vectors * normal, axis=1, keepdims=True) * normal


def curvature(sim, contacts):
    """R / R* - 1 of contacts with walls that LAMMPS takes as curved: see "cylinders" in LAMMPS.md."""
    found, radius, center = np.zeros(len(contacts)), sim.sphere_radii, sim.sphere_centers
    for k in regions_of(sim):
        if not sim.walls[k].profile((0.0, 0.0)):        # flat
            continue
        wall, at = sim.walls[k], np.flatnonzero(contacts["sphere_j"] == -1 - k)
        sphere, normal = contacts["sphere_i"][at], contacts["normal"][at]
        across = center[sphere] - (radius[sphere] - contacts["overlap"][at])[:, None] * normal - wall.point
        across -= (across @ wall.axis)[:, None] * np.array(wall.axis)
        side = np.sign(np.sum(across * normal, axis=1))                             # -1: within
        found[at] = side * radius[sphere] / (2.0 * np.linalg.norm(across, axis=1))
    return found


def stretching(sim, ends, normal, stretch, stiffness):
    """Velocities and spins (n_spheres, 6) by which contacts move by -stretch (n, 3) in STEP, and the residual."""
    from scipy.sparse import bsr_array  # not with minidem: it takes a tenth of a second
    from scipy.sparse.linalg import lsmr

    cross = np.cross(normal[:, None], np.eye(3)).swapaxes(1, 2)                     # cross @ w = n x w
    blocks = np.stack([np.concatenate([sign * cross @ cross, cross], axis=2) for sign in (-1.0, 1.0)], axis=1)
    real = ends >= 0
    matrix = bsr_array((blocks[real], ends[real], np.append(0, np.cumsum(real.sum(axis=1)))),
                       shape=(3 * len(ends), 6 * sim.n_spheres))
    found = lsmr(matrix, -stretch.ravel(), atol=1e-13, btol=1e-10, conlim=0.0, maxiter=3000)
    missing = stiffness[:, None] * ((matrix @ found[0]).reshape(-1, 3) + stretch)
    motion = found[0].reshape(-1, 2, 3) / STEP                                      # v, R w
    motion[:, 1] /= sim.sphere_radii[:, None]
    return motion.reshape(-1, 6), np.linalg.norm(missing) / np.linalg.norm(stiffness[:, None] * stretch)


def restore(sim, ends, force):
    """Give contacts of `sim` springs: the tangential parts of `force` (m, 3) [N] on the first of `ends` (m, 2)."""
    contacts, history = sim.reader.contacts_and_history()
    _, row, second = np.intersect1d(pair_keys(ends_of(contacts)), pair_keys(ends), return_indices=True)
    normal = contacts["normal"][row]
    springs = tangential(force[second], normal)
    history["records"][0, row, :3] = springs
    history["force"][row] += springs - tangential(history["force"][row], normal)    # kept as long as nothing moves
    go_on(sim, sim.reader.snapshot().state, sim.step_count, history)


def go_on(sim, state, step, history=None):
    """Let `sim` continue from another state, with the same clumps and the same box; sums begin at zero."""
    now = sim.reader.snapshot()
    sim.continue_from(Snapshot(
        state, now.pair_table, now.gravity, step, walls=now.walls, history=history, box_state=now.box_state,
        population=Population(now.population.ids, now.population.next_id)))
