"""tools/compare_drum.py, compare_impact.py, compare_repose.py, compare_friction.py, compare_shear.py: what they refuse,
their tables, commands for LAMMPS, and the same systems in LAMMPS."""
import os

import compare_drum
import compare_friction
import compare_impact
import compare_repose
import compare_shear
import numpy as np
import pytest
from installed_lammps import needs_lammps
from peers.lammps_peer import LAMMPS, run
from peers.state import elastic_energy
from peers.traces import CONTACT

import minidem as md
from minidem.output.lammps.dump import read_motion
from minidem.output.lammps.law import law, warn_of_differences
from minidem.output.lammps.walls import contact_commands
from minidem.scenarios import dosta


@pytest.mark.parametrize("tool", ["compare_drum", "compare_impact", "compare_repose", "compare_friction",
                                  "compare_shear"])
def test_missing_lammps_is_skipped(tool, tmp_path, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_tool(tool)
    assert done.returncode == 77 and "lammps: skipped" in done.stdout


@pytest.mark.parametrize("words, complaint", [
    ("drum --seeds 0", "at least 1"), ("drum --time -1", "above 0"), ("impact --count 0", "at least 1"),
    ("impact --quick --time 1e-7", "two steps"), ("impact --seeds x", "whole number"), ("impact --time 0.02", "--skip"),
    ("impact --skip -1", "--skip"), ("repose --count 1", "at least 10"), ("repose --seeds x", "whole number"),
    ("repose --time 0.001", "at least 0.02 s"), ("repose --clump cube", "--clump"),
    ("friction --steps 100", "two ascending"), ("friction --steps 200,100", "two ascending"),
    ("friction --speed 0", "above 0"), ("shear --count 10", "at least 500"), ("shear --strain 0", "above 0")])
def test_a_bad_argument_is_named(words, complaint, run_tool):
    tool, *arguments = words.split()
    done = run_tool(f"compare_{tool}", *arguments)
    assert done.returncode == 2 and complaint in done.stderr


def test_table_of_drums():
    """Shares of the grains that differ by known amounts between codes, seeds and the two halves of the time."""
    when = np.linspace(0.0, 1.0, 11)
    traces = {(code, seed): np.column_stack([when, *(20.0 + 4.0 * (when >= 0.5) * (seed - 1) + offset
                                                     for offset in (0.0, 0.0, 2.0 * (code == "lammps"), 0.0))])
              for code in compare_drum.CODES for seed in (1, 2)}
    table = compare_drum.table_of(traces, ["a", "b", "c", "d"], np.array([200.0, 100.0, 100.0, 400.0]))
    assert table[1] == ("a", "11.00", "11.00", "2.00", "2.00", "0.00", "2.00")
    assert table[3] == ("c", "22.00", "24.00", "4.00", "4.00", "2.00", "4.00")


@needs_lammps
def test_drum_beside_lammps(tmp_path, run_tool, monkeypatch):
    """Both codes have the same grains in all zones at first, and much the same a moment later."""
    monkeypatch.chdir(tmp_path)
    drum = compare_drum.drum
    monkeypatch.setattr(drum, "QUICK_LENGTH", 0.0042)
    for name, value in {"WARMUP": 1, "STEPS": 4, "REPEATS": 1}.items():
        monkeypatch.setattr(compare_drum, name, value)
    done = run_tool("compare_drum", "--quick", "--time", "0.02", "--seeds", "1", "--out", "out")
    assert done.returncode == 0, done.stderr
    table = np.genfromtxt("out/zones.csv", delimiter=",", names=True)
    assert len(table) == 201 and table["time"][-1] == pytest.approx(0.02)
    for name in ("M1_in_zone_2", "M2_in_zone_2"):
        ours, theirs = table[f"minidem_1_{name}"], table[f"lammps_1_{name}"]
        assert ours[0] == theirs[0] > 0.0
        assert np.abs(ours - theirs).max() <= 2.0


BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2500.0)
GLASS = md.Material(1e8, 0.2, friction=0.2)
DRUM, END, SPEED, G, STEP, STEPS = 0.1, 0.03, (0.0, 2.0, 0.0), 9.81, 1e-6, 5000
IMPACT = 0.01


