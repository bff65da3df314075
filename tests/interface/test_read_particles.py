"""States of other codes as a start: files of LAMMPS and LIGGGHTS, which these have written, xyz files, GSD, tables."""
import gzip
from pathlib import Path

import numpy as np
import pytest
from trajectory_files import needs_gsd

import minidem as md
from minidem.initial import place_densely
from minidem.templates.shapes import rod

STATES = Path(__file__).parent / "states"
SOFT = md.Material(1e6, 0.3)            # of the run of LAMMPS
STIFF = md.Material(1e7, 0.3)


def simulation(particles, density=None, walls=None, gravity=(0, 0, 0), material=SOFT, **box):
    sim = md.Simulation(material, walls, periodic=md.PeriodicBox(particles.low, particles.high, particles.axes, **box),
                        contact="hertz-mindlin", dt=1e-6, gravity=gravity, threads=1)
    for template, clumps in particles.clumps(density):
        sim.add_clumps(template, **clumps)
    return sim


def test_run_of_lammps_continues_in_a_tilted_box(tmp_path):
    """Spheres that touch through the faces of a prism: forces, energy, and the state of LAMMPS 200 steps later."""
    start, end = md.read_particles(STATES / "tilted.dump"), md.read_particles(STATES / "tilted.data")
    assert (len(start), start.step, start.time, end.step) == (6, 300, 3e-4, 500)
    assert start.unread == ["fx", "fy", "fz"] and start.id.tolist() == end.id.tolist() == [1, 2, 3, 4, 5, 6]
    assert start.high.tolist() == end.high.tolist() == [0.06, 0.05, 0.05] and start.tilts[0] == end.tilts[0] == 0.02
    sim = simulation(start, shear=("x", "y", 0.0), tilt=start.tilts[0])
    assert sim.box.tilts[0] == 0.02 and [template.density for template in sim.templates] == pytest.approx([2500.0])
    assert sim.sphere_radii.tolist() == start.radius.tolist() and sim.mass == pytest.approx(start.mass, rel=1e-12)
    rows = np.loadtxt(STATES / "tilted.dump", skiprows=13)
    forces = np.unique(np.linalg.norm(rows[:, -3:], axis=1).round(12))      # of LAMMPS
    assert len(forces) == 3
    assert np.sort(np.linalg.norm(sim.contacts()["force"], axis=1)) == pytest.approx(forces, rel=1e-9)
    energy = sim.energy()
    assert energy.translational == pytest.approx(5.830778727891952e-05, rel=1e-12)      # of LAMMPS
    assert energy.rotational == pytest.approx(3.649651017528335e-07, rel=1e-12)
    sim.save(tmp_path / "start.npz")
    sim.run(200)
    again = md.Simulation.load(tmp_path / "start.npz", threads=1)
    again.run(200)
    assert np.array_equal(again.position, sim.position) and again.box.tilts[0] == 0.02
    off = sim.position - end.position
    assert np.abs(off - np.rint(off @ np.linalg.inv(sim.box.lattice)) @ sim.box.lattice).max() < 1e-12
    assert np.abs(sim.velocity - end.velocity).max() < 1e-9
    assert sim.energy().total == pytest.approx(energy.total, rel=1e-9)
    assert sim.energy().translational == pytest.approx(5.888264057105294e-05, rel=1e-9)


