"""Output files: frames for ParaView, checkpoints, trajectories, tables, input of LAMMPS, all written atomically."""
