"""Phases of a process: changes of a simulation at given times, for scenarios and `Simulation.run`."""
from collections.abc import Callable, Mapping

from minidem.core.checks import check_call, positive
from minidem.simulation import Simulation


def phases(dt: float, interval: float, changes: Mapping[float, Callable[[Simulation], object]],
           *always: Callable[[Simulation], object]) -> tuple[int, Callable[[Simulation], None]]:
    """Steps and callback that begin phases: the `exchange` of a Scenario, or `every` and `callback` of `sim.run`.

    Which phase begins depends on the number of steps alone: a run that is continued or verified begins the same.

    Parameters
    ----------
    dt : float
        Time step [s].
    interval : float
        Between calls [s]; phases begin at the nearest multiple.
    changes : dict
        Time [s] -> function(sim), which moves walls, changes materials, adds clumps.
    *always : callable
        function(sim), called at each multiple, before the changes: an Inlet, an Outlet.

    Returns
    -------
    (int, callable)

    Raises
    ------
    ValueError
        For a time before the first multiple, or two with the same.
    """
    every, due = max(1, round(positive("interval", interval) / positive("dt", dt))), {}
    for time, change in changes.items():
        check_call(f"changes[{time!r}]", change, "simulation")
        count = round(positive("changes", time) / (every * dt))
        if count in due or not count:
            raise ValueError(f"changes: {time!r} s is {'no' if not count else 'the same'} multiple of interval = "
                             f"{interval:g} s {'after 0' if not count else 'as another time'}; give a smaller interval")
        due[count] = change

    def begin(sim):
        for one in always:
            one(sim)
        if change := due.get(sim.step_count // every):
            change(sim)

    return every, begin
