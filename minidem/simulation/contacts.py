"""Topics of a `Simulation`: its contacts, energy and momentum. Sums are in the order of the user's numbers."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contacts import averaging_volume, image_shifts, neighbours_of, rattlers
from minidem.analysis.energy import Energy, measure
from minidem.analysis.shadow import shadow_terms
from minidem.core.checks import finite_array, flag
from minidem.core.guard import exclusive
from minidem.core.quaternions import rotate
from minidem.core.rows import unique_rows
from minidem.simulation.topic import Topic


class Contacts(Topic):
    """Contacts, and their sums."""

    @exclusive
    def contacts(self) -> np.ndarray:
        """All contacts at this instant.

        Returns
        -------
        structured array (n,)
            `clump_i`, `clump_j`, `sphere_i`, `sphere_j` (indices; both j fields are -1 - k for wall k), `overlap` [m],
            `normal` (3,) unit vector from j to i, `force` (3,) on i with its onset correction [N], `point` (3,) [m],
            across a face of a periodic box that next to the `position` of clump i, `energy` of the normal force [J]; of
            laws with friction also `tangential` (3,) part of the force [N], `couple` (3,) of rolling resistance on i [N
            m], `sliding` bool, `energy_tangential`, `energy_rolling` [J]; `triangle`, its number in a mesh, -1 of other
            walls; lab frame. Of a user-defined law also `history` (records, 4), whose first three numbers hold for i
            before j.
        """
        return self.reader.contacts()

    @exclusive
    def coordination_number(self, *, walls: bool = True, neighbours: bool = False, rattling: bool = True) -> float:
        """Mean number of contacts per clump; 0 without clumps.

        Parameters
        ----------
        walls : bool
            Count contacts with walls. A contact between two clumps counts for both, one with a wall for its clump.
        neighbours : bool
            Count several contacts of a clump with the same clump or wall once.
        rattling : bool
            False: without `rattlers`, and without their contacts.
        """
        ends = neighbours_of(self, flag("walls", walls))
        n = self.reader.n_clumps
        left_out = np.zeros(n, dtype=bool) if flag("rattling", rattling) else rattlers(self)
        ends = ends[~left_out[ends[:, 0]] & ~((ends[:, 1] >= 0) & left_out[np.maximum(ends[:, 1], 0)])]
        counted = n - np.count_nonzero(left_out)
        return len(unique_rows(ends)[0] if flag("neighbours", neighbours) else ends) / counted if counted else 0.0

    @exclusive
    def stress(self, *, volume: float | None = None, low: ArrayLike | None = None, high: ArrayLike | None = None,
               kinetic: bool = False) -> np.ndarray:
        """Mean Love-Weber stress, compression positive.

        Parameters
        ----------
        volume : float, optional
            Volume V of all clumps and contacts [m3]. Default: of the box that walls and periodic axes enclose.
        low, high : (3,) array_like, optional
            Instead of volume: corners of a box to average over, lab frame [m]; inside the periodic box.
        kinetic : bool
            Add the kinetic part, the sum of m v' v' / V over the clumps with their centres in the box; v' is their
            velocity relative to the mean of all, in a periodic box that moves relative to its flow.

        Returns
        -------
        (3, 3) ndarray
            Sum of F_a l_b / V over the contacts [Pa], lab frame: F is the force on a clump, l the vector to its centre
            from the centre of the other clump or its image, or from the contact point on a wall. Only the part of l
            inside the box counts. The tensor is symmetric only in the mean over time.

        Raises
        ------
        ValueError
            For arguments out of range, or none where walls and periodic axes do not enclose a box.

        Notes
        -----
        J. Christoffersen, M. M. Mehrabadi, S. Nemat-Nasser, J. Appl. Mech. 48, 339 (1981), doi 10.1115/1.3157619.
        """
        low, high, volume = averaging_volume(self, volume, low, high)
        total = _love_weber(self, self.contacts(), low, high)
        if flag("kinetic", kinetic):
            reader, position, box = self.reader, self.reader.column("position"), self.reader.box
            wrapped = position if box is None else box.wrapped(position)
            inside = ((low <= wrapped) & (wrapped <= high)).all(axis=1)
            mass, velocity = reader.column("mass")[inside, None], reader.rates()[0][inside]
            if box is not None and box.moves:
                velocity = velocity - box.flow(position[inside])
            elif len(mass):
                velocity = velocity - np.sum(mass * velocity, axis=0) / np.sum(mass)
            total += np.einsum("ni,nj->ij", mass * velocity, velocity)
        return total / volume


class Energies(Topic):
    """Energy and momentum of all clumps."""

    @exclusive
    def energy(self, *, contacts: np.ndarray | None = None, shadow: bool = False) -> Energy:
        """Energies at the whole step.

        Parameters
        ----------
        contacts : structured array (n,), optional
            The result of `contacts()` at this instant, if available, to avoid computing it again.
        shadow : bool
            Compute `Energy.shadow` as well, which `Energy.lasting` needs. `Energy.total` is the same with it and
            without.
        """
        box, terms = self.reader.box, 0.0 if flag("shadow", shadow) else None
        contacts = self.reader.contacts() if contacts is None else contacts
        if shadow and self.reader.held:
            raise ValueError("shadow = True: that of clumps that are held is not known; leave shadow out, or free them "
                             "by sim.set_motion(ids)")
        if shadow and len(contacts):
            self.loop.evaluate_forces()
            images, pairs = np.zeros((len(contacts), 3)), contacts["sphere_j"] >= 0
            if box is not None and box.moves:
                images[pairs] = image_shifts(self, contacts)[pairs] @ box.gradient.T
            terms = shadow_terms(contacts, self.loop.state, *self.reader.rates(), images, self.gravity, self.dt,
                                 self.settings.law.power)
        return measure(self.reader, contacts, terms)

    @exclusive
    def linear_momentum(self) -> np.ndarray:
        """(3,) lab frame [kg m/s]; of clumps that are held along the axes along which they are free, or at a pin."""
        reader = self.reader
        return np.sum(reader.motion_factors()[2] * reader.column("mass")[:, None] * reader.rates()[0], axis=0)

    @exclusive
    def angular_momentum(self, about: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
        """(3,) angular momentum about the point `about` (3,) [m], lab frame [kg m2/s].

        Of `position` in unbounded space. A contact across the faces of a periodic box changes it: see `Simulation`.
        """
        (velocity, rate), column = self.reader.rates(), self.reader.column
        _, rotation, weight = self.reader.motion_factors()
        spin = rotate(column("orientation"), rotation * column("inertia") * rate)
        arm = column("position") - self.reader.pin_arms() - finite_array("about", about, (3,))
        return np.sum(np.cross(arm, weight * column("mass")[:, None] * velocity) + spin, axis=0)


def _love_weber(sim, found, low, high):
    """(3, 3) sum of force times branch vector over contacts [J]; of branches that leave the box, the part inside."""
    position, box, at_wall = np.asarray(sim.position), sim.box, (found["clump_j"] < 0)[:, None]
    start = position[found["clump_i"]]
    branch = start - np.where(at_wall, found["point"], position[np.maximum(found["clump_j"], 0)])
    branch -= image_shifts(sim, found)
    if box is not None:
        start = box.wrapped(start)
    images = np.zeros((1, 3)) if box is None or not np.isfinite(low).all() else box.shifts()
    share = sum(_share_inside(start + shift, branch, low, high) for shift in images)
    return np.einsum("ni,nj->ij", share[:, None] * found["force"], branch)


def _share_inside(start, branch, low, high):
    """(n,) fraction of each segment from start - branch to start (n, 3) that is inside a box."""
    flat = branch == 0.0
    along = np.where(flat, 1.0, -branch)
    ends = np.sort([(corner - start) / along for corner in (low, high)], axis=0)
    inside = (low <= start) & (start <= high)
    enter, leave = np.where(flat, np.where(inside, -np.inf, np.inf), ends[0]), np.where(flat, np.inf, ends[1])
    return np.maximum(0.0, np.minimum(1.0, leave.min(axis=1)) - np.maximum(0.0, enter.max(axis=1)))
