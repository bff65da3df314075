"""Checkpoints: the complete state of a simulation in one checksummed file (npz_checksum.py), or in memory (`pack`).

The arrays "blocks" and "loads" hold the state between two steps, including scratch of the rotation scheme, forces and
torques (rows.pxd). Templates are stored as computed, settings as JSON. Verlet lists are not stored: they are rebuilt,
and results do not depend on them.

The checksum detects damage. Shapes, numbers and indices are validated like user input, so that a forged file leads to a
ValueError or to a simulation that runs.
"""
from dataclasses import asdict, fields

import numpy as np

from minidem.core.checks import LARGEST, finite_array, refuse, whole
from minidem.engine.population import Population
from minidem.engine.user_forces import UserForces
from minidem.material import Material, Pair
from minidem.output import npz_checksum
from minidem.output.wall_records import pack_walls, unpack_walls
from minidem.state.state import State
from minidem.templates.clump_template import ClumpTemplate, template_scales

TEMPLATE = {        # shapes of the attributes of a ClumpTemplate; -1: number of spheres
    "centers": (-1, 3), "radii": (-1,), "offsets": (-1, 3), "center_of_mass": (3,), "inertia": (3,), "axes": (3, 3),
    "orientation": (4,), "density": (), "volume": (), "mass": (), "bounding_radius": (), "relative_error": (),
}
NAMES = {"blocks": "motion of the clumps", "loads": "forces on the clumps"}      # of arrays, in messages
OF_FORMAT_4 = ("young", "poisson")      # properties of materials that all formats have


def save(path, sim, notes=None):
    """Write a checkpoint atomically.

    Parameters
    ----------
    path : path
    sim : Simulation
    notes : dict, optional
        Further data of the caller, in types of JSON; stored under the same checksum.

    Raises
    ------
    ValueError
        For a state that is not finite, also of the contact history and of sums of work; names what is not. An existing
        file stays.
    """
    settings, arrays = pack(sim)
    if notes is not None:
        settings["notes"] = notes
    bad = [NAMES.get(name, name.replace("history_", "contact history: ").replace("_", " "))
           for name, values in arrays.items()
           if name != "exchanged" and values.dtype.kind == "f" and not np.isfinite(values).all()]
    if bad:
        raise ValueError(f"path = {str(path)!r}: nothing saved, because the state at step {sim.step_count} is not "
                         f"finite: {', '.join(bad)}; lower dt and go on from an earlier checkpoint")
    npz_checksum.write(path, settings, arrays)


def pack(sim):
    """The state of `sim` without its user forces: (settings in types of JSON, arrays by name)."""
    loop = sim._loop
    settings = {
        "rotation": sim.rotation, "contact": sim.contact, "dt": sim.dt, "gravity": sim.gravity,
        "material": _values(sim.material), "step_count": loop.step_count, "forces_known": loop.forces_known,
        "user_forces": sim._user_forces.expected,
    }
    if sim._due == loop.step_count:
        settings["callback_due"] = True
    settings["walls"], walls, simple = pack_walls(sim.walls, _values)
    blocks, loads = loop.state.in_user_order()
    arrays = {"blocks": blocks, "loads": loads, "started": loop.started, "template_index": loop.state.template_index}
    if (loop.state.scale != 1.0).any():
        settings["format"] = npz_checksum.WITH_SCALES       # older versions, which ignore scales, must refuse it
        arrays["scale"] = loop.state.scale
    if sim.contact != "hertz":
        settings["format"] = npz_checksum.WITH_LAWS         # likewise those that know no law but Hertz's
    if sim.pairs or loop.state.material_index.any() or any(len(_values(m)) > len(OF_FORMAT_4) for m in sim.materials):
        settings |= {"format": npz_checksum.WITH_MATERIALS, "materials": [_values(m) for m in sim.materials],
                     "pairs": [asdict(pair) | {"a": _values(pair.a), "b": _values(pair.b)} for pair in sim.pairs]}
        arrays["material_index"] = loop.state.material_index
    past, population = loop.past(), loop.population
    sums = np.array([*population.dissipated, population.work, population.exchanged])
    if sums.any():
        arrays["exchanged"] = sums
    if "work" in past:
        arrays |= {name: past[name] for name in ("work", "force_work")}
    if "history" in past:
        settings["format"] = npz_checksum.WITH_HISTORY
        arrays |= {"dissipated": past["dissipated"]} | {f"history_{name}": a for name, a in past["history"].items()}
    if population.next_id != len(population.ids):
        settings |= {"format": npz_checksum.WITH_IDS, "next_id": population.next_id}
        arrays["ids"] = population.ids
    if not simple:
        settings["format"] = npz_checksum.WITH_WALLS
        arrays |= walls | {name: past[name] for name in ("wall_work", "servo_states") if name in past}
    if sim.periodic:
        settings |= {"format": npz_checksum.PERIODIC, "periodic": sim.periodic}
        arrays["shift"] = loop.state.shift
    for k, template in enumerate(loop.state.templates):
        arrays |= {f"template_{k}_{name}": np.asarray(value) for name, value in vars(template).items()}
    return settings, arrays


