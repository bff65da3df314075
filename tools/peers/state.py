"""The state that a peer starts from, and the energy of a state that a peer wrote.

Arrays are in SI units and the lab frame.
"""

import numpy as np
from scipy.spatial import cKDTree

from minidem.core.quaternions import multiply, rotate
from minidem.material import effective_modulus


def clump_state(sim):
    """Initial state for a peer.

    Returns
    -------
    dict
        Per clump: ``position, velocity, angular_momentum`` (n, 3); ``velocity_before, angular_momentum_before``
        (n, 3), half a step earlier, for leapfrog codes; ``mass`` (n,); ``inertia`` (n, 3, 3) about the centre of
        mass; ``principal_orientation`` (n, 4), quaternion (w, x, y, z) from the principal frame to the lab.
        Per sphere, in the order of the clumps: ``sphere_center`` (m, 3), ``sphere_radius``, ``sphere_clump`` (m,).
        Per wall: ``wall_point, wall_normal`` (k, 3). Scalars: ``young, poisson, dt``.

    Raises
    ------
    RuntimeError
        For a periodic box.
    """
    if sim.periodic:
        raise RuntimeError(f"periodic = {sim.periodic}: the peers are run in open boxes only; leave periodic out")
    templates, index = sim.templates, sim.template_index
    principal = multiply(sim.orientation, np.array([template.orientation for template in templates])[index])
    axes = rotate(principal[:, None], np.eye(3)).swapaxes(1, 2)
    moments = np.array([template.inertia for template in templates])[index] * sim.scale[:, None] ** 5
    inertia = (axes * moments[:, None, :]) @ axes.swapaxes(1, 2)
    angular_momentum = np.einsum("nij,nj->ni", inertia, sim.angular_velocity)
    half_step = 0.5 * sim.dt
    return {"position": sim.position, "principal_orientation": principal,
            "mass": sim.mass, "inertia": inertia, "velocity": sim.velocity,
            "velocity_before": sim.velocity - half_step * sim.force / sim.mass[:, None],
            "angular_momentum": angular_momentum,
            "angular_momentum_before": angular_momentum - half_step * sim.torque,
            "sphere_center": sim.sphere_centers(), "sphere_radius": sim.sphere_radii,
            "sphere_clump": sim.sphere_clump,
            "wall_point": np.array([wall.point for wall in sim.walls]),
            "wall_normal": np.array([wall.normal for wall in sim.walls]),
            "young": sim.material.young, "poisson": sim.material.poisson, "dt": sim.dt}


def box_of(sim):
    """Corners low and high (3,) of the box formed by the six walls; RuntimeError for other walls."""
    planes = {(int(np.argmax(np.abs(wall.normal))), float(np.sum(wall.normal))): wall for wall in sim.walls}
    if len(sim.walls) != 6 or set(planes) != {(axis, sign) for axis in range(3) for sign in (1.0, -1.0)}:
        raise RuntimeError("this peer needs six walls that form a box, see minidem.box")
    low, high = ([planes[axis, sign].point[axis] for axis in range(3)] for sign in (1.0, -1.0))
    return np.array(low), np.array(high)


def total_energy(sim, mass, velocity, angular_velocity, angular_momentum, sphere_center):
    """Kinetic, rotational and elastic energy [J] of the clumps of `sim` in another state.

    mass (n,); velocity, angular_velocity, angular_momentum (n, 3); sphere_center (m, 3) in minidem's order. All
    belong to the same time. Radii, walls and material are those of `sim`.
    """
    kinetic = 0.5 * np.sum(mass * np.sum(velocity * velocity, axis=1))
    rotational = 0.5 * np.sum(angular_velocity * angular_momentum)
    return float(kinetic + rotational + elastic_energy(sim, sphere_center))


def elastic_energy(sim, center):
    """Elastic energy [J] of Hertz contacts, 8/15 E* sqrt(R*) overlap^(5/2) each; R* = R at a wall."""
    radius, clump = sim.sphere_radii, sim.sphere_clump
    i, j = cKDTree(center).query_pairs(2.0 * radius.max(), output_type="ndarray").T
    different = clump[i] != clump[j]
    i, j = i[different], j[different]
    overlaps = [radius[i] + radius[j] - np.linalg.norm(center[i] - center[j], axis=1)]
    radii = [radius[i] * radius[j] / (radius[i] + radius[j])]
    for wall in sim.walls:
        overlaps.append(radius - (center - wall.point) @ np.array(wall.normal))
        radii.append(radius)
    overlap = np.maximum(0.0, np.concatenate(overlaps))
    modulus = effective_modulus(sim.material, sim.material)
    return 8.0 / 15.0 * modulus * np.sum(np.sqrt(np.concatenate(radii)) * overlap ** 2.5)
