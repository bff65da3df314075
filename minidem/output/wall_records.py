"""Walls in checkpoints: settings in types of JSON, and arrays of meshes (checkpoint_fields.py)."""
from dataclasses import asdict, fields

import numpy as np

from minidem.core.checks import short_repr
from minidem.material import Material
from minidem.walls import Cylinder, MeshWall, Oscillation, Plane, Servo

KINDS = {kind.__name__: kind for kind in (Plane, Cylinder, MeshWall)}
FUNCTION = "function"           # instead of a motion that a file cannot hold


def pack_walls(walls):
    """Settings of walls, a list of dicts."""
    records = []
    for wall in walls:
        record = {"kind": type(wall).__name__} | {field.name: getattr(wall, field.name) for field in fields(wall)
                                                  if field.name != "surface"}
        record["material"] = wall.material and asdict(wall.material)
        if wall.motion is not None:
            known = isinstance(wall.motion, Oscillation | Servo)
            record["motion"] = asdict(wall.motion) if known else FUNCTION
        records.append(record)
    return records


def pack_meshes(surfaces):
    """Arrays of surfaces by wall: (points, triangles), or None."""
    none = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32)
    points, triangles = zip(none, *(surface or none for surface in surfaces))
    sizes = [(len(p), len(t)) for p, t in zip(points[1:], triangles[1:])]
    return {"mesh_sizes": np.array(sizes, dtype=np.int32).reshape(-1, 2),
            "mesh_points": np.concatenate(points), "mesh_triangles": np.concatenate(triangles)}


def unpack_walls(records, meshes, motions=None):
    """The inverse of `pack_walls`.

    meshes : dict, those of `pack_meshes`; empty: there are none.
    motions : dict, wall number -> function, of motions that a file cannot hold.

    Raises
    ------
    ValueError
        If one of them is missing, or for a wall that has none.
    """
    motions, walls = dict(motions or {}), []
    for k, record in enumerate(records):
        record = dict(record)
        kind, motion = KINDS[record.pop("kind")], record["motion"]
        if motion == FUNCTION:
            if k not in motions:
                raise ValueError(f"motions: the motion of wall {k} is a function, which a file cannot hold; give "
                                 f"load(path, motions={{{k}: function}})")
            motion = motions.pop(k)
        elif motion is not None:
            motion = Servo(**motion) if "mass" in motion else Oscillation(**motion)
        if kind is MeshWall:
            (first, start), (points, triangles) = meshes["mesh_sizes"][:k].sum(axis=0), meshes["mesh_sizes"][k]
            record["surface"] = (meshes["mesh_points"][first:first + points],
                                 meshes["mesh_triangles"][start:start + triangles])
        material = record["material"] and Material(**record["material"])
        walls.append(kind(**record | {"material": material, "motion": motion}))
    if motions:
        raise ValueError(f"motions = {short_repr(motions)}: the motion of these walls is no function")
    return walls
