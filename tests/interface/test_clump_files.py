"""Files of spheres and meshes, molecules of LAMMPS, folders of MercuryDPM: invalid and damaged ones; make_clump.py."""
import math

import meshio
import numpy as np
import pytest
from peers.lammps_peer import LAMMPS
from processes import needs_lammps, run

import minidem as md
from minidem import shapes
from minidem.templates.triangle_mesh import TriangleMesh


def random_clump():
    rng = np.random.default_rng(1)
    return md.ClumpTemplate(rng.normal(size=(30, 3)) * 1e-3, rng.uniform(1e-4, 1e-3, 30), 1234.5)


@pytest.mark.parametrize("style", ["csv", "lammps", "liggghts"])
def test_same_spheres_after_writing(tmp_path, style, coarse_fits):
    clump = random_clump()
    clump.to_file(tmp_path / "clump", style)
    again = md.ClumpTemplate.from_file(tmp_path / "clump", density=1234.5)
    assert np.array_equal(clump.centers, again.centers) and clump.radii == pytest.approx(again.radii, rel=1e-15)
    assert style == "lammps" or clump.mass == again.mass and np.array_equal(clump.radii, again.radii)
    if style == "lammps":
        cube = shapes.platonic_mesh("cube", 1e-3)
        of_mesh = md.ClumpTemplate.from_mesh(cube, spheres=8, match="mesh", density=2000.0)
        of_mesh.to_file(tmp_path / "cube", style)
        again = md.ClumpTemplate.from_file(tmp_path / "cube", density=2000.0)
        assert again.mass == of_mesh.mass and np.array_equal(again.inertia, of_mesh.inertia)


MOLECULE = """two spheres
2 atoms   # with a title above

Coords

2 5 6 7
1 1 2 3

Types

1 1
2 1

Diameters # in another order
1 8.0
2 16.0
"""


REFUSED = [     # (file of a folder of MercuryDPM or spheres, its text, words of the message)
    ("Inertia/Mass.txt", "-2\n", "Mass.txt = -2.0: give a number greater than 0"),
    ("Inertia/Mass.txt", "1,2\n", r"Mass.txt has shape \(1, 2\); give shape \(1, 1\)"),
    ("Inertia/Mass.txt", None, "path = .* no such file; .*Clump/Clump.txt for the spheres alone"),
    ("Inertia/TOI.txt", "1,0,0\n0,1,0\n0,0,x\n", "TOI.txt: .* 'x'; give numbers separated by commas"),
    ("Inertia/TOI.txt", "1,0,0\n0,1\n0,0,1\n", "TOI.txt = .*: rows of different lengths; give shape"),
    ("Inertia/TOI.txt", "1,0,0\n0,1,0\n0,0,inf\n", r"TOI.txt\[2, 2\] = inf: give finite numbers only"),
    ("Inertia/TOI.txt", "2,1,0\n0,2,0\n0,0,2\n", r"TOI.txt\[0, 1\] = 1.0: not symmetric; give"),
    ("Inertia/TOI.txt", "1,0,0\n0,1,0\n0,0,3\n", r"principal moments \[1.0, 1.0, 3.0\], impossible for a rigid body"),
    ("Inertia/TOI.txt", "0,0,0\n0,0,0\n0,0,0\n", "impossible for a rigid body; give"),
    ("Clump/Clump.txt", "1,2,3\n", "Clump.txt, line 1.* give four numbers"),
    ("spheres.txt", "", "spheres.txt.*no spheres"), ("spheres.txt", "1,2,3\n", "line 1.*four numbers"),
    ("spheres.txt", "1,2,3,4\n1,2,x,4\n", "line 2.*four numbers"), ("spheres.txt", "1,2,3,4\nend\n", "line 2"),
    ("spheres.txt", "1,2,3,nan\n", "line 1.*finite"), ("spheres.txt", "1,2,3,-4\n", "line 1.*-4.*greater than 0"),
    ("two.mol", MOLECULE.replace("2 16.0\n", ""), "2 atoms, but Coords of 2 and Diameters of 1"),
    ("two.mol", MOLECULE.replace("2 5 6 7", "2 5 6"), "line 6: '2 5 6': give the number of the atom and its x y z"),
    ("two.mol", MOLECULE.replace("2 16.0\n", "2 -1.0\n"), "atom 2: radius -0.5; give radii greater than 0")]


@pytest.mark.parametrize("name, text, message", REFUSED)
def test_files_that_are_refused(name, text, message, tmp_path):
    path = write_mercury(tmp_path) / name
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        md.ClumpTemplate.from_file(tmp_path if "/" in name else path)


@needs_lammps
def test_lammps_reads_a_molecule(tmp_path):
    clump = md.ClumpTemplate([(0, 0, 0), (1e-3, 0, 0), (1e-3, 1e-3, 0)], [1e-3, 8e-4, 6e-4], 2500.0)
    clump.to_file(tmp_path / "clump.mol", "lammps")
    (tmp_path / "in").write_text("units si\natom_style sphere\nregion all block 0 1 0 1 0 1\ncreate_box 1 all\n"
                                 "molecule clump clump.mol\n")
    assert "3 atoms with max type 1" in run(LAMMPS.find(), "-in", "in", "-log", "none", cwd=tmp_path).stdout


