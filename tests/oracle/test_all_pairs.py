"""Contacts, forces, torques and elastic energy of a Simulation against every pair of spheres, computed plainly."""
import numpy as np
import pytest

import minidem as md
import scenes
from scenes import Scene, distance_to_touch, unit_vectors

EPS = np.finfo(float).eps
DT = 1e-6
MATERIALS = [None, md.Material(young=2e11, poisson=0.3), md.Material(young=1e6, poisson=0.49)]


def heap(seed, shapes, n, n_walls=0, center=(0.0, 0.0, 0.0), speed=2.0):
    """n clumps of randomly chosen shapes, each moved in from a random side until it touches the heap, and then
    pressed in by up to 0.09 of the smallest radius; walls that cut off as much of the outermost spheres."""
    rng = np.random.default_rng(seed)
    chosen = [shapes[k] for k in np.sort(rng.integers(len(shapes), size=n))]
    depth = 0.09 * min(shape.body.radii.min() for shape in shapes)
    orientation, position = unit_vectors(rng, n, 4), np.zeros((n, 3))
    still = np.zeros((n, 3))
    for k in rng.permutation(n):
        new = Scene([chosen[k]], still[:1], orientation[k:k + 1], still[:1], still[:1]).world()
        new_centers = new.sphere_centers(still[:1], orientation[k:k + 1])
        if 'centers' not in locals():
            centers, radii = new_centers, new.radii
            continue
        direction, target = unit_vectors(rng, 1)[0], centers[rng.integers(len(centers))]
        shift = distance_to_touch(centers, radii, new_centers + target, new.radii, direction) - depth * rng.uniform()
        position[k] = target + shift * direction
        centers, radii = np.vstack([centers, new_centers + position[k]]), np.concatenate([radii, new.radii])
    walls = []
    for _ in range(n_walls):
        normal = unit_vectors(rng, 1)[0]
        lowest = np.min(centers @ normal - radii)
        walls.append(md.Plane((lowest + depth * rng.uniform()) * normal + center, normal,
                              MATERIALS[rng.integers(len(MATERIALS))]))
    return Scene(chosen, position + center, orientation, speed * unit_vectors(rng, n),
                 speed / max(shape.reach for shape in shapes) * unit_vectors(rng, n), walls)


def by_pair(sphere_i, sphere_j):
    return {pair: k for k, pair in enumerate(zip(sphere_i.tolist(), sphere_j.tolist()))}


def assert_agrees(sim, scene):
    """All contacts of `sim` and its resultants equal the oracle's at the public pose, to the round-off of coordinates.

    A centre is known to a few eps of its largest coordinate (a turn and a sum in either program), an overlap to twice that: slack.
    It changes a force by stiffness * slack and by slack/distance in direction, and an energy by force * slack.
    """
    world, x, q = scene.world(), sim.position, sim.orientation
    exact, found = world.forces(x, q), sim.contacts()
    flip = (found['sphere_j'] >= 0) & (found['sphere_i'] > found['sphere_j'])
    i, j = (np.where(flip, found[b], found[a]) for a, b in (('sphere_i', 'sphere_j'), ('sphere_j', 'sphere_i')))
    sign = np.where(flip, -1.0, 1.0)[:, None]
    index = by_pair(exact.sphere_i, exact.sphere_j)
    ours = by_pair(i, j)
    assert len(ours) == len(found), 'a contact is listed twice'

    reach = np.array([shape.reach for shape in scene.shapes])
    walls_far = max([np.max(np.abs(wall.point)) for wall in scene.walls], default=0.0)
    coordinate = np.max(np.abs(x), axis=1) + reach + walls_far
    slack = 16 * EPS * coordinate
    for pairs, others, overlap, clump in ((ours, index, found['overlap'], world.owner[i]),
                                          (index, ours, exact.overlap, exact.clump_i)):
        for pair in pairs.keys() - others.keys():
            k = pairs[pair]
            assert overlap[k] < slack[clump[k]], f'contact {pair} with overlap {overlap[k]} in one of the two only'

    both = sorted(index.keys() & ours.keys())
    k, o = [index[pair] for pair in both], [ours[pair] for pair in both]
    off = slack[exact.clump_i[k]]
    size = np.linalg.norm(exact.pair_force[k], axis=1)
    distance = world.radii[i[o]] - exact.overlap[k]
    force_off = exact.stiffness[k] * off + size * (off / distance + 16 * EPS)
    assert np.array_equal(np.where(flip, found['clump_j'], found['clump_i'])[o], exact.clump_i[k])
    assert np.array_equal(np.where(flip, found['clump_i'], found['clump_j'])[o], exact.clump_j[k])
    assert np.all(np.abs(found['overlap'][o] - exact.overlap[k]) <= off)
    assert np.all(np.linalg.norm((sign * found['force'])[o] - exact.pair_force[k], axis=1) <= force_off)
    assert np.all(np.abs(found['energy'][o] - exact.pair_energy[k]) <= size * off + 16 * EPS * exact.pair_energy[k])
    assert np.all(np.abs(np.linalg.norm(found['normal'], axis=1) - 1) < 8 * EPS)
    assert np.all((found['force'] * found['normal']).sum(1) > 0)                       # repulsion, and along the normal:
    across = np.linalg.norm(np.cross(found['force'], found['normal']), axis=1)
    assert np.all(across <= 8 * EPS * np.linalg.norm(found['force'], axis=1))
    centers = sim.sphere_centers()[i]
    depth = ((centers - found['point']) * sign * found['normal']).sum(1) - world.radii[i]
    assert np.all((-found['overlap'] - slack[world.owner[i]] <= depth) & (depth <= slack[world.owner[i]]))

    # Resultants: the errors of a clump's contacts together, and of the few that only one side sees.
    allowed = 8 * EPS * np.linalg.norm(exact.force, axis=1) + world.mass * 0.0
    for clump in (exact.clump_i[k], exact.clump_j[k]):
        real = clump >= 0
        np.add.at(allowed, clump[real], force_off[real])
    softest = exact.stiffness.max(initial=0.0) * slack
    assert np.all(np.linalg.norm(sim.force - exact.force, axis=1) <= allowed + softest)
    turned = np.linalg.norm(exact.torque, axis=1) * 8 * EPS + (allowed + softest) * reach
    push = np.zeros(len(x))
    for clump in (exact.clump_i[k], exact.clump_j[k]):
        np.add.at(push, clump[clump >= 0], size[clump >= 0])
    assert np.all(np.linalg.norm(sim.torque - exact.torque, axis=1) <= turned + push * slack)
    assert abs(sim.energy().elastic - exact.pair_energy.sum()) <= (
        np.sum(size * off) + 16 * EPS * exact.pair_energy.sum() + softest.max() * slack.max())
    return len(found)


