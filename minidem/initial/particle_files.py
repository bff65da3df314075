"""Files of other codes with the spheres of a state: LAMMPS, LIGGGHTS, exaDEM, xyz, GSD, columns of text."""
from __future__ import annotations

import re
import warnings
import zlib
from pathlib import Path

import numpy as np

from minidem.core.checks import existing_file, foreign, opened, refuse, short_repr, whole
from minidem.core.columns import places_of, plain_numbers, split_title, unit_of
from minidem.core.interpreter import this_python
from minidem.core.quaternions import conjugate, multiply, rotate
from minidem.initial.particles import Particles
from minidem.initial.vtu_points import read_points

WORDS = "type", "species", "element"
VECTORS = {     # of Properties in xyz files
    "pos": "x y z", "velo": "vx vy vz", "vel": "vx vy vz", "omega": "wx wy wz", "vrot": "wx wy wz"}
STYLES = {"sphere": "id type diameter density x y z", "bpm/sphere": "id mol type diameter density x y z"}
SECTION = re.compile(r"^([A-Z][A-Za-z ]*)(?:#\s*(\S*).*)?\n\s*", re.M)      # of a data file
STATE = re.compile(     # of a dump, up to its rows
    r"ITEM: TIMESTEP\n(.*)\nITEM: NUMBER OF ATOMS\n(.*)\nITEM: BOX BOUNDS(.*)\n(.*\n.*\n.*)\nITEM: ATOMS (.*)\n")
NUMBER = re.compile(r"[-+]?[\d.]+([de][-+]?\d+)?", re.I)
MOST_EXPANDED = 200     # times the size of a compressed file: text becomes about ten times as large
MOST_COLUMNS = 1000
READABLE = ("give a data file or text dump of LAMMPS or LIGGGHTS, an xyz, GSD or VTU file, or columns x y z r of text, "
            "as ParaView saves of VTK files")


def read_particles(path: str | Path, columns: str | None = None, frame: int = -1) -> Particles:
    """Read spheres and their motion from a file of another code, to start a simulation from.

    It reads data files (atom_style sphere, bpm/sphere) and text dumps of LAMMPS and LIGGGHTS, xyz files
    (plain, extended or of exaDEM), GSD files, VTU files of points, as of MercuryDPM, and columns of text, separated by
    blanks, commas or semicolons: with names in the line before them, such as `Position X (mm)`, or four, x y z r. The
    content decides. Files that end in .gz are decompressed.

    Parameters
    ----------
    path : path
    columns : str, optional
        Names of the columns, if the file has none or others: "type x y z radius", with units "x[mm] y[mm] z[mm] r[mm]".
    frame : int
        Which state of a file with several; negative ones count from the end.

    Returns
    -------
    Particles
        Spheres by id, and what there is of box, step and time.

    Raises
    ------
    ValueError
        For a file of another kind, damaged or cut off, or with numbers that are not finite, with line and column.
    FileNotFoundError
    ModuleNotFoundError
        For a GSD file without the package gsd (extra `trajectories`).

    Notes
    -----
    Numbers are converted where a name has a unit, and remain as they are elsewhere, in SI units for minidem; a warning
    says if the file has others. Histories of contacts are in no such file: springs of friction begin at zero.
    """
    path = existing_file("path", path, READABLE)
    whole("frame", frame, -2 ** 53)
    if not isinstance(columns, str | None):
        raise ValueError(f"columns = {short_repr(columns)}: give names in one str, 'id x y z radius'")
    kind = "a file"
    try:
        kind = foreign(path) or "a table"
        if kind not in READERS:
            raise ValueError(f"it is not read; {READABLE}")
        with opened(path) as file:
            text = path if kind == "a GSD file" else _decompressed(file, MOST_EXPANDED * path.stat().st_size)
        found = READERS[kind](text, columns and columns.split(), frame)
        if "position" not in found:
            raise ValueError(f"no columns x y z among {' '.join(found['unread'])}; give their names, such as "
                             "columns='id x y z radius'")
        if (np.diff(found.get("id", [])) == 0).any():
            raise ValueError("two spheres have the same id; give a file without, or other names of the columns")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a file of text; {READABLE}") from None
    except (ValueError, EOFError, zlib.error, OSError, RuntimeError) as error:      # of text, gzip, GSD
        raise ValueError(f"{path}: this is {kind}; {error}") from None
    except (LookupError, TypeError, AttributeError):
        raise ValueError(f"{path}: this is {kind}, whose header is not whole; {READABLE}") from None
    if (units := found.pop("units", "si")) != "si":
        warnings.warn(f"{path} has units {units}: minidem takes its numbers as SI units", UserWarning, stacklevel=2)
    if "diameter" in found:
        found["radius"] = 0.5 * found.pop("diameter")
    return Particles(**found, kind=kind)