def drum(**options):
    """One sphere lies on the cylinder, one hits an end without damping; both slide all the time: the cylinder has
    0.2 m/s and the end 0.1 m/s at the contact."""
    walls = [md.Cylinder((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), DRUM, angular_velocity=SPEED, **options),
             *(md.Plane((0.0, end, 0.0), (0.0, -end, 0.0), angular_velocity=SPEED) for end in (-END, END))]
    sim = md.Simulation(GLASS, walls, contact="hertz-mindlin:tangential_damping=0", dt=STEP, gravity=(0.0, 0.0, -G),
                        threads=1)
    radius = BALL.radii[0]
    stiffness = 4.0 / 3.0 * md.effective_modulus(GLASS, GLASS) * radius ** 0.5
    at_rest = (BALL.mass * G / stiffness) ** (2.0 / 3.0)
    sim.add_clumps(BALL, [(0.0, 0.0, radius - DRUM - at_rest), (0.04, END - radius, 0.03)],
                   velocity=[(0.0, 0.0, 0.0), (0.0, IMPACT, 0.0)])
    return sim


@needs_lammps
def test_spheres_in_a_drum_that_turns(tmp_path):
    """Direction and size of friction in LAMMPS; minidem agrees, but for LAMMPS' effective radius."""
    sim, radius = drum(), BALL.radii[0]
    run(LAMMPS.find(), sim, {"skin": 0.5}, 0, STEPS, tmp_path)
    motion = read_motion(sim, tmp_path, "end")[0]
    position, velocity, spin = (motion[name] for name in ("position", "velocity", "angular_velocity"))
    sliding = GLASS.friction * G * STEPS * STEP                             # the cylinder moves towards -x
    assert [-velocity[0, 0], 0.4 * radius * spin[0, 1]] == pytest.approx([sliding] * 2, rel=0.01)
    kick = 2.0 * GLASS.friction * IMPACT * np.array([0.6, 0.0, -0.8])       # along the end's motion
    fall = (0.0, 0.0, -G * STEPS * STEP)
    assert velocity[1] == pytest.approx(kick + fall - (0.0, IMPACT, 0.0), abs=0.03 * IMPACT)
    assert 0.4 * radius * spin[1] == pytest.approx(np.cross((0.0, 1.0, 0.0), kick), abs=0.03 * IMPACT)
    sim.run(STEPS)
    # At the cylinder LAMMPS has R* = R / 0.95: overlaps of 6 um are 1.7 % smaller, and velocities swing by a little.
    assert position == pytest.approx(sim.position, abs=2e-7)
    for theirs, ours in ((velocity, sim.velocity), (radius * spin, radius * sim.angular_velocity)):
        assert theirs[0] == pytest.approx(ours[0], abs=0.02 * IMPACT)
        assert theirs[1] == pytest.approx(ours[1], abs=0.002 * IMPACT)


def test_commands_and_energy_of_a_drum():
    sim = drum()
    *_, region, fix = contact_commands(sim)
    assert region == ("region drum cylinder y 0 0 0.10000000000000001 -0.029999999999999999 0.029999999999999999 "
                      "units box rotate v_angle 0 0 0 0 1 0")
    assert fix.startswith("fix region_0_1 type1 wall/gran/region granular hertz") and fix.endswith(" region drum")
    assert elastic_energy(sim, sim.sphere_centers()) == pytest.approx(sim.energy().elastic, rel=1e-9)


def test_another_drum_is_refused():
    with pytest.raises(ValueError, match="one angular velocity"):
        contact_commands(drum(velocity=(0.0, 0.1, 0.0)))


