"""Walls: planes, cylinders, cones and triangle meshes, at rest or with a given motion."""
from minidem.walls.compound_wall import CompoundWall
from minidem.walls.cone import Cone
from minidem.walls.cylinder import Cylinder
from minidem.walls.mesh_wall import MeshWall
from minidem.walls.motion import Driven, Oscillation, Servo, scaled
from minidem.walls.plane import Plane, box_walls, require_planes_at_rest
from minidem.walls.wall import Carrier, Wall

SHAPES = (Plane, Cylinder, Cone, MeshWall, CompoundWall, Carrier)

__all__ = ["SHAPES", "Carrier", "CompoundWall", "Cone", "Cylinder", "Driven", "MeshWall", "Oscillation", "Plane",
           "Servo", "Wall", "box_walls", "require_planes_at_rest", "scaled"]
