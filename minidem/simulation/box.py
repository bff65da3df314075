"""Topic of a `Simulation`: its periodic box."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from minidem.core.guard import exclusive
from minidem.core.read_only import observable
from minidem.holds.hold import refuse_held
from minidem.simulation.topic import Topic
from minidem.walls.periodic_box import Box, PeriodicBox


class PeriodicBoundaries(Topic):
    """A periodic box."""

    @exclusive
    def deform(self, *, shear: Any = None, rates: Any = (0.0, 0.0, 0.0), affine: bool = True) -> None:
        """Change the motion of the periodic box: consolidate first, then shear; reverse a shear; stop.

        Parameters
        ----------
        shear, rates, affine
            As of `PeriodicBox`, from the next step on. Without them the box stays as it is now.

        Raises
        ------
        ValueError
            If the simulation has no periodic box, for an argument out of range, or for a shear along other axes than
            an earlier shear. The motion does not change then.

        Notes
        -----
        Contacts keep their history. With `affine` the velocities of the clumps change with the flow in the next step. A
        `Pressure` begins with the strain rate of this instant.
        """
        old = self.loop
        if old.state.box is None:
            raise ValueError("deform: the simulation has no periodic box; give periodic=md.PeriodicBox(...) to "
                             "Simulation")
        box = old.state.box.with_motion(shear, rates, affine).continued(
            since=old.step_count * self.dt, begins=old.steered_speeds()[1].tolist())
        refuse_held(old.state.hold, box)
        box.refuse_walls(self.reader.walls)
        snapshot = old.snapshot()
        if old.user_forces.acts:                        # they see the change of the flow
            old.user_forces.check()
            snapshot = self._with_new_forces(snapshot)
        new = self._loop_from(replace(snapshot, state=snapshot.state.with_box(box)))
        new.box.refuse_large_clumps(old.state)
        if new.forces_known:                # the power of the box in the coming half step
            new.evaluate()
        self.monitor.forget_energy()
        self._use(new)

    @property
    def periodic(self) -> tuple | PeriodicBox | None:
        """The periodic box as it was given, or changed by `deform`."""
        return self.reader.periodic and self.reader.periodic.setting

    @property
    def box(self) -> Box | None:
        """The periodic box at this instant: corners, lattice, strain, velocity gradient, flow(position)."""
        return self.reader.box

    @observable
    def strain(self) -> np.ndarray:
        """(4,) logarithmic strains of the axes of the periodic box, and its shear strain, since the first step."""
        return np.zeros(4) if self.box is None else self.box.strain.copy()

    @observable
    def wrapped_position(self) -> np.ndarray:
        """(n_clumps, 3) `position` moved by whole lengths of the periodic box into it, lab frame [m]."""
        position, box = self.reader.column("position"), self.box
        return position if box is None else box.wrapped(position)

    @observable
    def image(self) -> np.ndarray:
        """(n_clumps, 3) int64, by how many lengths of the periodic box `position` is outside; 0 along open axes."""
        position, box = self.reader.column("position"), self.box
        return np.zeros(position.shape, dtype=np.int64) if box is None else box.image(position)
