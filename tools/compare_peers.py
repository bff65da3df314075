"""Race minidem against other DEM codes: same clumps, same initial state, same law, one thread each.

The peers are Yade, LAMMPS and LIGGGHTS, each with the settings that run fastest in a short trial.

The codes run in turn, so that a busy machine slows both; the figure to quote is the median of the ratios.
Only the stepping is timed, after a warm-up and without output. "drift" is the relative change of the total
energy over the run. "apart" tells whether the codes did the same: the largest distance between a clump in
the peer and the same clump in minidem after the warm-up, in radii of the smallest sphere (later the motion
is chaotic). In case A the same law gives 1e-4 at most, walls with R* = R/2 instead of R would give 2e-2.
"""

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

from peers import PEERS
from peers.case import CASES
from peers.race import race

from minidem.core.atomic import write_text
from minidem.scenario import at_least

DONE, FAILED, SKIPPED, INTERRUPTED = 0, 1, 77, 130
EXIT_STATUS = """exit status: 0 every peer was compared; 1 a run failed; 2 bad arguments;
77 a peer is not installed, or cannot run the case, and was skipped; 130 interrupted"""
COLUMNS = ("peer", "version", "settings", "us/step", "minidem us/step", "ratio", "min..max",
           "drift", "minidem drift", "apart")


def parse_arguments(argv):
    cases = "\n".join(f"case {name}: {case.description}" for name, case in CASES.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"{cases}\n\n{EXIT_STATUS}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--peers", type=known_peers, default=",".join(PEERS), metavar="NAMES",
           help="names separated by commas (default: %(default)s)")
    option("--case", choices=sorted(CASES), default="A", help="the experiment (default: %(default)s)")
    option("--clumps", metavar="DIR",
           help="sphere files of chess pieces for case B, as for scenarios/chess_in_box.py (default: ours)")
    option("--steps", type=at_least(1), metavar="N", help="timed steps of a run (default: as suits the case)")
    option("--warmup", type=at_least(1), metavar="N", help="steps before them (default: as suits the case)")
    option("--repeats", type=at_least(1), metavar="K", default=5, help="pairs of runs (default: %(default)s)")
    option("--seed", type=at_least(0), metavar="N", default=1,
           help="of the initial state (default: %(default)s)")
    option("--json", type=Path, metavar="FILE", help="write every run to this file")
    arguments = parser.parse_args(argv)
    if arguments.json and not arguments.json.resolve().parent.is_dir():
        parser.error(f"--json: the folder of '{arguments.json}' does not exist")
    if arguments.clumps and arguments.case != "B":
        parser.error("--clumps: only case B has chess pieces")
    return arguments


def known_peers(text):
    for name in text.split(","):
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"no peer is called '{name}'; there are: {', '.join(PEERS)}")
    return [PEERS[name] for name in text.split(",")]


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
    case = CASES[arguments.case]
    able = []
    for peer in arguments.peers:
        if not peer.find():
            print(peer.how_to_install())
        elif case.clumps > peer.most_clumps:
            print(f"{peer.name}: skipped, {peer.most_clumps:.0f} clumps are the most that it is given here")
        else:
            able.append(peer)
    if not able:
        return SKIPPED

    try:
        start = case.simulation(arguments.seed, arguments.clumps)
    except ValueError as error:                 # sphere files that are none
        print(error, file=sys.stderr)
        return FAILED
    load = os.getloadavg()[0]
    steps, warmup = arguments.steps or case.steps, arguments.warmup or case.warmup
    print(f"{case.description}, seed {arguments.seed}; {steps} steps after {warmup}\n"
          f"{arguments.repeats} pairs of runs, one thread; load average before: {load:.2f}", flush=True)
    try:
        reports = [race(peer, start, warmup, steps, arguments.repeats) for peer in able]
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    print_table([COLUMNS, *map(table_row, reports)])
    if arguments.json:
        record = {"case": arguments.case, "seed": arguments.seed, "steps": steps, "warmup": warmup,
                  "load": load, "reports": reports}
        write_text(arguments.json, json.dumps(record, indent=1) + "\n")
    return DONE if len(able) == len(arguments.peers) else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
