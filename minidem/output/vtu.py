"""Files for ParaView: the spheres of all clumps as points (VTU), a series of such frames (PVD), the walls as polygons.

Only `Mesh` and `vtu.write` of meshio are used, and only here: other writers have known faults (arrays of shape
(n, 3, 3) are mis-written, `field_data` such as the time is dropped), so that the times are in the .pvd file. Without
compression frames are 1.5 times as large and written ten times as fast.
"""

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import meshio
import numpy as np

from minidem.core.checks import short_repr
from minidem.core.guard import exclusive
from minidem.core.quaternions import multiply, rotate
from minidem.output import replace_text, replacing
from minidem.state.bodies import frames_to_drawn

# Side of the square that represents an infinite plane, in sizes of the scene. Clipping loses about
# HUGE * 2^-52 = 2e-13 of the scene's size, below the resolution of float32.
HUGE = 1e3
FIELDS = ("radius", "clump", "velocity", "angular_velocity", "orientation", "image")    # of a frame, besides centres
EDGES = np.array([(k, k | 1 << axis) for k in range(8) for axis in range(3) if not k >> axis & 1], dtype=np.int32)
_HEAD = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n  <Collection>\n'
_TAIL = "  </Collection>\n</VTKFile>\n"


def field_names(fields: str | Iterable[str] | None) -> tuple[str, ...]:
    """Names out of FIELDS in their order, of None or "all" all; `radius` is always among them.

    Parameters
    ----------
    fields : list of str, or str with commas between the names

    Raises
    ------
    ValueError
        For an unknown name; lists the known ones.
    """
    if fields is None or isinstance(fields, str) and fields == "all":
        return FIELDS
    if not isinstance(fields, (str, list, tuple)):
        raise ValueError(f"fields = {short_repr(fields)}: give a list of names out of {', '.join(FIELDS)}")
    names = fields.split(",") if isinstance(fields, str) else fields
    for name in names:
        if not isinstance(name, str) or name not in FIELDS:
            raise ValueError(f"fields: {short_repr(name)} is unknown; known are {', '.join(FIELDS)}, and 'all'")
    return tuple(name for name in FIELDS if name == "radius" or name in names)


def write_spheres(path, sim, float32=False, fields=None):
    """Write the spheres of `sim` at its current time to the VTU file `path`, atomically.

    One vertex per sphere, in the order of `sim.sphere_centers()`, in the lab frame:

    - points: centre [m];
    - `radius` [m], `clump` (int32, id of the sphere's clump, which is its index unless clumps were removed);
    - `velocity` [m/s] of the sphere's centre, v + w x (centre - x);
    - `angular_velocity` [rad/s] and `orientation` (w, x, y, z; template frame to lab frame) of its clump;
    - `image` (3, int32) of its clump, if an axis is periodic: each clump is drawn whole, with its centre of mass in the
      box, and was moved there by so many lengths of the box.

    Parameters
    ----------
    path : path
    sim : Simulation
        Without spheres the file has no points; ParaView opens it, meshio does not.
    float32 : bool
        Single precision, which halves the file. Default: float64.
    fields : list of str, or str, optional
        Which of the fields besides the centre; see `field_names`. Default: all.
    """
    Frame(sim, float32, fields).write(path)


class Frame:
    """The spheres of a simulation at one instant, as copies that `write` reads while the simulation goes on.

    Only what the time loop changes is copied; values per sphere are computed by `write`. Parameters as for
    `write_spheres`.
    """

    def __init__(self, sim, float32=False, fields=None):
        self.fields, self.real = field_names(fields), np.float32 if float32 else np.float64
        self.spheres, self.clump, self.ids, self.position, self.orientation, self.drawn, self.rates = _copies(
            sim, {"velocity", "angular_velocity"} & set(self.fields))
        self.box = sim._state.box
        if self.box is None:
            self.fields = tuple(name for name in self.fields if name != "image")

    def write(self, path):
        """Write the VTU file `path` atomically."""
        centers, radii, clump, real = self.spheres[:, :3], self.spheres[:, 3], self.clump, self.real
        data = {"radius": radii.astype(real), "clump": self.ids[clump].astype(np.int32)}
        if self.rates:
            velocity, rate = self.rates
            angular_velocity = rotate(self.orientation, rate)[clump]
            arm = centers - self.position[clump]
            data["velocity"] = (velocity[clump] + np.cross(angular_velocity, arm)).astype(real)
            data["angular_velocity"] = angular_velocity.astype(real)
        if self.box is not None:
            inside, image = self.box.wrapped(self.position), self.box.image(self.position)
            centers = centers + (inside - self.position)[clump]
            data["image"] = image[clump].astype(np.int32)
        if "orientation" in self.fields:
            data["orientation"] = multiply(self.orientation, self.drawn)[clump].astype(real)
        vertices = np.arange(len(clump), dtype=np.int32)[:, None]
        _write(path, meshio.Mesh(centers.astype(real), {"vertex": vertices},
                                 point_data={name: data[name] for name in self.fields}))


@exclusive
def _copies(sim, with_rates):
    """What a Frame needs of `sim`."""
    sim._loop.pose()
    state = sim._state
    return (sim._of_spheres(), np.asarray(sim.sphere_clump), np.asarray(sim.ids), state.column("position"),
            state.column("orientation"), frames_to_drawn(state), sim._rates() if with_rates else None)


