"""A field of the clumps, and its values and rates as arrays of NumPy.

Fields are the optional column `fields` of a state, with a FieldBlock (rates.pxd) for each component.
components : (name, first component, number of components) of each field, see `Population.components`.
"""
from dataclasses import dataclass
from typing import Any

import numpy as np

from minidem.contact.law import MOST_COMPONENTS
from minidem.core.checks import LARGEST, finite_array, positive, whole
from minidem.fields.rates import FIELD_ROWS


@dataclass(frozen=True, eq=False)
class Field:
    """A quantity of the clumps that a user has added: what holds for all of them.

    Attributes
    ----------
    name : str
    components : int
    new : (components,) values of clumps that are added later; None: not known
    capacity : float
    per_mass : whether the capacity is per kilogram
    walls : (n_walls, components), not a number where a wall has no value
    """

    name: str
    components: int
    new: Any
    capacity: float
    per_mass: bool
    walls: np.ndarray

    @property
    def record(self):
        """The field as a dictionary in types of JSON."""
        walls = [[None if np.isnan(value) else value for value in row] for row in self.walls.tolist()]
        return vars(self) | {"new": None if self.new is None else list(self.new), "walls": walls}

    @classmethod
    def restored(cls, record, n_walls):
        n, new = whole("components", record["components"], 1, MOST_COMPONENTS), record["new"]
        new = None if new is None else tuple(finite_array("new", new, (n,), limit=LARGEST).tolist())
        walls = np.array(record["walls"], float).reshape(n_walls, n)        # None: not a number
        return cls(str(record["name"]), n, new, positive("capacity", record["capacity"]), bool(record["per_mass"]),
                   walls)


def field_rows(state):
    """(n_clumps, components, FIELD_ROWS) copies."""
    first, width = state.columns["fields"]
    return state.rows(state.blocks, first, width).reshape(state.n_clumps, width // len(FIELD_ROWS), len(FIELD_ROWS))


def set_field_rows(state, rows):
    """The inverse."""
    first, width = state.columns["fields"]
    state.write(first, rows.reshape(state.n_clumps, width))


def field_values(state, components):
    """{name: (n_clumps,) or (n_clumps, components)}"""
    values = field_rows(state)[:, :, FIELD_ROWS.index("value")]
    return {name: values[:, first] if n == 1 else values[:, first:first + n] for name, first, n in components}


def checked_rates(state, components, rates=None):
    """Rates times capacity from a user force, {name: (n_clumps, n)}; ValueError for what they cannot be."""
    if rates is None:
        return {}
    if not isinstance(rates, dict) or not set(rates) <= {name for name, _, _ in components}:
        raise ValueError(f"a user force returned rates of {sorted(rates) if isinstance(rates, dict) else rates!r}: "
                         f"give a dict with names out of {', '.join(name for name, _, _ in components)}")
    return {name: finite_array(f"rate of {name}", rates[name], (state.n_clumps, n)[:2 if n > 1 else 1], repeat=True,
                               limit=LARGEST).reshape(state.n_clumps, n) for name, _, n in components if name in rates}


def add_sources(sources, state, components, rates):
    """Add rates times capacity, of `checked_rates`, to the sources of a FieldRates."""
    rows = state.rows(sources, 0, sources.shape[1])
    for name, first, n in components:
        if name in rates:
            rows[:, first:first + n] += rates[name]
    state.write(0, rows, sources)


def without_rates(state):
    """Copy the state so that the next evaluation finds all rates anew, as for clumps that have not moved."""
    new, rows = state.copy(), field_rows(state)
    rows[:, :, FIELD_ROWS.index("has_last")] = 0.0
    set_field_rows(new, rows)
    return new


def keep_rates(state, before, known):
    """Put back the rates of clumps that have done a step; before : `field_rows` of before an evaluation.

    known : whether the rates of all clumps were known.
    """
    rate, has_last = FIELD_ROWS.index("rate"), FIELD_ROWS.index("has_last")
    rows = field_rows(state)
    rows[:, :, rate] = np.where(known | (before[:, :, has_last] > 0.0), before[:, :, rate], rows[:, :, rate])
    set_field_rows(state, rows)


def set_new(population, state, first, values=None):
    """Set the fields of the clumps from number `first` on; ValueError where their values are not known.

    values : (n, components) of each field, by name; default: those that the fields have for new clumps
    """
    if not population.fields:
        return
    rows, mass = field_rows(state), state.column("mass")[first:]
    for one, (name, place, n) in zip(population.fields, population.components):
        if one.new is None and values is None:
            raise ValueError(f"add_clumps: the field {name!r} has no value for new clumps; give new= to sim.fields.add")
        given = np.broadcast_to(one.new, (len(mass), n)) if values is None else values[name]
        rows[first:, place:place + n] = first_rows(one, given, mass)
    set_field_rows(state, rows)


def set_capacities(population, state):
    """Set the capacities of fields for the present masses of the clumps."""
    if not population.fields:
        return
    rows, mass, place = field_rows(state), state.column("mass"), FIELD_ROWS.index("per_capacity")
    for one, (_, first, n) in zip(population.fields, population.components):
        rows[:, first:first + n, place] = first_rows(one, np.zeros((len(mass), n)), mass)[:, :, place]
    set_field_rows(state, rows)


def first_rows(field, values, mass):
    """(n_clumps, components, FIELD_ROWS) of clumps that have not moved; values : (n_clumps, components)."""
    rows = np.zeros((*values.shape, len(FIELD_ROWS)))
    rows[:, :, FIELD_ROWS.index("value")] = values
    rows[:, :, FIELD_ROWS.index("per_capacity")] = 1.0 / (field.capacity * (mass[:, None] if field.per_mass else 1.0))
    return rows
