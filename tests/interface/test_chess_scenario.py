"""Chess pieces in a box: initial state from sphere files, and the energy study."""
import csv
import json
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from minidem.scenario.record import FLAT
from minidem.scenarios.spiral import chess_box, chess_energy_study as STUDY, chess_in_box as BOX

PIECES = {"king": 95, "queen": 85, "bishop": 70, "knight": 60, "rook": 55, "pawn": 50}     # heights [mm]


@pytest.fixture(scope="module")
def clumps(tmp_path_factory):
    """Folder of sphere files: inclined towers of four spheres, in inches."""
    folder = tmp_path_factory.mktemp("clumps")
    for k, name in enumerate(PIECES):
        tower = [(0.05 * level * level, 0.1 * level, 0.8 * level, 1.0 - 0.03 * k - 0.1 * level)
                 for level in range(4)]
        text = "".join("{:.4f}, {:.4f}, {:.4f}, {:.4f}\n".format(*sphere) for sphere in tower)
        (folder / f"Set_{name.capitalize()}_4.txt").write_text(text)
    return folder


def test_pieces_have_their_heights_and_density(clumps):
    pieces = chess_box.templates(str(clumps))
    assert list(pieces) == list(PIECES)
    for name, piece in pieces.items():
        reach = piece.radii[:, None]
        height = np.max(piece.centers + reach, axis=0)[2] - np.min(piece.centers - reach, axis=0)[2]
        assert height == pytest.approx(1e-3 * PIECES[name], rel=1e-14)      # a few roundings of each number
        assert piece.mass == piece.density * piece.volume and piece.density == 3200.0


def test_initial_state(clumps):
    sim = chess_box.simulation(seed=3, clumps=str(clumps), dt=1e-6)
    assert sim.n_clumps == 32 and [np.sum(sim.template_index == k) for k in range(6)] == [2, 2, 4, 4, 4, 16]
    assert len(sim.contacts()) == 0
    reach = sim.sphere_radii[:, None]
    assert np.min(sim.sphere_centers() - reach) > 0.0 and np.max(sim.sphere_centers() + reach) < 0.5
    speed = np.linalg.norm(sim.velocity, axis=1)
    np.testing.assert_allclose(speed, 1.0, rtol=1e-14)
    # To the lab frame and back: some twenty roundings.
    np.testing.assert_allclose(sim.angular_velocity, np.pi * sim.velocity, rtol=0, atol=32 * np.pi * 2**-52)
    other = chess_box.simulation(seed=4, clumps=str(clumps), dt=1e-6)
    assert not np.any(np.all(other.position == sim.position, axis=1))