def write_walls(path, sim):
    """Write the walls of `sim` as polygons to the VTU file `path`; False if there is nothing to write.

    Walls that enclose a convex room are written completely. An infinite plane is cut at the bounding box of the
    spheres; without spheres its extent is arbitrary, and it is not written. Along periodic axes the periodic box
    replaces the bounding box; its edges are written as lines.
    """
    centers, radii = sim.sphere_centers(), np.asarray(sim.sphere_radii)[:, None]
    bounds, box = ((centers - radii).min(axis=0), (centers + radii).max(axis=0)) if len(centers) else None, sim._state.box
    if box is not None:
        bounds = [np.where(box.axes, corner, corner if bounds is None else bound)
                  for corner, bound in zip((box.low, box.high), bounds or (None, None))]
    polygons = wall_polygons([(wall.point, wall.normal) for wall in sim.walls or ()], bounds)
    cells, first = [], 0
    for polygon in polygons:
        corners = np.arange(first, first + len(polygon), dtype=np.int32)
        cells.append(("quad" if len(polygon) == 4 else "polygon", corners[None, :]))
        first += len(polygon)
    if box is not None:
        polygons, cells = [*polygons, _corners(box.low, box.high)], [*cells, ("line", first + EDGES)]
    if not polygons:
        return False
    _write(path, meshio.Mesh(np.concatenate(polygons), cells))
    return True


def _corners(low, high):
    """(8, 3) corners of a box; the bits of their numbers are those of the axes along which they are high."""
    return np.where(np.arange(8)[:, None] >> np.arange(3) & 1, high, low)


def _write(path, mesh):
    with replacing(path) as temporary:
        try:
            meshio.vtu.write(temporary, mesh, compression=None)
        except OSError as error:        # as for a full disk, which the system reports without the name of the file
            raise OSError(error.errno, error.strerror, str(path)) from None


class Pvd:
    """The series in the .pvd file `path`, rewritten atomically after every frame.

    Parameters
    ----------
    path : path
        Nothing is written before `write` or `add`.
    keep : callable, optional
        To continue a series: frames in the file for whose time [s] it returns true are kept. Default: none.

    Raises
    ------
    ValueError
        If the file to continue is not a series.
    """

    def __init__(self, path, keep=None):
        self.path = Path(path)
        self.frames = []        # (time, file name relative to the .pvd)
        if keep is not None and self.path.exists():
            try:
                listed = ElementTree.parse(self.path).getroot().iter("DataSet")
                frames = [(float(entry.attrib["timestep"]), entry.attrib["file"]) for entry in listed]
            except (ElementTree.ParseError, KeyError, ValueError) as error:
                raise ValueError(f"{self.path}: not a series of frames ({error}); "
                                 "remove it to begin another one") from None
            self.frames = [frame for frame in frames if keep(frame[0])]

    def add(self, time, file):
        """Append the frame `file` (a path inside the folder of the .pvd) at `time` [s], and write the file."""
        self.frames.append((float(time), Path(file).relative_to(self.path.parent).as_posix()))
        self.write()

    def write(self):
        """Write the file."""
        rows = [f'    <DataSet timestep="{time!r}" part="0" file={quoteattr(file)}/>\n'
                for time, file in self.frames]
        replace_text(self.path, _HEAD + "".join(rows) + _TAIL)


def wall_polygons(walls, bounds):
    """The visible part of each wall, cut by the other walls, and by `bounds` where it would be infinite.

    Parameters
    ----------
    walls : list of (point (3,), normal (3,))
        The normal points to the side of the clumps.
    bounds : pair of (3,), or None
        Low and high corner of a box; with None walls that extend to infinity are omitted.

    Returns
    -------
    list of (n, 3)
        Corners, counter-clockwise about the wall's normal; walls of which nothing remains are omitted.
    """
    planes = [(np.asarray(p, dtype=float), np.asarray(n, dtype=float) / np.linalg.norm(n)) for p, n in walls]
    marks = [point for point, _ in planes] + list(bounds or ())
    if not planes or np.ptp(marks, axis=0).max() == 0.0:
        return []       # a single plane without spheres: the extent is undefined
    middle = 0.5 * (np.max(marks, axis=0) + np.min(marks, axis=0))
    size = np.ptp(marks, axis=0).max()
    sides = []
    if bounds is not None:
        sides = [(np.asarray(corner), sign * axis)
                 for corner, sign in zip(bounds, (1.0, -1.0)) for axis in np.eye(3)]
    polygons = []
    for k, (point, normal) in enumerate(planes):
        polygon = _square(middle - normal * np.dot(normal, middle - point), normal, HUGE * size)
        for other in planes[:k] + planes[k + 1:]:
            polygon = _clip(polygon, *other)
        for corner, inward in sides:
            if len(polygon) and np.min((polygon - corner) @ inward) < -0.1 * HUGE * size:  # open on this side
                polygon = _clip(polygon, corner, inward)
        infinite = len(polygon) and np.abs(polygon - middle).max() > 0.1 * HUGE * size
        if len(polygon) >= 3 and not infinite:
            polygons.append(polygon)
    return polygons


def _square(center, normal, side):
    """Corners (4, 3) of a square of this side, counter-clockwise about the normal."""
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    return center + 0.5 * side * np.array([first + second, second - first, -first - second, first - second])


def _clip(polygon, point, normal):
    """The part of a convex polygon on the positive side of a plane (Sutherland and Hodgman)."""
    height = (polygon - point) @ normal
    corners = []
    for k in range(len(polygon)):
        last, this = k - 1, k
        if (height[last] >= 0.0) != (height[this] >= 0.0):
            fraction = height[last] / (height[last] - height[this])
            corners.append(polygon[last] + fraction * (polygon[this] - polygon[last]))
        if height[this] >= 0.0:
            corners.append(polygon[this])
    return np.array(corners).reshape(-1, 3)
