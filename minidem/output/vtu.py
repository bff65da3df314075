"""Files for ParaView: the spheres of all clumps as points, contacts, bonds as lines (VTU), a series of frames (PVD).

Only `Mesh` and `vtu.write` of meshio are used: other writers have known faults (arrays of shape (n, 3, 3) are
mis-written). `vtu.write` drops `field_data`, so that the time is added here. Without compression frames are 1.5 times
as large and written ten times as fast.
"""
from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import numpy as np

from minidem.analysis.contacts import image_shifts
from minidem.core.atomic import replace_text, replacing
from minidem.core.checks import short_repr
from minidem.core.guard import exclusive
from minidem.core.quaternions import multiply, rotate

ARRAYS = {          # of a frame, besides the centres, and their units
    "radius": "m", "clump": "", "velocity": "m/s", "angular_velocity": "1/s", "orientation": "", "template": "",
    "clump_center": "m", "contact_force": "N", "image": ""}
BETWEEN = ("clumps", "spheres")         # what lines of contacts may join
PARTS = ("_walls.vtu", "_contacts.vtu")     # ends of the names of further files of a frame
_END = b"</UnstructuredGrid>\n</VTKFile>\n"
_TIME = b"""<FieldData>
<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">%r</DataArray>
</FieldData>
"""
_HEAD = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n  <Collection>\n'
_TAIL = "  </Collection>\n</VTKFile>\n"


def field_names(fields: str | Iterable[str] | None) -> tuple[str, ...]:
    """Names out of ARRAYS in their order, always with `radius`; fields : list, str with commas, "all" or None: all."""
    if fields is None or isinstance(fields, str) and fields == "all":
        return tuple(ARRAYS)
    if not isinstance(fields, (str, list, tuple)):
        raise ValueError(f"fields = {short_repr(fields)}: give a list of names out of {', '.join(ARRAYS)}")
    names = fields.split(",") if isinstance(fields, str) else fields
    for name in names:
        if not isinstance(name, str) or name not in ARRAYS:
            raise ValueError(f"fields: {short_repr(name)} is unknown; known are {', '.join(ARRAYS)}, and 'all'")
    return tuple(name for name in ARRAYS if name == "radius" or name in names)


class Frame:
    """The spheres of a simulation at one instant, as copies that `write` reads while the simulation continues.

    Only what the time loop changes is copied; values per sphere are computed by `write`. A file has one vertex per
    sphere, in the order of `sim.sphere_centers`, in the lab frame:

    - points: centre [m];
    - `radius` [m], `clump` (int32, id of the sphere's clump, which is its index unless clumps were removed);
    - `velocity` [m/s] of the sphere's centre, v + w x (centre - x);
    - `angular_velocity` [rad/s] and `orientation` (w, x, y, z; template frame to lab frame) of its clump;
    - `image` (3, int32) of its clump, if an axis is periodic: each clump is drawn whole, with its centre of mass in the
      box; these are the lengths of the box by which it was moved there;
    - `template` (int32, index in `sim.templates`) and `clump_center`, the centre of mass [m], of its clump;
    - `contact_force` [N], the sum of the forces of all contacts on its clump, without gravity and user forces;
    - each field of the simulation (`Simulation.fields.add`) and optional column (engine/columns.py) that is drawn, by
      its name, and each array of `extra`.

    The field data `TimeValue` is the time [s], which ParaView shows for single files too. Without spheres the file has
    no points; ParaView opens it, meshio does not.

    float32 : single precision, which halves the file;  fields : see `field_names`
    extra : further arrays (n_clumps,) or (n_clumps, 3) by name
    """

    def __init__(self, sim, float32=False, fields=None, extra=None):
        self.fields, self.real = field_names(fields), np.float32 if float32 else np.float64
        vars(self).update(_copies(sim, self.fields))
        self.added = self.added | (extra or {})
        if self.box is None:
            self.fields = tuple(name for name in self.fields if name != "image")
        self.fields += tuple(self.added)

    def mesh(self):
        """The frame as a meshio.Mesh."""
        import meshio  # not with minidem: it takes a tenth of a second
        centers, radii, clump = self.spheres[:, :3], self.spheres[:, 3], self.clump
        data = {"radius": radii, "clump": self.ids[clump].astype(np.int32), "template": self.template[clump],
                "clump_center": self.position[clump]}
        if self.rates:
            velocity, rate = self.rates
            angular_velocity = rotate(self.orientation, rate)[clump]
            arm = centers - self.position[clump]
            data["velocity"] = velocity[clump] + np.cross(angular_velocity, arm)
            data["angular_velocity"] = angular_velocity
        if self.box is not None:
            inside, image = self.box.wrapped(self.position), self.box.image(self.position)
            centers = centers + (inside - self.position)[clump]
            if self.rates and self.box.moves:           # velocities of the images that are drawn
                data["velocity"] += (self.box.flow(inside) - self.box.flow(self.position))[clump]
            data |= {"image": image[clump].astype(np.int32), "clump_center": inside[clump]}
        if "orientation" in self.fields:
            data["orientation"] = multiply(self.orientation, self.template_frames)[clump]
        if self.contact_force is not None:
            data["contact_force"] = self.contact_force[clump]
        data |= {name: values[clump] for name, values in self.added.items()}
        vertices = np.arange(len(clump), dtype=np.int32)[:, None]
        point_data = {name: data[name] if data[name].dtype == np.int32 else data[name].astype(self.real)
                      for name in self.fields}
        return meshio.Mesh(centers.astype(self.real), {"vertex": vertices}, point_data=point_data)

    def write(self, path):
        """Write the VTU file `path` atomically."""
        write_mesh(path, self.mesh(), self.time)


