"""Arguments, files, messages and observables of walls; meshes that are not what they should be."""
import dataclasses
import pickle
import warnings
import xml.etree.ElementTree as ElementTree

import meshio
import numpy as np
import pytest
from reference_walls import BALL, CUBE, CUBE_FACES, MATERIAL, MINDLIN, facets, simulation
from rods_in_box import SCENARIO as RODS

import minidem as md
from minidem.initial import Inlet

AXIS, ORIGIN = (0, 0, 1), (0, 0, 0)


def test_values_are_normalised_and_compare():
    tube = md.Cylinder([1, 2, 3], [0, 0, 5], 2, angular_velocity=[0, 0, 1])
    assert tube.axis == (0.0, 0.0, 1.0) and tube.point == tube.center == (1.0, 2.0, 3.0) and tube.moves
    assert tube == md.Cylinder((1.0, 2.0, 3.0), np.array([0, 0, 1]), 2.0, angular_velocity=(0.0, 0.0, 1.0))
    assert not md.Plane(ORIGIN, AXIS, center=(1, 2, 3)).moves
    assert md.Oscillation([1, 0, 0], 2.0) == md.Oscillation((1, 0, 0), 2.0, 0.0)
    np.testing.assert_allclose(md.Oscillation((1, 0, 2), 2.0, 0.3)(0.1)[0],
                               np.array([1, 0, 2]) * (np.sin(0.4 * np.pi + 0.3) - np.sin(0.3)))
    for wall in tube, md.MeshWall((CUBE, CUBE_FACES), motion=md.Oscillation((1, 0, 0), 2.0)):
        assert vars(pickle.loads(pickle.dumps(wall))).keys() == vars(wall).keys()
    mesh = md.MeshWall((CUBE, CUBE_FACES), scale=2.0)
    assert repr(mesh) == "<MeshWall of 12 triangles>" and mesh.center == (1.0, 1.0, 1.0) and mesh.points.max() == 2.0
    for name in "points", "triangles":
        with pytest.raises(ValueError):
            getattr(mesh, name)[0] = 0


