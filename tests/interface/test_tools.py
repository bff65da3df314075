"""Tools of this project: benchmark.py, compare_trees.py, order_table.py, paraview_view.py."""
import json
import re
import subprocess
import sys
from pathlib import Path

import benchmark_cases
import compare_trees
import pytest

import minidem as md
from minidem import isa

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
