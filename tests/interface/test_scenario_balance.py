"""Output of a scenario with dissipation: columns, summary, verdict, picture, walls.csv, and runs that are continued."""
import json

import numpy as np
import pytest
from settling_scene import ROLLING, settling

import minidem as md
from minidem.analysis.energy import DISSIPATED
from minidem.output.table import Table
from minidem.scenario import Scenario, plot
from minidem.scenario.record import ENERGIES

pytestmark = pytest.mark.usefixtures("few_rows")
FILES = "energy.csv", "observables.csv", "walls.csv"


def wind(t, x, v, q, w):
    return np.tile([3.0, 0.0, 0.0], (len(x), 1)), np.zeros(3)


def scenario(**changes):
    defaults = {"integrator": "spiral", "contact": ROLLING, "dt": 1e-4, "time": 0.1, "frames": 0}
    return Scenario("settling", "Clumps that come to rest.", lambda options: settling(options.dt, options.contact),
                    defaults, wall_forces=True, **changes)


def columns(path):
    return np.genfromtxt(path, delimiter=",", names=True)


@pytest.fixture(scope="module")
def run(few_rows, tmp_path_factory):
    """(folder, simulation at its end) of a run with a user force."""
    out = tmp_path_factory.mktemp("settling")
    assert scenario(forces=lambda options: [wind]).main(["--quiet", "--out", str(out)]) == 0
    sim = md.Simulation.load(out / "checkpoint.npz")
    sim.add_force(wind)
    return out, sim


def test_energies(run):
    out, sim = run
    table, energy = columns(out / "energy.csv"), sim.energy()
    assert table.dtype.names == ("time", *ENERGIES)
    assert np.isnan(table["lasting"]).all() and energy.work > 0.0
    assert all(table[name][-1] == getattr(energy, name) for name in ENERGIES if name != "lasting")
    for name in DISSIPATED:
        assert table[name][0] == 0.0 and (table[name][-1] > 0.0) == (name != "dissipated_fracture")
        assert np.diff(table[name]).min() >= -1e-9 * energy.dissipated
    summary = json.loads((out / "summary.json").read_text())
    supplied = table["total"][0] - table["potential"][0] + np.max(
        table["potential"][0] - table["potential"] + table["work"])
    error = np.max(np.abs(table["balance"] - table["balance"][0])) / supplied
    assert summary["energy_balance_error"] == pytest.approx(error, rel=1e-12) and 0.0 < error < 5e-4
    for key in ("max_relative_energy_error", "lasting_relative_energy_error", "relative_energy_drift"):
        assert summary[key] is None


def test_forces_on_walls(run):
    out, sim = run
    table = columns(out / "walls.csv")
    assert len(table) == 101 and len(table.dtype) == 1 + 6 * 6
    for k in range(6):
        for kind, vector in (("force", sim.wall_force(k)), ("torque", sim.wall_torque(k))):
            assert [table[f"wall_{k}_{kind}_{axis}"][-1] for axis in "xyz"] == vector.tolist()
    assert table["wall_4_force_z"].min() < -50.0 and table["wall_4_force_z"][0] == 0.0


@pytest.mark.usefixtures("without_pictures")
def test_continued_run_writes_the_same_rows(run, tmp_path):
    out, main = ["--quiet", "--out", str(tmp_path)], scenario(forces=lambda options: [wind]).main
    assert main([*out, "--checkpoint-every", "0.03"]) == 0
    (tmp_path / "checkpoint.npz").unlink()              # as of a run that was killed after the one before, at 0.09 s
    assert main([*out, "--resume"]) == 0
    for name in FILES:
        assert (tmp_path / name).read_text() == (run[0] / name).read_text()


def test_verdict(tmp_path, capsys):
    assert scenario().main(["--time", "0.02", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    error = json.loads((tmp_path / "summary.json").read_text())["energy_balance_error"]
    assert f"dissipation and work, is constant within {error:.1e} of the energy put in" in said
    assert "onserved" not in said


def test_energy_limit_applies_to_the_balance(tmp_path, capsys):
    """The total energy changes by half; the balance does not."""
    arguments = ["--quiet", "--out", str(tmp_path), "--energy-limit"]
    assert scenario().main([*arguments, "0.01"]) == 0
    assert scenario().main([*arguments, "1e-7"]) == 1
    assert "is beyond --energy-limit 1e-07" in capsys.readouterr().err


def test_stacked_picture(run):
    """The curves sum up to the balance, but for the zero of the potential energy."""
    out, _ = run
    table = Table(out / "energy.csv", ENERGIES, lambda time: True)
    curves = plot.stacked(table)
    shift = table["balance"] - sum(curves.values())
    np.testing.assert_allclose(shift, table["potential"].min(), rtol=1e-9)
    assert all(np.any(curve) == (name != "fracture") for name, curve in curves.items())
    pytest.importorskip("matplotlib")
    assert (out / "energy.png").read_bytes().startswith(b"\x89PNG")
