"""What the topics of a `Simulation` have in common."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from minidem.engine.driver import Driver
from minidem.engine.reader import Reader

if TYPE_CHECKING:
    from minidem.analysis.monitor import Monitor
    from minidem.engine.snapshot import Settings, Snapshot
    from minidem.material import Material, Pair
    from minidem.walls import Wall


class Topic:
    """Base class of the topics of a `Simulation`."""

    if TYPE_CHECKING:
        material: Material
        rotation: str
        contact: str
        dt: float
        gravity: tuple[float, float, float]
        pairs: tuple[Pair, ...]
        settings: Settings
        loop: Any                       # the present Driver
        reader: Reader                  # of this loop: all that is read, not changed
        monitor: Monitor
        calls_every: int | None         # steps between the calls of the callback that is running
        inlets: list                    # (parameters, step from which it counts, step of the last call) of each Inlet
        inlets_called: dict             # (Inlet, its number in `inlets`) by its id(); not in copies and files

    @property
    def walls(self) -> tuple[Wall, ...]:
        """The walls by their numbers. `move_wall`, `add_wall` and `remove_wall` change them."""
        return self.reader.walls

    def continue_from(self, snapshot: Snapshot, like: Driver | None = None) -> None:
        """Continue from a `Snapshot` (minidem.engine.snapshot) with these settings; like : as of `Driver`."""
        if like is None:
            self.monitor.forget_energy()
        self._use(self._loop_from(snapshot, like))

    def _with_new_forces(self, snapshot):
        """A Snapshot of this instant, with forces to be evaluated anew, which act on all clumps from now on.

        The present forces have acted until now. The next step begins with half a step back under the new ones.
        """
        every = np.ones_like(snapshot.started)
        return replace(snapshot.begun_again(every, *self.reader.rates()), forces_known=False)

    def _loop_from(self, snapshot, like=None):
        """A time loop with a state of its own: what it computes is gone if it is not used, or taken back."""
        loop = vars(self).get("loop")
        if loop is not None and snapshot.state is loop.state:
            snapshot = snapshot.copy()
        return Driver(self.settings, snapshot, like)

    def _use(self, loop):
        """Replace the time loop: all that has changed becomes valid at once."""
        vars(self).update(loop=loop, reader=Reader(loop))
