"""Many isolated collisions in one simulation: pairs of clumps, or clumps on a wall, far apart from one another. Each is
oblique and begins at a random fraction of a step. Speeds are drawn as in a gas, like the speed of approach."""
import numpy as np
from reference_contact import rotation_matrix
from scenes import Scene, distance_to_touch, unit_vectors

import minidem as md

SPEED, SPIN = 4.0, 4.0          # of each clump [m/s], [rad/s]
STEP = 38e-6                    # [s]: a contact of two rods lasts for 34 steps
APART = 6.0                     # distance of the sites in units of the reach of a clump
DURATION = 4e-3                 # [s]: nearly all contacts have ended


def of_pairs(seed, n, target, projectile):
    """n pairs of clumps of two shapes; clumps k and n + k are a pair. They touch after 3 to 4 STEPs."""
    rng, reach = np.random.default_rng(seed), target.reach + projectile.reach
    states = []
    for site in APART * reach * lattice(n, 3):
        orientation, spin = unit_vectors(rng, 2, 4), SPIN * unit_vectors(rng, 2)
        velocity = approaching(rng)
        speed = np.linalg.norm(velocity[1] - velocity[0])
        direction = (velocity[1] - velocity[0]) / speed
        (centers, radii), (new_centers, new_radii) = (
            (shape.body.offsets @ rotation_matrix(q).T, shape.body.radii)
            for shape, q in zip((target, projectile), orientation))
        away = -np.inf
        while not np.isfinite(away):                    # a line that meets the target
            aside = rng.uniform(-reach, reach, 3)
            aside -= aside @ direction * direction
            away = distance_to_touch(centers, radii, new_centers + aside, new_radii, -direction)
        away += rng.uniform(3.0, 4.0) * STEP * speed
        states.append((np.array([site, site + aside - away * direction]), orientation, velocity, spin))
    rows = [np.concatenate([part[0::2], part[1::2]]) for part in map(np.concatenate, zip(*states))]
    return Scene([target] * n + [projectile] * n, *rows)


def on_wall(seed, n, shape):
    """n clumps that fly onto one oblique wall, whose material is ten times stiffer."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    normal, orientation = axes[0], unit_vectors(rng, n, 4)
    cosine, angle = -np.sqrt(rng.random(n)), rng.uniform(0.0, 2.0 * np.pi, n)
    sine = np.sqrt(1.0 - cosine**2)
    velocity = SPEED * np.column_stack([cosine, sine * np.cos(angle), sine * np.sin(angle)]) @ axes
    lowest = np.min(np.einsum("nij,sj->nsi", rotation_matrix(orientation), shape.body.offsets) @ normal
                    - shape.body.radii, axis=1)
    height = -lowest - rng.uniform(3.0, 4.0, n) * STEP * (velocity @ normal)
    position = APART * shape.reach * lattice(n, 2) @ axes[1:] + np.outer(height, normal)
    return Scene([shape] * n, position, orientation, velocity, SPIN * unit_vectors(rng, n),
                 [md.Plane([0.0] * 3, normal, material=md.Material(young=1e10, poisson=0.3))])


def lattice(n, dimensions):
    side = int(np.ceil(n ** (1 / dimensions)))
    return np.argwhere(np.ones((side,) * dimensions))[:n].astype(float)


def approaching(rng):
    """Velocities of two clumps in random directions; rejection makes their frequency proportional to |v_1 - v_0|."""
    while True:
        velocity = SPEED * unit_vectors(rng, 2)
        if 2.0 * SPEED * rng.random() < np.linalg.norm(velocity[1] - velocity[0]):
            return velocity


def energy_errors(scene, dt, contact, rotation="spiral"):
    """(n,) Change of the energy of each pair, or clump on the wall, over the kinetic energy; NaN if in contact."""
    sim = scene.simulation(dt, contact=contact, rotation=rotation)
    n = sim.n_clumps if scene.walls else sim.n_clumps // 2
    before, potential = energies(sim, n)
    sim.run(round(DURATION / dt))
    error = (sum(energies(sim, n)) - (before + potential)) / before
    error[sim.contacts()["clump_i"] % n] = np.nan
    return error


def energies(sim, n):
    """Kinetic and potential energy, (n,) each, of the clumps k, k + n, ... together."""
    inertia = np.array([template.inertia for template in sim.templates])[sim.template_index]
    kinetic = 0.5 * sim.mass * (sim.velocity**2).sum(1) + 0.5 * (inertia * sim.body_angular_velocity**2).sum(1)
    return [each.reshape(-1, n).sum(0) for each in (kinetic, -sim.mass * (sim.position @ sim.gravity))]
