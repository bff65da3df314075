"""Studies of papers and their findings: verdicts, files, messages."""
import csv
import json
import os
import signal
import sys
import threading
from dataclasses import replace

import pytest

import minidem as md
from minidem.scenario import Scenario
from minidem.scenarios.papers import Finding

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
    with open(tmp_path / "findings.csv", newline="") as file:
        rows = list(csv.DictReader(file))
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
    with pytest.raises(ValueError, match="no option 'speed', only dt, integrator"):
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
