"""Files and messages of a run of a scenario."""
import dataclasses
import json
import math
from pathlib import Path
from xml.etree import ElementTree

import meshio
import numpy as np
import pytest
from rods_in_box import SCENARIO as RODS

import minidem as md
from minidem.core import progress
from minidem.scenario import plot

SCRIPT = Path(__file__).parents[2] / "scenarios" / "rods_in_box.py"
DT = 38e-6
STEPS = 2632  # the fewest that reach 0.1 s

SUMMARY_KEYS = {
    "scenario", "integrator", "dt", "steps", "time", "threads", "clumps", "spheres", "seed", "wall_seconds",
    "us_per_step", "energy_initial", "energy_final", "max_relative_energy_error",
    "lasting_relative_energy_error", "lasting_energy_rows", "contacts_max", "version"}


def table(path):
    with open(path) as file:
        header = file.readline().strip()
    return header, np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


@pytest.fixture
def undrawn(monkeypatch):
    """No energy.png, where it is like those of other tests: it takes most of the time of a short run."""
    monkeypatch.setattr(plot, "energies", lambda *_: False)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "deep" / "down"
    assert RODS.main(["--time", "0.1", "--frames", "5", "--quiet", "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def unrecorded():
    """The same run by hand, in one go."""
    sim = RODS.build(RODS.parse([]))
    sim.run(STEPS)
    return sim


def test_energy_table(run, unrecorded):
    header, rows = table(run / "energy.csv")
    assert header == ("time,translational,rotational,elastic,potential,total,lasting,elastic_tangential,"
                      "elastic_rolling,dissipated_damping,dissipated_tangential,dissipated_sliding,dissipated_rolling,"
                      "work,balance,exchanged,dissipated_fracture")
    assert len(rows) == 1001
    np.testing.assert_array_equal(rows[:, 0], DT * (np.arange(1001) * STEPS // 1000))
    energy = unrecorded.energy(shadow=True)
    assert rows[-1].tolist() == [unrecorded.time, energy.translational, energy.rotational, energy.elastic,
                                 energy.potential, energy.total, energy.lasting, *[0.0] * 7, energy.total, 0.0, 0.0]
    start = RODS.build(RODS.parse([])).energy()
    assert rows[0].tolist() == [0.0, start.translational, start.rotational, 0.0, 0.0, start.total, start.total,
                                *[0.0] * 7, start.total, 0.0, 0.0]


def test_recording_changes_no_bit(run, unrecorded):
    recorded = md.Simulation.load(run / "checkpoint.npz")
    for name in ("time", "position", "orientation", "velocity", "angular_velocity"):
        np.testing.assert_array_equal(getattr(recorded, name), getattr(unrecorded, name))


def test_summary(run, unrecorded):
    summary = json.loads((run / "summary.json").read_text())
    assert SUMMARY_KEYS <= summary.keys()
    expected = {"scenario": "rods_in_box", "integrator": "spiral", "ended": "done", "dt": DT, "steps": STEPS,
                "time": unrecorded.time, "clumps": 30, "spheres": 90, "seed": 1, "version": md.__version__,
                "energy_scale": "energy_initial", "energy_final": unrecorded.energy().total}
    assert {key: summary[key] for key in expected} == expected
    total = table(run / "energy.csv")[1][:, 5]
    assert summary["energy_initial"] == total[0]
    assert summary["max_relative_energy_error"] == np.max(np.abs(total - total[0])) / total[0] > 0
    header, observed = table(run / "observables.csv")
    assert header == "time,contacts,spin"
    assert summary["contacts_max"] == np.max(observed[:, 1]) > 0
    assert summary["observables"]["spin"] == {"initial": observed[0, 2], "final": observed[-1, 2]}
    assert 0 < summary["us_per_step"] * 1e-6 * STEPS < summary["wall_seconds"]


def test_spin_is_that_about_the_rods_axis(run, unrecorded):
    """In the body frame it is the first component: the axis of the smallest moment."""
    _, observed = table(run / "observables.csv")
    by_hand = np.sqrt(np.mean(unrecorded.body_angular_velocity[:, 0] ** 2))
    # Axes from differences of centres near 1 m over the rod's length of 0.14 m: about 8 eps, squared twice.
    assert observed[-1, 2] == pytest.approx(by_hand, rel=100 * np.finfo(float).eps)


def test_frames_and_series(run, unrecorded):
    entries = list(ElementTree.parse(run / "rods_in_box.pvd").getroot().iter("DataSet"))
    assert [float(entry.get("timestep")) for entry in entries] == [DT * (k * STEPS // 4) for k in range(5)]
    files = [run / entry.get("file") for entry in entries]
    assert sorted((run / "frames").iterdir()) == files
    last = meshio.read(files[-1])
    np.testing.assert_array_equal(last.points, unrecorded.sphere_centers().astype(np.float32))
    walls = meshio.read(run / "walls.vtu")
    assert (walls.points.min(), walls.points.max()) == pytest.approx((0.0, 1.0), abs=1e-12)


def test_picture(run):
    pytest.importorskip("matplotlib")
    assert (run / "energy.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("frames, steps", [("0", []), ("1", [20]), ("2", [0, 20]), ("99", list(range(21)))])
def test_number_of_frames(frames, steps, tmp_path, undrawn):
    """The first and the last state are among them; never more than there are states."""
    assert RODS.main(["--time", str(20 * DT), "--frames", frames, "--quiet", "--out", str(tmp_path)]) == 0
    written = sorted((tmp_path / "frames").glob("*.vtu"))
    assert [int(file.stem.rpartition("_")[2]) for file in written] == steps
    assert (tmp_path / "rods_in_box.pvd").exists() == bool(steps)
    assert len(table(tmp_path / "energy.csv")[1]) == 21


def test_a_new_run_replaces_the_old_one(tmp_path, undrawn):
    keepsake = tmp_path / "frames" / "mine.vtu"
    keepsake.parent.mkdir()
    keepsake.write_text("not of the run")
    for frames, left in ("9", 9), ("2", 2), ("0", 0):
        assert RODS.main(["--time", "0.001", "--frames", frames, "--quiet", "--out", str(tmp_path)]) == 0
        assert len(list((tmp_path / "frames").glob("rods_in_box_*.vtu"))) == left
        assert (tmp_path / "rods_in_box.pvd").exists() == (left > 0)
    assert keepsake.exists()


def test_what_it_says(tmp_path, capsys, undrawn):
    arguments = ["--time", "0.01", "--frames", "2", "--out", str(tmp_path)]
    assert RODS.main(arguments) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Energy is conserved with spiral")
    for word in (str(tmp_path), "rods_in_box.pvd", "ParaView", "minidem movie", "-m pip install matplotlib"):
        assert word in said.out
    assert said.err == ""  # no progress line in the first ten seconds where there is no terminal
    assert RODS.main([*arguments, "--quiet"]) == 0
    assert tuple(capsys.readouterr()) == ("", "")


def test_gravity_sets_the_scale_of_the_energy_error(tmp_path):
    """With a body force the zero of energy is arbitrary: errors are relative to the largest kinetic
    energy."""
    def build(options):
        sim = md.Simulation(md.Material(1e9, 0.1), dt=1e-4, gravity=(0.0, 0.0, -10.0))
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1]), [(0.0, 0.0, 5.0)])
        return sim

    falling = dataclasses.replace(RODS, build=build, observables=())
    assert falling.main(["--time", "0.5", "--frames", "0", "--quiet", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["energy_scale"] == "kinetic_max"
    rows = table(tmp_path / "energy.csv")[1]
    largest = np.max(np.abs(rows[:, 5] - rows[0, 5]))
    assert summary["max_relative_energy_error"] == largest / np.max(rows[:, 1])


def driven(t, x, v, q, w):
    """A force that does work."""
    return np.full_like(x, 3.0), np.zeros_like(x)


@pytest.mark.parametrize("change", [
    {"conservative": False}, {"forces": lambda options: [driven]},
    {"forces": lambda options: [driven], "conservative": False},
], ids=["as it says", "a force of its own", "both"])
def test_without_conservation_there_is_no_energy_error(change, tmp_path, capsys, monkeypatch, undrawn):
    """Neither in summary.json nor on the way nor in the last line."""
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.0)
    scenario = dataclasses.replace(RODS, **change)
    assert scenario.main(["--time", "0.001", "--frames", "0", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    for name in ("max_relative_energy_error", "lasting_relative_energy_error", "lasting_energy_rows",
                 "relative_energy_drift", "energy_scale"):
        assert name in summary and summary[name] is None
    assert summary["energy_final"] > 0.0
    said = capsys.readouterr()
    assert "steps/s" in said.err
    assert "error" not in said.err + said.out and "onserved" not in said.out and "total energy changed" in said.out


def test_an_energy_limit_with_a_force_of_its_own_is_refused(tmp_path, capsys):
    scenario = dataclasses.replace(RODS, forces=lambda options: [driven])
    assert scenario.main(["--energy-limit", "0.1", "--out", str(tmp_path / "out")]) == 2
    assert "--energy-limit" in capsys.readouterr().err and not (tmp_path / "out").exists()


# A step too large for contacts that never come, and squares of the largest numbers there are.
overflows = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:dt =:UserWarning")


def blowing_up(options):
    """With `euler`, a clump whose spin overflows on the way; otherwise a calm one."""
    template = md.ClumpTemplate([(0, 0, 0), (0.1, 0, 0), (0, 0.07, 0)], [0.05, 0.04, 0.03])
    sim = md.Simulation(md.Material(1e9, 0.1), rotation=options.integrator, dt=1e-3)
    w = 2e3 if options.integrator == "euler" else 1.0
    sim.add_clumps(template, [(0.0, 0.0, 0.0)], angular_velocity=[(w, 0.9 * w, 0.8 * w)])
    return sim


@overflows
@pytest.mark.parametrize("time", ["0.2", "200"], ids=["seen in the energy", "seen by the loop"])
def test_unstable_run_ends(time, tmp_path, capsys):
    """It overflows within twenty steps: rows of every step see it come, those of every 200th do not."""
    wild = dataclasses.replace(RODS, build=blowing_up, observables=())
    arguments = ["--time", time, "--frames", "3", "--out", str(tmp_path)]
    assert wild.main([*arguments, "--integrator", "euler"]) == 1
    assert "failed" in capsys.readouterr().err
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["ended"] == "not finite" and summary["steps"] < 200
    rows = table(tmp_path / "energy.csv")[1]
    assert len(rows) > 5 if time == "0.2" else len(rows) == 1
    assert np.all(np.isfinite(rows)) and summary["energy_final"] == rows[-1, 5]


@overflows
def test_comparison_goes_on_after_a_run_that_blows_up(tmp_path, capsys, undrawn):
    wild = dataclasses.replace(RODS, build=blowing_up, observables=())
    arguments = ["--time", "0.2", "--frames", "0", "--out", str(tmp_path)]
    assert wild.main([*arguments, "--compare", "euler,spiral"]) == 0
    ended = {name: json.loads((tmp_path / name / "summary.json").read_text())["ended"]
             for name in ("euler", "spiral")}
    assert ended == {"euler": "not finite", "spiral": "done"}
    assert "not finite" not in capsys.readouterr().err


def test_comparison_starts_all_from_the_same_state(tmp_path, capsys, undrawn):
    names = ["spiral", "omelyan:iterations=20", "fincham-published"]
    arguments = ["--time", "0.05", "--frames", "2", "--out", str(tmp_path)]
    assert RODS.main([*arguments, "--compare", ",".join(names)]) == 0
    folders = [tmp_path / name.replace(":", "_") for name in names]
    summaries = [json.loads((folder / "summary.json").read_text()) for folder in folders]
    assert [summary["integrator"] for summary in summaries] == names
    first, last = zip(*((folder / "energy.csv").read_text().splitlines()[1::1000][:2] for folder in folders))
    assert len(set(first)) == 1 and len(set(last)) == len(names)
    frames = [(folder / "frames" / "rods_in_box_000000000.vtu").read_bytes() for folder in folders]
    assert len(set(frames)) == 1
    said = capsys.readouterr().out
    assert all(f"with {name}:" in said for name in names)
    pytest.importorskip("matplotlib")
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")


def test_observables_that_are_not_finite_become_null(tmp_path, undrawn):
    undefined = dataclasses.replace(RODS.observables[0], value=lambda sim: math.nan)
    scenario = dataclasses.replace(RODS, observables=(undefined,))
    assert scenario.main(["--time", "0.001", "--frames", "0", "--quiet", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text(), parse_constant=pytest.fail)
    assert summary["observables"]["spin"] == {"initial": None, "final": None}
