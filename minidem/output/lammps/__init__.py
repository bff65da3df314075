"""A simulation in the files of LAMMPS, and the state that LAMMPS reaches in a new simulation.

    law.py      contact laws as coefficients
    walls.py    walls as commands
    history.py  springs of friction
    script.py   the input script, spheres and clumps; `write_lammps` makes a folder of all files
    dump.py     dumps; `read_lammps` makes a simulation
"""

from minidem.output.lammps.dump import read_lammps
from minidem.output.lammps.script import write_lammps

__all__ = ["read_lammps", "write_lammps"]
