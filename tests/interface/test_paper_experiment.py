"""Studies and findings: verdicts, files, messages."""
import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import examples
import pytest

import minidem as md
from minidem.scenario import Scenario
from minidem.scenarios import papers
from minidem.scenarios.papers import Finding

PRINTED = Finding("Somebody 1999", "Table 1", "a length", published="9.400e-03", reproduced=9.4004e-3)
DRAWN = Finding("Somebody 1999", "Fig. 2", "it grows", None, None, holds=True, note="last above first")
THEORY = Finding("Somebody 1999", "Table 3", "theory", published="0.2934253", reproduced=0.29344401,
                 exact=0.2934440, note="the integral is elementary")


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


def more_options(group):
    group.add_argument("--size", type=float, default=lambda options: 2.0 * options.dt)


EXPERIMENT = Scenario("some_experiment", "Some experiments.", study=work, add_options=more_options,
                      defaults={"integrator": "spiral", "dt": 0.1})


# --- findings ---

def test_printed_digits_decide():
    assert PRINTED.verdict == "reproduced"
    assert replace(PRINTED, reproduced=9.4006e-3).verdict == "not reproduced"       # half a unit is 5e-7
    assert replace(PRINTED, published=9.4e-3, reproduced=9.44e-3).verdict == "reproduced"   # a float: 0.0094
    assert replace(PRINTED, published="9.4", reproduced=9.45).verdict == "reproduced"
    assert replace(PRINTED, reproduced=float("nan")).verdict == "not reproduced"
    assert replace(PRINTED, reproduced=None).verdict == "not reproduced"
    assert PRINTED.deviation == pytest.approx(4e-7 / 9.4e-3)


def test_tolerance_decides():
    assert replace(PRINTED, tolerance=0.1, reproduced=0.0103).verdict == "reproduced"
    assert replace(PRINTED, tolerance=0.1, reproduced=0.0104).verdict == "not reproduced"
    assert replace(PRINTED, published="-2", reproduced=-2.1, tolerance=0.1).verdict == "reproduced"


def test_criterion_decides():
    assert DRAWN.verdict == "reproduced"
    assert replace(DRAWN, holds=False).verdict == "not reproduced"


def test_published_value_wrong():
    assert THEORY.verdict == "published value wrong"
    assert replace(THEORY, reproduced=0.2934253).verdict == "reproduced"    # then ours is as wrong
    assert replace(THEORY, reproduced=0.2935).verdict == "not reproduced"
    true_as_printed = replace(THEORY, published="0.2934", reproduced=0.29344)
    assert true_as_printed.verdict == "reproduced"


def test_known_limit():
    """Instead of "not reproduced" alone; the reason follows the note."""
    missed = replace(DRAWN, holds=False, limit="a rigid law")
    assert missed.verdict == replace(PRINTED, reproduced=None, limit="a rigid law").verdict == "known limit"
    assert missed.in_words() == "it grows. last above first. Expected: a rigid law"
    assert replace(PRINTED, reproduced=0.0095, limit="a rigid law").in_words() == (
        "a length: published 9.400e-03, here 0.0095 (+1.1e-02 of it). Expected: a rigid law")
    assert replace(PRINTED, limit="a rigid law").verdict == "reproduced"
    assert replace(DRAWN, limit="a rigid law").in_words() == DRAWN.in_words()
    assert replace(THEORY, limit="a rigid law").verdict == "published value wrong"
    assert replace(missed, too_short=True).verdict == "too short to tell"


def test_too_short():
    for found in DRAWN, replace(DRAWN, holds=False), replace(PRINTED, note="ten samples"):
        assert replace(found, too_short=True).verdict == "too short to tell"
    with pytest.raises(ValueError, match="note is empty"):
        replace(PRINTED, too_short=True)


@pytest.mark.parametrize("verdicts, told", [
    ("s", "too short to tell, 0 of 1, 1 too short to tell"), ("gs", "reproduced, 1 of 2, 1 too short to tell"),
    ("bs", "NOT reproduced, 0 of 2, 1 too short to tell"), ("gb", "NOT reproduced, 1 of 2"),
    ("g", "reproduced, 1 of 1"), ("gl", "reproduced, 1 of 2, 1 at a known limit"),
    ("l", "known limit, 0 of 1, 1 at a known limit"), ("bl", "NOT reproduced, 0 of 2, 1 at a known limit")])