def several_sizes(largest_ratio):
    return [scenes.rod(), scenes.lumpy(), scenes.ball(0.05), scenes.ball(0.05 / largest_ratio),
            scenes.rod(scale=0.3), scenes.lumpy(scale=2.0)]


CASES = {
    'rods': dict(shapes=[scenes.rod()], n=150),
    'rods and walls': dict(shapes=[scenes.rod()], n=150, n_walls=4),
    'many templates': dict(shapes=[scenes.lumpy(scale=s) for s in np.linspace(0.5, 1.5, 12)], n=120, n_walls=3),
    'radii of ratio 20': dict(shapes=several_sizes(20.0), n=120, n_walls=2),
    'negative coordinates': dict(shapes=several_sizes(5.0), n=100, n_walls=2, center=(-31.0, -0.4, -7.7)),
    'long clumps over many cells': dict(shapes=[scenes.Shape(np.outer(np.linspace(-1, 1, 41), [1.0, 0.5, -0.3]),
                                                             np.full(41, 0.05)), scenes.ball(0.05)], n=40, n_walls=2),
}


@pytest.mark.parametrize('name', CASES)
@pytest.mark.parametrize('steps', [0, 1, 60, 1000])
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
    sim.run(3000, 150, lambda sim: seen.append(assert_agrees(sim, scene)))
    assert len(seen) == 20 and sum(seen) > 100
    moved = np.linalg.norm(sim.position - scene.position, axis=1)
    assert np.median(moved) > scenes.ROD_RADIUS


@pytest.mark.parametrize('distance', [1e3, 1e9])
def test_runaway(distance):
    """One sphere far away, as after a blow-up or through an open side, changes nothing for the others."""
    near, ball = heap(3, [scenes.rod(), scenes.lumpy()], 60), scenes.ball(0.03)
    far = [np.vstack([a, b]) for a, b in zip(near.state, ([distance, -distance, 0.3 * distance], [1.0, 0, 0, 0],
                                                          [9.0, 0.0, 0.0], [0.0, 0.0, 0.0]))]
    scene = Scene(near.shapes + [ball], *far)
    sims = [s.simulation(DT) for s in (near, scene)]
    for steps in (0, 500):
        for sim in sims:
            sim.run(steps)
        assert_agrees(sims[1], scene)
        assert np.array_equal(sims[0].position, sims[1].position[:-1])
        assert np.array_equal(sims[0].torque, sims[1].torque[:-1])


def test_random_heaps():
    hypothesis = pytest.importorskip('hypothesis')
    from hypothesis import strategies as st
    shapes = several_sizes(20.0)

    @hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
    @hypothesis.given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12), walls=st.integers(0, 3),
                      chosen=st.sets(st.integers(0, len(shapes) - 1), min_size=1),
                      center=st.tuples(*3 * [st.floats(-1e3, 1e3)]), speed=st.floats(0.0, 100.0),
                      steps=st.integers(0, 300))
    def agrees(seed, n, walls, chosen, center, speed, steps):
        scene = heap(seed, [shapes[k] for k in sorted(chosen)], n, walls, center, speed)
        sim = scene.simulation(DT)
        sim.run(steps)
        assert_agrees(sim, scene)

    agrees()
