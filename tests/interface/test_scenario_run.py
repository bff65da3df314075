"""Runs of a scenario: files, messages, what a summary says of the energy; options, refused words and folders."""
import dataclasses
import json
import math

import numpy as np
import pytest
from killed_runs import columns, frames_of
from rods_in_box import SCENARIO as RODS

import minidem as md
from minidem.accuracy.verify import verification
from minidem.core import progress
from minidem.scenario import Scenario, verified
from minidem.scenarios import module_of, paper_report

DT = 38e-6
STEPS = 2632  # the fewest that reach 0.1 s
pytestmark = pytest.mark.usefixtures("without_pictures")


def test_tables_and_summary(tmp_path):
    """A recorded run has the bits of one that is not looked at."""
    run, unrecorded = tmp_path / "deep" / "down", RODS.build(RODS.parse([]))
    assert RODS.main(["--time", "0.1", "--frames", "5", "--quiet", "--out", str(run)]) == 0
    unrecorded.run(STEPS)
    rows, summary = columns(run / "energy.csv"), json.loads((run / "summary.json").read_text())
    np.testing.assert_array_equal(rows["time"], DT * (np.arange(1001) * STEPS // 1000))
    for row, sim in (rows[0], RODS.build(RODS.parse([]))), (rows[-1], unrecorded):
        energy = sim.energy(shadow=True)
        assert row.tolist() == (sim.time, *(getattr(energy, name) for name in rows.dtype.names[1:]))
    assert md.Simulation.load(run / "checkpoint.npz").position.tobytes() == unrecorded.position.tobytes()
    expected = {"scenario": "rods_in_box", "integrator": "exact", "ended": "done", "dt": DT, "steps": STEPS,
                "time": unrecorded.time, "clumps": 30, "spheres": 90, "seed": 1, "version": md.__version__,
                "build": md.build_info(), "energy_scale": "energy_initial", "energy_final": unrecorded.energy().total}
    assert {key: summary[key] for key in expected} == expected
    total, observed = rows["total"], columns(run / "observables.csv")
    assert summary["energy_initial"] == total[0]
    assert summary["max_relative_energy_error"] == np.max(np.abs(total - total[0])) / total[0] > 0
    assert summary["lasting_relative_energy_error"] > 0 and summary["threads"] >= 1 and summary["lasting_energy_rows"]
    assert observed.dtype.names[1:] == ("contacts", "spin") and summary["contacts_max"] == max(observed["contacts"]) > 0
    assert summary["observables"]["spin"] == {"initial": observed["spin"][0], "final": observed["spin"][-1]}
    assert 0 < summary["us_per_step"] * 1e-6 * STEPS < summary["wall_seconds"]
    # The spin is about the axis of the smallest moment; axes are from differences of centres near 1 m over 0.14 m.
    by_hand = np.sqrt(np.mean(unrecorded.body_angular_velocity[:, 0] ** 2))
    assert observed["spin"][-1] == pytest.approx(by_hand, rel=100 * np.finfo(float).eps)


def test_a_new_run_replaces_the_old_one(tmp_path):
    """The first and the last state are among its frames; never more than there are states."""
    keepsake = tmp_path / "frames" / "mine.vtu"
    keepsake.parent.mkdir()
    keepsake.write_text("not of the run")
    for frames, steps in (("99", list(range(21))), ("2", [0, 20]), ("1", [20]), ("0", [])):
        assert RODS.main(["--time", str(20 * DT), "--frames", frames, "--quiet", "--out", str(tmp_path)]) == 0
        written = sorted((tmp_path / "frames").glob("rods_in_box_*.vtu"))
        assert [int(file.stem.rpartition("_")[2]) for file in written] == steps and keepsake.exists()
        listed = frames_of(tmp_path / "rods_in_box.pvd")
        assert [(float(time), tmp_path / file) for time, file in listed] == [
            (DT * step, file) for step, file in zip(steps, written)] and len(columns(tmp_path / "energy.csv")) == 21


def test_what_it_says(tmp_path, capsys):
    arguments = ["--time", "0.01", "--frames", "2", "--out", str(tmp_path)]
    assert RODS.main(arguments) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Energy is conserved with exact")
    for word in (str(tmp_path), "rods_in_box.pvd", "ParaView", "minidem movie", "-m pip install matplotlib"):
        assert word in said.out
    assert said.err == ""  # no progress line in the first ten seconds where there is no terminal
    assert RODS.main([*arguments, "--quiet"]) == 0 and tuple(capsys.readouterr()) == ("", "")


@pytest.mark.parametrize("change", [{"conservative": False}, {"forces": lambda options: [
    lambda t, x, v, q, w: (np.full_like(x, 3.0), np.zeros_like(x))]}], ids=["as it says", "a force of its own"])
def test_without_conservation_there_is_no_energy_error(change, tmp_path, capsys, monkeypatch):
    """Neither in summary.json nor on the way nor in the last line. Observables that are not finite become null."""
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.0)
    undefined = dataclasses.replace(RODS.observables[0], value=lambda sim: math.nan)
    scenario = dataclasses.replace(RODS, observables=(undefined,), **change)
    assert scenario.main(["--time", "0.001", "--frames", "0", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text(), parse_constant=pytest.fail)
    for name in ("max_relative_energy_error", "lasting_relative_energy_error", "lasting_energy_rows",
                 "relative_energy_drift", "energy_scale"):
        assert summary[name] is None
    assert summary["energy_final"] > 0.0 and summary["observables"]["spin"] == {"initial": None, "final": None}
    said = capsys.readouterr()
    assert "steps/s" in said.err
    assert "error" not in said.err + said.out and "onserved" not in said.out and "total energy changed" in said.out


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
def test_unstable_runs_end(tmp_path, capsys):
    """They overflow within twenty steps: rows of every step show it, of every 200th do not. Comparisons continue."""
    wild = dataclasses.replace(RODS, build=blowing_up, observables=())
    for time, most in (("0.2", 20), ("200", 1)):
        assert wild.main(["--time", time, "--frames", "3", "--out", str(tmp_path), "--integrator", "euler"]) == 1
        assert "failed" in capsys.readouterr().err
        summary = json.loads((tmp_path / "summary.json").read_text())
        assert summary["ended"] == "not finite" and summary["steps"] < 200
        total = np.atleast_1d(columns(tmp_path / "energy.csv")["total"])
        assert most / 4 < len(total) <= most and np.all(np.isfinite(total)) and summary["energy_final"] == total[-1]
    assert wild.main(["--time", "0.2", "--frames", "0", "--out", str(tmp_path), "--compare", "euler,spiral"]) == 0
    ended = {name: json.loads((tmp_path / name / "summary.json").read_text())["ended"] for name in ("euler", "spiral")}
    assert ended == {"euler": "not finite", "spiral": "done"} and "not finite" not in capsys.readouterr().err


# --- options and folders ---

EXPERIMENT = Scenario("nothing", "Nothing.", study=lambda options, report: None)


def test_numbers_with_error_bars(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(verified, "verification", lambda *given, **others: verification(
        *given, **others | {"workers": 0, "seeds": 2}))
    words = ["--rods", "3", "--time", "0.02", "--out", str(tmp_path)]
    assert RODS.main([*words, "--verify"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(" = ")[0] for line in said] == ["spin", "energy_final", "contacts_per_clump",
                                                      f"Files are in {tmp_path}/verify."]
    assert "converged, to rounding" in said[0] and (tmp_path / "verify" / "errors.csv").exists()
    assert RODS.main([*words, "--verify", "seeds"]) == 0
    spin = float(capsys.readouterr().out.split()[4])
    assert spin > 0.0                                                   # half-width: the seeds differ
    assert RODS.main([*words, "--verify", "--resume"]) == 2 and "--verify" in capsys.readouterr().err


@pytest.mark.parametrize("required", [False, True])
def test_help_has_defaults_that_are_functions(required, capsys):
    def add(group):
        group.add_argument("--quick", action="store_true")
        group.add_argument("--count", type=int, default=lambda options: 7, required=required)
    scenario = Scenario("pair", "Two steps.", build=None, add_options=add, defaults={
        "time": lambda options: 0.25 if options.quick else 1.5, "dt": 1e-5})
    with pytest.raises(SystemExit):
        scenario.main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "simulated time (default: 1.5; with --quick 0.25)" in text or required
    assert "simulated time (default: depends on other options)" in text or not required


def test_options():
    """Defaults are the published scenario; a box keeps the number density; integrators have several parameters."""
    options = vars(RODS.parse([]))
    expected = {"rods": 30, "box": 1.0, "integrator": "exact", "dt": 38e-6, "time": 60.0, "seed": 1,
                "frames": 200, "out": "results/rods_in_box", "compare": None, "resume": False}
    assert {name: options[name] for name in expected} == expected
    for words, box in ("--rods 7", 1.0), ("--rods 240", pytest.approx(2.0, rel=1e-15)), ("--rods 240 --box 1.5", 1.5):
        assert RODS.parse(words.split()).box == box
    options = RODS.parse(["--compare", "spiral,omelyan:iterations=20,other=2,fincham"])
    assert options.compare == ["spiral", "omelyan:iterations=20,other=2", "fincham"]


def test_a_scenario_has_only_the_options_that_it_wants():
    plain = Scenario("plain", "Nothing random in it.", build=None, defaults={"time": 1.0})
    assert not {"integrator", "compare", "dt", "seed"} & vars(plain.parse([])).keys()
    for words, message in (("--seed 3", "--seed"), ("--contact hertz", "unrecognized arguments: --contact hertz"),
                           ("--tim=3", "unrecognized arguments: --tim=3, did you mean '--time'")):
        with pytest.raises(ValueError, match=message):          # --contacts is an option
            plain.parse(words.split())


REFUSED = [         # (scenario, arguments, words of the message)
    *(("rods_in_box", *given) for given in (
        ("--integrator nosuch", "nosuch", "spiral", "omelyan"), ("--integrator omelyan:iterations=x", "iterations"),
        ("--compare spiral,nosuch", "nosuch", "omelyan"), ("--compare spiral,spiral", "--compare", "spiral,spiral"),
        ("--compare spiral,,omelyan", "--compare"), ("--integrator spiral --compare omelyan", "--compare"),
        ("--dt 0", "--dt", "above 0"), ("--dt nan", "--dt", "finite"),
        ("--dt fast", "--dt", "fast"),
        ("--time 0", "--time", "above 0"), ("--rods 0", "--rods", "at least 1"), ("--rods 2.5", "--rods", "2.5"),
        ("--rods 300 --box 0.7", "300 clumps", "solid fraction"), ("--box -1", "--box", "above 0"),
        ("--seed -1", "--seed", "at least 0"), ("--fields velocity,speed", "--fields", "'speed'", "orientation"),
        ("--threads 0", "--threads", "at least 1"), ("--resume", "--resume", "no checkpoint"),
        ("--nosuch", "--nosuch"), ("stray", "stray"), ("--energy-limit 0", "--energy-limit"),
        ("--track-every 0.1", "--track-every"), ("--track all --frames 1", "--track"), ("--track 0", "--track"),
        ("--track some", "--track"), ("--contacts --frames 0", "--contacts"))),
    ("clump_gas", "--count 2", "at least 10"), ("clump_gas", "--count 10 --fraction 0.6", "solid fraction"),
    ("dense_rods", "--rods 0", "--rods"), ("dense_rods", "--fraction 0", "--fraction"),
    ("dense_rods", "--thermalise -1", "--thermalise"), ("dense_rods", "--rods 100 --fraction 0.7", "solid fraction"),
    ("incline", "--contact hertz", "hertz-mindlin"), ("incline", "--friction 0", "above 0"),
    ("oblique_impact", "--contact hertz", "hertz-mindlin"), ("oblique_impact", "--resolution 3", "at least 20"),
    ("settling", "--shape cube", "choose from"), ("settling", "--friction -1", "friction"),
    ("settling", "--restitution 2", "restitution"), ("falling_fibres", "--fibres 2", "choose from"),
    *((study, *given) for study in ("energy_pareto", "rods_energy_study") for given in (
        ("--integrators spiral spirall", "--integrators: rotation is 'spirall', did you mean 'spiral'? It must be one"),
        ("--integrators spiral spiral", "contains a name twice"), ("--workers 0", "--workers"))),
    ("energy_pareto", "--contact hertzz", "--contact: contact is 'hertzz', did you mean 'hertz'? It must be one of"),
    ("energy_pareto", "--time 1e-5 --steps 2e-5", "less than the step"),
    ("energy_pareto", "--seeds 0", "--seeds"), ("energy_pareto", "--steps 0", "--steps"),
    ("rods_energy_study", "--time 0.001", "less than 50 steps"),
    ("forced_sphere", "--dt 1e-4", "--dt"), ("forced_cylinder", "--smallest-step 1e-3", "--smallest-step"),
    ("spinning_top", "--time 0.01", "--time"), ("coupled_cylinders", "--dt 0.1", "--dt"),
    ("tennis_racket", "--tilt 0.6", "--tilt"),
    ("chess_energy_study", "--workers 2 --scheduler tcp://here:1", "--workers and --scheduler"),
    ("chess_energy_study", "--steps 1e-6,0", "--steps"), ("chess_energy_study", "--steps 2.0", "--time"),
    ("impact", "--particles bed.txt --clump rod", "leave one of them out"),
    ("impact", "--quick --particles nothing.txt", "no line with radius x y z"),
    ("impact", "--quick --particles short.txt", "in line 2"),
    ("impact", "--quick --particles words.txt", "not four numbers"),
    ("drum", "--soft --particles large.txt", "a radius of 0.003 m"),
    ("drum", "--soft --particles large.txt --clump rod", "leave one"),
    *((name, "--steps 1", "--steps") for name in ("custom_integrator", "custom_law", "capillary_bridge",
                                                  "cohesive_slope"))]
PARTICLES = {"nothing": "", "short": "0.001 0 0\n0.001 0 0 0\n", "words": "0.001 0 0 nought\n0.001 0 0 0\n",
             "large": "0.003 0.0 0.0 0.0\n"}


@pytest.mark.parametrize("name, arguments, messages", [(name, words, messages) for name, words, *messages in REFUSED])
def test_bad_arguments_are_refused_before_anything_is_written(name, arguments, messages, here, capsys):
    for file, rows in PARTICLES.items():
        (here / f"{file}.txt").write_text("radius x y z\n" + rows)
    assert module_of(name).main([*arguments.split(), "--out", "out"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"{name}: error: ") and said.err.count("\n") == 1
    for word in messages:
        assert word in said.err
    assert all(path.suffix == ".txt" for path in here.iterdir())


def test_folders_that_are_refused(here, capsys):
    """Before any work: names that are none, files, and what cannot be made."""
    def never(options):
        raise AssertionError("work was begun")
    (here / "file").write_text("mine")
    scenario = Scenario("never", "Never built.", never, {"time": 1.0, "integrator": "spiral", "dt": 1e-5})
    for main in (scenario.main, lambda words: scenario.main([*words, "--compare", "spiral,rk4"]), EXPERIMENT.main,
                 paper_report.main):
        assert main(["--out="]) == 2 and "'' is no folder" in capsys.readouterr().err
    with pytest.raises(ValueError, match="'' is no folder"):
        EXPERIMENT.run_into("")
    for main in (RODS.main, EXPERIMENT.main):
        for place in ("file", "file/below", "/proc/nosuch/below"):
            assert main(["--out", place]) == 2 and "--out" in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["file"] and (here / "file").read_text() == "mine"
