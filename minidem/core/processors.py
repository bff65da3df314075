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
    running threads is stopped for the rest of each period. os.process_cpu_count and psutil do not look at it.
    """
    found, proc = [], root / "proc/self/cgroup"
    for line in proc.read_text().splitlines() if proc.exists() else []:
        _, controllers, path = line.split(":", 2)
        if controllers == "" or "cpu" in controllers.split(","):        # version 2 or 1
            group = Path(path.lstrip("/"))
            for folder, parent in product({"", "unified", "cpu", controllers}, [group, *group.parents]):
                with suppress(OSError, ValueError):         # not mounted here, no controller, or no limit: "max"
                    found.append(granted(root / "sys/fs/cgroup" / folder / parent, controllers == ""))
    return [quota for quota in found if quota > 0.0]


def granted(group, unified):
    """Quota of a control group of version 2 (unified) or 1, where it is negative if there is no limit."""
    names = ["cpu.max"] if unified else ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
    quota, period = " ".join((group / name).read_text() for name in names).split()
    return int(quota) / int(period)