def test_line_of_an_item(verdicts, told, tmp_path):
    """g: reproduced, b: not reproduced, s: too short to tell, l: known limit. The exit status is 0 for all."""
    kinds = {"g": DRAWN, "b": replace(DRAWN, holds=False), "s": replace(DRAWN, holds=False, too_short=True),
             "l": replace(DRAWN, holds=False, limit="a rigid law")}
    experiment = Scenario("some", "", study=lambda options, report: [report.find(kinds[kind]) for kind in verdicts])
    report = experiment.run_into(tmp_path)
    assert experiment.main(["--quiet", "--out", str(tmp_path)]) == 0
    assert report.lines()[0] == f"Somebody 1999, Fig. 2: {told}"
    short = [line for line in report.lines() if line.startswith("    too short to tell: it grows.")]
    assert len(short) == verdicts.count("s")


@pytest.mark.parametrize("change, message", [
    ({"published": None}, "published is None"), ({"published": "two"}, "published is 'two'"),
    ({"published": float("inf")}, "finite"), ({"tolerance": 0.0}, "tolerance is 0.0"),
    ({"published": "0", "tolerance": 0.1}, "tolerance is 0.1 of 0"), ({"holds": True}, "note is empty"),
    ({"exact": 1.0}, "note is empty")])
def test_invalid_findings(change, message):
    with pytest.raises(ValueError, match=message):
        replace(PRINTED, **change)


# --- a run ---