IMPACT_OPTIONS = ("--quick", "--count", "400", "--time", "0.002", "--skip", "0.001", "--dt", "2e-6", "--seeds", "1",
                  "--out", "out")


def trajectory(lowest, rebound):
    """Rows of a ball that falls with 5 m/s up to 2 ms and then rises."""
    when = np.linspace(0.0, 4e-3, 41)
    fall = when <= 2e-3
    height = lowest + np.where(fall, 5.0 * (2e-3 - when), rebound * (when - 2e-3))
    return np.column_stack([when, height, np.where(fall, -5.0, rebound)])


def test_tables_of_impacts():
    """Two seeds: differences of the codes for each, and spreads over both."""
    ends = {("minidem", 1): (0.010, 1.0), ("lammps", 1): (0.0102, 1.0), ("minidem", 2): (0.011, 1.0),
            ("lammps", 2): (0.0109, 1.5)}
    traces = {run: trajectory(*end) for run, end in ends.items()}
    runs, times = compare_impact.tables(traces, dict.fromkeys(traces, 123.4))
    assert runs[1] == ("1", "minidem", "10.000", "2.00", "1.0000", "123")
    assert runs[4] == ("2", "lammps", "10.900", "2.00", "1.5000", "123")
    assert times[4] == ("2.00", "10.500", "+0.200", "-0.100", "1.000", "0.700")
    assert times[-1] == ("largest", "", "+0.200", "+0.900", "1.000", "1.700")


