"""The state that a peer starts from, and the energy of a state that a peer wrote.

Arrays are in SI units and the lab frame.
"""

import numpy as np
from scipy.spatial import cKDTree

import minidem as md
from minidem.output.lammps.script import inertia_of


def clump_state(sim):
    """Initial state for a peer.

    Returns
    -------
    dict
        Per clump: ``position, velocity, angular_momentum`` (n, 3); ``velocity_before, angular_momentum_before``
        (n, 3), half a step earlier, for leapfrog codes; ``mass`` (n,); ``inertia`` (n, 3, 3) about the centre of
        mass; ``principal_orientation`` (n, 4), quaternion (w, x, y, z) from the principal frame to the lab.
        Per sphere, in the order of the clumps: ``sphere_center`` (m, 3), ``sphere_radius``, ``sphere_clump`` (m,).
        Per plane: ``wall_point, wall_normal`` (k, 3). Scalars: ``young, poisson, dt``.

    Raises
    ------
    RuntimeError
        For a periodic box.
    """
    require_open(sim)
    principal, inertia = inertia_of(sim)
    angular_momentum = np.einsum("nij,nj->ni", inertia, sim.angular_velocity)
    half_step, planes = 0.5 * sim.dt, [wall for wall in sim.walls if isinstance(wall, md.Plane)]
    return {"position": sim.position, "principal_orientation": principal,
            "mass": sim.mass, "inertia": inertia, "velocity": sim.velocity,
            "velocity_before": sim.velocity - half_step * sim.force / sim.mass[:, None],
            "angular_momentum": angular_momentum,
            "angular_momentum_before": angular_momentum - half_step * sim.torque,
            "sphere_center": sim.sphere_centers, "sphere_radius": sim.sphere_radii,
            "sphere_clump": sim.sphere_clump,
            "wall_point": np.array([wall.point for wall in planes]),
            "wall_normal": np.array([wall.normal for wall in planes]),
            "young": sim.material.young, "poisson": sim.material.poisson, "dt": sim.dt}


def require_open(sim):
    if sim.periodic:
        raise RuntimeError(f"periodic = {sim.periodic}: the peers are run in open boxes only; leave periodic out")


def box_of(sim):
    """Corners low and high (3,) of the box formed by the six walls; RuntimeError for other walls."""
    if any(wall.moves or not isinstance(wall, md.Plane) for wall in sim.walls):
        raise RuntimeError("this peer needs six walls at rest that form a box, see md.box_walls")
    planes = {(int(np.argmax(np.abs(wall.normal))), float(np.sum(wall.normal))): wall for wall in sim.walls}
    if len(sim.walls) != 6 or set(planes) != {(axis, sign) for axis in range(3) for sign in (1.0, -1.0)}:
        raise RuntimeError("this peer needs six walls that form a box, see md.box_walls")
    low, high = ([planes[axis, sign].point[axis] for axis in range(3)] for sign in (1.0, -1.0))
    return np.array(low), np.array(high)


def depth(wall, center):
    """Distances (m,) of points within a plane or a cylinder from it."""
    if isinstance(wall, md.Plane):
        return (center - wall.point) @ np.array(wall.normal)
    return wall.radius - np.linalg.norm(np.cross(center - wall.point, wall.axis), axis=1)


def total_energy(sim, mass, velocity, angular_velocity, angular_momentum, sphere_center):
    """Kinetic, rotational and elastic energy [J] of the clumps of `sim` in another state.

    mass (n,); velocity, angular_velocity, angular_momentum (n, 3); sphere_center (m, 3) in minidem's order. All
    belong to the same time. Radii, walls and materials are as in `sim`.
    """
    kinetic = 0.5 * np.sum(mass * np.sum(velocity * velocity, axis=1))
    rotational = 0.5 * np.sum(angular_velocity * angular_momentum)
    return float(kinetic + rotational + elastic_energy(sim, sphere_center))


def elastic_energy(sim, center):
    """Elastic energy [J] of Hertz contacts, 8/15 E* sqrt(R*) overlap^(5/2) each; R* = R at a wall."""
    require_open(sim)
    radius, clump, table = sim.sphere_radii, sim.sphere_clump, sim.loop.pair_table
    material, modulus = sim.material_index[clump], table.properties(["modulus"])["modulus"]
    near = cKDTree(center).query_ball_point(center, 2.0 * radius)       # of each sphere, those that are not larger
    i, j = np.repeat(np.arange(len(near)), [len(found) for found in near]), np.concatenate(near).astype(int)
    once = (clump[i] != clump[j]) & ((radius[j] < radius[i]) | (radius[j] == radius[i]) & (j < i))
    i, j = i[once], j[once]
    overlaps = [radius[i] + radius[j] - np.linalg.norm(center[i] - center[j], axis=1)]
    radii, moduli = [radius[i] * radius[j] / (radius[i] + radius[j])], [modulus[material[i], material[j]]]
    for wall, of_wall in zip(sim.walls, table.wall_index):
        overlaps.append(radius - depth(wall, center))
        radii.append(radius)
        moduli.append(modulus[material, of_wall])
    overlap, radius, modulus = (np.concatenate(parts) for parts in (overlaps, radii, moduli))
    return 8.0 / 15.0 * np.sum(modulus * np.sqrt(radius) * np.maximum(0.0, overlap) ** 2.5)
