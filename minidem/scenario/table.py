"""Numbers over time in a CSV file, row by row in a callback."""
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from minidem.core.checks import as_array, check_call, file_path, flag, real_array, short_repr
from minidem.output import table as csv_table
from minidem.scenario import plot
from minidem.scenario.record import energy_columns, energy_row


class Table(csv_table.Table):
    """A CSV file to which each call adds a row of numbers: a callback of `Simulation.run`.

    The first call opens the file. A second call at the same time writes nothing. `table["name"]` is a column. The guide
    (output) has an example.

    Parameters
    ----------
    path : path
        NAME.csv.
    columns : dict, optional
        Names of the columns after `time` [s], each with a function of the simulation that returns its number; a tuple
        of names with a function that returns as many. Default: the energies, as in energy.csv of scenarios, of which
        `close` draws the picture NAME.png (extra `viz`).
    append : bool
        Continue the file, if it exists, after its rows up to the time of the first call; later ones are removed.
        Default: replace the file.

    Raises
    ------
    ValueError
        For another suffix, names or functions that cannot be used, a file to continue with other columns, or in a call
        a function that returns something else than the numbers of its columns.
    """

    def __init__(self, path: str | Path, columns: Mapping | None = None, *, append: bool = False):
        self.path, self._append = file_path("path", path, ".csv"), flag("append", append)
        self._draws, self._file = columns is None, None
        self._functions: dict = {} if columns is None else _checked(columns)
        self.rows, self.columns = [], ()

    def __call__(self, sim) -> None:
        if self._file is None:
            if self._draws:
                self._functions = {energy_columns(sim): energy_row}
            keep = (lambda time: time <= sim.time) if self._append and self.path.exists() else None
            super().__init__(self.path, sum(self._functions, ()), keep)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.open()
        if not self.rows or self.rows[-1][0] != sim.time:
            self.append(sim.time, [value for names, function in self._functions.items()
                                   for value in _numbers(function, names, sim)])

    def close(self) -> None:
        """Close the file, and draw the energies; a further call continues it."""
        if self._file is not None:
            super().close()
            if self._draws:
                plot.energies(self.path.with_suffix(".png"), self, self.path.stem)
            self._file, self._append = None, True


def _checked(columns):
    """dict of tuples of names -> function; ValueError for what cannot be columns of a CSV file."""
    if not isinstance(columns, Mapping) or not columns:
        raise ValueError(f"columns = {short_repr(columns)}: give a dict of names to functions of the simulation, "
                         "{'pressure': lambda sim: ...}")
    found = {key if isinstance(key, tuple) else (key,): function for key, function in columns.items()}
    for names, function in found.items():
        check_call(f"columns[{short_repr(names)}]", function, "simulation")
    names = ["time", *chain(*found)]
    for name in names:
        if not isinstance(name, str) or not name or set(name) & set(',"\n\r') or names.count(name) > 1:
            raise ValueError(f"columns: the name {short_repr(name)} is not a text without commas, quotes and line "
                             "ends, or given twice; 'time' is the first column")
    return found


def _numbers(function, names, sim):
    what = f"result of the function of {', '.join(names)} at {sim.time:g} s"
    values = as_array(what, function(sim)).reshape(-1)
    return real_array(what, values * 1.0 if values.dtype == bool else values, (len(names),)).tolist()
