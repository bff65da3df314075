"""States of other codes as a start: files that LAMMPS and LIGGGHTS have written, xyz files, GSD, tables."""
import gzip
from pathlib import Path

import numpy as np
import pytest
from trajectory_files import needs_gsd

import minidem as md
from minidem.initial import place_densely
from minidem.templates.shapes import rod

STATES = Path(__file__).parent / "states"
FLOOR = md.Plane((0, 0, 0), (0, 0, 1))


def simulation(particles, density=None, walls=None, young=1e6, gravity=(0, 0, 0), **tilted):
    sim = md.Simulation(md.Material(young, 0.3), walls, contact="hertz-mindlin", dt=1e-6, gravity=gravity, threads=1,
                        periodic=md.PeriodicBox(particles.low, particles.high, axes=particles.axes, **tilted))
    for template, clumps in particles.clumps(density):
        sim.add_clumps(template, **clumps)
    return sim


def test_run_of_lammps_continues_in_a_tilted_box(tmp_path):
    """Spheres that touch through the faces of a prism: forces and energies, and the state of LAMMPS 200 steps later."""
    start, end = md.read_particles(STATES / "tilted.dump"), md.read_particles(STATES / "tilted.data")
    assert (len(start), start.step, start.time, end.step, start.unread) == (6, 300, 3e-4, 500, ["fx", "fy", "fz"])
    assert start.high.tolist() == end.high.tolist() == [0.06, 0.05, 0.05] and start.tilts[0] == end.tilts[0] == 0.02
    sim = simulation(start, shear=("x", "y", 0.0), tilt=start.tilts[0])
    assert sim.sphere_radii.tolist() == start.radius.tolist() and sim.mass == pytest.approx(start.mass, rel=1e-12)
    rows, energy = np.loadtxt(STATES / "tilted.dump", skiprows=13), sim.energy()
    forces = np.unique(np.linalg.norm(rows[:, -3:], axis=1).round(12))      # of the three pairs, in LAMMPS
    assert np.sort(np.linalg.norm(sim.contacts()["force"], axis=1)) == pytest.approx(forces, rel=1e-9)
    assert energy.translational == pytest.approx(5.830778727891952e-05, rel=1e-12)      # of LAMMPS
    assert energy.rotational == pytest.approx(3.649651017528335e-07, rel=1e-12)
    sim.save(tmp_path / "start.npz")
    sim.run(200)
    off = (sim.position - end.position) @ np.linalg.inv(sim.box.lattice)
    assert np.abs(off - np.rint(off)).max() < 1e-11 and np.abs(sim.velocity - end.velocity).max() < 1e-9
    assert sim.energy().total == pytest.approx(energy.total, rel=1e-9)
    assert sim.energy().translational == pytest.approx(5.888264057105294e-05, rel=1e-9)
    again = md.Simulation.load(tmp_path / "start.npz", threads=1)
    again.run(200)
    assert np.array_equal(again.position, sim.position) and again.box.tilts[0] == 0.02
    with pytest.raises(ValueError, match="tilt = 0.01: give the axes"):
        md.PeriodicBox((0, 0, 0), (1, 1, 1), axes=(True, True, True), tilt=0.01)


def test_clumps_of_liggghts_share_a_template():
    """Three clumps of three spheres, one through a face: spheres where they were, and their velocities."""
    start = md.read_particles(STATES / "clumps.dump")
    assert start.axes.tolist() == [True, True, False] and start.molecule.tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    (template, clumps), = start.clumps(2000.0)
    assert clumps["scale"] == pytest.approx([0.004] * 3)
    assert template.mass * 0.004 ** 3 == pytest.approx(start.mass[0], rel=1e-3)     # by random points in LIGGGHTS
    sim = simulation(start, 2000.0, [FLOOR])
    off, of = sim.sphere_centers - start.position, sim.sphere_clump
    assert np.abs(off - np.rint(off / 0.03) * [0.03, 0.03, 0.0]).max() < 1e-8
    moving = sim.velocity[of] + np.cross(sim.angular_velocity[of], sim.sphere_centers - sim.position[of])
    assert moving == pytest.approx(start.velocity, abs=1e-6)
    spin, start.angular_velocity = clumps["angular_velocity"], None
    assert start.clumps(2000.0)[0][1]["angular_velocity"] == pytest.approx(spin, rel=1e-5)      # from the velocities
    start.radius[1] *= 1.01
    assert [len(clumps["scale"]) for _, clumps in start.clumps(2000.0)] == [1, 2]
    start.velocity[0] += 0.1
    with pytest.warns(UserWarning, match="spheres of 1 of 1 clumps do not move as rigid bodies"):
        start[:3].clumps(2000.0)
    with pytest.raises(ValueError, match="density = None"):
        start.clumps()


