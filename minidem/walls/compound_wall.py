"""Walls of several parts that move as one."""
from dataclasses import dataclass

import numpy as np

from minidem.core.checks import short_repr
from minidem.walls.cone import Cone
from minidem.walls.mesh_wall import MeshWall
from minidem.walls.wall import Limits, Wall


@dataclass(frozen=True, eq=False)
class CompoundWall(Wall):
    """Cones and meshes as one rigid wall: a bucket, a drum with its ends, a mixer with its blades.

    It has one motion, so that a `Servo` or `Driven` acts against the forces on all parts; one name, one number, one
    force. A sphere touches each part as if it were a wall by itself: at an edge that two cones share, or a cone and a
    mesh, it touches both.

    Parameters
    ----------
    parts : list of Cone and MeshWall
        At rest and without names and materials, at their places at time 0. A `Cone` also is a tube, a ring or a disc.
    material, velocity, angular_velocity, center, motion, surface_velocity, surface_angular_velocity, name
        As of `Plane`, of all parts. It may turn about any axis. By default `center` is the mean of those of the parts.

    Attributes
    ----------
    parts : tuple
        The cones, then one mesh of all triangles, which `contacts()` numbers.

    Raises
    ------
    ValueError
        For parts of other kinds, or with a motion, a material or a name of their own; for meshes with different feature
        angles.
    """

    parts: tuple

    def __post_init__(self):
        if not isinstance(self.parts, list | tuple) or not len(self.parts):
            raise ValueError(f"parts = {short_repr(self.parts)}: give a list of Cone and MeshWall")
        for k, part in enumerate(self.parts):
            if not isinstance(part, Cone | MeshWall):
                raise ValueError(f"parts[{k}] = {short_repr(part)}: give a Cone or MeshWall; a tube is a Cone of two "
                                 "equal radii, a disc a Cone without height, a box MeshWall.box(low, high)")
            if part.moves or part.name is not None or part.material is not None:
                raise ValueError(f"parts[{k}] = {short_repr(part)}: give motion, name and material to the whole")
        cones, meshes = ([part for part in self.parts if isinstance(part, kind)] for kind in (Cone, MeshWall))
        if len({mesh.feature_angle for mesh in meshes}) > 1:
            raise ValueError("parts: the meshes have different angles; give all of them the same feature_angle")
        if len(meshes) > 1:
            first = np.cumsum([0] + [len(mesh.points) for mesh in meshes])
            surface = (np.concatenate([mesh.points for mesh in meshes]),
                       np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, first)]))
            meshes = [MeshWall(surface, feature_angle=meshes[0].feature_angle)]
        vars(self)["parts"] = (*cones, *meshes)
        self._check_motion(np.mean([part.center for part in self.parts], axis=0))

    @property
    def surface(self):
        return self.parts[-1].surface

    @property
    def feature_angle(self):
        return self.parts[-1].feature_angle

    def pieces(self):
        return list(self.parts)

    def primitives(self):
        return [primitive for part in self.parts for primitive in part.primitives()]

    def _moving_parts(self):
        """The parts with the rotations of the whole."""
        return [part.with_changes(center=self.center, angular_velocity=self.angular_velocity, motion=self.motion)
                for part in self.parts]

    def limits(self):
        return Limits(extent=max(part.limits().extent for part in self._moving_parts()))

    def without_images(self, length, turns=None):
        reasons = [part.without_images(length, turns) for part in self._moving_parts()]
        return next((reason for reason in reasons if reason), None)

    def mapped(self, moved, factor=1.0, **changes):
        parts = [part.mapped(moved, factor, center=tuple(moved(part.center).tolist())) for part in self.parts]
        return self.with_changes(parts=parts, **changes)

    def __repr__(self):
        return f"<CompoundWall of {', '.join(map(short_repr, self.parts))}>"