@needs_lammps
def test_impact_beside_lammps(tmp_path, run_tool, monkeypatch):
    """The ball falls freely in both codes; runs that have ended are kept, and repeated for other arguments."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"WARMUP": 1, "STEPS": 4, "REPEATS": 1}.items():
        monkeypatch.setattr(compare_impact, name, value)
    done = run_tool("compare_impact", *IMPACT_OPTIONS)
    assert done.returncode == 0, done.stderr
    assert "times as long as minidem" in done.stdout
    table = np.genfromtxt("out/heights.csv", delimiter=",", names=True)
    when = table["time"]
    assert when[[0, -1]] == pytest.approx([0.001, 0.002], rel=1e-12) and len(when) > 300
    for code in compare_impact.CODES:
        assert table[f"{code}_1_height"] == pytest.approx(-0.05 - 5.0 * when - 0.5 * 9.81 * when ** 2, abs=1e-12)
        assert table[f"{code}_1_velocity"] == pytest.approx(-5.0 - 9.81 * when, abs=1e-10)
    kept = os.stat("out/minidem-seed-1.json").st_mtime_ns
    for time in ("0.002", "0.0015"):
        arguments = compare_impact.parse_arguments([*IMPACT_OPTIONS, "--time", time])
        rows, _ = compare_impact.traced(arguments, "minidem", 1, None)
        assert rows[-1, 0] == pytest.approx(float(time), rel=1e-12)
        assert (os.stat("out/minidem-seed-1.json").st_mtime_ns == kept) == (time == "0.002")


@needs_lammps
def test_a_law_without_an_equal_in_lammps(tmp_path, run_tool, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run_tool("compare_impact", *IMPACT_OPTIONS, "--contact", "hertz-mindlin:rolling=epsd")
    assert done.returncode == 1 and "rolling=epsd" in done.stderr


def test_a_ball_within_the_bed_is_refused(tmp_path, run_tool, monkeypatch):
    """A program that does nothing stands for LAMMPS."""
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "lmp"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_tool("compare_impact", *IMPACT_OPTIONS, "--time", "0.02", "--skip", "0.008")
    assert done.returncode == 1 and "not above the bed" in done.stderr


REPOSE = compare_repose.repose
REPOSE_OPTIONS = ("--quick", "--count", "100", "--time", "0.06", "--seeds", "1", "--out", "out")


def test_table_of_repose():
    """Slopes of known angles; the angle changes in the last tenth of one run."""
    middles = 0.5 * REPOSE.LENGTH * (REPOSE.STRIPS[:-1] + REPOSE.STRIPS[1:])
    angles = {("minidem", 1): 30.0, ("lammps", 1): 31.0, ("minidem", 2): 28.0, ("lammps", 2): 32.0}
    clumps = {"minidem": 100, "lammps": 110}
    rows = {run: np.array([[0.02 * k, clumps[run[0]] + run[1],
                            *(0.3 - np.tan(np.radians(angle + (run == ("lammps", 2) and k == 19))) * middles)]
                           for k in range(20)]) for run, angle in angles.items()}
    traces = {run: compare_repose.angles(values) for run, values in rows.items()}
    table = compare_repose.table_of(traces, dict.fromkeys(traces, 123.4))
    assert table[1] == ("1", "minidem", "30.00", "0.00", "101", "123")
    assert table[4] == ("2", "lammps", "32.50", "1.00", "112", "123")
    assert table[5:] == [("mean", "minidem", "29.00", "", "101.5", ""), ("mean", "lammps", "31.75", "", "111.5", ""),
                         ("spread", "minidem", "2.00", "", "1.0", ""), ("spread", "lammps", "1.50", "", "1.0", "")]


@needs_lammps
def test_rods_roll_over_the_edge_in_both_codes(tmp_path):
    """One rod on the floor along the edge, with spin, another half over it; the codes differ by less than a thousandth
    of the grain size."""
    options = REPOSE.SCENARIO.parse(["--contact", compare_repose.CONTACT, "--dt", "1e-5", "--quiet"])
    rough, smooth, pairs = REPOSE.materials(options)
    rod, floor = dosta.grain("rod", REPOSE.RADIUS, rough), REPOSE.floor(options)
    radius, turned = rod.radii[0], (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    steps, position = 5000, []
    for lowest in (floor, md.Plane((0.0, 0.0, compare_repose.LANDING), (0.0, 0.0, 1.0))):
        sim = md.Simulation(rough, [*REPOSE.walls(options, smooth), lowest], contact=options.contact, dt=options.dt,
                            gravity=(0.0, 0.0, -dosta.G), threads=1, pairs=pairs)
        sim.add_clumps(rod, [(REPOSE.LENGTH, 0.02, 0.999 * radius), (REPOSE.LENGTH + 0.003, -0.02, radius)],
                       [turned, (0.8, 0.0, 0.0, 0.6)], velocity=[(0.1, 0.0, 0.0), (0.0, 0.0, 0.0)],
                       angular_velocity=[(0.0, 5.0, 0.0), (0.0, 0.0, 0.0)])
        if lowest is floor:
            sim.run(steps)
            position.append(sim.position)
        else:
            run(LAMMPS.find(), sim, {"skin": 0.5}, 0, steps, tmp_path, compare_repose.lammps_commands(sim, floor))
            position.append(read_motion(sim, tmp_path, "end")[0]["position"])
    assert np.all(position[0][:, 0] > REPOSE.LENGTH) and np.all(position[0][:, 2] < 0.5 * radius)
    assert np.all(position[0][:, 2] > -0.5 * dosta.G * (steps * options.dt) ** 2 + 1.1 * radius)      # not in free fall
    np.testing.assert_allclose(position[1], position[0], rtol=0.0, atol=2e-3 * REPOSE.RADIUS)


@needs_lammps
def test_repose_beside_lammps(tmp_path, run_tool, monkeypatch):
    """Heights and numbers of clumps are the same at the start, and nearly so after the first moments; runs that have
    ended are kept."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"WARMUP": 1, "STEPS": 4, "REPEATS": 1}.items():
        monkeypatch.setattr(compare_repose, name, value)
    done = run_tool("compare_repose", *REPOSE_OPTIONS)
    assert done.returncode == 0, done.stderr
    assert "times as long as minidem" in done.stdout
    table = np.genfromtxt("out/angles.csv", delimiter=",", names=True)
    assert table["time"] == pytest.approx([0.0, 0.02, 0.04, 0.06]) and set(table["minidem_1_clumps"]) == {100.0}
    assert table["lammps_1_clumps"].tolist() == table["minidem_1_clumps"].tolist()
    kept = os.stat("out/lammps-seed-1.json").st_mtime_ns
    arguments = compare_repose.parse_arguments(REPOSE_OPTIONS)
    theirs, ours = (compare_repose.traced(arguments, code, 1)[0] for code in ("lammps", "minidem"))
    np.testing.assert_allclose(theirs[0], ours[0], rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(theirs, ours, rtol=0.0, atol=1e-2 * REPOSE.RADIUS)
    assert not np.array_equal(ours[0, 2:], ours[-1, 2:]) and os.stat("out/lammps-seed-1.json").st_mtime_ns == kept


HARD_GLASS = md.Material(4.8e10, 0.2, restitution=0.7, friction=0.3)
DENSE_BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2800.0)


