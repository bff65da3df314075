"""Checkpoints: a simulation in one checksummed file (npz_checksum.py), settings and the arrays of checkpoint_arrays.py.

The checksum detects damage. Shapes, numbers and indices are validated like user input, so that a forged file leads to a
ValueError or to a simulation that runs.
"""
import json
from dataclasses import fields

import numpy as np

from minidem.contact.law import MOST_COMPONENTS
from minidem.contact.pair_table import PairTable
from minidem.contact.registry import with_mass
from minidem.core.checks import existing_file, file_path, non_negative, short_repr, whole
from minidem.core.quaternions import rotate
from minidem.engine.columns import COLUMNS
from minidem.engine.population import Population
from minidem.engine.snapshot import Snapshot
from minidem.fields.field import Field
from minidem.fields.rates import FIELD_ROWS
from minidem.forces.user_forces import UserForces
from minidem.material import PAIR_PROPERTIES, Material, Pair
from minidem.output import npz_checksum
from minidem.output.checkpoint_arrays import not_finite, pack_templates, select, unpack_templates, validated
from minidem.state.bodies import HOLD, as_numbers
from minidem.state.state import CLUMP_ROWS, State
from minidem.templates.clump_template import template_scales
from minidem.walls import SHAPES, CompoundWall, Driven, MeshWall, Oscillation, Servo
from minidem.walls.motion import STEERED
from minidem.walls.periodic_box import FUNCTION, LATER, later_of, periodic_box

# Names of a Snapshot as well.
NEW = {"name": None, "since": 0.0, "surface_velocity": (0.0, 0.0, 0.0), "surface_angular_velocity": (0.0, 0.0, 0.0),
       "pressure": None, "area": None, "interacts": True, **dict.fromkeys(PAIR_PROPERTIES),
       "bridge_volume": 0.0, "static_friction": 0.0}            # of walls, servos, pairs, materials
IN_BLOCKS = "scratch", "fields"         # optional columns that the array `blocks` has, others are arrays
SUMS = ("servo_states", "box_state", "wall_work", "dissipated", "fractures", "onsets")
PERIODIC = "periodic"                    # key of the box among the motions
MESHES = "mesh_points", "mesh_triangles"
HISTORY = "history_"                    # arrays of the dict `history` of a Snapshot
KINDS = {shape.__name__: shape for shape in SHAPES}


def save(path, sim, notes=None, snapshot=None):
    """Write a checkpoint of `snapshot`, or now, atomically; ValueError, and an old file stays, unless it is finite.

    notes : dict, optional, of further data of the caller in types of JSON, stored under the same checksum.
    """
    path, (settings, arrays) = file_path("path", path), pack(sim, snapshot)
    if notes is not None:
        settings["notes"] = notes
    if bad := not_finite(arrays):
        raise ValueError(f"path = {str(path)!r}: nothing saved, because the state at step {settings['step_count']} is "
                         f"not finite: {', '.join(bad)}; lower dt and continue from an earlier checkpoint")
    npz_checksum.write(path, settings, arrays)


