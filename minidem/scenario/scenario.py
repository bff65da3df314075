"""Definition of a scenario, and its command line."""
import json
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from minidem.core.checks import flag
from minidem.core.interpreter import this_python
from minidem.core.progress import Line, Signals, say
from minidem.ensemble.own_code import NotRegistered, import_given, import_own
from minidem.initial import kept_bed
from minidem.scenario import plot
from minidem.scenario.options import Parser, check_folder, make_parser
from minidem.scenario.record import verdict
from minidem.scenario.report import Report
from minidem.scenario.run import Run
from minidem.simulation import Simulation

DONE, FAILED, BAD_ARGUMENTS, INTERRUPTED = 0, 1, 2, 130
BEDS = Path("results", "beds")


@dataclass(frozen=True)
class Observable:
    """A number value(simulation), recorded during a run in the column `name` of observables.csv.

    label : of the axis in compare.png, with the unit
    """

    name: str
    label: str
    value: Callable[[Simulation], float]


def outflow(outlet: str = "outlet") -> tuple[Observable, Observable]:
    """Observables of an `Outlet`: number and mass of the clumps that have left since the start."""
    return (Observable(f"{outlet}_count", "clumps that have left", lambda sim: float(sim.outflow[outlet][0])),
            Observable(f"{outlet}_mass", "mass that has left (kg)", lambda sim: sim.outflow[outlet][1]))


def settled(name: str, make: Callable[[Callable[[float], None]], Simulation], quiet: bool = False) -> Simulation:
    """A bed that is made with progress on the screen, and kept in results/beds for later runs.

    Parameters
    ----------
    name : str
        Of its file, with all that the bed depends on.
    make : callable
        make(report) returns the Simulation; report(part) shows the part that is done, unless `quiet`.
    """
    line = Line(flag("quiet", quiet))
    bed = kept_bed(BEDS / f"{name}.npz", lambda: make(lambda part: line.update(f"the bed settles, {part:.0%}")))
    line.close()
    return bed


