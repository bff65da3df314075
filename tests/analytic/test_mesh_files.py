"""Mesh files as exporters write them: formats; merging, orientation, repair."""
import struct
import sys

import meshio
import numpy as np
import pytest
import trimesh

import minidem as md
from minidem.core.rows import unique_rows
from minidem.shapes import platonic_mesh
from minidem.templates import fit_mesh
from minidem.templates.triangle_mesh import TriangleMesh

pytestmark = pytest.mark.filterwarnings("ignore:density is not given")

CUBE = platonic_mesh("cube", 1.0)
QUADS = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]     # outward
CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
LINES = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
OBJ = {
    "more normals": LINES + "vn 0 0 1\n" * 24 + "".join(
        "f " + " ".join(f"{v}//{4 * k + i + 1}" for i, v in enumerate(quad)) + "\n" for k, quad in enumerate(QUADS)),
    "fewer coordinates": LINES + "vt 0 0\nvt 1 1\n" + "".join(
        "f " + " ".join(f"{v}/{i % 2 + 1}" for i, v in enumerate(quad)) + "\n" for quad in QUADS),
    "both, in groups": LINES + "vt 0 0\nvn 0 0 1\nvn 1 0 0\nvn 0 1 0\n" + "".join(
        f"g side{k}\nusemtl m{k}\nf " + " ".join(f"{v}/1/{k % 3 + 1}" for v in q) + "\n" for k, q in enumerate(QUADS)),
    "from the end": LINES + "".join("f " + " ".join(str(v - 9) for v in quad) + "\n" for quad in QUADS),
    "a group of an edge": LINES + "g axis\nusemtl a\nf 1 2\ng cube\nusemtl b\n" + "".join(
        "f {} {} {} {}\n".format(*quad) for quad in QUADS),
    "mixed": LINES + "".join("f {} {} {}\nf {} {} {}\n".format(*q[:3], q[0], *q[2:]) if k % 2 else
                             "f {} {} {} {}\n".format(*q) for k, q in enumerate(QUADS))}


def ply(order, values):
    """Binary PLY of single precision, a normal and a colour per vertex, texture coordinates per triangle."""
    faces = [t for q in QUADS for t in (q[:3], (q[0], *q[2:]))]
    head = (f"ply\nformat binary_{order}_endian 1.0\ncomment by hand\nelement vertex 8\n"
            "property float x\nproperty float y\nproperty float z\nproperty float nx\nproperty uchar red\n"
            f"element face {len(faces)}\nproperty list uchar {values} vertex_indices\n"
            "property list uchar float texcoord\nend_header\n")
    sign, kind = "<" if order == "little" else ">", {"int": "i", "uint": "I"}[values]
    return head.encode() + b"".join(struct.pack(f"{sign}4fB", *corner, 0.5, 7) for corner in CORNERS) + b"".join(
        struct.pack(f"{sign}B3{kind}B6f", 3, *(v - 1 for v in face), 6, *range(6)) for face in faces)


def stl(corners):
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *t.reshape(-1), 0) for t in np.asarray(corners, dtype=np.float32))
    return bytes(80) + struct.pack("<I", len(corners)) + body


def is_unit_cube(mesh):
    return len(mesh.triangles) == 12 and mesh.volume == pytest.approx(1.0, rel=1e-5)


WRITERS = {     # name of the file -> function (path)
    **{f"{name}.obj": lambda path, text=text: path.write_text(text) for name, text in OBJ.items()},
    "latin-1.OBJ": lambda path: path.write_bytes(b"# \xe9\xff\no b\xf6se\n" + OBJ["mixed"].encode()),
    "utf-16.OBJ": lambda path: path.write_bytes(OBJ["mixed"].encode("utf-16")),
    **{f"{order} {values}.ply": lambda path, how=(order, values): path.write_bytes(ply(*how))
       for order, values in (("little", "int"), ("little", "uint"), ("big", "int"))},
    **{name: lambda path: trimesh.Trimesh(CUBE.vertices + 0.5, CUBE.triangles, process=False).export(path)
       for name in ("cube.off", "cube.glb")},
    **{name: lambda path: meshio.Mesh(np.array(CORNERS, dtype=float), {"quad": np.array(QUADS) - 1}).write(path)
       for name in ("quads.vtk", "quads.vtu")}}


@pytest.mark.parametrize("name", WRITERS)
def test_formats(name, tmp_path):
    WRITERS[name](tmp_path / name)
    assert is_unit_cube(TriangleMesh.read(tmp_path / name))


def test_vertices_that_differ_by_rounding(tmp_path):
    """Triangles of an STL file have their own corners, which differ by the last bit of single precision."""
    corners = (CUBE.corners + 3.3).astype(np.float32)
    odd = np.random.default_rng(1).random(corners.shape) < 0.5
    (tmp_path / "cube.stl").write_bytes(stl(np.where(odd, np.nextafter(corners, np.float32(9.0)), corners)))
    assert is_unit_cube(TriangleMesh.read(tmp_path / "cube.stl"))
    shaken = CUBE.corners + np.random.default_rng(2).uniform(-1e-9, 1e-9, CUBE.corners.shape)
    assert is_unit_cube(TriangleMesh(shaken.reshape(-1, 3), np.arange(36).reshape(12, 3)))


