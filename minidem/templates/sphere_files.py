"""Text files of spheres, one `x, y, z, r` per line: the format that clump generators and other codes exchange.

The tool CLUMP (Angelidakis et al. 2021, doi:10.1016/j.softx.2021.100735) writes them, for example.

Numbers are separated by commas, semicolons or blanks. `#`, `%` and `//` begin a comment. Lines without numbers before
the first sphere are a header (`x,y,z,r`, a name); after it they are an error. If the last line before the first sphere
names the columns, these may be in another order, or have diameters (`r x y z`, `x [mm] y [mm] z [mm] d [mm]`). A fifth
column, such as the types of LIGGGHTS, is not used.

Molecule files of LAMMPS, whose first line is a title, are known by the line `N atoms`. Read are the sections Coords,
Diameters and Masses, and the header lines `mass`, `com` and `inertia` (Ixx Iyy Izz Ixy Ixz Iyz), as LAMMPS uses them:
what the header does not have follows from the masses of the spheres, overlaps counted twice. Files for LIGGGHTS have a
line `x y z r` per sphere, without a comment.

A comment `# density: 2650.0` holds the density [kg/m3]. Mass properties of a clump that do not follow from
its spheres are stored in a comment `# body: {...}` instead, one line of JSON: volume, density, center_of_mass (3,),
inertia (3,) principal moments at that density, axes (3, 3) with the principal axes as columns, relative_error. Lengths
are in the unit of the file.
"""
import json
import math
import re
from pathlib import Path

import numpy as np

from minidem.core.atomic import replace_text
from minidem.core.checks import ADD, LARGEST, Assumed, existing_file, file_path, finite_array, foreign, positive
from minidem.core.columns import places_of, plain_numbers, split_title, unit_of
from minidem.templates.mass.mass_properties import MassProperties, possible_moments, tensor_of_parts

_COMMENT = re.compile(r"#|%|//")
REMEDY = "give a text file of spheres, one x,y,z,r per line, or the folder of one clump of MercuryDPM"
_BODY = re.compile(r"^\s*# body: (.*)$", re.MULTILINE)
_DENSITY = re.compile(r"^\s*# density: (.*)$", re.MULTILINE)
_ATOMS = re.compile(r"^\s*(\d+)\s+atoms\s*$")
_SECTIONS = {"Coords": 3, "Diameters": 1, "Masses": 1}          # of a molecule, and the numbers of an atom in it
_HEADER = {"mass": 1, "com": 3, "inertia": 6}
FORMATS = "csv", "lammps", "liggghts", "mercurydpm"      # the last one is a folder (`mercury_folder`)


def read_spheres(path):
    """Return centres (n, 3) and radii (n,) in the file `path`, in its unit of length; errors as of `read_clump`."""
    return read_clump(path)[:2]


