#!/usr/bin/env python3
"""Time minidem on the standard cases, tell where the time goes and what bounds it, and keep the figures.

    python tools/benchmark.py                           cases A, B and C on one thread
    python tools/benchmark.py --cases C,D,F --threads 1,2
    python tools/benchmark.py --draw benchmarks.png     draw what the file has; nothing is run

Each case is built once and then measured in a process of its own for each number of threads: a warm-up, after
which the clumps stand in order and the lists follow the motion, and the repeats, of which the median, the
least and the most are given, beside the median of the time that the processor spent on them ("cpu us", of all
threads), which other work on the machine lengthens less. The peak of the memory is that of the whole
process, some 70 MB of it Python and its libraries; the drift is the relative change of the total energy over
all these steps. After each repeat a run with timers in the time loop tells how the step is shared among its
phases; these shares of the processor's time for a step, by thread, are what is shown:

    blocks      gather forces, kick, rotate, drift, pose: one pass over blocks of eight clumps; rotation and
                pose are also timed on their own, of the same clumps without contacts
    lists       candidates made anew
    contacts    overlaps among the candidates and their forces
    waiting     for other threads
    outside     Python, and clumps put into the order of space

Bytes and floating-point operations of a step are counted from the code (tools/benchmarking/counting.py).
They are set against what one core does here: a += b in NumPy from each cache and from memory, and a matrix
product in BLAS (tools/benchmarking/core.py). A phase for which neither explains half its time is bound by
latency: it waits for results and guesses branches wrongly.

Every case appends one line of JSON to the file, with commit, compiler and flags, processor, load and date.
A busy machine makes everything slower: quote ratios of alternating runs (tools/compare_peers.py), or quiet
hours.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarking import bounds, drawing
from benchmarking.core import measure as measure_core
from benchmarking.run import row
from compare_peers import print_table
from minidem.scenario import at_least
from minidem.scenario.progress import Line
from peers.case import CASES

DONE, FAILED, BAD_ARGUMENTS, SKIPPED, INTERRUPTED = 0, 1, 2, 77, 130
EXIT_STATUS = """exit status: 0 done; 1 a run failed; 2 bad arguments; 77 no matplotlib to draw with;
130 interrupted: the cases that were done are in the file"""
COLUMNS = ("case", "threads", "us/step", "min..max", "cpu us", "ns/sphere", "contacts/clump", "steps/outer",
           "steps/inner", "peak MB", "bytes/sphere", "drift")


def parse_arguments(argv):
    cases = "\n".join(f"case {name}: {case.description}" for name, case in CASES.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"{cases}\n\n{EXIT_STATUS}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--cases", type=known_cases, default="A,B,C", metavar="NAMES",
           help="separated by commas (default: %(default)s)")
    option("--threads", type=thread_numbers, default="1", metavar="N,...",
           help="a row for each of these (default: %(default)s; small cases use fewer, and say so)")
    option("--repeats", type=at_least(1), metavar="K", default=5, help="timed runs (default: %(default)s)")
    option("--steps", type=at_least(1), metavar="N", help="of a timed run (default: as suits the case)")
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
    if arguments.clumps and "B" not in arguments.cases:
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
    return text.split(",")


def thread_numbers(text):
    return [at_least(1)(number) for number in text.split(",")]


thread_numbers.__name__ = "list of whole numbers"       # what argparse says when one is none


def measured(arguments, line):
    """The rows, one by one."""
    one_core = None
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.cases:
            case = CASES[name]
            line.say(f"case {name}: initial state")
            sim = case.simulation(arguments.seed, arguments.clumps if name == "B" else None)
            checkpoint = Path(folder, "start")
            sim.save(checkpoint)
            if one_core is None:
                line.say("one core: bandwidth and arithmetic")
                one_core = measure_core()
            for threads in arguments.threads:
                line.say(f"case {name}: at most {threads} thread{'s' if threads > 1 else ''}")
                found = row(name, case, sim, checkpoint, threads, arguments.warmup or case.warmup,
                            arguments.steps or case.steps, arguments.repeats, arguments.seed)
                yield {**found, "clump_files": arguments.clumps if name == "B" else None, "core": one_core}


def append(path, found):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")


def summary(found):
    us, lists = found["us_per_step"], found["lists"]
    return (found["case"], str(found["threads"]), f"{us['median']:.4g}", f"{us['min']:.4g}..{us['max']:.4g}",
            f"{found['processor_us_per_step']['median']:.4g}",
            f"{found['ns_per_sphere_step']['median']:.3g}", f"{found['contacts_per_clump']:.3g}",
            steps_per(lists["outer_renewals_per_step"]), steps_per(lists["inner_renewals_per_step"]),
            f"{1e-6 * found['peak_bytes']:.0f}", f"{found['bytes_per_sphere']:.0f}",
            f"{found['energy_drift']:+.1e}")


def steps_per(renewals):
    return f"{1 / renewals:.3g}" if renewals else "-"


def tell_core(found):
    core, build = found["core"], found["build"]
    rates = ", ".join(f"{name} {1e-9 * rate:.1f}" for name, rate in core["bytes_per_second"].items())
    print(f"{found['cpu']}, load average before: {found['load']:.2f}; commit {found['commit'] or 'unknown'}\n"
          f"{build['command']}\nvectors {build['vectors']}, compiler {build['compiler']}\n"
          f"one core: GB/s from {rates}; GFlop/s {1e-9 * core['operations_per_second']:.1f} of a "
          f"matrix product")


def tell_phases(found):
    level, lines = bounds.phases(found)
    print(f"\ncase {found['case']}, {found['description']}; threads: {found['threads']}; what a step needs "
          f"lies in {level}; ns, bytes and flops are per sphere")
    print_table([bounds.COLUMNS, *lines])


def draw(picture, file):
    """Exit status of --draw."""
    rows = []
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            rows.append(json.loads(text))
            drawing.newest(rows)
        except (KeyError, TypeError, ValueError):
            print(f"{file}, line {number}: not a row of this tool", file=sys.stderr)
            return FAILED
    if not rows:
        print(f"{file} is empty; run the cases first", file=sys.stderr)
        return FAILED
    if not drawing.draw(picture, rows):
        print("no picture without matplotlib: pip install matplotlib", file=sys.stderr)
        return SKIPPED
    return DONE


def main(argv=None):
    arguments = parse_arguments(argv)
    if arguments.draw:
        return draw(arguments.draw, arguments.json)
    line, rows, status = Line(), [], DONE
    try:
        for found in measured(arguments, line):
            append(arguments.json, found)
            rows.append(found)
    except (OSError, RuntimeError, ValueError) as error:        # ValueError: sphere files that are none
        line.close()
        print(error, file=sys.stderr)
        status = FAILED
    except KeyboardInterrupt:
        status = INTERRUPTED
    line.close()
    if rows:
        tell_core(rows[0])
        for found in rows:
            tell_phases(found)
        print()
        print_table([COLUMNS, *map(summary, rows)])
    return status


if __name__ == "__main__":
    sys.exit(main())
