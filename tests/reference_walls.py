"""Distances from triangles, for comparison with the walls of minidem: the minimum over face, edges and corners."""
import numpy as np
from scipy.spatial.transform import Rotation

import minidem as md

MATERIAL = md.Material(young=1e7, poisson=0.2)
FRICTION = md.Material(young=1e7, poisson=0.2, restitution=0.8, friction=0.4, rolling_friction=0.05)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [1.0], density=2500.0)         # for add_clumps(..., scale=radius)
MINDLIN, ROLLING = "hertz-mindlin", "hertz-mindlin:rolling=epsd"
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
                       [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])


def nearest_points(corners, points):
    """Of triangles (m, 3, 3), nearest to points (n, 3): (n, m, 3)."""
    a, b, c = corners[None, :, 0], corners[None, :, 1], corners[None, :, 2]
    p = points[:, None]
    found = [_on_segment(*ends, p) for ends in ((a, b), (b, c), (c, a))]
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    foot = p - np.sum((p - a) * normal, axis=-1, keepdims=True) * normal
    inside = np.all([np.sum(np.cross(t - s, foot - s) * normal, axis=-1) > 0.0 for s, t in ((a, b), (b, c), (c, a))],
                    axis=0)
    found.append(np.where(inside[..., None], foot, np.inf))
    found = np.stack(found)
    best = np.argmin(np.linalg.norm(found - p, axis=-1), axis=0)
    return np.take_along_axis(found, best[None, ..., None], axis=0)[0]


def distances(corners, points):
    return np.linalg.norm(nearest_points(corners, points) - points[:, None], axis=-1)


def _on_segment(a, b, p):
    part = np.sum((p - a) * (b - a), axis=-1) / np.sum((b - a)**2, axis=-1)
    return a + np.clip(part, 0.0, 1.0)[..., None] * (b - a)


def turned(points, center, vector):
    return np.asarray(center) + Rotation.from_rotvec(vector).apply(np.asarray(points) - center)


def simulation(walls, contact=MINDLIN, dt=1e-5, material=None, **options):
    default = FRICTION if md.contact.info(contact).reads_of_pairs else MATERIAL
    return md.Simulation(material or default, walls, contact=contact, dt=dt, **options)


def plate(n, low=-1.0, high=1.0, seed=1, height=0.0, jitter=0.35):
    """n x n squares of two random coplanar triangles, both orientations."""
    rng, cell = np.random.default_rng(seed), (high - low) / n
    x = np.stack(np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"), axis=-1).astype(float)
    x[1:-1, 1:-1] += rng.uniform(-jitter, jitter, (n - 1, n - 1, 2))
    points = np.column_stack([low + cell * x.reshape(-1, 2), np.full((n + 1)**2, height)])
    triangles = []
    for i in range(n):
        for j in range(n):
            a, b, c, d = (i * (n + 1) + j, (i + 1) * (n + 1) + j, (i + 1) * (n + 1) + j + 1, i * (n + 1) + j + 1)
            for triangle in ((a, b, c), (a, c, d)) if rng.random() < 0.5 else ((a, b, d), (b, c, d)):
                triangles.append(triangle if rng.random() < 0.5 else triangle[::-1])
    return points, np.array(triangles)


def facets(n, radius=1.0, length=2.0, rows=4):
    """A cylinder about z of n facets, each of 2 * rows triangles; corners at `radius`."""
    angle = 2.0 * np.pi * np.arange(n) / n
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.concatenate([np.column_stack([ring, np.full(n, z)])
                             for z in np.linspace(-0.5 * length, 0.5 * length, rows + 1)])
    k, row = (a.ravel() for a in np.meshgrid(np.arange(n), n * np.arange(rows)))
    a, b = row + k, row + (k + 1) % n
    return points, np.concatenate([np.column_stack([a, b, b + n]), np.column_stack([a, b + n, a + n])])
