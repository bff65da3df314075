"""Sums of forces have no order (contact/fixed_point.pxd), and clumps change no bit of others that they do not touch."""
import copy
import math

import bit_systems
import numpy as np
import pytest
import scenes
from bit_systems import STATE, SYSTEMS, bits, through_a_file, undisturbed
from scenes import BALL, CLUMP, ELASTIC, ROLLING, material_for

import minidem as md

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
STEEL, RUBBER = md.Material(young=2e11, poisson=0.3), md.Material(young=1e6, poisson=0.49)
RADIUS = 0.012
LAWS = {"hertz": 2e11 / (1.0 - 0.3 ** 2), "hooke:stiffness=1e6": 1e6}


def ball(radius=RADIUS):
    return md.ClumpTemplate([(0.0, 0.0, 0.0)], [radius], 2500.0)


def power_of_two(x):
    return 2.0 ** np.floor(np.log2(x))


def heap(contact, order, materials=(STEEL,)):
    """A sphere that fourteen smaller ones of two sizes touch; materials in turn. The last one is in the middle."""
    height, turn = 1.0 - 2.0 * (np.arange(15) + 0.5) / 14, 2.4 * np.arange(15)
    across = np.sqrt(np.maximum(1.0 - height ** 2, 0.0))
    outward = np.stack([across * np.cos(turn), across * np.sin(turn), height], axis=1)
    sim = md.Simulation(STEEL, contact=contact, dt=1e-7, threads=1)
    for k in order:
        radius = RADIUS if k == 14 else RADIUS / (4 + 3 * (k % 2))
        distance = 0.0 if k == 14 else RADIUS + (0.99 - 0.004 * k) * radius
        sim.add_clumps(ball(radius), distance * outward[k:k + 1], material=materials[k % len(materials)])
    return sim


@pytest.mark.parametrize("materials", [(STEEL,), (STEEL, RUBBER)], ids=["one", "two"])
@pytest.mark.parametrize("contact", [*LAWS, "hertz:onset=corrected"])
def test_any_order_of_clumps(contact, materials):
    """Of one and of two materials. Neither a larger sphere elsewhere nor one of another material changes a bit."""
    order = np.random.default_rng(5).permutation(15)
    first, second, beside = (heap(contact, which, materials) for which in (range(15), order, range(15)))
    beside.add_clumps(ball(2.0), [[9.0, 0.0, 0.0]])
    beside.add_clumps(ball(), [[-9.0, 0.0, 0.0]], material=RUBBER)
    for sim in first, second, beside:
        sim.run(20)
    for name in ("force", "torque", "position", "velocity"):
        assert np.array_equal(getattr(first, name)[order], getattr(second, name))
        assert np.array_equal(getattr(first, name), getattr(beside, name)[:15])


@pytest.mark.filterwarnings("ignore:dt")                # above the Rayleigh step: nothing touches
def test_any_order_of_kinds_of_bodies():
    """Spheres, rods, discs and bodies with three distinct moments: neighbours in memory change no bit of a rotation."""
    square = [(-0.01, 0.0, 0.0), (0.01, 0.0, 0.0), (0.0, -0.01, 0.0), (0.0, 0.01, 0.0)]
    kinds = [md.ClumpTemplate(centers, [RADIUS] * len(centers), 2500.0) for centers in (
        [(0.0, 0.0, 0.0)], [(-0.01, 0.0, 0.0), (0.01, 0.0, 0.0)], square, [*square[1:], (0.0, 0.0, 0.005)])]
    assert [len(set(kind.inertia)) for kind in kinds] == [1, 2, 2, 3]
    rng = np.random.default_rng(7)
    kind, q, w = rng.integers(4, size=40), scenes.unit_vectors(rng, 40, 4), rng.normal(size=(40, 3))
    def after(order):
        sim = md.Simulation(STEEL, dt=1e-3)
        sim.forces.add(lambda t, x, v, q, w: (0.0 * x, 1e-7 * x - 1e-7 * w))
        for k in order:
            sim.add_clumps(kinds[kind[k]], [[k, 0.0, 0.0]], q[k:k + 1], angular_velocity=10.0**(k % 3) * w[k:k + 1])
        sim.run(20)
        return np.hstack([sim.orientation, sim.angular_velocity])
    first = after(range(40))
    for _ in range(3):
        order = rng.permutation(40)
        assert np.array_equal(after(order), first[order])