@needs_gsd
def test_own_files(tmp_path):
    rng, grain = np.random.default_rng(3), rod(0.02, 0.004, 3, 2500.0)
    ball = md.ClumpTemplate([(0, 0, 0)], [0.005], 2500.0)
    sim = md.Simulation(md.Material(1e7, 0.3), [FLOOR], periodic=((0, 0, 0), (0.1,) * 3, (True, True, False)),
                        contact="hertz-mindlin", dt=1e-5, gravity=(0, 0, -9.81), threads=1)
    for template, (position, orientation) in zip((grain, ball), place_densely(
            [grain, ball], [40, 40], (0, 0, 0.01), (0.1, 0.1, 0.06), rng)):
        sim.add_clumps(template, position, orientation, velocity=0.3 * rng.normal(size=(40, 3)),
                       angular_velocity=10.0 * rng.normal(size=(40, 3)))
    sim.run(1000, every=1000, callback=lambda sim: [
        md.Trajectory(tmp_path / name)(sim) for name in ("own.gsd", "own.csv")])
    state = md.read_particles(tmp_path / "own.gsd")
    assert (len(state), state.step, state.time) == (160, 1000, sim.time) and "40 central particles" in repr(state)
    again = simulation(state, 2500.0, [FLOOR], 1e7, (0, 0, -9.81))
    assert again.n_clumps == 80 and len(again.contacts()) == len(sim.contacts()) > 0
    for name in ("translational", "rotational", "potential"):           # in single precision
        assert getattr(again.energy(), name) == pytest.approx(getattr(sim.energy(), name), rel=1e-6), name
    table = md.read_particles(tmp_path / "own.csv")
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(table, name), getattr(sim, name)), name
    sim.io.write_lammps(tmp_path)
    state = md.read_particles(tmp_path / "spheres.data", columns="id type x y z diameter density mol")
    assert np.array_equal(state.position, sim.sphere_centers) and np.array_equal(state.radius, sim.sphere_radii)
    assert np.array_equal(state.velocity[state.molecule == 0], sim.velocity[40:])


def test_xyz_and_tables(tmp_path):
    def read(text, **options):
        (tmp_path / "grains").write_text(text)
        return md.read_particles(tmp_path / "grains", **options)
    state = read('2\nLattice="5 0 0 0 4 0 0 1 3" Properties=species:S:1:pos:R:3:vel:R:3:mass:R:1:vrot:R:3:id:I:1 '
                 "Time=0.008\nXX 1.5 2 3 4 5 6 1e-4 7 8 9 2\nXX 0.5 2 3 1 2 3 1e-4 4 5 6 1\n")         # of exaDEM
    assert state.position[:, 0].tolist() == [0.5, 1.5] and state.velocity[1].tolist() == [4.0, 5.0, 6.0]
    assert state.angular_velocity[0].tolist() == [4.0, 5.0, 6.0] and (state.time, state.mass[0]) == (0.008, 1e-4)
    assert state.high.tolist() == [5.0, 4.0, 3.0] and state.tilts.tolist() == [0.0, 0.0, 1.0] and state.axes is None
    state = read("2\n10 10 10\n0 2.5 5 5\n1 7.5 5 5\n1\n10 10 10\n0 1 2 3\n", frame=0)
    assert state.high.tolist() == [10.0] * 3 and state[state.type == 1].position.tolist() == [[7.5, 5.0, 5.0]]
    with pytest.raises(ValueError, match="without radii"):
        state.clumps()
    for text in ("#format x_y_z_r\n0 0 0 .1\n1 0 0 .2\n", "0,0,0,.1\n1,0,0,.2", "z;y;x;d\n0;0;0;.2\n0;0;1;.4\n",
                 '"radius","Points:0","Points:1","Points:2"\n.1,0,0,0\n.2,1,0,0\n'):
        assert read(text).radius.tolist() == [0.1, 0.2] and read(text).position[:, 0].tolist() == [0.0, 1.0], text
    assert read("type x y z r\n99999999999999999999 0 0 0 1\n").type.tolist() == ["9" * 20]
    for wrong in ({"columns": 4}, {"frame": 0.5}, {"frame": 1}):
        with pytest.raises(ValueError, match=f"{min(wrong)} = "):
            read("0 0 0 1\n", **wrong)
    (tmp_path / "a.gz").write_bytes(gzip.compress((STATES / "tilted.dump").read_bytes()))
    assert len(md.read_particles(tmp_path / "a.gz")) == 6
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"0 0 0 1\n" + 10 ** 6 * b" "))
    with pytest.raises(ValueError, match="200 times as large"):
        md.read_particles(tmp_path / "a.gz")


