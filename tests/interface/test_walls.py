"""Arguments, files, messages and observables of walls; meshes that are not what they should be."""
import dataclasses
import warnings
import xml.etree.ElementTree as ElementTree

import meshio
import numpy as np
import pytest
from reference_walls import BALL, CUBE, CUBE_FACES, FRICTION, MATERIAL, MINDLIN, facets, simulation
from rods_in_box import SCENARIO as RODS

import minidem as md
from minidem.output.wall_shapes import wall_mesh
from minidem.walls.motion import scaled

AXIS, ORIGIN = (0, 0, 1), (0, 0, 0)


def test_values_are_normalised_and_compare():
    tube = md.Cylinder([1, 2, 3], [0, 0, 5], 2, angular_velocity=[0, 0, 1])
    assert tube.axis == (0.0, 0.0, 1.0) and tube.point == tube.center == (1.0, 2.0, 3.0) and tube.moves
    assert tube == md.Cylinder((1.0, 2.0, 3.0), np.array([0, 0, 1]), 2.0, angular_velocity=(0.0, 0.0, 1.0))
    assert not md.Plane(ORIGIN, AXIS, center=(1, 2, 3)).moves
    assert md.Oscillation([1, 0, 0], 2.0) == md.Oscillation((1, 0, 0), 2.0, phase=0.0)
    np.testing.assert_allclose(md.Oscillation((1, 0, 2), 2.0, phase=0.3)(0.1)[0],
                               np.array([1, 0, 2]) * (np.sin(0.4 * np.pi + 0.3) - np.sin(0.3)))
    assert scaled(tube, 0.5, np.ones(3)) == md.Cylinder((1, 1.5, 2), AXIS, 1, angular_velocity=AXIS, center=(1, 1.5, 2))
    mesh = md.MeshWall((CUBE, CUBE_FACES), scale=2.0)
    assert repr(mesh) == "<MeshWall of 12 triangles>" and mesh.center == (1.0, 1.0, 1.0) and mesh.points.max() == 2.0
    for array in mesh.points, mesh.triangles:
        with pytest.raises(ValueError):
            array[0] = 0


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "vtu"])
def test_files(kind, tmp_path):
    path = tmp_path / f"cube.{kind}"
    meshio.Mesh(1000.0 * CUBE, [("triangle", CUBE_FACES)]).write(path)
    wall = md.MeshWall(path, scale=0.001)
    np.testing.assert_allclose(np.sort(wall.points[wall.triangles].mean(axis=1), axis=0),
                               np.sort(CUBE[CUBE_FACES].mean(axis=1), axis=0), atol=1e-6)
    assert len(wall.triangles) == 12 and len(wall.points) == 8


def test_checkpoint_of_a_function(tmp_path):
    walls = [md.Plane(ORIGIN, AXIS), md.MeshWall((CUBE, CUBE_FACES), motion=lambda t: ((0, 0, t), ORIGIN)),
             md.Cylinder(ORIGIN, AXIS, 9.0, motion=md.Oscillation(AXIS, 2.0, phase=0.1), material=MATERIAL)]
    simulation(walls, "hertz").save(tmp_path / "state.npz")
    with pytest.raises(ValueError, match=r"motions: the motion of wall 1 is a function.*motions=\{1: function\}"):
        md.Simulation.load(tmp_path / "state.npz")
    with pytest.raises(ValueError, match="motions = .*the motion of these walls is no function"):
        md.Simulation.load(tmp_path / "state.npz", motions={1: walls[1].motion, 2: walls[1].motion})
    again = md.Simulation.load(tmp_path / "state.npz", motions={1: walls[1].motion}).walls
    assert again[0] == walls[0] and again[2] == walls[2] and again[1].motion is walls[1].motion
    assert np.array_equal(again[1].points, walls[1].points) and np.array_equal(again[1].triangles, walls[1].triangles)


def test_overlap_walls():
    sim = simulation([md.Plane((0, 0, -1), AXIS), md.MeshWall((CUBE, CUBE_FACES)), md.Cylinder(ORIGIN, AXIS, 3.0)],
                     "hertz")
    found = sim.walls.overlap([(0, 0, -0.5, 0.4), (0, 0, -0.5, 0.6), (0.5, 0.5, 0.5, 0.4), (0.5, 0.5, 0.5, 0.6),
                               (0, -2.5, 5, 0.4), (0, -2.5, 5, 0.6)])
    assert found.tolist() == [False, True] * 3 and sim.walls.overlap(np.zeros((0, 4))).shape == (0,)