@dataclass(frozen=True)
class Scenario:
    """A simulation, or a study of many, with a name, a command line and output files. Give `build` or `study`.

    Parameters
    ----------
    name : str
        Name of the script, without suffix.
    description : str
        First part of --help; usually the docstring of the script.
    build : callable
        Options -> Simulation in its initial state. A ValueError becomes a message and exit status 2.
    defaults : dict
        Defaults of the standard options that the scenario has: `time`, and if applicable `integrator` (with --compare),
        `contact`, `dt`, `seed`, `frames`, which `build` reads; of a study any of `integrator`, `dt`, `time`, `threads`,
        and `workers` (for `Report.runs`). A value may be a function of the other options.
    add_options : callable, optional
        Adds the options of the scenario to an argparse group. They define the physics: a continued run cannot change
        them. A default may be a function of the options.
    observables : tuple of Observable
        Recorded in addition to energies and contacts; --compare plots the first. `outflow` has the observables of an
        Outlet.
    forces : callable, optional
        Options -> functions for `Simulation.forces.add`. They are not added by `build`, because a checkpoint does not
        hold them and a continued run needs them, too.
    exchange : callable, optional
        Options -> (steps, function): function(simulation) is called each time `steps` steps are made, to add and remove
        clumps as `minidem.initial.Inlet` and `Outlet` do. It must depend on the simulation and the options alone.
    conservative : bool
        Whether the physics conserves energy except for dissipation in contacts. Only then, without `forces` and with a
        conservative contact law, is there an energy error beside the error of the energy balance.
    wall_forces : bool
        Write walls.csv: force on each wall and torque about its point [N, N m], lab frame, wall_0_force_x and so on.
    conclude : callable, optional
        conclude(sim, recorder, folder) -> (dict, str), called at the end of a complete run with the Simulation, the
        tables ``recorder.energy`` and ``recorder.observed`` (``table[column]`` is an array) and the output folder, for
        figures. The numbers become `result` in summary.json; the text is printed after that about the energy.
    study : callable, optional
        study(options, report) makes many runs, and findings on published numbers; report : `Report`.
    check : callable, optional
        check(options) raises ValueError for unusable options of a study, before any work.
    """

    name: str
    description: str
    build: Callable[[Namespace], Simulation] | None = None
    defaults: dict = field(default_factory=dict)
    add_options: Callable | None = None
    observables: tuple[Observable, ...] = ()
    forces: Callable | None = None
    exchange: Callable | None = None
    conservative: bool = True
    wall_forces: bool = False
    conclude: Callable | None = None
    study: Callable | None = None
    check: Callable | None = None

    def __post_init__(self):
        flag("conservative", self.conservative)
        flag("wall_forces", self.wall_forces)

    def parse(self, argv: Sequence[str] | None = None, **chosen) -> Namespace:
        """The options in a command line, by default sys.argv, and others `chosen` by name; ValueError if invalid."""
        import_given(argv, Parser(add_help=False))
        for name in chosen.get("imports", ()):
            import_own(name, f"imports: {name}")
        options = make_parser(self).parse_args(argv)
        for name, value in chosen.items():
            if name not in options:
                raise ValueError(f"{self.name} has no option {name!r}, only {', '.join(sorted(vars(options)))}")
            setattr(options, name, flag(name, value) if isinstance(vars(options)[name], bool) else value)
        for name, value in list(vars(options).items()):
            if callable(value):             # a default, such as a box edge for the number of clumps
                delattr(options, name)      # to the end: if it differs on --resume, an option before it is the cause
                setattr(options, name, value(options))
        check_folder(options.out)
        if self.study:
            if self.check:
                self.check(options)
        elif getattr(options, "verify", None) and (getattr(options, "compare", None) or options.resume):
            raise ValueError("--verify: it makes runs of its own; leave --compare and --resume out")
        elif options.track_every and not options.track:
            raise ValueError(f"--track-every {options.track_every:g}: give --track N or --track all as well")
        elif options.contacts and not options.frames:
            raise ValueError("--contacts: they are written with frames, of which there are none with --frames 0")
        elif options.track and not options.track_every and options.frames < 2:
            raise ValueError(f"--track: --frames {options.frames} gives it no times; give --track-every as well")
        return options

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run a command line, by default sys.argv; returns the exit status, as explained at the end of --help."""
        runs: dict = {}
        try:
            with Signals() as stopped:
                try:
                    options = self.parse(argv)
                    judged = getattr(options, "verify", None)
                    runs = {} if self.study or judged else self._runs(options)
                except ValueError as error:
                    return self._fail(BAD_ARGUMENTS, f"error: {error}")
                if judged:
                    return self._verify(sys.argv[1:] if argv is None else argv, options)
                if not self.study:
                    return self._execute(runs, options, stopped)
                report = self._report(options)
                lines = report.findings[0].lines(report.findings) if report.findings else []
                say("\n".join([*lines, f"Files are in {options.out}."]), options.quiet)
                return FAILED if report.failed_runs else DONE
        except NotRegistered as error:
            return self._fail(BAD_ARGUMENTS, f"error: {error}")
        except BlockingIOError as error:        # another run holds the folder
            return self._fail(FAILED, f"failed: {error}")
        except (OSError, MemoryError, FloatingPointError) as error:
            return self._fail(FAILED, f"failed: {str(error) or 'no memory'}{self._remedy(runs)}")
        except KeyboardInterrupt:
            return self._fail(INTERRUPTED, f"interrupted{self._remedy(runs)}")

    def _fail(self, status, text):
        print(f"{self.name}: {text}", file=sys.stderr)
        return status

    def _remedy(self, runs):
        """How to continue after aborted runs."""
        if self.study:
            return ""
        if not runs:
            return "; nothing was written"
        if any(run.checkpoints() for run in runs.values()):
            return "; the last checkpoint is complete, --resume continues from it"
        return "; there was no checkpoint yet (see --checkpoint-every)"

    def load(self, path: Path | str, threads: int | None = None) -> tuple[Simulation, dict]:
        """A checkpoint of the certificate of a run, and how it is run: `load` of `verify_certificate`.

        For scenarios with forces or exchange: ``minidem verify run.json --load scenarios/silo.py:SCENARIO.load``. The
        options are in summary.json beside the certificate.
        """
        options = Namespace(**json.loads(Path(path).parents[1].joinpath("summary.json").read_text())["physics"])
        sim = Simulation.load(path, threads=threads)
        for force in self.forces(options) if self.forces else ():
            sim.forces.add(force)
        return sim, self.how(options)

    def how(self, options: Namespace) -> dict:
        """Arguments of `Simulation.run` for its exchange of clumps."""
        return dict(zip(("every", "callback"), self.exchange(options))) if self.exchange else {}

    def run_into(self, folder: Path | str, *, quiet: bool = True, **options):
        """Run from Python, with files in `folder`; a run that has a checkpoint there is continued.

        options : options of the command line by name, with _ for -; ValueError for an unknown or unusable one

        Returns the `Report` of a study, or the entries of summary.json; RuntimeError if a run did not end as planned.
        """
        chosen = self.parse([], out=str(folder), quiet=quiet, **options)
        if self.study:
            return self._report(chosen)
        chosen.resume = any(Path(folder).glob("checkpoint*.npz"))
        try:
            run = Run(self, chosen, folder)
        except ValueError as error:
            if not chosen.resume:
                raise
            raise RuntimeError(f"{error}. To restart the run remove {folder}") from None
        with Signals(waits=True) as stopped:
            summary = run.execute(stopped)
        if summary["ended"] == "interrupted":
            raise KeyboardInterrupt
        if summary["ended"] != "done":
            raise RuntimeError(f"the run in {folder} ended: {summary['reason'] or summary['ended']}")
        return summary

    def _verify(self, words, options):
        from minidem.scenario.verified import verify_scenario
        try:
            found = verify_scenario(self, words, options)
        except RuntimeError as error:
            return self._fail(FAILED, f"failed: {error}")
        say(f"{found}\nFiles are in {options.out}/verify.", options.quiet)
        return DONE

    def _report(self, options):
        with Report(self.name, options) as report:
            self.study(options, report)
        return report

    def _runs(self, options):
        """Set up and check all runs, by name, before anything is written."""
        compared = getattr(options, "compare", None) or ()
        runs = {name: Run(self, Namespace(**vars(options) | {"integrator": name}),
                          Path(options.out, name.replace(":", "_"))) for name in compared}
        runs = runs or {self.name: Run(self, options, options.out)}
        if options.resume and not any(run.resumed for run in runs.values()):
            raise ValueError(f"--resume: there is no checkpoint in {options.out}; start without --resume, "
                             "and with --checkpoint-every for runs that may be killed")
        return runs

    def _execute(self, runs, options, stopped):
        done, compared, stopped.waits = {}, bool(getattr(options, "compare", None)), True
        for name, run in runs.items():
            result = run.execute(stopped)
            done[name] = run
            say("\n".join(filter(None, [verdict(result), result.get("conclusion")])), options.quiet)
            if stopped():
                break
        first, where = next(iter(runs.values())), [f"Files are in {options.out}."]
        if compared:
            plot.comparison(Path(options.out, "compare.png"), done, self.observables[:1])
        picture = "compare.png shows the integrators side by side" if compared else "energy.png shows the energies"
        where.append(f"The picture {picture} over time." if (first.path / "energy.png").exists() else
                     f"Pictures need matplotlib: {this_python()} -m pip install matplotlib")
        if first.with_frames:
            where.append(f"To see the motion open {first.series.path} in ParaView, or make a movie with\n"
                         f"  {this_python()} -m minidem movie {shlex.quote(str(first.path))}")
        say("\n".join(where), options.quiet)
        if result["ended"] == "interrupted" or len(done) < len(runs):
            return self._fail(INTERRUPTED, f"interrupted at {run.sim.time:g} s; continue with --resume")
        if result["ended"] != "done" and not compared:
            return self._fail(FAILED, f"failed: {run.reason}. The files hold the run up to {run.energy.rows[-1][0]:g} "
                                      "s, the checkpoint the last good state")
        return DONE
