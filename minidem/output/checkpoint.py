"""Checkpoints: all that a simulation is, in one .npz of plain arrays (no pickle: loading runs nothing).

The blocks hold the whole state between two steps, scratch of the rotation scheme, forces and
torques included (rows.pxd). Templates are kept as they were computed, settings as JSON. Lists are
not kept: they are made anew, and the result does not depend on them.
"""
import json
import zipfile
from dataclasses import asdict

import numpy as np

from minidem.clump import ClumpTemplate
from minidem.material import Material
from minidem.output import replacing
from minidem.state import State
from minidem.walls import Plane

FORMAT = 1


def save(path, sim):
    """Write `sim` to `path`, first beside it, then in its place."""
    settings = {
        "format": FORMAT, "rotation": sim.rotation, "dt": sim.dt, "gravity": sim.gravity,
        "material": asdict(sim.material), "step_count": sim.step_count, "forces_known": sim._forces_known,
        "user_forces": sim._forces_expected,
        "walls": [{"point": w.point, "normal": w.normal, "material": w.material and asdict(w.material)}
                  for w in sim.walls],
    }
    arrays = {"settings": np.array(json.dumps(settings)), "blocks": sim._state.in_user_order(), "started": sim._started,
              "template_index": sim._state.template_index}
    for k, template in enumerate(sim.templates):
        arrays |= {f"template_{k}_{name}": value for name, value in vars(template).items()}
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def load(path, make, threads=None):
    """A simulation, made by `make` (the class Simulation), as it was when `path` was saved.

    Raises ValueError when `path` is not such a file, FileNotFoundError when there is none.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            settings = json.loads(str(file["settings"]))
            arrays = {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as error:
        raise ValueError(f"{path}: not a minidem checkpoint, or damaged ({error})") from None
    if settings.get("format") != FORMAT:
        raise ValueError(f"{path}: checkpoint format {settings.get('format')}, this version reads {FORMAT}")
    walls = [Plane(w["point"], w["normal"], w["material"] and Material(**w["material"])) for w in settings["walls"]]
    sim = make(Material(**settings["material"]), walls, settings["rotation"], settings["dt"],
               tuple(settings["gravity"]), threads)
    sim._state = State.restore(arrays["blocks"], _templates(arrays), arrays["template_index"],
                               sim._scheme.n_scratch)
    sim._started = arrays["started"]
    sim._forces_known = settings["forces_known"]
    sim._forces_expected = settings["user_forces"]
    sim._renew_loop(settings["step_count"])
    return sim


def _templates(arrays):
    """Templates with the very bits that were saved, not computed again."""
    found = []
    while f"template_{len(found)}_radii" in arrays:
        prefix = f"template_{len(found)}_"
        template = object.__new__(ClumpTemplate)
        for name, value in arrays.items():
            if name.startswith(prefix):
                value.flags.writeable = False
                vars(template)[name[len(prefix):]] = value if value.ndim else value.item()
        found.append(template)
    return found
