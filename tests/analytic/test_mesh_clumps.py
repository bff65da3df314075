"""Clumps fitted to meshes: spheres in thin parts, warnings about bad fits, mass properties of the mesh."""
import copy
import pickle
import warnings

import meshio
import numpy as np
import pytest
from scenes import warnings_of

import minidem as md
from minidem.mesh_report import MeshReport
from minidem.shapes import platonic_mesh
from minidem.templates import fit_mesh
from minidem.templates.triangle_mesh import TriangleMesh

pytestmark = pytest.mark.usefixtures("coarse_fits")
CUBE = platonic_mesh("cube", 1.0)


def prism(outline, inner, height, name):
    """A ring of some height between two outlines (n, 2) with equally many points."""
    n = len(outline)
    points = np.concatenate([np.column_stack([line, np.full(n, z)])
                             for line in (inner, outline) for z in (0.0, height)])
    quads = [quad for i in range(n) for j in [(i + 1) % n] for quad in (
        (2 * n + i, 2 * n + j, 3 * n + j, 3 * n + i), (j, i, n + i, n + j),
        (3 * n + i, 3 * n + j, n + j, n + i), (2 * n + j, 2 * n + i, i, j))]
    return TriangleMesh(points, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], name)


def circle(n, radius):
    angle = 2.0 * np.pi * np.arange(n) / n
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def plate():
    outline = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=float)
    return prism(outline, 0.3 * outline + 0.1, 0.02, "plate")


