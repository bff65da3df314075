"""One measurement of tools/benchmark.py, in a process of its own; writes JSON to standard output.

    benchmark_process.py CHECKPOINT THREADS WARMUP STEPS REPEATS

It waits for a line of standard input before the warm-up and before each repeat, and answers with a line when that is
done: an empty one, and the results after the last. Processes can so be measured in turns.
"""

import json
import resource
import sys
import time
from pathlib import Path
from statistics import fmean

import minidem as md
from minidem.core.build_record import build_info, build_record

WARMUP_LISTS = 3        # outer neighbour lists: by then clumps are sorted and skins are adapted to the motion
LISTS = ("outer_skin", "inner_skin", "outer_pairs", "inner_pairs", "active_slots")


def peak_memory():
    """Largest resident memory of this process so far [bytes].

    On Linux not from getrusage, whose peak includes the peak of the parent process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line, = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def seconds(sim, steps):
    """Elapsed time and processor time of all threads, per step."""
    elapsed, processor = time.perf_counter(), time.process_time()
    sim.run(steps)
    return (time.perf_counter() - elapsed) / steps, (time.process_time() - processor) / steps


def measure(sim, warmup, steps, repeats):
    """Measurements of a simulation, a dictionary; "elapsed" and "processor": [s] per step of each repeat.

    Peak memory is read after the first repeat, before contacts are copied into NumPy arrays.
    """
    first_step, peak = sim.step_count, None
    sys.stdin.readline()
    sim.run(warmup)
    while sim.diagnostics.statistics["outer_lists"] < WARMUP_LISTS:
        sim.run(warmup)
    warmup, before = sim.step_count - first_step, sim.diagnostics.statistics
    times, contacts, samples = [], [], []
    for _ in range(repeats):
        print(flush=True)
        sys.stdin.readline()
        times.append(seconds(sim, steps))
        peak = peak or peak_memory()
        contacts.append(len(sim.contacts()))
        samples.append(sim.diagnostics.statistics)
    elapsed, processor = zip(*times)
    lists = {name: fmean(sample[name] for sample in samples) for name in LISTS}
    lists |= {f"{kind}_lists_per_step": (samples[-1][f"{kind}_lists"] - before[f"{kind}_lists"]) / (repeats * steps)
              for kind in ("outer", "inner")}
    return {"threads": sim.threads, "warmup": warmup, "elapsed": elapsed, "processor": processor,
            "lists": lists, "contacts": fmean(contacts), "peak_bytes": peak, "energy_final": sim.energy().total,
            "isa": build_info()["isa"], "build": build_record()}


if __name__ == "__main__":
    threads, *counts = map(int, sys.argv[2:])
    print(json.dumps(measure(md.Simulation.load(sys.argv[1], threads), *counts)))
