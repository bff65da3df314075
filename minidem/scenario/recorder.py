"""The tables of a run: energy.csv, and observables.csv with contacts and what a scenario watches."""

import math

import numpy as np

from minidem.analysis.diagnosis import explain_energy
from minidem.scenario.table import Table

ENERGIES = ("translational", "rotational", "elastic", "potential", "total")


class Recorder:
    """Energies and observables of a simulation at the steps of a schedule. keep: see `Table`."""

    def __init__(self, folder, observables, keep=None):
        self.observables = observables
        self.energy = Table(folder.energy, ENERGIES, keep)
        self.observed = Table(folder.observables, ["contacts", *(o.name for o in observables)], keep)

    def open(self):
        """Write the tables as they are and wait for more."""
        self.energy.open()
        self.observed.open()

    def record(self, sim):
        """Add a row for the present whole step unless it is there.

        Returns the contacts at that instant, None if the row was there. FloatingPointError: the energy is not
        finite, and there is no row of it.
        """
        time = sim.time
        if self.energy.rows and self.energy.rows[-1][0] == time:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            contacts = sim.contacts()
            energy = sim.energy(contacts)
        if not math.isfinite(energy.total):
            raise FloatingPointError(explain_energy(sim))
        observed = [len(contacts), *(o.value(sim) for o in self.observables)]
        self.energy.append(time, [getattr(energy, name) for name in ENERGIES])
        self.observed.append(time, observed)
        return contacts

    @property
    def last_time(self):
        """Of the last row [s]"""
        return self.energy.rows[-1][0]

    def close(self):
        self.energy.close()
        self.observed.close()
