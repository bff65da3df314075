'''Experiments that set numbers of a paper beside ours. The sister of `Scenario`, for many runs of few bodies.

A laboratory is a function from options and a report to nothing, and a few words. This is a whole one::

    """A top without torque: its energy after a second."""
    import sys
    import minidem as md
    from minidem.reproduction import Finding, PaperExperiment

    def run(options, report):
        rows = []
        for scheme in report.progress("schemes", ["euler", "rk4"]):         # says how far it is
            end = md.rotation.integrate(scheme, (1, 2, 3), (1, 0, 0, 0), (0.1, 1, 0.1), (0, 0, 0),
                                        options.dt, round(1 / options.dt))
            rows.append((scheme, 0.5 * (end.angular_velocity**2 @ (1, 2, 3))))
        report.table("energies", ("scheme", "energy"), rows)                # energies.csv
        report.find(Finding("Somebody 1999", "Table 1", "energy with rk4", published="1.02",
                            reproduced=rows[1][1]))                         # to the printed digits
        report.find(Finding("Somebody 1999", "Fig. 2", "euler gains energy", None, rows[0][1],
                            holds=rows[0][1] > 1.02, note="energy after 1 s above that of the start"))
        report.figure("energies", lambda figure: figure.subplots().bar(*zip(*rows)))    # energies.png
        report.say("Two schemes compared.")

    EXPERIMENT = PaperExperiment("free_top", __doc__, run, defaults={"dt": 1e-2})
    main = EXPERIMENT.main

    if __name__ == "__main__":
        sys.exit(main())

From Python: `report = EXPERIMENT.run_into("folder", quick=True)`, then `report.findings`, each with a
`.verdict`, and `report.lines()`. Every laboratory has --out, --quick and --quiet; options.quick asks for
fewer points, so that minutes become seconds. It leaves summary.json, findings.csv and its tables and
figures in --out. For curves of many schemes `minidem.scenario.plot.styles` gives colours and line styles.
'''

import argparse
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field

from minidem.reproduction.report import Report
from minidem.rotation import registry
from minidem.scenario.files import check_writable
from minidem.scenario.options import Parser, at_least, default_text, folder, positive, resolve_defaults
from minidem.scenario.scenario import BAD_ARGUMENTS, DONE, FAILED, INTERRUPTED
from minidem.scenario.signals import terminable

_EPILOG = """\
exit status: 0 done, whatever was found; 1 failed; 2 bad arguments, nothing written;
130 interrupted (Ctrl-C or SIGTERM), what was found until then is written."""


@dataclass(frozen=True)
class PaperExperiment:
    """Experiments with a name, a command line and files; `main` is the whole program.

    name : of the script, without suffix.
    description : what --help says first; usually the script's docstring.
    run : function of the options and the Report that does the work.
    add_options : function that adds the laboratory's own options to an argparse group. Their defaults may be
        functions of the other options.
    defaults : of the standard options that it has besides --out, --quick and --quiet: of `integrator`, `dt`,
        `time`, `threads` those that mean something. They, too, may be functions of the other options.
    check : function of the options that raises ValueError for any that cannot be used, before work starts.
    """

    name: str
    description: str
    run: Callable
    add_options: Callable | None = None
    defaults: dict = field(default_factory=dict)
    check: Callable | None = None

    def parse(self, argv=None):
        """The options (a namespace) from a command line; ValueError for anything wrong."""
        return self._checked(self._parser().parse_args(argv))

    def main(self, argv=None):
        """Run the command line (sys.argv without argv); returns the exit status."""
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
        return DONE

    def run_into(self, folder, quick=False, quiet=True, **options):
        """Run it from Python, with files in `folder`; returns the Report.

        options : by name, as on the command line, with _ for -. ValueError for one that there is not.
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
        parser = Parser(prog=self.name, description=self.description, epilog=_EPILOG,
                        formatter_class=argparse.RawDescriptionHelpFormatter)
        if self.add_options:
            self.add_options(parser.add_argument_group("this laboratory"))
        group = parser.add_argument_group("every laboratory")
        defaults = self.defaults
        if "integrator" in defaults:
            group.add_argument("--integrator", type=_scheme, default=defaults["integrator"], metavar="NAME",
                               help="rotation scheme, parameters after a colon as in omelyan:iterations=20 "
                                    "(default: %(default)s)")
        for name, meaning in (("dt", "time step"), ("time", "simulated time")):
            if name in defaults:
                group.add_argument(f"--{name}", type=positive, default=defaults[name], metavar="SECONDS",
                                   help=f"{meaning} (default: {default_text(defaults[name])})")
        if "threads" in defaults:
            group.add_argument("--threads", type=at_least(1), default=defaults["threads"], metavar="N",
                               help="OpenMP threads at most (default: all processors)")
        group.add_argument("--out", type=folder, default=f"results/{self.name}", metavar="DIR",
                           help="folder for all files, replacing those of an earlier run "
                                "(default: %(default)s)")
        group.add_argument("--quick", action="store_true", help="fewer points: seconds instead of minutes")
        group.add_argument("--quiet", action="store_true", help="say nothing unless it fails")
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