def _values(material):
    """Properties of a material without those of default value, by name."""
    return {field.name: getattr(material, field.name) for field in fields(material)
            if field.name in OF_FORMAT_4 or getattr(material, field.name) != field.default}


def load(path, make, threads=None, motions=None):
    """Read a checkpoint.

    Parameters
    ----------
    path : path
    make : callable
        The class Simulation, which imports this module.
    threads : int, optional
        As for a new simulation.
    motions : dict, optional
        See `unpack_walls`.

    Returns
    -------
    (Simulation, dict or None)
        The simulation, which continues with the same bits, and the notes.

    Raises
    ------
    ValueError
        With the reason, for a file that is not a checkpoint, is damaged, or has another format.
    FileNotFoundError
    """
    settings, arrays = npz_checksum.read(path)
    try:
        return unpack(settings, arrays, make, threads, motions), settings.get("notes")
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        reason = error if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"{path}: cannot be continued here: {reason}") from None


def unpack(settings, arrays, make, threads=None, motions=None):
    """The inverse of `pack`. The user forces must be added again before the first step."""
    walls = unpack_walls(settings["walls"], arrays, motions)
    pairs = [Pair(**pair | {name: Material(**pair[name]) for name in "ab"}) for pair in settings.get("pairs", [])]
    sim = make(Material(**settings["material"]), walls, settings["rotation"], settings.get("contact", "hertz"),
               settings["dt"], settings["gravity"], threads, pairs, settings.get("periodic"))
    pair_table = sim._loop.pair_table
    for material in settings.get("materials", []):
        pair_table = pair_table.with_material(Material(**material))
    templates, index = _templates(arrays), arrays["template_index"]
    n = len(index)
    if index.dtype != np.int32 or arrays["started"].dtype != bool or arrays["started"].shape != (n,):
        raise ValueError("template_index or started has another type or length than the clumps")
    refuse("template_index", index, (index < 0) | (index >= len(templates)), f"there are {len(templates)} templates")
    materials = arrays.get("material_index", np.zeros(n, dtype=np.int32))
    if materials.dtype != np.int32 or materials.shape != (n,):
        raise ValueError("material_index has another type or length than the clumps")
    refuse("material_index", materials, (materials < 0) | (materials >= len(pair_table.materials)),
           f"there are {len(pair_table.materials)} materials")
    blocks, loads = (finite_array(name, arrays[name], ((n + like.shape[2] - 1) // like.shape[2], *like.shape[1:]))
                     for name, like in (("blocks", sim._state.blocks), ("loads", sim._state.wrench)))
    expected = whole("user_forces", settings["user_forces"], 0)
    scale = finite_array("scale", arrays.get("scale", np.ones(n)), (n,), limit=LARGEST)
    for k, template in enumerate(templates if "scale" in arrays else []):
        template_scales(template, scale[index == k], np.count_nonzero(index == k))
    shift, box = arrays.get("shift", np.zeros((n, 3), dtype=np.int64)), sim._state.box
    if shift.dtype != np.int64 or shift.shape != (n, 3):
        raise ValueError("shift has another type or shape than lengths of the periodic box for each clump")
    for k, template in enumerate(templates if box is not None else []):
        box.refuse_large(template, scale[index == k])
    state, record = State.restore(blocks, loads, templates, index, scale, materials, box, shift), sim._law
    past = _past(arrays, record.kernels_for(sim._law_parameters).n_records, n, state.n_spheres,
                 len(sim._loop.walls.wall_of)) if record.has_history and "history_spheres" in arrays else {}
    for name, columns in (("work", 7), ("force_work", 2)) if expected else ():      # missing in older versions
        past[name] = finite_array(name, arrays.get(name, np.zeros((n, columns))), (n, columns))
    if sim._loop.wall_work() is not None:
        past["wall_work"] = finite_array("wall_work", arrays.get("wall_work", np.zeros((2, 2))), (2, 2))
    if sim._loop.walls.servos:
        past["servo_states"] = finite_array("servo_states", arrays["servo_states"], (len(walls), 2))
    past["population"] = _population(arrays, whole("next_id", settings.get("next_id", n), n), n)
    sim._loop = sim._make_loop(state, pair_table,
                               whole("step_count", settings["step_count"], 0),
                               UserForces((), expected) if expected else None, started=arrays["started"],
                               forces_known=bool(settings["forces_known"]), **past)
    sim._due = sim._loop.step_count if settings.get("callback_due") else None
    return sim


def _population(arrays, next_id, n):
    """Ids of n clumps and sums of removed clumps, validated."""
    ids, sums = arrays.get("ids", np.arange(n)), arrays.get("exchanged", np.zeros(6))
    if ids.dtype != np.int64 or ids.shape != (n,):
        raise ValueError("ids has another type or length than the clumps")
    refuse("ids", ids, (ids < 0) | (ids >= next_id) | (np.diff(ids, prepend=-1) <= 0),
           f"give ascending ids below next_id = {next_id}")
    if sums.dtype != np.float64 or sums.shape != (6,):      # not finite where a clump was not
        raise ValueError("exchanged has another type or shape than six numbers")
    return Population(ids, next_id, sums[:4].copy(), float(sums[4]), float(sums[5]))


def _past(arrays, n_records, n_clumps, n_spheres, n_elements):
    """Arguments history and dissipated of a Driver, validated."""
    spheres = arrays["history_spheres"]
    n = len(spheres)
    if spheres.dtype != np.int32 or spheres.shape != (n, 2):
        raise ValueError("history_spheres has another type or shape than pairs of int32")
    i, j = spheres.T
    bad = (i < 0) | (i >= n_spheres) | (j >= n_spheres) | (j < -n_elements) | ((j >= 0) & (j <= i))
    bad[1:] |= (i[1:] < i[:-1]) | (i[1:] == i[:-1]) & (j[1:] <= j[:-1])
    refuse("history_spheres", i, bad, "give pairs of spheres, or of spheres and walls, in ascending order")
    shapes = {"records": (n_records, n, 4), "force": (n, 3), "couple": (n, 3), "mass": (n,), "rolling_inertia": (n,)}
    history = {name: finite_array(f"history_{name}", arrays[f"history_{name}"], shape)
               for name, shape in shapes.items()}
    return {"history": history | {"spheres": spheres},
            "dissipated": finite_array("dissipated", arrays["dissipated"], (4, 2))}


def _templates(arrays):
    """Templates from the stored values, which are not computed again."""
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
