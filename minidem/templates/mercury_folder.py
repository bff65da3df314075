"""Folders of clumps of MercuryDPM: its tool MClump writes them, its drivers read them.

    Clump/Clump.txt     x,y,z,r of each sphere
    Inertia/Mass.txt    mass
    Inertia/TOI.txt     tensor of inertia, three lines of three numbers
    Inertia/PD.txt      directions of the frame in the laboratory at the start, three lines of three numbers

Numbers are separated by commas, without comments. All are in the units of the simulation, and in one frame: its origin
is the centre of mass, its axes are, unless MClump is told otherwise, the principal axes. So PD.txt is the identity; it
turns the clump as a whole and is not read. In older versions of MercuryDPM all names are in lower case.

MercuryDPM reads single precision, and stops at numbers that it cannot hold.
"""
import errno

import numpy as np

from minidem.core.atomic import replace_text
from minidem.core.checks import LARGEST, existing_file, file_path, finite_array, positive, refuse
from minidem.templates.mass.mass_properties import tensor_properties

SPHERES, MASS, TENSOR, DIRECTIONS = "Clump/Clump.txt", "Inertia/Mass.txt", "Inertia/TOI.txt", "Inertia/PD.txt"
REMEDY = f"a clump of MercuryDPM has {SPHERES}, {MASS} and {TENSOR}; give its {SPHERES} for the spheres alone"
SINGLE = np.finfo(np.float32)


def is_folder(path):
    """Whether `path` is the folder of a clump of MercuryDPM."""
    return _part(path, "Clump").is_dir()


def spheres_file(path):
    """Return the path of the text file of spheres in the folder `path`; FileNotFoundError without one."""
    return existing_file("path", _part(path, SPHERES), REMEDY)


def read_body(path, volume, scale, relative_error):
    """Return the MassProperties in the folder `path`; mass and moments are read from the files.

    volume : of the clump [m3], for the density;  relative_error : of the volume;  scale : unit of length [m]

    ValueError for a file without numbers of the right shape, or with impossible ones; FileNotFoundError without one.
    """
    file = existing_file("path", _part(path, MASS), REMEDY)
    mass = positive(str(file), _numbers(file, (1, 1))[0, 0])
    file = existing_file("path", _part(path, TENSOR), REMEDY)
    tensor = _numbers(file, (3, 3))
    body = tensor_properties(str(file), tensor, mass, np.zeros(3), volume, relative_error)
    return body._replace(inertia=body.inertia * scale ** 2)


def write_folder(path, offsets, radii, mass, inertia):
    """Write the folder `path` of the attributes of a ClumpTemplate, with all digits, in the principal frame.

    ValueError for numbers outside the range of single precision, NotADirectoryError if `path` is a file.
    """
    folder = file_path("path", path)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "path: this is a file; give the name of a folder for MercuryDPM",
                                 str(folder))
    offsets = np.where(np.abs(offsets) < SINGLE.tiny, 0.0, offsets)
    for name, values in (("offsets", offsets), ("radii", radii), ("mass", np.array(mass)), ("inertia", inertia)):
        size = np.abs(values)
        refuse(name, values, (size > SINGLE.max) | (size > 0.0) & (size < SINGLE.tiny), "MercuryDPM reads numbers from "
               f"{SINGLE.tiny:.3g} to {SINGLE.max:.3g}; make the clump in other units, such as micrometres")
    for name, table in ((SPHERES, np.column_stack([offsets, radii])), (MASS, [[mass]]), (TENSOR, np.diag(inertia)),
                        (DIRECTIONS, np.eye(3))):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        replace_text(folder / name, "".join(",".join(map(repr, row)) + "\n" for row in np.asarray(table).tolist()))


def _part(path, name):
    """The path of `name` in the folder `path`; in lower case if it exists so only."""
    file, old = (file_path("path", path) / spelled for spelled in (name, name.lower()))
    return old if old.exists() and not file.exists() else file


def _numbers(file, shape):
    """The numbers of a file of MercuryDPM, one row per line."""
    try:
        lines = filter(str.strip, file.read_text(encoding="utf-8").splitlines())
        rows = [[float(word) for word in line.split(",")] for line in lines]
    except ValueError as error:     # UnicodeDecodeError is one
        raise ValueError(f"{file}: {error}; give numbers separated by commas, of shape {shape}") from None
    return finite_array(str(file), rows, shape, limit=LARGEST)
