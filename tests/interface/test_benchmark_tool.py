"""tools/benchmark.py: rows tell what was run, phases are whole steps, the picture is of the newest rows."""
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

TOOL = Path(__file__).parents[2] / "tools" / "benchmark.py"
WARMUP, STEPS, REPEATS = 50, 300, 3


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """(what a short run of case A wrote, its rows, the file)"""
    file = tmp_path_factory.mktemp("benchmark") / "new" / "rows.jsonl"
    done = subprocess.run([sys.executable, TOOL, "--cases", "A", "--threads", "1,2", "--warmup", str(WARMUP), "--steps",
                           str(STEPS), "--repeats", str(REPEATS), "--json", file],
                          capture_output=True, text=True, cwd=TOOL.parents[1], timeout=300)
    assert done.returncode == 0, done.stderr
    return done, [json.loads(line) for line in file.read_text().splitlines()], file


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOL.parent))
    return importlib.import_module("benchmarking")


def rods(tools):
    from peers.case import CASES
    return CASES["A"].simulation(1, None)


def test_a_row_for_each_number_of_threads(done):
    said, rows, _ = done
    assert [row["threads_asked"] for row in rows] == [1, 2]
    for row in rows:
        assert (row["case"], row["clumps"], row["spheres"], row["threads"]) == ("A", 30, 90, 1)
        assert row["warmup"] >= WARMUP and (row["steps"], row["repeats"]) == (STEPS, REPEATS)
        assert "-ffp-contract=off" in row["build"]["command"] and row["build"]["compiler"]
        assert row["cpu"] and row["load"] >= 0.0 and row["date"].endswith("+00:00")
        assert row["bytes_per_sphere"] == row["peak_bytes"] / 90
        assert row["peak_bytes"] >= row["empty_bytes"] > 0
        us, ns = row["us_per_step"], row["ns_per_sphere_step"]
        assert 0.0 < us["min"] <= us["median"] <= us["max"]
        # Each of the two carries the rounding of its factor, of the product and of the quotient.
        assert ns["median"] == pytest.approx(1e3 * us["median"] / 90, rel=6 * np.finfo(float).eps)
    assert "case A" in said.stderr and rows[0]["build"]["command"] in said.stdout


def test_the_drift_is_that_of_all_steps(done, tools):
    """Threads, pieces and timers change no bit, and so not the energy."""
    for row in done[1]:
        sim = rods(tools)
        initial = sim.energy().total
        sim.run(row["warmup"] + 2 * REPEATS * STEPS)        # each repeat once more with timers
        assert row["energy_drift"] == sim.energy().total / initial - 1


def test_phases_are_shares_of_the_step(done):
    for row in done[1]:
        phases = row["phases_us"]
        assert list(phases) == ["blocks", "lists", "contacts", "waiting", "outside"]
        assert min(phases.values()) >= 0.0 == phases["waiting"] and phases["blocks"] > 0.0
        # Five quotients, their sum, and five products.
        median = row["processor_us_per_step"]["median"]
        assert sum(phases.values()) == pytest.approx(median, rel=16 * np.finfo(float).eps)


def test_the_core_was_measured(done):
    core = done[1][0]["core"]
    assert set(core["bytes_per_second"]) == (set(core["caches"]) | {"memory"}) - {"L1"}
    assert min(core["bytes_per_second"].values()) > 0.0 and core["operations_per_second"] > 0.0


def test_reading_the_clock_is_taken_off(tools):
    from benchmarking.run import shares
    blocks, lists, contacts, reading = 2.0, 1.0, 1.0, 0.5
    found = {"threads": 1, "lists": {"inner_renewals_per_step": 0.25}, "phases": 3 * [
        {"blocks": blocks + reading, "lists": lists + 0.25 * reading, "contacts": contacts + reading,
         "waiting": 2 * reading, "outside": 0.0}]}
    assert shares(found) == {"blocks": 0.5, "lists": 0.25, "contacts": 0.25, "waiting": 0.0, "outside": 0.0}
    of_two_threads = shares({**found, "threads": 2})
    assert of_two_threads["waiting"] == 1.0 / (4.0 + 4.25 * reading)


def test_timers_cover_the_run_and_change_no_bit(tools):
    timed, plain = rods(tools), rods(tools)
    for sim in (timed, plain):
        sim.run(100)
    begin = time.perf_counter()
    timed._loop.time_phases()
    timed.run(500)
    elapsed = time.perf_counter() - begin
    plain.run(500)
    spent = timed._loop.phase_seconds
    assert min(spent.values()) > 0.0 and sum(spent.values()) < elapsed
    assert set(plain._loop.phase_seconds.values()) == {0.0}
    assert np.array_equal(timed.position, plain.position)
    assert np.array_equal(timed.orientation, plain.orientation)
    timed._loop.time_phases(False)
    timed.run(10)
    assert set(timed._loop.phase_seconds.values()) == {0.0}


