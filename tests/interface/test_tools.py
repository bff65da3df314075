"""Tools of this project: measurements, tables, pictures of ParaView, comparisons with other codes, emulated arm64."""
import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import benchmark_cases
import compare_rods
import compare_shear
import compare_trees
import emulate_arm64
import plant_faults
import pytest
from examples import ROOT
from peers.lammps_peer import LAMMPS
from processes import needs_lammps, python

from minidem import isa
from minidem.scenarios.spiral import chess_box

WARMUP, STEPS, REPEATS = 50, 300, 3


@pytest.mark.parametrize("words, complaint", [
    ("benchmark --cases A,Z", "Z"), ("benchmark --threads 1,x", "'1,x'"), ("benchmark --rods 0", "at least 1"),
    ("benchmark --rods 9 --clumps folder", "case B"), ("benchmark --clumps folder --cases A", "case B"),
    ("benchmark --json .", "folder"),
    ("benchmark --isa v9", "must be one of: v2" if isa.levels() else "MINIDEM_ARCH=levels"),
    ("compare_trees . --cases A,Q", "case is 'Q'"), ("compare_trees . --threads 0", "at least 1"),
    ("compare_peers --peers yade,nobody", "nobody"), ("compare_peers --steps 0", "0"), ("compare_peers --case Z", "Z"),
    ("compare_peers --json no/such/folder/out.json", "no/such/folder"), ("compare_peers --clumps folder", "case B"),
    ("make_clump a.stl --bogus", "--bogus"), ("make_clump none.stl", "none.stl"), ("make_clump a.stl b.stl", "--table"),
    ("compare_drum --seeds 0", "at least 1"), ("compare_drum --time -1", "above 0"),
    ("compare_impact --quick --time 1e-7", "two steps"), ("compare_impact --seeds x", "whole number"),
    ("compare_impact --time 0.02", "--skip"), ("compare_repose --count 1", "at least 10"),
    ("compare_repose --time 0.001", "at least 0.02 s"), ("compare_repose --clump cube", "--clump"),
    ("compare_friction --steps 200,100", "two ascending"), ("compare_friction --speed 0", "above 0"),
    ("order_table --import none.py", "--import none.py: cannot"), ("integrator_table --schemes mine", "'mine'"),
    ("integrator_table --import none.py", "--import none.py: cannot"),
    ("compare_shear --count 10", "at least 500"), ("compare_shear --strain 0", "above 0")])
def test_a_bad_argument_is_named(words, complaint, run_tool, here):
    tool, *arguments = words.split()
    done = run_tool(tool, *arguments)
    assert done.returncode == 2 and complaint in done.stderr and not list(here.iterdir())


def test_rows_of_a_measurement(tmp_path):
    """One per number of threads; calls of run() and threads change no bit, and so not the energy."""
    file = tmp_path / "new" / "rows.jsonl"
    done = python(ROOT / "tools" / "benchmark.py", "--cases", "A", "--threads", "1,2", "--warmup", WARMUP,
                  "--steps", STEPS, "--repeats", REPEATS, "--json", file, cwd=ROOT)
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
        sim = benchmark_cases.CASES["A"].simulation(1, None)
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


def test_faults_can_be_planted():
    sources = [path.read_text() for path in Path(ROOT, "minidem").rglob("*.*")
               if path.suffix in (".py", *plant_faults.COMPILED)]
    for fault in tomllib.loads(plant_faults.FAULTS.read_text())["fault"]:
        assert sum(text.count(fault["text"]) for text in sources) == 1, fault["id"]


@pytest.mark.slow
def test_orders_are_those_measured():
    """In a separate process, where no other test has registered a scheme."""
    python(ROOT / "tools" / "order_table.py", "--check")


@pytest.mark.parametrize("words, told", [
    ("none.pvd", "no file none.pvd"), ("run.pvd --pgn a.png", "--pgn"), ("0.vtu --time 1", "--time"),
    ("run.pvd --png picture", "--png"), ("run.pvd --png no/such/folder/a.png", "no/such/folder"),
    ("run.pvd --png a.png", "pvbatch")])
def test_views_are_refused(words, told, tmp_path):
    for name in ("run.pvd", "0.vtu"):
        (tmp_path / name).write_text("")
    done = python(ROOT / "tools" / "paraview_view.py", *words.split(), cwd=tmp_path, fails=True)
    assert told in done.stderr and "Traceback" not in done.stderr


PROGRAMS = {"yade": "yade", "lammps": "lmp", "liggghts": "liggghts"}


