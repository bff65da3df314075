"""The energy study of rods with short runs: its numbers, and continuation after a kill."""
import csv
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import minidem as md
from minidem.scenarios import paper_report
from minidem.scenarios.energy import rods_energy_study as STUDY

INTEGRATORS = "omelyan:iterations=4", "fincham-published"
EPS = np.finfo(float).eps


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def folder(out, integrator, time):
    return STUDY.folder_of(integrator, "hertz", time, 38e-6, 1, str(out))


def alone(out, integrator, time):
    """The same run by rods_in_box.py."""
    assert STUDY.RODS.main(["--integrator", integrator, "--time", str(time), "--frames", "0", "--quiet",
                            "--out", str(out)]) == 0
    return out


def made(out):
    return {file: file.stat().st_mtime_ns for file in (out / "runs").iterdir()}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    assert STUDY.main(["--integrators", *INTEGRATORS, "--time", "1", "--out", str(out)]) == 0
    return out


def test_runs_agree_with_the_scenario(study, tmp_path):
    here, there = folder(study, INTEGRATORS[0], 1.0), alone(tmp_path, INTEGRATORS[0], 1.0)
    for name in ("energy.csv", "observables.csv"):
        assert (here / name).read_bytes() == (there / name).read_bytes()


def test_curves(study):
    lines = read(study / "curves.csv")
    assert [line["integrator"] for line in lines] == list(INTEGRATORS)
    for line in lines:
        rows = folder(study, line["integrator"], 1.0)
        total = np.array([float(row["lasting"]) for row in read(rows / "energy.csv")])
        change, last = total / total[0] - 1.0, int(line["steps"])
        # A few roundings of the energies, which are as large as E0.
        assert float(line["last_change"]) == pytest.approx(change[-1], rel=0, abs=4 * EPS)
        assert float(line["largest_change"]) == pytest.approx(np.abs(change).max(), rel=0, abs=4 * EPS)
        assert 0.0 < float(line["largest_change"])
        spin = [float(row["spin"]) for row in read(rows / "observables.csv")]
        assert float(line["spin_change"]) == spin[-1] / spin[0] - 1.0
        assert last == 26316                                            # the fewest that reach 1 s
    assert float(lines[1]["spin_change"]) > 0.1 > abs(float(lines[0]["spin_change"]))


def test_completed_runs_are_kept(study):
    before = made(study)
    STUDY.EXPERIMENT.run_into(study, integrators=INTEGRATORS[::-1], time=1.0)
    assert made(study) == before


def test_picture(study, tmp_path, monkeypatch, capsys):
    arguments = ["--integrators", "fincham-published", "--time", "1", "--out", str(study)]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib", None)
        assert STUDY.main(arguments) == 0
    assert "No figure without matplotlib" in capsys.readouterr().out and not (study / "energy.png").exists()
    pytest.importorskip("matplotlib")
    assert STUDY.main(arguments) == 0
    assert (study / "energy.png").read_bytes().startswith(b"\x89PNG")


def test_drift_of_a_straight_line():
    time = np.linspace(0.0, 20.0, 1001)
    found = STUDY.measure(time, 3e-3 * time, np.full(1001, 2.0), steps=10**6)
    assert found["drift"] == pytest.approx(0.06 * 100.0, rel=1e4 * EPS)     # sums over a thousand rows
    assert found["walk"] < 1e4 * EPS * 0.06 and found["spin_change"] == 0.0
    assert found["last_change"] == found["largest_change"] == 3e-3 * 20.0


def test_standard_error_of_drifts_of_random_walks():
    """Of 800 walks, so that the scatter is known to 1 / sqrt(1600) = 2.5 %; four times that is allowed. The
    error is an estimate from 49 degrees of freedom: the ratio has Student's variance, 49 / 47."""
    rng = np.random.default_rng(5)
    time, spin = np.linspace(0.0, 10.0, 501), np.ones(501)
    walks = np.cumsum(rng.normal(size=(800, 501)), axis=1)
    walks -= walks[:, :1]
    found = [STUDY.measure(time, walk, spin, 10**5) for walk in walks]
    scatter = np.sqrt(np.mean([(run["drift"] / run["drift_error"]) ** 2 for run in found]))
    assert scatter == pytest.approx(np.sqrt(49.0 / 47.0), rel=0.1)
    ends = np.sqrt(np.mean([(run["last_change"] / run["walk"]) ** 2 for run in found]))
    assert ends == pytest.approx(np.sqrt(49.0 / 47.0), rel=0.1)


@pytest.mark.slow
def test_a_killed_study_continues(tmp_path):
    """From the last checkpoint; the final files are those of an uninterrupted run."""
    arguments = ["--integrators", "spiral", "--time", "20", "--out", str(tmp_path / "study")]
    run = folder(tmp_path / "study", "spiral", 20.0)
    with subprocess.Popen([sys.executable, STUDY.__file__, *arguments], stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60.0
        while not (run / "checkpoint_before.npz").exists():                     # two checkpoints: a fiftieth is done
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    step = md.Simulation.load(run / "checkpoint.npz").step_count
    assert 0 < step < 526316 and not (run / "summary.json").exists()
    def marked(table):                  # in a way that a run begun anew would not write
        text = table.read_text()
        assert text.count("\n0.0,") == 1
        return text.replace("\n0.0,", "\n0.00,")

    energy = run / "energy.csv"
    energy.write_text(marked(energy))
    assert STUDY.main([*arguments, "--quiet"]) == 0
    assert energy.read_text() == marked(alone(tmp_path / "whole", "spiral", 20.0) / "energy.csv")
    (line,) = read(tmp_path / "study" / "curves.csv")
    assert line["steps"] == "526316"


def test_a_failed_run_is_reported(tmp_path, capsys):
    run = folder(tmp_path, "euler", 0.01)
    run.mkdir()
    (run / "checkpoint.npz").write_bytes(b"no checkpoint")
    assert STUDY.main(["--integrators", "euler", "--time", "0.01", "--out", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "euler failed" in out and "no checkpoint is of use" in out and f"remove {run}" in out
    assert read(tmp_path / "curves.csv") == []


@pytest.mark.parametrize("error, apart, verdict", [
    (0.005, 1.0, "reproduced"), (0.005, 3.0, "not reproduced"), (0.0065, 3.0, "not reproduced"),
    (0.0075, 3.0, "too short to tell"), (0.06, 2.4, "too short to tell"), (0.06, 1.0, "too short to tell"),
])
def test_uncertain_drifts_give_no_verdict(error, apart, verdict):
    """error: standard error of each drift; that of their difference is sqrt(2) times larger, and must be below 1 %."""
    line = {"largest_change": 0.01, "drift_error": error}
    found = []
    STUDY.judge(SimpleNamespace(find=found.append), {
        "spiral": line | {"drift": 0.0}, "omelyan": line | {"drift": -apart * np.sqrt(2.0) * error}})
    assert [finding.verdict for finding in found] == ["reproduced", "reproduced", verdict]
    assert "1%" in found[-1].note


@pytest.mark.slow
def test_a_quick_report_gives_no_verdict_on_short_runs(tmp_path):
    """Thirty seconds: the two drifts differ by more than two standard errors by chance."""
    paper_report.STUDY.run_into(tmp_path, quick=True, only=["rods_energy_study"])
    page = (tmp_path / "report.html").read_text()
    assert "SPIRAL 2025, Fig. 2: reproduced, 4 of 5, 1 too short to tell" in page
    assert "<td>too short to tell</td>" in page and "NOT reproduced" not in page