def test_clumps_of_liggghts_share_a_template():
    """Three clumps of three spheres, one through a face: spheres where they were, and their velocities."""
    start = md.read_particles(STATES / "clumps.dump")
    assert start.axes.tolist() == [True, True, False] and start.molecule.tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    (template, clumps), = start.clumps(2000.0)
    assert len(clumps["scale"]) == 3 and clumps["scale"] == pytest.approx(0.004)
    assert template.mass * 0.004 ** 3 == pytest.approx(start.mass[0], rel=1e-3)     # by LIGGGHTS at random points
    sim = simulation(start, 2000.0, [md.Plane((0, 0, 0), (0, 0, 1))])
    off = sim.sphere_centers() - start.position
    assert np.abs(off - np.rint(off / 0.03) * [0.03, 0.03, 0.0]).max() < 1e-8
    of = sim.sphere_clump
    moving = sim.velocity[of] + np.cross(sim.angular_velocity[of], sim.sphere_centers() - sim.position[of])
    assert moving == pytest.approx(start.velocity, abs=1e-6)
    spin, start.angular_velocity = clumps["angular_velocity"], None
    assert start.clumps(2000.0)[0][1]["angular_velocity"] == pytest.approx(spin, rel=1e-5)      # from the velocities
    start.velocity[0] += 0.1
    with pytest.warns(UserWarning, match="spheres of 1 of 3 clumps do not move as rigid bodies"):
        start.clumps(2000.0)
    with pytest.raises(ValueError, match="density = None"):
        start.clumps()
    start = md.read_particles(STATES / "clumps.dump")
    start.radius[1] *= 1.01                 # in the first clump
    assert [len(clumps["scale"]) for _, clumps in start[3:].clumps(2000.0)] == [2]
    assert sorted(len(clumps["scale"]) for _, clumps in start[:6].clumps(2000.0)) == [1, 1]


@pytest.fixture(scope="module")
def own():
    """Rods and spheres that have moved in a periodic box."""
    rng, grain = np.random.default_rng(3), rod(0.02, 0.004, 3, 2500.0)
    ball = md.ClumpTemplate([(0, 0, 0)], [0.005], 2500.0)
    sim = md.Simulation(STIFF, [md.Plane((0, 0, 0), (0, 0, 1))], periodic=((0, 0, 0), (0.1,) * 3, (True, True, False)),
                        contact="hertz-mindlin", dt=1e-5, gravity=(0, 0, -9.81), threads=1)
    for template, (position, orientation) in zip((grain, ball), place_densely(
            [grain, ball], [40, 40], (0, 0, 0.01), (0.1, 0.1, 0.06), rng)):
        sim.add_clumps(template, position, orientation, velocity=0.3 * rng.normal(size=(40, 3)),
                       angular_velocity=10.0 * rng.normal(size=(40, 3)))
    sim.run(1000)
    return sim


@needs_gsd
def test_own_trajectories(tmp_path, own):
    for name in ("own.gsd", "own.csv"):
        with md.Trajectory(tmp_path / name) as trajectory:
            trajectory(own)
    state = md.read_particles(tmp_path / "own.gsd")
    assert len(state) == own.n_spheres and state.unread == ["40 central particles of rigid bodies"]
    assert (state.step, state.time) == (1000, own.time)
    again = simulation(state, 2500.0, own.walls, own.gravity, STIFF)
    assert again.n_clumps == own.n_clumps and len(again.contacts()) == len(own.contacts()) > 0
    for name in ("translational", "rotational", "potential"):           # in single precision
        assert getattr(again.energy(), name) == pytest.approx(getattr(own.energy(), name), rel=1e-6), name
    table = md.read_particles(tmp_path / "own.csv")
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(table, name), getattr(own, name)), name
    assert table.time == own.time and "not in it: radius, axes" in repr(table)


def test_own_data_file(tmp_path, own):
    own.write_lammps(tmp_path)
    state = md.read_particles(tmp_path / "spheres.data", columns="id type x y z diameter density mol")
    assert state.position == pytest.approx(own.sphere_centers())
    assert np.array_equal(state.radius, own.sphere_radii) and (state.molecule > 0).sum() == 120


EXADEM = """2
Lattice="5 0 0 0 4 0 0 1 3" Properties=species:S:1:pos:R:3:vel:R:3:cluster:I:1:mass:R:1:vrot:R:3:id:I:1 Time=0.008
XX  1.5 2 3  4 5 6  0 1e-4  7 8 9  2
XX  0.5 2 3  1 2 3  0 1e-4  4 5 6  1
"""


