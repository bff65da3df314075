"""tools/compare_repose.py: messages and exit status without LAMMPS, the table, and rods beside LAMMPS."""
import os

import compare_repose
import numpy as np
import pytest
from installed_lammps import needs_lammps
from peers.lammps_peer import LAMMPS, run

import minidem as md
from minidem.output.lammps.dump import read_motion
from minidem.scenarios import dosta

REPOSE = compare_repose.repose
MINIMAL = ("--quick", "--count", "100", "--time", "0.06", "--seeds", "1", "--out", "out")


def test_missing_lammps_is_skipped(tmp_path, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_tool("compare_repose")
    assert done.returncode == 77 and "lammps: skipped" in done.stdout


@pytest.mark.parametrize("arguments, complaint", [
    (["--count", "1"], "at least 10"), (["--seeds", "x"], "whole number"), (["--time", "0.001"], "at least 0.02 s"),
    (["--clump", "cube"], "--clump")])
def test_a_bad_argument_is_named(arguments, complaint, run_tool):
    done = run_tool("compare_repose", *arguments)
    assert done.returncode == 2 and complaint in done.stderr


def test_table():
    """Slopes of known angles; the angle changes in the last tenth of one run."""
    middles = 0.5 * REPOSE.LENGTH * (REPOSE.STRIPS[:-1] + REPOSE.STRIPS[1:])
    angles = {("minidem", 1): 30.0, ("lammps", 1): 31.0, ("minidem", 2): 28.0, ("lammps", 2): 32.0}
    clumps = {"minidem": 100, "lammps": 110}
    rows = {run: np.array([[0.02 * k, clumps[run[0]] + run[1],
                            *(0.3 - np.tan(np.radians(angle + (run == ("lammps", 2) and k == 19))) * middles)]
                           for k in range(20)]) for run, angle in angles.items()}
    traces = {run: compare_repose.angles(values) for run, values in rows.items()}
    table = compare_repose.table_of(traces, dict.fromkeys(traces, 123.4))
    assert table[1] == ("1", "minidem", "30.00", "0.00", "101", "123")
    assert table[4] == ("2", "lammps", "32.50", "1.00", "112", "123")
    assert table[5:] == [("mean", "minidem", "29.00", "", "101.5", ""), ("mean", "lammps", "31.75", "", "111.5", ""),
                         ("spread", "minidem", "2.00", "", "1.0", ""), ("spread", "lammps", "1.50", "", "1.0", "")]


@needs_lammps
def test_rods_roll_over_the_edge_in_both_codes(tmp_path):
    """One rod on the floor along the edge, with spin, another half over it; the codes differ by less than a thousandth
    of the grain size."""
    options = REPOSE.SCENARIO.parse(["--contact", compare_repose.CONTACT, "--dt", "1e-5", "--quiet"])
    rough, smooth, pairs = REPOSE.materials(options)
    rod, floor = dosta.grain("rod", REPOSE.RADIUS, rough), REPOSE.floor(options)
    radius, turned = rod.radii[0], (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    steps, position = 5000, []
    for lowest in (floor, md.Plane((0.0, 0.0, compare_repose.LANDING), (0.0, 0.0, 1.0))):
        sim = md.Simulation(rough, [*REPOSE.walls(options, smooth), lowest], contact=options.contact, dt=options.dt,
                            gravity=(0.0, 0.0, -dosta.G), threads=1, pairs=pairs)
        sim.add_clumps(rod, [(REPOSE.LENGTH, 0.02, 0.999 * radius), (REPOSE.LENGTH + 0.003, -0.02, radius)],
                       [turned, (0.8, 0.0, 0.0, 0.6)], velocity=[(0.1, 0.0, 0.0), (0.0, 0.0, 0.0)],
                       angular_velocity=[(0.0, 5.0, 0.0), (0.0, 0.0, 0.0)])
        if lowest is floor:
            sim.run(steps)
            position.append(sim.position)
        else:
            run(LAMMPS.find(), sim, {"skin": 0.5}, 0, steps, tmp_path, compare_repose.lammps_commands(sim, floor))
            position.append(read_motion(sim, tmp_path, "end")[0]["position"])
    assert np.all(position[0][:, 0] > REPOSE.LENGTH) and np.all(position[0][:, 2] < 0.5 * radius)
    assert np.all(position[0][:, 2] > -0.5 * dosta.G * (steps * options.dt) ** 2 + 1.1 * radius)      # not in free fall
    np.testing.assert_allclose(position[1], position[0], rtol=0.0, atol=2e-3 * REPOSE.RADIUS)


@needs_lammps
def test_repose_beside_lammps(tmp_path, run_tool, monkeypatch):
    """Heights and numbers of clumps are the same at the start, and nearly so after the first moments; runs that have
    ended are kept."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"WARMUP": 1, "STEPS": 4, "REPEATS": 1}.items():
        monkeypatch.setattr(compare_repose, name, value)
    done = run_tool("compare_repose", *MINIMAL)
    assert done.returncode == 0, done.stderr
    assert "times as long as minidem" in done.stdout
    table = np.genfromtxt("out/angles.csv", delimiter=",", names=True)
    assert table["time"] == pytest.approx([0.0, 0.02, 0.04, 0.06]) and set(table["minidem_1_clumps"]) == {100.0}
    assert table["lammps_1_clumps"].tolist() == table["minidem_1_clumps"].tolist()
    kept = os.stat("out/lammps-seed-1.json").st_mtime_ns
    arguments = compare_repose.parse_arguments(MINIMAL)
    theirs, ours = (compare_repose.traced(arguments, code, 1)[0] for code in ("lammps", "minidem"))
    np.testing.assert_allclose(theirs[0], ours[0], rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(theirs, ours, rtol=0.0, atol=1e-2 * REPOSE.RADIUS)
    assert not np.array_equal(ours[0, 2:], ours[-1, 2:]) and os.stat("out/lammps-seed-1.json").st_mtime_ns == kept
