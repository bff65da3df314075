"""Contacts, forces, torques and elastic energy of a Simulation against a plain loop over all pairs of spheres."""
import numpy as np
import pytest
import scenes
from reference_contact import rotation_matrix
from scenes import Scene, distance_to_touch, unit_vectors
from scipy.spatial import cKDTree

import minidem as md

EPS = np.finfo(float).eps
DT = 1e-6
MATERIALS = [None, md.Material(young=2e11, poisson=0.3), md.Material(young=1e6, poisson=0.49)]
CLUMP_MATERIALS = [md.Material(young=1e9, poisson=0.1), md.Material(young=1e8, poisson=-0.4), MATERIALS[2]]


def heap(seed, shapes, n, n_walls=0, center=(0.0, 0.0, 0.0), speed=2.0, by_kind=True, mixed=False):
    """n clumps of random shapes, each moved in from a random side until it touches the heap and pressed in by up to
    0.09 of the smallest radius; walls that cut off as much; with `mixed`, of three materials."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(len(shapes), size=n)
    chosen = [shapes[k] for k in (np.sort(kinds) if by_kind else kinds)]
    depth = 0.09 * min(shape.body.radii.min() for shape in shapes)
    orientation, position = unit_vectors(rng, n, 4), np.zeros((n, 3))
    centers, radii = np.empty((0, 3)), np.empty(0)
    for k in rng.permutation(n):
        offsets, own_radii = chosen[k].body.offsets @ rotation_matrix(orientation[k]).T, chosen[k].body.radii
        if len(centers):
            direction, target = unit_vectors(rng, 1)[0], centers[rng.integers(len(centers))]
            away = distance_to_touch(centers, radii, offsets + target, own_radii, direction)
            position[k] = target + (away - depth * rng.uniform()) * direction
        centers, radii = np.vstack([centers, offsets + position[k]]), np.concatenate([radii, own_radii])
    walls = []
    for _ in range(n_walls):
        normal = unit_vectors(rng, 1)[0]
        lowest = np.min(centers @ normal - radii)
        walls.append(md.Plane((lowest + depth * rng.uniform()) * normal + center, normal,
                              material=MATERIALS[rng.integers(len(MATERIALS))]))
    return Scene(chosen, position + center, orientation, speed * unit_vectors(rng, n),
                 speed / max(shape.reach for shape in shapes) * unit_vectors(rng, n), walls,
                 materials=[CLUMP_MATERIALS[k] for k in rng.integers(3, size=n)] if mixed else None)


def centre_errors(sim, scene):
    """(n,) By how much sphere centres may differ between two programs: a few eps of the coordinates, and of |q|."""
    reach = np.array([shape.reach for shape in scene.shapes])
    walls = max([np.max(np.abs(wall.point)) for wall in scene.walls], default=0.0)
    coordinate = np.max(np.abs(sim.position), axis=1) + reach + walls
    return 8 * EPS * coordinate + 2 * reach * np.abs(np.linalg.norm(sim.orientation, axis=1) - 1)


def per_clump(values, exact, which, n):
    """Sum over the contacts `which` of a clump, on either side."""
    total = np.zeros(n)
    for clump in (exact.clump_i[which], exact.clump_j[which]):
        np.add.at(total, clump[clump >= 0], values[clump >= 0])
    return total


def assert_agrees(sim, scene):
    """All contacts and resultants equal the oracle's, to the round-off of coordinates. Errors `off` of both centres
    change the force by stiffness * off and in direction by off / distance; shallower contacts may be missing."""
    world, n = scene.world(), len(scene.shapes)
    exact, found = world.forces(sim.position, sim.orientation), sim.contacts()
    error = centre_errors(sim, scene)
    assert np.all((found["sphere_j"] < 0) | (found["sphere_i"] < found["sphere_j"]))
    pairs = list(zip(found["sphere_i"].tolist(), found["sphere_j"].tolist()))
    exact_pairs = list(zip(exact.sphere_i.tolist(), exact.sphere_j.tolist()))
    both = sorted(set(pairs) & set(exact_pairs))
    assert len(set(pairs)) == len(pairs), "a contact is listed twice"
    assert np.array_equal(found["clump_i"], world.owner[found["sphere_i"]])
    def off(clump_i, clump_j):
        return error[clump_i] + error[np.where(clump_j < 0, clump_i, clump_j)]
    for program, listed, overlap, *clumps in (
            ("the oracle", pairs, found["overlap"], found["clump_i"], found["clump_j"]),
            ("minidem", exact_pairs, exact.overlap, exact.clump_i, exact.clump_j)):
        alone = ~np.isin(np.arange(len(listed)), [listed.index(pair) for pair in both])
        assert np.all(overlap[alone] < off(*clumps)[alone]), f"{program} misses {np.array(listed)[alone]}"

    which = np.array([exact_pairs.index(pair) for pair in both], dtype=int)
    ours = found[[pairs.index(pair) for pair in both]]
    off_pair = off(exact.clump_i[which], exact.clump_j[which])
    size, distance = np.linalg.norm(exact.pair_force[which], axis=1), world.radii[exact.sphere_i[which]]
    force_error = exact.stiffness[which] * off_pair + size * (2 * off_pair / distance + 16 * EPS)
    assert np.array_equal(ours["clump_j"], exact.clump_j[which])
    assert np.all(np.abs(ours["overlap"] - exact.overlap[which]) <= off_pair)
    assert np.all(np.linalg.norm(ours["force"] - exact.pair_force[which], axis=1) <= force_error)
    energy_error = size * off_pair + 16 * EPS * ours["energy"]
    assert np.all(np.abs(ours["energy"] - exact.pair_energy[which]) <= energy_error)
    assert_well_formed(found, sim.sphere_centers[found["sphere_i"]], world.radii[found["sphere_i"]],
                       off(found["clump_i"], found["clump_j"]))

    reach = np.array([shape.reach for shape in scene.shapes])
    unseen = exact.stiffness.max(initial=0.0) * error
    allowed = per_clump(force_error, exact, which, n) + unseen
    assert np.all(np.linalg.norm(sim.force - exact.force, axis=1) <= allowed)
    allowed = allowed * reach + per_clump(size, exact, which, n) * (error + 16 * EPS * reach)
    assert np.all(np.linalg.norm(sim.torque - exact.torque, axis=1) <= allowed)
    assert abs(sim.energy().elastic - exact.pair_energy.sum()) <= np.sum(energy_error) + np.sum(unseen * error)
    return len(found)


def assert_well_formed(contacts, centers, radii, off):
    """Unit normals, forces that repel along them, points on the line of centres between the two surfaces."""
    normal, force = contacts["normal"], contacts["force"]
    size = np.linalg.norm(force, axis=1)
    assert np.all(np.abs(np.linalg.norm(normal, axis=1) - 1) < 8 * EPS)
    assert np.all(np.abs((force * normal).sum(1) - size) <= 8 * EPS * size)
    below = ((centers - contacts["point"]) * normal).sum(1)                 # the centre
    aside = np.linalg.norm(centers - contacts["point"] - below[:, None] * normal, axis=1)
    assert np.all((radii - contacts["overlap"] - off <= below) & (below <= radii + off)) and np.all(aside <= off)


def several_sizes(largest_ratio):
    return [scenes.rod(), scenes.lumpy(), scenes.ball(0.05), scenes.ball(0.05 / largest_ratio),
            scenes.rod(scale=0.3), scenes.lumpy(scale=2.0)]


CHAIN = scenes.Shape(np.outer(np.linspace(-1, 1, 41), [1.0, 0.5, -0.3]), np.full(41, 0.05))
CASES = {
    "rods": dict(shapes=[scenes.rod()], n=150), "rods and walls": dict(shapes=[scenes.rod()], n=150, n_walls=4),
    "many templates": dict(shapes=[scenes.lumpy(scale=s) for s in np.linspace(0.5, 1.5, 12)], n=120, n_walls=3),
    "templates in turn": dict(shapes=[scenes.rod(), scenes.lumpy()], n=40, n_walls=2, by_kind=False),
    "several materials": dict(shapes=[scenes.rod(), scenes.lumpy()], n=100, n_walls=4, mixed=True),
    "radii of ratio 20": dict(shapes=several_sizes(20.0), n=120, n_walls=2),
    "negative coordinates": dict(shapes=several_sizes(5.0), n=100, n_walls=2, center=(-31.0, -0.4, -7.7)),
    "many-sphere clumps": dict(shapes=[scenes.bunch(), scenes.bunch(12), scenes.bunch(scale=0.4)], n=60, n_walls=2),
    "long clumps over many cells": dict(shapes=[CHAIN, scenes.ball(0.05)], n=40, n_walls=2)}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("steps", [0, 1, 60, 1000])
def test_heap(name, steps):
    """At the start, and after steps in which lists of neighbours were used again and renewed."""
    scene = heap(seed=7, **CASES[name])
    sim = scene.simulation(DT)
    sim.run(steps)
    contacts = assert_agrees(sim, scene)
    if steps <= 1:
        assert contacts >= len(scene.shapes) - 1


def test_renewed_lists():
    """Fast clumps of a box cross each other's neighbourhood many times; compared again and again on the way."""
    scene = scenes.packed_rods(5, (3, 5, 5), speed=20.0, spin=50.0)
    sim, seen = scene.simulation(38e-6), []
    sim.run(3000, every=150, callback=lambda sim: seen.append(assert_agrees(sim, scene)))
    assert len(seen) == 20 and sum(seen) > 100
    assert np.median(np.linalg.norm(sim.position - scene.position, axis=1)) > scenes.ROD_RADIUS