def test_degenerate_and_duplicate_triangles_are_removed():
    vertices, triangles = CUBE.vertices, CUBE.triangles
    near = np.concatenate([vertices, vertices[:1] + 1e-10])
    extra = [triangles[3], triangles[3][[1, 2, 0]], [0, 8, triangles[0][1]]]
    assert is_unit_cube(TriangleMesh(near, np.concatenate([triangles, extra])))
    assert is_unit_cube(TriangleMesh(vertices, np.tile(triangles, (2, 1))))
    with pytest.raises(ValueError, match="sheet: .*no volume"):                 # opposite triangles
        TriangleMesh(vertices, [triangles[0], triangles[0][::-1]], "sheet")
    # two boxes with a common wall in both
    beside = np.concatenate([vertices, vertices * [-1.0, 1.0, 1.0] + [1.0, 0.0, 0.0]])
    both = TriangleMesh(beside, np.concatenate([triangles, triangles[:, ::-1] + 8]))
    assert both.volume == pytest.approx(2.0) and len(both.triangles) == 20 and both.bodies == 1


def test_orientation():
    """Flipped triangles, an inverted body beside another, a cavity, and a one-sided surface."""
    rng = np.random.default_rng(3)
    flipped = np.where(rng.random(12)[:, None] < 0.5, CUBE.triangles[:, ::-1], CUBE.triangles)
    assert is_unit_cube(TriangleMesh(CUBE.vertices, flipped))
    for shift, size, volume in ((5.0, 1.0, 2.0), (0.0, 0.5, 1.0 - 0.125)):
        other = CUBE.vertices * size + [shift, 0.0, 0.0]
        pair = TriangleMesh(np.concatenate([CUBE.vertices, other]),
                            np.concatenate([CUBE.triangles, CUBE.triangles[:, ::-1] + 8]))
        assert pair.volume == pytest.approx(volume) and pair.bodies == 2
    projective_plane = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5), (0, 5, 1), (1, 2, 4), (2, 3, 5), (3, 4, 1),
                        (4, 5, 2), (5, 1, 3)]
    with pytest.raises(ValueError, match="one sided: .* opposite orientation"):
        TriangleMesh(rng.random((6, 3)), projective_plane, "one sided")


def test_open_meshes_are_repaired_on_request(tmp_path, monkeypatch):
    monkeypatch.setattr(fit_mesh, "CELLS", 8_000)
    path = tmp_path / "open.stl"
    path.write_bytes(stl((CUBE.corners + 0.5)[:-2]))
    with pytest.raises(ValueError, match=r"open edges.*repair=True .*--repair"):
        md.ClumpTemplate.from_mesh(path)
    mesh = TriangleMesh.read(path, repair=True)
    assert is_unit_cube(mesh) and mesh.closed_edges == 4 and mesh.remaining_surface == pytest.approx(1.2)
    # two bodies both remain, apart or not; a separate sheet is removed, with a warning about the smaller surface
    for apart in (3.0, 0.6):
        path.write_bytes(stl([*(CUBE.corners[:-1]), *(CUBE.corners[:-1] + apart)]))
        assert TriangleMesh.read(path, repair=True).volume == pytest.approx(2.0, rel=1e-6)
    path.write_bytes(stl([*CUBE.corners, np.eye(3) * 2.0 + 3.0]))
    with pytest.warns(UserWarning, match=r"open.stl: \d\d % of the surface is left"):
        md.ClumpTemplate.from_mesh(path, 40, repair=True)
    path.write_bytes(stl((CUBE.corners + 0.5)[:-2]))
    assert md.ClumpTemplate.from_mesh(path, 60, repair=True, match="mesh").volume == pytest.approx(1.0)
    with pytest.raises(ValueError, match="repair = 1: give True or False"):
        md.ClumpTemplate.from_mesh(path, repair=1)
    monkeypatch.setitem(sys.modules, "pymeshfix", None)
    with pytest.raises(ValueError, match=r"open.stl: .*pip install -e '.\[mesh\]'"):
        md.ClumpTemplate.from_mesh(path, repair=True)


@pytest.mark.parametrize("name, text", [
    ("a.stl", "solid nothing\nendsolid"), ("a.stl", "no mesh at all"), ("a.ply", "ply\n"), ("a.xyz", "0 0 0"),
    ("a.obj", "v 0 0 zero\n"), ("a.obj", LINES + "f 1 2 99\n"), ("none.stl", None),
    ("vertices.*finite", LINES.replace("v 1 1 1", "v 1 nan 1") + "f 1 2 8\n")])
def test_files_without_a_mesh(tmp_path, name, text):
    path = tmp_path / ("b.obj" if "finite" in name else name)
    if text is not None:
        path.write_text(text)
    with pytest.raises(FileNotFoundError if text is None else ValueError, match=name):
        md.ClumpTemplate.from_mesh(path)


def test_invalid_meshes_are_refused(tmp_path):
    for triangles, message in ((CUBE.triangles[:-1], "open"), (np.empty((0, 3), dtype=int), "no triangles"),
                               ([[0, 1, 99]], r"stone: triangles\[0, 2\] = 99: .* 8 points"),
                               ([[0, 1, -1]], r"stone: triangles\[0, 2\] = -1: .* 8 points")):
        with pytest.raises(ValueError, match=message):
            TriangleMesh(CUBE.vertices, triangles, "stone")
    unused = "v nan 0 0\n" + LINES + "".join("f {} {} {} {}\n".format(*(v + 1 for v in quad)) for quad in QUADS)
    (tmp_path / "a.obj").write_text(unused)             # a vertex that is in no triangle
    assert is_unit_cube(TriangleMesh.read(tmp_path / "a.obj"))


@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_rows_are_distinct_as_those_of_numpy(n):
    for rows in np.random.default_rng(n).integers(0, 7, (n, 3)), np.random.default_rng(n).integers(0, 3, (n, 2)) / 7:
        found = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        assert all(np.array_equal(mine, theirs.reshape(mine.shape)) for mine, theirs in zip(unique_rows(rows), found))
