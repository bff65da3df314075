"""The command `study`: a function of a script over a grid of parameters, both from the command line.

    minidem study study.py:energy_change rotation=exact,omelyan seed=0:10 --out results/study
    minidem study study.py:energy_change rotation=exact,omelyan seed=0:10 --out results/study --part 3/20

A parameter is NAME=VALUES: values with commas between them, whole numbers FIRST:LAST:STEP without the last as of
Python's range, or a list in JSON. The second command makes the third of 20 parts, for the jobs of an array. Runs that
are in the folder are not repeated: the same command continues a study that has ended early. Exit status 1 if a run
failed.
"""
import argparse
import json
import re
from collections.abc import Sequence
from contextlib import suppress

from minidem.ensemble.study import run_ensemble

WORDS = {"True": True, "False": False, "None": None}


def values(text: str) -> list:
    """The values of a parameter, as numbers where they are."""
    if re.fullmatch(r"-?\d+(:-?\d+){1,2}", text):
        return list(range(*map(int, text.split(":"))))
    if text.startswith("["):
        return json.loads(text)
    return [_value(one) for one in text.split(",")]


def _value(text):
    for kind in int, float:
        with suppress(ValueError):
            return kind(text)
    return WORDS.get(text, text)


def parameter(text: str) -> tuple[str, list]:
    """Type of an argument: NAME=VALUES."""
    name, equals, given = text.partition("=")
    try:
        if not (equals and given):
            raise ValueError
        return name, values(given)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give NAME=VALUES, seed=0:10 or scheme=exact,spiral") from None


def part(text: str) -> tuple[int, int]:
    """Type of --part: K/N."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r}: give K/N, the K-th of N parts, from 1 on")
    return int(found[1]), int(found[2])


def main(words: Sequence[str]) -> int:
    """Run the command line; ValueError for what `run_ensemble` refuses. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="minidem study", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("function", help="script.py:function or module:function, which returns a dictionary of numbers and text")
    option("grid", nargs="+", type=parameter, metavar="NAME=VALUES", help="a parameter of the function")
    option("--out", default="results/study", metavar="DIR", help="folder of runs and table.csv (default: %(default)s)")
    option("--part", type=part, metavar="K/N", help="the K-th of N parts of the grid, from 1 on (default: all)")
    option("--workers", type=int, metavar="N", help="simultaneous runs (default: all processors)")
    option("--threads", type=int, default=1, metavar="N", help="of each run (default: %(default)s)")
    option("--timeout", type=float, metavar="SECONDS", help="longest duration of a run (default: no limit)")
    option("--import", dest="imports", action="append", default=[], metavar="FILE",
           help="Python file or name of a module that registers schemes or laws; again for another one")
    options = parser.parse_intermixed_args(list(words))
    names = [name for name, _ in options.grid]
    for name in names:
        if names.count(name) > 1:
            parser.error(f"{name} is given {names.count(name)} times; give all its values at once, {name}=1,2")
    rows = run_ensemble(options.function, dict(options.grid), options.out, options.workers, options.threads,
                        part=options.part, timeout=options.timeout, imports=options.imports)
    return int(any(row["error"] for row in rows))