def simulation(contact, **options):
    return md.Simulation(HARD_GLASS, contact=contact, dt=1e-7, **options)


def test_coefficients_of_lammps():
    words = law(simulation("hertz-mindlin:limit_damping=yes"), 0, 0).split()
    modulus, shear = 4.8e10 / (2.0 * 0.96), 4.8e10 / (4.0 * 1.8 * 1.2)
    numbers = [float(words[k]) for k in (1, 2, 5, 6, 7)]
    # The stiffness-ratio is that of the tangential and the normal stiffness, 8 G* a and 2 E* a.
    np.testing.assert_allclose(numbers, [4.0 / 3.0 * modulus, 0.7, 8.0 * shear, (4.0 * shear / modulus) ** 0.5, 0.3],
                               rtol=1e-15)
    assert words[-1] == "limit_damping"
    assert law(simulation("hertz-mindlin:tangential_damping=0.25"), 0, 0).split()[6] == "0.25"


def test_cohesion_in_lammps():
    """E* = E / 2 with nu = 0, and gamma = w / 2; LAMMPS has no equal damping, and ends contacts early."""
    clean = md.Material(4.8e10, 0.2, friction=0.3, adhesion=0.6)
    sim = md.Simulation(clean, contact="hertz-mindlin:cohesion=jkr", dt=1e-7)
    words = law(sim, 0, 0).split()
    assert words[0] == "jkr" and words[-2:] == ["damping", "velocity"]
    np.testing.assert_allclose([float(word) for word in words[1:5]], [4.8e10 / 0.96, 0.0, 0.0, 0.3], rtol=1e-15)
    with pytest.warns(UserWarning, match="at the gap of the largest attraction"):
        warn_of_differences(sim)
    with pytest.raises(ValueError, match="restitution of 0.7"):
        law(simulation("hertz-mindlin:cohesion=jkr"), 0, 0)


@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read restitution, friction:UserWarning")
@pytest.mark.parametrize("contact", ["hertz-mindlin:rolling=epsd", "hertz:onset=corrected",
                                     "hooke-coulomb:stiffness=1e5"])
def test_laws_without_an_equal_in_lammps_are_refused(contact):
    with pytest.raises(ValueError, match=contact):
        law(simulation(contact), 0, 0)


