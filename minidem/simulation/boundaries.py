"""Topic of a `Simulation`: its walls and its periodic box."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contacts import wall_wrenches
from minidem.core.checks import finite_array, whole
from minidem.core.guard import exclusive
from minidem.core.read_only import observable
from minidem.simulation.topic import Topic
from minidem.walls.motion import at_rest
from minidem.walls.periodic_box import Box, PeriodicBox
from minidem.walls.wall_table import rounding_errors


class Boundaries(Topic):
    """Walls, and a periodic box."""

    @property
    @exclusive
    def walls_at_rest(self) -> tuple:
        """The `walls` at their present places, without motion: each is itself if it does not move."""
        return tuple(at_rest(wall, self.loop.step_count, self.dt, state)
                     for wall, state in zip(self.walls, self.loop.servo_states))

    @exclusive
    def overlap_walls(self, spheres: ArrayLike) -> np.ndarray:
        """Which spheres overlap with walls at this instant, with a margin of rounding errors.

        Parameters
        ----------
        spheres : (n, 4) array_like
            Centres and radii, lab frame [m].

        Returns
        -------
        (n,) bool ndarray
        """
        spheres = finite_array("spheres", spheres, (-1, 4))
        return self.loop.deepest_in_walls(spheres)[0] > -rounding_errors(spheres)

    @exclusive
    def wall_force(self, k: int) -> np.ndarray:
        """(3,) force of all clumps on wall number k of `walls`, lab frame [N]."""
        return self._wall_wrench(k)[:3]

    @exclusive
    def wall_torque(self, k: int, about: ArrayLike | None = None) -> np.ndarray:
        """(3,) its torque about the point `about` (3,) [m], default: the wall's centre now, lab frame [N m]."""
        return self._wall_wrench(k, None if about is None else finite_array("about", about, (3,)))[3:]

    def _wall_wrench(self, k, about=None):
        k = whole("k", k, 0)
        if k >= len(self.walls):
            raise ValueError(f"k = {k}: there are {len(self.walls)} walls, numbered from 0")
        return wall_wrenches(self.loop.contacts(), self.walls_at_rest, self.loop.box, about)[k]

    @exclusive
    def deform(self, shear: Any = None, rates: Any = (0.0, 0.0, 0.0), affine: bool = True) -> None:
        """Change the motion of the periodic box: consolidate first, then shear; reverse a shear; stop.

        Parameters
        ----------
        shear, rates, affine
            As of `PeriodicBox`, from the next step on. Without them the box stays as it is now.

        Raises
        ------
        ValueError
            If the simulation has no periodic box, for an argument out of range, or for a shear along other axes than
            those of an earlier one. The motion does not change then.

        Notes
        -----
        Contacts keep their history. With `affine` the velocities of the clumps change with the flow in the next step.
        """
        old = self.loop
        if old.state.box is None:
            raise ValueError("deform: the simulation has no periodic box; give periodic=md.PeriodicBox(...) to "
                             "Simulation")
        box = old.state.box.with_motion(shear, rates, affine)
        box.refuse_walls(self.walls)
        new = self._loop_from(replace(old.snapshot(), state=old.state.with_box(box)))
        for k, template in enumerate(old.state.templates):
            new.box.refuse_large(template, old.state.scale[old.state.template_index == k])
        if new.forces_known:                # the power of the box in the coming half step
            new.evaluate()
        self._use(new)

    @property
    def periodic(self) -> tuple | PeriodicBox | None:
        """The periodic box as it was given, or changed by `deform`."""
        return self.loop.state.box and self.loop.state.box.setting

    @property
    def box(self) -> Box | None:
        """The periodic box at this instant: corners, lattice, strain, velocity gradient, flow(position)."""
        return self.loop.box

    @observable
    def strain(self) -> np.ndarray:
        """(4,) logarithmic strains of the axes of the periodic box, and its shear strain, since the first step."""
        return np.zeros(4) if self.box is None else self.box.strain.copy()

    @observable
    def wrapped_position(self) -> np.ndarray:
        """(n_clumps, 3) `position` moved by whole lengths of the periodic box into it, lab frame [m]."""
        position, box = self.loop.state.column("position"), self.loop.box
        return position if box is None else box.wrapped(position)

    @observable
    def image(self) -> np.ndarray:
        """(n_clumps, 3) int64, by how many lengths of the periodic box `position` is outside; 0 along open axes."""
        position, box = self.loop.state.column("position"), self.loop.box
        return np.zeros(position.shape, dtype=np.int64) if box is None else box.image(position)
