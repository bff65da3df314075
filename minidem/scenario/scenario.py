"""What a scenario is, and the command line that runs it."""

import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from minidem.scenario import plot
from minidem.scenario.options import parse
from minidem.scenario.run import Run
from minidem.scenario.signals import Interruptible, terminable
from minidem.scenario.summary import verdict

DONE, FAILED, BAD_ARGUMENTS, INTERRUPTED = 0, 1, 2, 130


@dataclass(frozen=True)
class Observable:
    """A number watched during a run: a column `name` of observables.csv, an axis `label`, and value(sim)."""

    name: str
    label: str
    value: Callable


@dataclass(frozen=True)
class Scenario:
    """A simulation with a name, a command line and files; `main` is the whole program.

    name: of the script, without suffix.
    description: what --help says first; usually the script's docstring.
    build: function of the options -> a Simulation in its initial state. A ValueError from it (an option
        that it cannot use) becomes a message and exit status 2.
    defaults: of the standard options that the scenario has: `time` and, where they mean something,
        `integrator` (which also gives --compare), `dt`, `seed`, `frames`.
    add_options: function that adds the scenario's own options to an argparse group. They count as physics: a
        continued run may not change them. A default may be a function of the options (options.py).
    observables: what is watched besides energy and contacts; --compare draws the first.
    forces: function of the options -> the functions for `Simulation.add_force`. Not in `build`, because a
        checkpoint does not hold them and they must be added to a continued run, too.
    conservative: whether the physics conserves energy. Without it, and with forces of your own, whose work the
        energies do not hold, there is no energy error in summary.json, nor a verdict on it.
    """

    name: str
    description: str
    build: Callable
    defaults: dict
    add_options: Callable | None = None
    observables: tuple = ()
    forces: Callable | None = None
    conservative: bool = True

    def parse(self, argv=None):
        """The options (a namespace) from a command line; ValueError for anything wrong."""
        return parse(self, argv)

    def main(self, argv=None):
        """Run the command line (sys.argv without argv); returns the exit status."""
        runs = {}
        try:
            with terminable():
                try:
                    options = self.parse(argv)
                    runs = self._plan(options)
                except ValueError as error:
                    return self._complain("error", error, BAD_ARGUMENTS)
                with Interruptible() as interruptible:
                    return self._execute(runs, options, interruptible)
        except BlockingIOError as error:        # the folder is another run's
            return self._complain("failed", error, FAILED)
        except (OSError, MemoryError, FloatingPointError) as error:
            return self._complain("failed", f"{str(error) or 'no memory'}; {_what_is_left(runs)}", FAILED)
        except KeyboardInterrupt:
            return self._complain("interrupted", _what_is_left(runs), INTERRUPTED)

    def _plan(self, options):
        """All runs that the options ask for, set up and checked, by label; nothing is written yet."""
        if getattr(options, "compare", None):
            folders = {name: Path(options.out, name.replace(":", "_")) for name in options.compare}
            runs = {name: Run(self, Namespace(**{**vars(options), "integrator": name}), folder)
                    for name, folder in folders.items()}
        else:
            runs = {self.name: Run(self, options, options.out)}
        if options.resume and not any(run.resumed for run in runs.values()):
            raise ValueError(f"--resume: there is no checkpoint in {options.out}; start without --resume")
        return runs

    def _execute(self, runs, options, interruptible):
        tables, ends = {}, []
        for label, run in runs.items():
            result = run.execute(interruptible)
            tables[label] = (run.recorder.energy, run.recorder.observed)
            ends.append(result["ended"])
            self._tell(options, verdict(result))
            if interruptible.asked:
                break
        interrupted = "interrupted" in ends or len(ends) < len(runs)
        if getattr(options, "compare", None):
            picture = Path(options.out, "compare.png")
            plot.comparison(picture, tables, self.observables[:1])
        self._tell(options, self._where(options, next(iter(runs.values()))))
        if interrupted:
            print(f"{self.name}: interrupted at {run.sim.time:g} s; go on with --resume", file=sys.stderr)
            return INTERRUPTED
        if ends in (["not finite"], ["energy limit"]):
            return self._complain("failed", f"{run.reason}. The files hold the run up to {run.recorder.last_time:g} s, "
                                  "the checkpoint the last good state", FAILED)
        return DONE

    def _where(self, options, run):
        """Where the files are, and how to look at them."""
        text = f"Files are in {options.out}"
        if getattr(options, "compare", None):
            text += ", a folder for each integrator, with compare.png beside them"
        if run.with_frames:
            series = run.folder.series
            text += (f".\nTo see the motion open {series} in ParaView, or make a picture of it with\n"
                     f"  pvbatch tools/paraview_view.py {series} --png {series.with_suffix('.png')}")
        else:
            text += "."
        return text

    def _tell(self, options, text):
        if not options.quiet:
            print(text)

    def _complain(self, kind, error, status):
        print(f"{self.name}: {kind}: {error}", file=sys.stderr)
        return status


def _what_is_left(runs):
    """What a user can do after a run that was broken off."""
    if not runs:
        return "nothing was written"
    if any(run.folder.checkpoints() for run in runs.values()):
        return "the last checkpoint is whole, --resume goes on from it"
    return "there was no checkpoint yet (see --checkpoint-every)"
