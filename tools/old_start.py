"""Start states for earlier versions of minidem: up to 0.9, which read checkpoints up to format 12, and up to 0.11."""
import numpy as np

from minidem.output import checkpoint, npz_checksum
from minidem.output.checkpoint_fields import unpack_templates

NEWER = "adhesion",         # properties of materials and pairs
NEWER_OF_LAWS = "mass=", "tangential=", "cohesion="


def save_for(tree, sim, path):
    """A checkpoint that the minidem in the folder `tree` reads."""
    file = tree / "minidem" / "output" / "npz_checksum.py"
    if (file.parent / "old_checkpoints.py").exists() and "FORMAT = 13 " not in file.read_text():
        sim.save(path)
    elif (file.parent / "old_checkpoints.py").exists():
        npz_checksum.write(path, *in_format_13(*checkpoint.pack(sim)))
    else:
        npz_checksum.write(path, *in_format_12(*checkpoint.pack(sim)))


def in_format_13(settings, arrays):
    """Settings and arrays of 0.11."""
    dissipated = {"dissipated": arrays["dissipated"][:4]} if "dissipated" in arrays else {}
    return settings | {"format": 13}, {name: arrays[name] for name in arrays if name != "fractures"} | dissipated


def in_format_12(settings, arrays):
    """Settings and arrays of 0.9. Work and energies of all clumps are in the row of the first one."""
    settings, arrays = in_format_13(settings, arrays)
    name, _, given = settings["contact"].partition(":")
    given = ",".join(one for one in given.split(",") if one and not one.startswith(NEWER_OF_LAWS))
    settings = without_newer(settings) | {"format": 12, "contact": f"{name}:{given}" if given else name}
    settings["material"] = settings["materials"][0]
    old, n = dict(arrays), len(arrays["template_index"])
    for k, template in enumerate(unpack_templates(arrays)):
        old |= {f"template_{k}_{key}": np.asarray(value) for key, value in vars(template).items()}
    points, triangles = np.cumsum(arrays.get("mesh_sizes", np.zeros((1, 2), dtype=int)), axis=0)[:-1].T
    for k, wall in enumerate(settings["walls"]):
        if wall["kind"] == "MeshWall":
            old |= {f"wall_{k}_points": np.split(arrays["mesh_points"], points)[k],
                    f"wall_{k}_triangles": np.split(arrays["mesh_triangles"], triangles)[k]}
    for key in {"dissipated", "wall_work"} & arrays.keys():
        old[key] = np.zeros((n, len(arrays[key])))
        old[key][:1] = arrays[key].sum(axis=1)
    old["exchanged"] = np.append(np.zeros(4), arrays["exchanged"])      # dissipated at removed clumps came first
    if "history_force" in arrays:
        contacts = len(arrays["history_force"])
        old |= {"history_results": np.hstack([arrays["history_force"], np.zeros((contacts, 5))]),
                "history_couples": np.hstack([arrays["history_couple"], np.zeros((contacts, 1))])}
    return settings, old


def without_newer(values):
    """Dicts and lists without what 0.9 does not know."""
    if isinstance(values, dict):
        return {key: without_newer(value) for key, value in values.items() if key not in NEWER}
    return [without_newer(value) for value in values] if isinstance(values, list | tuple) else values
