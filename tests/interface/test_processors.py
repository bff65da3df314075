"""The default number of threads: affinity mask, quota of the control group."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

from minidem.core.processors import available_processors, quotas

ROOT = Path(__file__).parents[2]
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
