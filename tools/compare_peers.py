#!/usr/bin/env python3
"""Head-to-head benchmark of minidem and other DEM codes: the same clumps, initial state and contact law, one thread.

    python tools/compare_peers.py --case C --peers lammps

The peers are Yade, LAMMPS and LIGGGHTS, from their Debian packages. Cases with friction need LAMMPS newer than
2Aug2023, see tools/compare_friction.py; the other peers are skipped. Settings that users tune for speed (skin) are
chosen by short trial runs. Runs of the peer and of minidem alternate, so that other programs on the machine slow down
both; quote the median of the ratios. Only the steps after a warm-up are timed, without output.

    ratio       time per step of the peer over the time of minidem
    drift       relative change of the total energy over the run
    apart       check that both codes run the same system: largest distance between a clump of the peer and the same
                clump of minidem after the warm-up, in radii of the smallest sphere (later the motion is chaotic).
                In case A it is below 1e-4 for the same law; walls with R* = R/2 instead of R would give 2e-2.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from statistics import median

from benchmark_cases import CASES, EPILOG, print_table
from peers import PEERS
from peers.comparison import compare

from minidem.core.atomic import replace_text
from minidem.scenario import at_least

DONE, FAILED, SKIPPED, INTERRUPTED = 0, 1, 77, 130
EXIT_STATUS = """exit status: 0 every peer was compared; 1 a run failed; 2 bad arguments; 77 a peer was skipped,
because it is not installed or cannot run the case; 130 interrupted"""
COLUMNS = ("peer", "version", "settings", "us/step", "minidem us/step", "ratio", "min..max",
           "drift", "minidem drift", "apart")


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="compare_peers.py", description=__doc__, epilog=f"{EPILOG}\n\n{EXIT_STATUS}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--peers", type=known_peers, default=",".join(PEERS), metavar="NAMES",
           help="names separated by commas (default: %(default)s)")
    option("--case", choices=sorted(CASES), default="A", help="benchmark case (default: %(default)s)")
    option("--clumps", metavar="DIR",
           help="folder of sphere files for the chess pieces of case B; see scenarios/spiral/chess_in_box.py --help "
                "(default: the project's pieces)")
    option("--steps", type=at_least(1), metavar="N", help="steps of a timed run (default: depends on the case)")
    option("--warmup", type=at_least(1), metavar="N", help="steps before them (default: depends on the case)")
    option("--repeats", type=at_least(1), metavar="K", default=5, help="pairs of runs (default: %(default)s)")
    option("--seed", type=at_least(0), metavar="N", default=1, help="seed of the initial state (default: %(default)s)")
    option("--json", type=Path, metavar="FILE", help="write all runs to this file")
    arguments = parser.parse_args(argv)
    if arguments.json and not arguments.json.resolve().parent.is_dir():
        parser.error(f"--json: the folder of '{arguments.json}' does not exist; create it")
    if arguments.clumps and arguments.case != "B":
        parser.error("--clumps: only case B has chess pieces; add --case B")
    return arguments


def known_peers(text):
    for name in text.split(","):
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"peer is '{name}', must be one of: {', '.join(PEERS)}")
    return [PEERS[name] for name in text.split(",")]


def table_row(report):
    theirs, ours = report["peer_runs"], report["minidem_runs"]
    return (report["peer"], theirs[0]["version"],
            " ".join(f"{name}={value}" for name, value in report["settings"].items()),
            *(f"{median(run['us_per_step'] for run in runs):.3g}" for runs in (theirs, ours)),
            f"{report['ratio']:.1f}", f"{min(report['ratios']):.1f}..{max(report['ratios']):.1f}",
            f"{theirs[0]['drift']:+.1e}", f"{ours[0]['drift']:+.1e}", f"{report['apart_in_radii']:.1e}")


def main(argv=None):
    arguments = parse_arguments(argv)
    case = CASES[arguments.case]
    able = []
    for peer in arguments.peers:
        if not peer.find():
            print(peer.how_to_install())
        elif case.clumps > peer.max_clumps:
            print(f"{peer.name}: skipped, case {arguments.case} has more than {peer.max_clumps:.0f} clumps")
        elif case.contact not in peer.laws:
            print(f"{peer.name}: skipped, it is not run with the contact law {case.contact} of case {arguments.case}")
        else:
            able.append(peer)
    if not able:
        return SKIPPED

    try:
        start = case.simulation(arguments.seed, arguments.clumps)
    except ValueError as error:                 # invalid sphere files
        print(error, file=sys.stderr)
        return FAILED
    load = os.getloadavg()[0]
    steps, warmup = arguments.steps or case.steps, arguments.warmup or case.warmup
    print(f"{case.description}, seed {arguments.seed}; {steps} steps after {warmup}\n"
          f"{arguments.repeats} pairs of runs, one thread; load average before: {load:.2f}", flush=True)
    try:
        reports = [compare(peer, start, warmup, steps, arguments.repeats) for peer in able]
    except (RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    print_table([COLUMNS, *map(table_row, reports)])
    if arguments.json:
        record = {"case": arguments.case, "seed": arguments.seed, "steps": steps, "warmup": warmup,
                  "load": load, "reports": reports}
        replace_text(arguments.json, json.dumps(record, indent=1) + "\n")
    return DONE if len(able) == len(arguments.peers) else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
