"""help(minidem) begins with the public names; what describes a build, and how many threads there are by default."""
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import minidem as md
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


# --- the default number of threads: affinity mask, quota of the control group ---

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

    one = min(os.sched_getaffinity(0))
    assert default_threads(preexec_fn=lambda: os.sched_setaffinity(0, {one})) == 1
    assert default_threads() == available_processors()
