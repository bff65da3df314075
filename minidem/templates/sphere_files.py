"""Spheres as text, one `x, y, z, r` per line: what generators of clumps and other codes exchange.

Numbers are separated by commas, semicolons or blanks. `#`, `%` and `//` begin a comment. Lines of words
before the first sphere are a header (`x,y,z,r`, a name, a unit); after it they are a mistake.

A clump whose mass is not that of its spheres has a comment `# body: {...}`, one line of JSON: volume, density,
center_of_mass (3,), inertia (3,) principal moments at that density, axes (3, 3) with the principal axes as
columns, relative_error. Lengths are in the unit of the file.
"""
import json
import math
import re
from typing import NamedTuple

import numpy as np

from minidem.core.atomic import write_text
from minidem.core.checks import LARGEST, file_path, finite_array, positive

_COMMENT = re.compile(r"#|%|//")
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")
_BODY = re.compile(r"^\s*# body: (.*)$", re.MULTILINE)


class Body(NamedTuple):
    """What moves as a rigid body, in the input frame of a clump: see ClumpTemplate for the fields."""
    volume: float
    center_of_mass: np.ndarray
    inertia: np.ndarray
    axes: np.ndarray
    relative_error: float
    density: float | None = None

    def scaled(self, scale, density):
        """The same in other units of length and of another density."""
        return Body(self.volume * scale ** 3, self.center_of_mass * scale,
                    self.inertia * (scale ** 5 * (density / self.density)), self.axes, self.relative_error, density)


def read_spheres(path):
    """Centres (n, 3) and radii (n,) of the file `path`, in the units of the file.

    Raises ValueError with path, line number and remedy for a line that is not four finite numbers, a
    radius that is not positive, or a file without spheres; FileNotFoundError when there is none.
    """
    try:
        lines = file_path("path", path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; give lines of x,y,z,r") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        text = _COMMENT.split(line, maxsplit=1)[0].strip()
        fields = _SEPARATOR.split(text.rstrip(",;").rstrip()) if text else []
        if fields and not (not rows and _is_heading(fields)):
            rows.append(_sphere(fields, f"{path}, line {number}: {line.strip()!r}"))
    if not rows:
        raise ValueError(f"{path}: no spheres in it; give one line x,y,z,r per sphere")
    table = np.array(rows)
    return table[:, :3], table[:, 3]


def read_body(path):
    """The `Body` of the comment in the file `path`; None without one.

    Raises ValueError for one that is no rigid body: no numbers, not positive, moments that no body has, axes that
    are not those of a right-handed frame.
    """
    line = _BODY.search(file_path("path", path).read_text(encoding="utf-8-sig"))
    if line is None:
        return None
    try:
        given = json.loads(line[1])
        volume, density, error = (positive(name, given[name]) for name in ("volume", "density", "relative_error"))
        center, inertia, axes = (finite_array(name, given[name], shape, limit=LARGEST) for name, shape in
                                 (("center_of_mass", (3,)), ("inertia", (3,)), ("axes", (3, 3))))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path}: no mass properties after '# body:' ({type(error).__name__}: {error}); "
                         "take the line out for those of the spheres") from None
    low, middle, high = inertia
    if not (0.0 < low <= middle <= high <= (low + middle) * (1.0 + 1e-9)
            and np.allclose(axes.T @ axes, np.eye(3), rtol=0.0, atol=1e-9) and np.linalg.det(axes) > 0.0):
        raise ValueError(f"{path}: the mass properties after '# body:' are of no rigid body, inertia "
                         f"{inertia.tolist()} about the axes {axes.tolist()}; take the line out for those of the "
                         "spheres")
    return Body(volume, center, inertia, axes, error, density)


def write_spheres(path, centers, radii, body=None):
    """Write the spheres to `path`, one line x,y,z,r each, with all digits: reading gives the same bits."""
    table = np.column_stack([centers, radii]).tolist()
    lines = ["# x,y,z,r"] + [",".join(map(repr, row)) for row in table]
    if body is not None:
        lines[1:1] = ["# body: " + json.dumps({name: np.asarray(v).tolist() for name, v in body._asdict().items()})]
    write_text(file_path("path", path), "\n".join(lines) + "\n")


def _is_heading(fields):
    """True if not one of the fields is a number: a line of words."""
    return all(_number(field) is None for field in fields)


def _sphere(fields, where):
    values = [_number(field) for field in fields]
    if len(fields) != 4 or None in values:
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
