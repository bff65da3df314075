"""Race minidem against other DEM codes: same clumps, same initial state, same law, one thread each.

The codes run in turn, so that a busy machine slows both; the figure to quote is the median of the ratios.
Only the stepping is timed, after a warm-up and without output. "drift" is the relative change of the total
energy over the run. "apart" tells whether the codes did the same: the largest distance between a clump in
the peer and the same clump in minidem after the warm-up, in radii of the smallest sphere (later the motion
is chaotic).
"""

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

from peers import PEERS
from peers.case import CASES, build
from peers.race import race

DONE, FAILED, SKIPPED, INTERRUPTED = 0, 1, 77, 130
EXIT_STATUS = ("exit status: 0 every peer was compared; 1 a run failed; 2 bad arguments; "
               "77 a peer is not installed and was skipped; 130 interrupted")
COLUMNS = ("peer", "version", "settings", "us/step", "minidem", "ratio", "min..max",
           "drift", "minidem", "apart")


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXIT_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--peers", type=known_peers, default=",".join(PEERS), metavar="NAMES",
           help="names separated by commas (default: %(default)s)")
    option("--case", choices=sorted(CASES), default="A", help="A: 30 rods of 3 spheres in a box of 1 m")
    option("--steps", type=whole(1), default=400_000, help="timed steps of a run (default: %(default)s)")
    option("--warmup", type=whole(1), default=1000, help="steps before them (default: %(default)s)")
    option("--repeats", type=whole(1), default=5, help="pairs of runs (default: %(default)s)")
    option("--seed", type=whole(0), default=1, help="of the initial state (default: %(default)s)")
    option("--json", type=Path, metavar="FILE", help="write every run to this file")
    arguments = parser.parse_args(argv)
    if arguments.json and not arguments.json.resolve().parent.is_dir():
        parser.error(f"--json: the folder of '{arguments.json}' does not exist")
    return arguments


def known_peers(text):
    for name in text.split(","):
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"no peer is called '{name}'; there are: {', '.join(PEERS)}")
    return [PEERS[name] for name in text.split(",")]


def whole(least):
    """Type of an option: a whole number, `least` or more."""
    def parse(text):
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least}")
        return int(text)
    return parse


def table_row(report):
    theirs, ours = report["peer_runs"], report["minidem_runs"]
    return (report["peer"], theirs[0]["version"],
            " ".join(f"{name}={value}" for name, value in report["settings"].items()),
            f"{median_time(theirs):.3g}", f"{median_time(ours):.3g}",
            f"{report['ratio']:.1f}", f"{min(report['ratios']):.1f}..{max(report['ratios']):.1f}",
            f"{theirs[0]['drift']:+.1e}", f"{ours[0]['drift']:+.1e}", f"{report['apart_in_radii']:.1e}")


def median_time(runs):
    return statistics.median(run["us_per_step"] for run in runs)


def print_table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main(argv=None):
    arguments = parse_arguments(argv)
    installed = [peer for peer in arguments.peers if peer.find()]
    for peer in arguments.peers:
        if peer not in installed:
            print(peer.how_to_install())
    if not installed:
        return SKIPPED

    load = os.getloadavg()[0]
    case = build(arguments.case, arguments.seed)
    print(f"case {case.name}: {len(case.position)} clumps of {len(case.template.radii)} spheres, "
          f"dt {case.dt:g} s, {arguments.steps} steps, seed {arguments.seed}\n"
          f"{arguments.repeats} pairs of runs, one thread; load average before: {load:.2f}", flush=True)
    try:
        reports = [race(peer, case, arguments.warmup, arguments.steps, arguments.repeats)
                   for peer in installed]
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    print_table([COLUMNS, *map(table_row, reports)])
    if arguments.json:
        settings = {name: getattr(arguments, name) for name in ("case", "steps", "warmup", "repeats", "seed")}
        record = {**settings, "load": load, "reports": reports}
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")
    return DONE if len(installed) == len(arguments.peers) else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
