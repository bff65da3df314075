"""Walls of triangles."""
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from minidem.core.checks import LARGEST, file_path, finite_array, number, positive, short_repr, triangle_array
from minidem.core.read_only import read_only
from minidem.core.rows import unique_rows
from minidem.material import Material
from minidem.meshes.mesh_files import read_triangles
from minidem.meshes.mesh_repair import MERGED, merged
from minidem.walls.motion import FIXED
from minidem.walls.wall import Limits, Wall

LEAST_HEIGHT = 1e-7                 # of a triangle / longest edge; single precision of files is about 1e-7


@dataclass(frozen=True, eq=False)
class MeshWall(Wall):
    """A surface of triangles. Spheres touch it from both sides.

    A sphere touches a face, an edge or a corner, each once. Of two neighbouring triangles whose contact normals differ
    by less than the feature angle, it touches the nearer one only: on a surface that approximates a smooth one it has
    one contact everywhere. The history of a contact is carried over from a triangle to the next one.

    Parameters
    ----------
    surface : path, or ((n, 3) array_like, (m, 3) array_like of int)
        File with triangles (STL, OBJ, PLY, VTU and others), or points [m] and triangles as indices of points.
    scale : float
        Factor of all coordinates; 0.001 for a file in mm.
    material, velocity, angular_velocity, center, motion, surface_velocity, surface_angular_velocity, name
        As of `Plane`, but of the whole mesh, which moves away with the velocity and may turn about any axis. By
        default `center` is the centre of the bounding box.
    feature_angle : float
        [rad]; default 0.35 (20 degrees).

    Attributes
    ----------
    points, triangles : (n, 3) and (m, 3) ndarray
        In the lab frame at time 0 [m], without unused and double points, degenerate and double triangles.

    Raises
    ------
    ValueError
        For a file that cannot be read, numbers that are not finite, indices out of range, or a surface without area.

    Warns
    -----
    UserWarning
        With the number of degenerate or double triangles that are left out. Holes need no repair.
    """

    surface: Any = field()              # without the default that `Wall` has
    _: KW_ONLY
    scale: float = 1.0
    material: Material | None = None
    velocity: tuple = (0.0, 0.0, 0.0)
    angular_velocity: tuple = (0.0, 0.0, 0.0)
    center: tuple | None = None
    motion: Callable | None = None
    feature_angle: float = 0.35

    def __post_init__(self):
        scale = positive("scale", self.scale)
        vars(self).update(feature_angle=number("feature_angle", self.feature_angle))
        if not 0.0 <= self.feature_angle < 1.6:
            raise ValueError(f"feature_angle = {self.feature_angle}: give an angle in radians, from 0 to 1.5")
        if isinstance(self.surface, str | PathLike):
            points, triangles = read_triangles(file_path("surface", self.surface))
        else:
            points, triangles = _arrays(self.surface)
        points = finite_array("points", points * scale, (-1, 3), limit=LARGEST)
        points, triangles = _cleaned(points, triangles)
        vars(self).update(surface=(points, triangles), scale=1.0)       # not read again from the file
        self._check_motion(0.5 * (points.min(axis=0) + points.max(axis=0)))

    @property
    def points(self) -> np.ndarray:
        return read_only("points", self.surface[0])

    @property
    def triangles(self) -> np.ndarray:
        return read_only("triangles", self.surface[1])

    def with_changes(self, **changes):
        """See `Wall.with_changes`; the points are not cleaned again."""
        wall = object.__new__(MeshWall)
        vars(wall).update(vars(self), **changes)
        wall._check_motion(wall.center)
        return wall

    def mapped(self, moved, factor=1.0, **changes):
        return self.with_changes(surface=(moved(self.surface[0]), self.surface[1]), **changes)

    def limits(self):
        return Limits(extent=np.sqrt(((self.surface[0] - self.center) ** 2).sum(axis=1).max()))

    def without_images(self, length, turns=None):
        periodic, size = length > 0.0, np.ptp(self.surface[0], axis=0)
        axes = [axis for name, axis in self.rotations.items() if name != "surface_angular_velocity"]
        axes += [] if turns is None else [turns]
        if axes:
            size = self._swept(np.array(axes))
        long = periodic & (size > length * (1.0 + 1e-9))
        if not long.any():
            return None
        axis = int(np.argmax(long))
        return (f"it takes {size[axis]:g} m{' when it turns' if axes else ''} along the periodic axis {'xyz'[axis]}, "
                f"of a box of {length[axis]:g} m; give a part that fits into one box")

    def _swept(self, axes):
        """(3,) size along x, y, z of what the surface sweeps when it turns about axes (n, 3); zero: about any."""
        unit = axes[0] / (np.linalg.norm(axes[0]) or 1.0)
        if np.abs(np.cross(axes, unit)).max() > FIXED * np.abs(axes).max() or not unit.any():
            return np.full(3, 2.0 * self.limits().extent)
        arms = self.surface[0] - self.center
        along = (arms @ unit)[:, None] * unit
        reach = np.linalg.norm(arms - along, axis=1)[:, None] * np.sqrt(np.maximum(0.0, 1.0 - unit ** 2))
        return (along + reach).max(axis=0) - (along - reach).min(axis=0)

    def __repr__(self):
        return f"<MeshWall of {len(self.surface[1])} triangles>"


def _arrays(surface):
    """Points and triangles, checked."""
    if not (isinstance(surface, tuple | list) and len(surface) == 2):
        raise ValueError(f"surface = {short_repr(surface)}: give a file, or a tuple (points (n, 3), triangles (m, 3))")
    points = finite_array("points", surface[0], (-1, 3), limit=LARGEST)
    return points, triangle_array("triangles", surface[1], len(points)).astype(np.int64)


def _cleaned(points, triangles):
    """Without double and unused points, degenerate and double triangles."""
    before, size = len(triangles), float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
    points, triangles = merged(points, triangles, MERGED * size)
    triangles = triangles[np.sort(unique_rows(np.sort(triangles, axis=1))[1])]
    corners = points[triangles]
    edges = corners - np.roll(corners, 1, axis=1)
    longest = (edges ** 2).sum(axis=2).max(axis=1, initial=0.0)
    triangles = triangles[np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) > LEAST_HEIGHT * longest]
    if not len(triangles):
        raise ValueError(f"surface: none of its {before} triangles has an area; give a mesh of triangles")
    if len(triangles) < before:
        warnings.warn(f"surface: {before - len(triangles)} of {before} triangles are degenerate or double and are left "
                      "out", UserWarning, stacklevel=4)
    used, triangles = np.unique(triangles, return_inverse=True)
    return np.ascontiguousarray(points[used]), np.ascontiguousarray(triangles.reshape(-1, 3).astype(np.int32))