def pack(sim, snapshot=None):
    """Settings of `sim` in types of JSON, and arrays by name, of a snapshot without its user forces."""
    snapshot = sim.reader.snapshot() if snapshot is None else snapshot
    state, population = snapshot.state, snapshot.population
    walls, meshes = pack_walls(snapshot.walls.walls)
    settings = {
        "format": npz_checksum.FORMAT if state.hold is not None else npz_checksum.UNHELD,
        "rotation": sim.rotation, "contact": with_mass(sim.contact), "dt": sim.dt,
        "gravity": snapshot.gravity, "periodic": state.box and state.box.record,
        "materials": [without_new(vars(one)) for one in snapshot.pair_table.materials],
        "pairs": [without_new(vars(pair)) | {side: without_new(vars(getattr(pair, side))) for side in "ab"}
                  for pair in snapshot.pair_table.pairs],
        "walls": walls, "step_count": snapshot.step, "forces_known": snapshot.forces_known,
        "user_forces": snapshot.user_forces.expected, "callback_due": snapshot.callback_due,
        "next_id": population.next_id, "outflow": population.outflow,
        "inlets": [(given, begun, min(last, snapshot.step)) for given, begun, last in sim.inlets
                   if begun < snapshot.step],
        "fields": [field.record for field in population.fields]}
    blocks, loads = state.with_columns({name: state.optional[name] for name in IN_BLOCKS}).in_user_order()
    arrays = meshes | pack_templates([vars(template) for template in state.templates]) | {
        "blocks": blocks, "loads": loads, "started": snapshot.started, "template_index": state.template_index,
        "scale": state.scale, "material_index": state.material_index,
        "shift": None if state.box is None else state.shift.copy(), "ids": population.ids,
        "hold": None if state.hold is None else as_numbers(state.hold),
        "exchanged": [population.work, population.exchanged], "breakage": [population.breakage]} | {
        name: getattr(snapshot, name) for name in SUMS} | {
        name: state.rows(state.blocks, *state.columns[name]) for name in state.optional if name not in IN_BLOCKS}
    return settings, select(arrays | {HISTORY + name: values for name, values in (snapshot.history or {}).items()})


def without_new(record):
    """The record without members that are newer than the format, where it does not need them."""
    return {name: value for name, value in record.items() if name not in NEW or value != NEW[name]}


def pack_walls(walls):
    """(settings of walls, list of dicts; arrays of meshes, empty without any)."""
    records, none = [], (np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))
    for wall in walls:
        motion = wall.motion and (FUNCTION if not isinstance(wall.motion, Oscillation | Servo | Driven) or any(
            map(callable, vars(wall.motion).values())) else without_new(vars(wall.motion)))
        record = without_new({field.name: getattr(wall, field.name) for field in fields(wall)
                              if field.name not in ("surface", "parts")})
        if isinstance(wall, CompoundWall):
            record["parts"] = pack_walls(wall.parts)[0]
        material = wall.material and without_new(vars(wall.material))
        records.append(record | {"kind": type(wall).__name__, "material": material, "motion": motion})
    if not any(wall.surface for wall in walls):
        return records, {}
    points, triangles = zip(*(wall.surface or none for wall in walls))
    return records, {"mesh_sizes": np.array([(len(p), len(t)) for p, t in zip(points, triangles)], dtype=np.int32),
                     "mesh_points": np.concatenate(points), "mesh_triangles": np.concatenate(triangles)}


def unpack_wall(record, surface, motion=None):
    """A wall of its record, the points and triangles of its mesh, and its motion."""
    given = record | {"material": record["material"] and Material(**record["material"]), "motion": motion}
    if record["kind"] == MeshWall.__name__:
        given["surface"] = surface
    if "parts" in record:
        given["parts"] = [unpack_wall(part, surface) for part in record["parts"]]
    return KINDS[given.pop("kind")](**given)


def unpack_walls(records, meshes, motions=None):
    """The inverse of `pack_walls`; motions : wall number -> function that a file cannot hold, ValueError if missing."""
    motions, walls = dict(motions or {}), []
    ends = np.cumsum(meshes.get("mesh_sizes", np.zeros((1, 2), dtype=np.int32)), axis=0)[:-1].T
    for k, record in enumerate(records):
        motion = record["motion"]
        if motion == FUNCTION:
            if k not in motions:
                raise ValueError(f"motions: the motion of wall {k} is a function, which a file cannot hold; give "
                                 f"load(path, motions={{{k}: function}})")
            motion = motions.pop(k)
        elif motion is not None:
            motion = (Driven if "inertia" in motion else Servo if "mass" in motion else Oscillation)(**motion)
        surface = tuple(np.split(meshes[name], at)[k] for name, at in zip(MESHES, ends) if name in meshes)
        walls.append(unpack_wall(record, surface, motion))
    for k in motions:
        if k not in range(len(records)):
            raise ValueError(f"motions[{k!r}]: give a number of a wall, of which there are {len(records)}, or "
                             "'periodic' for the box")
    if motions:
        raise ValueError(f"motions = {short_repr(motions)}: the motion of these walls is no function")
    return walls


