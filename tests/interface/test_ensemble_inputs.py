"""Mistakes in the input of a study leave an earlier table as it was; how many runs failed is said at the end."""
import os
import signal
import threading
import time

import pytest

from minidem.ensemble import run_ensemble, worker
from minidem.scenario import Scenario

SCRIPT = """
import os, signal, time

def study(a, rate=1.0):
    if a == "fail":
        raise ArithmeticError("wanted")
    if a == "killed":
        os.kill(os.getpid(), signal.SIGRTMIN + 3)
    if a == "stopped":
        print(os.getpid(), file=open("stopped", "w"))
        os.kill(os.getpid(), signal.SIGSTOP)
    return {"twice": 2 * a}

def any_names(**parameters):
    return {"count": len(parameters)}
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)

    def run(grid, name="study", **options):
        return run_ensemble(f"script.py:{name}", grid, "out", **({"workers": 1, "progress": False} | options))
    run.table = tmp_path / "out" / "table.csv"
    return run


def texts(path):
    return [line.split(",") for line in path.read_text().splitlines()]


@pytest.mark.parametrize("grid, words", [
    ({"a": [1], "rat": [2.0]}, r"script.py:study takes \(a, rate=1.0\): .*'rat', did you mean 'rate'\?"),
    ({"rate": [2.0]}, ".*missing a required argument: 'a'")])
def test_names_are_checked_before_any_run(study, grid, words):
    with pytest.raises(ValueError, match=f"^grid: {words}"):
        study(grid)
    assert not study.table.parent.exists()
    study({"a": [1, 2]})
    before = study.table.read_bytes()
    with pytest.raises(ValueError, match=words):
        study(grid)
    assert study.table.read_bytes() == before


def test_parameters_of_any_name(study):
    [row] = study({"x": [1], "y": [2]}, name="any_names")
    assert row["count"] == 2 and row["error"] is None


def test_rows_of_other_grids_stay(study):
    """Those of the same parameters; a study of other parameters is refused before any run."""
    study({"a": [1, 2, "fail"]})
    assert [row["a"] for row in study({"a": [3, 2]})] == [3, 2]
    assert [(line[0], line[1]) for line in texts(study.table)] == [("a", "twice"), ("3", "6"), ("2", "4"), ("1", "2")]
    before = study.table.read_bytes()
    with pytest.raises(ValueError, match="^folder: out holds runs of script.py:study with a, not of .* with a, rate"):
        study({"a": [1], "rate": [2.0]})
    assert study.table.read_bytes() == before


def test_the_last_line_counts_the_failures(study, capfd):
    study({"a": [1]}, progress=True)
    assert capfd.readouterr().err.splitlines()[-1] == "1 runs, 0 failed"
    study({"a": [1, "fail", "killed"]}, progress=True)
    *lines, last = capfd.readouterr().err.splitlines()
    assert last == "3 runs, 2 failed: out/table.csv has the reasons; the same call repeats them"
    assert [line for line in lines if "first" in line] == [
        "the first run that failed, {'a': 'fail'}: ArithmeticError: wanted"]


@pytest.mark.parametrize("value, status", [(1, 0), ("fail", 1)])
def test_exit_status_of_a_study(study, tmp_path, value, status):
    def run(options, report):
        report.runs("script.py:study", {"a": [value]})

    experiment = Scenario("mine", "A study.", study=run, defaults={"workers": None})
    assert experiment.main(["--out", str(tmp_path / "report"), "--quiet"]) == status


def test_a_signal_without_a_name(study):
    [row] = study({"a": ["killed"]})
    assert row["error"] == f"the process of the run was killed by signal {signal.SIGRTMIN + 3}, 2 times"


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="processes are not asked whether they are stopped")
def test_a_stopped_process_is_reported(study, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "POLL", 0.1)

    def go_on():
        file, ends = tmp_path / "stopped", time.monotonic() + 30.0
        while time.monotonic() < ends and not (file.exists() and file.read_text().endswith("\n")):
            time.sleep(0.05)
        time.sleep(0.5)                                 # longer than the process is not asked
        os.kill(int(file.read_text()), signal.SIGCONT)

    other = threading.Thread(target=go_on)
    other.start()
    with pytest.warns(RuntimeWarning, match=r"process (\d+) of a run is stopped, .* kill -CONT \1, or give a timeout"):
        [row] = study({"a": ["stopped"]})
    other.join()
    assert row["error"] is None and row["twice"] == "stoppedstopped"
