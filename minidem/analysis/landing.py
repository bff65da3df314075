"""What a clump bears when it lies flat: the springs of all spheres that then touch a plane act at once."""
from functools import lru_cache

import numpy as np
import scipy

from minidem.core.quaternions import cross
from minidem.core.rows import unique_rows

RELATIVE = 1 / 64       # overlap over the smallest radius, at which a step of sqrt(m/k) of a sphere is about Rayleigh's
CORNERS = np.concatenate([np.eye(3), -np.eye(3)])       # of an octahedron in a sphere


def flat_rate(sim, reader, first):
    """The largest root of stiffness over mass [1/s] of a clump from number `first` on that lies flat, and the clump.

    At an overlap of RELATIVE; the stiffness is that with the stiffest material. (0, -1) where dt is below that for
    certain, and for laws in Python.
    """
    law, values, found = sim.settings.law, sim.settings.law_values, (0.0, -1)
    if law.kernels_for(values).functions:
        return found
    pair, moved = reader.pair_properties(), first + np.flatnonzero(~reader.immovable()[first:])
    kinds = np.column_stack([reader.template_index, reader.material_index])[moved]
    order = np.argsort(reader.scale[moved], kind="stable")
    for k in moved[order[unique_rows(kinds[order])[1]]]:       # the smallest of each kind
        template, scale = reader.templates[reader.template_index[k]], reader.scale[k]
        overlap = RELATIVE * scale * template.radii.min()

        def stiffness(radius):
            forces = law.normal_force(overlap, scale * radius, pair, values)
            return law.power * np.nanmax(forces[reader.material_index[k]]) / overlap

        if len(template.radii) > 1 or law.power == 1.0 or "young" not in law.reads:     # else Rayleigh's step says it
            largest = stiffness(template.radii.max()) / scale ** 3
            if largest * sphere_mobility(template).sum() * sim.dt ** 2 > 1.0:
                sizes, size = np.unique(template.radii, return_inverse=True)
                parts = np.array([stiffness(radius) for radius in sizes]) / scale ** 3
                found = max(found, (np.sqrt(flat_mobility(template, tuple(parts), law.power)), k))
    return found


@lru_cache(maxsize=1024)
def sphere_mobility(template):
    """(k,) largest acceleration along the force of a sphere's centre, per force on the sphere [1/kg].

    1/m + (c x n) I^-1 (c x n), with the centre c from the clump's centre of mass, for the worst direction n.
    """
    arms = cross(template.offsets[:, None], np.eye(3)[None])        # rows: c x e_k
    return 1.0 / template.mass + np.linalg.eigvalsh(arms / template.inertia @ arms.transpose(0, 2, 1))[:, -1]


@lru_cache(maxsize=64)
def flat_mobility(template, stiffness, power):
    """Largest eigenvalue of M^-1 K over all faces, K of the spheres that overlap with a plane below the face.

    stiffness : of each different radius, at an overlap of RELATIVE
    """
    normal, reach = faces(template), RELATIVE * template.radii.min()
    height = template.offsets @ normal.T + template.radii[:, None]
    depth = np.maximum(reach - (height.max(axis=0) - height), 0.0) / reach
    sphere, face = np.nonzero(depth)
    springs = np.array(stiffness)[np.unique(template.radii, return_inverse=True)[1]][sphere] \
        * depth[sphere, face] ** (power - 1.0)
    lever = cross(template.offsets[sphere], normal[face])
    rows = np.hstack([normal[face] / np.sqrt(template.mass), lever / np.sqrt(template.inertia)])
    matrix = np.zeros((len(normal), 6, 6))
    np.add.at(matrix, face, springs[:, None, None] * rows[:, :, None] * rows[:, None])
    return np.linalg.eigvalsh(matrix)[:, -1].max()


def faces(template):
    """(n, 3) outward normals of the planes that touch a clump at three spheres, or along an edge; principal frame."""
    centers, radii = template.offsets, template.radii
    points = (centers[:, None] + radii[:, None, None] * CORNERS).reshape(-1, 3)
    hull = scipy.spatial.ConvexHull(points / np.ptp(points), qhull_options="QJ")
    ends, normal = hull.simplices // len(CORNERS), hull.equations[:, :3]
    sides = centers[ends[:, 1:]] - centers[ends[:, :1]]                     # n . side = difference of the radii
    taller, inverse = radii[ends[:, :1]] - radii[ends[:, 1:]], np.linalg.pinv(sides, rcond=1e-9)
    for _ in range(4):                                                      # from the octahedra to the spheres
        normal = normal - (inverse @ (sides @ normal[:, :, None] - taller[:, :, None]))[:, :, 0]
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return unique_rows(np.round(normal, 9))[0]
