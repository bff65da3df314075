"""Walls of triangles."""
import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import product
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.core import checks
from minidem.core.checks import LARGEST, file_path, finite_array, number, positive, short_repr, triangle_array
from minidem.core.read_only import read_only
from minidem.core.rows import unique_rows
from minidem.meshes.mesh_files import read_triangles
from minidem.meshes.mesh_repair import MERGED, merged
from minidem.walls.motion import FIXED
from minidem.walls.wall import Limits, Wall

SIDES = {sign + axis: (k, end) for k, axis in enumerate("xyz") for end, sign in enumerate("-+")}        # of a box
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

    @classmethod
    def box(cls, low: ArrayLike, high: ArrayLike, *, open: str | Sequence[str] = (), flange: float = 0.0,
            **options: Any) -> "MeshWall":
        """The sides of an axis-aligned box as one wall: a container, half of a shear box, a lid with a rim.

        Six sides act as the planes of `box_walls`, but they end at the edges, and spheres touch them from both sides.

        Parameters
        ----------
        low, high : (3,) array_like
            Opposite corners, lab frame [m]; low < high in every component.
        open : str, or list of str
            Sides without a wall, of "-x", "+x", "-y", "+y", "-z" and "+z".
        flange : float
            Width of a rim around each open side, outward and in its plane [m].
        **options
            Other arguments of `MeshWall`, such as motion, material and name.

        Raises
        ------
        ValueError
            For an argument out of range, six open sides, or a flange without an open side.
        """
        low, high = checks.corners(low, high)
        flange, gaps = checks.non_negative("flange", flange), [open] if isinstance(open, str) else open
        if not isinstance(gaps, list | tuple) or not all(side in [*SIDES] for side in gaps) or len(set(gaps)) > 5:
            raise ValueError(f"open = {short_repr(open)}: give at most five of {', '.join(map(repr, SIDES))}")
        if flange > 0.0 and not gaps:
            raise ValueError(f"flange = {flange:g}: a rim is around open sides; give open='+z', or leave it out")
        squares = np.concatenate(list(_box_sides(np.array([low, high]), {SIDES[side] for side in gaps}, flange)))
        first = 4 * np.arange(len(squares) // 4)[:, None]
        return cls((squares, np.concatenate([first + (0, 1, 2), first + (0, 2, 3)])), **options)

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

    def region(self, ends=("INF", "INF")):
        """A block with open faces, of a mesh of whole sides of a box along the axes, not of all six."""
        points, corners = self.surface[0], self.surface[0][self.surface[1]]
        low, high = points.min(axis=0), points.max(axis=0)
        sizes, areas = high - low, 0.5 * np.abs(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        covered, rest = np.zeros(6), np.ones(len(corners), dtype=bool)          # areas of sides; triangles in none
        for k, (axis, end) in enumerate(SIDES.values()):
            within = rest & (corners[:, :, axis] == (low, high)[end][axis]).all(axis=1)
            covered[k], rest = areas[within, axis].sum(), rest & ~within
        there, full = covered > 0.0, np.repeat([np.prod(np.delete(sizes, axis)) for axis in range(3)], 2)
        if rest.any() or there.all() or not np.allclose(covered[there], full[there], rtol=FIXED):
            return None
        high = np.where(sizes > 0.0, high, low + sizes.max())           # of a plate, the low side of a block
        gaps = [f"open {k}" for k in np.flatnonzero(~there) + 1]
        return " ".join(["block", *(f"{x:.17g}" for x in np.column_stack([low, high]).ravel()), *gaps, "units box"])

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


def _box_sides(ends, gaps, flange):
    """Corners (4, 3) of the rectangles of a box without the sides `gaps`, and of the parts of their rims.

    ends : (2, 3) low and high corner;  gaps : set of (axis, 0 low or 1 high);  flange : width of the rims [m]
    """
    for axis, end in product(range(3), range(2)):
        first, second = (one for one in range(3) if one != axis)
        square = np.empty((2, 2, 3))                    # low and high along the first, along the second
        square[..., axis] = ends[end, axis]
        square[..., first], square[..., second] = ends[:, first, None], ends[:, second]
        wide = square.copy()
        wide[..., first] += flange * np.array([[-1.0], [1.0]])
        wide[..., second] += flange * np.array([-1.0, 1.0])
        if (axis, end) not in gaps:
            yield square.reshape(4, 3)[[0, 1, 3, 2]]
        elif flange > 0.0:
            for side, (k, along) in product(range(2), enumerate((first, second))):
                if (along, side) not in gaps:
                    yield np.concatenate([square.take(side, k), wide.take(side, k)[::-1]])


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
