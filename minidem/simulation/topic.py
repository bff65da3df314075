"""What the topics of a `Simulation` have in common."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from minidem.core.checks import did_you_mean
from minidem.engine.driver import Driver
from minidem.engine.reader import Reader

if TYPE_CHECKING:
    from minidem.analysis.monitor import Monitor
    from minidem.engine.snapshot import Settings, Snapshot
    from minidem.material import Material, Pair


class Accessor:
    """Base class of the topics with a name of their own: `sim.walls`, `sim.bonds`, `sim.fields`, `sim.forces` ..."""

    def __init__(self, simulation):
        self._sim = simulation

    def __repr__(self):
        names = ", ".join(name for name in vars(type(self)) if not name.startswith("_"))
        return f"<{type(self).__name__} of {self._sim!r}: {names}>"

    if not TYPE_CHECKING:
        def __getattr__(self, name):
            raise AttributeError(f"{type(self).__name__} have no {name!r}{did_you_mean(name, dir(type(self)))}")


_Kind = TypeVar("_Kind", bound=Accessor)


class Named(Generic[_Kind]):
    """Gives a simulation its accessor, and the class `Simulation` the class of it, for `help(md.Simulation.bonds)`."""

    def __init__(self, kind: type[_Kind]):
        self.kind = kind

    if TYPE_CHECKING:
        def __get__(self, simulation: Any, owner: Any) -> _Kind: ...
    else:
        def __get__(self, simulation, owner):
            return self.kind if simulation is None else self.kind(simulation)


class Topic:
    """Base class of the other topics of a `Simulation`."""

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
        vars(self).update(loop=loop, reader=Reader(loop), gravity=loop.gravity,
                          material=loop.pair_table.materials[0], pairs=loop.pair_table.pairs)
