"""Meshes: volume and inertia of the solid, refused input, and the clumps fitted into them."""
import meshio
import numpy as np
import pytest

import minidem as md
from minidem.mesh_report import MeshReport
from minidem.shapes import platonic_mesh
from minidem.templates import fit_mesh
from minidem.templates.triangle_mesh import TriangleMesh

CUBE = platonic_mesh("cube", 2.0)


def box_mesh(**how):
    """1 x 2 x 3, a corner at the origin."""
    return TriangleMesh((CUBE.vertices + 1.0) / 2.0 * [1.0, 2.0, 3.0], CUBE.triangles, **how)


def test_box():
    mesh = box_mesh()
    assert mesh.volume == pytest.approx(6.0, rel=1e-14)
    assert mesh.center_of_mass == pytest.approx([0.5, 1.0, 1.5], rel=1e-14)
    assert mesh.moments == pytest.approx(np.array([1 + 4, 1 + 9, 4 + 9]) * 6.0 / 12.0, rel=1e-13)


def test_far_from_the_origin_and_in_other_units():
    mesh = box_mesh()
    away = TriangleMesh(1e-3 * mesh.vertices + 7.0, mesh.triangles)
    assert away.volume == pytest.approx(6e-9, rel=1e-11)                    # 7 resolves 1e-3 to 1e-12
    assert away.moments == pytest.approx(1e-15 * mesh.moments, rel=1e-11)


def test_orientation_is_normalised():
    mesh = box_mesh()
    inside_out = TriangleMesh(mesh.vertices, mesh.triangles[:, ::-1])
    assert inside_out.volume == pytest.approx(6.0, rel=1e-14)


@pytest.mark.filterwarnings("ignore:.*fit badly")
@pytest.mark.parametrize("suffix", [".stl", ".obj", ".ply"])
def test_files(tmp_path, suffix, monkeypatch):
    """STL repeats the vertices and has single precision; all three give the solid back, scaled. A clump of it is found
    on fewer cells than usual, which cost most of the time."""
    monkeypatch.setattr(fit_mesh, "CELLS", 8_000)
    path, mesh = tmp_path / f"box{suffix}", box_mesh()
    meshio.Mesh(mesh.vertices, {"triangle": mesh.triangles}).write(path)
    read = TriangleMesh.read(path, 0.01)
    assert read.volume == pytest.approx(6e-6, rel=1e-6)
    clump = md.ClumpTemplate.from_mesh(path, spheres=20, density=1000.0, scale=0.01)
    assert len(clump.radii) == 20 and clump.volume < read.volume
    assert np.all(clump.centers - clump.radii[:, None] >= -1e-9) and np.all(
        clump.centers + clump.radii[:, None] <= np.array([0.01, 0.02, 0.03]) + 1e-9)


@pytest.mark.slow
def test_more_spheres_less_missing():
    mesh = platonic_mesh("icosahedron", 0.01)
    reports = [MeshReport(mesh, md.ClumpTemplate.from_mesh(mesh, n)) for n in (1, 10, 40, 160)]
    missing = [-report.volume_error for report in reports]
    assert np.all(np.diff(missing) < 0.0) and 0.0 < missing[-1] < 0.03
    assert np.abs(reports[-1].inertia_error).max() < 0.06       # missing at the rim: up to twice the volume's
    assert "volume" in str(reports[-1])


def test_open_surfaces_are_refused():
    mesh = box_mesh()
    with pytest.raises(ValueError, match="open"):
        TriangleMesh(mesh.vertices, mesh.triangles[:-1])
    with pytest.raises(ValueError, match="no triangles"):
        TriangleMesh(mesh.vertices, np.empty((0, 3), dtype=int))
    for vertex in 99, -1:
        with pytest.raises(ValueError, match=rf"stone: triangles\[0, 2\] = {vertex}: .* 0 to 7"):
            TriangleMesh(mesh.vertices, [[0, 1, vertex]], "stone")


@pytest.mark.filterwarnings("ignore:.*fit badly")
def test_slivers_and_thin_bodies():
    """Long thin triangles are sampled along their length; what no cell fits into is refused by name."""
    rod = TriangleMesh(CUBE.vertices * [1.0, 0.02, 0.02], CUBE.triangles)
    clump = md.ClumpTemplate.from_mesh(rod, spheres=50)
    # fifty spheres of the half width in a row: the largest that fit, a fiftieth less for the cells
    assert np.all(clump.radii <= 0.02) and clump.radii.max() > 0.98 * 0.02
    plate = TriangleMesh(CUBE.vertices * [1.0, 1.0, 1e-4], CUBE.triangles, "plate")
    with pytest.raises(ValueError, match="plate: thinner than"):
        md.ClumpTemplate.from_mesh(plate)


@pytest.mark.parametrize("name, text", [
    ("a.stl", "solid nothing\nendsolid"), ("a.stl", "no mesh at all"), ("a.ply", "ply\n"),
    ("a.obj", "v 0 0 zero\n"), ("a.xyz", "0 0 0")])
def test_files_that_are_no_mesh(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=name):
        md.ClumpTemplate.from_mesh(path)


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        md.ClumpTemplate.from_mesh(tmp_path / "none.stl")
