"""Walls in checkpoints: settings in types of JSON, and arrays of meshes."""
from dataclasses import asdict, fields

from minidem.core.checks import LARGEST, finite_array, short_repr
from minidem.material import Material
from minidem.walls import Cylinder, MeshWall, Oscillation, Plane, Servo

KINDS = {kind.__name__: kind for kind in (Plane, Cylinder, MeshWall)}
FUNCTION = "function"           # instead of a motion that a file cannot hold


def pack_walls(walls, material_values):
    """(list of dicts, arrays by name, whether an older version can read them); material_values : see checkpoint.py."""
    records, arrays, simple = [], {}, True
    for k, wall in enumerate(walls):
        record = {"kind": type(wall).__name__} | {field.name: getattr(wall, field.name) for field in fields(wall)}
        record["material"] = wall.material and material_values(wall.material)
        if isinstance(wall, MeshWall):
            arrays |= {f"wall_{k}_points": wall.surface[0], f"wall_{k}_triangles": wall.surface[1]}
            record.pop("surface")
        if wall.motion is not None:
            known = isinstance(wall.motion, Oscillation | Servo)
            record["motion"] = asdict(wall.motion) if known else FUNCTION
        if isinstance(wall, Plane) and not wall.moves:
            record = {name: record[name] for name in ("point", "normal", "material")}
        simple &= len(record) == 3
        records.append(record)
    return records, arrays, simple


def unpack_walls(records, arrays, motions=None):
    """The inverse of `pack_walls`.

    motions : dict, wall number -> function, of motions that a file cannot hold.

    Raises
    ------
    ValueError
        If one of them is missing, or for a wall that has none.
    """
    motions, walls = dict(motions or {}), []
    for k, record in enumerate(records):
        record = dict(record)
        kind, motion = KINDS[record.pop("kind", "Plane")], record.pop("motion", None)
        if motion == FUNCTION:
            if k not in motions:
                raise ValueError(f"motions: the motion of wall {k} is a function, which a file cannot hold; give "
                                 f"load(path, motions={{{k}: function}})")
            motion = motions.pop(k)
        elif motion is not None:
            motion = Servo(**motion) if "mass" in motion else Oscillation(**motion)
        if kind is MeshWall:
            points = finite_array(f"wall_{k}_points", arrays[f"wall_{k}_points"], (-1, 3), limit=LARGEST)
            record["surface"] = points, arrays[f"wall_{k}_triangles"]
        material = record.pop("material")
        walls.append(kind(**record, material=material and Material(**material), motion=motion))
    if motions:
        raise ValueError(f"motions = {short_repr(motions)}: the motion of these walls is no function")
    return walls
