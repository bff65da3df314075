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
    again = md.ClumpTemplate.from_file(tmp_path / "clump", density=1234.5 if style == "liggghts" else None)
    assert identical(again, clump)
    large = md.ClumpTemplate.from_file(tmp_path / "clump", 1234.5, scale=2.0)
    assert large.mass == pytest.approx(8.0 * clump.mass) and large.inertia == pytest.approx(32.0 * clump.inertia)
    if style == "lammps":
        cube = shapes.platonic_mesh("cube", 1e-3)
        of_mesh = md.ClumpTemplate.from_mesh(cube, spheres=8, match="mesh", density=2000.0)
        of_mesh.to_file(tmp_path / "cube", style)
        assert identical(md.ClumpTemplate.from_file(tmp_path / "cube"), of_mesh)
        assert md.ClumpTemplate.from_file(tmp_path / "cube", scale=2.0).mass == pytest.approx(8.0 * of_mesh.mass)


def identical(a, b):
    """Whether all attributes have equal bits."""
    return all(np.array_equal(vars(a)[name], value) for name, value in vars(b).items())


PAIR = [(-0.01, 0, 0), (0.01, 0, 0)], [0.01, 0.01]      # two spheres that touch
STEEL, WOOD = 7800.0, 600.0
MASSES = np.array([STEEL, WOOD]) * 4.0 / 3.0 * math.pi * 1e-6
CENTER = 0.01 * (MASSES[1] - MASSES[0]) / MASSES.sum()
ALONG = 0.4 * MASSES.sum() * 1e-4                       # moments of the two balls about the common centre
ACROSS = ALONG + MASSES.prod() / MASSES.sum() * 0.02 ** 2


def molecule(*header, masses=None, types=(1, 1)):
    rows = {"Coords": ("-0.01 0 0", "0.01 0 0"), "Diameters": (0.02, 0.02), "Types": types, "Masses": masses or ()}
    return "\n\n".join(["# steel and wood\n\n2 atoms", *header] + [
        f"{name}\n\n1 {two[0]}\n2 {two[1]}" for name, two in rows.items() if two])


def test_one_density_per_sphere():
    """Balls that touch, by formulas; where they overlap, the denser one counts: a core in a shell."""
    clump = md.ClumpTemplate(*PAIR, [STEEL, WOOD])
    assert clump.mass == pytest.approx(MASSES.sum(), rel=1e-14) and clump.center_of_mass[0] == pytest.approx(CENTER)
    assert clump.inertia == pytest.approx([ALONG, ACROSS, ACROSS], rel=1e-13) and abs(clump.axes[0, 0]) == 1.0
    assert clump.density == pytest.approx(0.5 * (STEEL + WOOD))
    balls = [(0, 0, 0), (0.002, 0, 0)], [0.01, 0.005]
    for order in (slice(None), slice(None, None, -1)):
        core = md.ClumpTemplate(balls[0][order], balls[1][order], [WOOD, STEEL][order])
        shell, inner = (md.ClumpTemplate([at], [radius], density) for at, radius, density in
                        zip(*balls, (WOOD, STEEL - WOOD)))
        assert core.mass == pytest.approx(shell.mass + inner.mass, rel=1e-14)
        assert core.center_of_mass[0] == pytest.approx(0.002 * inner.mass / core.mass)
        about = shell.inertia[0] + inner.inertia[0]
        assert core.inertia[0] == pytest.approx(about)
        assert core.inertia[2] == pytest.approx(about + shell.mass * inner.mass / core.mass * 0.002 ** 2)
    assert identical(md.ClumpTemplate(*PAIR, [STEEL, STEEL]), md.ClumpTemplate(*PAIR, STEEL))


