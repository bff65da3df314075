'''Paper experiments: scripts that compare published numbers with those computed here.

The counterpart of `Scenario` for many runs of few bodies. A complete paper experiment::

    """A torque-free top: energy after one second."""
    import sys
    import minidem as md
    from minidem.reproduction import Finding, PaperExperiment

    def run(options, report):
        rows = []
        for scheme in report.progress("schemes", ["euler", "rk4"]):         # shows progress
            end = md.rotation.integrate(scheme, (1, 2, 3), (1, 0, 0, 0), (0.1, 1, 0.1), (0, 0, 0),
                                        options.dt, round(1 / options.dt))
            rows.append((scheme, 0.5 * (end.angular_velocity**2 @ (1, 2, 3))))
        report.table("energies", ("scheme", "energy"), rows)                # energies.csv
        report.find(Finding("Somebody 1999", "Table 1", "energy with rk4", published="1.02",
                            reproduced=rows[1][1]))                         # compared to the printed digits
        report.find(Finding("Somebody 1999", "Fig. 2", "euler gains energy", None, rows[0][1],
                            holds=rows[0][1] > 1.02, note="energy after 1 s above that of the start"))
        report.figure("energies", lambda figure: figure.subplots().bar(*zip(*rows)))    # energies.png
        report.say("Two schemes compared.")

    EXPERIMENT = PaperExperiment("free_top", __doc__, run, defaults={"dt": 1e-2})
    main = EXPERIMENT.main

    if __name__ == "__main__":
        sys.exit(main())

From Python: ``report = EXPERIMENT.run_into("folder", quick=True)``, then ``report.findings``, each with a
``.verdict``, and ``report.lines()``. Every paper experiment has --out, --quick (fewer points, a fraction of the
time) and --quiet, and writes summary.json, findings.csv, its tables and its figures into --out.
`minidem.scenario.plot.styles` gives colours and line styles for curves of many schemes.
'''

import argparse
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from minidem.core.interpreter import scenario_command, with_scenario_commands
from minidem.reproduction.report import Report
from minidem.rotation import registry
from minidem.scenario.files import check_writable
from minidem.scenario.options import Parser, at_least, default_text, folder, positive, resolve_defaults
from minidem.scenario.scenario import BAD_ARGUMENTS, DONE, FAILED, INTERRUPTED
from minidem.scenario.signals import terminable

_EPILOG = """\
verdicts: reproduced; known limit: differs as expected of the law or method, with the reason; published value wrong;
not reproduced: any other difference; too short to tell.

exit status: 0 done, whatever the verdicts; 1 failed; 2 bad arguments, nothing written;
130 interrupted (Ctrl-C or SIGTERM), the findings so far are written."""


@dataclass(frozen=True)
class PaperExperiment:
    """A script that compares numbers of a paper with those computed here; `main` is the whole program.

    Parameters
    ----------
    name : str
        Name of the script, without suffix.
    description : str
        Text of --help; usually the docstring of the script.
    run : callable
        run(options, report) does the work; report : `minidem.reproduction.report.Report`.
    add_options : callable, optional
        add_options(group) adds the script's own options to an argparse group. Defaults may be functions of the
        other options.
    defaults : dict, optional
        Defaults of the standard options of the script besides --out, --quick and --quiet; keys: any of
        ``integrator, dt, time, threads``. Values may be functions of the other options.
    check : callable, optional
        check(options) raises ValueError for unusable options, before any work.
    """

    name: str
    description: str
    run: Callable
    add_options: Callable | None = None
    defaults: dict = field(default_factory=dict)
    check: Callable | None = None

    def parse(self, argv: list[str] | None = None) -> Namespace:
        """Options of a command line; ValueError for bad arguments."""
        return self._checked(self._parser().parse_args(argv))

    def main(self, argv: list[str] | None = None) -> int:
        """Run a command line (default: sys.argv) and return the exit status."""
        try:
            options = self.parse(argv)
        except ValueError as error:
            return self._complain("error", error, BAD_ARGUMENTS)
        try:
            with terminable():
                report = self._execute(options)
        except (OSError, MemoryError, FloatingPointError) as error:
            return self._complain("failed", error, FAILED)
        except KeyboardInterrupt:
            print(f"{self.name}: interrupted", file=sys.stderr)
            return INTERRUPTED
        for line in [*report.lines(), f"Files are in {options.out}."]:
            report.say(line)
        return FAILED if report.failed_runs else DONE

    def run_into(self, folder: Path | str, quick: bool = False, quiet: bool = True, **options) -> Report:
        """Run from Python, with files in `folder`.

        Parameters
        ----------
        folder : path
        quick, quiet : bool
        **options
            Options of the command line by name, with _ for -.

        Raises
        ------
        ValueError
            For an unknown option.
        """
        chosen = vars(self._parser().parse_args([]))
        for name in options:
            if name not in chosen:
                raise ValueError(f"{self.name} has no option {name!r}, only {', '.join(sorted(chosen))}")
        chosen.update(options, out=str(folder), quick=quick, quiet=quiet)
        return self._execute(self._checked(Namespace(**chosen)))

    def _execute(self, options):
        computed = {name: value for name, value in vars(options).items() if name not in ("out", "quiet")}
        report = Report(self.name, options.out, computed, options.quiet)
        try:
            self.run(options, report)
        except BaseException as error:
            report.finish("interrupted" if isinstance(error, KeyboardInterrupt) else "failed")
            raise
        report.finish("done")
        return report

    def _parser(self):
        parser = Parser(prog=scenario_command(self.name), description=with_scenario_commands(self.description),
                        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
        if self.add_options:
            self.add_options(parser.add_argument_group("options of this experiment"))
        group = parser.add_argument_group("options of every experiment")
        group.add_argument("--quick", action="store_true", help="fewer points, smaller systems: a fraction of the time")
        defaults = self.defaults
        if "integrator" in defaults:
            group.add_argument("--integrator", type=_scheme, default=defaults["integrator"], metavar="NAME",
                               help="rotation scheme, parameters after a colon as in omelyan:iterations=20 "
                                    "(default: %(default)s)")
        for name, meaning in (("dt", "time step"), ("time", "simulated time")):
            if name in defaults:
                group.add_argument(f"--{name}", type=positive, default=defaults[name], metavar="SECONDS",
                                   help=f"{meaning} (default: {default_text(defaults[name], parser)})")
        if "threads" in defaults:
            group.add_argument("--threads", type=at_least(1), default=defaults["threads"], metavar="N",
                               help="OpenMP threads at most (default: all processors)")
        group.add_argument("--out", type=folder, default=f"results/{self.name}", metavar="DIR",
                           help="folder for all files; files of an earlier run are replaced (default: %(default)s)")
        group.add_argument("--quiet", action="store_true", help="print errors only")
        return parser

    def _checked(self, options):
        options = resolve_defaults(options)
        check_writable(options.out)
        if self.check:
            self.check(options)
        return options

    def _complain(self, kind, error, status):
        print(f"{self.name}: {kind}: {error}", file=sys.stderr)
        return status


def _scheme(name):
    try:
        registry.select(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(error) from None
    return name