def test_equal_spheres_conserve_momentum():
    """They have the same unit, so that the two forces of a contact are opposite to the last bit."""
    sim = md.Simulation(STEEL, contact="hertz", dt=1e-7)
    lattice = 1.96 * RADIUS * np.stack(np.unravel_index(np.arange(27), (3, 3, 3)), axis=1)
    sim.add_clumps(ball(), lattice + 0.01 * RADIUS * np.random.default_rng(1).uniform(-1.0, 1.0, (27, 3)))
    unit = power_of_two(LAWS["hertz"] * power_of_two(RADIUS) ** 2) * 2.0 ** -54
    assert len(sim.contacts()) == 54 and np.array_equal((sim.force / unit).astype(np.int64).sum(axis=0), np.zeros(3))


@pytest.mark.filterwarnings("ignore:.*moves by:UserWarning")
@pytest.mark.parametrize("count, fine", [(100, True), (150, False), (600, False)])
def test_beyond_the_range(count, fine):
    """Spheres that come together in a step, with almost 2 F each. Beyond 256 F the run stops: nothing wraps."""
    apart = np.column_stack([3.0 * np.arange(count), np.zeros((count, 2))])
    together = np.column_stack([np.linspace(0.0, 0.2, count), np.zeros((count, 2))])
    sim = md.Simulation(STEEL, contact="hooke:stiffness=1024", dt=1e-3)
    sim.add_clumps(ball(1.0), apart, velocity=(together - apart) / sim.dt)
    sim.run(1)
    if fine:
        assert 100.0 * 1024.0 < np.abs(sim.force).max() < 256.0 * 1024.0
        sim.run(2)
    else:
        assert np.isnan(sim.force[0, 0])
        with pytest.raises(FloatingPointError, match="is not finite"):
            sim.run(2)