MERCURY = {"Clump/Clump.txt": "-1.0e+00,0.0e+00,0.0e+00,5.0e-01\n1.0e+00,0.0e+00,0.0e+00,5.0e-01\n",
           "Inertia/Mass.txt": "2.0e+00\n",
           "Inertia/TOI.txt": "3.0e+00,1.0e+00,0.0e+00\n1.0e+00,3.0e+00,0.0e+00\n0.0e+00,0.0e+00,5.0e+00\n",
           "Inertia/PD.txt": "1.0e+00,0.0e+00,0.0e+00\n0.0e+00,1.0e+00,0.0e+00\n0.0e+00,0.0e+00,1.0e+00\n"}


def write_mercury(folder, spelled=str):
    for name, text in MERCURY.items():
        file = folder / spelled(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.mark.parametrize("spelled", [str, str.lower])
def test_folder_of_mercurydpm(tmp_path, spelled):
    """Typed in by hand: an inertia that is not that of the spheres, and principal axes at 45 degrees."""
    folder, s, volume = write_mercury(tmp_path / "two", spelled), math.sqrt(0.5), math.pi / 3
    clump = md.ClumpTemplate.from_file(folder)
    assert clump.mass == pytest.approx(2.0) and clump.inertia == pytest.approx([2.0, 4.0, 5.0])
    assert clump.density == pytest.approx(2.0 / volume)
    assert clump.axes == pytest.approx(np.array([[s, s, 0], [-s, s, 0], [0, 0, 1]]))
    assert clump.centers.tolist() == [[-1, 0, 0], [1, 0, 0]] and clump.radii.tolist() == [0.5, 0.5]
    assert clump.offsets == pytest.approx(np.array([[-s, -s, 0], [s, s, 0]])) and not clump.center_of_mass.any()
    in_cm = md.ClumpTemplate.from_file(folder, scale=0.01)
    assert in_cm.mass == pytest.approx(2.0) and in_cm.inertia == pytest.approx([2e-4, 4e-4, 5e-4])
    dense = md.ClumpTemplate.from_file(folder, density=2000.0, scale=0.01)
    assert dense.mass == pytest.approx(2e-3 * volume) and dense.inertia == pytest.approx(dense.mass * in_cm.inertia / 2)
    assert md.ClumpTemplate.from_file(folder / spelled("Clump/Clump.txt"), density=1.0).mass == pytest.approx(volume)


@pytest.mark.parametrize("kind", ["spheres", "folder", "rod", "ball"])
def test_mercurydpm_after_writing(tmp_path, kind):
    """The principal frame becomes the input frame; a long rod and one sphere keep their equal moments."""
    clump = {"spheres": random_clump,
             "folder": lambda: md.ClumpTemplate.from_file(write_mercury(tmp_path / "two"), scale=1e-4),
             "rod": lambda: md.ClumpTemplate([(0, 0, 0.01 * k) for k in range(200)], [0.01] * 200),
             "ball": lambda: md.ClumpTemplate([(1, 2, 3)], [0.1])}[kind]()
    folder = tmp_path / "folders" / "clump"
    for _ in range(2):          # the second time over the first
        clump.to_file(folder, style="mercurydpm")
    again = md.ClumpTemplate.from_file(folder)
    assert again.mass == pytest.approx(clump.mass, rel=1e-12, abs=0)
    assert again.inertia == pytest.approx(clump.inertia, rel=1e-12, abs=0)
    assert np.array_equal(again.inertia == again.inertia[1], clump.inertia == clump.inertia[1])
    assert np.array_equal(again.centers, clump.offsets) and np.array_equal(again.offsets, clump.offsets)
    assert np.array_equal(again.radii, clump.radii) and np.array_equal(again.axes, np.eye(3))


@pytest.mark.parametrize("text", [
    "1,2,3,4\n5,6,7,8\n", "x y z r\n1 2 3 4\n5\t6 7 8", "# made by hand\n\n1; 2; 3; 4 # first\n5,6,7,8,\n",
    "\ufeffx,y,z,r\r\n 1, 2, 3, 4\r\n 5, 6, 7, 8\r\n",
    "  1.000000,  2.000000,  3.000000,  4.000000\n  5.000000,  6.000000,  7.000000,  8.000000\n",       # of CLUMP
    MOLECULE])
def test_read(tmp_path, text):
    path = tmp_path / "spheres.txt"
    path.write_text(text, encoding="utf-8")
    clump = md.ClumpTemplate.from_file(path, scale=0.1)
    assert clump.centers == pytest.approx(np.array([[0.1, 0.2, 0.3], [0.5, 0.6, 0.7]]))
    assert clump.radii == pytest.approx([0.4, 0.8])


def test_output_of_make_clump(tmp_path, run_tool, coarse_fits):
    """A bad fit, a matched one, and a table of two meshes, one of them open."""
    mesh = shapes.platonic_mesh("cube", 1.0)
    for name, triangles in (("cube", mesh.triangles), ("open", mesh.triangles[:-2])):
        meshio.Mesh(mesh.vertices, {"triangle": triangles}).write(tmp_path / f"{name}.stl")
    words = [tmp_path / "cube.stl", "--spheres", 5, "--density", 1000]
    done = run_tool("make_clump", *words)
    assert done.returncode == 0 and "WARNING" in done.stderr and "fit badly" in done.stderr
    assert md.ClumpTemplate.from_file(tmp_path / "cube.txt", density=1000).mass < 700.0
    pytest.importorskip("matplotlib")
    assert (tmp_path / "cube.png").read_bytes().startswith(b"\x89PNG")
    done = run_tool("make_clump", *words, "--match", "mesh")
    assert done.returncode == 0 and "inertia of the mesh" in done.stdout
    assert md.ClumpTemplate.from_file(tmp_path / "cube.txt", density=1000).mass == pytest.approx(1000.0)
    done = run_tool("make_clump", tmp_path / "open.stl", tmp_path / "cube.stl", "--spheres", 5, "--table")
    assert done.returncode == 1 and "--repair" in done.stdout and "BAD FIT" in done.stdout
    done = run_tool("make_clump", tmp_path / "open.stl", "--spheres", 5, "--table", "--repair")
    assert "no clump" not in done.stdout and not (tmp_path / "open.txt").exists()


@pytest.fixture(params=[100, pytest.param(2500, marks=pytest.mark.slow)])
def generators(request):
    return map(np.random.default_rng, range(request.param))


def damaged(rng, good):
    """The bytes `good`, cut, flipped, repeated, with other bytes put in, or other numbers in the text; or noise."""
    if rng.random() < 0.1:
        return rng.bytes(rng.integers(200))
    data = bytearray(good)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(max(1, len(data))))
        kind = rng.choice(["cut", "flip", "insert", "remove", "repeat", "number"])
        if kind == "cut":
            del data[at:]
        elif kind == "flip" and data:
            data[at] ^= int(rng.integers(1, 256))
        elif kind == "insert":
            data[at:at] = rng.bytes(rng.integers(20))
        elif kind == "remove":
            del data[at:at + int(rng.integers(1, 20))]
        elif kind == "repeat":
            data[at:at] = data[at:at + 50]
        elif kind == "number":      # instead of a word
            words = bytes(data).split(b" ")
            words[at % len(words)] = NUMBERS[rng.integers(len(NUMBERS))]
            data = bytearray(b" ".join(words))
    return bytes(data)


