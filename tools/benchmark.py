#!/usr/bin/env python3
"""Measure the time per step of minidem on the standard cases.

    python tools/benchmark.py                                   cases A, B and C on one thread
    python tools/benchmark.py --cases C,D,F --threads 1,2
    python tools/benchmark.py --rods 1400,4000
    python tools/benchmark.py --isa v2,v3,v4                    the levels of the instruction set side by side

The initial state of each case is built once. Each number of threads is measured in a fresh process: a warm-up,
during which clumps are sorted and skins of the neighbour lists adapt, and then the repeats. With --isa each level has
a process of its own, and their repeats alternate. The table lists

    isa             instruction set: level of the build, or native
    isa ratio       with --isa: time relative to the best level, median over the repeats; processor time on one thread,
                    elapsed time on more
    us/step         median elapsed time of the repeats, with the smallest and the largest
    cpu us          median processor time, summed over threads; other programs on the machine disturb it less
    ns/sphere       elapsed time per sphere and step
    steps/outer     mean number of steps between rebuilds of the outer neighbour list; steps/inner: prunings
    peak MB         largest memory of the process, of which Python and its libraries are about 70 MB
    drift           relative change of the total energy over all steps

One line of JSON per measurement is appended to the file, with commit, compiler and flags, processor, load and
date. On a busy machine, compare ratios of alternating runs (--isa, tools/compare_trees.py, tools/compare_peers.py) and
not times.
"""

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import numpy as np
from benchmark_cases import EPILOG, dense, known_cases, numbers, print_table

import minidem as md
from minidem import isa
from minidem.core.progress import Line
from minidem.scenario import at_least

DONE, FAILED, INTERRUPTED = 0, 1, 130
EXIT_STATUS = """exit status: 0 done; 1 a run failed; 2 bad arguments; 130 interrupted. Completed measurements are
in the file in every case."""
COLUMNS = ("case", "threads", "isa", "isa ratio", "us/step", "min..max", "cpu us", "ns/sphere", "contacts/clump",
           "steps/outer", "steps/inner", "peak MB", "bytes/sphere", "drift")
PROCESS = Path(__file__).with_name("benchmark_process.py")


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="benchmark.py", description=__doc__, epilog=f"{EPILOG}\n\n{EXIT_STATUS}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--cases", type=known_cases, metavar="NAMES", help="separated by commas (default: A,B,C; none with --rods)")
    option("--rods", type=numbers, default=[], metavar="N,...",
           help="additional cases: dense rods as in case C, with these numbers of rods")
    option("--threads", type=numbers, metavar="N,...", default=[1],
           help="numbers of threads to measure (default: 1; small systems use fewer than given)")
    option("--isa", type=lambda text: text.split(","), metavar="LEVEL,...", default=[None],
           help="levels of the instruction set, such as v2,v3,v4 (default: the best one)")
    option("--repeats", type=at_least(1), metavar="K", default=5, help="timed runs (default: %(default)s)")
    option("--steps", type=at_least(1), metavar="N", help="steps of a timed run (default: depends on the case)")
    option("--warmup", type=at_least(1), metavar="N",
           help="smallest number of steps before the timed runs (default: depends on the case)")
    option("--seed", type=at_least(0), metavar="N", default=1, help="seed of the initial state (default: %(default)s)")
    option("--clumps", metavar="DIR",
           help="folder of sphere files for the chess pieces of case B; see scenarios/spiral/chess_in_box.py --help "
                "(default: the project's pieces)")
    option("--json", type=Path, metavar="FILE", default=Path("results/benchmarks.jsonl"),
           help="append the measurements to this file (default: %(default)s)")
    arguments = parser.parse_args(argv)
    if arguments.cases is None:
        arguments.cases = [] if arguments.rods else known_cases("A,B,C")
    arguments.cases += [(f"{number} rods", dense(number)) for number in arguments.rods]
    if arguments.clumps and "B" not in dict(arguments.cases):
        parser.error("--clumps: only case B has chess pieces; add B to --cases")
    for level in filter(None, arguments.isa):
        if not isa.levels():
            parser.error("--isa: this build has no levels; build them with\n"
                         "    MINIDEM_ARCH=levels python -m pip install -e .")
        if level not in isa.levels():
            parser.error(f"--isa: level is '{level}', must be one of: {', '.join(isa.levels())}")
    if arguments.json.is_dir():
        parser.error(f"--json: '{arguments.json}' is a folder; give a file")
    return arguments


def provenance():
    """Version, machine, date and load (mean number of running processes during the last minute)."""
    root = Path(__file__).parents[1]
    try:
        git = subprocess.run(["git", "describe", "--always", "--dirty", "--tags", "--abbrev=12"], cwd=root, text=True,
                             capture_output=True)
        commit = git.stdout.strip() if git.returncode == 0 else None
    except FileNotFoundError:
        commit = None
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines()
             if line.startswith("model name")] if info.exists() else []
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"), "version": md.__version__, "commit": commit,
            "cpu": names[0] if names else platform.processor() or platform.machine(), "cpus": os.cpu_count(),
            "load": os.getloadavg()[0], "system": platform.platform(), "python": platform.python_version(),
            "numpy": np.__version__}