def _decompressed(file, most):
    """The text of an open file; ValueError if it has more than `most` bytes."""
    data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"decompressed it is more than {MOST_EXPANDED} times as large, as no text is; give a file "
                         "that is not compressed")
    return data.decode("utf-8-sig").replace("\r", "")


def _rows(text, start, names, count):
    """What is in `count` lines of the text from `start` on, in columns of these names, by id."""
    first, lines = text.count("\n", 0, start) + 1, text.count("\n", start) + 1
    rows = text[start:].split("\n", min(count, lines))[:count]
    lower, places = [name.lower() for name in names], places_of(names)
    units = {what: np.array([unit_of(names[k], what) for k in columns]) for what, columns in places.items()}
    used, word = sum(places.values(), []), next((lower.index(name) for name in WORDS if name in lower), None)
    kinds = [(str(k), float if k in used else "U32" if k == word else "U1") for k in range(len(names))]
    try:
        table = np.loadtxt(rows, kinds, ndmin=1)
    except ValueError:
        for number, row in enumerate(rows, first):
            try:
                np.loadtxt([row], kinds)
            except ValueError as error:
                raise ValueError(f"line {number}: {str(error).partition(' at row')[0]}, in {short_repr(row)}; the "
                                 f"columns are {' '.join(names)}; give other ones by columns='...'") from None
    if len(table) != count:
        raise ValueError(f"it has {len(table)} rows of spheres from line {first} on, not {count}: it was cut off; of "
                         "several frames give a whole one, such as frame=-2")
    found = {what: np.stack([table[str(k)] for k in columns], axis=-1) for what, columns in places.items()}
    for what, values in found.items():
        refuse(what, values, ~np.isfinite(values), f"give finite numbers; 0 is line {first}")
        refuse(what, values, (what in ("id", "molecule")) & (np.abs(values) > 2.0 ** 53), "give numbers up to 2^53")
    found = {what: values if (units[what] == 1.0).all() else values * units[what] for what, values in found.items()}
    found = {what: values[:, 0].astype(np.int64) if what in ("id", "molecule") else
             values[:, 0] if values.shape[1] == 1 else values for what, values in found.items()}
    if word is not None:
        words = table[str(word)]
        numbers = np.char.isdecimal(words).all() and np.char.str_len(words).max(initial=0) < 19    # of 64 bits
        found["type"] = words.astype(int) if numbers else words
    order = np.argsort(found.get("id", np.arange(count)), kind="stable")
    return {what: values[order] for what, values in found.items()} | {
        "unread": [name for k, name in enumerate(names) if k not in [*used, word]]}


def _one_of(frames, frame):
    """The frame of this number."""
    if len(frames) == 0:
        raise LookupError
    if not -len(frames) <= frame < len(frames):
        raise ValueError(f"frame = {frame}: it has {len(frames)}; give a number from {-len(frames)} to "
                         f"{len(frames) - 1}")
    return frames[frame]


