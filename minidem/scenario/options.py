"""The command line that all scenarios share."""

import argparse
import math
import sys
import textwrap

from minidem import rotation

# How a run is watched, not what is computed: a continued run may change these. All others are its physics.
_OF_THE_RUN = {"time", "out", "threads", "frames", "quiet", "checkpoint_every", "resume", "compare", "energy_limit"}

_EPILOG = """\
warnings, once each with numbers, on standard error and in summary.json: an overlap beyond a tenth of the smaller
radius, a clump whose centre has passed through a wall, a step above the Rayleigh step or above sqrt(m/k) of a
contact; seen at the rows of energy.csv, about a thousand in a run.

exit status: 0 done; 1 failed: a state that is no longer finite, or an energy error beyond --energy-limit, with a
checkpoint of the last good row and all files whole; 2 bad arguments, nothing written; 130 interrupted (Ctrl-C or
SIGTERM), with a checkpoint from which --resume goes on. With --compare a run that failed does not end the others
and the status is 0; each summary.json tells how its run ended."""


def finite(text):
    """An option's type: a finite number."""
    number = float(text)
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"must be finite, not {text}")
    return number


def positive(text):
    """An option's type: a finite number above zero."""
    number = finite(text)
    if not number > 0.0:
        raise argparse.ArgumentTypeError(f"must be above 0, not {text}")
    return number


def at_least(least):
    """An option's type: a whole number not below `least`."""
    def whole_number(text):
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {text}")
        return number
    whole_number.__name__ = "whole number"  # what argparse says when int(text) fails
    return whole_number


def folder(text):
    """An option's type: the name of a folder."""
    if not text:
        raise argparse.ArgumentTypeError("'' is no folder; give one, '.' for the present one")
    return text


finite.__name__ = positive.__name__ = "number"


def parse(scenario, argv):
    """The options of a scenario from the command line; ValueError for anything wrong.

    An option whose default is a function gets that function's value for the other options, so that
    defaults can depend on options (the box on the number of clumps in it).
    """
    parser = Parser(prog=scenario.name, description=scenario.description, epilog=_epilog(scenario),
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    if scenario.add_options:
        scenario.add_options(parser.add_argument_group("this scenario"))
    _add_standard(parser.add_argument_group("every scenario"), scenario)
    argv = sys.argv[1:] if argv is None else argv
    for word in argv:
        if word.startswith("-") and word.endswith("=--"):      # argparse would take it for a list
            raise ValueError(f"{word}: give a value")
    options = parser.parse_args(argv)
    return resolved(options)


def resolved(options):
    """The options, with functions among them replaced by their values for the other options.

    These come last then: where they differ from those of another run, it is because of one before them.
    """
    for name, value in list(vars(options).items()):
        if callable(value):
            delattr(options, name)
            setattr(options, name, value(options))
    return options


def physics(options):
    """The options that decide what is computed, as a dictionary."""
    return {name: value for name, value in vars(options).items() if name not in _OF_THE_RUN}


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments by a ValueError."""

    def error(self, message):
        raise ValueError(message)


def _add_standard(group, scenario):
    defaults = scenario.defaults
    if "integrator" in defaults:
        choice = group.add_mutually_exclusive_group()
        choice.add_argument("--integrator", default=defaults["integrator"], metavar="NAME",
                            help="rotation scheme, one of those below, parameters after a colon as in "
                                 "omelyan:iterations=20 (default: %(default)s)")
        choice.add_argument("--compare", type=_names, metavar="A,B,...",
                            help="run each of these integrators from the same initial state, each into a "
                                 "folder of its name, and draw them together in compare.png")
    if "dt" in defaults:
        group.add_argument("--dt", type=positive, default=defaults["dt"], metavar="SECONDS",
                           help=f"time step (default: {told(defaults['dt'])})")
    group.add_argument("--time", type=positive, default=defaults["time"], metavar="SECONDS",
                       help="simulated time (default: %(default)s)")
    if "seed" in defaults:
        group.add_argument("--seed", type=at_least(0), default=defaults["seed"], metavar="N",
                           help="of the random initial state (default: %(default)s)")
    group.add_argument("--out", type=folder, default=f"results/{scenario.name}", metavar="DIR",
                       help="folder for all files, replacing those of an earlier run (default: %(default)s)")
    group.add_argument("--frames", type=at_least(0), default=defaults.get("frames", 200), metavar="N",
                       help="VTU frames for ParaView, first and last state among them; 1: the last, 0: none "
                            "(default: %(default)s; a continued run keeps its pace)")
    group.add_argument("--threads", type=at_least(1), metavar="N",
                       help="OpenMP threads at most (default: all processors)")
    group.add_argument("--checkpoint-every", type=positive, metavar="SECONDS",
                       help="simulated time between checkpoints, the first at time 0 (default: only when the "
                            "run ends); the last two are kept")
    group.add_argument("--resume", action="store_true",
                       help="go on from the checkpoint in --out; a longer --time is fine, changed physics "
                            "is not")
    if scenario.conservative:
        group.add_argument("--energy-limit", type=positive, metavar="X",
                           help="end the run when the energy has changed by more than X, relative as in "
                                "summary.json (default: no limit)")
    group.add_argument("--quiet", action="store_true", help="say nothing but warnings and what failed")


def _epilog(scenario):
    if "integrator" not in scenario.defaults:
        return _EPILOG
    names = textwrap.fill(", ".join(rotation.available()), 108, initial_indent="integrators: ",
                          subsequent_indent="  ", break_on_hyphens=False)
    return f"{names}\n\n{_EPILOG}"


def told(default):
    return "see above" if callable(default) else f"{default:g}"


def _names(text):
    names = []
    for piece in text.split(","):
        if names and "=" in piece and ":" not in piece:
            names[-1] += "," + piece  # a further parameter of the integrator before it
        else:
            names.append(piece)
    if "" in names or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"needs different names with commas between them, not '{text}'")
    return names
