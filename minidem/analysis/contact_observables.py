"""Methods of `Simulation` that read contacts, and sums over them."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contact_sums import coordination_number, enclosed_box, love_weber, wall_wrenches
from minidem.contact.contact_table import columns
from minidem.core.checks import finite_array, positive, refuse, whole
from minidem.core.guard import exclusive


class ContactObservables:
    """Base class of `Observables`, which documents what it reads."""

    @exclusive
    def contacts(self) -> np.ndarray:
        """All contacts at this instant.

        Returns
        -------
        structured array (n,)
            `clump_i`, `clump_j`, `sphere_i`, `sphere_j` (indices; both j fields are -1 - k for wall k), `overlap` [m],
            `normal` (3,) unit vector from j to i, `force` (3,) on i with its onset correction [N], `point` (3,) [m],
            across a face of a periodic box that next to the `position` of clump i,
            `energy` of the normal force [J]; of laws with friction also `tangential` (3,) part of the force [N],
            `couple` (3,) of rolling resistance on i [N m], `sliding` bool, `energy_tangential`, `energy_rolling` [J];
            lab frame.
        """
        if not self._loop.contacts_known:
            self._loop.evaluate()
        return self._loop.contacts()

    def contact_columns(self) -> dict[str, np.ndarray]:
        """`contacts()` as a dict of columns (n,), vectors as normal_x, normal_y, normal_z, for `pandas.DataFrame`."""
        return columns(self.contacts())

    @exclusive
    def coordination_number(self, walls: bool = True, neighbours: bool = False) -> float:
        """Mean number of contacts per clump; 0 without clumps.

        Parameters
        ----------
        walls : bool
            Count contacts with walls. A contact between two clumps counts for both, one with a wall for its clump.
        neighbours : bool
            Count several contacts of a clump with the same clump or wall once.
        """
        return coordination_number(self.contacts(), self.n_clumps, walls, neighbours)

    @exclusive
    def stress(self, volume: float | None = None, low: ArrayLike | None = None, high: ArrayLike | None = None,
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
            velocity relative to their mean velocity.

        Returns
        -------
        (3, 3) ndarray
            Sum of F_a l_b / V over the contacts [Pa], lab frame: F is the force on a clump, l the vector to its centre
            from that of the other clump, or of its image in a periodic box, or from the contact point on a wall. Of a
            vector l that crosses the faces of the box low, high the part inside counts. The tensor is symmetric only in
            the mean over time.

        Raises
        ------
        ValueError
            For arguments out of range, or none where walls and periodic axes do not enclose a box.

        Notes
        -----
        J. Christoffersen, M. M. Mehrabadi, S. Nemat-Nasser, J. Appl. Mech. 48, 339 (1981), doi 10.1115/1.3157619.
        """
        low, high, volume = self._averaging_volume(volume, low, high)
        position, box = self._state.column("position"), self._state.box
        if box is None:
            total = love_weber(self.contacts(), position, low, high)
        else:
            total = love_weber(self.contacts(), position, low, high, box, self.sphere_centers())
            position = box.wrapped(position)
        if kinetic:
            inside = ((low <= position) & (position <= high)).all(axis=1)
            mass, velocity = self._state.column("mass")[inside, None], self._rates()[0][inside]
            velocity = velocity - np.sum(mass * velocity, axis=0) / np.sum(mass) if len(mass) else velocity
            total += np.einsum("ni,nj->ij", mass * velocity, velocity)
        return total / volume

    def _averaging_volume(self, volume, low, high):
        everything = np.full(3, -np.inf), np.full(3, np.inf)
        if volume is not None:
            if low is not None or high is not None:
                raise ValueError("volume, low, high: give the volume, or both corners of a box")
            return *everything, positive("volume", volume)
        if (low is None) != (high is None):
            raise ValueError("low and high belong together: give both or none")
        if low is None:
            low, high = enclosed_box(self.walls_at_rest, self._state.box)
            if not np.isfinite([low, high]).all():
                raise ValueError("volume = None: walls and periodic axes do not enclose a box; give volume, or low and "
                                 "high")
            return *everything, float(np.prod(high - low))
        low, high = (finite_array(name, corner, (3,)) for name, corner in (("low", low), ("high", high)))
        refuse("high", high, high <= low, f"give high above low = {low.tolist()} in every component")
        if self._state.box is not None:
            self._state.box.refuse_outside(low, high)
        return low, high, float(np.prod(high - low))

    @exclusive
    def wall_force(self, k: int) -> np.ndarray:
        """(3,) force of all clumps on wall number k of `walls`, lab frame [N]."""
        return self._wall_wrench(k, None)[:3]

    @exclusive
    def wall_torque(self, k: int, about: ArrayLike | None = None) -> np.ndarray:
        """(3,) its torque about the point `about` (3,) [m], default: the wall's centre now, lab frame [N m]."""
        return self._wall_wrench(k, None if about is None else finite_array("about", about, (3,)))[3:]

    def _wall_wrench(self, k, about):
        k = whole("k", k, 0)
        if k >= len(self.walls):
            raise ValueError(f"k = {k}: there are {len(self.walls)} walls, numbered from 0")
        return wall_wrenches(self.contacts(), self.walls_at_rest, about)[k]
