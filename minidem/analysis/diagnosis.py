"""Checks of a start, and the likely cause of a non-finite state."""
import warnings

import numpy as np

from minidem.analysis.contacts import to_nearest_image
from minidem.core.quaternions import rotate
from minidem.walls.wall import with_names

DEEPEST_START = 0.1     # largest overlap of a start, relative to the smaller radius
ROUNDING = 1e-9         # of a relative overlap, whose positions may be 1e6 radii from the origin
FEW = 64                # so few new clumps are compared with all others; for more a list of contacts is faster
PART_OF_SUM = 0.1       # of the largest sum, whose other parts are moments
SAMPLED = 4096          # so few of new clumps are compared before all contacts are listed


class DeepOverlap(ValueError):
    """A start with an overlap above DEEPEST_START."""


def relative_overlap(contacts, radii):
    """(n,) overlaps over the smaller radius of the two spheres, or that at a wall; radii : (n_spheres,) [m]"""
    j = np.where(contacts["sphere_j"] < 0, contacts["sphere_i"], contacts["sphere_j"])
    return contacts["overlap"] / np.minimum(radii[contacts["sphere_i"]], radii[j])


def format_above(value, limit):
    """`value`, which exceeds `limit`, with three digits, or as many as show the difference."""
    return next(text for text in (f"{value:.{digits}g}" for digits in range(3, 18)) if float(text) > limit)


def refuse_deep_overlaps(reader, first, limit=DEEPEST_START, walls=()):
    """Raise DeepOverlap for a contact of a clump from number `first` on, or of one of the walls with these numbers.

    limit : of the overlap over the smaller radius
    """
    if reader.n_clumps - first <= FEW and not reader.user_forces.expected and not walls and reader.exclusions is None:
        _refuse_deep_among_few(reader, first, limit)
        return
    radii = reader.sphere_radii()
    contacts = reader.deep_contacts(limit * radii.min(initial=np.inf))      # a list of all takes much memory
    relative = relative_overlap(contacts, radii)
    deep = relative > limit + ROUNDING
    for contact, part in zip(contacts[deep], relative[deep]):
        i, j = int(contact["clump_i"]), int(contact["clump_j"])
        if max(i, j) >= first or -1 - j in walls:
            _refuse_overlap(i, f"clump {j}" if j >= 0 else with_names(f"wall {-1 - j}", reader.walls),
                            contact["overlap"], part, limit)


def _refuse_deep_among_few(reader, first, limit):
    """The same for a few new clumps: by comparison with all others, which is faster than a list of contacts."""
    box, spheres, sizes = reader.box, reader.spheres(), reader.sphere_counts()
    clump, begin = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes) - sizes
    new = np.flatnonzero(clump >= first)
    fixed = reader.immovable()[clump]
    for k, depth, wall in zip(new, *reader.deepest_in_walls(spheres[new])):
        others, radius = spheres[:begin[clump[k]]], spheres[k, 3]
        between = to_nearest_image(box, others[:, :3] - spheres[k, :3])
        overlap = np.append(radius + others[:, 3] - np.sqrt(np.sum(between ** 2, axis=1)), depth)
        overlap[fixed[k] & np.append(fixed[:len(others)], True)] = 0.0
        part = overlap / np.minimum(np.append(others[:, 3], radius), radius)
        j = int(np.argmax(part))
        if part[j] <= limit + ROUNDING:
            continue
        if j < len(others):
            _refuse_overlap(clump[j], f"clump {clump[k]}", overlap[j], part[j], limit)
        else:
            _refuse_overlap(clump[k], with_names(f"wall {wall}", reader.walls), depth, part[j], limit)


