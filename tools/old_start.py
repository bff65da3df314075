"""Start states for earlier versions of minidem."""
import re

from minidem.output import checkpoint, npz_checksum

NEWER = {14: ("onsets",), 13: ("onsets", "fractures")}      # arrays that files of a format do not have


def save_for(tree, sim, path):
    """Write a checkpoint that the minidem in the folder `tree` reads, of version 0.10 or later."""
    file = tree / "minidem" / "output" / "npz_checksum.py"
    if not file.exists():
        raise ValueError(f"{tree}: there is no minidem of version 0.10 or later; build it in place")
    found = int(re.search(r"^FORMAT = (\d+)", file.read_text(), re.MULTILINE)[1])
    settings, arrays = checkpoint.pack(sim)
    if "single" not in (tree / "minidem" / "contact" / "friction.pyx").read_text():     # before 0.25 it is the default
        settings["contact"] = re.sub("[:,]mass=single$", "", settings["contact"])
    npz_checksum.write(path, *in_format(found, settings, arrays))


def in_format(found, settings, arrays):
    """Settings and arrays of format 13 (0.10, 0.11), 14 (0.12) or the newest one."""
    arrays = {name: values for name, values in arrays.items() if name not in NEWER.get(found, ())}
    if found == 13 and "dissipated" in arrays:
        arrays["dissipated"] = arrays["dissipated"][:4]
    return settings | {"format": found}, arrays
