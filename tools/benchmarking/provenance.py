"""Of which version, on which machine: what a timing means nothing without."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import minidem as md

ROOT = Path(__file__).parents[2]


def commit():
    """The commit of the checkout, with "-dirty" if files are changed; None without git or a checkout."""
    try:
        done = subprocess.run(["git", "describe", "--always", "--dirty", "--tags", "--abbrev=12"], cwd=ROOT,
                              text=True, capture_output=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def processor():
    """Its name as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def provenance():
    """A dictionary for a row; the load is the mean number of busy processes of the minute before."""
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"), "version": md.__version__,
            "commit": commit(), "cpu": processor(), "cpus": os.cpu_count(), "load": os.getloadavg()[0],
            "system": platform.platform(), "python": platform.python_version(), "numpy": np.__version__}