NUMBERS = b"nan inf -inf 0 -1 -0.0 5e-324 -1e-300 1e60 1e160 -1e308 1e999 0x10 1_0 99999 99999999999999999999 x".split()
CLUMPS = [b"# x,y,z,r\n0.0, 0.0, 0.0, 1.0\n1.0, 0.0, 0.0, 0.5\n", b"x y z r\n0 0 0 1\r\n1 0 0 0.5\r\n",
          "\ufeff1;2;3;4 // é".encode()]


def read_or_refuse(read, path, data, *names):
    """What is read from the path with this content, or None for an error with its name or one of the names."""
    path.write_bytes(data)
    try:
        return read(path)
    except OSError as error:
        assert error.filename, error
    except ValueError as error:
        assert any(name in str(error) for name in (path.name, *names)), error
    return None


@pytest.mark.filterwarnings("ignore")
def test_damaged_clump_files(generators, tmp_path):
    for rng in generators:
        data = damaged(rng, CLUMPS[rng.integers(len(CLUMPS))])
        clump = read_or_refuse(md.ClumpTemplate.from_file, tmp_path / "clump.txt", data, "radii", "centers")
        assert clump is None or np.all(np.isfinite(clump.inertia) & (clump.inertia > 0)) and np.all(clump.radii > 0)


@pytest.mark.filterwarnings("ignore")
def test_damaged_mesh_files(generators, tmp_path):
    meshes, solid = [], shapes.platonic_mesh("tetrahedron", 1.0)
    for suffix, how in (*(("stl", {"binary": binary}) for binary in (False, True)),
                        *(("ply", {"binary": binary}) for binary in (False, True)), ("obj", {})):
        path = tmp_path / f"grain.{suffix}"
        meshio.Mesh(solid.vertices, {"triangle": solid.triangles}).write(path, **how)
        meshes.append((path, path.read_bytes()))
    for rng in generators:
        path, data = meshes[rng.integers(len(meshes))]
        mesh = read_or_refuse(TriangleMesh.read, path, damaged(rng, data), "vertices")
        assert mesh is None or mesh.volume > 0 and np.isfinite(mesh.moments).all() and np.isfinite(mesh.corners).all()