@pytest.mark.parametrize("make, message", [
    (lambda: md.Cylinder((0, 0), AXIS, 1), r"point has shape \(2,\)"),
    (lambda: md.Cylinder(ORIGIN, ORIGIN, 1), r"axis = .*give a direction"),
    (lambda: md.Cylinder(ORIGIN, AXIS, 0), r"radius = 0.0: give a number greater than 0"),
    (lambda: md.Cylinder(ORIGIN, AXIS, 1, outside=1), r"outside = 1: give True or False"),
    (lambda: md.Cylinder(ORIGIN, AXIS, 1, angular_velocity=(0, 1, 1)),
     r"angular_velocity = \[0.0, 1.0, 1.0\]: a Cylinder turns about its axis .*give a MeshWall"),
    (lambda: md.Cylinder(ORIGIN, AXIS, 1, angular_velocity=AXIS, center=(1, 0, 0)),
     r"center = \[1.0, 0.0, 0.0\]: a Cylinder turns about its own axis only; give a point"),
    (lambda: md.Plane(ORIGIN, AXIS, angular_velocity=(0, 1, 0)),
     r"angular_velocity = \[0.0, 1.0, 0.0\]: a Plane turns about its normal only; give a MeshWall"),
    (lambda: md.Plane(ORIGIN, AXIS, velocity=(np.nan, 0, 0)), r"velocity\[0\] = nan: give finite numbers"),
    (lambda: md.Plane(ORIGIN, AXIS, center=(1, 2)), r"center has shape \(2,\); give shape \(3,\)"),
    (lambda: md.Plane(ORIGIN, AXIS, motion=3), r"motion = 3: give md.Oscillation, .*or a function of the time"),
    (lambda: md.Plane(ORIGIN, AXIS, material="steel"), r"material = 'steel': give a Material, or None"),
    (lambda: md.Oscillation((1, 0), 1.0), r"amplitude has shape \(2,\)"),
    (lambda: md.Oscillation(AXIS, 0.0), r"frequency = 0.0: give a number greater than 0"),
    (lambda: md.Oscillation(AXIS, 1.0, np.inf), r"phase = inf: give finite numbers"),
    (lambda: md.MeshWall((CUBE, CUBE_FACES), scale=-1.0), r"scale = -1.0: give a number greater than 0"),
    (lambda: md.MeshWall((CUBE, CUBE_FACES), feature_angle=20.0), r"feature_angle = 20.0: give an angle in radians"),
    (lambda: md.MeshWall(CUBE), r"surface = .*give a file, or a tuple \(points \(n, 3\), triangles \(m, 3\)\)"),
    (lambda: md.MeshWall(("a", CUBE_FACES)), r"points = 'a': not real numbers"),
    (lambda: md.MeshWall((CUBE[:, :2], CUBE_FACES)), r"points has shape \(8, 2\); give shape \(n, 3\)"),
    (lambda: md.MeshWall((CUBE * [1, np.nan, 1], CUBE_FACES)), r"points\[0, 1\] = nan: give finite numbers"),
    (lambda: md.MeshWall((CUBE * 1e61, CUBE_FACES)), r"points\[\d, \d\] = 1e\+61: stay within"),
    (lambda: md.MeshWall((CUBE * 1e40, CUBE_FACES), scale=1e40), r"points\[\d, \d\] = 1e\+80: stay within"),
    (lambda: md.MeshWall((CUBE, CUBE_FACES + 1)), r"triangles\[\d, \d\] = 8: give indices of the 8 points, from 0"),
    (lambda: md.MeshWall((CUBE, -CUBE_FACES)), r"triangles\[0, 1\] = -1: give indices"),
    (lambda: md.MeshWall((CUBE, CUBE_FACES + 0.0)), r"triangles has shape \(12, 3\) of float64; give \(m, 3\) indices"),
    (lambda: md.MeshWall((CUBE, CUBE_FACES[:, :2])), r"triangles has shape \(12, 2\) of int64; give \(m, 3\) indices"),
    (lambda: md.MeshWall((np.zeros((0, 3)), np.zeros((0, 3), dtype=int))), r"none of its 0 triangles has an area"),
    (lambda: md.MeshWall((CUBE, [[0, 0, 1], [0, 1, 1]])), r"none of its 2 triangles has an area"),
    (lambda: md.MeshWall("absent.stl"), r"absent.stl"),
    (lambda: md.MeshWall(""), r"surface = '': give the name of a file"),
    (lambda: md.Simulation(MATERIAL, md.Plane(ORIGIN, AXIS), dt=1e-5), r"walls = Plane.*give a list of minidem"),
    (lambda: md.Simulation(MATERIAL, [1], dt=1e-5), r"walls\[0\] = 1: give minidem.Plane, Cylinder, Cone and MeshWall"),
])
def test_messages(make, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        make()


@pytest.mark.parametrize("wall", [md.Cylinder(ORIGIN, AXIS, 1), md.MeshWall((CUBE, CUBE_FACES)),
                                  md.Plane(ORIGIN, AXIS, velocity=AXIS)])
def test_onset_correction_is_refused(wall):
    with pytest.raises(ValueError, match=r"walls\[1\] = .*onset correction .* needs planes at rest; take onset=plain"):
        md.Simulation(MATERIAL, [md.Plane(ORIGIN, AXIS), wall], contact="hertz:onset=corrected", dt=1e-5)


@pytest.mark.parametrize("wall, motion", [
    (md.Plane(ORIGIN, AXIS), lambda t: (ORIGIN, (0.1 * t, 0, 0))),
    (md.Cylinder(ORIGIN, AXIS, 1), lambda t: (ORIGIN, (0.1 * t, 0, 0))),
    (md.Cylinder(ORIGIN, AXIS, 1, center=(1, 0, 0)), lambda t: (ORIGIN, (0, 0, 0.1 * t)))])
def test_tilting_motion_is_refused(wall, motion):
    fields = {name: getattr(wall, name) for name in ("point", "center")}
    fields |= {"normal": wall.normal} if hasattr(wall, "normal") else {"axis": wall.axis, "radius": wall.radius}
    sim = simulation([type(wall)(**fields, motion=motion)], "hertz", 1e-3)
    sim.add_clumps(BALL, [(0, 0, 0.2)], scale=0.1)
    with pytest.raises(ValueError, match="turns about another axis than that of its symmetry; give a MeshWall"):
        sim.run(10)
    assert sim.step_count == 0 and np.all(np.isfinite(sim.position))


@pytest.mark.parametrize("answer", [None, 3, ((0, 0, 0),), [(0, 0, 0), (0, 0, 0)]])
def test_answer_of_a_motion(answer):
    with pytest.raises(ValueError, match=r"motion of a wall returned .* at t = .*: return a tuple \(displacement"):
        simulation([md.Plane(ORIGIN, AXIS, motion=lambda t: answer)], "hertz", 1e-3)


@pytest.mark.parametrize("answer, message", [(((0, 0, np.nan), ORIGIN), "nan"), (((0, 0), (0, 0)), r"shape \(2, 2\)")])
def test_numbers_of_a_motion(answer, message):
    with pytest.raises(ValueError, match=f"motion of a wall at t = .*{message}"):
        simulation([md.Plane(ORIGIN, AXIS, motion=lambda t: answer)], "hertz", 1e-3)


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "vtu"])
def test_files(kind, tmp_path):
    path = tmp_path / f"cube.{kind}"
    meshio.Mesh(1000.0 * CUBE, [("triangle", CUBE_FACES)]).write(path)
    read, given = md.MeshWall(path, scale=0.001), md.MeshWall((CUBE, CUBE_FACES))
    path.unlink()                                       # not read again
    ends = []
    for wall in read, given:
        sim = simulation([wall], MINDLIN, 1e-4, gravity=(1, 2, -9))
        sim.add_clumps(BALL, [(0.3, 0.5, 1.15), (0.9, 0.1, 1.3)], scale=0.1)
        sim.run(1500)
        ends.append(sim.position)
    np.testing.assert_allclose(*ends, atol=1e-6)
    assert len(read.triangles) == 12 and len(read.points) == 8


