"""The files that a run leaves behind: frames for ParaView (vtu.py, pvd.py) and checkpoints (checkpoint.py).

Files are written atomically (`minidem.core.atomic`).
"""

from minidem.core.atomic import remove_leftovers, replace_text, replacing, to_disk

__all__ = ["remove_leftovers", "replace_text", "replacing", "to_disk"]
