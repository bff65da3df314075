"""Runs that are continued leave the same files, to the last bit, as uninterrupted ones; with dissipation, too."""
import dataclasses
import json
import os
import signal

import conveyor
import meshio
import numpy as np
import pytest
from killed_runs import columns, content, watching
from rods_in_box import SCENARIO as RODS
from scenes import BALL, ELASTIC, ROLLING, settling

import minidem as md
from minidem.accuracy import verify_certificate
from minidem.analysis.energy import DISSIPATED
from minidem.initial import Inlet, Outlet
from minidem.output.table import Table
from minidem.scenario import Scenario, phases, plot
from minidem.scenario.record import ENERGIES

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")
SAVE = plot.save        # what the fixture replaces
RUN = ["--time", "0.2", "--frames", "6", "--seed", "3", "--checkpoint-every", "0.03", "--quiet"]


def main(out, *arguments, scenario=RODS):
    return scenario.main([*RUN, *arguments, "--out", str(out)])


@pytest.fixture(scope="module")
def uninterrupted(few_rows, tmp_path_factory):
    out = tmp_path_factory.mktemp("uninterrupted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "save", SAVE)
        assert main(out) == 0
    return out


def test_certificates_of_continued_runs(tmp_path):
    """Links at the steps of an uninterrupted run with its states; another run in the folder begins anew."""
    def spin(sim):
        if sim.time > 0.11:
            os.kill(os.getpid(), signal.SIGINT)
        return RODS.observables[0].value(sim)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert main(whole, "--certify", "4") == 0
    assert main(broken, "--certify", "4", scenario=watching(spin)) == 130
    assert len(json.loads((broken / "run.json").read_text())["links"]) == 3
    assert main(broken, "--resume") == 0
    one, two = (json.loads((out / "run.json").read_text())["links"] for out in (whole, broken))
    assert [link["state"] for link in one] == [link["state"] for link in two] and len(one) == 5
    assert verify_certificate(broken / "run.json", links=[1, 3]).problems == ()
    assert main(broken) == 0 and not (broken / "run.json").exists()
    assert not list((broken / "run.checkpoints").glob("*.npz"))


def test_certificate_of_a_scenario_that_exchanges_clumps(tmp_path):
    """An outlet and a user force, which no checkpoint holds: the scenario loads both, and without them nothing holds.
    Links are not at the steps of the exchange."""
    def pull(time, position, velocity, orientation, spin):
        return [(0.0, 0.0, -0.1)] * len(position), 0.0 * position

    floor = Outlet((-9, -9, -9), (9, 9, 0.4))
    emptied = dataclasses.replace(RODS, exchange=lambda options: (70, floor), forces=lambda options: [pull])
    assert main(tmp_path, "--certify", "4", scenario=emptied) == 0
    found = verify_certificate(tmp_path / "run.json", load=emptied.load)
    assert found.problems == () and len(found.checked) == 4 and len(found.outside) == 2
    assert emptied.load(tmp_path / "run.checkpoints" / "0.npz")[0].n_clumps == 30
    assert 0 < md.Simulation.load(tmp_path / "checkpoint.npz").n_clumps < 30

    def without_outlet(path, threads):
        return emptied.load(path, threads)[0]

    assert "clumps here" in verify_certificate(tmp_path / "run.json", load=without_outlet).problems[-1]
    assert "cannot be run" in verify_certificate(tmp_path / "run.json").problems[0]


def test_infinite_walls_cover_where_clumps_have_been(tmp_path):
    """A rod flies a metre above a plane; walls.vtu is also the same after an interruption."""
    def build(options):
        sim = md.Simulation(md.Material(1e9, 0.1), [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-4)
        sim.add_clumps(md.ClumpTemplate([(-0.05, 0, 0), (0, 0, 0), (0.05, 0, 0)], [0.1] * 3), [(0, 0, 0.2)],
                       velocity=(5.0, 0, 0))
        return sim
    def spin(sim):
        if sim.time > 0.11:
            os.kill(os.getpid(), signal.SIGINT)
        return RODS.observables[0].value(sim)
    flying, whole, broken = dataclasses.replace(RODS, build=build), tmp_path / "whole", tmp_path / "broken"
    assert main(whole, scenario=flying) == 0
    assert main(broken, scenario=dataclasses.replace(watching(spin), build=build)) == 130
    there, kept = content(broken)["summary.json"], md.Simulation.load(broken / "checkpoint.npz")
    assert there["ended"] == "interrupted"
    assert (kept.time, kept.energy().total) == (there["time"], there["energy_final"])
    assert main(broken, "--resume", scenario=flying) == 0 and content(broken) == content(whole)
    corners = meshio.read(whole / "walls.vtu").points
    assert corners[:, 0].min() <= -0.15 and 1.15 <= corners[:, 0].max() < 1.4 and not corners[:, 2].any()


def test_a_longer_time_continues_a_finished_run(uninterrupted, tmp_path, capsys):
    """Rows and frames continue at the pace of the first run; the state is that of one long run."""
    assert main(tmp_path, "--time", "0.05", "--frames", "3") == 0 and main(tmp_path, "--resume") == 0
    ours, long = content(tmp_path), content(uninterrupted)
    assert ours["checkpoint.npz"][1] == long["checkpoint.npz"][1]
    times = [line.split(b",")[0] for line in ours["energy.csv"].splitlines()[1:]]
    assert len(times) == len(set(times)) and times == sorted(times, key=float) and 400 <= len(times) <= 402
    assert ours["energy.csv"].splitlines()[-1] == long["energy.csv"].splitlines()[-1]
    assert ours["rods_in_box.pvd"].count(b"timestep") == len(list((tmp_path / "frames").iterdir())) in (9, 10)
    (tmp_path / "energy.csv").unlink()
    assert main(tmp_path, "--resume") == 2 and "energy.csv is missing" in capsys.readouterr().err


def test_a_finished_run_stays_as_it_is(uninterrupted):
    before = content(uninterrupted)
    assert main(uninterrupted, "--resume") == 0 and content(uninterrupted) == before


@pytest.mark.parametrize("arguments, named", [
    ("--rods 29", "--rods: 29 here, but 30"), ("--box 1.25", "--box: 1.25 here, but 1.0"),
    ("--rods 40", "--rods: 40 here, but 30"),           # --box follows --rods, and is not what was given
    ("--dt 1e-5", "--dt: 1e-05 here, but 3.8e-05"), ("--seed 4", "--seed: 4 here, but 3"),
    ("--integrator omelyan", "--integrator: omelyan here, but exact"),
    ("--time 0.1", "--time: 0.1 s is before the checkpoint")])
def test_changed_physics_is_refused(arguments, named, uninterrupted, capsys):
    before = content(uninterrupted)
    assert main(uninterrupted, "--resume", *arguments.split()) == 2 and f"error: {named}" in capsys.readouterr().err
    assert content(uninterrupted) == before


def test_comparisons(tmp_path, capsys, monkeypatch):
    """All runs start from the same state; an interrupted comparison continues where it was."""
    names = ["spiral", "omelyan:iterations=20", "fincham"]
    words = ["--time", "0.05", "--frames", "2", "--compare", ",".join(names)]
    def spin(sim):
        if sim.rotation == names[1] and sim.time > 0.02:
            os.kill(os.getpid(), signal.SIGINT)
        return 0.0
    calm, parts, whole = watching(lambda sim: 0.0), tmp_path / "parts", tmp_path / "whole"
    assert main(parts, *words, scenario=watching(spin)) == 130 and not (parts / "fincham").exists()
    assert main(parts, *words, "--resume", scenario=calm) == 0
    monkeypatch.setattr(plot, "save", SAVE)
    monkeypatch.setattr(plot, "energies", lambda *_: False)
    capsys.readouterr()
    assert calm.main([*words, *RUN[4:-1], "--out", str(whole)]) == 0
    said = capsys.readouterr().out
    assert all(f"with {name}:" in said for name in names) and (whole / "compare.png").exists()
    folders = [name.replace(":", "_") for name in names]
    runs = [content(whole / name) for name in folders]
    assert [content(parts / name) for name in folders] == runs
    assert [run["summary.json"]["integrator"] for run in runs] == names
    assert len({run["energy.csv"].splitlines()[1] for run in runs}) == 1 == len(
        {run["frames/rods_in_box_000000000.vtu"] for run in runs})
    assert len({run["energy.csv"].splitlines()[-1] for run in runs}) == len(names)


# --- with dissipation ---

def wind(t, x, v, q, w):
    return np.tile([3.0, 0.0, 0.0], (len(x), 1)), np.zeros(3)


DISSIPATIVE = Scenario("settling", "Clumps that come to rest.",
                       lambda options: settling(options.dt, options.contact), forces=lambda options: [wind],
                       wall_forces=True, defaults={"integrator": "spiral", "contact": ROLLING, "dt": 1e-4, "time": 0.1,
                                                   "frames": 0})


def test_balance_and_forces_on_walls(tmp_path, monkeypatch, capsys):
    """The same from a run that is continued from the checkpoint before its last one."""
    out, parts = tmp_path / "whole", tmp_path / "parts"
    assert DISSIPATIVE.main(["--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert DISSIPATIVE.main(["--quiet", "--out", str(parts), "--checkpoint-every", "0.03"]) == 0
    (parts / "checkpoint.npz").unlink()
    assert DISSIPATIVE.main(["--quiet", "--out", str(parts), "--resume"]) == 0
    for name in ("energy.csv", "observables.csv", "walls.csv"):
        assert (parts / name).read_text() == (out / name).read_text()
    sim = md.Simulation.load(out / "checkpoint.npz")
    sim.forces.add(wind)
    rows, energy = columns(out / "energy.csv"), sim.energy()
    assert rows.dtype.names == ("time", *ENERGIES) and np.isnan(rows["lasting"]).all() and energy.work > 0.0
    assert all(rows[name][-1] == getattr(energy, name) for name in ENERGIES if name != "lasting")
    for name in DISSIPATED:
        assert rows[name][0] == 0.0 and (rows[name][-1] > 0.0) == (name != "dissipated_fracture")
        assert np.diff(rows[name]).min() >= -1e-9 * energy.dissipated
    found = content(out)["summary.json"]
    supplied = rows["total"][0] - rows["potential"][0] + np.max(
        rows["potential"][0] - rows["potential"] + rows["work"])
    error = np.max(np.abs(rows["balance"] - rows["balance"][0])) / supplied
    assert found["energy_balance_error"] == pytest.approx(error, rel=1e-12) and 0.0 < error < 5e-4
    stored = Table(out / "energy.csv", ENERGIES, lambda time: True)
    curves = plot.stacked(stored)                                                       # of the picture
    np.testing.assert_allclose(rows["balance"] - sum(curves.values()), rows["potential"].min(), rtol=1e-9)
    assert all(np.any(curve) == (name != "fracture") for name, curve in curves.items())
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(plot, "save", SAVE)
    plot.energies(out / "energy.png", stored, "settling")
    assert (out / "energy.png").read_bytes().startswith(b"\x89PNG")
    assert f"dissipation and work, is constant within {error:.1e} of the energy put in" in said
    walls = columns(out / "walls.csv")
    assert len(walls) == 101 and len(walls.dtype) == 1 + 6 * 6
    for k in range(6):
        for kind, vector in (("force", sim.walls.force(k)), ("torque", sim.walls.torque(k))):
            assert [walls[f"wall_{k}_{kind}_{axis}"][-1] for axis in "xyz"] == vector.tolist()
    assert walls["wall_4_force_z"].min() < -50.0 and walls["wall_4_force_z"][0] == 0.0


def test_the_energy_limit_applies_to_the_balance(tmp_path, capsys):
    words = ["--time", "0.02", "--quiet", "--out", str(tmp_path), "--energy-limit"]
    alone = dataclasses.replace(DISSIPATIVE, forces=None)
    assert alone.main([*words, "0.01"]) == 0 and alone.main([*words, "1e-7"]) == 1
    assert "is beyond --energy-limit 1e-07" in capsys.readouterr().err


def test_new_clumps_are_no_energy_error(tmp_path):
    """Of an inlet, without a contact: the total energy grows, and its balance stays."""
    def build(options):
        sim = md.Simulation(ELASTIC, dt=1e-4)
        sim.add_clumps(BALL, (-1, -1, -1), velocity=(0, 0, -3))
        return sim
    fed = Scenario("fed", "", build, {"time": 0.02, "frames": 0}, exchange=lambda options: (
        20, Inlet(BALL, (0, 0, 0), (9, 9, 9), rate=1000.0, velocity=(0, 0, 3), every=20, seed=1)))
    assert fed.main(["--quiet", "--out", str(tmp_path), "--energy-limit", "1e-9"]) == 0
    total = columns(tmp_path / "energy.csv")["total"]
    assert total[-1] == pytest.approx(20 * total[0], rel=0.1)


def test_phases_of_a_continued_run(tmp_path):
    """A gate opens and closes again, an outlet counts what has left: a run that is continued has equal bits."""
    scene = dataclasses.replace(conveyor.SCENARIO, exchange=lambda options: phases(options.dt, 2e-3, {
        0.01: lambda sim: sim.walls.move("gate", velocity=(-2.0, 0.0, 0.0)), 0.03: lambda sim: sim.walls.move("gate")},
        Outlet((-1.0, -1.0, -1.0), (1.0, 1.0, 0.015))))
    words = ["--quiet", "--grains", "20", "--frames", "0"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert scene.main([*words, "--time", "0.1", "--out", str(whole)]) == 0
    for time, more in ("0.013", []), ("0.03", ["--resume"]), ("0.1", ["--resume"]):
        assert scene.main([*words, "--time", time, *more, "--out", str(broken)]) == 0
    one, two = (md.Simulation.load(out / "checkpoint.npz") for out in (whole, broken))
    assert one.walls.at_rest[0].points[0, 0] == pytest.approx(-conveyor.SIDE - 0.04)
    assert one.n_clumps < 20 and one.outflow == two.outflow
    assert one.position.tobytes() == two.position.tobytes() and one.velocity.tobytes() == two.velocity.tobytes()


@pytest.mark.parametrize("changes, said", [
    ({0.0: len}, "changes = 0.0"), ({0.001: len}, "give a smaller interval"),
    ({0.1: len, 0.101: len}, "the same multiple"), ({0.1: 3}, "changes\\[0.1\\] = 3: give a function")])
def test_phases_that_cannot_be(changes, said):
    with pytest.raises(ValueError, match=said):
        phases(1e-4, 0.01, changes)