def turn(process):
    """Let benchmark_process.py continue and return its answer. RuntimeError with the end of its errors if it fails."""
    with contextlib.suppress(BrokenPipeError):
        print(file=process.stdin, flush=True)
    answer = process.stdout.readline()
    if not answer:
        end = "\n".join(process.stderr.read().splitlines()[-10:])
        raise RuntimeError(f"the measurement ended with status {process.wait()}:\n{end}")
    return answer


def run_processes(levels, checkpoint, threads, warmup, steps, repeats):
    """Results of benchmark_process.py at each level (None: the best one), whose repeats alternate."""
    arguments, processes = (checkpoint, threads, warmup, steps, repeats), []
    try:
        for level in levels:
            environment = {**os.environ, "MINIDEM_ISA": level} if level else None
            processes.append(subprocess.Popen([sys.executable, PROCESS, *map(str, arguments)], env=environment,
                                              text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                              stderr=subprocess.PIPE))
            turn(processes[-1])         # the warm-up, before the next process starts
        for k in range(repeats):
            answers = {process: turn(process) for process in (processes[::-1] if k % 2 else processes)}
        return [json.loads(answers[process]) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def ratios(found, threads):
    """Time of each level relative to the best one: median over the repeats, which are taken in turns."""
    times = [one["processor" if threads == 1 else "elapsed"] for one in found]
    best = min(times, key=median)
    return [median(a / b for a, b in zip(one, best)) for one in times]


def spread(times, unit):
    return {"median": unit * median(times), "min": unit * min(times), "max": unit * max(times)}


def measurements(arguments, line):
    """Yield one dictionary per case, number of threads and level."""
    with tempfile.TemporaryDirectory() as folder:
        for name, case in arguments.cases:
            line.show(f"case {name}: initial state")
            clumps = arguments.clumps if name == "B" else None
            sim = case.simulation(arguments.seed, clumps)
            checkpoint = Path(folder, "start")
            sim.save(checkpoint)
            steps, warmup = arguments.steps or case.steps, arguments.warmup or case.warmup
            for threads in arguments.threads:
                line.show(f"case {name}: {threads} thread{'s' if threads > 1 else ''}")
                origin = provenance()
                measured = run_processes(arguments.isa, checkpoint, threads, warmup, steps, arguments.repeats)
                for found, ratio in zip(measured, ratios(measured, threads)):
                    elapsed, processor = found.pop("elapsed"), found.pop("processor")
                    yield {"case": name, "description": case.description, "clump_files": clumps, "seed": arguments.seed,
                           "integrator": sim.rotation, "dt": sim.dt, "clumps": sim.n_clumps, "spheres": sim.n_spheres,
                           "threads_asked": threads, "steps": steps, "repeats": arguments.repeats,
                           "us_per_step": spread(elapsed, 1e6), "processor_us_per_step": spread(processor, 1e6),
                           "ns_per_sphere_step": spread(elapsed, 1e9 / sim.n_spheres),
                           "isa_ratio": ratio if len(measured) > 1 else None,
                           "contacts_per_clump": found["contacts"] / sim.n_clumps,
                           "bytes_per_sphere": found["peak_bytes"] / sim.n_spheres,
                           "energy_drift": found.pop("energy_final") / sim.energy().total - 1, **found, **origin}


def table_row(found):
    us, lists = found["us_per_step"], found["lists"]
    intervals = (lists[f"{kind}_lists_per_step"] for kind in ("outer", "inner"))
    ratio = found["isa_ratio"]
    return (found["case"], str(found["threads"]), found["isa"], f"{ratio:.3f}" if ratio else "-",
            f"{us['median']:.4g}", f"{us['min']:.4g}..{us['max']:.4g}",
            f"{found['processor_us_per_step']['median']:.4g}", f"{found['ns_per_sphere_step']['median']:.3g}",
            f"{found['contacts_per_clump']:.3g}", *(f"{1 / rate:.3g}" if rate else "-" for rate in intervals),
            f"{1e-6 * found['peak_bytes']:.0f}", f"{found['bytes_per_sphere']:.0f}", f"{found['energy_drift']:+.1e}")


def print_report(rows):
    first = rows[0]
    print(f"{first['cpu']}, load average before: {first['load']:.2f}; commit {first['commit'] or 'unknown'}\n"
          f"compiler {first['build']['compiler']}")
    for command, vectors in dict.fromkeys((row["build"]["command"], row["build"]["vectors"]) for row in rows):
        print(f"{vectors}: {command}")
    print()
    print_table([COLUMNS, *map(table_row, rows)])


def main(argv=None):
    arguments = parse_arguments(argv)
    line, rows, status = Line(), [], DONE
    try:
        for row in measurements(arguments, line):
            arguments.json.parent.mkdir(parents=True, exist_ok=True)
            with arguments.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            rows.append(row)
    except (OSError, RuntimeError, ValueError) as error:        # ValueError: invalid sphere files
        line.close()
        print(error, file=sys.stderr)
        status = FAILED
    except KeyboardInterrupt:
        status = INTERRUPTED
    line.close()
    if rows:
        print_report(rows)
    return status


if __name__ == "__main__":
    sys.exit(main())
