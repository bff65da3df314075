"""Studies of papers and their findings: verdicts, files, messages; studies of errors of energy."""
import csv
import json
import os
import shutil
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import minidem as md
from minidem.scenario import Scenario
from minidem.scenarios import paper_report
from minidem.scenarios.energy import energy_pareto as PARETO, rods_energy_study as RODS
from minidem.scenarios.papers import Finding, of_samples, of_step
from minidem.scenarios.spiral import chess_box, chess_energy_study as CHESS, chess_in_box

PRINTED = Finding("Somebody 1999", "Table 1", "a length", published="9.400e-03", reproduced=9.4004e-3)
DRAWN = Finding("Somebody 1999", "Fig. 2", "it grows", None, None, holds=True, note="last above first")
THEORY = Finding("Somebody 1999", "Table 3", "theory", published="0.2934253", reproduced=0.29344401,
                 exact=0.2934440, note="the integral is elementary")
MISSED = replace(DRAWN, holds=False, limit="a rigid law")


def work(options, report):
    for scheme in report.progress("schemes", ["euler", options.integrator]):
        md.rotation.integrate(scheme, (1, 2, 3), (1, 0, 0, 0), (0.1, 1, 0.1), (0, 0, 0), options.dt, 10)
    report.find(PRINTED)
    report.find(replace(PRINTED, quantity="another", reproduced=9.5e-3))
    report.find(DRAWN)
    report.find(THEORY)
    report.table("numbers", ("name", "value"), [("third", 1 / 3), ("quick", options.quick)])
    report.figure("curve", lambda figure: figure.subplots().plot([1, 2, 3]))
    report.say("worked")


EXPERIMENT = Scenario("some_experiment", "Some experiments.", study=work, defaults={"integrator": "spiral", "dt": 0.1})


@pytest.mark.parametrize("finding, change, verdict", [
    (PRINTED, {}, "reproduced"), (PRINTED, {"reproduced": 9.4006e-3}, "not reproduced"),    # half a unit is 5e-7
    (PRINTED, {"published": 9.4e-3, "reproduced": 9.44e-3}, "reproduced"),                  # a float: 0.0094
    (PRINTED, {"published": "9.4", "reproduced": 9.45}, "reproduced"),
    (PRINTED, {"reproduced": float("nan")}, "not reproduced"), (PRINTED, {"reproduced": None}, "not reproduced"),
    (PRINTED, {"tolerance": 0.1, "reproduced": 0.0103}, "reproduced"),
    (PRINTED, {"tolerance": 0.1, "reproduced": 0.0104}, "not reproduced"),
    (PRINTED, {"tolerance": 0.1, "reproduced": -2.1, "published": "-2"}, "reproduced"),
    (DRAWN, {}, "reproduced"), (DRAWN, {"holds": False}, "not reproduced"),
    (THEORY, {}, "published value wrong"), (THEORY, {"reproduced": 0.2934253}, "reproduced"),   # then ours is, too
    (THEORY, {"reproduced": 0.2935}, "not reproduced"),
    (THEORY, {"published": "0.2934", "reproduced": 0.29344}, "reproduced"),
    (MISSED, {}, "known limit"), (PRINTED, {"reproduced": None, "limit": "a rigid law"}, "known limit"),
    (PRINTED, {"limit": "a rigid law"}, "reproduced"), (THEORY, {"limit": "a rigid law"}, "published value wrong"),
    (MISSED, {"too_short": True}, "too short to tell"), (DRAWN, {"too_short": True}, "too short to tell")])
def test_verdicts(finding, change, verdict):
    """Printed digits, a tolerance or a criterion decide; a known limit replaces "not reproduced" alone."""
    assert replace(finding, **change).verdict == verdict


