"""Columns of the clumps that only some simulations have: COLUMNS declares them, one line each.

The time loop finds the rows of a column by its name (`first_row` of state/state.pxd), and computes what is in them.
Whatever happens to clumps happens to them too: threads, sorting, steps that are undone, copies, removal. New clumps
have zeros. A checkpoint has each column as an array of its name, a file without it gives zeros, and a column that a
simulation does not have is ignored. `Reader.column` reads them.
"""
from collections.abc import Callable
from typing import NamedTuple

from minidem.fields.rates import FIELD_ROWS


class Column(NamedTuple):
    """One column.

    Attributes
    ----------
    name : str
        Other than those of state/rows.pxd and of the arrays of frames.
    width : int
        Numbers of each clump.
    unit, text : str
        What it is, for files, messages and colour scales.
    when : function of Settings and Snapshot
        Whether a simulation has it. One that no longer has it loses its values.
    drawn : bool
        Whether frames have it, as they have fields; a number or a vector.
    """

    name: str
    width: int
    unit: str
    text: str
    when: Callable
    drawn: bool = False


COLUMNS = [
    Column("force_work", 2, "J, W", "work of user forces on each clump, and its power",
           lambda settings, snapshot: snapshot.user_forces.expected > 0),
]


def columns_of(settings, snapshot):
    """Widths of all optional columns of a simulation by name; also what its rotation scheme stores, and its fields."""
    chosen = {one.name: one.width for one in COLUMNS if one.when(settings, snapshot)}
    components = sum(field.components for field in snapshot.population.fields)
    return {"scratch": settings.scheme.n_scratch, "fields": components * len(FIELD_ROWS), **chosen}
