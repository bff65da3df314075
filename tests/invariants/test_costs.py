"""Costs that must not grow: walls when clumps change, triangles under a large sphere, materials, walls, bonds."""
import copy
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scenes
from bit_systems import bits
from reference_walls import BALL, FRICTION, MATERIAL, MINDLIN, nearest_points, plate, simulation

import minidem as md
from minidem.contact.pair_table import PairTable
from minidem.steering import course
from minidem.walls import wall_table
from minidem.walls.motion import Motions

RADIUS = 0.4


def on_plate(n, radius=RADIUS, **options):
    sim = simulation([md.MeshWall(plate(n), feature_angle=0.2)], **options)
    sim.add_clumps(BALL, [(0.0, 0.0, 0.95 * radius)], velocity=(1.0, 0.0, 0.0), scale=radius)
    return sim


@pytest.mark.parametrize("contact", ["hertz", MINDLIN])
def test_elements_of_walls_are_made_once(contact, monkeypatch, tmp_path):
    sim = on_plate(4, contact=contact)
    sim.save(tmp_path / "state.npz")
    calls, make = [], wall_table.mesh_grid
    monkeypatch.setattr(wall_table, "mesh_grid", lambda *given: calls.append(0) or make(*given))
    for k in range(3):
        sim.add_clumps(BALL, [(0.3 * k, 0.0, 2.0)], scale=0.1)
        sim.run(3)
    sim.remove_clumps(sim.ids[1:3])
    sim.forces.add(lambda t, x, v, q, w: (0.0 * x, 0.0 * x))
    sim.run(1)
    assert not calls
    md.Simulation.load(tmp_path / "state.npz")
    assert len(calls) == 1


@pytest.mark.parametrize("contact", ["hertz", MINDLIN])
def test_refused_clumps_change_nothing(contact):
    """Also none of what the former loop shares with the next one: walls, poses, coefficients of materials."""
    default = FRICTION if contact == MINDLIN else MATERIAL
    materials = [replace(default, young=young) for young in (2e7, 3e7, 4e7)]
    pairs = [md.Pair(a, b, friction=0.1 * k) for k, a in enumerate(materials) for b in [*materials[:k], default]]
    sim = simulation([md.MeshWall(plate(3), velocity=(0.2, 0.0, 0.0)),
                      md.Plane((0, 0, -1), (0, 0, 1), motion=md.Servo(force=1.0, mass=0.1)),
                      md.Plane((0, 0, -1), (0, 0, 1), motion=md.Oscillation((0, 0, 0.1), 50.0))],
        contact=contact, pairs=pairs if contact == MINDLIN else None)
    sim.add_clumps(BALL, [(0.0, 0.0, 0.099)], scale=0.1, angular_velocity=(0.0, 5.0, 0.0))
    other = copy.deepcopy(sim)
    for k, material in enumerate(materials[1:]):
        with pytest.raises(ValueError, match="overlaps"):
            sim.add_clumps(BALL, [(0.01, 0.0, 0.12)], scale=0.1, material=materials[0])
        for each in sim, other:
            each.add_clumps(BALL, [(0.0, 0.199 * (k + 1), 0.099)], scale=0.1, material=material)
            each.run(20)
        assert bits(sim, sim.n_clumps) == bits(other, other.n_clumps)
        assert [wall.center for wall in sim.walls.at_rest] == [wall.center for wall in other.walls.at_rest]


def reference(corners, triangles, center, radius, smooth):
    """Overlaps of the triangles that count, sorted, and how many are within reach: all pairs are compared."""
    points = nearest_points(corners, center[None])[0]
    reached = np.flatnonzero(np.linalg.norm(center - points, axis=1) < radius)
    points, corners, triangles = points[reached], corners[reached], triangles[reached]
    heights = np.linalg.norm(center - points, axis=1)
    normals, number = (center - points) / heights[:, None], np.arange(len(reached))
    nearer = (heights < heights[:, None]) | (heights == heights[:, None]) & (number < number[:, None])
    joined = (triangles[:, None, :, None] == triangles[None, :, None, :]).any(axis=(2, 3))
    joined &= normals @ normals.T >= smooth
    on = np.linalg.norm(nearest_points(corners, points) - points[:, None], axis=2) < 1e-5 * radius
    return np.sort(radius - heights[~(nearer & (joined | on)).any(axis=1)]), len(reached)


