"""Head-on collisions of two bodies with a contact law alone: eight at once, by leapfrog, without the engine."""
import numpy as np

import minidem as md
from minidem.contact.pair_table import PROPERTIES, PairTable

NORMAL, MIDDLE_NORMAL, VELOCITY, OVERLAP, RADIUS, MASS, STEP, COEFFICIENTS = 0, 3, 6, 13, 14, 15, 17, 18    # rows.pxd
FORCE, DISSIPATED, GOES_ON = 0, 6, 10


class Collisions:
    """Of eight contacts along x.

    Parameters
    ----------
    contact : str
    material : Material
    radius, mass : float
        Effective ones of the contact [m], [kg].

    Attributes
    ----------
    overlap, speed : (8,) ndarray
        [m], at the whole step; approach speed half a step later [m/s].
    lost : (8,) ndarray
        Dissipated energy [J].
    """

    def __init__(self, contact, material, radius, mass):
        law, self.values = md.contact.registry.select(contact)
        self.kernels, self.mass = law.kernels_for(self.values), mass
        rows = law.coefficient_rows(PairTable(material).properties(PROPERTIES), self.values)
        self.contact = np.zeros((COEFFICIENTS + len(rows), 8))
        self.contact[COEFFICIENTS:] = np.reshape(rows, (-1, 1))
        self.contact[[NORMAL, MIDDLE_NORMAL]], self.contact[RADIUS], self.contact[MASS] = 1.0, radius, mass
        self.history = np.zeros((self.kernels.n_records, 4, 8))
        self.lost, self.force = np.zeros(8), np.zeros(8)

    def evaluate(self, dt):
        """Forces at the present overlaps; contacts that end lose their history."""
        self.contact[OVERLAP], self.contact[VELOCITY], self.contact[STEP] = self.overlap, -self.speed, dt
        result = self.kernels.results_at(self.contact, self.history, self.values)
        self.lost += result[DISSIPATED:DISSIPATED + 4].sum(axis=0)
        self.force, goes_on = result[FORCE], result[GOES_ON] > 0.0
        assert not self.force[~goes_on].any()
        self.history[:, :, ~goes_on] = 0.0

    def collide(self, overlap, speed, dt, steps, watch=None):
        """From gaps, until all contacts have ended or the steps are done; energy at the start and at each step."""
        self.overlap, self.speed = np.array(overlap) + np.zeros(8), np.array(speed) + np.zeros(8)
        for _ in range(steps):
            self.overlap = self.overlap + dt * self.speed
            self.evaluate(dt)
            before, self.speed = self.speed, self.speed - dt / self.mass * self.force
            if watch is not None:
                watch(0.5 * (before + self.speed))
            if (self.speed < 0.0).all() and not self.history.any():
                break

    def elastic(self):
        """Energies of the contacts at the present overlaps [J]."""
        self.contact[OVERLAP] = self.overlap
        return self.kernels.results_at(self.contact, self.history.copy(), self.values, True)[:3].sum(axis=0)
