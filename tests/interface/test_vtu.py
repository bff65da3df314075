"""VTU files of spheres, walls, contacts and bonds, and their series: read back with meshio and with VTK itself."""
import warnings

import meshio
import numpy as np
import pytest
from killed_runs import frames_of
from scenes import gas

import minidem as md
from minidem.core.quaternions import rotate
from minidem.output import vtu, wall_shapes
from minidem.output.vtu import Pvd

POINT_DATA = {"radius": (), "clump": (), "velocity": (3,), "angular_velocity": (3,), "orientation": (4,),
              "template": (), "clump_center": (3,), "contact_force": (3,)}


@pytest.mark.parametrize("float32", [False, True])
def test_spheres(sim, tmp_path, float32):
    vtu.Frame(sim, float32).write(tmp_path / "a.vtu")
    mesh, real = meshio.read(tmp_path / "a.vtu"), np.float32 if float32 else np.float64
    data, clump, n = mesh.point_data, mesh.point_data["clump"], sim.n_spheres
    templates = [sim.templates[k] for k in sim.template_index]
    assert mesh.points.dtype == real and np.array_equal(mesh.points, sim.sphere_centers.astype(real))
    [cells] = mesh.cells
    assert cells.type == "vertex" and np.array_equal(cells.data[:, 0], np.arange(n))
    assert {name: values.shape for name, values in data.items()} == {
        name: (n, *shape) for name, shape in POINT_DATA.items()}
    assert {name for name in data if data[name].dtype != real} == {"clump", "template"} and clump.dtype == np.int32
    scale = sim.scale[clump]
    np.testing.assert_array_equal(clump, np.repeat(np.arange(6), [len(t.radii) for t in templates]))
    np.testing.assert_array_equal(data["radius"], (scale * np.concatenate([t.radii for t in templates])).astype(real))
    np.testing.assert_array_equal(data["angular_velocity"], sim.angular_velocity[clump].astype(real))
    np.testing.assert_array_equal(data["template"], sim.template_index[clump])
    np.testing.assert_array_equal(data["clump_center"], sim.position[clump].astype(real))
    # The orientation takes the spheres from where they were drawn to where they are: component order and sense.
    # Coordinates of up to 9 m carry half an ulp from each of a few sums.
    drawn = scale[:, None] * np.concatenate([t.centers - t.center_of_mass for t in templates])
    arms = rotate(data["orientation"], drawn)
    np.testing.assert_allclose(mesh.points, sim.position[clump] + arms, rtol=0, atol=20 * np.spacing(real(9.0)))
    velocity = sim.velocity[clump] + np.cross(sim.angular_velocity[clump], arms)
    np.testing.assert_allclose(data["velocity"], velocity, rtol=0, atol=20 * np.spacing(real(9.0)))


@pytest.mark.parametrize("choice, found", [
    ("all", tuple(vtu.ARRAYS)[:-1]), ("orientation,clump", ("radius", "clump", "orientation")),
    ("angular_velocity,radius", ("radius", "angular_velocity"))])
def test_chosen_fields(choice, found, sim, tmp_path):
    """They have the bytes that they have among all, in the same order; `image` is for periodic boxes."""
    sim.io.write_vtu(tmp_path / "all.vtu")
    sim.io.write_vtu(tmp_path / "some.vtu", fields=choice)
    sim.io.write_vtu(tmp_path / "list.vtu", fields=choice.split(",") if choice != "all" else None)
    whole, some = (meshio.read(tmp_path / name) for name in ("all.vtu", "some.vtu"))
    assert tuple(some.point_data) == found and np.array_equal(some.points, whole.points)
    for name, values in some.point_data.items():
        np.testing.assert_array_equal(values, whole.point_data[name])
    assert (tmp_path / "some.vtu").read_bytes() == (tmp_path / "list.vtu").read_bytes()
    assert ((tmp_path / "some.vtu").read_bytes() == (tmp_path / "all.vtu").read_bytes()) == (choice == "all")