@pytest.mark.parametrize("moving", [True, False])
@pytest.mark.usefixtures("without_pictures")
def test_walls_for_paraview(moving, tmp_path):
    """walls.vtu of all kinds; walls that move are also part 1 of each frame."""
    def build(options):
        walls = [md.MeshWall((CUBE, CUBE_FACES), velocity=(0, 0, -2.0 * moving)), md.Plane((0, 0, -1), AXIS),
                 md.Cylinder((0.5, 0.5, 0), AXIS, 2.0)]
        sim = simulation(walls, "hertz", 1e-3)
        sim.add_clumps(BALL, [(0.5, 0.5, 1.5)], scale=0.1)
        return sim
    scenario = dataclasses.replace(RODS, build=build, observables=())
    assert scenario.main(["--time", "0.1", "--frames", "3", "--quiet", "--out", str(tmp_path)]) == 0
    walls = meshio.read(tmp_path / "walls.vtu")
    assert len(walls.cells_dict["triangle"]) == 12 and len(walls.cells_dict["quad"]) == 96
    assert walls.cells_dict["polygon"].shape == (1, 96)                 # the plane, up to the cylinder
    ring = walls.points[walls.cells_dict["quad"].ravel()]
    np.testing.assert_allclose(np.linalg.norm(ring[:, :2] - 0.5, axis=1), 2.0, rtol=1e-6)
    sets = [row.attrib for row in ElementTree.parse(tmp_path / "rods_in_box.pvd").iter("DataSet")]
    parts = [row for row in sets if row["part"] == "1"]
    assert len(parts) == (3 if moving else 0) and len(sets) == 3 + len(parts)
    for row in parts:
        points = meshio.read(tmp_path / row["file"]).points
        np.testing.assert_allclose(points[-8:], CUBE - (0, 0, 2.0 * float(row["timestep"])), atol=1e-6)
    assert {float(row["timestep"]) for row in parts} == ({0.0, 0.05, 0.1} if moving else set())


SLIVERS = np.append(CUBE, [[0.5, 0.5, 1.0 + 1e-9], [0.2, 0.2, 1.0]], axis=0)
RANDOM = np.random.default_rng(1)
BROKEN = {
    "hole": (CUBE, CUBE_FACES[1:]), "open": facets(12), "unused": (np.append(CUBE, [[50.0, 0, 0]], axis=0), CUBE_FACES),
    "doubles": (np.tile(CUBE, (3, 1)), np.concatenate([CUBE_FACES, CUBE_FACES[:, ::-1] + 8, CUBE_FACES + 16])),
    "inverted": (CUBE, np.where(RANDOM.random((12, 1)) < 0.5, CUBE_FACES, CUBE_FACES[:, ::-1])),
    "slivers": (SLIVERS, np.append(CUBE_FACES, [[1, 8, 9], [1, 7, 8], [9, 9, 8], [5, 7, 9]], axis=0)),
    "split": (CUBE[CUBE_FACES].reshape(-1, 3) + 1e-10 * RANDOM.normal(size=(36, 3)), np.arange(36).reshape(-1, 3))}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("contact", ["hertz", MINDLIN])