@pytest.mark.parametrize("text", [
    "Position X (m),Position Y (m),Position Z (m),Radius (m),Velocity X (m/s),Velocity Y (m/s),Velocity Z (m/s)\n"
    "0.5,1.5,-2,0.25,1,2,3\n", "x [mm]\ty [mm]\tz [mm]\td [cm]\tvx [mm/s]\tvy\tvz\n500\t1500\t-2000\t"
    "50\t1000\t2\t3\n",
    "# x [mm] y [mm] z [mm] vx vy vz r\n500 1500 -2000 1 2 3 .25\n", "x;y;z;r;vx;vy;vz\n0,5;1,5;-2;0,25;1;2;3\n",
    "x y z r vx vy vz\n0,5 1,5 -2,0 0,25 1,0 2 3\n", "x y z r vx vy vz\n 0.5D+00 1.5d0 -2.D0 2.5D-1 1.0D0 2 3\n",
    '"Particle ID","Position:0","Position:1","Position:2","sphere radius","Velocity:0","Velocity:1","Velocity:2"\n'
    "7,0.5,1.5,-2,0.25,1,2,3\n", "#format x_y_z_r_vx_vy_vz\n0.5 1.5 -2 0.25 1 2 3\n"])
def test_columns_as_other_codes_name_them(tmp_path, text):
    """Names with blanks and units, decimal commas, exponents of Fortran, the comment of Yade."""
    (tmp_path / "grains").write_text(text)
    state = md.read_particles(tmp_path / "grains")
    assert state.position == pytest.approx(np.array([[0.5, 1.5, -2.0]])) and state.radius == pytest.approx([0.25])
    assert state.velocity == pytest.approx(np.array([[1.0, 2.0, 3.0]])) and not state.unread