@pytest.mark.parametrize("contact, threads", [(ROLLING, 1), (ROLLING, 3), ("hertz", 1), ("hooke:stiffness=1e6", 3)])
def test_order_of_many_contacts(contact, threads):
    """Hundreds of contacts of one sphere; the first forty only come near it. Whole multiples of a unit are added."""
    n, big, rng = 700, 350, np.random.default_rng(1)
    z, turn = np.linspace(-1.0, 1.0, n), 2.399963 * np.arange(n)
    normal = np.column_stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z])
    place = np.where(np.arange(n) < 40, 0.10403, 0.10399)[:, None] * rng.permutation(normal)
    velocity = rng.normal(size=(n, 3)) * (np.arange(n) >= 40)[:, None]
    sim = md.Simulation(material_for(contact), [md.Plane((0, 0, -0.0999), (0, 0, 1))] * (contact != ROLLING),
                        contact=contact, dt=1e-6, threads=threads)
    place, velocity = ((rows[place[:, 2] > -0.085] if sim.walls else rows) for rows in (place, velocity))
    sim.add_clumps(BALL, place[:big], velocity=velocity[:big], scale=0.1)
    # of two spheres, so that no other clump shares its block, in which lists are processed together
    sim.add_clumps(md.ClumpTemplate([(0.0, 0.0, 0.0)] * 2, [0.1, 0.05]), (0.0, 0.0, 0.0))
    sim.add_clumps(BALL, place[big:], velocity=velocity[big:], scale=0.1)
    sim.run(5)
    found = sim.contacts()
    found = found[(found["sphere_i"] == big) | (found["sphere_j"] == big)]
    sign = np.where(found["sphere_i"] == big, 1.0, -1.0)[:, None]
    assert len(found) > 500 and np.any(found["couple"]) == (contact == ROLLING)
    assert min(found["sphere_i"]) >= 40 or sim.walls
    if sim.walls:
        radius = power_of_two(0.1)
        largest = 1e6 * radius if "hooke" in contact else 1e7 / (1.0 - 0.2 ** 2) * radius ** 2
        unit = power_of_two(largest) * 2.0 ** -54
        assert np.array_equal(sim.force[big], unit * np.rint(sign * found["force"] / unit).astype(np.int64).sum(axis=0))
        assert np.count_nonzero(found["sphere_j"] < 0) == 1
    else:
        moment = sign * (np.cross(found["point"] - sim.position[big], found["force"]) + found["couple"])
        exact = [math.fsum(column) for column in (sign * found["force"]).T]
        np.testing.assert_allclose(sim.force[big], exact, rtol=0, atol=1e-12 * np.abs(found["force"]).max())
        np.testing.assert_allclose(sim.torque[big], moment.sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("contact", [ROLLING, "hooke-coulomb:stiffness=1e5", "hertz", "hertz:onset=corrected"])
def test_clumps_far_away_keep_their_bits(contact):
    """Two piles far from each other: removals from the second one, of which some clumps are in contact."""
    sim = md.Simulation(material_for(contact), [md.Plane((0, 0, 0), (0, 0, 1))], contact=contact, dt=1e-4,
                        gravity=(0, 0, -9.81), threads=1)
    for x in 0.0, 5.0:
        sim.add_clumps(CLUMP, [[x + 0.01 * (k % 3), 0.01 * (k % 2), 0.06 + 0.09 * k] for k in range(8)])
    sim.run(1200)
    removed, count = copy.deepcopy(sim), 0
    for _ in range(8):
        pairs = removed.contacts()
        touching = pairs["clump_i"][(pairs["clump_i"] >= 8) & (pairs["clump_j"] >= 0)]
        removed.remove_clumps(removed.ids[touching[:1]])
        count += len(touching) > 0
        for steps in (0, 40):
            sim.run(steps)
            removed.run(steps)
            for name in STATE:
                assert np.array_equal(getattr(sim, name)[:8], getattr(removed, name)[:8])
    assert removed.n_clumps == 16 - count < 16


@pytest.mark.parametrize("gravity", [(-0.0, 0.0, -0.0), (-0.0, -0.0, -9.81)])
@pytest.mark.parametrize("template, height", [(BALL, 0.0399), (CLUMP, 0.031)])
def test_signs_of_zeros(template, height, gravity, tmp_path):
    """Clumps in one block with one in contact are summed up, and others are not; the sort changes which."""
    sim = md.Simulation(ELASTIC, [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-5, gravity=gravity, threads=1)
    place = np.argwhere(np.ones((5, 5, 1))).astype(float)
    place[:, 2] = np.where(place[:, 1] < 2, height, 0.5)
    sim.add_clumps(template, place, velocity=np.where(place[:, [1, 2, 0]] < 2, -0.0, 0.0),
                   angular_velocity=(-0.0, 0.0, -0.0))
    assert len(sim.contacts()) >= 10
    for steps in 0, 3:
        sim.run(steps)
        sim.save(tmp_path / "state.npz")
        others = [md.Simulation.load(tmp_path / "state.npz"), copy.deepcopy(sim)]
        sim.continue_from(sim.loop.sorted(), sim.loop)
        for _ in range(2):
            assert all(getattr(other, name).tobytes() == getattr(sim, name).tobytes()
                       for other in others for name in STATE)
            for each in (sim, *others):
                each.run(1)


def test_ids_are_never_used_again(tmp_path):
    sim = md.Simulation(ELASTIC, dt=1e-6)
    assert len(sim.ids) == 0
    places = np.arange(5.0)[:, None] * [1.0, 0.0, 0.0]
    assert sim.add_clumps(CLUMP, places).tolist() == [0, 1, 2, 3, 4]
    sim.remove_clumps([4])
    sim = through_a_file(sim, tmp_path)
    assert sim.add_clumps(CLUMP, places[:2] + 1.0).tolist() == [5, 6]
    sim.remove_clumps(sim.ids)
    assert sim.n_clumps == 0
    sim.run(3)
    sim = copy.deepcopy(through_a_file(sim, tmp_path))
    assert sim.n_clumps == 0 and sim.add_clumps(CLUMP, places[:1]).tolist() == [7]
    assert sim.ids.tolist() == [7] and sim.ids.dtype == np.int64
    sim.run(3)


def test_clumps_added_in_several_calls():
    """Numbering is by the order of adding; how many are added at a time does not matter."""
    scene = scenes.rods_in_box(seed=1)
    sim = scene.part([]).simulation(38e-6)
    for k in range(0, len(scene.shapes), 7):
        index = sim.add_clumps(scene.shapes[0].template, **scenes.motion(values[k:k + 7] for values in scene.state))
        assert list(index) == list(range(k, min(k + 7, len(scene.shapes))))
    sim.run(SYSTEMS["dilute"].steps)
    assert bits(sim) == undisturbed("dilute", "hertz")


def test_order_of_clumps_in_a_periodic_box():
    """A sphere has two contacts at most here, so that sums do not depend on the order."""
    sims = bit_systems.gas("hertz"), bit_systems.gas("hertz", order=slice(None, None, -1))
    for sim in sims:
        sim.run(SYSTEMS["gas"].steps)
    for name in STATE:
        assert np.array_equal(getattr(sims[0], name), getattr(sims[1], name)[::-1])


# --- Materials whose pair has no contact: a mixture moves as its parts do alone.

RED, BLUE, FLOOR = (md.Material(young=1e7, poisson=0.3, restitution=0.5, friction=0.3, name=name)
                    for name in ("red", "blue", "floor"))
PAIRS = [md.Pair(RED, BLUE, interacts=False), md.Pair(RED, FLOOR, restitution=0.5, friction=0.3),
         md.Pair(BLUE, FLOOR, interacts=False)]
ROD = md.shapes.rod(0.06, 0.01, 4, density=2500.0)


def of_materials(materials, contact="hertz-mindlin", threads=1):
    """Rods of these materials above a floor for red ones, below which there is one for blue ones."""
    sim = md.Simulation(RED, [md.Plane((0, 0, 0), (0, 0, 1), material=FLOOR),
                              md.Plane((0, 0, -0.02), (0, 0, 1), material=BLUE)],
                        contact=contact, dt=2e-5, gravity=(0, 0, -9.81), pairs=PAIRS, threads=threads)
    for material in materials:
        rng = np.random.default_rng(1)
        place = np.stack(np.meshgrid(*[0.07 * np.arange(1, 9)] * 3), axis=-1).reshape(-1, 3)
        turned = rng.normal(size=(len(place), 4))
        sim.add_clumps(ROD, place, turned / np.linalg.norm(turned, axis=1)[:, None],
                       velocity=rng.normal(0.0, 2.0, place.shape), material=material)
    return sim


@pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin"])
def test_a_mixture_moves_as_its_parts_alone(contact, tmp_path):
    mixture = of_materials([RED, BLUE], contact, threads=2)
    mixture.run(1000)
    mixture.save(tmp_path / "state.npz")
    mixture = md.Simulation.load(tmp_path / "state.npz", threads=1)
    mixture.run(1000)
    assert len(mixture.contacts()) > 20
    for k, material in enumerate((RED, BLUE)):
        alone = of_materials([material], contact)
        alone.run(2000)
        own = mixture.material_index == mixture.materials.index(material)
        for name in "position", "orientation", "velocity", "angular_velocity", "force", "torque":
            np.testing.assert_array_equal(getattr(mixture, name)[own], getattr(alone, name))
        assert 0.005 < alone.sphere_centers[:, 2].min() + 0.02 * k < 0.012


def test_contacts_of_materials_that_have_none():
    sim = of_materials([RED, BLUE], "hertz-mindlin:bonds=parallel")
    with pytest.raises(ValueError, match=r"pairs\[0\] = \[   0 2048\]: the materials of these"):
        sim.bonds.add([[0, 2048]], young=1e7)
    with pytest.raises(ValueError, match="clump 0: it overlaps clump 1024 by"):
        sim.add_clumps(ROD, sim.position[:1], material=RED)
