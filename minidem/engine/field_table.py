"""Fields of clumps as arrays of NumPy. Their rows are the last ones of the blocks (FieldRow of state/rows.pxd).

components : as of `Population.components`.
"""
import numpy as np

from minidem.core.checks import LARGEST, finite_array
from minidem.state.state import FIELD_ROWS


def _first(state, components):
    return state.blocks.shape[1] - len(FIELD_ROWS) * sum(n for _, _, n in components)


def field_rows(state, components):
    """(n_clumps, components, FIELD_ROWS) copies."""
    first = _first(state, components)
    return state.rows(state.blocks, first, state.blocks.shape[1] - first).reshape(state.n_clumps, -1, len(FIELD_ROWS))


def set_field_rows(state, components, rows):
    """The inverse."""
    state.write(_first(state, components), rows.reshape(state.n_clumps, -1))


def field_values(state, components, row="value"):
    """{name: (n_clumps,) or (n_clumps, components)}"""
    rows = field_rows(state, components)[:, :, FIELD_ROWS.index(row)]
    return {name: rows[:, first] if n == 1 else rows[:, first:first + n] for name, first, n in components}


def add_sources(state, components, rates):
    """Add rates times capacity, a dict as `field_values` returns, to the rates at the pose."""
    if not isinstance(rates, dict) or not set(rates) <= {name for name, _, _ in components}:
        raise ValueError(f"a user force returned rates of {sorted(rates) if isinstance(rates, dict) else rates!r}: give "
                         f"a dict with names out of {', '.join(name for name, _, _ in components)}")
    rows = field_rows(state, components)
    for name, first, n in components:
        if name in rates:
            given = finite_array(f"rate of {name}", rates[name], (state.n_clumps, n)[:2 if n > 1 else 1], repeat=True,
                                 limit=LARGEST).reshape(state.n_clumps, n)
            rows[:, first:first + n, FIELD_ROWS.index("rate")] += \
                given * rows[:, first:first + n, FIELD_ROWS.index("per_capacity")]
    set_field_rows(state, components, rows)


def keep_rates(state, components, before):
    """Put back the rates of clumps that have done a step; before : `field_rows` of before an evaluation."""
    rate, has_last = FIELD_ROWS.index("rate"), FIELD_ROWS.index("has_last")
    rows = field_rows(state, components)
    rows[:, :, rate] = np.where(before[:, :, has_last] > 0.0, before[:, :, rate], rows[:, :, rate])
    set_field_rows(state, components, rows)
