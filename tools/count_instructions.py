#!/usr/bin/env python3
"""Count the instructions of a step with valgrind and compare them with the recorded numbers.

    python tools/count_instructions.py              # exit status 1 if a case differs by more than 3 %
    python tools/count_instructions.py --record     # accept the present numbers

The cases are taken from tools/benchmark.py, on one thread, with fewer clumps in C and G. What counts is the time loop
with the lists that it rebuilds, at level x86-64-v3. Repeated counts agree within 0.01 %, however busy the machine is.
They do not show waiting for memory: measure times as well, with tools/compare_trees.py.

A package that is not built with MINIDEM_ARCH=levels is first built once more, in build/x86-64-v3 (a minute). If the
version of the compiler is not the recorded one, deviations are reported, but the exit status is 0.
"""
import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmark_beds import CONTACT, DENSITY, MATERIAL, RADIUS, STEP, YOUNG
from benchmark_cases import CASES, print_table, rods

import minidem as md
from minidem import isa
from minidem.core.atomic import replace_text
from minidem.initial import settled_bed
from minidem.scenarios import dense_rods

ROOT = Path(__file__).resolve().parents[1]
RECORDED = Path(__file__).with_suffix(".json")
STEPS = {"A": 50_000, "C": 500, "G": 500}
LIMIT = 0.03
LOOP = "*_run_loop"                     # symbol of the time loop
SWITCH = """
#include <valgrind/callgrind.h>
void begin(void) {CALLGRIND_START_INSTRUMENTATION;}
void end(void) {CALLGRIND_DUMP_STATS; CALLGRIND_STOP_INSTRUMENTATION;}
"""
COUNT = """
import ctypes, json, sys, time
time.perf_counter = lambda: 0.0         # the clock decides into how many pieces a run is cut
import minidem as md
switch = ctypes.CDLL("./switch.so")
for name, steps in json.loads(sys.argv[1]).items():
    sim = md.Simulation.load(name, threads=1)
    switch.begin()
    sim.run(steps)
    switch.end()
print(md.build_info()["compiler"])
"""


class Unavailable(Exception):
    """Instructions cannot be counted here."""


def save_states(folder):
    """Save the state in which each case begins. The bits of these do not depend on the processor."""
    ball = md.ClumpTemplate([(0.0, 0.0, 0.0)], [RADIUS], DENSITY)
    bed = settled_bed(ball, 2000, (0.0, 0.0, 0.0), (0.024, 0.024), md.Material(YOUNG, **MATERIAL), STEP,
                      contact=CONTACT, fraction=0.45)
    for name, sim in zip(STEPS, (CASES["A"].simulation(1, None), rods(dense_rods, 2000)(1, None), bed)):
        sim.save(folder / name)


def environment():
    """Environment variables with which Python imports this package at level x86-64-v3."""
    if "v3" in isa.levels():
        return {"MINIDEM_ISA": "v3"}
    tree = ROOT / "build" / "x86-64-v3"
    subprocess.run([sys.executable, "setup.py", "-q", "build", "--build-lib", tree], cwd=ROOT, check=True,
                   capture_output=True, env=os.environ | {"MINIDEM_ARCH": tree.name})
    return {"PYTHONPATH": str(tree), "MINIDEM_ISA": ""}


def count():
    """Compiler, and {case: instructions of a step}."""
    if platform.machine() not in ("x86_64", "AMD64"):
        raise Unavailable("the recorded numbers are of x86-64")
    if not shutil.which("valgrind"):
        raise Unavailable("valgrind is missing. On Debian or Ubuntu:  apt-get install valgrind")
    level = environment()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", folder / "switch.so"], input=SWITCH,
                          text=True, capture_output=True).returncode:
            raise Unavailable("valgrind/callgrind.h is missing: install the headers of valgrind")
        save_states(folder)
        done = subprocess.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--toggle-collect={LOOP}",
                               "--callgrind-out-file=counts", sys.executable, "-P", "-c", COUNT, json.dumps(STEPS)],
                              cwd=folder, capture_output=True, text=True,
                              env=os.environ | level | {"OPENBLAS_NUM_THREADS": "1"})
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        counts = [int(re.search(r"^totals: (\d+)", (folder / f"counts.{k}").read_text(), re.M)[1])
                  for k in range(1, len(STEPS) + 1)]
    if not all(counts):
        raise RuntimeError(f"valgrind has met no function {LOOP}: give LOOP in {__file__} its present name")
    return (re.match(r"\D*[\d.]+", done.stdout)[0],
            {name: round(total / steps) for total, (name, steps) in zip(counts, STEPS.items())})


def main(argv=None):
    parser = argparse.ArgumentParser(prog="count_instructions.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help=f"write the counted numbers to tools/{RECORDED.name}")
    record = parser.parse_args(argv).record
    try:
        compiler, counted = count()
    except Unavailable as error:
        print(f"count_instructions.py: SKIPPED, nothing is compared: {error}", file=sys.stderr)
        return int(record)
    known = json.loads(RECORDED.read_text())
    rows = [(name, str(number), str(recorded), f"{number / recorded:.4f}")
            for (name, number), recorded in zip(counted.items(), known["instructions"].values())]
    print_table([("case", "counted", "recorded", "ratio"), *rows])
    wrong = "; ".join(f"case {name}: {number} instead of {recorded} instructions per step, ratio {ratio}"
                      for name, number, recorded, ratio in rows if abs(float(ratio) - 1.0) > LIMIT)
    if record:
        replace_text(RECORDED, json.dumps({"compiler": compiler, "instructions": counted}, indent=4) + "\n")
    elif wrong and compiler != known["compiler"]:
        print(f"count_instructions.py: no verdict, as {compiler} is not the recorded {known['compiler']}. {wrong}")
    elif wrong:
        print(f"count_instructions.py: {wrong}; the limit is {LIMIT:.0%}. If this is meant, or is a gain:  python "
              "tools/count_instructions.py --record", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