@pytest.mark.parametrize("tool", ["drum", "impact", "repose", "friction", "shear", "peers"])
def test_what_is_missing_is_skipped(tool, here, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(here))
    done = run_tool(f"compare_{tool}", *(["--json", "out.json"] if tool == "peers" else []))
    assert (done.returncode, done.stderr) == (77, "") and "lammps: skipped" in done.stdout
    for name in PROGRAMS if tool == "peers" else ():
        assert f"{name}: skipped" in done.stdout and f"apt-get install {name}" in done.stdout
    assert not list(here.iterdir())


@pytest.mark.parametrize("words, status, told", [
    ("peers --case D --peers liggghts", 77, "liggghts: skipped, case D has more than 20000 clumps"),
    ("peers --case B --peers lammps --clumps .", 1, "'king' in its name"),
    ("impact --quick --count 400 --time 0.02 --skip 0.008 --dt 2e-6 --seeds 1", 1, "not above the bed"),
    *((f"peers --peers {name} --steps 1", 1, words) for name in PROGRAMS for words in ("status 3", "no walls today"))])
def test_what_cannot_be_compared(words, status, told, here, run_tool, monkeypatch):
    """Programs that fail stand for the others; what they say is quoted."""
    for program in PROGRAMS.values():
        (here / program).write_text("#!/bin/sh\necho no walls today\nexit 3\n")
        (here / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(here), prepend=os.pathsep)
    tool, *arguments = words.split()
    done = run_tool(f"compare_{tool}", *arguments)
    assert done.returncode == status and told in done.stdout + done.stderr


@needs_lammps
@pytest.mark.parametrize("angle", [0, 40])
def test_a_rod_beside_lammps(angle):
    theirs = compare_rods.of_lammps(angle, LAMMPS.find())
    assert theirs == pytest.approx(compare_rods.of_minidem(angle, "clump"), abs=1.5e-3)


@needs_lammps
def test_a_sheared_gas_beside_lammps():
    """From one state over a strain of 0.2, the same temperature. Pressures are of few contacts."""
    sim = compare_shear.prepared(1, 500)
    theirs = compare_shear.of_lammps(sim, 10, LAMMPS.find())
    ours = compare_shear.of_minidem(sim, 10)
    assert theirs[0] == pytest.approx(ours[0], rel=0.02) and theirs[1:] == pytest.approx(ours[1:], rel=0.6)


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {name}"))
    for name, program in PROGRAMS.items()])
@pytest.mark.parametrize("case, steps", [("A", "--steps 2000"), ("B", "--warmup 4000 --steps 100")])
def test_peers_agree(name, case, steps, tmp_path):
    """Rods; and chess pieces, with three different moments, up to after the first contacts."""
    python(ROOT / "tools" / "compare_peers.py", "--peers", name, "--case", case, *steps.split(), "--repeats", 1,
           "--json", tmp_path / "out.json")
    [report] = json.loads((tmp_path / "out.json").read_text())["reports"]
    [theirs], [ours] = report["peer_runs"], report["minidem_runs"]
    assert report["ratio"] == theirs["us_per_step"] / ours["us_per_step"]
    # A contact lasts T = 34 steps of 38e-6 s. A stiffness wrong by the fraction e turns a rod of v = 4 m/s back by
    # 2/5 e T too early or late: 0.06 e radii; 1 % is allowed. A mass or moment wrong by e changes speeds of 1 m/s by
    # about e m/s in a bounce, and moves a piece by e * 19 mm at most in the warm-up; 1e-4 is allowed.
    radius = min(piece.radii.min() for piece in chess_box.templates().values())
    allowed = {"A": 0.06 * 0.01, "B": 1e-4 * 4000 * chess_box.STEP * chess_box.SPEED / radius}
    assert report["apart_in_radii"] < allowed[case]


def test_missing_programs_of_arm64_are_named_with_a_remedy(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert emulate_arm64.main(["--folder", str(tmp_path / "made")]) == emulate_arm64.MISSING
    assert "apt-get install gcc-aarch64-linux-gnu qemu-user" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_bits_of_arm64_are_those_of_this_machine(tmp_path, capsys):
    """Downloads an arm64 Python, NumPy and SciPy."""
    status = emulate_arm64.main(["--cases", "A,C", "--folder", str(tmp_path)])
    if status == emulate_arm64.MISSING:
        pytest.skip(capsys.readouterr().err)
    said = capsys.readouterr().out
    assert status == emulate_arm64.EQUAL and "aarch64: gcc" in said, said
    assert said.count("equal") > 20 and "different" not in said