def test_scenario(clumps, tmp_path, capsys):
    arguments = ["--clumps", str(clumps), "--time", "0.02", "--frames", "2", "--quiet",
                 "--out", str(tmp_path)]
    limit = chess_box.rayleigh_step(str(clumps))
    assert BOX.main(["--dt", f"{0.9 * limit}", *arguments]) == 0
    assert capsys.readouterr().err == ""
    assert BOX.main(["--dt", f"{1.1 * limit}", *arguments]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    [warning] = summary["warnings"]
    assert "above the Rayleigh step" in warning and warning in capsys.readouterr().err
    assert (summary["clumps"], summary["spheres"]) == (32, 128) and summary["contacts_max"] > 0
    # m v^2 / 2, and of the spin no more than if all mass were as far out as it can be.
    pieces = chess_box.templates(str(clumps))
    energies = [(0.5 * number * pieces[name].mass, (np.pi * pieces[name].bounding_radius) ** 2)
                for name, number in chess_box.NUMBERS.items()]
    translational = sum(energy for energy, _ in energies)
    most = sum(energy * (1.0 + spin) for energy, spin in energies)
    assert translational < summary["energy_initial"] < most
    assert 0.0 < summary["max_relative_energy_error"] < FLAT


def test_missing_sphere_files(clumps, tmp_path, capsys):
    for file in clumps.iterdir():
        (tmp_path / file.name).write_text(file.read_text())
    arguments = ["--clumps", str(tmp_path), "--out", str(tmp_path / "out")]
    (tmp_path / "second_PAWN.txt").write_text("0 0 0 1\n")
    (tmp_path / "Set_King_4.txt").rename(tmp_path / "monarch.txt")
    for main in BOX.main, STUDY.main:
        chess_box.templates.cache_clear()
        assert main(arguments) == 2
        assert "'king' in its name and has none" in capsys.readouterr().err
    (tmp_path / "monarch.txt").rename(tmp_path / "king")
    assert BOX.main(arguments) == 2
    assert "has Set_Pawn_4.txt, second_PAWN.txt" in capsys.readouterr().err
    (tmp_path / "second_PAWN.txt").unlink()
    (tmp_path / "Set_Pawn_4.txt").write_text("0, 0, 0, 1\n1, 2, 3\n")
    assert BOX.main(arguments) == 2
    assert "Set_Pawn_4.txt, line 2" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_energy_change_agrees_with_energy_csv(clumps):
    sim = chess_box.simulation("omelyan", 4e-6, 5, str(clumps))
    first, changes = sim.energy().total, []
    sim.run(2500, every=10, callback=lambda sim: changes.append(abs(sim.energy().total - first) / first))
    result = chess_box.energy_change("omelyan", 4e-6, 5, 0.01, str(clumps))
    assert result["steps"] == 2500 and result["loop_seconds"] > 0.0
    assert (result["mean_change"], result["last_change"]) == (np.mean(changes), changes[-1])
    assert result["authors_change"] == min(np.mean(changes), changes[-1]) > 0.0


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_study(clumps, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["--clumps", str(clumps), "--time", "0.05", "--steps", "4e-6,1e-6,2e-5,2.5e-4",
                 "--workers", "2", "--seeds", "2", "--out", str(out)]
    assert STUDY.main(arguments) == 1            # runs have failed
    table, curves = read(out / "table.csv") + read(out / "corrected" / "table.csv"), read(out / "curves.csv")
    assert len(table) == 4 * 4 * 2 and [row["dt"] for row in curves] == [
        "1e-06", "4e-06", "2e-05", "0.00025"] * 4
    for line in curves:
        rows = [row for row in table
                if (row["integrator"], row["contact"], row["dt"]) == (*STUDY.CURVES[line["scheme"]], line["dt"])]
        for measure in ("mean_change", "authors_change"):
            if line["dt"] == "0.00025":             # a hundred times the Rayleigh step: nothing but failures
                assert line[measure] == "" and all("FloatingPointError" in row["error"] for row in rows)
            else:
                assert float(line[measure]) == np.mean([float(row[measure]) for row in rows])
    spiral = [float(row["mean_change"]) for row in curves if row["scheme"] == "SPIRAL" and row["mean_change"]]
    assert 4.0 * spiral[0] < spiral[1]          # first order at the least
    said = capsys.readouterr().out
    assert re.search(r"SPIRAL reaches 0.0068% \(mean over time\) at [\d.]+e-05 s; published: 4.85e-6 s", said)
    made = {file: file.stat().st_mtime_ns for file in (out / "runs").iterdir()
            if '"error": null' in file.read_text()}
    assert STUDY.main([*arguments, "--quiet"]) == 1
    assert all(file.stat().st_mtime_ns == then for file, then in made.items())
    pytest.importorskip("matplotlib")
    assert (out / "figure_7.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_ctrl_c_keeps_completed_runs(clumps, tmp_path):
    command = [sys.executable, STUDY.__file__, "--clumps", str(clumps),
               "--seeds", "99", "--steps", "1e-5", "--time", "0.5", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    runs, end = tmp_path / "runs", time.monotonic() + 100.0
    while not (runs.exists() and len(list(runs.glob("[!.]*.json"))) >= 2):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert len(read(tmp_path / "table.csv")) == len(list(runs.glob("[!.]*.json"))) >= 2


@pytest.mark.parametrize("change, error, verdict", [
    (6.8e-5, 1e-5, "reproduced"), (6.8e-5, 3e-5, "too short to tell"), (6.8e-5, None, "too short to tell"),
    (1e-3, 1e-4, "not reproduced"), (1e-3, 5e-4, "too short to tell")])
def test_too_few_initial_states_give_no_verdict(change, error, verdict):
    """Half a decade either way of 6.8e-5 counts: 2.15e-5 to 2.15e-4."""
    found = []
    line = dict.fromkeys(STUDY.COLUMNS) | {"scheme": "SPIRAL", "dt": 4.85e-6, "mean_change": change,
                                           "authors_change": change, "authors_change_error": error}
    STUDY.judge(SimpleNamespace(find=found.append, say=lambda text: None), [line])
    assert [finding.verdict for finding in found] == [verdict]


def test_built_in_pieces():
    """A hundred spheres each."""
    sim = chess_box.simulation(dt=1e-6, threads=1)
    assert (sim.n_clumps, sim.n_spheres) == (32, 3200) and len(sim.contacts()) == 0
    coarse, fine = (chess_box.energy_change("spiral", dt, 1, 0.02)["mean_change"] for dt in (4e-6, 1e-6))
    assert 0.0 < 4.0 * fine < coarse            # first order at the least
