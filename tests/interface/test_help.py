"""help(minidem) begins with the public names; what describes a build, and how many threads there are by default."""
import json
import os
import pydoc
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import minidem as md
from minidem import __main__ as command_line
from minidem.core.processors import available_processors, quotas
from minidem.core.threads import has_openmp
from minidem.initial import Inlet, place

ROOT = Path(__file__).parents[2]


def test_help_begins_with_the_public_names():
    """Before pydoc's list of all modules, each with a line of its own."""
    text = pydoc.plain(pydoc.render_doc(md))
    first, _, rest = text.partition("PACKAGE CONTENTS")
    assert rest and first.count("\n") < 50
    table = re.findall(r"^ {8}((?:md|minidem)\.\w+(?:, md\.\w+)*) {2,}(\S.*)$", first, re.M)
    listed = [name for names, _ in table for name in names.split(", ")]
    assert sorted(f"md.{name}" for name in md.__all__) == sorted(name for name in listed if name.startswith("md."))
    for name in listed:
        assert pydoc.locate(name.replace("md.", "minidem.", 1) if name.startswith("md.") else name) is not None, name


def test_signatures_are_readable():
    """ArrayLike has 1400 characters where its members are listed."""
    shown = [getattr(md, name) for name in md.__all__] + [md.rotation.integrate, place, Inlet]
    for thing in shown:
        text = pydoc.plain(pydoc.render_doc(thing))
        assert "_SupportsArray" not in text and max(map(len, text.splitlines())) < 600, thing
    assert re.search(r"gravity: '?ArrayLike'? = ", pydoc.plain(pydoc.render_doc(md.Simulation)))


def test_help_of_a_simulation_is_grouped_by_topics():
    """Its docstring has a line for each topic, with names that pydoc lists under this base class."""
    lines = dict(re.findall(r"^    ([A-Z]\w+) {2,}(\S.*)$", md.Simulation.__doc__.replace("\n    ", "\n"), re.M))
    topics = [md.Simulation, *md.Simulation.__bases__]
    assert list(lines) == [topic.__name__ for topic in topics]
    for topic in topics:
        named = re.findall(r"[a-z]+_\w+", lines[topic.__name__])
        assert named and all(name in vars(topic) for name in named), topic


@pytest.mark.parametrize("wrong, call", [
    ("hertz-mindlin", lambda: md.contact.info("hertz-mindlim")), ("omelyan", lambda: md.rotation.info("omelian:a=1")),
    ("stiffness", lambda: md.contact.info("hooke").values("stifness=1"))])
def test_near_names_are_suggested(wrong, call):
    with pytest.raises(ValueError, match=f", did you mean '{wrong}'"):
        call()


def test_near_scenarios_and_commands_are_suggested(capsys):
    for words, name in ((["run", "rods_in_bx"], "rods_in_box"), (["scenario"], "scenarios")):
        assert command_line.main(words) == 2
        assert f"did you mean '{name}'?" in capsys.readouterr().err


def test_build_info():
    build = md.build_info()
    assert list(build) == ["version", "isa", "isa_levels", "openmp", "compiler"]
    assert build["version"] == md.__version__ and build["openmp"] is has_openmp()
    assert build["isa"] in ("native", "v2", "v3", "v4", "generic")
    assert not build["isa_levels"] or build["isa"] in build["isa_levels"]
    assert re.match(r"(gcc|.*[Cc]lang) \d+\.\d+.* -O\d ", build["compiler"])
    assert ("-march=native" in build["compiler"]) == (build["isa"] == "native")
    build["version"] = "another"                # the caller's own
    assert md.build_info()["version"] == md.__version__


@pytest.mark.parametrize("script, attribute", [
    ("rods_in_box", "SCENARIO"), ("rotating_bodies.coupled_cylinders", "EXPERIMENT")])
def test_summaries_tell_the_build(script, attribute, tmp_path, without_pictures):
    program = getattr(import_module(f"minidem.scenarios.{script}"), attribute)
    short = ["--frames", "0", "--time", "0.001"] if attribute == "SCENARIO" else ["--quick"]
    assert program.main([*short, "--quiet", "--out", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "summary.json").read_text())["build"] == md.build_info()


# --- The default number of threads: affinity mask, quota of the control group.


DEFAULT = "from minidem.core.threads import most_threads; print(most_threads())"
SETTINGS = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}


def default_threads(**how):
    done = subprocess.run([sys.executable, "-c", DEFAULT], cwd=ROOT, env=SETTINGS, capture_output=True, text=True,
                          timeout=60, **how)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize("files, expected", [
    ({}, []),                                                                       # not Linux
    ({"proc/self/cgroup": "0::/\n"}, []),
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
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, []),                      # no limit
])
def test_quotas_of_control_groups(tmp_path, files, expected):
    write(tmp_path, files)
    assert quotas(tmp_path) == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinity masks")
def test_affinity_mask_limits_the_default():
    one = min(os.sched_getaffinity(0))
    assert default_threads(preexec_fn=lambda: os.sched_setaffinity(0, {one})) == 1
    assert default_threads() == available_processors()


def test_quota_of_a_real_group_limits_the_default():
    """Needs the right to create a control group: in a container or as root."""
    for parent, files in [("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "100000"}),
                          ("/sys/fs/cgroup", {"cpu.max": "100000 100000"})]:
        group = Path(parent, f"minidem_test_{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for name, text in files.items():
                (group / name).write_text(text)
            assert default_threads(preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid()))) == 1
            return
        except (OSError, subprocess.SubprocessError):
            continue
        finally:
            group.rmdir()
    pytest.skip("no control group can be created here")
