"""Number of processors that this process may use: affinity mask and quota of its control group."""
import os
from contextlib import suppress
from itertools import product
from pathlib import Path


def available_processors():
    """Processors in the affinity mask, and no more than the quota of the control group has time for; at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([allowed, *map(int, quotas())]))


def quotas(root=Path("/")):
    """Processor time per time that the control groups of this process and their parents grant; Linux only.

    Containers and batch systems set it: docker's --cpus, Kubernetes' limits, systemd's CPUQuota. A process with more
    running threads than that is stopped for the rest of each period.
    """
    mounted, found = root / "sys/fs/cgroup", []
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers == "":
            read, folders = of_version_2, [mounted, mounted / "unified"]
        elif "cpu" in controllers.split(","):
            read, folders = of_version_1, [mounted / "cpu", mounted / controllers]
        else:
            continue
        group = Path(path.lstrip("/"))
        for folder, parent in product(folders, [group, *group.parents]):
            with suppress(OSError, ValueError):         # not mounted here, no controller, or no limit: "max"
                found.append(read(folder / parent))
    return [quota for quota in found if quota > 0.0]


def of_version_2(folder):
    quota, period = (folder / "cpu.max").read_text().split()
    return int(quota) / int(period)


def of_version_1(folder):
    """Negative if there is no limit."""
    quota, period = (int((folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
    return quota / period