def test_broken_meshes(name, contact):
    """A sound run: finite numbers, and no sphere passes through a face that is there."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        wall = md.MeshWall(BROKEN[name])
        assert len(md.MeshWall((wall.points, wall.triangles)).triangles) == len(wall.triangles)
    sim = simulation([wall, *md.box_walls((-1, -1, -1), (2, 2, 2))], contact, 1e-4)
    rng, inside = np.random.default_rng(3), 0.2 + 0.3 * np.argwhere(np.ones((3, 3, 3)))
    sim.add_clumps(BALL, inside, velocity=2.0 * rng.normal(size=(27, 3)), scale=0.05)
    sim.run(4000)
    assert np.all(np.isfinite(sim.position)) and np.all(np.abs(sim.velocity) < 20.0)
    if name not in ("hole", "open"):
        assert np.all((sim.position > 0.0) & (sim.position < 1.0))


@pytest.mark.parametrize("size", [1e-5, 1e3, 1e6])
def test_scales(size):
    sim = simulation([md.MeshWall((size * CUBE, CUBE_FACES))], "hertz", 1e-4 * size)
    sim.add_clumps(BALL, [size * np.array([0.5, 0.4, 0.6])], velocity=(3, 2, -1), scale=0.1 * size)
    sim.run(8000)
    assert np.all((sim.position > 0.05 * size) & (sim.position < 0.95 * size))
    np.testing.assert_allclose(np.linalg.norm(sim.velocity), 14**0.5, rtol=0.01)


@pytest.mark.parametrize("walls, words", [
    ([], "there are 0 walls, numbered from 0, with no names;"), ([None], "there is 1 wall, numbered from 0, with no n"),
    ([None, "lid"], "there are 2 walls, numbered from 0, with the names 'lid'$")])
def test_an_unknown_wall(walls, words):
    sim = md.Simulation(md.Material(1e7, 0.2), [md.Plane((0, 0, 0), (0, 0, 1), name=name) for name in walls], dt=1e-6)
    for unknown in "floor", 2:
        with pytest.raises(ValueError, match=f"wall = {unknown!r}: {words}"):
            sim.walls.force(unknown)


def area_of(wall):
    a, b, c = wall.points[wall.triangles].swapaxes(0, 1)
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()


@pytest.mark.parametrize("open_sides, flange, area", [
    ((), 0.0, 22.0), ("+z", 0.0, 20.0), (("-z", "+z"), 0.1, 18.0 + 2 * (1.2 * 2.2 - 2.0)),
    (["+x", "+z"], 0.1, 14.0 + 2 * 0.31 + 0.21 + 2 * 0.11 + 0.21)])
def test_sides_of_a_box(open_sides, flange, area):
    """A rim ends where the next side is open; two of its parts meet at the diagonal of a corner."""
    wall = md.MeshWall.box((0, 0, 0), (1, 2, 3), open=open_sides, flange=flange, name="box")
    assert np.isclose(area_of(wall), area, rtol=1e-14) and wall.name == "box" and len(wall.points) <= 16
    for side in [open_sides] if isinstance(open_sides, str) else open_sides:
        end = (1, 2, 3) if side[0] == "+" else (0, 0, 0)
        inside = np.where(np.eye(3)["xyz".index(side[1])] > 0, end, (0.5, 1, 1.5))
        assert not simulation([wall]).walls.overlap([(*inside, 0.4)])[0]


def test_a_box_acts_as_planes():
    """Equal bits. With mass=shared the contacts of a clump with two sides of one wall act together."""
    rough = dataclasses.replace(FRICTION, rolling_friction=0.0)
    sims = [simulation(walls, "hertz-mindlin:mass=clump", 1e-4, rough, gravity=(1, 2, -9)) for walls in (
        [md.MeshWall.box((0, 0, 0), (1, 2, 3))], md.box_walls((0, 0, 0), (1, 2, 3)))]
    for sim in sims:
        rod = md.ClumpTemplate([(-0.05, 0, 0), (0.05, 0, 0)], [0.08] * 2, density=2500.0)
        sim.add_clumps(rod, 0.15 + 0.27 * np.argwhere(np.ones((3, 6, 4))), velocity=(0.3, -1.0, 0.7))
        sim.run(8000)
    assert np.array_equal(sims[0].position, sims[1].position) and (sims[0].contacts()["clump_j"] < 0).sum() > 9


@pytest.mark.parametrize("wrong", [{"open": "top"}, {"open": 3}, {"open": [["+z"]]}, {"flange": 0.1}, {
    "open": "+z", "flange": -0.1}, {"open": ["-x", "+x", "-y", "+y", "-z", "+z"]}, {"high": (1, 1, 0)}])
def test_boxes_that_are_refused(wrong):
    with pytest.raises(ValueError, match=rf"^{[*wrong][-1]}.* = .*give"):
        md.MeshWall.box(**{"low": (0, 0, 0), "high": (1, 1, 1)} | wrong)


def test_a_frame_that_grains_drive():
    """Grains in an open frame of a given mass, which they push along x, share their momentum with it."""
    half = md.MeshWall.box((0, 0, 0), (1, 1, 1), open=("-z", "+z"), motion=md.Driven(mass=300.0, axis=(1, 0, 0)))
    sim = simulation([half, md.Plane((0, 0, 0), AXIS)], "hertz", 2e-5)
    sim.add_clumps(BALL, 0.12 + 0.25 * np.argwhere(np.ones((4, 4, 2))), velocity=(2.0, 1.0, -0.5), scale=0.1)

    def momentum():
        return 300.0 * sim.walls.velocity(0)[0][0] + sim.reader.column("mass") @ np.asarray(sim.velocity)[:, 0]

    begin, energy, fastest = momentum(), sim.energy().total, 0.0
    for _ in range(20):
        sim.run(1000)
        fastest = max(fastest, sim.walls.velocity(0)[0][0])
        np.testing.assert_allclose(momentum(), begin, rtol=1e-11)
    assert fastest > 0.5 and abs(sim.energy().total - sim.energy().work - energy) < 1e-3 * energy


PARTS = [md.Cone((0, 0, 0), AXIS, (0.5, 0.6), 1.0), md.MeshWall.box((-0.2, -0.2, -0.3), (0.2, 0.2, 0.2), open="-z"),
         md.Cone((0, 0, 0), AXIS, (0.0, 0.5), 0.0), md.MeshWall.box((-2, -2, -2), (2, 2, 2))]


def in_bucket(walls, contact="hertz-mindlin:mass=clump"):
    sim = simulation(walls, contact, 1e-4, dataclasses.replace(FRICTION, rolling_friction=0.0), gravity=(1, 2, -9))
    sim.add_clumps(BALL, np.array([(x, y, z) for x in (-0.22, 0, 0.22) for y in (-0.22, 0, 0.22) for z in (0.4, 0.6)]),
                   velocity=(0.3, -1.0, 0.7), scale=0.09)
    return sim


def test_a_compound_wall_acts_as_its_parts(tmp_path):
    """Equal bits, and the sum of the forces; also from a checkpoint, whose wall has the same parts."""
    motion = {"velocity": (0, 0, 0.3), "angular_velocity": (0.5, 0, 1), "center": (0, 0, 0.2), "motion": md.Oscillation(
        (0.02, 0, 0), 9.0)}
    one, apart = in_bucket([md.CompoundWall(PARTS, name="bucket", **motion)]), in_bucket(
        [part.with_changes(**motion) for part in PARTS])
    touched = set()
    one.run(6000)
    apart.run(6000, every=200, callback=lambda sim: touched.update(sim.contacts()["clump_j"].tolist()))
    assert np.array_equal(one.position, apart.position) and len(touched - {*range(18)}) > 2
    np.testing.assert_allclose(one.walls.force("bucket"), sum(map(apart.walls.force, range(4))), rtol=1e-12)
    one.save(tmp_path / "state.npz")
    again = md.Simulation.load(tmp_path / "state.npz")
    assert repr(again.walls) == repr(one.walls)
    assert [*map(type, again.walls[0].parts)] == [md.Cone, md.Cone, md.MeshWall]
    for sim in one, again:
        sim.run(1000)
    assert np.array_equal(one.position, again.position)
    drawn = wall_mesh(again).cells_dict
    assert len(drawn["triangle"]) == 22 and len(drawn["quad"]) == 2 * 96
    again.walls.remove("bucket")
    assert not again.walls


def test_a_compound_wall_that_grains_drive():
    """Its mass shares the momentum along the line of grains in it."""
    frame = md.CompoundWall(PARTS, motion=md.Driven(mass=300.0, axis=(1, 0, 0)))
    sim = in_bucket([frame], "hertz-mindlin")
    sim.set_gravity((0, 0, -9))

    def momentum():
        return 300.0 * sim.walls.velocity(0)[0][0] + sim.reader.column("mass") @ np.asarray(sim.velocity)[:, 0]

    begin = momentum()
    for _ in range(5):
        sim.run(400)
        np.testing.assert_allclose(momentum(), begin, rtol=1e-11)
    assert sim.walls.velocity(0)[0][0] > 0.01


@pytest.mark.parametrize("parts, words", [
    (PARTS[0], "parts = Cone.*give a list of Cone and MeshWall"), ([], "give a list"),
    ([PARTS[0], md.Plane(ORIGIN, AXIS)], r"parts\[1\] = Plane.*a tube is a Cone of two equal radii"),
    ([md.Cone(ORIGIN, AXIS, (0, 1), 0, name="x")], r"parts\[0\].*give motion, name and material to the whole"),
    ([md.MeshWall((CUBE, CUBE_FACES), velocity=AXIS)], r"parts\[0\].*give motion"),
    ([md.MeshWall((CUBE, CUBE_FACES), feature_angle=angle) for angle in (0.1, 0.2)], "the same feature_angle")])
def test_parts_that_are_refused(parts, words):
    with pytest.raises(ValueError, match=words):
        md.CompoundWall(parts)