@exclusive
def _copies(sim, fields):
    """What a Frame needs of `sim`, by name."""
    reader = sim.reader
    return {"time": sim.time, "box": sim.box, "spheres": reader.spheres(), "clump": np.asarray(sim.sphere_clump),
            "ids": np.asarray(sim.ids), "template": np.asarray(sim.template_index),
            "position": reader.column("position"), "orientation": reader.column("orientation"),
            "template_frames": reader.template_frames(),
            "rates": reader.rates() if {"velocity", "angular_velocity"} & set(fields) else None,
            "contact_force": contact_forces(sim) if "contact_force" in fields else None,
            "added": reader.drawn()}                    # the last: rates and forces may have to be evaluated


def contact_forces(sim):
    """(n_clumps, 3) force of all contacts on each clump [N]."""
    if not sim.forces.functions:            # the force minus the weight takes less time than a list of contacts
        return np.asarray(sim.force) - np.asarray(sim.mass)[:, None] * np.array(sim.gravity)
    contacts, force = sim.contacts(), np.zeros((sim.n_clumps, 3))
    pairs = contacts[contacts["clump_j"] >= 0]
    np.add.at(force, contacts["clump_i"], contacts["force"])
    np.add.at(force, pairs["clump_j"], -pairs["force"])
    return force


@exclusive
def contact_mesh(sim, between="clumps"):
    """A meshio.Mesh with one line per contact, in the order of `sim.contacts()`.

    Lines end at the centres of the two clumps or spheres, or of one and at the contact point on a wall. In a periodic
    box a line begins where a frame has the first clump and ends at the image that it touches. Cell data:

    - `force`, `normal_force`, `tangential_force`: magnitudes of the force and of its parts [N]; `normal_force` is
      negative in attraction;
    - `overlap` [m], `sliding` (int32, 1 at the limit of friction);
    - `clump_i`, `clump_j` (int32, ids; -1 - k for wall k).
    """
    if between not in BETWEEN:
        raise ValueError(f"between = {short_repr(between)}: give one of {', '.join(map(repr, BETWEEN))}")
    contacts = sim.contacts()
    data = {"force": np.linalg.norm(contacts["force"], axis=1),
            "normal_force": np.sum(contacts["force"] * contacts["normal"], axis=1),
            "tangential_force": np.linalg.norm(contacts["tangential"], axis=1), "overlap": contacts["overlap"],
            "sliding": contacts["sliding"].astype(np.int32)}
    return _line_mesh(sim, contacts, between, data)


def bond_mesh(sim):
    """A meshio.Mesh of the bonds of `sim`: see `Simulation.io.write_bonds`."""
    bonds = sim.bonds()
    data = {name: bonds[name] for name in bonds.dtype.names if not name.startswith(("clump", "sphere"))}
    return _line_mesh(sim, bonds, "spheres", data)


def _line_mesh(sim, pairs, between, data):
    """A meshio.Mesh with a line for each of the `pairs`, as of `contact_mesh`, and cell data (n, ...) by name."""
    import meshio
    ids, box, position = np.asarray(sim.ids), sim.box, np.asarray(sim.position)
    centers, clump_j, n = position if between == "clumps" else sim.sphere_centers, pairs["clump_j"], len(pairs)
    at_wall = clump_j < 0
    starts, ends = (centers[np.maximum(pairs[f"{between[:-1]}_{side}"], 0)] for side in "ij")
    if at_wall.any():
        ends = np.where(at_wall[:, None], pairs["point"], ends)
    if box is not None:
        moved = (np.asarray(sim.wrapped_position) - position)[pairs["clump_i"]]
        starts, ends = starts + moved, ends + image_shifts(sim, pairs) + moved
    lines = np.arange(2 * n, dtype=np.int32).reshape(n, 2)
    data = data | {
        "clump_i": ids[pairs["clump_i"]].astype(np.int32),
        "clump_j": np.where(at_wall, clump_j, ids[np.where(at_wall, 0, clump_j)]).astype(np.int32)}
    return meshio.Mesh(np.stack([starts, ends], axis=1).reshape(-1, 3), {"line": lines},
                       cell_data={name: [values] for name, values in data.items()})


def write_mesh(path, mesh, time=None):
    """Write a meshio.Mesh atomically; time: TimeValue of the field data [s]."""
    import meshio
    with replacing(path) as temporary:
        meshio.vtu.write(temporary, mesh, compression=None)
        if time is not None:
            with open(temporary, "r+b") as file:
                file.seek(-len(_END), os.SEEK_END)
                file.write(_TIME % float(time) + _END)


class Pvd:
    """The series in the .pvd file `path`, rewritten atomically after every frame, first by `write` or `add`.

    keep : function, to continue a series: frames in the file for whose time [s] it returns true are kept. Default:
    none. ValueError if the file to continue is not a series.
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
        rows = [f'    <DataSet timestep="{time!r}" part="{part_number(file)}" file={quoteattr(file)}/>\n'
                for time, file in self.frames]
        replace_text(self.path, _HEAD + "".join(rows) + _TAIL)


def part_number(file):
    """0 for the spheres of a frame; 1, 2 for its further files, PARTS."""
    return next((k for k, end in enumerate(PARTS, 1) if file.endswith(end)), 0)
