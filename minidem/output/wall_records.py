"""Walls in checkpoints: settings in types of JSON, and arrays of meshes (checkpoint_fields.py)."""
from dataclasses import asdict, fields

import numpy as np

from minidem.core.checks import short_repr
from minidem.material import Material
from minidem.walls import SHAPES, MeshWall, Oscillation, Servo

KINDS = {shape.__name__: shape for shape in SHAPES}
FUNCTION = "function"           # instead of a motion that a file cannot hold


def pack_walls(walls):
    """(settings of walls, list of dicts; arrays of meshes)."""
    records = []
    for wall in walls:
        record = {field.name: getattr(wall, field.name) for field in fields(wall) if field.name != "surface"}
        motion = wall.motion if wall.motion is None else FUNCTION
        if isinstance(wall.motion, Oscillation | Servo):
            motion = asdict(wall.motion)
        records.append(record | {"kind": type(wall).__name__, "material": wall.material and asdict(wall.material),
                                 "motion": motion})
    return records, pack_meshes([wall.surface for wall in walls])


def pack_meshes(surfaces):
    """Arrays of surfaces by wall, (points, triangles), or None."""
    none = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32)
    points, triangles = zip(none, *(surface or none for surface in surfaces))
    sizes = [(len(p), len(t)) for p, t in zip(points, triangles)]
    return {"mesh_sizes": np.array(sizes[1:], dtype=np.int32).reshape(-1, 2),
            "mesh_points": np.concatenate(points), "mesh_triangles": np.concatenate(triangles)}


def unpack_walls(records, meshes, motions=None):
    """The inverse of `pack_walls`; ValueError if a motion is missing, or given for a wall that has none.

    motions : dict, wall number -> function, of motions that a file cannot hold.
    """
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
            motion = Servo(**motion) if "mass" in motion else Oscillation(**motion)
        given = record | {"material": record["material"] and Material(**record["material"]), "motion": motion}
        if record["kind"] == MeshWall.__name__:
            given["surface"] = tuple(np.split(meshes[name], at)[k]
                                     for name, at in zip(("mesh_points", "mesh_triangles"), ends))
        walls.append(KINDS[given.pop("kind")](**given))
    for k in motions:
        if k not in range(len(records)):
            raise ValueError(f"motions[{k!r}]: give a number of a wall, of which there are {len(records)}, or "
                             "'periodic' for the box")
    if motions:
        raise ValueError(f"motions = {short_repr(motions)}: the motion of these walls is no function")
    return walls