def test_given_mass_properties(tmp_path):
    """In the user's frame; kept by checkpoints and files of all styles; a free body moves about the given centre."""
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    tensor = turn * [1e-6, 2e-6, 2.5e-6] @ turn.T
    clump = md.ClumpTemplate(*PAIR, mass=0.04, center_of_mass=(0.002, 0.001, 0), inertia=tensor)
    assert clump.mass == pytest.approx(0.04, rel=1e-15) and clump.density == pytest.approx(0.04 / clump.volume)
    assert clump.inertia == pytest.approx([1e-6, 2e-6, 2.5e-6]) and clump.center_of_mass.tolist() == [0.002, 0.001, 0]
    assert clump.axes * clump.inertia @ clump.axes.T == pytest.approx(tensor, abs=1e-19)
    assert clump.offsets @ clump.axes.T + clump.center_of_mass == pytest.approx(clump.centers, abs=1e-17)
    plain, twice = md.ClumpTemplate(*PAIR, 2500.0), md.ClumpTemplate(*PAIR, mass=0.04)
    assert twice.inertia == pytest.approx(plain.inertia * 0.04 / plain.mass)
    for style in ("csv", "lammps"):
        clump.to_file(tmp_path / "clump", style)
        assert identical(md.ClumpTemplate.from_file(tmp_path / "clump"), clump)
    with pytest.warns(UserWarning, match="'liggghts': mass, centre of mass and inertia .* are not .* in such a file"):
        clump.to_file(tmp_path / "clump", "liggghts")
    clump.to_file(tmp_path / "folder", "mercurydpm")
    assert md.ClumpTemplate.from_file(tmp_path / "folder").inertia == pytest.approx(clump.inertia, rel=1e-12)
    sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-4, threads=1)
    sim.add_clumps(clump, [(0, 0, 0)], angular_velocity=(3, 40, 5))
    spin = sim.angular_momentum()
    sim.run(50)
    sim.save(tmp_path / "state.npz")
    again = md.Simulation.load(tmp_path / "state.npz", threads=1)
    sim.run(50)
    again.run(50)
    assert identical(again.templates[0], clump) and np.array_equal(again.orientation, sim.orientation)
    assert spin == pytest.approx(tensor @ (3, 40, 5)) and sim.angular_momentum() == pytest.approx(spin)
    assert np.abs(sim.position).max() < 1e-15       # the given centre stays


