"""Parameter studies whose function hangs, reads its input, forks, or returns values that no file can hold."""
import csv
import json
import os
import signal
import sys
import time

import pytest

from minidem.ensemble import run_ensemble
from minidem.ensemble.worker import Worker

SCRIPT = '''
import multiprocessing, os, signal, subprocess, sys, time
from pathlib import Path

def read(a):
    print("tell me", flush=True)
    return {"answer": input("how many? ")}

def stop(a, folder):
    """Run 1 is stopped, as by Ctrl-Z, with a process of its own."""
    if a == 1:
        process = subprocess.Popen(["sleep", "1000"])
        Path(folder, "processes").write_text(f"{os.getpid()} {process.pid}")
        os.kill(os.getpid(), signal.SIGSTOP)
    return {"double": 2 * a}

def fork(a, how):
    """A forked process comes back from the function as well, later or first."""
    child = os.fork()
    if child == 0:
        time.sleep(0.2 if how == "late" else 0.0)       # into the next run
        if how == "exit":
            sys.exit(7)
        return {"who": "child", "double": -1}
    if how == "exit":
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    else:
        time.sleep(0.5 if a else 0.0)
    return {"who": "parent", "double": 2 * a}

def pool(a):
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as workers:
        return {"total": sum(workers.map(abs, [-a, a, 1]))}

def die_behind_a_fork(a):
    """The process dies; one that it forked, with a session of its own, lives on."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(30)
        os._exit(0)
    os._exit(5)

def write(a):
    if a == 1:
        return {"text": "\\ud800"}
    if a == 2:
        return {"\\udcff": 1.0}
    if a == 3:
        raise RuntimeError("\\ud800 in the error")
    if a == 4:
        return {"digits": 10 ** 5000}
    return {"text": "\\U0001f600 \\u00e9 \\r lone"}
'''


@pytest.fixture
def study(tmp_path):
    """study(name, values of a, **arguments): rows of a function of the script."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run(name, values, more=(), **arguments):
        grid = {"a": list(values), **dict(more)}
        return run_ensemble(f"{script}:{name}", grid, tmp_path / "study", progress=False, **{"workers": 1} | arguments)
    return run


def test_standard_input_is_empty(study):
    """Standard input of the process is where its tasks come from."""
    rows = study("read", [1, 2], workers=2)
    assert [row["error"] for row in rows] == ["EOFError: EOF when reading a line"] * 2


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_a_time_limit(study, tmp_path):
    begun = time.monotonic()
    rows = study("stop", [0, 1, 2], {"folder": [str(tmp_path)]}, timeout=5.0, workers=2)
    assert [row.get("double") for row in rows] == [0, None, 4]
    assert [row["error"] for row in rows] == [None, "the run was ended after timeout = 5 s", None]
    assert 5.0 < time.monotonic() - begun < 60.0
    with open(tmp_path / "study" / "table.csv", newline="") as file:
        assert [row["error"] for row in csv.DictReader(file)] == [row["error"] or "" for row in rows]
    if sys.platform == "linux":
        assert not any(map(alive, (tmp_path / "processes").read_text().split()))        # nor what it started


def test_a_time_limit_while_the_task_is_handed_over(tmp_path):
    """A process that does not even read its task, which is more than a pipe holds."""
    (tmp_path / "deaf.py").write_text("import time\ntime.sleep(1000)\n")
    worker = Worker()
    worker._process = worker._start()
    try:
        os.kill(worker._process.pid, signal.SIGSTOP)
        record = worker.run(f"{tmp_path}/deaf.py:f", {"text": 300_000 * "x"}, timeout=1.0)
        assert record["error"] == "the run was ended after timeout = 1 s"
    finally:
        worker.stop()


def test_a_time_limit_on_a_cluster(study, cluster, tmp_path):
    where = {"workers": None, "scheduler": cluster.scheduler_address}
    [row] = study("stop", [1], {"folder": [str(tmp_path)]}, timeout=3.0, **where)
    assert row["error"] == "the run was ended after timeout = 3 s"
    assert [row["error"] for row in study("stop", [0, 2], {"folder": [str(tmp_path)]}, **where)] == [None] * 2


@pytest.mark.parametrize("how", ["late", "exit"])
def test_results_of_forked_processes_are_ignored(study, how):
    rows = study("fork", range(4), {"how": [how]}, timeout=60.0)
    assert [row["error"] for row in rows] == [None] * 4
    assert [(row["who"], row["double"]) for row in rows] == [("parent", 2 * a) for a in range(4)]


def test_a_pool_of_processes_in_a_run(study):
    assert [row["total"] for row in study("pool", [1, 2], timeout=60.0)] == [3, 5]


def test_process_that_ends_before_its_child(study):
    begun = time.monotonic()
    [row] = study("die_behind_a_fork", [1])
    assert row["error"] == "the process of the run ended with status 5, 2 times"
    assert time.monotonic() - begun < 25.0


def test_unencodable_texts(study, tmp_path):
    """An error of that run, and no matter to the others and to later calls."""
    for _ in range(2):
        rows = study("write", range(5))
        assert rows[0]["text"] == "\U0001f600 \u00e9 \r lone" and rows[0]["error"] is None
        for row, words in zip(rows[1:], ["result 'text' = '\\ud800'", "'\\udcff'", "\\ud800 in the error", "digits"],
                              strict=True):
            assert words in row["error"]
    with open(tmp_path / "study" / "table.csv", newline="", encoding="utf-8") as file:
        assert [row["text"] for row in csv.DictReader(file)] == [rows[0]["text"], "", "", "", ""]
    assert all(json.loads(file.read_text()) for file in (tmp_path / "study" / "runs").iterdir())
