#!/usr/bin/env python3
"""Time minidem on the standard cases, tell where the time goes and what bounds it, and keep the figures.

    python tools/benchmark.py                           cases A, B and C on one thread
    python tools/benchmark.py --cases C,D,F --threads 1,2
    python tools/benchmark.py --throughput --rods 1400,4000 --cases C
                                                        two threads against two runs at once
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

--throughput sets N threads beside N runs at once on one thread each, which share nothing but the machine.
One run alone, N threads, N runs at once take turns, all from the same checkpoint; runs at once begin together
after their warm-ups and run on until the last has been timed. Of a run the median of five portions counts.
The table has us per step (of each of N runs) and, turn by turn, the ratios of the throughputs: N threads to
one run, and to N runs together. "least core" is the least share of a core that a thread of any run got: far
below one, others were at work, and the ratios are about them. With N = 1 the ratios tell how far to trust
them.

Every case appends one line of JSON to the file, with commit, compiler and flags, processor, load and date.
A busy machine makes everything slower: quote ratios of alternating runs (tools/compare_peers.py), or quiet
hours.
"""

import json
import sys
import tempfile
from pathlib import Path

from benchmarking import bounds, drawing, run, throughput
from benchmarking.core import measure as measure_core
from benchmarking.options import parse
from compare_peers import print_table

from minidem.scenario.progress import Line

DONE, FAILED, BAD_ARGUMENTS, SKIPPED, INTERRUPTED = 0, 1, 2, 77, 130
EXIT_STATUS = """exit status: 0 done; 1 a run failed; 2 bad arguments; 77 no matplotlib to draw with;
130 interrupted: the cases that were done are in the file"""
COLUMNS = ("case", "threads", "us/step", "min..max", "cpu us", "ns/sphere", "contacts/clump", "steps/outer",
           "steps/inner", "peak MB", "bytes/sphere", "drift")


def measured(arguments, line):
    """The rows, one by one."""
    row, one_core = throughput.row if arguments.throughput else run.row, None
    with tempfile.TemporaryDirectory() as folder:
        for name, case in arguments.cases:
            line.show(f"case {name}: initial state")
            sim = case.simulation(arguments.seed, arguments.clumps if name == "B" else None)
            checkpoint = Path(folder, "start")
            sim.save(checkpoint)
            if one_core is None:
                line.show("one core: bandwidth and arithmetic")
                one_core = measure_core()
            for threads in arguments.threads:
                line.show(f"case {name}: at most {threads} thread{'s' if threads > 1 else ''}")
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
    if not drawing.newest(rows):
        print(f"{file} is empty or has rows of --throughput alone; run the cases first", file=sys.stderr)
        return FAILED
    if not drawing.draw(picture, rows):
        print("no picture without matplotlib: pip install matplotlib", file=sys.stderr)
        return SKIPPED
    return DONE


def main(argv=None):
    arguments = parse(argv, __doc__, EXIT_STATUS)
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
        if arguments.throughput:
            columns, line_of = throughput.COLUMNS, throughput.summary
        else:
            columns, line_of = COLUMNS, summary
            for found in rows:
                tell_phases(found)
        print()
        print_table([columns, *map(line_of, rows)])
    return status


if __name__ == "__main__":
    sys.exit(main())