def quiet(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return md.ClumpTemplate.from_mesh(*arguments, **options)


def test_a_density_that_is_not_given_is_reported():
    with pytest.warns(UserWarning, match="density is not given: 2500 kg/m3 are taken"):
        clump = md.ClumpTemplate.from_mesh(CUBE, 4)
    assert clump.density == 2500.0
    texts, clump = warnings_of(lambda: md.ClumpTemplate.from_mesh(CUBE, 4, 1000.0))
    assert clump.density == 1000.0 and not any("density" in text for text in texts)


def hammer():
    """A cube of 1 m with a handle 4 cm wide and 1.6 m long through the centre of its lower face."""
    handle = CUBE.vertices * [0.04, 0.04, 2.0] - [0.0, 0.0, 1.1]
    return TriangleMesh(np.concatenate([CUBE.vertices, handle]), np.concatenate([CUBE.triangles, CUBE.triangles + 8]),
                        "hammer")


@pytest.mark.parametrize("mesh, spheres, near", [
    (plate(), 60, 0.12), (prism(circle(40, 1.0), circle(40, 0.96), 0.04, "ring"), 60, 0.12),
    (prism(circle(40, 1.0), circle(40, 0.97), 0.5, "tube"), 80, 0.2)], ids=["plate", "ring", "tube"])
def test_spheres_are_spread_over_thin_bodies(mesh, spheres, near):
    """Much volume is missing, but evenly: centre of mass and moments per mass are right, no part lacks spheres."""
    clump = quiet(mesh, spheres)
    assert len(clump.radii) == spheres and MeshReport(mesh, clump).center_error < 0.06
    assert clump.inertia / clump.mass == pytest.approx(mesh.moments / mesh.volume, rel=0.06)
    away = np.linalg.norm(mesh.corners.mean(axis=1)[:, None] - clump.centers, axis=2) - clump.radii
    assert away.min(axis=1).max() < near
    from_surface = [fit_mesh.triangle_distance(center, mesh.corners).min() for center in clump.centers]
    assert np.all(clump.radii <= np.array(from_surface) * (1.0 + 1e-12))            # none protrudes


def test_thin_part_of_a_thick_body():
    clump = quiet(hammer(), 40)
    assert -2.1 <= (clump.centers[:, 2] - clump.radii).min() < -1.7 and clump.volume > 0.8
    heights = np.sort(clump.centers[clump.centers[:, 2] < -0.5, 2])
    assert len(heights) >= 3 and np.diff(heights).max() < 0.8


@pytest.mark.slow
def test_warnings_about_bad_fits():
    for mesh, spheres in ((plate(), 30), (CUBE, 5)):
        with pytest.warns(UserWarning, match=rf"{mesh.name}: {spheres} spheres fit badly: volume -\d.*inertia.*centre"
                                             r".*increase spheres.*match='mesh'"):
            md.ClumpTemplate.from_mesh(mesh, spheres)
    with pytest.warns(UserWarning, match="hammer: .* 2 bodies"):
        md.ClumpTemplate.from_mesh(hammer(), 5)
    with pytest.warns(UserWarning, match="contacts"):
        md.ClumpTemplate.from_mesh(plate(), 30, match="mesh")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        md.ClumpTemplate.from_mesh(platonic_mesh("icosahedron", 1.0), 60, 2500.0)
        md.ClumpTemplate.from_mesh(CUBE, 40, 2500.0, match="mesh")


def test_mass_and_inertia_of_a_box():
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    mesh = TriangleMesh(CUBE.vertices * [1.0, 2.0, 3.0] @ turn.T + [4.0, 5.0, 6.0], CUBE.triangles)
    inverted = TriangleMesh(1e-3 * mesh.vertices, mesh.triangles[:, ::-1])
    assert inverted.volume == pytest.approx(6e-9, rel=1e-11)
    assert inverted.moments == pytest.approx(1e-15 * mesh.moments, rel=1e-11)
    clump = quiet(mesh, 30, density=100.0, match="mesh")
    assert clump.mass == pytest.approx(600.0, rel=1e-12) and clump.volume == pytest.approx(6.0, rel=1e-12)
    assert clump.center_of_mass == pytest.approx([4.0, 5.0, 6.0], rel=1e-12)
    assert clump.inertia == pytest.approx(np.array([1 + 4, 1 + 9, 4 + 9]) * 50.0, rel=1e-12)
    assert np.abs(clump.axes.T @ turn[:, ::-1]) == pytest.approx(np.eye(3), abs=1e-9)     # the long side is axis 1
    assert np.linalg.det(clump.axes) == pytest.approx(1.0) and 0.0 < clump.relative_error < 1e-11
    # the spheres are those of match="spheres"
    spheres = quiet(mesh, 30, density=100.0)
    assert np.array_equal(clump.centers, spheres.centers) and np.array_equal(clump.radii, spheres.radii)
    assert clump.offsets @ clump.axes.T + clump.center_of_mass == pytest.approx(np.array(clump.centers), rel=1e-12)
    assert clump.bounding_radius == pytest.approx((np.linalg.norm(clump.offsets, axis=1) + clump.radii).max())
    with pytest.raises(ValueError, match="match = 'both': give 'spheres' or 'mesh'"):
        md.ClumpTemplate.from_mesh(mesh, match="both")


def test_clump_of_a_scaled_file(tmp_path):
    """STL repeats the vertices and has single precision."""
    meshio.Mesh((CUBE.vertices + 0.5) * [1.0, 2.0, 3.0], {"triangle": CUBE.triangles}).write(tmp_path / "box.stl")
    assert TriangleMesh.read(tmp_path / "box.stl", 0.01).volume == pytest.approx(6e-6, rel=1e-6)
    clump = quiet(tmp_path / "box.stl", spheres=20, density=1000.0, scale=0.01)
    assert len(clump.radii) == 20 and clump.volume < 6e-6
    low, high = clump.centers - clump.radii[:, None], clump.centers + clump.radii[:, None]
    assert np.all(low >= -1e-9) and np.all(high <= np.array([0.01, 0.02, 0.03]) + 1e-9)


@pytest.mark.slow
def test_slivers_and_thin_bodies():
    """Long thin triangles are sampled along their length; a body too thin for any cell is refused by name."""
    rod = TriangleMesh(2.0 * CUBE.vertices * [1.0, 0.02, 0.02], CUBE.triangles)
    clump = quiet(rod, 50)
    # fifty spheres of the half width in a row: the largest that fit, less one fiftieth because of the cells
    assert np.all(clump.radii <= 0.02) and clump.radii.max() > 0.98 * 0.02
    plate = TriangleMesh(2.0 * CUBE.vertices * [1.0, 1.0, 1e-4], CUBE.triangles, "plate")
    with pytest.raises(ValueError, match="plate: thinner than"):
        quiet(plate)


def test_a_vertex_far_away(tmp_path):
    """The box around such a mesh has more cells than memory, though the solid has few."""
    points = np.array(CUBE.vertices)
    points[np.argmax(points.sum(axis=1))] *= 1000.0
    meshio.Mesh(points, [("triangle", CUBE.triangles)]).write(tmp_path / "far.vtk")
    with pytest.raises(ValueError, match=r"far.vtk: it fills so little of its box .* look for a vertex"):
        md.ClumpTemplate.from_mesh(tmp_path / "far.vtk", spheres=5, density=2500.0)


def test_axes_of_symmetric_meshes_do_not_depend_on_round_off(tmp_path):
    """In single precision, that of STL: a cube has the axes of the file, a tube those about its axis."""
    for mesh, equal in ((CUBE, 3), (prism(circle(48, 0.31), circle(48, 0.17), 1.3, "tube"), 2)):
        shifted = mesh.vertices + [0.1, 0.2, 0.3]
        meshio.Mesh(shifted.astype(np.float32), {"triangle": mesh.triangles}).write(tmp_path / "a.stl")
        clump = quiet(tmp_path / "a.stl", 30, match="mesh")
        assert len(set(clump.inertia.tolist())) == 4 - equal
        exact = quiet(TriangleMesh(shifted, mesh.triangles), 30, match="mesh")
        assert clump.axes == pytest.approx(np.array(exact.axes), abs=1e-5) and clump.relative_error < 2e-6
    n, outer, inner, height = 48, 0.31, 0.17, 1.3
    # area and polar second moment of a regular polygon of n sides
    area = 0.5 * n * np.sin(2 * np.pi / n) * (outer ** 2 - inner ** 2)
    polar = n / 4 * np.sin(2 * np.pi / n) * (2 + np.cos(2 * np.pi / n)) / 3 * (outer ** 4 - inner ** 4)
    across = 0.5 * polar * height + area * height ** 3 / 12.0
    assert exact.inertia / exact.density == pytest.approx([polar * height, across, across], rel=1e-12)


@pytest.fixture(scope="module")
def matched():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_mesh, "CELLS", 10_000)
        return quiet(hammer(), 20, density=1234.5, match="mesh")