def _data(text, columns, frame):
    """A data file of LAMMPS or LIGGGHTS."""
    sections = {found[1].strip(): found for found in SECTION.finditer(text, text.index("\n"))}
    atoms, count = sections.pop("Atoms"), int(re.search(r"^\s*(\d+)\s+atoms\b", text, re.M)[1])
    _one_of([text], frame)
    style, width = atoms[2], len(text[atoms.end():].partition("\n")[0].split())
    names = columns or STYLES.get(style or (width in (7, 10)) * "sphere", "").split()
    if not names:
        raise ValueError(f"{width} columns of Atoms # {style or '?'}; give their names, such as columns='id type x y z "
                         "diameter density mol'")
    found = _rows(text, atoms.end(), names + ["ix", "iy", "iz"] * (width == len(names) + 3), count)
    # Simulation.write_lammps has Motion, where Velocities stretch the springs of contacts
    motion = sections.pop("Motion", None) or sections.pop("Velocities", None)
    if motion:
        width = len(text[motion.end():].partition("\n")[0].split())
        moving = _rows(text, motion.end(), ["id", "vx", "vy", "vz", "wx", "wy", "wz"][:width], count)
        if not np.array_equal(moving.pop("id"), found["id"]):
            raise ValueError(f"the ids of {motion[1].strip()} are not those of Atoms; give a file in which they are")
        found = moving | found
    low, high = np.array([re.search(rf"^(.*)\s{x}lo\s+{x}hi", text, re.M)[1].split() for x in "xyz"], float).T
    tilts = re.search(r"^(.*)\sxy\s+xz\s+yz", text, re.M) or ["", "0 0 0"]
    title = dict(re.findall(r"(timestep|units) = (\w+)", text.partition("\n")[0]))
    return found | {"low": low, "high": high, "tilts": np.array(tilts[1].split(), float),
                    "step": int(title["timestep"]) if "timestep" in title else None,
                    "units": title.get("units", "si"), "unread": found["unread"] + list(sections)}


def _dump(text, columns, frame):
    """A text dump of LAMMPS or LIGGGHTS."""
    start = _one_of([found.start() for found in re.finditer("ITEM: TIMESTEP", text)], frame)
    state = STATE.match(text, start)
    step, count, sides, bounds, names = state.groups()
    if "abc" in sides:
        raise ValueError("its box has three vectors in any direction; give a dump without triclinic/general")
    low, high, tilts = np.array([[*row.split(), 0.0][:3] for row in bounds.split("\n")], float).T
    if tilts.any():                                     # the bounds enclose the tilted cell
        xy, xz, yz = tilts
        low -= min(0.0, xy, xz, xy + xz), min(0.0, yz), 0.0
        high -= max(0.0, xy, xz, xy + xz), max(0.0, yz), 0.0
    units = re.match(r"ITEM: UNITS\n(.*)", text)
    time = re.search(r"ITEM: TIME\n(.*)\n$", text[max(0, start - 80):start])
    return _rows(text, state.end(), columns or names.split(), int(count)) | {
        "low": low, "high": high, "tilts": tilts, "units": units[1] if units else "si", "step": int(step),
        "axes": np.array([side == "pp" for side in sides.split()[-3:]]) if sides.strip() else None,
        "time": float(time[1]) if time else None}


def _xyz(text, columns, frame):
    """An xyz file, extended, or of exaDEM, with the lengths of the box in its second line."""
    state = _one_of([*re.finditer(r"^[ \t]*(\d+)[ \t]*$\n?(.*)\n?", text, re.M)], frame)
    given = {key.lower(): quoted or word for key, quoted, word in re.findall(r'(\w+)=(?:"([^"]*)"|(\S+))', state[2])}
    parts = given.get("properties", "type:S:1:pos:R:3").split(":")
    sizes = list(map(int, parts[2::3]))
    if sum(sizes) > MOST_COLUMNS:
        raise ValueError(f"its Properties are {sum(sizes)} columns; give a file of at most {MOST_COLUMNS}")
    names = columns or [name for word, size in zip(parts[::3], sizes) for name in VECTORS.get(
        word.lower(), word if size == 1 else " ".join(f"{word}_{k}" for k in range(size))).split()]
    found = _rows(text, state.end(), names, int(state[1]))
    lengths, lattice = state[2].split(), given.get("lattice", "").split()
    if len(lengths) == 3 and all(map(NUMBER.fullmatch, lengths)):
        lattice = np.diag(np.array(lengths, float))
    if len(lattice):
        lattice = np.array(lattice, float).reshape(3, 3)
        if np.triu(lattice, 1).any():
            raise ValueError(f"Lattice = {given['lattice']!r}; give a state that is rotated, the first vector to x, "
                             "the second into the plane of x and y")
        low = np.array(given.get("origin", "0 0 0").split(), float)
        found |= {"low": low, "high": low + np.diag(lattice), "tilts": lattice[[1, 2, 2], [0, 0, 1]]}
    if "pbc" in given:
        found["axes"] = np.array([word[0] in "Tt1" for word in given["pbc"].split()])
    return found | {"time": float(given["time"]) if "time" in given else None}


