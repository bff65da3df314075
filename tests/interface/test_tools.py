"""Tools of this project: measurements, tables, pictures of ParaView, and comparisons with other codes."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import benchmark_cases
import compare_shear
import compare_trees
import numpy as np
import pytest
from installed_lammps import needs_lammps
from peers.lammps_peer import LAMMPS
from peers.state import clump_state, elastic_energy, total_energy

import minidem as md
from minidem import isa
from minidem.output.lammps.walls import contact_commands
from minidem.scenarios.spiral import chess_box

ROOT = Path(__file__).parents[2]
ORDERS = (ROOT / "minidem" / "rotation" / "ORDERS.md").read_text(encoding="utf-8")
WARMUP, STEPS, REPEATS = 50, 300, 3


@pytest.mark.parametrize("words, complaint", [
    ("benchmark --cases A,Z", "Z"), ("benchmark --threads 1,x", "'1,x'"), ("benchmark --rods 0", "at least 1"),
    ("benchmark --rods 9 --clumps folder", "case B"), ("benchmark --clumps folder --cases A", "case B"),
    ("benchmark --json .", "folder"),
    ("benchmark --isa v9", "must be one of: v2" if isa.levels() else "MINIDEM_ARCH=levels"),
    ("compare_trees . --cases A,Q", "case is 'Q'"), ("compare_trees . --threads 0", "at least 1"),
    ("compare_peers --peers yade,nobody", "nobody"), ("compare_peers --steps 0", "0"),
    ("compare_peers --case Z", "Z"), ("compare_peers --json no/such/folder/out.json", "no/such/folder"),
    ("compare_peers --clumps folder", "case B"), ("make_clump a.stl --bogus", "--bogus"),
    ("make_clump none.stl", "none.stl"),
    ("compare_drum --seeds 0", "at least 1"), ("compare_drum --time -1", "above 0"),
    ("compare_impact --quick --time 1e-7", "two steps"), ("compare_impact --seeds x", "whole number"),
    ("compare_impact --time 0.02", "--skip"), ("compare_repose --count 1", "at least 10"),
    ("compare_repose --time 0.001", "at least 0.02 s"), ("compare_repose --clump cube", "--clump"),
    ("compare_friction --steps 200,100", "two ascending"), ("compare_friction --speed 0", "above 0"),
    ("compare_shear --count 10", "at least 500"), ("compare_shear --strain 0", "above 0")])
def test_a_bad_argument_is_named(words, complaint, run_tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tool, *arguments = words.split()
    done = run_tool(tool, *arguments)
    assert done.returncode == 2 and complaint in done.stderr
    assert not list(tmp_path.iterdir())


# --- benchmark.py ---

def rods():
    return benchmark_cases.CASES["A"].simulation(1, None)


def test_rows_of_a_measurement(tmp_path):
    """One per number of threads; calls of run() and threads change no bit, and so not the energy."""
    file = tmp_path / "new" / "rows.jsonl"
    done = subprocess.run([sys.executable, ROOT / "tools" / "benchmark.py", "--cases", "A", "--threads", "1,2",
                           "--warmup", str(WARMUP), "--steps", str(STEPS), "--repeats", str(REPEATS), "--json", file],
                          capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["threads_asked"] for row in rows] == [1, 2]
    for row in rows:
        assert (row["case"], row["clumps"], row["spheres"], row["threads"]) == ("A", 30, 90, 1)
        assert row["warmup"] >= WARMUP and (row["steps"], row["repeats"]) == (STEPS, REPEATS)
        assert "-ffp-contract=off" in row["build"]["command"] and row["build"]["compiler"]
        assert row["cpu"] and row["load"] >= 0.0 and row["date"].endswith("+00:00")
        assert row["bytes_per_sphere"] == row["peak_bytes"] / 90 > 0.0
        us, ns = row["us_per_step"], row["ns_per_sphere_step"]
        assert 0.0 < us["min"] <= us["median"] <= us["max"]
        assert ns["median"] == pytest.approx(1e3 * us["median"] / 90, rel=1e-14)
        sim = rods()
        initial = sim.energy().total
        sim.run(row["warmup"] + REPEATS * STEPS)
        assert row["energy_drift"] == sim.energy().total / initial - 1
    assert "case A" in done.stderr and rows[0]["build"]["command"] in done.stdout


def test_a_tree_beside_itself(capsys):
    assert compare_trees.main([str(compare_trees.ROOT), "--cases", "A", "--turns", "2"]) == 0
    heads, row = capsys.readouterr().out.splitlines()
    assert heads.split() == ["case", "threads", "us/step", "other/this", "bits"]
    ratio, = re.fullmatch(r"A +1 +\S+ +(\S+) \(\S+\.\.\S+\) +equal", row).groups()
    assert 0.1 < float(ratio) < 10


def test_what_cannot_be_measured(tmp_path, run_tool):
    for done, complaint in ((run_tool("benchmark", "--rods", "1", "--json", tmp_path / "rows"), "a larger box"),
                            (run_tool("compare_trees", tmp_path, "--cases", "A"), "build it in place")):
        assert done.returncode == 1 and complaint in done.stderr


# --- order_table.py ---

def test_every_scheme_is_listed():
    listed = {name.partition(":")[0] for name in re.findall(r"^\| `([\w:=-]+)` \|", ORDERS, re.M)}
    assert set(md.rotation.available()) == listed, "run: python tools/order_table.py"


@pytest.mark.slow
def test_orders_are_those_measured():
    """In a separate process, where no other test has registered a scheme."""
    done = subprocess.run([sys.executable, ROOT / "tools" / "order_table.py", "--check"], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


# --- paraview_view.py ---

@pytest.mark.parametrize("words, told", [
    ("none.pvd", "no file none.pvd"), ("run.pvd --pgn a.png", "--pgn"), ("0.vtu --time 1", "--time"),
    ("run.pvd --png picture", "--png"), ("run.pvd --png no/such/folder/a.png", "no/such/folder"),
    ("run.pvd --png a.png", "pvbatch")])
def test_views_are_refused(words, told, tmp_path):
    """Before ParaView is needed, and without it."""
    for name in ("run.pvd", "0.vtu"):
        (tmp_path / name).write_text("")
    done = subprocess.run([sys.executable, ROOT / "tools" / "paraview_view.py", *words.split()], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode != 0 and told in done.stderr and "Traceback" not in done.stderr


PROGRAMS = {"yade": "yade", "lammps": "lmp", "liggghts": "liggghts"}
EPS = np.finfo(float).eps


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fake(name, folder, *lines):
    program = folder / name
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)


# --- without other codes ---

@pytest.mark.parametrize("tool", ["drum", "impact", "repose", "friction", "shear", "peers"])
def test_what_is_missing_is_skipped(tool, here, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(here))
    done = run_tool(f"compare_{tool}", *(["--json", "out.json"] if tool == "peers" else []))
    assert (done.returncode, done.stderr) == (77, "") and "lammps: skipped" in done.stdout
    for name in PROGRAMS if tool == "peers" else ():
        assert f"{name}: skipped" in done.stdout and f"apt-get install {name}" in done.stdout
    assert not list(here.iterdir())


@pytest.mark.parametrize("name", PROGRAMS)
def test_output_of_a_failing_program_is_quoted(name, here, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(here), prepend=os.pathsep)
    fake(PROGRAMS[name], here, "echo no walls today", "exit 3")
    done = run_tool("compare_peers", "--peers", name, "--steps", "1")
    assert done.returncode == 1 and "status 3" in done.stderr and "no walls today" in done.stderr


@pytest.mark.parametrize("words, status, told", [
    ("peers --case D --peers liggghts", 77, "liggghts: skipped, case D has more than 20000 clumps"),
    ("peers --case B --peers lammps --clumps .", 1, "'king' in its name"),
    ("impact --quick --count 400 --time 0.02 --skip 0.008 --dt 2e-6 --seeds 1", 1, "not above the bed")])
def test_what_cannot_be_compared(words, status, told, here, run_tool, monkeypatch):
    for program in PROGRAMS.values():
        fake(program, here)
    monkeypatch.setenv("PATH", str(here))
    tool, *arguments = words.split()
    done = run_tool(f"compare_{tool}", *arguments)
    assert done.returncode == status and told in done.stdout + done.stderr


# --- beside LAMMPS ---

BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2500.0)
GLASS = md.Material(1e8, 0.2, friction=0.2)
DRUM, END, SPEED, G = 0.1, 0.03, (0.0, 2.0, 0.0), 9.81


def drum(**options):
    """One sphere lies on the cylinder, one hits an end without damping; both slide all the time: the cylinder has
    0.2 m/s and the end 0.1 m/s at the contact."""
    walls = [md.Cylinder((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), DRUM, angular_velocity=SPEED, **options),
             *(md.Plane((0.0, end, 0.0), (0.0, -end, 0.0), angular_velocity=SPEED) for end in (-END, END))]
    sim = md.Simulation(GLASS, walls, contact="hertz-mindlin:tangential_damping=0", dt=1e-6, gravity=(0.0, 0.0, -G),
                        threads=1)
    radius = BALL.radii[0]
    stiffness = 4.0 / 3.0 * md.effective_modulus(GLASS, GLASS) * radius ** 0.5
    at_rest = (BALL.mass * G / stiffness) ** (2.0 / 3.0)
    sim.add_clumps(BALL, [(0.0, 0.0, radius - DRUM - at_rest), (0.04, END - radius, 0.03)],
                   velocity=[(0.0, 0.0, 0.0), (0.0, 0.01, 0.0)])
    return sim


def test_commands_and_energies_of_a_drum():
    """Energies from centres and momenta; half a kick leads to the momenta of the whole step."""
    sim = drum()
    *_, region, fix = contact_commands(sim)
    assert region == ("region drum cylinder y 0 0 0.10000000000000001 -0.029999999999999999 0.029999999999999999 "
                      "units box rotate v_angle 0 0 0 0 1 0")
    assert fix.startswith("fix region_0_1 type1 wall/gran/region granular hertz") and fix.endswith(" region drum")
    sim.run(100)
    state, energy, mass = clump_state(sim), sim.energy(), sim.mass[:, None]
    assert elastic_energy(sim, sim.sphere_centers()) == pytest.approx(energy.elastic, rel=1e-9)
    assert total_energy(sim, sim.mass, sim.velocity, sim.angular_velocity, state["angular_momentum"],
                        sim.sphere_centers()) == pytest.approx(energy.total - energy.potential, rel=1e-9)
    for now, before, rate in (
            (mass * sim.velocity, mass * state["velocity_before"], sim.force),
            (state["angular_momentum"], state["angular_momentum_before"], sim.torque)):
        np.testing.assert_allclose(now - before, 0.5 * sim.dt * rate, rtol=0, atol=8 * EPS * np.abs(now).max())


@needs_lammps
def test_a_sheared_gas_beside_lammps():
    """From one state over a strain of 0.2, in which each sphere collides a few times: the same temperature. Pressures
    are those of ten instants, at which few spheres touch."""
    sim = compare_shear.prepared(1, 500)
    theirs = compare_shear.of_lammps(sim, 10, LAMMPS.find())
    ours = compare_shear.of_minidem(sim, 10)
    assert theirs[0] == pytest.approx(ours[0], rel=0.02) and theirs[1:] == pytest.approx(ours[1:], rel=0.6)


# --- beside Yade, LAMMPS and LIGGGHTS ---

@pytest.mark.slow
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {name}"))
    for name, program in PROGRAMS.items()])
@pytest.mark.parametrize("case, steps", [("A", "--steps 2000"), ("B", "--warmup 4000 --steps 100")])
def test_peers_agree(name, case, steps, tmp_path):
    """Rods; and chess pieces, with three different moments, up to after the first contacts."""
    tool = Path(__file__).parents[2] / "tools" / "compare_peers.py"
    words = ["--peers", name, "--case", case, *steps.split(), "--repeats", "1", "--json", tmp_path / "out.json"]
    done = subprocess.run([sys.executable, tool, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [report] = json.loads((tmp_path / "out.json").read_text())["reports"]
    [theirs], [ours] = report["peer_runs"], report["minidem_runs"]
    assert report["ratio"] == theirs["us_per_step"] / ours["us_per_step"]
    # A contact lasts T = 34 steps of 38e-6 s. A stiffness wrong by the fraction e turns a rod of v = 4 m/s back by
    # 2/5 e T too early or late: 0.06 e radii; 1 % is allowed. A mass or moment wrong by e changes speeds of 1 m/s by
    # about e m/s in a bounce, and moves a piece by e * 19 mm at most in the warm-up; 1e-4 is allowed.
    radius = min(piece.radii.min() for piece in chess_box.templates().values())
    allowed = {"A": 0.06 * 0.01, "B": 1e-4 * 4000 * chess_box.STEP * chess_box.SPEED / radius}
    assert report["apart_in_radii"] < allowed[case]
