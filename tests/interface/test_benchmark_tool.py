"""tools/benchmark.py: the measurements, their provenance, and the timers in the time loop."""
import json
import re
import subprocess
import sys
from pathlib import Path

import benchmark
import benchmark_cases
import compare_trees
import numpy as np
import pytest

from minidem import isa

TOOL = Path(__file__).parents[2] / "tools" / "benchmark.py"
WARMUP, STEPS, REPEATS = 50, 300, 3


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """(completed process of a short measurement of case A, its rows)"""
    file = tmp_path_factory.mktemp("benchmark") / "new" / "rows.jsonl"
    done = subprocess.run([sys.executable, TOOL, "--cases", "A", "--threads", "1,2", "--warmup", str(WARMUP), "--steps",
                           str(STEPS), "--repeats", str(REPEATS), "--json", file],
                          capture_output=True, text=True, cwd=TOOL.parents[1], timeout=300)
    assert done.returncode == 0, done.stderr
    return done, [json.loads(line) for line in file.read_text().splitlines()]


def rods():
    return benchmark_cases.CASES["A"].simulation(1, None)


def test_one_row_per_number_of_threads(done):
    process, rows = done
    assert [row["threads_asked"] for row in rows] == [1, 2]
    for row in rows:
        assert (row["case"], row["clumps"], row["spheres"], row["threads"]) == ("A", 30, 90, 1)
        assert row["warmup"] >= WARMUP and (row["steps"], row["repeats"]) == (STEPS, REPEATS)
        assert "-ffp-contract=off" in row["build"]["command"] and row["build"]["compiler"]
        assert row["cpu"] and row["load"] >= 0.0 and row["date"].endswith("+00:00")
        assert row["bytes_per_sphere"] == row["peak_bytes"] / 90 > 0.0
        us, ns = row["us_per_step"], row["ns_per_sphere_step"]
        assert 0.0 < us["min"] <= us["median"] <= us["max"]
        # Both carry the rounding of their factor, of the product and of the quotient.
        assert ns["median"] == pytest.approx(1e3 * us["median"] / 90, rel=6 * np.finfo(float).eps)
    assert "case A" in process.stderr and rows[0]["build"]["command"] in process.stdout


def test_drift_covers_all_steps(done):
    """Threads and the number of calls of run() change no bit, and so not the energy."""
    for row in done[1]:
        sim = rods()
        initial = sim.energy().total
        sim.run(row["warmup"] + REPEATS * STEPS)
        assert row["energy_drift"] == sim.energy().total / initial - 1


def test_peak_memory_excludes_the_parent_process(tmp_path):
    """getrusage of a child process includes the peak of its parent."""
    rods().save(tmp_path / "start")
    mine = np.ones(2 ** 25)                                 # 268 MB; the child needs some 70
    found, = benchmark.run_processes([None], tmp_path / "start", 1, 10, 10, 1)
    assert found["peak_bytes"] < mine.nbytes


def test_error_of_a_measurement_is_quoted(tmp_path):
    (tmp_path / "start").write_text("no checkpoint")
    with pytest.raises(RuntimeError, match="(?s)status 1:.*start"):
        benchmark.run_processes([None], tmp_path / "start", 1, 10, 10, 1)


def test_error_of_the_second_level_is_quoted(tmp_path):
    rods().save(tmp_path / "start")
    with pytest.raises(RuntimeError, match="MINIDEM_ISA=v9"):
        benchmark.run_processes([None, "v9"], tmp_path / "start", 1, 10, 10, 2)


def test_ratio_to_the_best_level():
    """Of processor time on one thread, of elapsed time on more; median over the turns, not of the times."""
    found = [{"processor": [6.0, 3.0, 8.0], "elapsed": [1.0, 1.0, 1.0]},
             {"processor": [2.0, 1.0, 4.0], "elapsed": [4.0, 2.0, 3.0]}]
    assert benchmark.ratios(found, 1) == [3.0, 1.0] and benchmark.ratios(found, 2) == [1.0, 3.0]


def test_a_box_that_is_too_small(tmp_path, run_tool):
    done = run_tool("benchmark", "--rods", "1", "--json", tmp_path / "rows")
    assert done.returncode == 1 and "fewer clumps or a larger box" in done.stderr


@pytest.mark.parametrize("arguments, complaint", [
    (["--cases", "A,Z"], "Z"), (["--threads", "1,x"], "'1,x'"), (["--threads", "0"], "at least 1"),
    (["--rods", "1400,x"], "'1400,x'"), (["--rods", "0"], "at least 1"),
    (["--rods", "9", "--clumps", "folder"], "case B"),
    (["--steps", "0"], "at least 1"), (["--clumps", "folder", "--cases", "A"], "case B"),
    (["--json", "."], "folder"),
    (["--isa", "v9"], "must be one of: v2" if isa.levels() else "MINIDEM_ARCH=levels")])
def test_a_bad_argument_is_named(arguments, complaint, run_tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run_tool("benchmark", *arguments)
    assert done.returncode == 2 and complaint in done.stderr


def test_a_tree_beside_itself(capsys):
    assert compare_trees.main([str(compare_trees.ROOT), "--cases", "A", "--turns", "2"]) == 0
    heads, row = capsys.readouterr().out.splitlines()
    assert heads.split() == ["case", "threads", "us/step", "other/this", "bits"]
    ratio, = re.fullmatch(r"A +1 +\S+ +(\S+) \(\S+\.\.\S+\) +equal", row).groups()
    assert 0.1 < float(ratio) < 10


@pytest.mark.slow
def test_a_force_of_zeros_keeps_the_bits(capsys):
    pytest.importorskip("numba")
    assert compare_trees.main([str(compare_trees.ROOT), "--cases", "A", "--turns", "2", "--zero-force"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("equal")


def test_a_folder_without_a_build_is_refused(tmp_path, capsys):
    assert compare_trees.main([str(tmp_path), "--cases", "A"]) == 1
    assert "build it in place" in capsys.readouterr().err


@pytest.mark.parametrize("arguments, complaint", [
    (["--cases", "A,Q"], "case is 'Q'"), (["--threads", "0"], "at least 1")])
def test_wrong_arguments(arguments, complaint, capsys):
    with pytest.raises(SystemExit, match="2"):
        compare_trees.main([".", *arguments])
    assert complaint in capsys.readouterr().err
