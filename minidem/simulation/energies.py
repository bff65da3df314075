"""Topic of a `Simulation`: energy and momentum."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.energy import Energy, measure
from minidem.analysis.shadow import shadow_terms
from minidem.core.checks import finite_array, flag
from minidem.core.guard import exclusive
from minidem.core.quaternions import rotate
from minidem.simulation.topic import Topic


class Energies(Topic):
    """Energy and momentum of all clumps."""

    @exclusive
    def energy(self, contacts: np.ndarray | None = None, shadow: bool = False) -> Energy:
        """Energies at the whole step.

        Parameters
        ----------
        contacts : structured array (n,), optional
            The result of `contacts()` at this instant, if available, to avoid computing it again.
        shadow : bool
            Compute `Energy.shadow` as well, which `Energy.lasting` needs. `Energy.total` is the same with it and
            without.
        """
        loop, terms = self.loop, 0.0 if flag("shadow", shadow) else None
        contacts = loop.contacts() if contacts is None else contacts
        rates = loop.rates()
        if shadow and len(contacts):
            loop.evaluate_forces()
            terms = shadow_terms(contacts, loop.state, *rates, _image_velocities(loop, contacts), self.gravity, self.dt,
                                 self.settings.law.power)
        return measure(loop, self.gravity, contacts, rates, terms)

    @exclusive
    def linear_momentum(self) -> np.ndarray:
        """(3,) lab frame [kg m/s]."""
        return np.sum(self.loop.state.column("mass")[:, None] * self.loop.rates()[0], axis=0)

    @exclusive
    def angular_momentum(self, about: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
        """(3,) angular momentum about the point `about` (3,) [m], lab frame [kg m2/s].

        Of `position` in unbounded space. A contact across the faces of a periodic box changes it: see `Simulation`.
        """
        (velocity, rate), column = self.loop.rates(), self.loop.state.column
        spin = rotate(column("orientation"), column("inertia") * rate)
        arm = column("position") - finite_array("about", about, (3,))
        return np.sum(np.cross(arm, column("mass")[:, None] * velocity) + spin, axis=0)


def _image_velocities(loop, contacts):
    """(n, 3) velocities of those images of the second spheres of contacts (n,) that touch, relative to these [m/s]."""
    box, pairs, images = loop.box, contacts["sphere_j"] >= 0, np.zeros((len(contacts), 3))
    if box is not None and box.moves:
        centers = loop.spheres()[:, :3]
        d = centers[contacts["sphere_i"][pairs]] - centers[contacts["sphere_j"][pairs]]
        images[pairs] = box.displacement(box.lengths_in(d)) @ box.gradient.T
    return images
