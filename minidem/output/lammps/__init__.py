"""A simulation in the files of LAMMPS (script.py), and the state that LAMMPS reaches in a new simulation (dump.py)."""
