"""Files for ParaView: the spheres of all clumps as points (VTU), a series of such frames (PVD).

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

FIELDS = ("radius", "clump", "velocity", "angular_velocity", "orientation", "image")    # of a frame, besides centres
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
        write_mesh(path, meshio.Mesh(centers.astype(real), {"vertex": vertices},
                                 point_data={name: data[name] for name in self.fields}))


@exclusive
def _copies(sim, with_rates):
    """What a Frame needs of `sim`."""
    sim._loop.pose()
    state = sim._state
    return (sim._of_spheres(), np.asarray(sim.sphere_clump), np.asarray(sim.ids), state.column("position"),
            state.column("orientation"), frames_to_drawn(state), sim._rates() if with_rates else None)


def write_mesh(path, mesh):
    """Write a meshio.Mesh atomically."""
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

    def add(self, time, *files):
        """Append the files of a frame (paths inside the folder of the .pvd) at `time` [s], and write the .pvd."""
        self.frames += [(float(time), Path(file).relative_to(self.path.parent).as_posix()) for file in files]
        self.write()

    def write(self):
        """Write the file."""
        rows = [f'    <DataSet timestep="{time!r}" part="{int(file.endswith("_walls.vtu"))}" file={quoteattr(file)}/>\n'
                for time, file in self.frames]
        replace_text(self.path, _HEAD + "".join(rows) + _TAIL)
