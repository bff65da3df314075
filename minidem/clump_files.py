"""Spheres as text, one `x, y, z, r` per line: what generators of clumps and other codes exchange.

Numbers are separated by commas, semicolons or blanks. `#`, `%` and `//` begin a comment. Lines of words
before the first sphere are a header (`x,y,z,r`, a name, a unit); after it they are a mistake.
"""
import math
import re

import numpy as np

from minidem.checks import file_path
from minidem.whole_files import write_text

_COMMENT = re.compile(r"#|%|//")
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")


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


def write_spheres(path, centers, radii):
    """Write the spheres to `path`, one line x,y,z,r each, with all digits: reading gives the same bits."""
    table = np.column_stack([centers, radii]).tolist()
    write_text(file_path("path", path), "# x,y,z,r\n" + "".join(",".join(map(repr, row)) + "\n" for row in table))


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
