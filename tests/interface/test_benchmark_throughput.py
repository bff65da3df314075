"""tools/benchmark.py --throughput: threads beside runs at once, which begin together and run on."""
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TOOL = Path(__file__).parents[2] / "tools" / "benchmark.py"
RODS, WARMUP, STEPS = 1400, 50, 20          # so many rods are worth a second thread


@pytest.fixture
def throughput(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOL.parent))
    return importlib.import_module("benchmarking.throughput")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """(what a short comparison wrote, its rows, the file)"""
    file = tmp_path_factory.mktemp("throughput") / "rows.jsonl"
    done = subprocess.run([sys.executable, TOOL, "--throughput", "--rods", str(RODS), "--threads", "1,2", "--warmup",
                           str(WARMUP), "--steps", str(STEPS), "--repeats", "1", "--json", file],
                          capture_output=True, text=True, cwd=TOOL.parents[1], timeout=300)
    assert done.returncode == 0, done.stderr
    return done, [json.loads(line) for line in file.read_text().splitlines()], file


def test_threads_beside_runs_at_once(done):
    said, rows, _ = done
    assert [row["threads_asked"] for row in rows] == [1, 2]
    for row in rows:
        threads, figures = row["threads_asked"], row["throughput"]
        assert (row["case"], row["clumps"], row["spheres"]) == (f"{RODS} rods", RODS, 3 * RODS)
        assert 1 <= row["threads"] <= threads and row["warmup"] >= WARMUP and row["steps"] == STEPS
        assert "-ffp-contract=off" in row["build"]["command"] and row["cpu"] and row["load"] >= 0.0
        # Of one repeat each median is the figure itself; ratios come of a few products and quotients.
        one, many, each, to_one, to_runs = (figures[name]["median"] for name in (
            "one_run_us", "threads_us", "runs_us", "threads_to_one_run", "threads_to_runs"))
        assert min(one, many, each, row["throughput"]["least_core"]) > 0.0
        assert to_one == pytest.approx(one / many, rel=8 * np.finfo(float).eps)
        assert to_runs == pytest.approx(each / (threads * many), rel=8 * np.finfo(float).eps)
        assert f"{to_runs:.2f}..{to_runs:.2f}" in said.stdout


def test_no_picture_of_throughput(done, run_tool, tmp_path):
    drawn = run_tool("benchmark", "--json", done[2], "--draw", tmp_path / "picture.png")
    assert drawn.returncode == 1 and "--throughput alone" in drawn.stderr


# Stands in for portions.py: sleeps 0.01 s per step and keeps a diary. The first to start is ready late and slow.
DIARY = """
import json, os, sys, time
folder, step = sys.argv[1], 0.01 * int(sys.argv[4])
try:
    os.mkdir(os.path.join(folder, 'slow'))
    step *= 4
    time.sleep(0.3)
except FileExistsError:
    pass
diary = open(os.path.join(folder, f'diary {os.getpid()}'), 'w', buffering=1)
print(json.dumps({'ready': time.monotonic()}), flush=True)
sys.stdin.readline()
while True:
    print(time.monotonic(), file=diary)
    time.sleep(step)
    print([step, step / 2], flush=True)
"""


def test_runs_begin_together_and_run_on(throughput, tmp_path, monkeypatch):
    script = tmp_path / "diary.py"
    script.write_text(DIARY)
    monkeypatch.setattr(throughput, "CHILD", script)
    runs = throughput.at_once(2, tmp_path, 1, 0, 2)
    diaries = {path: path.read_text().splitlines() for path in tmp_path.glob("diary *")}
    assert len(diaries) == 2
    assert min(float(begun[0]) for begun in diaries.values()) >= max(about["ready"] for about, _, _ in runs)
    assert sorted(step for _, step, _ in runs) == [0.02, 0.08]
    # Five equal numbers are summed twice.
    assert [cores for _, _, cores in runs] == pytest.approx([0.5, 0.5], rel=10 * np.finfo(float).eps)
    # The fast one is timed in a quarter of the time that the slow one takes, and still goes on.
    assert max(map(len, diaries.values())) > throughput.PORTIONS + 1
    for path in diaries:
        with pytest.raises(ProcessLookupError):             # ended, and nothing left of it
            os.kill(int(path.name.split()[1]), 0)


def test_a_run_ends_where_nobody_listens(throughput, tmp_path):
    from peers.case import dense
    dense(20).simulation(1, None).save(tmp_path / "start")
    with throughput.started(tmp_path / "start", 1, 10, 10) as run:
        assert throughput.heard(run)["threads"] == 1
        run.stdin.close()
        run.stdout.close()
        assert run.wait(timeout=60) == 1
        assert "BrokenPipeError" in run.stderr.read()


def test_a_run_that_fails_is_quoted(throughput, tmp_path):
    (tmp_path / "start").write_text("no checkpoint")
    with pytest.raises(RuntimeError, match="(?s)status 1:.*start"):
        throughput.at_once(2, tmp_path / "start", 1, 10, 10)


def test_a_single_rod_is_no_crowd(tmp_path, run_tool):
    done = run_tool("benchmark", "--throughput", "--rods", "1", "--json", tmp_path / "rows")
    assert done.returncode == 1 and "fewer clumps or a larger box" in done.stderr
