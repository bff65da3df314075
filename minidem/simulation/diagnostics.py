"""Topic of a `Simulation`: what its time loop does."""
from __future__ import annotations

from minidem.core.guard import exclusive
from minidem.simulation.topic import Accessor


class Diagnostics(Accessor):
    """`sim.diagnostics`: what the time loop does, and the memory that it takes."""

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases of a step of this simulation, in their order: ARCHITECTURE.md says what each does."""
        return self._sim.loop.phases

    @property
    @exclusive
    def statistics(self) -> dict:
        """Skins, sizes and rebuilds of the Verlet lists since clumps were last added or removed, and memory.

        "memory" is a dict, bytes by topic: "state", the clumps and spheres; "loop", what the time loop has of each;
        "lists" of neighbors; "contacts"; "sums" of forces; "copies" to go back to after a failure. What exists in a
        rebuild of the lists alone does not count: the contacts once more.
        """
        return self._sim.loop.statistics
