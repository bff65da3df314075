"""Output files: frames for ParaView, checkpoints, trajectories, tables, input of LAMMPS, written atomically (core/atomic.py)."""
