"""Parameter studies: every run is made once, also after failures and kills, and stands in one table."""
import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import minidem as md
from minidem.ensemble import run_ensemble
from minidem.ensemble.study import Store

# The function of the studies. It leaves a mark per call in the folder `marks`, and does what the mark's
# neighbours ask for: a file `fail`, `die` or `die_once` with the name of a run.
SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from minidem.ensemble import run_ensemble

def study(a, b, marks, delay=0.0):
    marks, name = Path(marks), f"{a}{b}"
    with open(marks / f"calls_{name}", "a") as file:
        file.write(f"{os.getpid()}\\n")
    print("noise on standard output")
    time.sleep(delay)
    if (marks / f"fail_{name}").exists():
        raise RuntimeError("two\\nlines")
    if (marks / f"die_{name}").exists():
        os.write(2, b"last words")
        os.kill(os.getpid(), signal.SIGKILL)
    if (marks / f"die_once_{name}").exists():
        (marks / f"die_once_{name}").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"text": name, "third": a / 3.0, "threads": os.environ["OMP_NUM_THREADS"]}

if __name__ == "__main__":
    rows = run_ensemble(study, {"a": list(range(6)), "b": ["x", "y"], "marks": [sys.argv[2]], "delay": [0.1]},
                        sys.argv[1], workers=2)
    sys.exit(0 if len(rows) == 12 and all(row["error"] is None for row in rows) else 1)
