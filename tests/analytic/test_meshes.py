"""Triangle meshes: volume and inertia of the solid, invalid meshes, and the clumps fitted into them."""
import meshio
import numpy as np
import pytest

import minidem as md
from minidem.mesh_report import MeshReport
from minidem.shapes import platonic_mesh
from minidem.templates import fit_mesh
from minidem.templates.triangle_mesh import TriangleMesh

pytestmark = pytest.mark.filterwarnings("ignore:density is not given")

CUBE = platonic_mesh("cube", 2.0)
BOX = TriangleMesh((CUBE.vertices + 1.0) / 2.0 * [1.0, 2.0, 3.0], CUBE.triangles)       # a corner at the origin


def test_volume_and_inertia_of_a_box():
    assert BOX.volume == pytest.approx(6.0, rel=1e-14)
    assert BOX.center_of_mass == pytest.approx([0.5, 1.0, 1.5], rel=1e-14)
    assert BOX.moments == pytest.approx(np.array([1 + 4, 1 + 9, 4 + 9]) * 6.0 / 12.0, rel=1e-13)
    inverted = TriangleMesh(1e-3 * BOX.vertices + 7.0, BOX.triangles[:, ::-1])
    assert inverted.volume == pytest.approx(6e-9, rel=1e-11)                # 7 resolves 1e-3 to 1e-12
    assert inverted.moments == pytest.approx(1e-15 * BOX.moments, rel=1e-11)


@pytest.mark.filterwarnings("ignore:.*fit badly")
def test_clump_of_a_scaled_file(tmp_path, monkeypatch):
    """STL repeats the vertices and has single precision. Fewer cells than usual: they cost most of the time."""
    monkeypatch.setattr(fit_mesh, "CELLS", 8_000)
    meshio.Mesh(BOX.vertices, {"triangle": BOX.triangles}).write(tmp_path / "box.stl")
    assert TriangleMesh.read(tmp_path / "box.stl", 0.01).volume == pytest.approx(6e-6, rel=1e-6)
    clump = md.ClumpTemplate.from_mesh(tmp_path / "box.stl", spheres=20, density=1000.0, scale=0.01)
    assert len(clump.radii) == 20 and clump.volume < 6e-6
    low, high = clump.centers - clump.radii[:, None], clump.centers + clump.radii[:, None]
    assert np.all(low >= -1e-9) and np.all(high <= np.array([0.01, 0.02, 0.03]) + 1e-9)


@pytest.mark.slow
def test_missing_volume_falls_with_the_number_of_spheres():
    mesh = platonic_mesh("icosahedron", 0.01)
    reports = [MeshReport(mesh, md.ClumpTemplate.from_mesh(mesh, n)) for n in (1, 10, 40, 160)]
    missing = [-report.volume_error for report in reports]
    assert np.all(np.diff(missing) < 0.0) and 0.0 < missing[-1] < 0.03
    assert np.abs(reports[-1].inertia_error).max() < 0.06       # missing at the rim: up to twice that of the volume
    assert "volume" in str(reports[-1])


def test_invalid_meshes_are_refused():
    for triangles, message in ((BOX.triangles[:-1], "open"), (np.empty((0, 3), dtype=int), "no triangles"),
                               ([[0, 1, 99]], r"stone: triangles\[0, 2\] = 99: .* 8 points"),
                               ([[0, 1, -1]], r"stone: triangles\[0, 2\] = -1: .* 8 points")):
        with pytest.raises(ValueError, match=message):
            TriangleMesh(BOX.vertices, triangles, "stone")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fit badly")
def test_slivers_and_thin_bodies():
    """Long thin triangles are sampled along their length; a body too thin for any cell is refused by name."""
    rod = TriangleMesh(CUBE.vertices * [1.0, 0.02, 0.02], CUBE.triangles)
    clump = md.ClumpTemplate.from_mesh(rod, spheres=50)
    # fifty spheres of the half width in a row: the largest that fit, less one fiftieth because of the cells
    assert np.all(clump.radii <= 0.02) and clump.radii.max() > 0.98 * 0.02
    plate = TriangleMesh(CUBE.vertices * [1.0, 1.0, 1e-4], CUBE.triangles, "plate")
    with pytest.raises(ValueError, match="plate: thinner than"):
        md.ClumpTemplate.from_mesh(plate)


@pytest.mark.parametrize("name, text", [
    ("a.stl", "solid nothing\nendsolid"), ("a.stl", "no mesh at all"), ("a.ply", "ply\n"),
    ("a.obj", "v 0 0 zero\n"), ("a.xyz", "0 0 0"), ("none.stl", None)])
def test_files_without_a_mesh(tmp_path, name, text):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(FileNotFoundError if text is None else ValueError, match=name):
        md.ClumpTemplate.from_mesh(tmp_path / name)