def test_velocities_in_a_sheared_box(tmp_path):
    """Of rods that are drawn in the box: beside its flow they are those of the rods themselves."""
    sim, middle = gas({"shear": ("x", "y", 5.0)}, n=20, solid_fraction=0.05), slice(1, None, 3)
    sim.run(20_000)
    sim.io.write_vtu(tmp_path / "a.vtu")
    mesh = meshio.read(tmp_path / "a.vtu")
    places = mesh.points[middle]
    assert np.abs(places - sim.position)[:, 1].max() > 0.1
    np.testing.assert_allclose(mesh.point_data["velocity"][middle] - sim.box.flow(places),
                               sim.velocity - sim.box.flow(sim.position), rtol=0, atol=1e-12)


def test_vtk_opens_all_files(sim, tmp_path):
    read = pytest.importorskip("pyvista").read
    sim.run(10)
    sim.io.write_vtu(tmp_path / "a.vtu")
    spheres = read(tmp_path / "a.vtu")
    np.testing.assert_array_equal(spheres.points, sim.sphere_centers)
    assert {name: spheres[name].shape[1:] for name in spheres.point_data} == POINT_DATA
    np.testing.assert_array_equal(spheres["radius"], sim.sphere_radii)
    assert spheres.field_data["TimeValue"] == sim.time
    assert wall_shapes.write_walls(tmp_path / "walls.vtu", sim)
    np.testing.assert_allclose(read(tmp_path / "walls.vtu").bounds, (0, 9, 0, 8, 0, 7), rtol=0, atol=9e-12)
    for empty in (md.Simulation(md.Material(1e9, 0.1), dt=1e-5), md.Simulation(
            md.Material(1e9, 0.1), [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-5, contact="hertz-mindlin:bonds=parallel")):
        for number, write in enumerate((empty.io.write_vtu, empty.io.write_contacts, empty.io.write_bonds)):
            write(tmp_path / "empty.vtu")
            assert read(tmp_path / "empty.vtu").n_cells == 0, number
        assert not wall_shapes.write_walls(tmp_path / "no_walls.vtu", empty)
    assert not (tmp_path / "no_walls.vtu").exists()


@pytest.mark.parametrize("normal", [(0.3, 0, 1), (1, 0, 1), (1, 1, 1), (-1, 0.2, 0)])
def test_infinite_planes_cover_the_clumps(normal, tmp_path):
    """The foot of the perpendicular from any sphere is in the polygon, a tenth of the extent within its edges."""
    sim = md.Simulation(md.Material(1e9, 0.1), [md.Plane((-3, 0, -3), normal)] if normal[0] > 0 else
                        [md.Plane((9, 0, 0), normal)], dt=1e-5)
    centers = np.array([(x, y, z) for x in (0, 3.0) for y in (0, 1.0) for z in (0, 2.0)])
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1]), centers)
    mesh = wall_shapes.wall_mesh(sim)
    polygon, inward = mesh.points[mesh.cells[0].data[0]], np.array(normal) / np.linalg.norm(normal)
    feet = centers - np.outer((centers - polygon[0]) @ inward, inward)
    for corner, after in zip(polygon, np.roll(polygon, -1, axis=0)):
        aside = np.cross(inward, after - corner) / np.linalg.norm(after - corner)
        assert np.min((feet - corner) @ aside) > 0.099


class Flange(md.Cone):
    """A shape of a user's own, which says nothing of its drawing."""
    profile = md.walls.Wall.profile


class DrawnFlange(Flange):
    def drawn(self):
        return np.add(self.point, [(0, 0, 0), (1, 0, 0), (0, 1, 0)]), np.array([(0, 1, 2)])


