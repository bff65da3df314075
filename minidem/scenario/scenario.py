"""Definition of a scenario, and its command line."""

import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from minidem.core.interpreter import this_python
from minidem.scenario import plot
from minidem.scenario.options import parse
from minidem.scenario.record import verdict
from minidem.scenario.run import Run
from minidem.scenario.signals import Interruptible, pipe_may_close, terminable
from minidem.simulation import Simulation

DONE, FAILED, BAD_ARGUMENTS, INTERRUPTED = 0, 1, 2, 130


@dataclass(frozen=True)
class Observable:
    """A number recorded during a run.

    Parameters
    ----------
    name : str
        Column of observables.csv.
    label : str
        Label of the axis in compare.png, with the unit.
    value : callable
        Simulation -> float.
    """

    name: str
    label: str
    value: Callable[[Simulation], float]


@dataclass(frozen=True)
class Scenario:
    """A simulation with a name, a command line and output files.

    Parameters
    ----------
    name : str
        Name of the script, without suffix.
    description : str
        First part of --help; usually the docstring of the script.
    build : callable
        Options -> Simulation in its initial state. A ValueError becomes a message and exit status 2.
    defaults : dict
        Defaults of the standard options that the scenario has: `time`, and `integrator` (with --compare), `contact`,
        `dt`, `seed`, `frames` if applicable. `build` passes them on to the Simulation.
    add_options : callable, optional
        Adds the options of the scenario to an argparse group. They define the physics: a continued run cannot change
        them. A default may be a function of the options.
    observables : tuple of Observable
        Recorded in addition to energies and contacts; --compare plots the first.
    forces : callable, optional
        Options -> functions for `Simulation.add_force`. They are not added by `build`, because a checkpoint does not
        hold them and a continued run needs them, too.
    exchange : callable, optional
        Options -> (steps, function): function(simulation) is called after every so many steps, to add and remove clumps
        as `minidem.initial.Inlet` and `Outlet` do. What it does must depend on the simulation and the options alone.
    conservative : bool
        Whether the physics conserves energy but for dissipation in contacts. If not, with `forces`, or with a contact
        law that is not conservative, no energy error is computed, only that of the energy balance.
    wall_forces : bool
        Write walls.csv: force on each wall and torque about its point [N, N m], lab frame, wall_0_force_x and so on.
    conclude : callable, optional
        conclude(sim, recorder, folder) -> (dict, str), called at the end of a complete run with the Simulation, the
        tables ``recorder.energy`` and ``recorder.observed`` (``table[column]`` is an array) and the output folder, for
        figures. The numbers become `result` in summary.json; the text is printed after that about the energy.
    """

    name: str
    description: str
    build: Callable[[Namespace], Simulation]
    defaults: dict
    add_options: Callable | None = None
    observables: tuple[Observable, ...] = ()
    forces: Callable | None = None
    exchange: Callable | None = None
    conservative: bool = True
    wall_forces: bool = False
    conclude: Callable | None = None

    def parse(self, argv: Sequence[str] | None = None) -> Namespace:
        """The options from a command line, by default sys.argv; ValueError if invalid."""
        return parse(self, argv)

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run the command line, by default sys.argv.

        Returns
        -------
        int
            Exit status: 0 done, 1 failed, 2 bad arguments, 130 interrupted.
        """
        runs = {}
        try:
            with terminable():
                try:
                    options = self.parse(argv)
                    runs = self._plan(options)
                except ValueError as error:
                    return self._fail("error", error, BAD_ARGUMENTS)
                with Interruptible() as interruptible:
                    return self._execute(runs, options, interruptible)
        except BlockingIOError as error:        # another run uses the folder
            return self._fail("failed", error, FAILED)
        except (OSError, MemoryError, FloatingPointError) as error:
            return self._fail("failed", f"{str(error) or 'no memory'}; {_remedy(runs)}", FAILED)
        except KeyboardInterrupt:
            return self._fail("interrupted", _remedy(runs), INTERRUPTED)

    def _plan(self, options):
        """Set up and check all runs, by label, before anything is written."""
        if getattr(options, "compare", None):
            folders = {name: Path(options.out, name.replace(":", "_")) for name in options.compare}
            runs = {name: Run(self, Namespace(**{**vars(options), "integrator": name}), folder)
                    for name, folder in folders.items()}
        else:
            runs = {self.name: Run(self, options, options.out)}
        if options.resume and not any(run.resumed for run in runs.values()):
            raise ValueError(f"--resume: there is no checkpoint in {options.out}; start without --resume, "
                             "and with --checkpoint-every for runs that may be killed")
        return runs

    def _execute(self, runs, options, interruptible):
        tables, ends = {}, []
        for label, run in runs.items():
            result = run.execute(interruptible)
            tables[label] = (run.recorder.energy, run.recorder.observed)
            ends.append(result["ended"])
            self._print(options, verdict(result))
            if "conclusion" in result:
                self._print(options, result["conclusion"])
            if interruptible.stop_requested:
                break
        interrupted = "interrupted" in ends or len(ends) < len(runs)
        if getattr(options, "compare", None):
            picture = Path(options.out, "compare.png")
            plot.comparison(picture, tables, self.observables[:1])
        self._print(options, self._where(options, next(iter(runs.values()))))
        if interrupted:
            print(f"{self.name}: interrupted at {run.sim.time:g} s; go on with --resume", file=sys.stderr)
            return INTERRUPTED
        if ends in (["not finite"], ["energy limit"]):
            return self._fail("failed", f"{run.reason}. The files hold the run up to "
                              f"{run.recorder.energy.rows[-1][0]:g} s, the checkpoint the last good state", FAILED)
        return DONE

    def _where(self, options, run):
        """Location of the files, and how to view them."""
        text = f"Files are in {options.out}"
        if getattr(options, "compare", None):
            text += ", a folder for each integrator, with compare.png beside them"
        if not run.folder.picture.exists():
            text += f".\nFigures need matplotlib: {this_python()} -m pip install matplotlib"
        if run.with_frames:
            series = run.folder.series
            text += f".\nTo see the motion open {series} in ParaView, or make a movie with\n" \
                    f"  {this_python()} -m minidem movie {shlex.quote(str(series.parent))}"
        else:
            text += "."
        return text

    def _print(self, options, text):
        if not options.quiet:
            with pipe_may_close():
                print(text)

    def _fail(self, kind, error, status):
        print(f"{self.name}: {kind}: {error}", file=sys.stderr)
        return status


def _remedy(runs):
    """How to continue after an aborted run."""
    if not runs:
        return "nothing was written"
    if any(run.folder.checkpoints() for run in runs.values()):
        return "the last checkpoint is complete, --resume continues from it"
    return "there was no checkpoint yet (see --checkpoint-every)"
