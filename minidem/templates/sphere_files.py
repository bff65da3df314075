"""Text files of spheres, one `x, y, z, r` per line: the format that clump generators and other codes exchange.

The tool CLUMP (Angelidakis et al. 2021, doi:10.1016/j.softx.2021.100735) writes them, for example.

Numbers are separated by commas, semicolons or blanks. `#`, `%` and `//` begin a comment. Lines without numbers before
the first sphere are a header (`x,y,z,r`, a name, a unit); after it they are an error.

Molecule files of LAMMPS, whose first line is a title, are known by the line `N atoms`; their sections Coords and
Diameters are read. Files for LIGGGHTS have a line `x y z r` per sphere, without a comment.

The mass properties of a clump that differ from those of its spheres are stored in a comment `# body: {...}`, one line
of JSON: volume, density, center_of_mass (3,), inertia (3,) principal moments at that density, axes (3, 3) with the
principal axes as columns, relative_error. Lengths are in the unit of the file.
"""
import json
import math
import re
from pathlib import Path

import numpy as np

from minidem.core.atomic import replace_text
from minidem.core.checks import ADD, LARGEST, existing_file, file_path, finite_array, foreign, positive
from minidem.templates.mass.mass_properties import MassProperties, possible_moments

_COMMENT = re.compile(r"#|%|//")
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")
REMEDY = "give a text file of spheres, one x,y,z,r per line, or the folder of one clump of MercuryDPM"
_BODY = re.compile(r"^\s*# body: (.*)$", re.MULTILINE)
_ATOMS = re.compile(r"^\s*(\d+)\s+atoms\s*$")
FORMATS = "csv", "lammps", "liggghts", "mercurydpm"      # the last one is a folder (`mercury_folder`)


def read_spheres(path):
    """Return centres (n, 3) and radii (n,), in the unit of the file `path`.

    ValueError for a line that is not a sphere, or no spheres; FileNotFoundError without a file.
    """
    kind = foreign(existing_file("path", path, REMEDY))
    if kind is not None:
        raise ValueError(f"{path}: {kind}, where lines x,y,z,r of the spheres of one clump are wanted; to continue "
                         f"from this state, {ADD}")
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; give lines of x,y,z,r") from None
    counts = [int(found[1]) for line in lines[1:] if (found := _ATOMS.match(_COMMENT.split(line, maxsplit=1)[0]))]
    if counts:
        return _read_molecule(lines, counts[0], path)
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
    if not (possible_moments(*inertia) and np.allclose(axes.T @ axes, np.eye(3), rtol=0.0, atol=1e-9)
            and np.linalg.det(axes) > 0.0):
        raise ValueError(f"{path}: the mass properties after '# body:' are impossible for a rigid body, inertia "
                         f"{inertia.tolist()} about the axes {axes.tolist()}; remove the line to use those of the "
                         "spheres")
    return MassProperties(volume, center, inertia, axes, error, density)


def _read_molecule(lines, count, path):
    """Centres and radii in a molecule file of LAMMPS with `count` atoms."""
    sections, section = {"Coords": {}, "Diameters": {}}, None
    for number, line in enumerate(lines[1:], start=2):
        words = line.partition("#")[0].split()
        if words and words[0][0].isalpha():
            section = sections.get(words[0])
        elif words and section is not None:
            values = [_number(word) for word in words]
            if None in values or len(values) != (4 if section is sections["Coords"] else 2):
                raise ValueError(f"{path}, line {number}: {line.strip()!r}: give the number of the atom and its x y z, "
                                 "or its diameter")
            section[values[0]] = values[1:]
    coords, diameters = sections.values()
    if len(coords) != count or coords.keys() != diameters.keys():
        raise ValueError(f"{path}: {count} atoms, but Coords of {len(coords)} and Diameters of {len(diameters)}; a "
                         "clump needs both of each atom")
    rows = [_sphere([*coords[atom], 0.5 * diameters[atom][0]], f"{path}, atom {atom:g}") for atom in sorted(coords)]
    return np.array(rows)[:, :3], np.array(rows)[:, 3]


def write_spheres(path, centers, radii, body=None, style="csv", mass=None):
    """Write spheres, and the MassProperties `body` if given, with all digits: reading returns the same bits.

    style : one of FORMATS that is a file; "lammps" also needs (mass, centre of mass, inertia (3, 3) about it), `mass`.
    """
    table = np.column_stack([centers, radii]).tolist()
    comment = [] if body is None else [
        "# body: " + json.dumps({name: np.asarray(v).tolist() for name, v in body._asdict().items()})]
    if style == "lammps":
        total, center, inertia = mass
        moments = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        lines = ["# a clump of minidem, SI units", *comment, "", f"{len(table)} atoms", f"{total!r} mass",
                 f"{' '.join(map(repr, center.tolist()))} com", f"{' '.join(map(repr, moments.tolist()))} inertia"]
        for name, values in (("Coords", [row[:3] for row in table]), ("Types", [[1]] * len(table)),
                             ("Diameters", [[2.0 * row[3]] for row in table])):
            lines += ["", name, "", *(f"{k} {' '.join(map(repr, row))}" for k, row in enumerate(values, start=1))]
    elif style == "liggghts":
        lines = [" ".join(map(repr, row)) for row in table]
    else:
        lines = ["# x,y,z,r", *comment, *(",".join(map(repr, row)) for row in table)]
    replace_text(file_path("path", path), "\n".join(lines) + "\n")


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
