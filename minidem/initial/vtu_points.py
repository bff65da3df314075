"""Spheres in VTU and VTP files, such as the files of MercuryDPM and the frames of minidem: points with arrays."""
import base64
from xml.etree import ElementTree

import numpy as np

from minidem.core.checks import refuse
from minidem.core.columns import places_of

TYPES = {"Int": "i", "UInt": "u", "Float": "f"}
COMPONENTS = {1: ("",), 3: ("_x", "_y", "_z")}
KINDS = "type", "species", "speciestype"        # names of arrays with the type of a sphere
CLUMP = "clump"                                 # of frames: ids of clumps, from 0 on


def read_points(text):
    """Return the attributes of `Particles` in a file, by name; ValueError for what is not whole, or compressed."""
    if "<!ENTITY" in text:
        raise ValueError("it defines entities, which no file of points needs; give one without")
    try:
        root = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError as error:
        raise ValueError(f"it is not whole ({error}); give a whole one") from None
    if root.get("compressor") or root.find(".//AppendedData") is not None:
        raise ValueError("it is compressed, or its data are appended; give text or inline binary, or columns of text "
                         "from ParaView (File, Save Data, .csv)")
    pieces = [_piece(piece, root) for piece in root.iter("Piece")]
    if not pieces:
        raise ValueError("it has no pieces with points; give a whole one")
    columns = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    time = next((_numbers(array, root) for array in root.iter("DataArray") if array.get("Name") == "TimeValue"), [])
    return _particles(columns) | {"time": float(time[0]) if len(time) else None}


def _particles(columns):
    """Attributes of `Particles` of columns (n,) by name."""
    names = list(columns)
    places = places_of(names)
    found = {what: np.stack([columns[names[k]] for k in wanted], axis=-1) for what, wanted in places.items()}
    for what, values in found.items():
        refuse(what, values, ~np.isfinite(values), "give finite numbers")
    found = {what: values[:, 0] if values.shape[1] == 1 else values for what, values in found.items()}
    used = {names[k] for wanted in places.values() for k in wanted}
    if CLUMP in columns and "molecule" not in found:
        found["molecule"] = columns[CLUMP] + 1
        used.add(CLUMP)
    kind = next((name for name in names if name.lower() in KINDS), None)
    if kind is not None:
        found["type"] = columns[kind]
        used.add(kind)
    for what in {"id", "molecule", "type"} & found.keys():
        found[what] = found[what].astype(np.int64)
    order = np.argsort(found.get("id", np.arange(len(columns[names[0]]))), kind="stable")
    return {what: values[order] for what, values in found.items()} | {
        "unread": [name for name in names if name not in used]}


def _piece(piece, root):
    """Columns (n,) by name, of the points and the arrays of a piece."""
    n, columns = int(piece.get("NumberOfPoints")), {}
    for array in piece.findall("Points/DataArray") + piece.findall("PointData/DataArray"):
        name, values = array.get("Name", "Points") if columns else "points", _numbers(array, root)
        components = int(array.get("NumberOfComponents") or 1)
        if len(values) != n * components:
            raise ValueError(f"{name}: {len(values)} numbers, not {components} for each of {n} points: it was cut off, "
                             "give a whole one")
        ends = COMPONENTS.get(components, tuple(f"_{k}" for k in range(components)))
        columns |= {name + end: column for end, column in zip(ends, values.reshape(n, components).T)}
    return columns


def _numbers(array, root):
    """The numbers of a DataArray, as text or base64."""
    text = array.text or ""
    try:
        if array.get("format") == "ascii":
            return np.array(text.split(), dtype=float)
        data = base64.b64decode(text)
    except ValueError as error:         # binascii.Error is one
        raise ValueError(f"{array.get('Name')}: {error}; give a whole one") from None
    kind, order = array.get("type", ""), "<" if root.get("byte_order", "LittleEndian") == "LittleEndian" else ">"
    letters, header = kind.rstrip("0123456789"), 8 if root.get("header_type") == "UInt64" else 4
    dtype = np.dtype(f"{order}{TYPES[letters]}{int(kind.removeprefix(letters)) // 8}")
    return np.frombuffer(data[header:len(data) - (len(data) - header) % dtype.itemsize], dtype).astype(
        np.float64 if letters == "Float" else np.int64)
