"""python -m minidem: commands, scenarios, self-test, errors, progress; help(minidem), and what describes a build."""
import io
import os
import pydoc
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import drum
import pytest
from examples import ROOT
from processes import python
from scenes import BALL

import minidem as md
from minidem import __main__ as command_line, selftest
from minidem.core import interpreter, progress
from minidem.core.interpreter import this_python
from minidem.core.processors import available_processors, quotas
from minidem.scenarios.collisions import oblique_impact

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def test_what_commands_list(capsys):
    for words in ([], ["--help"], ["-h"], ["help"]):
        assert command_line.main(words) == 0
        text = capsys.readouterr().out
        assert all(f"\n    {name} " in text for name in command_line.COMMANDS)
    assert command_line.main(["scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(interpreter.scenario_scripts())
    assert "rods_in_box           Rods of three spheres bounce in a box without gravity, friction or damping." in lines
    assert command_line.main(["version"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if " " in line.strip())
    assert lines["version"] == md.__version__ and lines["compiler"] == md.build_info()["compiler"]


def test_a_reader_that_has_ended_is_no_error():
    """As in `minidem run ... | head`: here the pipe is closed before anything is written."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "minidem", "run", "oblique_impact", "--help"], stdout=writer,
                          stderr=subprocess.PIPE, text=True, timeout=300, env=ENVIRONMENT | {"PYTHONUNBUFFERED": "1"})
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


def test_a_run_and_the_command_for_a_movie_that_it_shows(tmp_path):
    """Run as a command and as a script, also in a venv that is not active and has no matplotlib; the same results."""
    (tmp_path / "matplotlib.py").write_text('raise ModuleNotFoundError("No module named matplotlib")')
    elsewhere = {"PATH": "/bin:/usr/bin", "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])}
    words = "--time", "0.005", "--frames", "2", "--out"
    for program, out in ((["-m", "minidem", "run", "rods_in_box"], "my results"),
                         ([ROOT / "scenarios" / "rods_in_box.py"], "script")):
        command = python(*program, *words, out, cwd=tmp_path, env=os.environ | elsewhere).stdout.splitlines()[-1]
    one, other = ((tmp_path / name / "energy.csv").read_bytes() for name in ("my results", "script"))
    assert one == other and one.count(b"\n") > 100 and command.endswith(" -m minidem movie script")
    subprocess.run(f"{command} --help", shell=True, cwd=tmp_path, check=True, env=os.environ | elsewhere)


@pytest.mark.parametrize("words, message", [
    (["runs"], "there is no command 'runs'; known are scenarios, run,"),
    (["run"], "run: give the name of a scenario"), (["run", "rods"], "run: there is no scenario 'rods'; known are "),
    (["run", "rods_in_bx"], "did you mean 'rods_in_box'?"), (["scenario"], "did you mean 'scenarios'?"),
    (["run", "./my.py"], f"run: './my.py' is a script, not the name of a scenario; run it with {this_python()} ./my"),
    (["movie", "--secnds", "1", "x"], "unrecognized arguments: --secnds x, did you mean '--seconds'?"),
    (["version", "--long"], "version: '--long' is unknown"), (["selftest", "fast"], "selftest: 'fast' is unknown")])
def test_bad_arguments(words, message, capsys):
    assert command_line.main(words) == 2
    said = capsys.readouterr().err
    assert "minidem: error: " in said and message in said


@pytest.mark.filterwarnings("error")
def test_selftest_passes(capsys):
    assert command_line.main(["selftest"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == len(selftest.CHECKS) and all(line.startswith("ok ") for line in lines)
    assert last.startswith(f"{len(lines)} of {len(lines)} checks passed in ")


def wrong_order(patch):
    integrate = md.rotation.integrate
    patch.setattr(md.rotation, "integrate", lambda name, **how: integrate("euler" if name == "spiral" else name, **how))


@pytest.mark.filterwarnings("ignore:dt = :UserWarning")
@pytest.mark.parametrize("check, fault, message", [
    (selftest.orders, wrong_order, "limit 0.1"),
    (selftest.energy, lambda patch: patch.setattr(selftest, "STEP", 4 * selftest.STEP), "limit 0.0001"),
    (selftest.energy, lambda patch: patch.setattr(selftest, "STEP", 20 * selftest.STEP), "FloatingPointError: step "),
    (selftest.restitution, lambda patch: patch.setattr(
        selftest, "GLASS", md.Material(1e7, 0.2, restitution=0.51, friction=0.3)), "limit 0.002")])
def test_selftest_fails_for_wrong_results(check, fault, message, monkeypatch, capsys):
    name, = (name for name, (function, _) in selftest.CHECKS.items() if function is check)
    monkeypatch.setattr(selftest, "CHECKS", {name: selftest.CHECKS[name]})
    fault(monkeypatch)
    assert command_line.main(["selftest"]) == 1
    line, last = capsys.readouterr().out.splitlines()
    assert line.startswith("FAILED") and name in line and message in line and last.startswith("0 of 1 checks passed")


NOON = 1_700_049_600.0          # 2023-11-15 12:00:00 UTC


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress(monkeypatch):
    """Of a run of a thousand steps a second, updated every ten seconds: dated lines in a file, one on a terminal."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(
        perf_counter=lambda: now.seconds, time=lambda: NOON + now.seconds, localtime=time.gmtime,
        strftime=lambda form, moment=None: time.strftime(form, moment or time.gmtime(NOON + now.seconds))))
    def shown(stream, hours, quiet=False):
        now.seconds = 0.0
        line = progress.Line(quiet, stream)
        for now.seconds in range(10, round(3600 * hours) + 1, 10):
            line.update(lambda: f"step {1000 * now.seconds} of 86400000", now.seconds / 86400)
        return stream.getvalue()
    lines = shown(io.StringIO(), 24).splitlines()
    assert lines[0] == "2023-11-15 12:00:10 step 10000 of 86400000, 23 h 59 min left, end about 2023-11-16 12:00:00"
    seconds = [0, *(int(re.search(r"step (\d+)000 of", line)[1]) for line in lines)]
    intervals = [later - earlier for earlier, later in zip(seconds, seconds[1:])]
    assert intervals[:7] == [10, 20, 40, 80, 160, 320, 600] and set(intervals[7:]) == {600} and len(lines) < 150
    text = shown(Terminal(), 0.01)
    assert text.count("\r") == 3 and text.startswith(
        "\rstep 10000 of 86400000, 23 h 59 min left\x1b[K\rstep 20000 of 86400000")
    assert shown(io.StringIO(), 0.1, quiet=True) == shown(Terminal(), 0.1, quiet=True) == ""


@pytest.mark.parametrize("every", [None, 1000])
def test_progress_of_a_script(every, monkeypatch, capsys):
    """The step and the time left, also between callbacks; none without the argument, and an error for no flag."""
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.0)
    sim, calls = md.Simulation(md.Material(1e7, 0.3), dt=1e-3), []
    sim.add_clumps(BALL, (0.0, 0.0, 0.0))
    sim.run(3)
    callbacks = {"every": every, "callback": calls.append} if every else {}
    sim.run(2997, progress=True, **callbacks)
    lines = capsys.readouterr().err.splitlines()
    assert " step 3000 of 3000, 3 of 3 s, 0 s left, end about " in lines[-1] and len(calls) == (3 if every else 0)
    sim.run_until(3.0, progress=True), sim.run(10)
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError, match="progress = 2: give True or False"):
        sim.run(10, progress=2)
    assert sim.step_count == 3010