def test_files_and_lines(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert EXPERIMENT.main(["--out", str(tmp_path), "--quick", "--dt", "0.05"]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {key: summary[key] for key in ("scenario", "ended", "version", "build", "options")} == {
        "scenario": "some_experiment", "ended": "done", "version": md.__version__, "build": md.build_info(),
        "options": {"integrator": "spiral", "dt": 0.05, "quick": True}}
    assert summary["wall_seconds"] > 0.0
    verdicts = ["reproduced", "not reproduced", "reproduced", "published value wrong"]
    assert [found["verdict"] for found in summary["findings"]] == verdicts
    rows = read(tmp_path / "findings.csv")
    assert [row["verdict"] for row in rows] == verdicts
    assert rows[0]["published"] == "9.400e-03" and float(rows[0]["reproduced"]) == PRINTED.reproduced
    assert (tmp_path / "numbers.csv").read_text() == f"name,value\nthird,{1 / 3!r}\nquick,True\n"
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert {file.name for file in tmp_path.iterdir()} == {"summary.json", "findings.csv", *summary["files"]}
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "worked" and lines[-1] == f"Files are in {tmp_path}."
    assert {"Somebody 1999, Table 1: NOT reproduced, 1 of 2, largest deviation 1.1e-02",
            "    not reproduced: another: published 9.400e-03, here 0.0095 (+1.1e-02 of it)",
            "Somebody 1999, Table 3: reproduced, 0 of 1, 1 published wrong"} <= set(lines)
    assert MISSED.in_words() == "it grows. last above first. Expected: a rigid law"
    assert replace(PRINTED, error=of_samples(1e-5, 5)).in_words().startswith(
        "a length: published 9.400e-03, here 0.0094004 ± 3e-05")


def test_a_new_run_replaces_its_own_files_only(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert EXPERIMENT.run_into(tmp_path).files == ["numbers.csv", "findings.csv"]
    (tmp_path / "mine.txt").write_text("keep")
    Scenario("other_experiment", "", study=lambda options, report: None).run_into(tmp_path)
    assert (tmp_path / "numbers.csv").exists()
    EXPERIMENT.run_into(tmp_path)
    Scenario("some_experiment", "", study=lambda options, report: None).run_into(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"summary.json", "mine.txt"}
    (tmp_path / "summary.json").write_text("not JSON")
    assert EXPERIMENT.main(["--out", str(tmp_path), "--quiet"]) == 0 and capsys.readouterr().out == ""
    with pytest.raises(ValueError, match="no option 'speed', only dt, imports, integrator"):
        EXPERIMENT.run_into(tmp_path, speed=1)


def test_failure_keeps_findings(tmp_path, capsys):
    def fail(options, report):
        report.find(PRINTED)
        raise OSError("disk full")
    assert replace(EXPERIMENT, study=fail).main(["--out", str(tmp_path)]) == 1
    assert "some_experiment: failed: disk full" in capsys.readouterr().err
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["ended"] == "failed" and len(summary["findings"]) == 1
    for columns, message in (("ab", "1 numbers for 2 columns"), ("a", "'t.csv': the report has a file of this name")):
        with pytest.raises(ValueError, match=message):
            replace(EXPERIMENT, study=lambda options, report: [
                report.table("t", tuple(columns), [(1,)]) for _ in range(2)]).run_into(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(number, tmp_path, capsys):
    def study(options, report):
        report.find(PRINTED)
        threading.Timer(0.2, os.kill, (os.getpid(), number)).start()
        md.rotation.integrate("rk4", (1, 2, 3), (1, 0, 0, 0), (1, 1, 1), (0, 0, 0), 1e-9, 10**12)
    assert replace(EXPERIMENT, study=study).main(["--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "some_experiment: interrupted\n"
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["ended"] == "interrupted" and summary["findings"][0]["verdict"] == "reproduced"


# --- errors of energy: rods, chess pieces, and error against processor time ---

EPS = np.finfo(float).eps


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def made(folder):
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*.json") if file.parent.name == "runs"}


INTEGRATORS = "omelyan:iterations=4", "fincham-published"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    assert RODS.main(["--integrators", *INTEGRATORS, "--time", "0.3", "--workers", "1", "--out", str(out)]) == 0
    return out


def folder(out, integrator, time):
    return RODS.folder_of(integrator, "hertz", time, 38e-6, 1, str(out))


def test_curves_of_rods(study, tmp_path):
    lines = read(study / "curves.csv")
    assert [line["integrator"] for line in lines] == list(INTEGRATORS)
    assert RODS.RODS.main(["--integrator", INTEGRATORS[0], "--time", "0.3", "--frames", "0", "--quiet",
                           "--out", str(tmp_path)]) == 0
    for name in ("energy.csv", "observables.csv"):
        assert (folder(study, INTEGRATORS[0], 0.3) / name).read_bytes() == (tmp_path / name).read_bytes()
    for line in lines:
        rows = folder(study, line["integrator"], 0.3)
        total = np.array([float(row["lasting"]) for row in read(rows / "energy.csv")])
        change = total / total[0] - 1.0
        # A few roundings of the energies, which are as large as E0.
        assert float(line["last_change"]) == pytest.approx(change[-1], rel=0, abs=4 * EPS)
        assert float(line["largest_change"]) == pytest.approx(np.abs(change).max(), rel=0, abs=4 * EPS)
        assert 0.0 < float(line["largest_change"]) and line["steps"] == "7895"          # the fewest that reach 0.3 s
        spin = [float(row["spin"]) for row in read(rows / "observables.csv")]
        assert float(line["spin_change"]) == spin[-1] / spin[0] - 1.0
    assert float(lines[1]["spin_change"]) > 0.03 > abs(float(lines[0]["spin_change"]))


def test_completed_runs_are_kept(study, monkeypatch, capsys):
    """Without matplotlib there is no figure. A run that fails is reported."""
    before = made(study)
    arguments = ["--integrators", *INTEGRATORS[::-1], "--time", "0.3", "--out", str(study)]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib", None)
        assert RODS.main(arguments) == 0
    assert "No figure without matplotlib" in capsys.readouterr().out and not (study / "energy.png").exists()
    pytest.importorskip("matplotlib")
    assert RODS.main(arguments) == 0
    assert (study / "energy.png").read_bytes().startswith(b"\x89PNG") and made(study) == before != {}
    run = folder(study, "euler", 0.01)
    run.mkdir()
    (run / "checkpoint.npz").write_bytes(b"no checkpoint")
    assert RODS.main(["--integrators", "euler", "--time", "0.01", "--out", str(study)]) == 1
    out = capsys.readouterr().out
    assert "euler failed" in out and "no checkpoint is of use" in out and f"remove {run}" in out
    assert read(study / "curves.csv") == []


@pytest.mark.parametrize("error, apart, verdict", [
    (0.005, 1.0, "reproduced"), (0.005, 3.0, "not reproduced"), (0.0065, 3.0, "not reproduced"),
    (0.0075, 3.0, "too short to tell"), (0.06, 2.4, "too short to tell"), (0.06, 1.0, "too short to tell"),
])
def test_uncertain_drifts_give_no_verdict(error, apart, verdict):
    """error: standard error of each drift; that of their difference is sqrt(2) times larger, and must be below 1 %."""
    line = {"largest_change": 0.01, "drift_error": error}
    found = []
    RODS.judge(SimpleNamespace(find=found.append), {
        "spiral": line | {"drift": 0.0}, "omelyan": line | {"drift": -apart * np.sqrt(2.0) * error}})
    assert [finding.verdict for finding in found] == ["reproduced", "reproduced", verdict] and "1%" in found[-1].note


def test_pictures_without_any_survivor(tmp_path):
    words = ("--system rods --integrators johnson --steps 152e-6 --time 0.5 --seeds 1 --workers 1 --contact hertz "
             f"--quiet --out {tmp_path}")
    assert PARETO.main(words.split()) == 0 and read(tmp_path / "orders.csv") == []


def test_front_orders_and_survivors():
    """Points that no other dominates; errors of round-off are no part of an order; failures at most at half."""
    points = [dict(zip(("cpu_seconds", "error"), pair)) for pair in np.random.default_rng(2).uniform(size=(50, 2))]
    expected = [a for a in points if not any(
        b["cpu_seconds"] <= a["cpu_seconds"] and b["error"] <= a["error"] for b in points if b is not a)]
    assert sorted(PARETO.front(points), key=points.index) == expected and 1 < len(expected) < 20
    dt = 1e-5 * 2.0 ** np.arange(5)
    error = 1e9 * dt**2.5
    error[0] = 1e-13
    slope, used = PARETO.order(dt, error)
    assert slope == pytest.approx(2.5, rel=1e-12) and used == 4 and PARETO.order(dt[:1], error[:1]) == (None, 0)
    for failed, left in ((0, 4), (2, 2), (3, 0)):
        assert len(PARETO.survivors([{"failed": int(k < failed)} for k in range(4)])) == left


PIECES = {"king": 95, "queen": 85, "bishop": 70, "knight": 60, "rook": 55, "pawn": 50}     # heights [mm]


@pytest.fixture(scope="module")
def clumps(tmp_path_factory):
    """Folder of sphere files: inclined towers of four spheres, in inches."""
    folder = tmp_path_factory.mktemp("clumps")
    for k, name in enumerate(PIECES):
        tower = [(0.05 * n * n, 0.1 * n, 0.8 * n, 1.0 - 0.03 * k - 0.1 * n) for n in range(4)]
        np.savetxt(folder / f"Set_{name.capitalize()}_4.txt", tower, "%.4f", delimiter=", ")
    return folder


def test_pieces_and_their_start(clumps):
    pieces = chess_box.templates(str(clumps))
    assert list(pieces) == list(PIECES)
    for name, piece in pieces.items():
        low, high = ((piece.centers + side * piece.radii[:, None])[:, 2] for side in (-1.0, 1.0))
        assert high.max() - low.min() == pytest.approx(1e-3 * PIECES[name], rel=1e-14)
        assert piece.mass == piece.density * piece.volume and piece.density == 3200.0
    sim = chess_box.simulation(seed=3, clumps=str(clumps), dt=1e-6)
    assert np.bincount(sim.template_index).tolist() == [2, 2, 4, 4, 4, 16]
    centers, reach = sim.sphere_centers, sim.sphere_radii[:, None]
    assert len(sim.contacts()) == 0 and np.min(centers - reach) > 0.0 and np.max(centers + reach) < 0.5
    np.testing.assert_allclose(np.linalg.norm(sim.velocity, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(sim.angular_velocity, np.pi * sim.velocity, rtol=0, atol=1e-13)


def test_missing_sphere_files(clumps, tmp_path, capsys):
    for name, text, message in (("Set_King_4.txt", None, "'king' in its name"),
                                ("a_pawn", "", "has Set_Pawn_4.txt, a_pawn"),
                                ("Set_Pawn_4.txt", "0, 0, 0, 1\n1, 2, 3\n", "Set_Pawn_4.txt, line 2")):
        folder = tmp_path / name
        shutil.copytree(clumps, folder)
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)
        for main in chess_in_box.SCENARIO.main, CHESS.main:
            assert main(["--clumps", str(folder), "--out", str(tmp_path / "out")]) == 2
            assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_energy_change_of_pieces(clumps):
    sim = chess_box.simulation("omelyan", 4e-6, 5, str(clumps))
    first, changes = sim.energy().total, []
    sim.run(2500, every=10, callback=lambda sim: changes.append(abs(sim.energy().total - first) / first))
    result = chess_box.energy_change("omelyan", 4e-6, 5, 0.01, str(clumps))
    assert result["steps"] == 2500 and result["loop_seconds"] > 0.0
    assert (result["mean_change"], result["last_change"]) == (np.mean(changes), changes[-1])
    assert result["authors_change"] == min(np.mean(changes), changes[-1]) > 0.0
    coarse, fine = (chess_box.energy_change("spiral", dt, 1, 0.02)["mean_change"] for dt in (4e-6, 1e-6))
    assert 0.0 < 4.0 * fine < coarse


@pytest.mark.parametrize("change, error, verdict", [
    (6.8e-5, 1e-5, "reproduced"), (6.8e-5, 3e-5, "too short to tell"), (6.8e-5, None, "too short to tell"),
    (1e-3, 1e-4, "not reproduced"), (1e-3, 5e-4, "too short to tell")])
def test_too_few_initial_states_give_no_verdict(change, error, verdict):
    """Half a decade either way of 6.8e-5 counts: 2.15e-5 to 2.15e-4."""
    found = []
    line = dict.fromkeys(CHESS.COLUMNS) | {"scheme": "SPIRAL", "dt": 4.85e-6, "mean_change": change,
                                           "authors_change": change, "authors_change_error": error}
    CHESS.judge(SimpleNamespace(find=found.append, say=lambda text: None), [line])
    assert [finding.verdict for finding in found] == [verdict]


def test_report_of_the_papers(tmp_path, capsys):
    """The lines of an experiment, its section of the page, and its rows."""
    assert paper_report.main(["--quick", "--only", "coupled_cylinders", "--out", str(tmp_path)]) == 0
    assert "improved PCDM 2016, Section 4: reproduced, 2 of 2" in capsys.readouterr().out
    assert "order of improved-pcdm" in (tmp_path / "report.html").read_text()
    assert len((tmp_path / "findings.csv").read_text().splitlines()) == 5
    changed = (tmp_path / "findings.csv").read_text().replace("order of pcdm,1,1.", "order of pcdm,1,1.0000001")
    (tmp_path / "changed.csv").write_text(changed)
    again = ["--quick", "--against", str(tmp_path / "changed.csv"), "--out", str(tmp_path / "again")]
    assert paper_report.main(again) == 1
    lines = capsys.readouterr().out.partition("Not as before:\n")[2].splitlines()
    assert len(lines) == 2 and lines[0].startswith("coupled_cylinders, improved PCDM 2016, Section 4, order of pcdm: ")
    assert paper_report.main(["--quick", "--against", "none.csv", "--out", str(tmp_path)]) == 2


def test_stored_numbers_of_the_papers(tmp_path):
    """Of tools/certify.py: findings that are the same on every machine, and in later versions."""
    stored = Path(__file__).parents[1] / "restart" / "certificates" / "findings.csv"
    assert paper_report.main(["--quick", "--against", str(stored), "--out", str(tmp_path)]) == 0


@pytest.mark.parametrize("values, error", [
    ((1.16, 1.04, 1.01), 0.0375), ((1.4, 1.2, 1.1), 0.1), ((1.1, 1.01, 1.01), 0.0225), ((1.0, 1.0, 1.0), 0.0)])
def test_error_of_the_step(values, error):
    """Of second and first order: it bounds the true one, 0.01 and 0.1, and is none where the step changes nothing."""
    assert of_step(values) == pytest.approx(error, abs=1e-15)
