"""Tables of a run, row by row: energy.csv, and observables.csv with contacts and what a scenario watches."""

import math
from pathlib import Path

import numpy as np

from minidem.output import replace_text

ENERGIES = ("translational", "rotational", "elastic", "potential", "total")


class Table:
    """A CSV file that grows by whole lines and is readable at every instant; first column: time [s].

    Numbers are written so that they read back exactly. keep: with a function of the time, the rows
    already in the file for which keep(time) is true stay (to continue a run); without it the table
    starts empty.
    """

    def __init__(self, path, columns, keep=None):
        self.columns = ("time",) + tuple(columns)
        self.rows, lines = [], []
        if keep is not None:
            # The last line may have been cut by a crash of the machine: only lines with an end count.
            for line in Path(path).read_text(encoding="utf-8").splitlines(keepends=True)[1:]:
                if line.endswith("\n"):
                    row = tuple(map(float, line.split(",")))
                    if keep(row[0]):
                        self.rows.append(row)
                        lines.append(line)
        replace_text(path, ",".join(self.columns) + "\n" + "".join(lines))
        self._file = open(path, "a", buffering=1, encoding="utf-8")  # every line goes out at once

    def append(self, time, values):
        row = (float(time), *map(float, values))
        self._file.write(",".join(map(repr, row)) + "\n")
        self.rows.append(row)

    def __getitem__(self, column):
        """A column as an array."""
        return np.array([row[self.columns.index(column)] for row in self.rows])

    def close(self):
        self._file.close()


class Recorder:
    """Energies and observables of a simulation at the steps of a schedule."""

    def __init__(self, folder, observables, keep=None):
        self.observables = observables
        self.energy = Table(folder.energy, ENERGIES, keep)
        self.observed = Table(folder.observables, ["contacts", *(o.name for o in observables)], keep)

    def record(self, sim):
        """Add a row for the present whole step unless it is there; False if the energy is not finite."""
        time = sim.time
        if self.energy.rows and self.energy.rows[-1][0] == time:
            return True
        energy = sim.energy()
        if not math.isfinite(energy.total):
            return False
        self.energy.append(time, [getattr(energy, name) for name in ENERGIES])
        self.observed.append(time, [len(sim.contacts()), *(o.value(sim) for o in self.observables)])
        return True

    def close(self):
        self.energy.close()
        self.observed.close()
