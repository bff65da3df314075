"""Checkpoints: all that a simulation is, in one file of plain arrays (`npz_checksum`: checksum, no pickle).
A `Moment` is the same in memory.

Blocks and loads hold the whole state between two steps, scratch of the rotation scheme, forces and
torques included (rows.pxd). Templates are kept as they were computed, settings as JSON. Lists are
not kept: they are made anew, and the result does not depend on them.

The checksum finds damage. A forged file can hold other physics than it says, but shapes, numbers and
indices are checked as those of a user are, so that it leads to a ValueError or to a simulation that runs.
"""
from dataclasses import asdict

import numpy as np

from minidem.core.checks import LARGEST, finite_array, refuse, whole
from minidem.engine.user_forces import UserForces
from minidem.material import Material
from minidem.output import npz_checksum
from minidem.state.state import State
from minidem.templates.clump_template import ClumpTemplate, template_scales
from minidem.walls import Plane

TEMPLATE = {        # shapes of what a ClumpTemplate keeps; -1: its spheres
    "centers": (-1, 3), "radii": (-1,), "offsets": (-1, 3), "center_of_mass": (3,), "inertia": (3,), "axes": (3, 3),
    "orientation": (4,), "density": (), "volume": (), "mass": (), "bounding_radius": (), "relative_error": (),
}


def save(path, sim, notes=None):
    """Write `sim` to `path`, first beside it, then in its place.

    notes: a dictionary for JSON, of whoever runs it, kept under the same checksum.

    Raises ValueError for a state that is not finite, from which no run could go on: the last good
    checkpoint stays.
    """
    settings, arrays = pack(sim)
    if notes is not None:
        settings["notes"] = notes
    if not (np.isfinite(arrays["blocks"]).all() and np.isfinite(arrays["loads"]).all()):
        raise ValueError(f"path = {str(path)!r}: nothing saved, because the state at step {sim.step_count} is not "
                         "finite; lower dt and go on from an earlier checkpoint")
    npz_checksum.write(path, settings, arrays)


def pack(sim):
    """All that `sim` is but for its user forces: (settings, a dictionary for JSON; arrays by name)."""
    loop = sim._loop
    settings = {
        "rotation": sim.rotation, "dt": sim.dt, "gravity": sim.gravity,
        "material": asdict(sim.material), "step_count": loop.step_count, "forces_known": loop.forces_known,
        "user_forces": sim._user_forces.expected,
        "walls": [{"point": w.point, "normal": w.normal, "material": w.material and asdict(w.material)}
                  for w in sim.walls],
    }
    blocks, loads = loop.state.in_user_order()
    arrays = {"blocks": blocks, "loads": loads, "started": loop.started, "template_index": loop.state.template_index}
    if (loop.state.scale != 1.0).any():
        settings["format"] = npz_checksum.NEWEST           # who does not know scales must not read it
        arrays["scale"] = loop.state.scale
    for k, template in enumerate(loop.state.templates):
        arrays |= {f"template_{k}_{name}": np.asarray(value) for name, value in vars(template).items()}
    return settings, arrays


def load(path, make, threads=None):
    """A simulation, made by `make` (the class Simulation), as it was when `path` was saved.

    Raises ValueError with the reason when `path` is not such a file, is damaged or of another
    format; FileNotFoundError when there is none.
    """
    return load_with_notes(path, make, threads)[0]


def load_with_notes(path, make, threads=None):
    """The same, and its notes; None for a checkpoint without any."""
    settings, arrays = npz_checksum.read(path)
    try:
        return unpack(settings, arrays, make, threads), settings.get("notes")
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        reason = error if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"{path}: cannot be continued here: {reason}") from None


class Moment:
    """What a simulation was when it was last taken, in memory, at no more cost than a copy of its numbers."""

    def __init__(self):
        self.step_count, self._blocks = None, None

    def take(self, sim):
        """Remember `sim` as it is now; it must be the same one every time, with the same clumps."""
        state = sim._loop.state
        if self._blocks is None:
            self._sim, self._blocks, self._loads = sim, np.empty_like(state.blocks), np.empty_like(state.wrench)
        self._blocks[:], self._loads[:] = state.blocks, state.wrench
        self._standing = state.clump_number[:state.n_clumps]        # made anew whenever the clumps are re-ordered
        self._started, self._forces_known, self.step_count = \
            sim._loop.started.copy(), sim._loop.forces_known, sim.step_count

    def simulation(self):
        """A simulation that goes on from there."""
        old = self._sim
        sim = type(old)(old.material, old.walls, old.rotation, old.dt, old.gravity, old._threads)
        state = State.restore(self._blocks, self._loads, old._state.templates, old._state.template_index,
                              self._standing, old._state.scale)
        sim._loop = sim._make_loop(state, self.step_count, old._loop.external_forces, started=self._started,
                                   forces_known=self._forces_known)
        return sim


def unpack(settings, arrays, make, threads=None):
    """The simulation, made by `make` (the class Simulation), of what `pack` gave; user forces are expected again."""
    walls = [Plane(w["point"], w["normal"], w["material"] and Material(**w["material"])) for w in settings["walls"]]
    sim = make(Material(**settings["material"]), walls, settings["rotation"], settings["dt"],
               settings["gravity"], threads)
    templates, index = _templates(arrays), arrays["template_index"]
    n = len(index)
    if index.dtype != np.int32 or arrays["started"].dtype != bool or arrays["started"].shape != (n,):
        raise ValueError("template_index or started is not of the clumps")
    refuse("template_index", index, (index < 0) | (index >= len(templates)), f"there are {len(templates)} templates")
    blocks, loads = (finite_array(name, arrays[name], ((n + like.shape[2] - 1) // like.shape[2], *like.shape[1:]))
                     for name, like in (("blocks", sim._state.blocks), ("loads", sim._state.wrench)))
    expected = whole("user_forces", settings["user_forces"], 0)
    scale = finite_array("scale", arrays.get("scale", np.ones(n)), (n,), limit=LARGEST)
    for k, template in enumerate(templates if "scale" in arrays else []):
        template_scales(template, scale[index == k], np.count_nonzero(index == k))
    sim._loop = sim._make_loop(State.restore(blocks, loads, templates, index, scale=scale),
                               whole("step_count", settings["step_count"], 0),
                               UserForces((), expected) if expected else None, started=arrays["started"],
                               forces_known=bool(settings["forces_known"]))
    return sim


def _templates(arrays):
    """Templates with the very bits that were saved, not computed again."""
    found = []
    while f"template_{len(found)}_radii" in arrays:
        prefix = f"template_{len(found)}_"
        n = len(arrays[prefix + "radii"])
        template = object.__new__(ClumpTemplate)
        for name, shape in TEMPLATE.items():
            value = finite_array(prefix + name, arrays[prefix + name], tuple(n if m == -1 else m for m in shape))
            vars(template)[name] = value if shape else value.item()
        refuse(prefix + "radii", template.radii, template.radii <= 0.0, "give radii greater than 0")
        refuse(prefix + "inertia", template.inertia, template.inertia <= 0.0, "give moments greater than 0")
        refuse(prefix + "mass", np.float64(template.mass), template.mass <= 0.0, "give a mass greater than 0")
        found.append(template)
    return found
