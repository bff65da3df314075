"""Clumps that settle: initial state, rest, rest after a continuation, energy balance."""
import json

import numpy as np
import pytest
import settling

pytestmark = pytest.mark.usefixtures("without_pictures")
SMALL = ["--count", "20", "--dt", "4e-5", "--frames", "0", "--threads", "1", "--quiet"]


def run(folder, *argv):
    assert settling.main([*SMALL, *argv, "--out", str(folder)]) == 0
    return json.loads((folder / "summary.json").read_text())


@pytest.mark.parametrize("shape", settling.SHAPES)
def test_start(shape):
    sim = settling.build(settling.SCENARIO.parse(["--count", "50", "--shape", shape, "--threads", "1"]))
    assert sim.n_clumps == 50 and len(sim.contacts()) == 0 and np.all(sim.velocity == 0.0)
    assert settling.kinetic_energy(sim) == 0.0
    box = np.max([wall.point for wall in sim.walls], axis=0)
    assert 50 * sim.templates[0].volume / np.prod(box) <= 1.001 * settling.RAIN


def test_rest_and_its_continuation(tmp_path):
    summary = run(tmp_path, "--time", "2")
    result, rows = summary["result"], np.loadtxt(tmp_path / "observables.csv", delimiter=",", skiprows=1)
    assert result["at_rest"] and summary["conclusion"].startswith("At rest from")
    late = rows[rows[:, 0] >= result["rest_time"]]
    assert np.all(late[:, 2] < settling.REST) and rows[rows[:, 0] < result["rest_time"]][-1, 2] >= settling.REST
    assert 0.2 < result["packing_fraction"] < 0.6 and 4.0 < result["coordination_number"] < 9.0
    assert summary["energy_balance_error"] < 1e-3
    longer = run(tmp_path, "--time", "2.2", "--resume")
    rows = np.loadtxt(tmp_path / "observables.csv", delimiter=",", skiprows=1)
    assert rows[-1, 0] == pytest.approx(2.2) and np.all(rows[rows[:, 0] > 2.0, 2] < settling.REST)
    assert longer["result"]["rest_time"] == result["rest_time"]


def test_not_at_rest(tmp_path):
    summary = run(tmp_path, "--time", "0.3")
    assert not summary["result"]["at_rest"] and summary["result"]["rest_time"] is None
    assert "NOT at rest" in summary["conclusion"]


def test_balance_error_falls_with_the_step(tmp_path):
    errors = [run(tmp_path, "--time", "0.3", "--dt", dt)["energy_balance_error"] for dt in ("4e-5", "1e-5")]
    assert errors[1] < errors[0] / 4.0


@pytest.mark.parametrize("wrong, message", [
    (["--shape", "cube"], "choose from"), (["--friction", "-1"], "friction"), (["--restitution", "2"], "restitution")])
def test_bad_arguments(wrong, message, tmp_path, capsys):
    assert settling.main([*wrong, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()