def test_forces_of_the_user_are_outside(tools):
    sim, steps, pause = rods(tools), 20, 2e-3

    def slow(t, x, v, q, w):
        time.sleep(pause)
        return np.zeros_like(x), np.zeros_like(x)

    sim.add_force(slow)
    sim.run(1)
    sim._loop.time_phases()
    sim.run(steps)
    assert sim._loop.phase_seconds["outside"] > steps * pause


def test_memory_is_not_that_of_the_caller(tools, tmp_path):
    """getrusage of a child counts its parent's."""
    from benchmarking.run import measure
    rods(tools).save(tmp_path / "start")
    mine = np.ones(2 ** 25)                                 # 268 MB; the child needs some 70
    found = measure(tmp_path / "start", 1, 10, 10, 1)
    assert found["peak_bytes"] < mine.nbytes


def test_a_measurement_that_fails_is_quoted(tools, tmp_path):
    from benchmarking.run import measure
    (tmp_path / "start").write_text("no checkpoint")
    with pytest.raises(RuntimeError, match="(?s)status 1:.*start"):
        measure(tmp_path / "start", 1, 10, 10, 1)


def test_demands_grow_with_the_system(done, tools):
    from benchmarking.counting import demands
    row = {**done[1][0], "clumps": 80, "spheres": 240, "contacts": 12.5}
    lists = {**row["lists"], "inner_pairs": 100.0, "outer_pairs": 300.0, "active_slots": 64.0}
    sizes = ("inner_pairs", "outer_pairs", "active_slots")
    once = demands({**row, "lists": lists})
    twice = demands({**row, "clumps": 160, "spheres": 480, "contacts": 25.0,
                     "lists": {**lists, **{name: 2 * lists[name] for name in sizes}}})
    for phase, counts in once.items():
        # Sums of at most a dozen products, of numbers above zero.
        assert min(counts) > 0.0
        expected = tuple(2 * count for count in counts)
        assert twice[phase] == pytest.approx(expected, rel=24 * np.finfo(float).eps)


def test_what_bounds_a_phase(tools):
    from benchmarking.bounds import bound, level_of
    core = {"caches": {"L1": 100, "L2": 1000, "L3": 10000}}
    assert [level_of(core, size) for size in (100, 101, 10000, 10001)] == ["L1", "L2", "L3", "memory"]
    assert bound(0.6, 0.5, "L3") == "bytes from L3"
    assert bound(None, 0.5, "L1") == "arithmetic"
    assert bound(0.4, 0.3, "L2") == "latency, fixed costs"


def test_the_picture_is_of_the_newest_rows(done, tools, run_tool, tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarking.drawing import newest
    _, rows, file = done
    assert newest(rows) == rows[1:]                         # both are of one thread
    drawn = run_tool("benchmark", "--json", file, "--draw", tmp_path / "picture.png")
    assert (drawn.returncode, drawn.stdout, drawn.stderr) == (0, "", "")
    assert (tmp_path / "picture.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_no_picture_without_matplotlib(done, run_tool, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    drawn = run_tool("benchmark", "--json", done[2], "--draw", tmp_path / "picture.png")
    assert drawn.returncode == 77 and "pip install matplotlib" in drawn.stderr


@pytest.mark.parametrize("text, complaint", [
    ('{"case": "A"}\n', "line 1"), ("not JSON\n", "line 1"), ("3\n", "line 1"), ("", "is empty")])
def test_a_file_of_something_else_is_refused(text, complaint, tmp_path, run_tool):
    (tmp_path / "rows").write_text(text)
    drawn = run_tool("benchmark", "--json", tmp_path / "rows", "--draw", tmp_path / "picture.png")
    assert drawn.returncode == 1 and complaint in drawn.stderr and "Traceback" not in drawn.stderr


@pytest.mark.parametrize("arguments, complaint", [
    (["--cases", "A,Z"], "Z"), (["--threads", "1,x"], "'1,x'"), (["--threads", "0"], "at least 1"),
    (["--rods", "1400,x"], "'1400,x'"), (["--rods", "0"], "at least 1"),
    (["--rods", "9", "--clumps", "folder"], "case B"),
    (["--steps", "0"], "at least 1"), (["--clumps", "folder", "--cases", "A"], "case B"),
    (["--json", "."], "folder"),
    (["--json", "none", "--draw", "picture.png"], "run the cases first")])
def test_a_bad_argument_is_named(arguments, complaint, run_tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run_tool("benchmark", *arguments)
    assert done.returncode == 2 and complaint in done.stderr


def test_a_folder_without_chess_pieces(tmp_path, run_tool):
    done = run_tool("benchmark", "--cases", "B", "--clumps", tmp_path, "--json", tmp_path / "rows")
    assert done.returncode == 1 and "'king' in its name" in done.stderr
