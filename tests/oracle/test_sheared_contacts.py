"""Contacts in periodic boxes that move, found by lists, beside brute force over all images."""
from itertools import product

import numpy as np
import pytest

import minidem as md

COUNTS = np.array(list(product(range(-2, 3), repeat=3)))          # the tilt is at most half a length


def brute_force(sim):
    """Overlaps of spheres of different clumps, of the nearest of all images, by their numbers."""
    centers, radii, clump = sim.box.wrapped(sim.sphere_centers()), sim.sphere_radii, sim.sphere_clump
    i, j = np.triu_indices(len(radii), 1)
    i, j = i[clump[i] != clump[j]], j[clump[i] != clump[j]]
    squared = np.min([np.sum((centers[i] - centers[j] - shift) ** 2, axis=1) for shift in COUNTS @ sim.box.lattice],
                     axis=0)
    return {(int(a), int(b)): d for a, b, d in zip(i, j, radii[i] + radii[j] - np.sqrt(squared)) if d > 0.0}


def assert_found(sim):
    found = {(int(c["sphere_i"]), int(c["sphere_j"])): c["overlap"] for c in sim.contacts() if c["overlap"] > 0.0}
    wanted = brute_force(sim)
    for pair in found.keys() | wanted.keys():
        assert abs(found.get(pair, 0.0) - wanted.get(pair, 0.0)) < 1e-13, pair
    return len(found)


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
        low, low + length, axes, shear=("xyz"[flow], "xyz"[gradient], rng.normal(0.0, 100.0)), rates=rates))
    for _ in range(90):
        place = low + length * (rng.random(3) + rng.integers(-2, 3, 3) * axes)
        try:
            sim.add_clumps(template, place, rng.normal(size=4), rng.normal(size=3), rng.normal(0.0, 10.0, 3))
        except ValueError as error:
            assert "overlap" in str(error)
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
        (0.0,) * 3, (0.36,) * 3, (True,) * 3, shear=None if turns else ("x", "y", 20.0)))
    for _ in range(60 if turns else 150):
        turn = rng.normal(size=4)
        try:
            sim.add_clumps(template, 0.36 * rng.random(3), turn / np.linalg.norm(turn),
                           angular_velocity=10.0 * rng.normal(size=3) * turns)
        except ValueError as error:
            assert "overlap" in str(error)
    for _ in range(20):
        sim.run(29)
        most = max(most, assert_found(sim))
    assert most > 7