"""


class Study:
    """The function in a script, and the calls that it got."""

    def __init__(self, folder):
        self.script, self.marks, self.folder = folder / "script.py", folder / "marks", folder / "study"
        self.script.write_text(SCRIPT)
        self.marks.mkdir()

    def __call__(self, a=(1, 2, 3), b=("x", "y"), delay=(0.0,), **arguments):
        grid = {"a": list(a), "b": list(b), "marks": [str(self.marks)], "delay": list(delay)}
        return run_ensemble(f"{self.script}:study", grid, self.folder, progress=False,
                            **({"workers": 2} | arguments))

    def ask(self, what, name):
        (self.marks / f"{what}_{name}").touch()

    def calls(self):
        """name -> number of calls"""
        return {file.name[6:]: len(file.read_text().split()) for file in self.marks.glob("calls_*")}

    def process_ids(self):
        return {int(word) for file in self.marks.glob("calls_*") for word in file.read_text().split()}

    def table(self):
        with open(self.folder / "table.csv", newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path)


NAMES = [f"{a}{b}" for a in (1, 2, 3) for b in "xy"]


def test_every_combination_in_the_order_of_the_grid(study, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    rows = study()
    assert [row["text"] for row in rows] == NAMES
    assert list(rows[0]) == ["a", "b", "marks", "delay", "text", "third", "threads", "run_seconds", "error"]
    assert all(row["third"] == row["a"] / 3.0 and row["error"] is None for row in rows)
    assert [(line["text"], float(line["third"]), line["error"]) for line in study.table()] == [
        (row["text"], row["third"], "") for row in rows]
    assert len(study.process_ids()) <= 2                        # workers are kept from run to run
    assert {row["threads"] for row in rows} == {"1"}            # whatever the environment says


def threads_of(side):
    """Threads of a simulation that is made without `threads`."""
    ball = md.ClumpTemplate([(0, 0, 0)], [0.4], density=2500.0)
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2), dt=1e-5)
    sim.add_clumps(ball, np.stack(np.meshgrid(*3 * [np.arange(side)]), axis=-1).reshape(-1, 3).astype(float))
    return {"threads": sim.threads}


def test_threads_of_a_run(study, tmp_path, monkeypatch):
    """Those of run_ensemble, whatever the environment sets."""
    [row] = study(a=[1], b=["x"], threads=3)
    assert row["threads"] == "3"
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    for threads in (1, 2):
        [row] = run_ensemble(threads_of, {"side": [17]}, tmp_path / str(threads), workers=1, threads=threads,
                             progress=False)                        # 4913 spheres: enough for two
        assert row["error"] is None and 1 <= row["threads"] <= threads


def test_only_missing_runs_are_run(study):
    first = study(a=[1, 2], workers=1)
    assert study(a=[1, 2], workers=1) == first
    assert study(a=[2, 3], workers=1)[:2] == first[2:]          # another grid, part of it known
    assert study.calls() == dict.fromkeys(NAMES, 1)
    (study.folder / "runs" / next(iter(os.listdir(study.folder / "runs")))).write_text('{"broken')
    assert [row["text"] for row in study(workers=1)] == NAMES
    assert sorted(study.calls().values()) == [1, 1, 1, 1, 1, 2]


def test_failed_run_is_recorded_and_repeated(study):
    study.ask("fail", "2x")
    rows = study()
    assert [row["error"] for row in rows] == [None, None, "RuntimeError: two lines", None, None, None]
    assert "text" not in rows[2] and study.table()[2]["error"] == "RuntimeError: two lines"
    records = [json.loads(file.read_text()) for file in (study.folder / "runs").iterdir()]
    [failed] = [record for record in records if record["error"]]
    assert failed["parameters"]["a"] == 2 and "Traceback" in failed["traceback"]
    (study.marks / "fail_2x").unlink()
    assert [row["error"] for row in study()] == [None] * 6
    assert study.calls() == dict.fromkeys(NAMES, 1) | {"2x": 2}


def test_killed_worker(study):
    study.ask("die_once", "2x")
    assert [row["text"] for row in study()] == NAMES
    assert study.calls() == dict.fromkeys(NAMES, 1) | {"2x": 2}


def test_run_that_always_kills_its_worker(study):
    study.ask("die", "2x")
    rows = study()
    assert rows[2]["error"] == "the process of the run was killed by SIGKILL, 2 times"
    assert [row["error"] for k, row in enumerate(rows) if k != 2] == [None] * 5
    [record] = [json.loads(file.read_text()) for file in (study.folder / "runs").iterdir()
                if "SIGKILL" in file.read_text()]
    assert record["traceback"].endswith("last words")


def alive(process_id):
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition, seconds=100.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.mark.parametrize("sent", [pytest.param(signal.SIGKILL, marks=pytest.mark.slow), signal.SIGINT])
def test_killed_study_is_resumed(study, sent):
    command = [sys.executable, str(study.script), str(study.folder), str(study.marks)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    runs = study.folder / "runs"
    wait_until(lambda: runs.exists() and len(list(runs.glob("[!.]*.json"))) >= 3)
    process.send_signal(sent)
    assert process.wait() != 0
    before = {file: file.stat().st_mtime_ns for file in runs.glob("[!.]*.json")}
    assert len(before) < 12
    if sent == signal.SIGINT:
        assert len(study.table()) == len(before)
    wait_until(lambda: not any(alive(one) for one in study.process_ids()))      # no orphans
    assert subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0
    assert all(file.stat().st_mtime_ns == then for file, then in before.items())
    assert len(study.table()) == 12
    # Begun again: of two workers the run under way, and one that had ended but was not yet written down.
    assert sum(study.calls().values()) <= 12 + 2 * 2


@pytest.mark.parametrize("kept", [False, True])
def test_an_interrupt_right_before_or_behind_a_record(study, monkeypatch, kept):
    save, saved = Store.save, []

    def interrupted(store, k, record):
        if kept or len(saved) < 2:
            save(store, k, record)
        saved.append(k)
        if len(saved) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study(workers=1)
    assert len(study.table()) == len(list((study.folder / "runs").glob("[!.]*.json"))) == 2 + kept


def test_cluster(study, cluster):
    """The same rows; the nanny's OMP_NUM_THREADS does not reach the runs, their crashes not the cluster."""
    study.ask("die", "2x")
    study.ask("fail", "3y")
    rows = study(workers=None, scheduler=cluster.scheduler_address, threads=3)
    assert [row["error"] for row in rows] == [
        None, None, "the process of the run was killed by SIGKILL, 2 times", None, None,
        "RuntimeError: two lines"]
    assert {row["threads"] for row in rows if row["error"] is None} == {"3"}
    for mark in study.marks.glob("die_*"), study.marks.glob("fail_*"):
        for file in mark:
            file.unlink()
    assert [row["text"] for row in study(workers=None, scheduler=cluster.scheduler_address)] == NAMES
    assert study.calls() == dict.fromkeys(NAMES, 1) | {"2x": 3, "3y": 2}


