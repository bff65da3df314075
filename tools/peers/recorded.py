"""Energy of a state that a peer wrote down, for codes that do not tell it themselves."""

import numpy as np
from scipy.spatial import cKDTree

from minidem.material import effective_modulus


def total_energy(sim, mass, velocity, angular_velocity, angular_momentum, sphere_center):
    """Kinetic, rotational and elastic energy [J] of the clumps of `sim` in another state, all of one instant.

    Of the clumps: mass (n,), velocity, angular_velocity, angular_momentum (n, 3). sphere_center: (m, 3) in
    minidem's order. Radii, clumps of the spheres, walls and material are those of the simulation `sim`.
    """
    kinetic = 0.5 * np.sum(mass * np.sum(velocity * velocity, axis=1))
    rotational = 0.5 * np.sum(angular_velocity * angular_momentum)
    return float(kinetic + rotational + elastic_energy(sim, sphere_center))


def elastic_energy(sim, center):
    """Of Hertz contacts, 8/15 E* sqrt(R*) overlap^(5/2) each; R* = R at a wall [J]."""
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
