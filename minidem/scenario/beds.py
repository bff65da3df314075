"""Beds that settle before a scenario begins."""
from collections.abc import Callable
from pathlib import Path

from minidem.core.checks import flag
from minidem.initial import kept_bed
from minidem.scenario.progress import Line
from minidem.simulation import Simulation

FOLDER = Path("results", "beds")


def settled(name: str, make: Callable[[Callable[[float], None]], Simulation], quiet: bool = False) -> Simulation:
    """A bed that is made with progress on the screen, and kept in results/beds for later runs.

    Parameters
    ----------
    name : str
        Of its file, with all that the bed depends on.
    make : callable
        make(report) returns the Simulation; report(part) shows the part that is done.
    quiet : bool
        Without progress.
    """
    line = Line(flag("quiet", quiet))
    bed = kept_bed(FOLDER / f"{name}.npz",
                   lambda: make(lambda part: line.is_due() and line.show(f"the bed settles, {part:.0%}")))
    line.close()
    return bed
