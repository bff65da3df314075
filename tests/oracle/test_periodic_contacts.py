"""Contacts, forces and torques in a periodic box against brute force over all images of all spheres."""
import copy
from itertools import product

import numpy as np
import pytest
import scenes
from scenes import scattered
from scipy.spatial import cKDTree

import minidem as md
from minidem.simulation import clumps

DT, AXES = 1e-6, [axes for axes in product((False, True), repeat=3) if any(axes)]
SHAPES = {"spheres": [scenes.ball(0.05)], "rods": [scenes.rod()],
          "radii of ratio 10": [scenes.ball(0.1), scenes.ball(0.01), scenes.lumpy(scale=0.5)],
          "many-sphere clumps": [scenes.bunch(), scenes.bunch(12)]}


def brute_force(world, x, q, length, axes):
    """All pairs of spheres and images: rows (i, j, overlap), forces on i (m, 3); forces, torques on clumps (n, 3)."""
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


def assert_agrees(sim, scene, length, axes):
    rows, forces, force, torque = brute_force(scene.world(), sim.position, sim.orientation, length, axes)
    found = sim.contacts()
    assert np.array_equal(np.column_stack([found["sphere_i"], found["sphere_j"]]), rows[:, :2])
    np.testing.assert_allclose(found["overlap"], rows[:, 2], rtol=0, atol=1e-14)
    scale = max(1.0, np.abs(forces).max(initial=0.0))
    np.testing.assert_allclose(found["force"], forces, rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(sim.force, force, rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(sim.torque, torque, rtol=0, atol=1e-8 * scale)
    return len(found)


def made(seed, shapes, n, low, length, axes, **options):
    scene = scattered(seed, shapes, n, low, length, axes, tries=60 if n < 100 else 1)
    return scene, scene.simulation(DT, periodic=(low, low + length, axes), rotation="spiral", **options)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("name", SHAPES)
def test_all_axes(name, axes):
    """At the start and after steps in which lists were used again and rebuilt."""
    low, length = np.array([-0.3, 0.1, 5.0]), np.array([0.7, 0.9, 0.8])
    scene, sim = made(4, SHAPES[name], 20, low, length, axes)
    across = 0
    for steps in (0, 1, 1500):
        sim.run(steps)
        across += assert_agrees(sim, scene, length, axes)
    assert across


def test_random_boxes():
    """Boxes down to the least length: the skins exceed half of it."""
    rng, contacts = np.random.default_rng(8), 0
    for seed in range(40):
        axes = AXES[rng.integers(len(AXES))]
        shapes = list(SHAPES.values())[seed % 4]
        least = max(max(2.0 * shape.template.bounding_radius, 4.0 * shape.body.radii.max()) for shape in shapes)
        length = least * np.where(rng.random(3) < 0.3, 1.0001, rng.uniform(1.0001, 4.0, 3))
        volume = sum(shape.template.volume for shape in shapes) / len(shapes)
        n = max(2, int(0.15 * np.prod(length) / volume)) if seed % 4 < 3 else 4
        scene, sim = made(seed, shapes, min(n, 30), rng.normal(size=3), length, axes)
        sim.run(rng.integers(300))
        contacts += assert_agrees(sim, scene, length, axes)
    assert contacts > 100


def test_a_few_new_clumps_are_refused_as_many_are(monkeypatch):
    """A few are compared with all clumps and walls, for many the lists are made."""
    low, length, refused = np.array([-0.3, 0.1, 5.0]), np.array([0.7, 0.9, 0.8]), 0
    rng, trials = np.random.default_rng(5), 40
    for name in SHAPES:
        _, sim = made(4, SHAPES[name], 20, low, length, (True, True, True))
        for position in rng.uniform(low - length, low + 2.0 * length, (trials, 3)):
            answers = []
            for few in (1, 0):
                monkeypatch.setattr(clumps, "FEW", few)
                try:
                    copy.deepcopy(sim).add_clumps(sim.templates[0], position)
                    answers.append("")
                except ValueError as error:
                    answers.append(str(error))
            assert bool(answers[0]) == bool(answers[1])     # they may name different contacts
            refused += bool(answers[0])
    assert len(SHAPES) * trials / 10 < refused < len(SHAPES) * trials


@pytest.mark.parametrize("threads", [1, 3])
def test_many_clumps(threads):
    """Enough for several threads and a spatial sort; most of them are outside of the box."""
    rng, shape = np.random.default_rng(1), np.array([20, 18, 17])
    length, n = 0.102 * shape, shape.prod()
    position = 0.102 * (np.argwhere(np.ones(shape)) + 0.5) + rng.uniform(-0.003, 0.003, (n, 3))
    sim = md.Simulation(md.Material(1e9, 0.1), dt=DT, threads=threads,
                        periodic=((0.0,) * 3, length, (True, False, True)))
    sim.add_clumps(scenes.ball(0.05).template, position + length * rng.integers(-2, 3, (n, 3)) * [1, 0, 1],
                   velocity=2.0 * scenes.unit_vectors(rng, n))
    assert sim.threads == threads
    sim.run(20)
    sim.continue_from(sim.loop.sorted(), sim.loop)
    sim.run(20)
    tree = cKDTree(sim.wrapped_position % np.where([1, 0, 1], length, np.inf), boxsize=np.where([1, 0, 1], length, 0.0))
    pairs, found = tree.query_pairs(0.1, output_type="ndarray"), sim.contacts()
    assert len(pairs) > 300 and np.array_equal(np.column_stack([found["sphere_i"], found["sphere_j"]]),
                                               pairs[np.lexsort(pairs.T[::-1])])