def refuse_coincidence(template, position, orientation, scale, first, limit):
    """Raise DeepOverlap for two new clumps in nearly the same place, whose number is `first` on.

    A fast test of at most SAMPLED of them, before all contacts are listed, which may be as many as pairs: spheres of
    two clumps overlap deeply in one cell of a grid whose diagonal is below the least distance allowed.
    """
    step = -(-len(position) // SAMPLED)
    position, orientation, scale = position[::step], orientation[::step], scale[::step]
    nearest = int(np.argmin(np.sum(template.offsets ** 2, axis=1)))
    centers = position + scale[:, None] * rotate(orientation, template.offsets[nearest])
    radii = scale * template.radii[nearest]
    with np.errstate(invalid="ignore"):
        cells = np.floor(centers * (np.sqrt(3.0) / ((2.0 - limit) * radii.min()))).astype(np.int64)
    order = np.lexsort(cells.T[::-1])
    i, j = order[1:], order[:-1]
    same = (cells[i] == cells[j]).all(axis=1)
    i, j = i[same], j[same]
    overlap = radii[i] + radii[j] - np.sqrt(np.sum((centers[i] - centers[j]) ** 2, axis=1))
    part = overlap / np.minimum(radii[i], radii[j])
    for k in np.flatnonzero(part > limit + ROUNDING)[:1]:
        _refuse_overlap(first + step * int(i[k]), f"clump {first + step * int(j[k])}", overlap[k], part[k], limit)


def _refuse_overlap(clump, other, overlap, part, limit):
    if other.startswith("wall") and part > 1.0:         # of a surface with two sides never
        raise DeepOverlap(f"position of clump {clump}: it is behind {other}, with the centre of a sphere by "
                          f"{overlap * (1.0 - 1.0 / part):.6g} m. Clumps belong on the side to which the normal of a "
                          "Plane points, or within a Cylinder unless outside=True: move the clump, or turn the wall")
    raise DeepOverlap(f"position of clump {clump}: it overlaps {other} by {overlap:.6g} m at the start, "
                      f"{format_above(part, limit)} of the smaller radius; the limit is {limit:g}. Move them apart, or "
                      "give add_clumps(..., overlap=...) for a state that a simulation has reached")


def warn_of_large_step(sim, reader, first):
    """Warn if dt is above the Rayleigh step of a new clump, from `first` on, and of no earlier one."""
    limit = reader.rayleigh_step(first)
    if "young" in sim.settings.law.reads and limit < sim.dt and limit < reader.rayleigh_step(0, first):
        warnings.warn(f"dt = {sim.dt:g} s is above the Rayleigh step {limit:g} s of the smallest sphere: contacts may "
                      "not be resolved; watch the energy, or lower dt", UserWarning, stacklevel=3)


def explain_pose(sim):
    """Likely cause and remedy of a non-finite position or orientation, in the step in which it occurred.

    Contacts are evaluated after all clumps have moved, so that what is non-finite was so first.
    """
    position, orientation = (np.isfinite(sim.reader.column(name)).all(axis=1) for name in ("position", "orientation"))
    if (position & orientation).all():          # an error raised by a scheme itself
        return f"Lower dt ({sim.dt:g} s) or take another rotation scheme than {sim.rotation!r}"
    return _cause(sim, rotation_first=position[np.argmin(position & orientation)])


def explain_energy(sim):
    """Step, clump, likely cause and remedy of non-finite energies with finite poses."""
    with np.errstate(over="ignore", invalid="ignore"):
        velocity, rate = sim.velocity, sim.body_angular_velocity
        translational = 0.5 * sim.mass * np.sum(velocity ** 2, axis=1)
        kinetic = translational + 0.5 * np.sum(sim.reader.column("inertia") * rate ** 2, axis=1)
        clump = int(np.argmax(np.where(np.isnan(kinetic), np.inf, kinetic)))
    return (f"step {sim.step_count} (time {sim.time:.6g} s): the energy is not finite; clump {clump} has the velocity "
            f"{np.abs(velocity[clump]).max():.3g} m/s and the angular velocity {np.abs(rate[clump]).max():.3g} rad/s. "
            + (explain_forces(sim) or _cause(sim, rotation_first=np.isfinite(translational[clump]))))


def explain_forces(sim):
    """Cause and remedy if the forces on a sphere at the present pose are beyond the range of their sums; else None."""
    law = sim.settings.law
    if not np.isfinite(sim.position).all() or np.isfinite(sim.reader.column("force")).all():
        return None
    contacts, sums = sim.reader.deep_contacts(), np.zeros(len(sim.sphere_radii))
    for side, sphere in ("i", contacts["sphere_i"]), ("j", contacts["sphere_j"]):
        present = contacts[f"clump_{side}"] >= 0
        np.add.at(sums, sphere[present], np.abs(contacts["force"][present]).sum(axis=1))
    if not np.isfinite(sums).all():
        return f"Contact law {sim.contact!r} returned a force that is not finite: look at its function"
    largest = sim.reader.largest_force_sums()
    k = int(np.argmax(sums / largest))
    if sums[k] < PART_OF_SUM * largest[k] or sim.dt > sim.reader.rayleigh_step():      # then the step is the cause
        return None
    touching = (contacts["sphere_i"] == k) | (contacts["sphere_j"] == k) & (contacts["clump_j"] >= 0)
    overlap = np.max(contacts["overlap"][touching]) / sim.sphere_radii[k]
    of = f"Young's modulus of its material, {sim.materials[sim.material_index[sim.sphere_clump[k]]].young:g} Pa"
    own = law.kernels_for(sim.settings.law_values).sees_bodies
    source, remedy = (
        ("the scale of the contact law", "register the law with a larger one") if law.scale is not None else
        (f"the stiffness of contact law {sim.contact!r}", "raise it") if not own and "young" not in law.reads else
        (of, "raise young" + (", or give md.contact.register(..., scale=...) the size of the law's forces" if own else
                              ", or lower that of the bonds" if sim.settings.law_value("bonds") == "parallel" else "")))
    return (f"At step {sim.step_count} the forces of contacts on a sphere of clump {sim.sphere_clump[k]} sum up to "
            f"{sums[k]:.3g} N, with overlaps up to {overlap:.3g} of its radius {sim.sphere_radii[k]:g} m. Sums hold up "
            f"to {largest[k]:.3g} N there, which follows from {source}. If such forces are meant, {remedy}; else lower "
            f"speeds or dt ({sim.dt:g} s)")


def _cause(sim, rotation_first):
    if rotation_first:
        return (f"Its rotation has become unstable: lower dt ({sim.dt:g} s) or use another rotation scheme than "
                f"{sim.rotation!r}")
    limit = sim.reader.rayleigh_step()
    if sim.dt > limit:
        return (f"Its motion has become unstable, because dt ({sim.dt:g} s) is {sim.dt / limit:.3g} times the Rayleigh "
                f"step of the smallest sphere, too much for contacts: lower dt below {limit:.3g} s")
    forces = " or a user force" if sim.forces.functions else ""
    return f"Its motion has become unstable, by a contact{forces} that dt ({sim.dt:g} s) does not resolve: lower dt"