@pytest.mark.parametrize("distance", [1e3, 1e9])
def test_distant_sphere(distance):
    """One sphere far away, as after a blow-up or through an open side, changes nothing for the others."""
    near, ball = heap(3, [scenes.rod(), scenes.lumpy()], 60), scenes.ball(0.03)
    runaway = [distance, -distance, 0.3 * distance], [1.0, 0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    scene = Scene(near.shapes + [ball], *[np.vstack([a, b]) for a, b in zip(near.state, runaway)])
    sims = [s.simulation(DT) for s in (near, scene)]
    for steps in (0, 500):
        for sim in sims:
            sim.run(steps)
        assert_agrees(sims[1], scene)
        assert np.array_equal(sims[0].position, sims[1].position[:-1])
        assert np.array_equal(sims[0].torque, sims[1].torque[:-1])


def test_random_heaps():
    shapes, rng = several_sizes(20.0), np.random.default_rng(3)
    for seed in range(40):
        chosen = rng.permutation(len(shapes))[:rng.integers(1, len(shapes) + 1)]
        scene = heap(seed, [shapes[k] for k in np.sort(chosen)], rng.integers(1, 13), rng.integers(4),
                     rng.choice([0.0, 1.0, 1e3]) * rng.uniform(-1.0, 1.0, 3), rng.choice([0.0, 2.0, 100.0]))
        sim = scene.simulation(DT)
        sim.run(rng.integers(300))
        assert_agrees(sim, scene)


SMALL, BIG = 0.01, 0.5          # radii [m]


def crowd(threads):
    """4000 small spheres of two sizes around three large ones; 1 m/s at most along each axis, no walls."""
    rng, large = np.random.default_rng(1), 1.1 * (0.5 + np.argwhere(np.ones((2, 2, 2)))[:3])
    room = 2.4 * SMALL * (0.5 + np.argwhere(np.ones((105, 105, 105))))
    away = cKDTree(large).query(room)[0] - BIG
    next_to_them = room[np.argsort(away, kind="stable")][np.count_nonzero(away <= 1.4 * SMALL):][:4000]
    small = next_to_them + 0.19 * SMALL * rng.uniform(-1.0, 1.0, (4000, 3))
    sim = md.Simulation(md.Material(young=1e8, poisson=0.2), dt=2e-5, threads=threads)
    for radius, position in (SMALL, small[::2]), (0.3 * SMALL, small[1::2]), (BIG, large):
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [radius], 2500.0), position,
                       velocity=rng.uniform(-1.0, 1.0, (len(position), 3)))
    return sim


@pytest.mark.parametrize("threads", [1, 2])
def test_few_large_spheres(threads, monkeypatch):
    """They touch many small spheres each after a while; three grids."""
    monkeypatch.setattr("minidem.loop.bare_loop.SPHERES_PER_THREAD", 1)
    sim = crowd(threads)
    assert sim.threads == threads
    larger = np.array([(i, j) for j in range(4000, sim.n_spheres) for i in range(j)])
    of_giants = 0
    for _ in range(5):
        sim.run(200)
        centre, radius = sim.sphere_centers, sim.sphere_radii
        close = cKDTree(centre[:4000]).query_pairs(2.0 * SMALL, output_type="ndarray")
        i, j = np.concatenate([close, larger]).T
        overlap = radius[i] + radius[j] - np.linalg.norm(centre[i] - centre[j], axis=1)
        found = sim.contacts()
        assert set(zip(i[overlap > 0], j[overlap > 0])) == set(zip(found["sphere_i"], found["sphere_j"]))
        of_giants += np.count_nonzero(found["sphere_j"] >= 4000)
    assert of_giants > 50
