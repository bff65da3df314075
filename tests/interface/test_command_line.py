"""python -m minidem: commands, scenarios, self-test, errors."""
import os
import subprocess
import sys
from pathlib import Path

import drum
import pytest

import minidem as md
from minidem import __main__ as command_line, selftest
from minidem.core import interpreter
from minidem.core.interpreter import this_python
from minidem.scenarios.collisions import oblique_impact

ROOT = Path(__file__).parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def minidem(*words, folder=None, status=0):
    """What `python -m minidem` prints; on failure what it prints as an error."""
    done = subprocess.run([sys.executable, "-m", "minidem", *map(str, words)], cwd=folder, capture_output=True,
                          text=True, timeout=300, env=ENVIRONMENT)
    assert done.returncode == status, done.stderr
    return done.stderr if status else done.stdout


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_all_commands_are_listed(words, capsys):
    assert command_line.main(words) == 0
    text = capsys.readouterr().out
    assert all(f"\n    {name} " in text for name in command_line.COMMANDS)


def test_scenarios_have_a_line_each(capsys):
    assert command_line.main(["scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(interpreter.scenario_scripts())
    assert "rods_in_box           Rods of three spheres bounce in a box without gravity, friction or damping." in lines


@pytest.mark.parametrize("words, unbuffered", [
    (["scenarios"], ""), (["run", "oblique_impact", "--help"], "1"), *(
        pytest.param(*case, marks=pytest.mark.slow) for case in (
            (["scenarios"], "1"), (["--help"], ""), (["run", "drum", "--help"], "")))])
def test_a_reader_that_has_ended_is_no_error(words, unbuffered):
    """As in `minidem scenarios | head`: here the pipe is closed before anything is written."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "minidem", *words], stdout=writer, stderr=subprocess.PIPE, text=True,
                          timeout=300, env=ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered})
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_shows_commands_that_work(tmp_path, monkeypatch, capsys):
    """Those of minidem in a wheel, which has the scenarios in the package; scripts in a source tree."""
    def shown(program):
        with pytest.raises(SystemExit):
            program.main(["--help"])
        return capsys.readouterr().out

    in_tree = shown(drum)
    assert in_tree.startswith("usage: python scenarios/drum.py [") and "\n    python scenarios/drum.py --q" in in_tree
    assert shown(oblique_impact).startswith("usage: python scenarios/collisions/oblique_impact.py [")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "drum.py").touch()
    monkeypatch.setattr(interpreter, "PACKAGE", tmp_path)
    in_wheel = shown(drum)
    assert in_wheel.startswith("usage: minidem run drum [") and "\n    minidem run drum --soft --thr" in in_wheel
    assert "python scenarios" not in in_wheel
    assert shown(oblique_impact).startswith("usage: oblique_impact [")         # as of a script of a user's own


def test_run_is_the_same_as_the_script(tmp_path, path_without_matplotlib, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", path_without_matplotlib)         # pictures take most of the time
    words = "--time", "0.005", "--frames", "0", "--quiet", "--out"
    minidem("run", "rods_in_box", *words, tmp_path / "command", folder=tmp_path)
    subprocess.run([sys.executable, ROOT / "scenarios" / "rods_in_box.py", *words, tmp_path / "script"], check=True,
                   env=ENVIRONMENT)
    one, other = ((tmp_path / name / "energy.csv").read_bytes() for name in ("command", "script"))
    assert one == other and one.count(b"\n") > 100


def test_run_of_a_scenario_that_imports_another(tmp_path):
    text = minidem("run", "impact", "--help", folder=tmp_path)
    assert text.startswith("usage: python scenarios/impact.py ") and "--particles FILE" in text


def test_run_passes_on_the_exit_status(tmp_path):
    assert "rods_in_box: error: argument --time" in minidem("run", "rods_in_box", "--time", "-1", folder=tmp_path,
                                                            status=2)


@pytest.mark.slow
def test_run_of_a_study_in_several_processes(tmp_path):
    """Its function is imported by worker processes."""
    minidem("run", "rods_energy_study", "--quick", "--time", "0.02", "--workers", "2", "--out", tmp_path / "study",
            folder=tmp_path)
    assert (tmp_path / "study" / "table.csv").read_text().count("\n") > 3


@pytest.mark.parametrize("words, message", [
    (["runs"], "there is no command 'runs'; known are scenarios, run,"),
    (["run"], "run: give the name of a scenario"),
    (["run", "rods"], "run: there is no scenario 'rods'; known are "),
    (["run", "./my.py"], f"run: './my.py' is a script, not the name of a scenario; run it with {this_python()} ./my"),
    (["movie", "--secnds", "1", "x"], "unrecognized arguments: --secnds x, did you mean '--seconds'?"),
    (["version", "--long"], "version: '--long' is unknown"),
    (["selftest", "fast"], "selftest: 'fast' is unknown"),
])
def test_bad_arguments(words, message, capsys):
    assert command_line.main(words) == 2
    assert f"minidem: error: {message}" in capsys.readouterr().err


def test_version_has_the_build(capsys):
    assert command_line.main(["version"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if " " in line.strip())
    build = md.build_info()
    assert lines["version"] == md.__version__ and lines["compiler"] == build["compiler"]
    assert list(build) == ["version", "isa", "isa_levels", "openmp", "compiler"]


@pytest.mark.filterwarnings("error")
def test_selftest_passes(capsys):
    assert command_line.main(["selftest"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == len(selftest.CHECKS) and all(line.startswith("ok ") for line in lines)
    assert last.startswith(f"{len(lines)} of {len(lines)} checks passed in ")


def only(monkeypatch, check):
    """Leave one check; return its name."""
    name, = (name for name, (function, _) in selftest.CHECKS.items() if function is check)
    monkeypatch.setattr(selftest, "CHECKS", {name: selftest.CHECKS[name]})
    return name


def wrong_order(monkeypatch):
    integrate = md.rotation.integrate
    monkeypatch.setattr(md.rotation, "integrate",
                        lambda name, **how: integrate("euler" if name == "spiral" else name, **how))


def one_step_more(monkeypatch):
    load = md.Simulation.load

    def loaded(path):
        sim = load(path)
        sim.run(1)
        return sim

    monkeypatch.setattr(md.Simulation, "load", loaded)


def large_step(monkeypatch):
    monkeypatch.setattr(selftest, "STEP", 4 * selftest.STEP)


def unstable_step(monkeypatch):
    monkeypatch.setattr(selftest, "STEP", 20 * selftest.STEP)


def other_restitution(monkeypatch):
    monkeypatch.setattr(selftest, "GLASS", md.Material(1e7, 0.2, restitution=0.51, friction=0.3))


@pytest.mark.filterwarnings("ignore:dt = :UserWarning")
@pytest.mark.parametrize("check, fault, message", [
    (selftest.orders, wrong_order, "limit 0.1"), (selftest.checkpoint, one_step_more, "limit 0"),
    (selftest.energy, large_step, "limit 0.0001"), (selftest.energy, unstable_step, "FloatingPointError: step "),
    (selftest.restitution, other_restitution, "limit 0.002"),
])
def test_selftest_fails_for_wrong_results(check, fault, message, monkeypatch, capsys):
    name = only(monkeypatch, check)
    fault(monkeypatch)
    assert command_line.main(["selftest"]) == 1
    line, last = capsys.readouterr().out.splitlines()
    assert line.startswith("FAILED") and name in line and message in line
    assert last.startswith("0 of 1 checks passed")


def test_the_command_for_a_movie_works_as_shown(tmp_path):
    """Also where this Python is not the first on the path, as in a venv that is not active."""
    elsewhere = ENVIRONMENT | {"PATH": "/bin:/usr/bin"}
    words = "run", "rods_in_box", "--time", "0.01", "--frames", "2", "--out", "my results"
    done = subprocess.run([sys.executable, "-m", "minidem", *words], cwd=tmp_path, capture_output=True, text=True,
                          check=True, env=elsewhere)
    assert "matplotlib" not in done.stdout
    command = done.stdout.splitlines()[-1]
    assert command.endswith(" -m minidem movie 'my results'")
    subprocess.run(f"{command} --help", shell=True, cwd=tmp_path, check=True, env=elsewhere)


def test_this_python_is_named_as_shortly_as_possible(monkeypatch, tmp_path):
    for folder in ("one", "other"):
        program = tmp_path / folder / "bin" / "python"
        program.parent.mkdir(parents=True)
        program.symlink_to(sys.executable)          # as in a venv
    monkeypatch.setattr(sys, "executable", str(tmp_path / "one" / "bin" / "python"))
    for first, here, said in (("one", tmp_path, "python"), ("other", tmp_path, "one/bin/python"),
                              ("other", tmp_path / "other", sys.executable)):
        monkeypatch.setenv("PATH", str(tmp_path / first / "bin"))
        monkeypatch.chdir(here)
        assert this_python() == said


def test_a_missing_package_is_named(tmp_path):
    """It is not a reason to build minidem again."""
    code = "import sys; sys.modules['scipy'] = None; import minidem"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 1 and "scipy" in done.stderr.splitlines()[-1] and "stale" not in done.stderr