def test_help_begins_with_the_public_names():
    """Before pydoc's list of all modules, each with a line of its own."""
    first, _, rest = pydoc.plain(pydoc.render_doc(md)).partition("PACKAGE CONTENTS")
    assert rest and first.count("\n") < 50
    table = re.findall(r"^ {8}((?:md|minidem)\.\w+(?:, md\.\w+)*) {2,}(\S.*)$", first, re.M)
    listed = [name for names, _ in table for name in names.split(", ")]
    assert sorted(f"md.{name}" for name in md.__all__) == sorted(name for name in listed if name.startswith("md."))
    for name in listed:
        assert pydoc.locate(name.replace("md.", "minidem.", 1) if name.startswith("md.") else name) is not None, name


@pytest.mark.parametrize("files, expected", [
    ({}, []), ({"proc/self/cgroup": "0::/\n"}, []),                                # not Linux; no quota
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, []),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, [1.5]),
    ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
      "sys/fs/cgroup/a/cpu.max": "400000 100000\n"}, [4.0]),                        # of a parent
    ({"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/unified/job/cpu.max": "50000 100000\n"}, [0.5]),
    ({"proc/self/cgroup": "3:cpuset:/\n2:cpu,cpuacct:/job\n", "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "300000\n",
      "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n"}, [3.0]),
    ({"proc/self/cgroup": "2:cpu,cpuacct:/outside\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, [2.0]),                   # a container: its own root
    ({"proc/self/cgroup": "1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, [])])                     # no limit
def test_quotas_of_control_groups(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert quotas(tmp_path) == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinity masks")
def test_affinity_mask_limits_the_default():
    def default_threads(**how):
        program = "from minidem.core.threads import most_threads; print(most_threads())"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
        return int(subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, env=environment, **how))
    assert default_threads(preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})) == 1
    assert default_threads() == available_processors()