@pytest.mark.parametrize("given, message", [
    ({"density": 1.0, "mass": 1.0}, "mass = 1.0 and density = 1.0: give one of the two"),
    ({"mass": 0.0}, "mass = 0.0: give a number greater than 0"), ({"inertia": np.eye(3)}, "give the mass, too"),
    ({"mass": 1.0, "center_of_mass": (0, 0, 0)}, "give the tensor of inertia about it, too"),
    ({"mass": 1.0, "inertia": np.diag([1, 1, 2.1])}, r"moments \[1.0, 1.0, 2.1\], impossible for a rigid body"),
    ({"mass": 1.0, "inertia": np.diag([-1, 1, 1])}, "impossible for a rigid body"),
    ({"mass": 1.0, "inertia": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}, "impossible for a rigid body"),
    ({"mass": 1.0, "inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "not symmetric"),
    ({"density": [1.0, 2.0, 3.0]}, r"density has shape \(3,\)"),
    ({"density": [1.0, -2.0]}, r"density\[1\] = -2.0: give densities greater than 0"),
    ({"density": [1.0, 2.0], "mass": 1.0}, "give one of the two")])
def test_mass_properties_that_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        md.ClumpTemplate(*PAIR, **given)


def test_mass_in_other_units_is_reported():
    with pytest.warns(UserWarning, match="inertia: mass is 3.16 m away .* the spheres reach 0.02 m; check the units"):
        md.ClumpTemplate(*PAIR, mass=0.04, inertia=np.diag([2e-1, 3e-1, 3e-1]))


def test_masses_of_a_molecule(tmp_path):
    """Masses, and mass, com and inertia of the header, as LAMMPS reads them; the file's mass unless a density is given.

    Mass properties that are those of the spheres, with the digits of a file, are those with all digits.
    """
    def read(text, **options):
        (tmp_path / "two.mol").write_text(text)
        return md.ClumpTemplate.from_file(tmp_path / "two.mol", **options)
    two = tuple(map(repr, MASSES.tolist()))
    clump = read(molecule(masses=two))
    assert clump.mass == pytest.approx(MASSES.sum(), rel=1e-15) and clump.center_of_mass[0] == pytest.approx(CENTER)
    assert clump.inertia == pytest.approx([ALONG, ACROSS, ACROSS], rel=1e-13)
    clump = read(molecule("0.5 mass\n0.002 0 0 com\n1e-5 2e-5 2.5e-5 1e-6 2e-6 3e-6 inertia", masses=two))
    assert clump.mass == pytest.approx(0.5) and clump.center_of_mass.tolist() == [0.002, 0.0, 0.0]
    assert clump.axes * clump.inertia @ clump.axes.T == pytest.approx(
        1e-6 * np.array([[10, 1, 2], [1, 20, 3], [2, 3, 25]]), abs=1e-18)
    at_com = read(molecule("0 0 0 com", masses=two))            # about another centre, as LAMMPS
    across = ACROSS + MASSES.sum() * CENTER ** 2
    assert at_com.inertia == pytest.approx([ALONG, across, across]) and not at_com.center_of_mass.any()
    in_mm = read(molecule(masses=two).replace("0.02", "20").replace("0.01", "10"), scale=1e-3)
    assert in_mm.mass == pytest.approx(MASSES.sum()) and in_mm.inertia == pytest.approx([ALONG, ACROSS, ACROSS])
    dense = read(molecule(masses=two), density=2500.0)
    assert dense.density == 2500.0 and dense.center_of_mass[0] == pytest.approx(CENTER)
    alike = read(molecule(masses=("0.0104720", "0.0104720")))
    assert np.array_equal(alike.axes, md.ClumpTemplate(*PAIR).axes) and alike.mass == pytest.approx(0.020944)
    with pytest.warns(UserWarning, match="density is not given"):
        assert read(molecule()).density == 2500.0
    for text, message in (
            (molecule("0.002 0 0 com"), "com without inertia or Masses"), (molecule("1,0 mass"), "mass = .*not real"),
            (molecule("1 2 com"), r"com has shape \(2,\)"), (molecule(masses=(1, -1)), "mass of atom 2 = -1"),
            (molecule("1 mass\n1 1 3 0 0 0 inertia"), "impossible for a rigid body"),
            (molecule(masses=two).replace("2 " + two[1], ""), "Masses of 1"),
            (molecule("# density: 2500.0\n", masses=two), "not those of its comment density; remove the comment")):
        with pytest.raises(ValueError, match=message):
            read(text)


@pytest.mark.parametrize("text, words", [
    (molecule("1 mass", types=(1, 2)), r"Types 1 2 \(a clump has one material\): not used"),
    (molecule("1 mass") + "\n\nCharges\n\n1 0.1\n2 0.2\n", "Charges: not used"),
    ("# density: 1.0\n0 0 0 0.005 1\n0.004 0 0 0.004 2\n", "the fifth column: not used"),
    ("# density: 1.0\nx y z r type\n0 0 0 0.005 1\n0.004 0 0 0.004 2\n", "type: not used"),
    ("# density: 1.0\nx [mm], y [mm], z [mm], r [mm]\n0,0,0,5\n4,0,0,4\n", "unit 0.001 m .*give scale=0.001")])
def test_what_is_not_used_is_named(text, words, tmp_path):
    (tmp_path / "clump.txt").write_text(text)
    with pytest.warns(UserWarning, match=words) as found:
        assert len(md.ClumpTemplate.from_file(tmp_path / "clump.txt").radii) == 2
    assert len(found) == 1


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
    ("spheres.txt", "x y z name\n1 2 3 4\n", "columns x y z name; a clump needs x, y, z and r, or d"),
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
    "1,0;2;3;4\n5;6,0;7;8\n", "1.D0 0.2D+01 3 4\n5 6 7 8\n", "r,x,y,z\n4,1,2,3\n8,5,6,7\n",
    "# Position X, Position Y, Position Z, Diameter\n1,2,3,8\n5,6,7,16\n",
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
