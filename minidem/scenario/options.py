"""The command line that all scenarios share."""
import argparse
import json
import math
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from minidem import contact, rotation
from minidem.core.checks import did_you_mean
from minidem.core.interpreter import scenario_command, with_scenario_commands
from minidem.core.progress import pipe_may_close
from minidem.ensemble.own_code import add_import_option
from minidem.output import vtu

ALL = -1                                # clumps in the trajectory
# Options of output and resources, which a continued run may change. All others define the physics.
_NOT_PHYSICS = {"time", "out", "threads", "frames", "fields", "quiet", "checkpoint_every", "resume", "compare",
                "energy_limit", "track", "track_every", "contacts", "imports", "verify", "certify"}

_EPILOG = """\
exit status: 0 done; 1 failed: a non-finite state, or an energy error beyond --energy-limit, with a checkpoint of the
last good row; 2 bad arguments, nothing written; 130 interrupted (Ctrl-C or SIGTERM), with a checkpoint for --resume.
With --compare a failed run does not end the others and the status is 0; `ended` in each summary.json says more."""

_STUDY_EPILOG = """\
verdicts on published numbers: reproduced; known limit: differs as expected of the law or method, with the reason;
published value wrong; not reproduced: any other difference; too short to tell.

exit status: 0 done; 1 the study or one of its runs failed; 2 bad arguments,
nothing written; 130 interrupted (Ctrl-C or SIGTERM)."""


def _number(convert, kind, is_good, must_be):
    """Type of an option: convert(text), for which is_good(number) holds."""
    def option(text):
        number = convert(text)
        if not is_good(number):
            raise argparse.ArgumentTypeError(f"must be {must_be}, not {text}")
        return number
    option.__name__ = kind          # in argparse's message when convert(text) fails
    return option


finite = _number(float, "number", math.isfinite, "finite")          # types of options, for scenarios
positive = _number(finite, "number", lambda number: number > 0.0, "above 0")
_clump_count = _number(lambda text: ALL if text == "all" else at_least(1)(text), "whole number, or all", bool, "")


def at_least(least: int) -> Callable[[str], int]:
    """Type of an option: a whole number not below `least`."""
    return _number(int, "whole number", lambda number: number >= least, f"at least {least}")


