"""Systems in a periodic box, and brute force over the images of their spheres."""
from itertools import product

import numpy as np
from scenes import Scene, unit_vectors

AXES = [axes for axes in product((False, True), repeat=3) if any(axes)]


def scattered(seed, shapes, n, low, length, axes, speed=2.0, spin=4.0, tries=1, **options):
    """n clumps in turn of several shapes at random in a box, apart or in contact by up to 0.09 of a radius, the closest
    of `tries`; fewer where the box is full. Centres may be up to two lengths outside along periodic axes."""
    rng = np.random.default_rng(seed)
    chosen = [shapes[k % len(shapes)] for k in range(n)]
    scene = Scene(chosen, np.zeros((n, 3)), unit_vectors(rng, n, 4), speed * unit_vectors(rng, n),
                  spin * unit_vectors(rng, n), **options)
    depth, periodic = 0.09 * min(shape.body.radii.min() for shape in shapes), np.array(axes)
    placed, radii = np.empty((0, 3)), np.empty(0)
    world = scene.world()
    around = world.sphere_centers(scene.position, scene.orientation)
    for k in range(n):
        mine = world.owner == k
        best, position = np.inf, None
        for attempt in range(300):
            new = low + rng.uniform(0.0, 1.0, 3) * length
            d = around[mine][:, None] + new - placed
            d -= np.where(periodic, length * np.round(d / length), 0.0)
            gap = (np.linalg.norm(d, axis=2) - world.radii[mine][:, None] - radii).min(initial=1e9)
            if -depth < gap < best:
                best, position = gap, new
            if position is not None and attempt >= tries - 1:
                break
        if position is None:
            return scene.part(np.arange(k))
        new = position
        placed, radii = np.vstack([placed, around[mine] + new]), np.append(radii, world.radii[mine])
        scene.position[k] = new + np.where(periodic, length * rng.integers(-2, 3, 3), 0.0)
    return scene


def brute_force(world, x, q, length, axes):
    """Contacts of all pairs of spheres and all images: rows (i, j, overlap), forces (m, 3) on i, and (n, 3) forces and
    torques on the clumps."""
    c, radii = world.sphere_centers(x, q), world.radii
    (i, j), found = world.pairs, []
    near = c[i] - c[j]
    near -= np.where(axes, length * np.round(near / length), 0.0)
    for shift in product(*([-1, 0, 1] if axis else [0] for axis in axes)):
        d = near + shift * length
        squared = np.sum(d * d, axis=1)
        hits = np.flatnonzero(squared < (radii[i] + radii[j]) ** 2)
        found += [(i[k], j[k], radii[i[k]] + radii[j[k]] - np.sqrt(squared[k]), world.pair_factor[k],
                   *(d[k] / np.sqrt(squared[k]))) for k in hits]
    rows = np.array(sorted(found)).reshape(-1, 7)
    forces = (rows[:, 3] * rows[:, 2] ** 1.5)[:, None] * rows[:, 4:]
    force, torque = np.zeros_like(x), np.zeros_like(x)
    for spheres, sign in zip(rows[:, :2].astype(int).T, (1.0, -1.0)):
        clump = world.owner[spheres]
        np.add.at(force, clump, sign * forces)
        np.add.at(torque, clump, np.cross(c[spheres] - x[clump], sign * forces))
    return rows[:, :3], forces, force, torque