def test_a_wall_of_an_own_shape_is_drawn_or_named():
    def mesh(kind):
        walls = [md.Plane((0, 0, -1), (0, 0, 1)), kind((0, 0, 2), (0, 0, 1), (1, 1), 2)]
        sim = md.Simulation(md.Material(1e9, 0.1), walls, dt=1e-5)
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1]), [(0, 0, 0)])
        return wall_shapes.wall_mesh(sim)
    with pytest.warns(UserWarning, match="wall 1, a Flange, is not drawn: let its method `drawn` return points"):
        assert [block.type for block in mesh(Flange).cells] == ["quad"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mesh(DrawnFlange)
    assert [block.type for block in found.cells][1:] == ["triangle"] and (0, 1, 2) in map(tuple, found.points)


@pytest.mark.parametrize("between", ["clumps", "spheres"])
def test_contacts_as_lines(between, dimers_on_floor, tmp_path):
    """With the forces of contacts; their sums are in the file of spheres, without gravity and user forces."""
    sim = dimers_on_floor
    sim.forces.add(lambda t, x, v, q, w: (np.ones_like(x), np.zeros_like(x)))
    sim.io.write_contacts(tmp_path / "a.vtu", between=between)
    sim.io.write_vtu(tmp_path / "spheres.vtu")
    mesh, contacts = meshio.read(tmp_path / "a.vtu"), sim.contacts()
    assert len(contacts) >= 4 and mesh.cells[0].type == "line" and contacts["sliding"].any()
    data = {name: values[0] for name, values in mesh.cell_data.items()}
    np.testing.assert_allclose(np.hypot(data["normal_force"], data["tangential_force"]), data["force"], rtol=1e-12)
    np.testing.assert_allclose(data["force"], np.linalg.norm(contacts["force"], axis=1), rtol=1e-12)
    for name in ("overlap", "sliding", "clump_i", "clump_j"):
        np.testing.assert_array_equal(data[name], contacts[name])
    centers, sums = sim.position if between == "clumps" else sim.sphere_centers, np.zeros((2, 3))
    for line, contact in zip(mesh.cells[0].data, contacts, strict=True):
        j = contact[f"{between[:-1]}_j"]
        np.testing.assert_array_equal(mesh.points[line[0]], centers[contact[f"{between[:-1]}_i"]])
        np.testing.assert_array_equal(mesh.points[line[1]], contact["point"] if j < 0 else centers[j])
        sums[contact["clump_i"]] += contact["force"]
        if j >= 0:
            sums[contact["clump_j"]] -= contact["force"]
    force = meshio.read(tmp_path / "spheres.vtu").point_data["contact_force"]
    np.testing.assert_allclose(force, np.repeat(sums, 2, axis=0), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("between", ["clumps", "spheres"])
def test_lines_in_a_periodic_box_are_short(between, tmp_path):
    """They begin at a clump in the box, whole as in a frame, and end at the image that it touches."""
    dimer = md.ClumpTemplate(centers=[(-0.3, 0, 0), (0.3, 0, 0)], radii=[0.5, 0.5], density=1000.0)
    sim = md.Simulation(md.Material(1e7, 0.2), dt=1e-4, periodic=((0, 0, 0), (5, 3, 3), (True, True, False)))
    sim.add_clumps(dimer, [(0.2, 1, 1), (8.61, 1, 1)])      # the image of the second at -1.39
    sim.io.write_contacts(tmp_path / "a.vtu", between=between)
    sim.io.write_vtu(tmp_path / "spheres.vtu")
    mesh, frame = meshio.read(tmp_path / "a.vtu"), meshio.read(tmp_path / "spheres.vtu")
    assert len(mesh.cells[0].data) == 1 and mesh.cell_data["force"][0] > 0.0
    x = {"clumps": (0.2, -1.39), "spheres": (-0.1, -1.09)}[between]
    np.testing.assert_allclose(mesh.points, [(x[0], 1, 1), (x[1], 1, 1)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(frame.point_data["clump_center"][:, 0], [0.2, 0.2, 3.61, 3.61], rtol=0, atol=1e-12)


def test_bonds_as_lines(bonded, tmp_path):
    """From centre to centre of the spheres, across a face to the image, with what `bonds` lists."""
    sim, edge = bonded, bonded.box.length[0]
    sim.run(40)
    sim.remove_clumps([0])
    sim.io.write_bonds(tmp_path / "a.vtu")
    mesh, bonds, centers = meshio.read(tmp_path / "a.vtu"), sim.bonds(), sim.sphere_centers
    starts, ends = mesh.points[mesh.cells[0].data].swapaxes(0, 1)
    apart = centers[bonds["sphere_j"]] - centers[bonds["sphere_i"]]
    assert len(bonds) > 1 and mesh.cells[0].type == "line"
    np.testing.assert_allclose(ends - starts, apart - edge * np.round(apart / edge), rtol=0, atol=1e-12)
    off = (starts - centers[bonds["sphere_i"]]) / edge
    np.testing.assert_allclose(off, np.round(off), rtol=0, atol=1e-12)
    for name in ("normal_force", "shear_force", "bending", "torsion", "tension", "shear", "energy"):
        assert mesh.cell_data[name][0].tolist() == bonds[name].tolist() and np.any(bonds[name] != 0.0)
    for name in ("clump_i", "clump_j"):
        assert mesh.cell_data[name][0].tolist() == sim.ids[bonds[name]].tolist()


def test_a_series(tmp_path):
    """It is whole after every frame, can be continued, and others are refused."""
    path = tmp_path / "run.pvd"
    series = Pvd(path)
    series.write()
    times = [0.0, 0.1, 0.1 + 0.2, 1 / 3]
    for k, time in enumerate(times):
        assert frames_of(path) == [(repr(t), f"frames/a&b_{j}.vtu") for j, t in enumerate(times[:k])]
        series.add(time, tmp_path / "frames" / f"a&b_{k}.vtu")
    again = Pvd(path, keep=lambda time: time < 0.2)
    again.add(0.25, tmp_path / "frames" / "late.vtu")
    assert again.frames == [(0.0, "frames/a&b_0.vtu"), (0.1, "frames/a&b_1.vtu"), (0.25, "frames/late.vtu")]
    assert [(float(time), file) for time, file in frames_of(path)] == again.frames
    for text in ("", "<VTKFile><Coll", "<a><DataSet/></a>", '<a><DataSet timestep="x" file="y"/></a>'):
        path.write_text(text)
        with pytest.raises(ValueError, match="run.pvd: not a series"):
            Pvd(path, keep=lambda time: True)
        assert path.read_text() == text


def test_frames_of_a_script(tmp_path):
    """With contacts, moving walls and arrays of the script, one value a clump; also at a time at which they failed."""
    sim = md.Simulation(md.Material(1e7, 0.2), [md.Plane((0, 0, 0), (0, 0, 1), velocity=(0, 0, 0.1))], dt=1e-4)
    rod = md.ClumpTemplate([(-0.1, 0, 0), (0.1, 0, 0)], [0.1, 0.1], density=1000.0)
    sim.add_clumps(rod, [(0, 0, 0.0999), (0, 0, 1), (0, 0, 2), (0, 0, 3)], velocity=(0, 0, 1))
    start, own = sim.position.copy(), []
    frames = md.Frames(tmp_path / "a", contacts=True, fields="clump", name="shaken", extra={
        "height": lambda sim: sim.position[:, 2], "displacement": lambda sim: sim.position - start,
        "own": lambda sim: np.array(own)})
    sim.run(10)
    with pytest.raises(ValueError, match=r"result of extra\['own'\] "):
        frames(sim)
    own.extend(range(4))
    frames(sim)
    sim.run(10, every=10, callback=frames)
    names = sorted(path.name for path in (tmp_path / "a" / "frames").iterdir())
    assert names == [f"shaken_0000000{k}0{end}.vtu" for k in (1, 2) for end in ("", "_contacts", "_walls")]
    series = Pvd(tmp_path / "a" / "shaken.pvd", keep=lambda time: True)
    assert len(series.frames) == 6 and series.frames[-1][0] == sim.time
    data = meshio.read(tmp_path / "a" / "frames" / "shaken_000000020.vtu").point_data
    assert set(data) == {"radius", "clump", "height", "displacement", "own"}
    np.testing.assert_array_equal(data["height"], sim.position[data["clump"], 2].astype(np.float32))
    np.testing.assert_array_equal(data["displacement"], (sim.position - start)[data["clump"]].astype(np.float32))
    assert data["own"].tolist() == data["clump"].tolist()
