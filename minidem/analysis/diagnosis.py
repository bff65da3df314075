"""Why a simulation has left the finite numbers, and what to do; and how deep contacts are."""
import numpy as np


def rayleigh_step(material, state, first=0, end=None):
    """The Rayleigh step of the smallest sphere [s] of the clumps first <= k < end; infinite without any."""
    kind, scale = state.template_index[first:end], state.scale[first:end]
    if len(kind) == 0:
        return np.inf
    radius, density = scale * state.bodies.smallest[kind], state.bodies.density[kind]
    k = np.argmin(radius * np.sqrt(density))
    return material.rayleigh_step(float(radius[k]), float(density[k]))


def relative_overlap(contacts, radii):
    """(n,) overlaps of `contacts` over the smaller radius of the two; over the sphere's own at a wall.

    radii : (n_spheres,) [m]
    """
    smaller = radii[contacts["sphere_i"]]
    pair = contacts["sphere_j"] >= 0
    smaller[pair] = np.minimum(smaller[pair], radii[contacts["sphere_j"][pair]])
    return contacts["overlap"] / smaller


def beyond(value, limit):
    """`value`, which is above `limit`, in three digits, or as many as it takes to tell the two apart."""
    return next(text for text in (f"{value:.{digits}g}" for digits in range(3, 18)) if float(text) > limit)


def of_pose(sim):
    """Cause and remedy where the pose of a clump is not finite, found in the step in which that happened.

    Contacts are looked for after all clumps have moved. So an orientation that is lost in a step does no harm
    to positions in the same step, and what is lost tells which of the two went first.
    """
    position, orientation = (np.isfinite(sim._state.column(name)).all(axis=1) for name in ("position", "orientation"))
    if (position & orientation).all():          # an error of a scheme's own
        return f"Lower dt ({sim.dt:g} s) or take another rotation scheme than {sim.rotation!r}"
    return _cause(sim, turning=position[np.argmin(position & orientation)])


def of_energy(sim):
    """Step, clump, cause and remedy where energies are not finite, though all poses are."""
    with np.errstate(over="ignore", invalid="ignore"):
        velocity, rate = sim.velocity, sim.body_angular_velocity
        translational = 0.5 * sim.mass * np.sum(velocity ** 2, axis=1)
        kinetic = translational + 0.5 * np.sum(sim._state.column("inertia") * rate ** 2, axis=1)
        clump = int(np.argmax(np.where(np.isnan(kinetic), np.inf, kinetic)))
    return (f"step {sim.step_count} (time {sim.time:.6g} s): the energy is not finite; clump {clump} has the velocity "
            f"{np.abs(velocity[clump]).max():.3g} m/s and the angular velocity {np.abs(rate[clump]).max():.3g} rad/s. "
            + _cause(sim, turning=np.isfinite(translational[clump])))


def _cause(sim, turning):
    """turning : whether the rotation went first"""
    if turning:
        return (f"Its rotation has become unstable: lower dt ({sim.dt:g} s) or use another rotation scheme than "
                f"{sim.rotation!r}")
    limit = rayleigh_step(sim.material, sim._state)
    if sim.dt > limit:
        return (f"Its motion has become unstable, because dt ({sim.dt:g} s) is {sim.dt / limit:.3g} times the Rayleigh "
                f"step of the smallest sphere, too much for contacts: lower dt below {limit:.3g} s")
    forces = " or a force of your own" if sim.user_forces else ""
    return f"Its motion has become unstable, by a contact{forces} that dt ({sim.dt:g} s) does not resolve: lower dt"
