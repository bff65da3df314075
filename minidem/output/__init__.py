"""Output files: frames for ParaView (vtu.py), checkpoints (checkpoint.py), input of LAMMPS (lammps/), all
written atomically.

Frames of scenarios are written by another thread (background.py).
"""

from minidem.core.atomic import append_whole, naming, remove_leftovers, replace_text, replacing, to_disk

__all__ = ["append_whole", "naming", "remove_leftovers", "replace_text", "replacing", "to_disk"]