def test_points_of_vtu_files(tmp_path):
    """As MercuryDPM writes them, text without cells; frames of minidem, from which a simulation continues."""
    arrays = {"Points": ("Position", 3, "0 0 0.01\n0.02 0 0.01"), "PointData": ("Velocity", 3, "1 2 3 4 5 6")}
    texts = {tag: f'<{tag}><DataArray type="Float32" Name="{name}" NumberOfComponents="{n}" format="ascii">{numbers}'
             "</DataArray>" for tag, (name, n, numbers) in arrays.items()}
    texts["PointData"] += "".join(f'<DataArray type="Float32" Name="{name}" format="ascii">{numbers}</DataArray>'
                                  for name, numbers in (("Radius", "0.01\n0.012"), ("SpeciesType", "0 1")))
    whole = ('<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="0.1"><UnstructuredGrid>'
             '<Piece NumberOfPoints="2" NumberOfCells="0">' + "".join(f"{text}</{tag}>" for tag, text in texts.items())
             + "<Cells>" + "".join(f'<DataArray type="Int32" Name="{name}" format="ascii"> </DataArray>' for name in
                                   ("connectivity", "offsets", "types"))
             + "</Cells></Piece></UnstructuredGrid></VTKFile>")
    (tmp_path / "mercury.vtu").write_text(whole)
    state = md.read_particles(tmp_path / "mercury.vtu")
    assert state.position.tolist() == [[0.0, 0.0, 0.01], [0.02, 0.0, 0.01]] and state.radius.tolist() == [0.01, 0.012]
    assert state.velocity[1].tolist() == [4.0, 5.0, 6.0] and state.type.tolist() == [0, 1] and not state.unread
    with pytest.raises(ValueError, match="no triangles in it; .* md.read_particles"):
        md.MeshWall(tmp_path / "mercury.vtu")
    for change, words in ((("4 5 6", "4 5"), "Velocity: 5 numbers, not 3 for each of 2 points"),
                          (('s="2"', 's="9000000000000000000"'), "not 3 for each of 9000000000000000000 points"),
                          (("</Piece>", ""), "not whole"), (("4 5 6", "4 5 x"), "give"),
                          (("<VTKFile", '<VTKFile compressor="vtkZLib"'), "compressed"),
                          (("<VTKFile", "<!DOCTYPE a [<!ENTITY a 'a'>]><VTKFile"), "entities"),
                          (('t="ascii">1', 't="binary">1'), "Velocity: .*give a whole one")):
        (tmp_path / "mercury.vtu").write_text(whole.replace(*change))
        with pytest.raises(ValueError, match=words):
            md.read_particles(tmp_path / "mercury.vtu")
    sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-4, threads=1)
    sim.add_clumps(rod(0.02, 0.004, 3, 2500.0), [(0, 0, 0), (1, 0, 0)], velocity=(1, 2, 3), angular_velocity=(4, 5, 6))
    sim.io.write_vtu(tmp_path / "own.vtu")
    [(template, clumps)] = md.read_particles(tmp_path / "own.vtu").clumps(2500.0)
    assert clumps["position"] == pytest.approx(sim.position, abs=1e-15)
    for name in ("velocity", "angular_velocity"):
        assert clumps[name] == pytest.approx(getattr(sim, name)), name
    assert template.mass * clumps["scale"] ** 3 == pytest.approx(sim.mass)


DATA, DUMP = (STATES / "tilted.data").read_text(), (STATES / "tilted.dump").read_text()


@pytest.mark.parametrize("text, reasons", [
    (DUMP[:-400], ["a dump of LAMMPS", "line 18", "columns"]), (DUMP.rpartition("\n5 ")[0], ["5 rows", "not 6"]),
    (DUMP.replace(" 0.005 ", " wide "), ["line 14", "'wide'"]), (DUMP.replace(" 0.005 ", " nan "), ["radius", "nan"]),
    (DUMP.replace(" x y z ", " xs ys zs "), ["no columns x y z"]), (DUMP.replace("\n6 1", "\n5 1"), ["same id"]),
    (DUMP + DUMP[:60], ["header is not whole"]), (DATA.replace("# sphere", "# hybrid"), ["10 columns of Atoms"]),
    (DATA.replace("\n6 0.1", "\n9 0.1"), ["ids of Velocities"]), (DATA[:600], ["a data file of LAMMPS", "line 18"]),
    ("3\n1 1 1\n0 1 1 1\n", ["an xyz file", "1 rows"]), ("A\n\n1 atoms\n\nCoords\n\n1 0 0 0\n", ["without names"]),
    ('1\nLattice="5 1 0 0 4 0 0 0 3"\nA 1 2 3\n', ["Lattice", "rotated"]), ("", ["no row of three numbers"]),
    ("# vtk DataFile Version 3.0\n", ["a VTK file", "ParaView"]),
    ("<VTKFile type='x'>", ["a VTK file", "not whole"]),
    ("x [in] y [in] z [in] r\n0 0 0 1\n", ["'x [in]'", "unit 'in' is not known for position"]),
    ("0 0 0 1 2 3 .0145\n", ["7 columns without names", "x y z r vx vy vz"]),
    ("9" * 30 + " atoms\n" + DATA, ["'Velocities'"]),
    ("id x y z r\n1e300 0 0 0 1\n", ["id[0, 0] = 1e+300", "2^53"]),
    ('1\nProperties="pos:R:3:big:R:999999999"\n1 2 3 4\n', ["Properties are 1000000002 columns"]),
    ("x y z r\n0 0 0 1\n1 2\n", ["line 3", "4 columns"])])
def test_damaged_and_unknown_files(tmp_path, text, reasons):
    (tmp_path / "file").write_text(text)
    with pytest.raises(ValueError) as error:
        md.read_particles(tmp_path / "file")
    assert all(reason in str(error.value) for reason in ["file", "give", *reasons]), error.value