def rough(n, fan):
    """A plate with bumps; fan : and through it triangles around one corner, none of which is one of the plate."""
    points, triangles = plate(n, -0.2, 0.2)
    points[:, 2] = 0.01 * np.random.default_rng(2).random(len(points))
    if fan:
        angle = 2.0 * np.pi * np.arange(60) / 60
        ring = np.column_stack([0.3 * np.cos(angle), 0.3 * np.sin(angle), np.zeros(60)])
        k = len(points) + np.arange(60)
        points = np.concatenate([points, ring, [(0.05, 0.0, 0.02)]])
        triangles = np.concatenate([triangles, np.column_stack([k, np.roll(k, -1), np.full(60, len(points) - 1)])])
    return points, triangles


@pytest.mark.parametrize("fan", [False, True])
@pytest.mark.parametrize("angle", [0.0, 0.35])
def test_many_triangles_as_by_comparison_of_all_pairs(angle, fan):
    wall = md.MeshWall(rough(26, fan), feature_angle=angle)
    corners, most = wall.points[wall.triangles], 0
    for x in np.random.default_rng(3).uniform((-0.1, -0.1, 0.385), (0.1, 0.1, 0.4), (3, 3)):
        sim = simulation([wall], contact="hertz")
        sim.add_clumps(BALL, [x], scale=RADIUS)
        expected, reached = reference(corners, wall.triangles, x, RADIUS, np.cos(angle))
        sim.energy()
        assert np.sort(sim.contacts()["overlap"]) == pytest.approx(expected, abs=1e-12)
        most = max(most, reached)
    assert most > 60


def seconds(action, repeats=3):
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def test_steps_over_many_triangles():
    """With sixteen times as many triangles a step takes about sixteen times as long, and not its square."""
    small, large = on_plate(30, contact="hertz"), on_plate(120, contact="hertz")
    for sim in small, large:
        sim.run(2)
    assert seconds(lambda: large.run(5)) < 60.0 * seconds(lambda: small.run(5))


def test_coefficients_of_materials_one_by_one():
    law = md.contact.info(MINDLIN)
    materials = [md.Material(1e7 + k, 0.2, restitution=0.9 - 0.01 * k, friction=0.1 * k) for k in range(9)]
    pairs = [md.Pair(a, b, restitution=0.5 + 0.01 * k, friction=0.2) for k, a in enumerate(materials)
             for b in materials[:k] if k % 3]
    table = PairTable(materials[0], [], pairs)
    for k, material in enumerate(materials):
        if k % 3 == 2:
            table.with_material(md.Material(1.0, 0.1)).coefficients(law, law.values())          # given up
        table = table.with_material(material)
        at_once = PairTable(materials[0], [md.Plane((0, 0, 0), (0, 0, 1), material=m) for m in materials[:k + 1]],
                            pairs)
        found, expected = (one.coefficients(law, law.values())[:k + 1, :k + 1] for one in (table, at_once))
        assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize("periodic", [None, ((0.0, -0.7, -0.7), (1.4, 0.7, 0.7), (True, True, False))])
