"""What N threads get done, beside what N runs at once on one thread each get done on the same machine.

Runs at once share nothing but the machine: its memory, its caches, its clock. What N threads fall short of
them is what it costs them to work on one thing.
"""

import json
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import harmonic_mean, median

from benchmarking.provenance import provenance
from benchmarking.run import failure, identity, spread

CHILD = Path(__file__).with_name("portions.py")
PORTIONS = 5            # that a run is timed for; their median counts
COLUMNS = ("case", "clumps", "N", "threads", "1 run us", "N threads us", "N runs us",
           "N threads/1 run", "min..max", "N threads/N runs", "min..max", "least core")


@contextmanager
def started(checkpoint, threads, warmup, steps):
    """A process of portions.py, which is ended with the context."""
    command = [sys.executable, CHILD, checkpoint, *map(str, (threads, warmup, steps))]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


def heard(process):
    """The next thing that it says; RuntimeError with the end of its complaints if it failed."""
    line = process.stdout.readline()
    if not line:
        raise failure(process.wait(), process.stderr.read())
    return json.loads(line)


def timed(process):
    """(seconds per step, how many cores it got) of its portions."""
    elapsed, busy = zip(*(heard(process) for _ in range(PORTIONS)))
    return median(elapsed), sum(busy) / sum(elapsed)


def at_once(number, *arguments):
    """Some runs at the same time, [(what it says of itself, its seconds per step, how many cores it got)];
    arguments of `started`.

    They begin together when the last one is ready, and all run on until the last one has been timed.
    """
    with ExitStack() as stack:
        runs = [stack.enter_context(started(*arguments)) for _ in range(number)]
        about = [heard(run) for run in runs]
        for run in runs:
            run.stdin.write("go\n")
            run.stdin.flush()
        return [(said, *timed(run)) for said, run in zip(about, runs)]


def row(name, case, sim, checkpoint, threads, warmup, steps, repeats, seed):
    """A dictionary that JSON can hold, as that of run.py; one run, threads and runs at once take turns.

    Times of runs at once are those of one of them, the harmonic mean. "least_core" is the least share of a
    core that the threads of a run got, on the average of its threads and portions.
    """
    origin = provenance()
    one, many, each, cores = [], [], [], []
    for _ in range(repeats):
        [(_, alone, core)] = at_once(1, checkpoint, 1, warmup, steps)
        [(about, together, shared)] = at_once(1, checkpoint, threads, warmup, steps)
        _, beside, others = zip(*at_once(threads, checkpoint, 1, warmup, steps))
        one.append(alone)
        many.append(together)
        each.append(harmonic_mean(beside))
        cores += [core, shared / about["threads"], *others]
    return {
        **identity(name, case, sim, seed),
        "threads_asked": threads, "threads": about["threads"], "warmup": about["warmup"], "steps": steps,
        "portions": PORTIONS, "repeats": repeats,
        "throughput": {
            "one_run_us": spread(one, 1e6), "threads_us": spread(many, 1e6), "runs_us": spread(each, 1e6),
            "threads_to_one_run": spread([a / b for a, b in zip(one, many)], 1.0),
            "threads_to_runs": spread([a / b for a, b in zip(each, many)], 1.0 / threads),
            "least_core": min(cores)},
        "build": about["build"], **origin}


def summary(found):
    figures = found["throughput"]
    times = (f"{figures[name]['median']:.4g}" for name in ("one_run_us", "threads_us", "runs_us"))
    ratios = (text for name in ("threads_to_one_run", "threads_to_runs")
              for text in median_and_range(figures[name]))
    return (found["case"], str(found["clumps"]), str(found["threads_asked"]), str(found["threads"]),
            *times, *ratios, f"{figures['least_core']:.2f}")


def median_and_range(values):
    return f"{values['median']:.2f}", f"{values['min']:.2f}..{values['max']:.2f}"
