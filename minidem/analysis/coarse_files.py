"""Files of fields on a regular grid: VTI for ParaView, which meshio does not write, and CSV."""
from __future__ import annotations

import base64

import numpy as np

from minidem.core.atomic import replace_text, replacing
from minidem.core.checks import file_path

_PLACES = {1: ("",), 3: ("_x", "_y", "_z"), 9: tuple(f"_{a}{b}" for a in "xyz" for b in "xyz")}
_HEAD = """<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
<ImageData WholeExtent="{extent}" Origin="{origin}" Spacing="{spacing}">
<Piece Extent="{extent}">
<CellData>
"""
_ARRAY = '<DataArray type="Float64" Name="{}" NumberOfComponents="{}" format="binary">{}</DataArray>\n'
_TAIL = "</CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n"


def columns(centers, fields):
    """A dict of columns (n,): coordinates of the cells, and components of fields (nx, ny, nz, ...)."""
    found = dict(zip("xyz", (x.ravel() for x in np.meshgrid(*centers, indexing="ij"))))
    for name, values in fields.items():
        rows = values.reshape(len(found["x"]), -1)
        found |= {name + place: rows[:, k] for k, place in enumerate(_PLACES[rows.shape[1]])}
    return found


def write_csv(path, table):
    """Write a dict of columns (n,) atomically, with all digits."""
    with replacing(file_path("path", path, ".csv")) as temporary:
        np.savetxt(temporary, np.column_stack(list(table.values())), "%.17g", ",", header=",".join(table), comments="")


def write_vti(path, low, high, cells, fields):
    """Write fields (nx, ny, nz, ...) as cell data atomically; cells (3,) is 0 along an axis without thickness."""
    spacing = np.divide(high - low, cells, where=cells > 0, out=np.ones(3))
    text = [_HEAD.format(extent=" ".join(f"0 {n}" for n in cells), origin=" ".join(map(repr, low.tolist())),
                         spacing=" ".join(map(repr, spacing.tolist())))]
    for name, values in fields.items():
        rows = values.transpose(2, 1, 0, *range(3, values.ndim)).astype("<f8").tobytes()        # x changes fastest
        coded = base64.b64encode(np.uint64(len(rows)).astype("<u8").tobytes() + rows).decode()
        text.append(_ARRAY.format(name, values[0, 0, 0].size, coded))
    replace_text(file_path("path", path, ".vti"), "".join([*text, _TAIL]))