def test_killed_worker_of_a_cluster(study, cluster):
    """kill -9 of a process of dask amid its run: its subprocess goes with it, the run is made by another."""
    def kill_one():
        wait_until(lambda: len(study.calls()) >= 3)
        victim = next(iter(cluster.workers.values())).pid
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    rows = study(delay=[0.5], workers=None, scheduler=cluster.scheduler_address)
    killer.join()
    assert [row["text"] for row in rows] == NAMES and all(row["error"] is None for row in rows)
    assert 6 <= sum(study.calls().values()) <= 8                # again: one under way, one not handed over yet
    cluster.close()
    wait_until(lambda: not any(alive(one) for one in study.process_ids()))      # no orphans


def test_message_without_dask(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install -e '\.\[cluster\]'"):
        study(workers=None, scheduler="tcp://127.0.0.1:1")


def test_expensive_runs_start_first(study):
    study(a=[1, 2, 3], b=["x"], workers=1, cost=lambda parameters: parameters["a"])
    begun = sorted(study.marks.glob("calls_*"), key=lambda file: file.stat().st_mtime_ns)
    assert [file.name for file in begun] == ["calls_3x", "calls_2x", "calls_1x"]


def outer():
    def inner(a):
        return {}
    return inner


@pytest.mark.parametrize("change, match", [
    ({"grid": {}}, "grid = {}"),
    ({"grid": {"a": []}}, r"grid\['a'\] is empty"),
    ({"grid": {"a": 1}}, r"grid\['a'\] = 1: give a list"),
    ({"grid": {"a": "xy"}}, r"give a list of values, \['xy'\]"),
    ({"grid": {"a b": [1]}}, "'a b' is no name"),
    ({"grid": {"a": [1, 2, 1]}}, r"grid\['a'\]\[2\] = 1 comes twice"),
    ({"grid": {"a": [1.0, float("nan")]}}, r"grid\['a'\]\[1\] = nan"),
    ({"grid": {"a": [(1, 2)]}}, r"grid\['a'\]\[0\] = \(1, 2\)"),
    ({"grid": {"error": [2.0]}}, "grid: 'error' is a column"),
    ({"grid": {"a": ["\ud800"]}}, r"grid\['a'\]\[0\].*surrogate"),
    ({"cost": lambda: 1.0}, r"cost = .* called with \(parameters\), and takes \(\)"),
    *(({"timeout": timeout}, "timeout") for timeout in (0.0, -1.0, float("nan"), "10", True)),
    ({"workers": 0}, "workers = 0"),
    ({"threads": 0}, "threads = 0"),
    ({"scheduler": "tcp://here:1", "workers": 2}, "workers = 2 and scheduler"),
    ({"function": lambda a: {}}, "top level"),
    ({"function": outer()}, "top level"),
    ({"function": "no_such_module:run"}, "no_such_module"),
    ({"function": "math:no_such_function"}, "no_such_function"),
    ({"function": "math.sqrt"}, "module:function"),
])
def test_what_is_refused_before_any_run(change, match, tmp_path):
    with pytest.raises(ValueError, match=match):
        run_ensemble(**({"function": "math:sqrt", "grid": {"a": [1]}, "folder": tmp_path / "new"} | change))
    assert not (tmp_path / "new").exists()


def test_a_folder_belongs_to_one_function(study):
    study(a=[1], b=["x"])
    with pytest.raises(ValueError, match="runs of script.py:study with a, b, marks, delay, not of statistics:mean"):
        run_ensemble("statistics:mean", {"data": [1]}, study.folder)


def test_results_that_no_table_can_hold(tmp_path):
    bad = {"1.0": "return a dictionary", "{'a': 1}": "a result 'a'", "{'x': [1]}": r"result 'x' = \[1\]",
           "{'error': 1}": "a result 'error'"}
    script = tmp_path / "bad.py"
    script.write_text(f"def run(a):\n    return [{', '.join(bad)}][a]\n")
    rows = run_ensemble(f"{script}:run", {"a": list(range(len(bad)))}, tmp_path / "study", workers=1, progress=False)
    for row, match in zip(rows, bad.values(), strict=True):
        assert re.match(f"ValueError: .*{match}", row["error"])