def told(check):
    """Type of an option: check(text). argparse shows the text of an ArgumentTypeError, but not of a ValueError."""
    def option(text):
        try:
            return check(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return option


def _scheme_list(text):
    # A piece without a colon is another parameter of the integrator before it
    names = re.split(r",(?![^,:]*=)", text)
    if "" in names or len(set(names)) < len(names):
        raise ValueError(f"needs different names with commas between them, not '{text}'")
    return names


def physics(options):
    """The options that define what is computed, as a dictionary in types of JSON."""
    return json.loads(json.dumps({name: value for name, value in vars(options).items() if name not in _NOT_PHYSICS}))


def check_folder(out):
    """ValueError, which names --out and the reason, for a folder in which no file can be created."""
    if not os.fspath(out):
        raise ValueError("--out: '' is no folder; give one, '.' for the present one")
    try:
        path = Path(out).absolute()
        tempfile.TemporaryFile(dir=next(folder for folder in (path, *path.parents) if folder.exists())).close()
    except OSError as error:
        raise ValueError(f"--out: cannot write in {out} ({error.strerror}); give another folder") from None


class Parser(argparse.ArgumentParser):
    """A parser that raises ValueError for invalid arguments, also for abbreviated options."""

    def __init__(self, **settings):
        super().__init__(allow_abbrev=False, **settings)        # without --contact, --contact is not --contacts

    def error(self, message):
        word = message.removeprefix("unrecognized arguments: ").partition(" ")[0].partition("=")[0]
        raise ValueError(message + (did_you_mean(word, self._option_string_actions) if word.startswith("-") else ""))

    def print_help(self, file=None):
        with pipe_may_close():
            super().print_help(file)


def make_parser(scenario):
    """The parser of a scenario: its own options, then the standard ones that it has defaults for."""
    study, defaults = scenario.study is not None, scenario.defaults
    parser = Parser(prog=scenario_command(scenario.name), description=with_scenario_commands(scenario.description),
                    epilog=_STUDY_EPILOG if study else _EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    if scenario.add_options:
        scenario.add_options(parser.add_argument_group("this scenario"))
    group = parser.add_argument_group("every scenario")
    option = group.add_argument
    if study:
        option("--quick", action="store_true", help="fewer points, smaller systems: a fraction of the time")
    if "integrator" in defaults:
        choice = group.add_mutually_exclusive_group()
        choice.add_argument("--integrator", type=told(lambda name: rotation.info(name) and name) if study else str,
                            default=defaults["integrator"], metavar="NAME",
                            help=f"rotation scheme: {', '.join(rotation.available())}, parameters after a colon as in "
                                 "omelyan:iterations=20 (default: %(default)s)")
        if not study:
            choice.add_argument("--compare", type=told(_scheme_list), metavar="A,B,...",
                                help="run each of these integrators from the same initial state, each in a folder of "
                                     "its name, and plot them together in compare.png")
    if "contact" in defaults:
        option("--contact", default=defaults["contact"], metavar="NAME",
               help=f"contact law: {', '.join(contact.available())}, parameters after a colon as in "
                    "hertz:onset=corrected or hooke:stiffness=1e6 (default: %(default)s)")
    for name, meaning in (("dt", "time step"), ("time", "simulated time")):
        if name in defaults:
            option(f"--{name}", type=positive, default=defaults[name], metavar="SECONDS",
                   help=f"{meaning} (default: {_default_text(defaults[name], parser)})")
    if "seed" in defaults:
        option("--seed", type=at_least(0), default=defaults["seed"], metavar="N",
               help="seed of the random initial state (default: %(default)s)")
    if "workers" in defaults:
        option("--workers", type=at_least(1), metavar="N",
               help="number of concurrent runs on this machine (default: one per processor)")
    if not study or "threads" in defaults:
        option("--threads", type=at_least(1), default=defaults.get("threads"), metavar="N",
               help="maximum number of OpenMP threads (default: all processors)")
    option("--out", default=f"results/{scenario.name}", metavar="DIR",
           help="folder for all files; files of an earlier run are replaced (default: %(default)s)")
    option("--quiet", action="store_true", help="print only warnings and errors")
    add_import_option(group)
    if study:
        return parser
    option("--frames", type=at_least(0), default=defaults.get("frames", 200), metavar="N",
           help="VTU frames for ParaView, first and last state among them; 1: the last, 0: none (default: %(default)s)")
    option("--fields", type=told(vtu.field_names), default="all", metavar="A,B,...",
           help=f"fields of the frames out of {', '.join(vtu.ARRAYS)} (default: %(default)s)")
    option("--contacts", action="store_true", help="write the contacts of each frame as lines, for force chains")
    option("--track", type=_clump_count, default=0, metavar="N",
           help="trajectory of the first N clumps by id, or of all, in SCENARIO.gsd (OVITO, freud, HOOMD-blue) if the "
                "package gsd is installed, otherwise trajectory.csv (default: none; a continued run keeps it)")
    option("--track-every", type=positive, metavar="SECONDS",
           help="simulated time between the instants of the trajectory (default: as for the frames)")
    option("--checkpoint-every", type=positive, metavar="SECONDS",
           help="simulated time between checkpoints; the last two are kept (default: one when the run ends)")
    option("--certify", type=at_least(0), default=0, metavar="N",
           help="certify the run in N links, run.json, which `minidem verify` repeats (default: none; a continued "
                "run keeps it)")
    option("--resume", action="store_true",
           help="continue from the checkpoint in --out; a longer --time is allowed, changed physics is refused")
    if "dt" in defaults:
        option("--verify", nargs="?", const="rounding", choices=("rounding", "seeds"),
               help="instead, the numbers of the scenario with error bars: 24 runs with this step, a half and a "
                    "quarter of it, from initial states that differ by rounding, or with other seeds")
    if scenario.conservative:
        option("--energy-limit", type=positive, metavar="X",
               help="end the run when the relative energy error, or that of the energy balance, exceeds X")
    return parser


def _default_text(default, parser):
    """Text of a default in --help; of a function of the options in the parser, without options and with --quick."""
    if not callable(default):
        return f"{default:g}"
    try:
        return "{:g}; with --quick {:g}".format(*(default(parser.parse_args(words)) for words in ([], ["--quick"])))
    except ValueError:                                  # an option is required, or there is no --quick
        return "depends on other options"