def same(one, other):
    return vars(one).keys() == vars(other).keys() and all(
        np.array_equal(value, vars(other)[name]) for name, value in vars(one).items())


def test_matched_clumps_are_stored_exactly(matched, tmp_path):
    """Pickles, copies and checkpoints return the same bits, with the mass properties of the mesh."""
    assert matched.mass != md.ClumpTemplate(matched.centers, matched.radii, matched.density).mass
    sim = md.Simulation(md.Material(young=1e8, poisson=0.2), dt=1e-5)
    sim.add_clumps(matched, position=[(0, 0, 0)], angular_velocity=[(1, -2, 0.5)])
    sim.save(tmp_path / "state.npz")
    loaded, = md.Simulation.load(tmp_path / "state.npz").templates
    assert all(same(matched, other) for other in (pickle.loads(pickle.dumps(matched)), copy.deepcopy(matched), loaded))
    matched.to_file(tmp_path / "matched.txt")
    heavy = md.ClumpTemplate.from_file(tmp_path / "matched.txt", density=2.0 * matched.density)
    assert [heavy.mass, *heavy.inertia] == pytest.approx([2.0 * matched.mass, *2.0 * matched.inertia], rel=1e-14)
    spin = matched.axes.T @ [1.0, -2.0, 0.5]
    assert sim.energy().rotational == pytest.approx(0.5 * spin @ (matched.inertia * spin), rel=1e-9)


@pytest.mark.parametrize("old, new", [
    ('"volume": ', '"volume": -'), ('"inertia": [', '"inertia": [0.0, '), ('{"vol', '{{"vol'),
    ('"axes": ', '"axes": [[1, 0, 0], [0, 1, 0], [0, 0, -1]], "was": '), ('"density"', '"weight"')])
def test_files_with_impossible_mass_properties(matched, tmp_path, old, new):
    path = tmp_path / "hammer.txt"
    matched.to_file(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match="hammer.txt: .*body"):
        md.ClumpTemplate.from_file(path)