def _table(text, columns, frame):
    """Columns of text; of several times in a column `time` one is chosen."""
    lines = text.rstrip().splitlines()
    k = next((k for k, line in enumerate(lines)
              if sum(NUMBER.fullmatch(word) is not None for word in plain_numbers(line, line).split()) >= 3), None)
    if k is None:
        raise ValueError(f"no row of three numbers in it; {READABLE}")
    before, rows = lines[:k], plain_numbers("\n".join(lines[k:]), lines[k])
    width = len(rows.partition("\n")[0].split())
    bare = all(line.lstrip()[:1] in ("", "#", "%") for line in before)
    names = columns or before and split_title(before[-1], width) or (bare and width == 4) * ["x", "y", "z", "r"]
    if not names:
        raise ValueError(f"line {k + 1}: {width} columns without names; give them, such as columns='x y z r vx vy vz' "
                         "or 'id x y z radius'")
    found = _rows(k * "\n" + rows + "\n", k, names, len(lines) - k)
    times = found.get("time", np.zeros(len(lines) - k))
    now = times == _one_of(np.unique(times), frame)
    found = {what: values if what == "unread" else values[now] for what, values in found.items()}
    return found | {"time": float(found["time"][0]) if "time" in found else None}


def _gsd(path, columns, frame):
    """A GSD file of HOOMD-blue or minidem. Central particles of rigid bodies are no spheres; they have the rotation."""
    try:
        import gsd.hoomd
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"GSD files need the package gsd: {this_python()} -m pip install gsd") from None
    with gsd.hoomd.open(path, "r") as file:
        state = _one_of(file, frame)
    particles, log, box = state.particles, state.log, state.configuration.box.astype(float)
    origin, n = log.get("origin", np.zeros(3)), particles.N
    inertia, turn = particles.moment_inertia.astype(float), particles.orientation.astype(float)
    momentum = 0.5 * multiply(conjugate(turn), particles.angmom)[:, 1:]
    spin = rotate(turn, np.divide(momentum, inertia, where=inertia > 0.0, out=np.zeros((n, 3))))
    body = particles.body.astype(np.int64)
    spin[body >= 0] = spin[body[body >= 0]]
    spheres = body != np.arange(n)
    found = {"position": particles.position + origin, "velocity": particles.velocity.astype(float), "orientation": turn,
             "angular_velocity": spin, "radius": 0.5 * particles.diameter.astype(float), "id": np.arange(n),
             "mass": particles.mass.astype(float), "molecule": np.maximum(body + 1, 0),
             "type": np.array(particles.types)[particles.typeid]}
    return {what: values[spheres] for what, values in found.items()} | {
        "low": origin - 0.5 * box[:3], "high": origin + 0.5 * box[:3], "tilts": box[3:] * box[[1, 2, 2]],
        "axes": np.asarray(log.get("periodic", [True] * 3), dtype=bool), "step": int(state.configuration.step),
        "time": float(log["time"][0]) if "time" in log else None,
        "unread": [f"{n - spheres.sum()} central particles of rigid bodies"] * (not spheres.all())}


def _vtu(text, columns, frame):
    """A VTU or VTP file of points."""
    _one_of([text], frame)
    if "<VTKFile" not in text:
        raise ValueError(f"it is of the older kind; {READABLE}")
    return read_points(text)


READERS = {"a data file of LAMMPS": _data, "a dump of LAMMPS": _dump, "an xyz file": _xyz, "a GSD file": _gsd,
           "a VTK file": _vtu, "a table": _table}