def test_files(tmp_path):
    report = EXPERIMENT.run_into(tmp_path, quick=True, dt=0.05)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {key: summary[key] for key in ("scenario", "ended", "version", "options")} == {
        "scenario": "some_experiment", "ended": "done", "version": md.__version__,
        "options": {"integrator": "spiral", "dt": 0.05, "quick": True, "size": 0.1}}
    assert summary["wall_seconds"] > 0.0
    assert [f["verdict"] for f in summary["findings"]] == [f.verdict for f in report.findings] == [
        "reproduced", "not reproduced", "reproduced", "published value wrong"]
    with open(tmp_path / "findings.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows] == [f.verdict for f in report.findings]
    assert rows[0]["published"] == "9.400e-03" and float(rows[0]["reproduced"]) == PRINTED.reproduced
    assert (tmp_path / "numbers.csv").read_text() == f"name,value\nthird,{1 / 3!r}\nquick,True\n"
    assert {file.name for file in tmp_path.iterdir()} == {"summary.json", "findings.csv", *summary["files"]}


def test_figure(tmp_path):
    pytest.importorskip("matplotlib")
    EXPERIMENT.run_into(tmp_path)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert EXPERIMENT.run_into(tmp_path).files == ["numbers.csv", "findings.csv"]


def test_closing_lines(tmp_path, capsys):
    assert EXPERIMENT.main(["--out", str(tmp_path)]) == 0
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert lines[0] == "worked"
    assert "Somebody 1999, Table 1: NOT reproduced, 1 of 2, largest deviation 1.1e-02" in lines
    assert "    not reproduced: another: published 9.400e-03, here 0.0095 (+1.1e-02 of it)" in lines
    assert "Somebody 1999, Fig. 2: reproduced, 1 of 1" in lines
    assert "Somebody 1999, Table 3: reproduced, 0 of 1, 1 published wrong" in lines
    assert lines[-1] == f"Files are in {tmp_path}."
    assert EXPERIMENT.main(["--out", str(tmp_path), "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_a_new_run_replaces_its_own_files_only(tmp_path):
    EXPERIMENT.run_into(tmp_path)
    (tmp_path / "mine.txt").write_text("keep")
    Scenario("some_experiment", "", study=lambda options, report: None).run_into(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"summary.json", "mine.txt"}
    other = tmp_path / "other"
    EXPERIMENT.run_into(other)
    Scenario("other_experiment", "", study=lambda options, report: None).run_into(other)
    assert (other / "numbers.csv").exists()
    (other / "summary.json").write_text("not JSON")
    EXPERIMENT.run_into(other)


# --- errors ---

@pytest.mark.parametrize("arguments, message", [
    (["--dt", "0"], "must be above 0, not 0"), (["--integrator", "eulr"], "must be one of"),
    (["--time", "1"], "unrecognized arguments: --time"), (["--size", "big"], "invalid float value")])
def test_bad_arguments(arguments, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert EXPERIMENT.main([*arguments, "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_check_comes_before_any_file(tmp_path, capsys):
    def check(options):
        raise ValueError("--size: too small")

    assert replace(EXPERIMENT, check=check).main(["--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == "some_experiment: error: --size: too small\n"
    assert not (tmp_path / "out").exists()


def test_folder_that_is_a_file(tmp_path, capsys):
    (tmp_path / "out").write_text("")
    assert EXPERIMENT.main(["--out", str(tmp_path / "out")]) == 2
    assert "is a file; give a folder" in capsys.readouterr().err


def test_unknown_option_from_python(tmp_path):
    with pytest.raises(ValueError, match="no option 'speed', only dt, integrator"):
        EXPERIMENT.run_into(tmp_path, speed=1)


def test_two_files_of_one_name(tmp_path):
    def twice(options, report):
        report.table("numbers", ("a",), [(1,)])
        report.table("numbers", ("a",), [(2,)])

    with pytest.raises(ValueError, match="'numbers.csv': the report has a file of this name"):
        replace(EXPERIMENT, study=twice).run_into(tmp_path)


def test_row_of_the_wrong_length(tmp_path):
    with pytest.raises(ValueError, match="a row of 1 numbers for 2 columns"):
        replace(EXPERIMENT, study=lambda options, report: report.table("t", ("a", "b"), [(1,)])).run_into(tmp_path)
    assert not (tmp_path / "t.csv").exists()


def test_failure_keeps_findings(tmp_path, capsys):
    def fail(options, report):
        report.find(PRINTED)
        raise OSError("disk full")

    assert replace(EXPERIMENT, study=fail).main(["--out", str(tmp_path)]) == 1
    assert "some_experiment: failed: disk full" in capsys.readouterr().err
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["ended"] == "failed" and len(summary["findings"]) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(number, tmp_path):
    """During a long integration; earlier findings are written."""
    script = tmp_path / "long_experiment.py"
    script.write_text("""
import sys
import minidem as md
from minidem.scenario import Scenario
from minidem.scenarios.papers import Finding

def run(options, report):
    report.find(Finding("Somebody 1999", "Table 1", "a length", "1.0", 1.0))
    report.say("begun")
    md.rotation.integrate("rk4", (1, 2, 3), (1, 0, 0, 0), (1, 1, 1), (0, 0, 0), 1e-9, 10**12)

sys.exit(Scenario("long_experiment", "", study=run).main())
""")
    package = str(Path(md.__file__).parents[1])
    with subprocess.Popen(
            [sys.executable, str(script), "--out", str(tmp_path / "out")], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": package}) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.2)
        process.send_signal(number)
        assert process.wait(timeout=100) == 130
        assert process.stderr.read() == "long_experiment: interrupted\n"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["ended"] == "interrupted" and summary["findings"][0]["verdict"] == "reproduced"


def test_example_of_the_module(tmp_path, capsys):
    """The example of the docstring runs, and its findings are reproduced."""
    script, = (block for marked, block in examples.blocks(papers.__doc__) if marked)
    names = {"__name__": "free_top", "__doc__": "A top."}
    exec(script, names)
    assert names["main"](["--out", str(tmp_path)]) == 0
    report = names["EXPERIMENT"].run_into(tmp_path, quick=True)
    assert [finding.verdict for finding in report.findings] == ["reproduced", "reproduced"]


def test_progress(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("minidem.core.progress.PLAIN_SECONDS", 0.0)
    monkeypatch.chdir(tmp_path)

    def parts(options, report):
        for item in report.progress("items", "ab"):
            report.part(f"item {item}", 0.25)

    for quiet in False, True:
        assert Scenario("long", "Two items.", study=parts).main(["--quiet"] if quiet else []) == 0
        expected = ["long: items, 0 of 2", "long: item a, 25%", "long: items, 1 of 2", "long: item b, 25%"]
        lines = [re.sub(r"^[-\d]+ [:\d]+ |, 0 s left, end about [-\d]+ [:\d]+$", "", line)
                 for line in capsys.readouterr().err.splitlines()]
        assert lines == ([] if quiet else expected)
