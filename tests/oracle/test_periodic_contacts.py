"""Contacts, forces and torques in periodic boxes, at rest and moving, against brute force over all images."""
import copy
from itertools import product

import numpy as np
import pytest
import scenes
from scenes import scattered

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


# --- Boxes that move, with contacts that lists find.

COUNTS = np.array(list(product(range(-2, 3), repeat=3)))          # the tilt is at most half a length


def nearest_images(sim):
    """Overlaps of spheres of different clumps, of the nearest of all images, by their numbers."""
    centers, radii, clump = sim.box.wrapped(sim.sphere_centers), sim.sphere_radii, sim.sphere_clump
    i, j = np.triu_indices(len(radii), 1)
    i, j = i[clump[i] != clump[j]], j[clump[i] != clump[j]]
    squared = np.min([np.sum((centers[i] - centers[j] - shift) ** 2, axis=1) for shift in COUNTS @ sim.box.lattice],
                     axis=0)
    return {(int(a), int(b)): d for a, b, d in zip(i, j, radii[i] + radii[j] - np.sqrt(squared)) if d > 0.0}


def assert_found(sim):
    found = {(int(c["sphere_i"]), int(c["sphere_j"])): c["overlap"] for c in sim.contacts() if c["overlap"] > 0.0}
    wanted = nearest_images(sim)
    for pair in found.keys() | wanted.keys():
        assert abs(found.get(pair, 0.0) - wanted.get(pair, 0.0)) < 1e-13, pair
    return len(found)


def add_if_there_is_room(sim, *clump, **motion):
    try:
        sim.add_clumps(*clump, **motion)
    except ValueError as error:
        assert "overlap" in str(error)


def scene(seed):
    """Clumps of 1 to 12 spheres at random places and images in a short box of random lengths, shear and rates."""
    rng, n_spheres = np.random.default_rng(seed), (1, 3, 5, 12)[seed % 4]
    x = np.linspace(-0.04, 0.04, n_spheres) if n_spheres > 1 else np.zeros(1)
    template = md.ClumpTemplate(np.column_stack([x, 0 * x, 0 * x]), [0.02] * n_spheres, density=2500.0)
    flow, gradient, third = rng.permutation(3)
    length = np.maximum(rng.uniform(2.05 * template.bounding_radius, 0.5, 3), 0.0801)
    length[gradient] = max(length[gradient], 0.1201)
    rates, axes, low = np.where(rng.random(3) < 0.4, rng.normal(0.0, 1.5, 3), 0.0), [True] * 3, rng.normal(size=3)
    length = np.where(rates < 0.0, 1.5 * length, length)
    if rng.random() < 0.3:
        axes[third], rates[third] = False, 0.0
    contact, values = (("hertz", {}), ("hertz-mindlin", {"restitution": 0.7, "friction": 0.5}))[seed // 4 % 2]
    sim = md.Simulation(md.Material(4e5, 0.3, **values), dt=2e-5, contact=contact, periodic=md.PeriodicBox(
        low, low + length, axes=axes, shear=("xyz"[flow], "xyz"[gradient], rng.normal(0.0, 100.0)), rates=rates))
    for _ in range(90):
        place = low + length * (rng.random(3) + rng.integers(-2, 3, 3) * axes)
        add_if_there_is_room(sim, template, place, rng.normal(size=4), velocity=rng.normal(size=3),
                             angular_velocity=rng.normal(0.0, 10.0, 3))
    return sim, rng


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 32))])
def test_contacts_of_all_images(seed):
    sim, rng = scene(seed)
    for _ in range(5):
        sim.run(int(rng.integers(1, 700)))
        assert_found(sim)


@pytest.mark.parametrize("motion", ["rotation", "strain"])
def test_lists_follow_a_motion_alone(motion):
    """Heavy rods that turn about centres at rest; heavy balls at rest in the flow of a box that is sheared."""
    turns, rng, most = motion == "rotation", np.random.default_rng(3), 0
    x = np.array([-0.08, -0.04, 0.0, 0.04, 0.08]) if turns else np.zeros(1)
    template = md.ClumpTemplate(np.column_stack([x, 0 * x, 0 * x]), [0.02] * len(x), density=1e9)
    sim = md.Simulation(md.Material(1.0, 0.3), dt=2e-4, periodic=md.PeriodicBox(
        (0.0,) * 3, (0.36,) * 3, axes=(True,) * 3, shear=None if turns else ("x", "y", 20.0)))
    for _ in range(60 if turns else 150):
        turn, spin = rng.normal(size=4), 10.0 * rng.normal(size=3) * turns
        add_if_there_is_room(sim, template, 0.36 * rng.random(3), turn / np.linalg.norm(turn), angular_velocity=spin)
    for _ in range(20):
        sim.run(29)
        most = max(most, assert_found(sim))
    assert most > 7
