"""Start states for earlier versions of minidem."""
import re

from minidem.output import checkpoint, npz_checksum


def save_for(tree, sim, path):
    """Write a checkpoint that the minidem in the folder `tree` reads, of version 0.10 or later."""
    text = (tree / "minidem" / "output" / "npz_checksum.py").read_text()
    if re.search(r"^FORMAT = 13\b", text, re.MULTILINE):
        npz_checksum.write(path, *in_format_13(*checkpoint.pack(sim)))
    else:
        sim.save(path)


def in_format_13(settings, arrays):
    """Settings and arrays of 0.10 and 0.11."""
    dissipated = {"dissipated": arrays["dissipated"][:4]} if "dissipated" in arrays else {}
    return settings | {"format": 13}, {name: arrays[name] for name in arrays if name != "fractures"} | dissipated
