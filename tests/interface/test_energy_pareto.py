"""Energy error against processor time: the points, the front, the orders, and the files."""
import csv
import sys

import numpy as np
import pytest

from minidem.scenarios.energy import energy_pareto as STUDY
from minidem.scenarios.energy.energy_run import energy_run

SCHEMES = "spiral", "rk4", "euler-quaternion"
PLAIN, CORRECTED = STUDY.LAWS
ARGUMENTS = ["--system", "rods", "--integrators", *SCHEMES, "--steps", "152e-6,76e-6", "--time", "0.5", "--seeds", "2",
             "--workers", "1"]


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def points_of(out):
    """Rows of curves.csv by contact law, scheme and step."""
    return {(point["contact"], point["integrator"], float(point["dt"])): point for point in read(out / "curves.csv")}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    assert STUDY.main([*ARGUMENTS, "--quiet", "--out", str(out)]) == 0
    return out


@pytest.mark.slow
def test_points_are_means_over_the_runs(study):
    points = points_of(study)
    assert points.keys() == {(law, scheme, dt) for law in STUDY.LAWS for scheme in SCHEMES for dt in (76e-6, 152e-6)
                             if (law, scheme) != (CORRECTED, "rk4")}
    errors = []
    for seed in (1, 2):
        run = energy_run(STUDY.rods("spiral", PLAIN, 76e-6, seed), 0.5, 1000)
        error, rows = run.lasting_error
        assert rows == "contact-free" and 0.0 < error <= np.max(run.change)
        errors.append(error)
    point = points[PLAIN, "spiral", 76e-6]
    assert float(point["error"]) == np.sqrt(np.mean(np.square(errors))) and point["rows"] == "contact-free"
    squares = np.square(errors)         # standard error of the mean of two squares: half their difference
    assert float(point["error_deviation"]) == pytest.approx(
        0.5 * abs(squares[1] - squares[0]) / (2.0 * float(point["error"])), rel=1e-12)
    assert 0.0 < float(point["cpu_seconds"]) == pytest.approx(float(point["us_per_step"]) / 76.0, rel=0.3)


@pytest.mark.slow
def test_onset_correction_has_smaller_errors(study):
    """At 17 steps per contact it is three times smaller in two runs of half a second at least; typical is ten times."""
    points = points_of(study)
    plain, corrected = (float(points[law, "spiral", 76e-6]["error"]) for law in STUDY.LAWS)
    assert 0.0 < corrected < plain / 3.0


@pytest.mark.slow
def test_schemes_that_lose_energy_are_listed_and_left_out(study, capsys):
    assert STUDY.main([*ARGUMENTS, "--out", str(study)]) == 0
    said = capsys.readouterr().out
    for law in STUDY.LAWS:
        assert f"30 rods, {law}: failed at 76, 152 µs: euler-quaternion\n" in said
    assert "rk4 is left out. contact = 'hertz:onset=corrected'" in said and said.count("left out") == 1
    failed = [point for point in points_of(study).values() if point["failed"] != "0"]
    assert len(failed) == 4 and all(point["error"] == "" and point["failed"] == "2" for point in failed)
    drawn = {(row["contact"], row["integrator"]) for row in read(study / "orders.csv")}
    assert drawn == {(PLAIN, "spiral"), (PLAIN, "rk4"), (CORRECTED, "spiral")}


@pytest.mark.slow
def test_existing_runs_are_kept(study):
    def made():
        return {file: file.stat().st_mtime_ns for file in study.glob("rods/runs/*.json")}

    before = made()
    assert len(before) == 2 * 2 * 3 * 2
    STUDY.STUDY.run_into(study, system="rods", integrators=SCHEMES, steps=(152e-6, 76e-6), time=0.5, seeds=2, workers=1)
    assert made() == before


@pytest.mark.slow
def test_pictures(study, monkeypatch, capsys):
    arguments = [*ARGUMENTS, "--out", str(study)]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib", None)
        assert STUDY.main(arguments) == 0
    assert "No figure without matplotlib" in capsys.readouterr().out and not (study / "pareto.png").exists()
    pytest.importorskip("matplotlib")
    assert STUDY.main(arguments) == 0
    assert all((study / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in ("pareto", "orders"))


def test_pictures_without_any_survivor(tmp_path):
    assert STUDY.main([*ARGUMENTS, "--integrators", "johnson", "--quiet", "--out", str(tmp_path)]) == 0
    assert read(tmp_path / "orders.csv") == []


@pytest.mark.slow
def test_quick_study_of_chess_pieces(tmp_path, capsys):
    assert STUDY.main(["--quick", "--system", "chess", "--integrators", "spiral", "--contact", PLAIN, "--seeds", "1",
                       "--time", "0.05", "--out", str(tmp_path)]) == 0
    assert [float(point["dt"]) for point in read(tmp_path / "curves.csv")] == list(STUDY.SYSTEMS["chess"].steps[:3])
    assert "| 32 chess pieces: contact law | scheme |" in capsys.readouterr().out


def test_front_is_of_points_that_no_other_dominates():
    rng = np.random.default_rng(2)
    points = [dict(zip(("cpu_seconds", "error"), pair)) for pair in rng.uniform(size=(50, 2))]
    expected = [a for a in points if not any(
        b["cpu_seconds"] <= a["cpu_seconds"] and b["error"] <= a["error"] for b in points if b is not a)]
    assert sorted(STUDY.front(points), key=points.index) == expected and 1 < len(expected) < 20


def test_order_leaves_out_errors_of_round_off():
    dt = 1e-5 * 2.0 ** np.arange(5)
    error = 1e9 * dt**2.5
    error[0] = 1e-13
    slope, used = STUDY.order(dt, error)
    assert slope == pytest.approx(2.5, rel=1e-12) and used == 4
    assert STUDY.order(dt[:1], error[:1]) == (None, 0)


@pytest.mark.parametrize("failed, left", [(0, 4), (2, 2), (3, 0)])
def test_schemes_that_fail_at_more_than_half_of_the_steps_are_left_out(failed, left):
    points = [{"failed": int(k < failed)} for k in range(4)]
    assert len(STUDY.survivors(points)) == left