def conditions(sim, expected, arrays):
    """Conditions of checkpoint_arrays.py that hold for a simulation with `expected` user forces and these arrays."""
    box = sim.reader.periodic
    found = {"": True, "periodic": box, "moving box": box is not None and box.moves,
             "history": sim.settings.law.has_history, "user forces": expected,
             "onsets": "onsets" in arrays and sim.settings.law.corrects_onsets(sim.settings.law_values),
             "holds": "hold" in arrays, "moving walls": sim.reader.moves or "wall_work" in arrays,
             "servos": any(isinstance(wall.motion, STEERED) for wall in sim.walls)}
    return {name for name, holds in found.items() if holds}


def unpack_box(record, motions):
    """The argument `periodic` of a simulation, of its record. motions : dict, from which "periodic" is taken."""
    if FUNCTION in str(record) and PERIODIC not in (motions or {}):
        raise ValueError("motions: the rate of the periodic box is a function, which a file cannot hold; give "
                         "load(path, motions={'periodic': PeriodicBox})")
    if PERIODIC not in (motions or {}):
        return record
    box = periodic_box(motions.pop(PERIODIC))
    if FUNCTION not in str(record) or box is None or _setting(box.record) != _setting(record):
        raise ValueError(f"motions[{PERIODIC!r}] = {box!r}: the box that was saved has the setting {_setting(record)}; "
                         "give the same box with functions in these places, or nothing if there are none. sim.deform "
                         "changes its motion")
    return box.continued(**later_of(record))


def _setting(record):
    """Return what a user has given, of the record of a box, in types of JSON."""
    record = json.loads(json.dumps(record))
    return {name: value for name, value in record.items() if name not in LATER} if isinstance(record, dict) else record


def load(path, make, threads=None, motions=None):
    """Read a checkpoint: (Simulation, which continues with the same bits; notes, or None). make : the class Simulation.

    ValueError with the reason, for a file that is not a checkpoint, is damaged, or has another format.
    """
    path = existing_file("path", path, "give a file that Simulation.save has written, or checkpoint.npz of a run")
    if motions is not None and not isinstance(motions, dict):
        raise ValueError(f"motions = {short_repr(motions)}: give a dict, number of a wall -> function of the time, and "
                         f"{PERIODIC!r} -> PeriodicBox")
    settings, arrays = npz_checksum.read(path)
    motions = dict(motions or {})
    try:
        settings["contact"] = with_mass(settings["contact"], "single")  # the default before 0.25
        return _unpack(settings, arrays, make, threads, motions), settings.get("notes")
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else \
            error if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"{path}: cannot be continued here: {reason}") from None


def _python_work(rows, state):
    """(n_clumps, 2) work and power of user forces in Python. rows : array `work` of a file of an earlier version."""
    turning = rotate(state.column("orientation"), state.column("predicted"))
    power = np.sum(rows[:, 1:4] * state.column("predicted_velocity") + rows[:, 4:] * turning, axis=1)
    return np.column_stack([rows[:, 0], power])


def unpack(settings, arrays, make, threads=None, motions=None):
    """The inverse of `pack`. The user forces must be added again before the first step."""
    return _unpack(settings, dict(arrays), make, threads, motions)


