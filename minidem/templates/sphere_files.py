"""Text files of spheres, one `x, y, z, r` per line: the format that clump generators and other codes exchange.

Numbers are separated by commas, semicolons or blanks. `#`, `%` and `//` begin a comment. Lines without numbers before
the first sphere are a header (`x,y,z,r`, a name, a unit); after it they are an error.

The mass properties of a clump that differ from those of its spheres are stored in a comment `# body: {...}`, one line
of JSON: volume, density, center_of_mass (3,), inertia (3,) principal moments at that density, axes (3, 3) with the
principal axes as columns, relative_error. Lengths are in the unit of the file.
"""
import json
import math
import re

import numpy as np

from minidem.core.atomic import write_text
from minidem.core.checks import LARGEST, existing_file, file_path, finite_array, positive
from minidem.templates.mass.mass_properties import MassProperties

_COMMENT = re.compile(r"#|%|//")
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")
REMEDY = "give a text file of spheres, one x,y,z,r per line"
_BODY = re.compile(r"^\s*# body: (.*)$", re.MULTILINE)


def read_spheres(path):
    """Return centres (n, 3) and radii (n,), in the unit of the file `path`.

    Raises
    ------
    ValueError
        A line that is not four finite numbers, a radius that is not positive, or no spheres.
    FileNotFoundError
        The file does not exist.
    """
    try:
        lines = existing_file("path", path, REMEDY).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; give lines of x,y,z,r") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        text = _COMMENT.split(line, maxsplit=1)[0].strip()
        fields = _SEPARATOR.split(text.rstrip(",;").rstrip()) if text else []
        values = [_number(field) for field in fields]
        if any(value is not None for value in values) or rows and fields:       # else blank, or a header
            rows.append(_sphere(values, f"{path}, line {number}: {line.strip()!r}"))
    if not rows:
        raise ValueError(f"{path}: no spheres in it; give one line x,y,z,r per sphere")
    table = np.array(rows)
    return table[:, :3], table[:, 3]


def read_mass_properties(path):
    """Return the MassProperties in the comment of the file `path`, or None without one; ValueError if impossible."""
    line = _BODY.search(existing_file("path", path, REMEDY).read_text(encoding="utf-8-sig"))
    if line is None:
        return None
    try:
        given = json.loads(line[1])
        volume, density, error = (positive(name, given[name]) for name in ("volume", "density", "relative_error"))
        center, inertia, axes = (finite_array(name, given[name], shape, limit=LARGEST) for name, shape in
                                 (("center_of_mass", (3,)), ("inertia", (3,)), ("axes", (3, 3))))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path}: no mass properties after '# body:' ({type(error).__name__}: {error}); "
                         "remove the line to use those of the spheres") from None
    low, middle, high = inertia
    if not (0.0 < low <= middle <= high <= (low + middle) * (1.0 + 1e-9)
            and np.allclose(axes.T @ axes, np.eye(3), rtol=0.0, atol=1e-9) and np.linalg.det(axes) > 0.0):
        raise ValueError(f"{path}: the mass properties after '# body:' are impossible for a rigid body, inertia "
                         f"{inertia.tolist()} about the axes {axes.tolist()}; remove the line to use those of the "
                         "spheres")
    return MassProperties(volume, center, inertia, axes, error, density)


def write_spheres(path, centers, radii, body=None):
    """Write spheres, and the MassProperties `body` if given, with all digits: reading returns the same bits."""
    table = np.column_stack([centers, radii]).tolist()
    lines = ["# x,y,z,r"] + [",".join(map(repr, row)) for row in table]
    if body is not None:
        lines[1:1] = ["# body: " + json.dumps({name: np.asarray(v).tolist() for name, v in body._asdict().items()})]
    write_text(file_path("path", path), "\n".join(lines) + "\n")


def _sphere(values, where):
    if len(values) != 4 or None in values:
        raise ValueError(f"{where}: not a sphere; give four numbers x,y,z,r")
    if not all(map(math.isfinite, values)):
        raise ValueError(f"{where}: give finite numbers only")
    if values[3] <= 0.0:
        raise ValueError(f"{where}: radius {values[3]}; give radii greater than 0")
    return values


def _number(field):
    try:
        return float(field)
    except ValueError:
        return None
