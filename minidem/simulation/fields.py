"""Topic of a `Simulation`: fields of the clumps, such as a temperature or a charge.

Values and rates are in the blocks of the state, like positions; fields/rates.pyx integrates them.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.contact.law import MOST_COMPONENTS
from minidem.core.checks import (
    LARGEST,
    did_you_mean,
    finite_array,
    flag,
    positive,
    real_array,
    refuse,
    short_repr,
    whole,
)
from minidem.core.guard import exclusive
from minidem.engine.columns import COLUMNS
from minidem.fields.field import Field, field_rows, first_rows, set_field_rows, without_rates
from minidem.fields.rates import FIELD_ROWS
from minidem.output.vtu import ARRAYS
from minidem.simulation.forces import Force
from minidem.simulation.topic import Accessor

RESERVED = (*ARRAYS, *(one.name for one in COLUMNS), "time")


class Fields(Accessor, Mapping):
    """`sim.fields`: fields of the clumps by name, and fluxes through contacts.

    ``sim.fields["T"]`` is an array of the values at the whole step, (n_clumps,), or (n_clumps, components) with more
    than one; ``sim.fields["T"] = values`` sets them, as in `add`. Contact laws that have records find them from the
    next step on. Names are in the order in which fields were added.
    """

    @exclusive
    def add(self, name: str, values: ArrayLike = 0.0, *, components: int = 1, capacity: float = 1.0,
            per_mass: bool = False, new: ArrayLike | None = None, walls: ArrayLike | None = None) -> None:
        """Give each clump a quantity, a scalar or a vector, which fluxes, contact laws and forces read and change.

        Parameters
        ----------
        name : str
            As in Python's names.
        values : (n_clumps,) or (n_clumps, components) array_like, or one value
        components : int
            1: a scalar. All fields together have at most 8.
        capacity : float
            What rates are divided by: of a temperature the heat capacity [J/K], with rates in watts.
        per_mass : bool
            The capacity is given per kilogram: of a temperature the specific heat capacity [J/(kg K)].
        new : one value, optional
            Of clumps that are added later. Default: `values` if that is one value; else clumps can only be added with
            it.
        walls : (n_walls,) or (n_walls, components) array_like, or one value, optional
            Constant values of the walls; NaN: a wall without one. Fluxes then find the value of the clump, so that
            nothing flows which is driven by a difference. Default: no wall has a value.

        Raises
        ------
        ValueError
            For a name in use, or an argument out of range.

        Notes
        -----
        Values belong to the instant of the pose. The values of the next step follow from the rates of two steps
        (Adams-Bashforth, second order). They are in copies and checkpoints, and in VTU and GSD files.
        """
        sim = self._sim
        old, n = sim.loop, whole("components", components, 1, MOST_COMPONENTS)
        population, n_walls = old.population, len(sim.walls)
        if not isinstance(name, str) or not name.isidentifier() or name in RESERVED:
            raise ValueError(f"name = {short_repr(name)}: give a name as in Python, other than {', '.join(RESERVED)}")
        if name in {field.name for field in population.fields}:
            raise ValueError(f"name = {name!r}: there is a field of this name; sim.fields[name] = values changes them")
        if n + sum(field.components for field in population.fields) > MOST_COMPONENTS:
            raise ValueError(f"components = {n}: all fields together have at most {MOST_COMPONENTS}")
        given = _values("values", values, sim.reader.n_clumps, n)
        if new is None and np.ndim(values) == (0 if n == 1 else 1):
            new = values
        at_walls = np.full((n_walls, n), np.nan) if walls is None else _of_walls(walls, n_walls, n)
        field = Field(name, n, None if new is None else tuple(_values("new", new, 1, n)[0].tolist()),
                      positive("capacity", capacity), flag("per_mass", per_mass), at_walls)
        changed = replace(population, fields=(*population.fields, field))
        width = old.state.optional["fields"] + n * len(FIELD_ROWS)
        state = old.state.with_columns(old.state.optional | {"fields": width})
        rows = field_rows(state)
        rows[:, -n:] = first_rows(field, given, sim.reader.column("mass"))
        set_field_rows(state, rows)
        self._use_rates_of(replace(old.snapshot(), state=state, population=changed))
        sim.monitor.expect_rates(sim)

    @exclusive
    def __setitem__(self, name: str, values: ArrayLike) -> None:
        sim = self._sim
        old = sim.loop
        components = old.population.components
        first, n = _place(components, name)
        state, rows = old.state.copy(), field_rows(old.state)
        rows[:, first:first + n, FIELD_ROWS.index("value")] = _values("values", values, sim.reader.n_clumps, n)
        set_field_rows(state, rows)
        self._use_rates_of(replace(old.snapshot(), state=without_rates(state)))

    @exclusive
    def __getitem__(self, name: str) -> np.ndarray:
        sim = self._sim
        components = sim.reader.population.components
        _place(components, name)
        return sim.reader.fields()[name].copy()

    @exclusive
    def __iter__(self):
        return iter([field.name for field in self._sim.reader.population.fields])

    @exclusive
    def __len__(self):
        return len(self._sim.reader.population.fields)

    def __contains__(self, name):
        return name in list(self)

    @exclusive
    def add_flux(self, function: Any, parameters: ArrayLike = ()) -> None:
        """Let a function change fields through contacts, in Python or compiled.

        Parameters
        ----------
        function : callable or compiled function
            In Python: ``function(contacts, *parameters)``, called for eight contacts at a time, with the arrays of
            `minidem.contact.external_law.EightContacts`; it changes ``contacts.rates`` and ``contacts.transfer``.
            Compiled: see Notes.
        parameters : (k,) array_like
            Numbers for the function.

        Raises
        ------
        ValueError
            Without a field, for a contact law without records, such as hertz, or a wrong signature.

        Notes
        -----
        Each contact is evaluated at each whole step, after its law. Rates and amounts are given for the field times its
        capacity, of i and of j separately. Rates count in contacts that last; amounts are added to the values once, in
        this step, also in the last evaluation of a contact, where ``contacts.goes_on`` is 0. Functions may be called
        between two steps, where ``contacts.step`` is 0 and nothing is transferred.

        A compiled function is
        ``void f(const double *contact, const double *result, double *rates, const double *parameters)``, given like
        the functions of `sim.forces.add`. The arrays are rows of eight doubles, one per contact. `contact` and `result`
        have the rows of a law (`minidem.contact.register`, `md.contact.columns`), and with n components of all fields::

           contact  IDS of i and j; -1 - number of a wall   VALUES: n of i, n of j
           rates    0 ... of i   n ... of j   2 n ... amounts of i   3 n ... of j; zero before the call

        Checkpoints do not contain fluxes: add them again after `load`. The guide (extensions) has conduction of heat.
        """
        sim = self._sim
        if not sim.reader.population.fields:
            raise ValueError("fields.add_flux: the simulation has no field; call sim.fields.add first")
        if not sim.settings.law.has_history:
            raise ValueError(f"fields.add_flux: the contact law {sim.contact!r} keeps no records of its contacts; take "
                             "one that does, such as 'hertz-mindlin'")
        self._use_rates_of(sim.loop.snapshot().with_force(Force(function, parameters, is_flux=True)),
                           known=not sim.reader.user_forces.complete)          # after load
        sim.monitor.expect_rates(sim)

    def _use_rates_of(self, snapshot, known=False):
        """Use a loop of the snapshot, whose forces stay known unless user forces must give rates first."""
        sim = self._sim
        forces = snapshot.user_forces
        new = sim._loop_from(sim._with_new_forces(snapshot) if forces.acts and not known else snapshot)
        if new.forces_known or forces.acts and forces.complete:
            new.evaluate(known)
        sim._use(new)


def _values(name, values, count, n):
    """Return (count, n) finite numbers of one value or as many."""
    shape = (count,) if n == 1 else (count, n)
    return finite_array(name, values, shape, repeat=True, limit=LARGEST).reshape(count, n)


def _of_walls(walls, n_walls, n):
    """Return (n_walls, n) values of the walls of one value or as many; NaN: a wall without one."""
    values = real_array("walls", walls, (n_walls,) if n == 1 else (n_walls, n), repeat=True)
    if not n_walls and np.size(walls):
        raise ValueError(f"walls = {short_repr(walls)}: the simulation has no walls; leave walls out")
    refuse("walls", values, np.abs(values) > LARGEST, f"stay within {LARGEST}, or give NaN for a wall without a value")
    return values.reshape(n_walls, n)


def _place(components, name):
    """First component and their number; ValueError for an unknown field."""
    for known, first, n in components:
        if known == name:
            return first, n
    raise ValueError(f"name = {short_repr(name)}: there is no such field; known are "
                     f"{', '.join(known for known, _, _ in components) or 'none'}"
                     f"{did_you_mean(name, [known for known, _, _ in components])}")