def _unpack(settings, arrays, make, threads, motions):
    """The same. It empties the dict `arrays`, so that each is freed after its use."""
    if settings["format"] == 13:                        # without fields and the energy of fracture
        settings = settings | {"fields": []}
        if "dissipated" in arrays:
            arrays["dissipated"] = np.append(arrays["dissipated"], np.zeros((1, 2)), axis=0)
    records, materials = settings["walls"], [Material(**material) for material in settings["materials"]]
    has_meshes = any(part["kind"] == MeshWall.__name__ for record in records for part in record.get("parts", [record]))
    meshes = validated(arrays, {"n_walls": len(records)}, {"meshes"} if has_meshes else set())
    pairs = [Pair(**{"bridge_volume": 0.0, "static_friction": 0.0}
                  | {"interacts" if name == "contact" else name: value for name, value in pair.items()}    # before 0.25
                  | {name: Material(**pair[name]) for name in "ab"}) for pair in settings["pairs"]]
    box = unpack_box(settings["periodic"], motions)
    sim = make(materials[0], unpack_walls(records, meshes, motions), rotation=settings["rotation"],
               contact=settings["contact"], dt=settings["dt"], gravity=settings["gravity"], threads=threads,
               pairs=pairs, periodic=box)
    empty, law, values = sim.reader.snapshot(), sim.settings.law, sim.settings.law_values
    pair_table, box = PairTable(materials[0], (), pairs), empty.state.box
    for material in materials:                          # in this order, whichever walls have them now
        pair_table = pair_table.with_material(material)
    pair_table = pair_table.with_walls(sim.walls)
    expected = whole("user_forces", settings["user_forces"], 0)
    fields = tuple(Field.restored(field, len(records)) for field in settings["fields"])
    whole("components of all fields", sum(field.components for field in fields), 0, MOST_COMPONENTS)
    in_blocks = {"scratch": sim.settings.scheme.n_scratch,
                 "fields": len(FIELD_ROWS) * sum(field.components for field in fields)}
    known = validated(arrays, {
        "n_walls": len(records), "n_elements": len(empty.walls.wall_of), "n_materials": len(pair_table.materials),
        "n_rows": CLUMP_ROWS + sum(in_blocks.values()),
        "n_load_rows": empty.state.wrench.shape[1],
        "n_lanes": empty.state.blocks.shape[2], "n_records": law.kernels_for(values).n_records,
        "next_id": whole("next_id", settings["next_id"], 0)}, conditions(sim, expected, arrays))
    templates, index, scale = unpack_templates(known), known["template_index"], known["scale"]
    for k, template in enumerate(templates if box is not None or (scale != 1.0).any() else []):
        template_scales(template, scale[index == k], np.count_nonzero(index == k))
        if box is not None:
            box.start.refuse_large(template, scale[index == k])
    state = State.restore(known.pop("blocks"), known.pop("loads"), templates, index, scale, known["material_index"],
                          box, known.get("shift"), known["hold"].view(HOLD).reshape(-1) if "hold" in known else None,
                          in_blocks)
    outflow = {name: (whole(f"outflow of {name}", count, 0), non_negative(f"outflow of {name}", mass))
               for name, (count, mass) in settings.get("outflow", {}).items()}         # newer than the format
    sums = map(float, [*known["exchanged"], *known["breakage"]])
    population = Population(known["ids"], known["next_id"], *sums, fields, outflow)
    if "work" in known:
        known["force_work"] = known["force_work"] + _python_work(known["work"], state)
    columns = [one for one in COLUMNS if known[one.name].any()]     # the loop keeps those that it has, others are zero
    state = state.with_columns(in_blocks | {one.name: one.width for one in columns})
    for one in columns:
        state.set_column(one.name, known[one.name])
    history = {name.removeprefix(HISTORY): known[name] for name in known if name.startswith(HISTORY)}
    snapshot = Snapshot(
        state, pair_table, sim.gravity, whole("step_count", settings["step_count"], 0), known["started"],
        bool(settings["forces_known"]), bool(settings["callback_due"]), population, UserForces((), expected),
        history or None, walls=empty.walls, **{name: known[name] for name in SUMS if name in known})
    sim.continue_from(snapshot)
    sim.inlets[:] = [(str(given), whole("inlets", begun, 0), whole("inlets", last, 0)) for given, begun, last in
                     settings.get("inlets", [("", 0, snapshot.step)])]              # newer than the format
    return sim