def read_clump(path, scale=1.0):
    """Return what is in the file `path`, in its unit of length, and what of it is not used.

    scale : unit of length of the caller [m]; one of the columns' names that differs is not used, either

    Returns
    -------
    centers, radii : (n, 3), (n,) ndarray
    given : dict
        mass, center_of_mass (3,), inertia (3, 3) about it, input frame, as far as a molecule has them.
    unread : list of str

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
    rows, width, title, first = [], 4, "", ""
    for number, line in enumerate(lines, start=1):
        text = _COMMENT.split(line, maxsplit=1)[0].strip()
        first = first if rows else text
        fields = plain_numbers(text, first).split()
        values = [_number(field) for field in fields]
        if any(value is not None for value in values) or rows and fields:       # else blank, or a header
            width = width if rows else max(4, min(len(values), 5))
            if len(values) != width or None in values:
                raise ValueError(f"{path}, line {number}: {line.strip()!r}: not a sphere; give four numbers x,y,z,r")
            if not rows:
                order, size, unread = _columns(title, width, scale, path)
            values = [values[k] for k in order]
            rows.append(_sphere([*values[:3], size * values[3]], f"{path}, line {number}: {line.strip()!r}"))
        title = line if line.strip() else title
    if not rows:
        raise ValueError(f"{path}: no spheres in it; give one line x,y,z,r per sphere")
    table = np.array(rows)
    return table[:, :3], table[:, 3], {}, unread


def _columns(title, width, scale, path):
    """Numbers of the columns x, y, z, r, the factor of the last one, and what is not used; title : the line before."""
    names = split_title(title, width) or []
    places = places_of(names)
    found = [*places.get("position", ()), *(places.get("radius") or places.get("diameter") or ())]
    if "position" not in places:
        found, names = [0, 1, 2, 3], ["x", "y", "z", "r", "the fifth column"][:width]
    elif len(found) < 4:
        raise ValueError(f"{path}: columns {' '.join(names)}; a clump needs x, y, z and r, or d")
    try:
        units = {unit_of(names[k], "radius") for k in found} - {1.0, scale}
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    unread = [names[k] for k in range(width) if k not in found] + [
        f"the unit {unit:g} m of its columns (give scale={unit:g})" for unit in sorted(units)]
    return found, 0.5 if "diameter" in places and "radius" not in places else 1.0, unread


def read_density(path):
    """Return the density in the comment of the file `path`, or None without one; ValueError if it is no density."""
    found = _DENSITY.search(existing_file("path", path, REMEDY).read_text(encoding="utf-8-sig"))
    return found and positive(f"{path}, density", _number(found[1]))


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
    """What `read_clump` returns, of a molecule file of LAMMPS with `count` atoms."""
    sections, header, section, types, unread = {name: {} for name in _SECTIONS}, {}, "", set(), []
    for number, line in enumerate(lines[1:], start=2):
        words = line.partition("#")[0].split()
        if words and words[0][0].isalpha():
            section = words[0]
            if section not in (*_SECTIONS, "Types"):
                unread.append(" ".join(words))
        elif words and section == "Types":
            types.add(words[-1])
        elif words and section in _SECTIONS:
            values = [_number(word) for word in words]
            if None in values or len(values) != 1 + _SECTIONS[section]:
                raise ValueError(f"{path}, line {number}: {line.strip()!r}: give the number of the atom and its x y z, "
                                 "or its diameter, or its mass")
            sections[section][values[0]] = values[1:]
        elif words and not section and words[-1] in _HEADER:
            header[words[-1]] = finite_array(f"{path}, line {number}: {words[-1]}", list(map(_number, words[:-1])),
                                             (_HEADER[words[-1]],), limit=LARGEST)
    coords, diameters, masses = sections.values()
    if len(coords) != count or coords.keys() != diameters.keys():
        raise ValueError(f"{path}: {count} atoms, but Coords of {len(coords)} and Diameters of {len(diameters)}; a "
                         "clump needs both of each atom")
    if masses and masses.keys() != coords.keys():
        raise ValueError(f"{path}: {count} atoms, but Masses of {len(masses)}; give that of each atom, or none")
    atoms = sorted(coords)
    rows = np.array([_sphere([*coords[atom], 0.5 * diameters[atom][0]], f"{path}, atom {atom:g}") for atom in atoms])
    given = _mass_of_molecule(header, [positive(f"{path}, mass of atom {atom:g}", masses[atom][0]) for atom in atoms
                                       if masses], rows[:, :3], rows[:, 3], path)
    if len(types) > 1:
        unread.append(f"Types {' '.join(sorted(types))} (a clump has one material)")
    return rows[:, :3], rows[:, 3], given, unread


def _mass_of_molecule(header, masses, centers, radii, path):
    """Return `given` of `read_clump` from the header, and what it lacks from the spheres' masses (n,)."""
    given = {}
    if masses:
        balls = 0.4 * np.array(masses)[:, None, None] * radii[:, None, None] ** 2 * np.eye(3)
        given["mass"], given["center_of_mass"], given["inertia"] = tensor_of_parts(np.array(masses), centers, balls)
        if "com" in header:
            away = given["center_of_mass"] - header["com"]
            given["inertia"] += given["mass"] * (away @ away * np.eye(3) - np.outer(away, away))
    elif "com" in header and "inertia" not in header:
        raise ValueError(f"{path}: com without inertia or Masses; give the inertia about it, or leave com out")
    if "mass" in header:
        given["mass"] = positive(f"{path}, mass", header["mass"][0])
    if "com" in header:
        given["center_of_mass"] = header["com"]
    if "inertia" in header:
        given["inertia"] = header["inertia"][[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
    return given


def write_spheres(path, centers, radii, body, of_spheres, style="csv"):
    """Write spheres and the MassProperties `body` with all digits: reading returns the same bits.

    of_spheres : bool, whether `body` is the union of the spheres;  style : one of FORMATS that is a file
    """
    table = np.column_stack([centers, radii]).tolist()
    comment = [] if of_spheres and isinstance(body.density, Assumed) else [
        f"# density: {float(body.density)!r}" if of_spheres else
        "# body: " + json.dumps({name: np.asarray(v).tolist() for name, v in body._asdict().items()})]
    if style == "lammps":
        total, center, inertia = body.density * body.volume, body.center_of_mass, body.tensor
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
