"""Checks of a start, and the likely cause of a non-finite state."""
import warnings

import numpy as np

DEEPEST_START = 0.1     # largest overlap of a start, relative to the smaller radius


class DeepOverlap(ValueError):
    """A start with an overlap above DEEPEST_START."""


def rayleigh_step(loop, first=0, end=None):
    """The smallest Rayleigh step [s] of the spheres of the clumps first <= k < end; infinite without any."""
    state, least = loop.state, np.inf
    template, scale = state.template_index[first:end], state.scale[first:end]
    radius, density = scale * state.bodies.smallest[template], state.bodies.density[template]
    of_unit = radius * np.sqrt(density)
    for index, material in enumerate(loop.pair_table.materials):
        mine = np.flatnonzero(state.material_index[first:end] == index)
        if len(mine):
            k = mine[np.argmin(of_unit[mine])]
            least = min(least, material.rayleigh_step(float(radius[k]), float(density[k])))
    return least


def relative_overlap(contacts, radii):
    """(n,) overlaps of `contacts` over the smaller radius of the two spheres; at a wall over the sphere's radius.

    radii : (n_spheres,) [m]
    """
    smaller = radii[contacts["sphere_i"]]
    pair = contacts["sphere_j"] >= 0
    smaller[pair] = np.minimum(smaller[pair], radii[contacts["sphere_j"][pair]])
    return contacts["overlap"] / smaller


def format_above(value, limit):
    """`value`, which exceeds `limit`, with three digits, or as many as show the difference."""
    return next(text for text in (f"{value:.{digits}g}" for digits in range(3, 18)) if float(text) > limit)


def refuse_deep_overlaps(contacts, state, first):
    """Raise DeepOverlap for a contact of a clump from number `first` on with an overlap above DEEPEST_START."""
    relative = relative_overlap(contacts, state.spheres[:, :, 3].reshape(-1).take(state.sphere_slot))
    for contact, part in zip(contacts[relative > DEEPEST_START], relative[relative > DEEPEST_START]):
        i, j = int(contact["clump_i"]), int(contact["clump_j"])
        if max(i, j) >= first:
            other = f"clump {j}" if j >= 0 else f"wall {-1 - j}"
            raise DeepOverlap(
                f"position of clump {i}: it overlaps {other} by {contact['overlap']:.6g} m at the start, "
                f"{format_above(part, DEEPEST_START)} of the smaller radius; the limit is {DEEPEST_START:g}. Move them "
                "apart")


def warn_of_large_step(sim, loop, first):
    """Warn if the step is above the Rayleigh step of a clump of `loop` from number `first` on, and of none before.

    Without regard to a contact law that does not depend on the elastic constants.
    """
    limit = rayleigh_step(loop, first)
    if "young" in sim._law.reads and limit < min(sim.dt, rayleigh_step(loop, 0, first)):
        warnings.warn(f"dt = {sim.dt:g} s is above the Rayleigh step {limit:g} s of the smallest sphere: contacts may "
                      "not be resolved; watch the energy, or lower dt", UserWarning, stacklevel=4)


def explain_pose(sim):
    """Likely cause and remedy of a non-finite pose, called in the step in which it occurred.

    Contacts are evaluated after all clumps have moved. A non-finite orientation therefore cannot affect positions
    within the same step, and the quantity that is non-finite shows which of the two was first.
    """
    position, orientation = (np.isfinite(sim._state.column(name)).all(axis=1) for name in ("position", "orientation"))
    if (position & orientation).all():          # an error raised by a scheme itself
        return f"Lower dt ({sim.dt:g} s) or take another rotation scheme than {sim.rotation!r}"
    return _cause(sim, rotation_first=position[np.argmin(position & orientation)])


def explain_energy(sim):
    """Step, clump, likely cause and remedy of non-finite energies with finite poses."""
    with np.errstate(over="ignore", invalid="ignore"):
        velocity, rate = sim.velocity, sim.body_angular_velocity
        translational = 0.5 * sim.mass * np.sum(velocity ** 2, axis=1)
        kinetic = translational + 0.5 * np.sum(sim._state.column("inertia") * rate ** 2, axis=1)
        clump = int(np.argmax(np.where(np.isnan(kinetic), np.inf, kinetic)))
    return (f"step {sim.step_count} (time {sim.time:.6g} s): the energy is not finite; clump {clump} has the velocity "
            f"{np.abs(velocity[clump]).max():.3g} m/s and the angular velocity {np.abs(rate[clump]).max():.3g} rad/s. "
            + _cause(sim, rotation_first=np.isfinite(translational[clump])))


def _cause(sim, rotation_first):
    if rotation_first:
        return (f"Its rotation has become unstable: lower dt ({sim.dt:g} s) or use another rotation scheme than "
                f"{sim.rotation!r}")
    limit = rayleigh_step(sim._loop)
    if sim.dt > limit:
        return (f"Its motion has become unstable, because dt ({sim.dt:g} s) is {sim.dt / limit:.3g} times the Rayleigh "
                f"step of the smallest sphere, too much for contacts: lower dt below {limit:.3g} s")
    forces = " or a user force" if sim.user_forces else ""
    return f"Its motion has become unstable, by a contact{forces} that dt ({sim.dt:g} s) does not resolve: lower dt"