def test_checkpoint_of_a_function(tmp_path):
    walls = [md.Plane(ORIGIN, AXIS), md.MeshWall((CUBE, CUBE_FACES), motion=lambda t: ((0, 0, t), ORIGIN)),
             md.Cylinder(ORIGIN, AXIS, 9.0, motion=md.Oscillation(AXIS, 2.0, 0.1), material=MATERIAL)]
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
    found = sim.overlap_walls([(0, 0, -0.5, 0.4), (0, 0, -0.5, 0.6), (0.5, 0.5, 0.5, 0.4), (0.5, 0.5, 0.5, 0.6),
                               (0, -2.5, 5, 0.4), (0, -2.5, 5, 0.6)])
    assert found.tolist() == [False, True] * 3
    assert sim.overlap_walls(np.zeros((0, 4))).shape == (0,)
    for bad in [(0, 0, 0)], [(0, 0, 0, np.nan)]:
        with pytest.raises(ValueError):
            sim.overlap_walls(bad)


def test_inlet_near_a_mesh():
    """New clumps overlap no triangle of a wall that moves through the box of the inlet."""
    sim = simulation([md.MeshWall((CUBE - (0, 0, 0.5), CUBE_FACES), velocity=(0, 0, -2.0))], "hertz", 1e-3)
    ball = md.ClumpTemplate([(0, 0, 0)], [0.05], density=1000.0)
    inlet = Inlet(ball, (0.4, 0.4, 0), (1.2, 1.2, 0.8), 2000.0, every=5)
    added = 0
    for _ in range(12):
        sim.run(5)
        ids = inlet(sim)
        added += len(ids)
        places = sim.position[np.isin(sim.ids, ids)]
        assert not np.any(sim.overlap_walls(np.column_stack([places, np.full(len(ids), 0.05)])))
    assert added > 60


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