def test_xyz_and_tables(tmp_path):
    path = tmp_path / "grains"

    def read(text, **options):
        path.write_text(text)
        return md.read_particles(path, **options)
    state = read(EXADEM)
    assert state.position[:, 0].tolist() == [0.5, 1.5] and state.velocity[1].tolist() == [4.0, 5.0, 6.0]
    assert state.angular_velocity[0].tolist() == [4.0, 5.0, 6.0] and state.time == 0.008 and state.mass[0] == 1e-4
    assert state.high.tolist() == [5.0, 4.0, 3.0] and state.tilts.tolist() == [0.0, 0.0, 1.0] and state.axes is None
    state = read("2\n10 10 10\n0 2.5 5 5\n1 7.5 5 5\n" + "1\n10 10 10\n0 1 2 3\n", frame=0)       # of exaDEM
    assert state.high.tolist() == [10.0] * 3 and state.type.tolist() == [0, 1] and len(state[state.type == 1]) == 1
    with pytest.raises(ValueError, match="without radii"):
        state.clumps()
    state = read("2\nradius is last\nA 0 0 0 .1\nB 1 0 0 .2\n", columns="type x y z radius")
    assert state.radius.tolist() == [0.1, 0.2] and state.type.tolist() == ["A", "B"]
    for text in ("#format x_y_z_r\n0 0 0 .1\n1 0 0 .2\n", "0,0,0,.1\n1,0,0,.2", "z;y;x;d\n0;0;0;.2\n0;0;1;.4\n",
                 '"radius","Points:0","Points:1","Points:2"\n.1,0,0,0\n.2,1,0,0\n'):
        state = read(text)
        assert state.radius.tolist() == [0.1, 0.2] and state.position[:, 0].tolist() == [0.0, 1.0], text
    (tmp_path / "a.dump.gz").write_bytes(gzip.compress((STATES / "tilted.dump").read_bytes()))
    assert len(md.read_particles(tmp_path / "a.dump.gz")) == 6


DATA, DUMP = (STATES / "tilted.data").read_text(), (STATES / "tilted.dump").read_text()


@pytest.mark.parametrize("text, reasons", [
    (DUMP[:-400], ["a dump of LAMMPS", "line 18", "columns"]), (DUMP.rpartition("\n5 ")[0], ["5 rows", "not 6"]),
    (DUMP.replace(" 0.005 ", " wide "), ["line 14", "'wide'"]), (DUMP.replace(" 0.005 ", " nan "), ["radius", "nan"]),
    (DUMP.replace(" x y z ", " xs ys zs "), ["no columns x y z"]), (DUMP.replace("\n6 1", "\n5 1"), ["same id"]),
    (DATA.replace("\n6 0.1", "\n9 0.1"), ["ids of Velocities"]),
    (DATA.replace("# sphere", "# hybrid"), ["hybrid", "columns="]),
    (DATA[:600], ["a data file of LAMMPS", "line 18"]), ("3\n1 1 1\n0 1 1 1\n", ["an xyz file", "1 rows"]),
    ('1\nLattice="5 1 0 0 4 0 0 0 3"\nA 1 2 3\n', ["line 2", "rotated"]), ("0 0 0 1 2\n", ["line 1", "5 columns"]),
    ("clump\n\n1 atoms\n\nCoords\n\n1 0 0 0\n", ["line 7", "without names"]), ("", ["no row of three numbers"]),
    ("<VTKFile type='x'>", ["a VTK file", "ParaView"]), ("x y z r\n0 0 0 1\n1 2\n", ["line 3", "4 columns"])])
def test_damaged_and_unknown_files(tmp_path, text, reasons):
    (tmp_path / "file").write_text(text)
    with pytest.raises(ValueError) as error:
        md.read_particles(tmp_path / "file")
    assert all(reason in str(error.value) for reason in ["file", *reasons]), error.value
    assert "give" in str(error.value)
