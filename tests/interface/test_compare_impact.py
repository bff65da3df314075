"""tools/compare_impact.py: messages and exit status without LAMMPS, tables, files, and an impact beside LAMMPS."""
import os

import compare_impact
import numpy as np
import pytest
from installed_lammps import needs_lammps

MINIMAL = ("--quick", "--count", "400", "--time", "0.002", "--skip", "0.001", "--dt", "2e-6", "--seeds", "1", "--out",
           "out")


def test_missing_lammps_is_skipped(tmp_path, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_tool("compare_impact")
    assert done.returncode == 77 and "lammps: skipped" in done.stdout


@pytest.mark.parametrize("arguments, complaint", [
    (["--count", "0"], "at least 1"), (["--quick", "--time", "1e-7"], "two steps"), (["--seeds", "x"], "whole number"),
    (["--time", "0.02"], "--skip"), (["--skip", "-1"], "--skip")])
def test_a_bad_argument_is_named(arguments, complaint, run_tool):
    done = run_tool("compare_impact", *arguments)
    assert done.returncode == 2 and complaint in done.stderr


def trajectory(lowest, rebound):
    """Rows of a ball that falls with 5 m/s up to 2 ms and then rises."""
    when = np.linspace(0.0, 4e-3, 41)
    fall = when <= 2e-3
    height = lowest + np.where(fall, 5.0 * (2e-3 - when), rebound * (when - 2e-3))
    return np.column_stack([when, height, np.where(fall, -5.0, rebound)])


def test_tables():
    """Two seeds: differences of the codes for each, and spreads over both."""
    ends = {("minidem", 1): (0.010, 1.0), ("lammps", 1): (0.0102, 1.0), ("minidem", 2): (0.011, 1.0),
            ("lammps", 2): (0.0109, 1.5)}
    traces = {run: trajectory(*end) for run, end in ends.items()}
    runs, times = compare_impact.tables(traces, dict.fromkeys(traces, 123.4))
    assert runs[1] == ("1", "minidem", "10.000", "2.00", "1.0000", "123")
    assert runs[4] == ("2", "lammps", "10.900", "2.00", "1.5000", "123")
    assert times[4] == ("2.00", "10.500", "+0.200", "-0.100", "1.000", "0.700")
    assert times[-1] == ("largest", "", "+0.200", "+0.900", "1.000", "1.700")


@needs_lammps
def test_impact_beside_lammps(tmp_path, run_tool, monkeypatch):
    """The ball falls freely in both codes; runs that have ended are kept, and repeated for other arguments."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"WARMUP": 1, "STEPS": 4, "REPEATS": 1}.items():
        monkeypatch.setattr(compare_impact, name, value)
    done = run_tool("compare_impact", *MINIMAL)
    assert done.returncode == 0, done.stderr
    assert "times as long as minidem" in done.stdout
    table = np.genfromtxt("out/heights.csv", delimiter=",", names=True)
    when = table["time"]
    assert when[[0, -1]] == pytest.approx([0.001, 0.002], rel=1e-12) and len(when) > 300
    for code in compare_impact.CODES:
        assert table[f"{code}_1_height"] == pytest.approx(-0.05 - 5.0 * when - 0.5 * 9.81 * when ** 2, abs=1e-12)
        assert table[f"{code}_1_velocity"] == pytest.approx(-5.0 - 9.81 * when, abs=1e-10)
    kept = os.stat("out/minidem-seed-1.json").st_mtime_ns
    for time in ("0.002", "0.0015"):
        arguments = compare_impact.parse_arguments([*MINIMAL, "--time", time])
        rows, _ = compare_impact.traced(arguments, "minidem", 1, None)
        assert rows[-1, 0] == pytest.approx(float(time), rel=1e-12)
        assert (os.stat("out/minidem-seed-1.json").st_mtime_ns == kept) == (time == "0.002")


@needs_lammps
def test_a_law_without_an_equal_in_lammps(tmp_path, run_tool, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run_tool("compare_impact", *MINIMAL, "--contact", "hertz-mindlin:rolling=epsd")
    assert done.returncode == 1 and "rolling=epsd" in done.stderr


def test_a_ball_within_the_bed_is_refused(tmp_path, run_tool, monkeypatch):
    """A program that does nothing stands for LAMMPS."""
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "lmp"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_tool("compare_impact", *MINIMAL, "--time", "0.02", "--skip", "0.008")
    assert done.returncode == 1 and "not above the bed" in done.stderr