def two_materials(speed, steps):
    """Spheres of glass and steel that touch each other, walls of both materials, or nothing: one collision each."""
    steel = md.Material(2.1e11, 0.3, restitution=0.6, friction=0.5)
    walls = md.box((0.0,) * 3, (0.2,) * 3)
    walls[4] = md.Plane(walls[4].point, walls[4].normal, steel)
    time = 2.868 * (DENSE_BALL.mass ** 2 / (0.5 * DENSE_BALL.radii[0] * 2.5e10 ** 2 * speed)) ** 0.2
    sim = md.Simulation(HARD_GLASS, walls, contact=CONTACT, dt=time / steps, threads=1,
                        pairs=[md.Pair(HARD_GLASS, steel, restitution=0.8, friction=0.2)])
    across = np.array([0.6, 0.64, 0.48])
    for position, velocity, material in [
            ((0.05, 0.05, 0.01), (0.5, 0.3, -1.0), HARD_GLASS), ((0.15, 0.05, 0.01), (0.2, -0.3, -1.0), steel),
            ((0.01, 0.15, 0.1), (-1.0, 0.2, 0.3), steel), ((0.05, 0.15, 0.19), (0.1, 0.4, 1.0), HARD_GLASS),
            ((0.1,) * 3, across + (0.1, 0.2, -0.3), HARD_GLASS), (0.1 + 0.02 * across, (0.0,) * 3, steel)]:
        sim.add_clumps(DENSE_BALL, [position], velocity=np.multiply(speed, velocity), material=material)
    return sim


def test_commands_of_two_materials():
    """A type per material of the clumps, coefficients of the pair, and walls of each material and type."""
    lines = contact_commands(two_materials(0.01, 100))
    rows = [line.split() for line in lines]
    restitution = {tuple(row[1:3]): float(row[5]) for row in rows if row[0] == "pair_coeff"}
    assert restitution == {("1", "1"): 0.7, ("1", "2"): 0.8, ("2", "2"): 0.6}
    walls = {(row[2], *row[-3:]): (float(row[7]), float(row[12])) for row in rows if row[0] == "fix"}
    glass, between, steel = (0.7, 0.3), (0.8, 0.2), (0.6, 0.5)
    sides = [("xplane", "0", "0.20000000000000001"), ("yplane", "0", "0.20000000000000001"),
             ("zplane", "NULL", "0.20000000000000001")]
    assert walls == {("type1", "zplane", "0", "NULL"): between, ("type2", "zplane", "0", "NULL"): steel,
                     **{("type1", *side): glass for side in sides}, **{("type2", *side): between for side in sides}}


@pytest.mark.parametrize("collision", compare_friction.COLLISIONS, ids=lambda one: f"{one.name}-{one.restitution}")
def test_clumps_touch_at_the_start_and_approach(collision):
    speed = 0.01
    sim = compare_friction.simulation(collision, speed, 1e-3 * compare_friction.contact_time(collision, speed))
    overlap = sim.contacts()["overlap"]
    assert np.all(np.abs(overlap) < 1e-12 * compare_friction.RADIUS)
    sim.run(100)
    assert 0.0 < sim.contacts()["overlap"].max() < 1e-3 * compare_friction.RADIUS


@needs_lammps
def test_two_materials_agree_with_lammps():
    """At 1 mm/s the arms at walls, which differ by the overlap, change velocities by a few 1e-5."""
    assert compare_friction.compare(lambda steps: two_materials(0.001, steps), [4000, 8000])[2] < 1e-4


@pytest.mark.slow
@needs_lammps
def test_collisions_agree_with_lammps(run_tool):
    done = run_tool("compare_friction")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_lammps
def test_a_sheared_gas_beside_lammps():
    """From one state over a strain of 0.2, in which each sphere collides a few times: the same temperature. Pressures
    are those of ten instants, at which few spheres touch."""
    sim = compare_shear.prepared(1, 500)
    theirs = compare_shear.of_lammps(sim, 10, LAMMPS.find())
    ours = compare_shear.of_minidem(sim, 10)
    assert theirs[0] == pytest.approx(ours[0], rel=0.02) and theirs[1:] == pytest.approx(ours[1:], rel=0.6)


@pytest.mark.slow
@needs_lammps
def test_sheared_gases_agree_with_lammps(run_tool):
    done = run_tool("compare_shear")
    assert done.returncode == 0, done.stdout + done.stderr