def broken_meshes():
    """Names and surfaces of meshes that are not clean."""
    rng = np.random.default_rng(1)
    points, triangles = facets(12)
    sliver = np.append(CUBE, [[0.5, 0.5, 1.0 + 1e-9], [0.2, 0.2, 1.0]], axis=0)
    yield "hole", (CUBE, CUBE_FACES[1:])
    yield "doubles", (np.tile(CUBE, (3, 1)), np.concatenate([CUBE_FACES, CUBE_FACES[:, ::-1] + 8, CUBE_FACES + 16]))
    yield "inverted", (CUBE, np.where(rng.random((12, 1)) < 0.5, CUBE_FACES, CUBE_FACES[:, ::-1]))
    yield "slivers", (sliver, np.append(CUBE_FACES, [[1, 8, 9], [1, 7, 8], [9, 9, 8], [5, 7, 9]], axis=0))
    yield "unused", (np.append(CUBE, [[50.0, 0, 0]], axis=0), CUBE_FACES)
    yield "split", (CUBE[CUBE_FACES].reshape(-1, 3) + 1e-10 * rng.normal(size=(36, 3)), np.arange(36).reshape(-1, 3))
    yield "open", (points, triangles)


BROKEN = dict(broken_meshes())


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("contact", ["hertz", MINDLIN])
def test_broken_meshes(name, contact):
    """A sound run: finite numbers, and no sphere passes through a face that is there."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        wall = md.MeshWall(BROKEN[name])
        assert len(md.MeshWall((wall.points, wall.triangles)).triangles) == len(wall.triangles)
    sim = simulation([wall, *md.box((-1, -1, -1), (2, 2, 2))], contact, 1e-4)
    rng = np.random.default_rng(3)
    inside = 0.2 + 0.3 * np.argwhere(np.ones((3, 3, 3)))
    sim.add_clumps(BALL, inside, velocity=2.0 * rng.normal(size=(27, 3)), scale=0.05)
    sim.run(4000)
    assert np.all(np.isfinite(sim.position)) and np.all(np.abs(sim.velocity) < 20.0)
    if name not in ("hole", "open"):
        assert np.all((sim.position > 0.0) & (sim.position < 1.0))


def test_random_meshes():
    """Points and indices of any kind: an error that names them, or a run with finite numbers."""
    hypothesis = pytest.importorskip("hypothesis")
    numbers = hypothesis.strategies.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-9, 1.0 + 1e-9, 1e30, 1e-30, np.nan, 3.0])
    point = hypothesis.strategies.tuples(numbers, numbers, numbers)
    index = hypothesis.strategies.integers(-1, 9)
    triangle = hypothesis.strategies.tuples(index, index, index)
    lists = hypothesis.strategies.lists

    @hypothesis.settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @hypothesis.given(lists(point, min_size=3, max_size=10), lists(triangle, min_size=1, max_size=12))
    def check(points, triangles):
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            try:
                wall = md.MeshWall((points, triangles))
            except ValueError as error:
                assert any(word in str(error) for word in ("points", "triangles", "surface"))
                return
            again = md.MeshWall((wall.points, wall.triangles))
            sim = simulation([wall], "hertz", 1e-4, gravity=(0, 0, -9.81))
        assert np.array_equal(again.points, wall.points) and np.array_equal(again.triangles, wall.triangles)
        place = np.array([[0.3, 0.3, 0.3]])
        if not sim.overlap_walls(np.column_stack([place, [0.1]]))[0]:
            sim.add_clumps(BALL, place, velocity=(0, 0, -2.0), scale=0.1)
            sim.run(300)
            assert np.all(np.isfinite(sim.position))
    check()


@pytest.mark.parametrize("size", [1e-5, 1e3, 1e6])
def test_scales(size):
    """A ball inside a cube of any size stays there."""
    sim = simulation([md.MeshWall((size * CUBE, CUBE_FACES))], "hertz", 1e-4 * size)
    sim.add_clumps(BALL, [size * np.array([0.5, 0.4, 0.6])], velocity=(3, 2, -1), scale=0.1 * size)
    sim.run(8000)
    assert np.all((sim.position > 0.05 * size) & (sim.position < 0.95 * size))
    np.testing.assert_allclose(np.linalg.norm(sim.velocity), 14**0.5, rtol=0.01)