def test_bonds_of_unequal_spheres(periodic):
    """Those of a comparison of all pairs; the memory is not that of all pairs within the largest radius."""
    layers = np.argwhere(np.ones((20, 20, 2))) - (10, 10, 0)
    x = np.concatenate([[(0, 0, -0.3)], 0.0205 * layers + (0, 0, 0.0105)])
    radii = np.append(0.3, 0.01 * np.random.default_rng(6).uniform(0.3, 1.0, len(layers)))
    sim = simulation([], contact="hertz-mindlin:bonds=parallel,bond_range=9,rolling=epsd", dt=1e-7, periodic=periodic)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [1.0]), x, scale=radii)
    gaps = np.linalg.norm(x[:, None] - x, axis=2) - radii - radii[:, None]
    tracemalloc.start()
    n, peak = sim.bonds.add(0.004, young=1e6), tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bonds = sim.bonds()
    assert n == len(bonds) == np.count_nonzero(np.triu(gaps <= 0.004, 1)) > 200
    assert np.count_nonzero(bonds["sphere_i"] == 0) > 3 and peak < 1e7
    assert gaps[bonds["sphere_i"], bonds["sphere_j"]].max() <= 0.004


@pytest.mark.parametrize("velocity", [(0.0, 0.0, 0.0), (0.3, -0.1, 0.2)])
@pytest.mark.parametrize("spin", [0.0, -2.0])
def test_oscillation_is_the_function_that_it_describes(velocity, spin):
    given = {"velocity": velocity, "angular_velocity": (0.0, 0.0, spin)}
    oscillation = md.Oscillation((0.1, -0.2, 0.0), 7.0, phase=0.3)
    walls = [md.Plane((0, 0.5, 0), (0, 0, 1), center=(1, 0, 0), motion=motion, **given)
             for motion in (oscillation, lambda t: oscillation(t))]
    rows = Motions(walls).poses(11, 40, 1e-3)
    assert rows[:, 0].tobytes() == rows[:, 1].tobytes()
    for k in range(40):
        assert Motions(walls[:1]).poses(11 + k, 1, 1e-3)[0, 0].tobytes() == rows[k, 0].tobytes()


def test_long_runs_with_many_walls_take_little_memory(monkeypatch):
    monkeypatch.setattr(course, "MOST_POSES", 2 ** 13)
    sim = simulation([md.Plane((0, 0, -k), (0, 0, 1), velocity=(0, 0, -0.1)) for k in range(50)], contact="hertz")
    tracemalloc.start()
    sim.run(1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 192 * course.MOST_POSES                  # tables and what they are computed of


@pytest.mark.parametrize("rolling, bytes_of_contact", [("none", 152), ("epsd", 152 + 96 + 24)])
def test_memory_by_topic(rolling, bytes_of_contact):
    """A law has room for what it keeps: couples only with rolling resistance."""
    ball = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.5], 1000.0)
    sim = md.Simulation(replace(FRICTION, rolling_friction=0.05 * (rolling == "epsd")), dt=1e-4,
                        contact=f"hertz-mindlin:rolling={rolling}")
    sim.add_clumps(ball, 0.999 * np.stack(np.mgrid[:4, :4, :4], axis=-1).reshape(-1, 3))
    sim.run(1)
    memory = sim.diagnostics.statistics["memory"]
    assert list(memory) == ["state", "loop", "lists", "contacts", "sums", "copies"]
    assert memory["contacts"] == 3 * 4 * 4 * 3 * bytes_of_contact
    assert memory["copies"] > memory["contacts"] and 64 * 250 < memory["state"] < 64 * 400
    assert memory["loop"] > 64 * 100 and memory["lists"] > 0 and memory["sums"] >= 64 * 64


def test_no_name_is_searched_for_in_a_call(monkeypatch):
    """`Simulation.__getattr__` compares a name with all others, for the message that it is missing: a tenth of a ms."""
    sim = scenes.rods_in_box(seed=1, n=3).simulation(38e-6)
    monkeypatch.setattr(md.Simulation, "__getattr__", lambda sim, name: pytest.fail(f"{name} is searched for"))
    sim.run(2)
    assert sim.energy().total > 0.0 and len(sim.position) == 3 and len(sim.walls) == 6 and sim.bonds().size == 0
