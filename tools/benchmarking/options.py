"""The command line of tools/benchmark.py."""

import argparse
from pathlib import Path

from peers.case import CASES, dense

from minidem.scenario import at_least


def parse(argv, description, exit_status):
    """The options; `cases` is a list of (name, Case), those of --rods included."""
    cases = "\n".join(f"case {name}: {case.description}" for name, case in CASES.items())
    parser = argparse.ArgumentParser(description=description, epilog=f"{cases}\n\n{exit_status}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--cases", type=known_cases, metavar="NAMES",
           help="separated by commas (default: A,B,C, or none with --rods)")
    option("--rods", type=numbers, default=[], metavar="N,...",
           help="dense rods as in case C, but so many; a case for each of these")
    option("--threads", type=numbers, metavar="N,...",
           help="a row for each of these (default: 1, or 2 with --throughput; small cases use fewer, and "
                "say so)")
    option("--throughput", action="store_true",
           help="instead: N threads against N runs at once on one thread each")
    option("--repeats", type=at_least(1), metavar="K", default=5, help="timed runs (default: %(default)s)")
    option("--steps", type=at_least(1), metavar="N",
           help="of a timed run, or of a portion of one with --throughput (default: as suits the case)")
    option("--warmup", type=at_least(1), metavar="N",
           help="steps before them, at least (default: as suits the case)")
    option("--seed", type=at_least(0), metavar="N", default=1,
           help="of the initial state (default: %(default)s)")
    option("--clumps", metavar="DIR",
           help="sphere files of chess pieces for case B, as for scenarios/chess_in_box.py (default: ours)")
    option("--json", type=Path, metavar="FILE", default=Path("results/benchmarks.jsonl"),
           help="append the rows to this file (default: %(default)s)")
    option("--draw", type=Path, metavar="PICTURE",
           help="draw cost against size and threads from that file; nothing is run")
    arguments = parser.parse_args(argv)
    if arguments.cases is None:
        arguments.cases = [] if arguments.rods else known_cases("A,B,C")
    arguments.cases += [(f"{number} rods", dense(number)) for number in arguments.rods]
    arguments.threads = arguments.threads or ([2] if arguments.throughput else [1])
    if arguments.clumps and "B" not in dict(arguments.cases):
        parser.error("--clumps: only case B has chess pieces")
    if arguments.json.is_dir():
        parser.error(f"--json: '{arguments.json}' is a folder, not a file")
    if arguments.draw and not arguments.json.is_file():
        parser.error(f"--draw: there is no file '{arguments.json}' to draw; run the cases first")
    if arguments.draw and not arguments.draw.resolve().parent.is_dir():
        parser.error(f"--draw: the folder of '{arguments.draw}' does not exist")
    return arguments


def known_cases(text):
    for name in text.split(","):
        if name not in CASES:
            raise argparse.ArgumentTypeError(f"no case is called '{name}'; there are: {', '.join(CASES)}")
    return [(name, CASES[name]) for name in text.split(",")]


def numbers(text):
    return [at_least(1)(number) for number in text.split(",")]


numbers.__name__ = "list of whole numbers"              # what argparse says when one is none
