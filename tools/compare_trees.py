#!/usr/bin/env python3
"""Compare the speed and the bits of two source trees of minidem: this one and another, both built in place.

    python tools/compare_trees.py ../minidem-before --cases C,D --threads 1,2

Both trees run the same case from one checkpoint in portions, in turns, so that a busy machine disturbs both alike.
For each case and number of threads the table lists

    us/step         median time of a step in this tree: processor time on one thread, elapsed time on more
    other/this      median over the turns of the ratio other tree / this tree, with its quartiles
    bits            whether positions, orientations, velocities and forces are equal at the end

With --contact the other tree uses another contact law; with this tree as the other one, the cost of the law:

    python tools/compare_trees.py . --contact hertz:onset=corrected --cases A,B,C

Trees of before 0.25 take the masses that they had, without `mass=shared`, with

    python tools/compare_trees.py ../minidem-0.22.0 --contact hertz-mindlin:mass=single --cases G,H,J

With --rotation the other tree uses another rotation scheme, here the default one, whose contacts begin anew:

    python tools/compare_trees.py . --rotation exact --cases A,C,G,H

With --zero-force the other tree calls a compiled force on each clump, a numba function that leaves the force at zero:

    python tools/compare_trees.py . --zero-force --cases E,I
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles

from benchmark_beds import without_history
from benchmark_cases import EPILOG, known_cases, numbers, print_table
from old_start import save_for

import minidem as md
from minidem.output import checkpoint
from minidem.scenario import at_least

ROOT = Path(__file__).resolve().parents[1]
STEPS = {"A": 60_000, "B": 20_000, "C": 200, "D": 16, "E": 1000, "F": 5, "G": 60, "H": 20,
         "I": 2000, "J": 40, "K": 2}                                                              # 0.02 to 0.3 s each
WORKER = """
import hashlib, sys, time
import minidem
path, threads, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sim = minidem.Simulation.load(path, threads=threads)
if sys.argv[4] == "zero-force":
    import numba
    signature = "void(" + ", ".join(["CPointer(float64)"] * 4) + ")"
    sim.forces.add(numba.cfunc(signature)(lambda time, clumps, wrenches, parameters: None))
clock = time.process_time if threads == 1 else time.perf_counter
sim.run(2 * steps)
print(minidem.__file__, flush=True)
for line in sys.stdin:
    begin = clock()
    sim.run(steps)
    print((clock() - begin) / steps, flush=True)
state = sim.position, sim.orientation, sim.velocity, sim.angular_velocity, sim.force, sim.torque
print(hashlib.sha256(b"".join(array.tobytes() for array in state)).hexdigest())
"""


class Worker:
    """A process that runs portions of steps with the package of a tree."""

    def __init__(self, tree, *arguments):
        self.process = subprocess.Popen([sys.executable, "-c", WORKER, *map(str, arguments)], cwd=tree, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, "PYTHONPATH": str(tree)})
        if Path(self.process.stdout.readline().strip()).parent != tree / "minidem":
            self.process.kill()
            raise RuntimeError(f"{tree} does not run: build it in place, python setup.py build_ext --inplace")

    def portion(self):
        """Time of a step [s]."""
        print(file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def digest(self):
        """Hash of the final state; ends the process."""
        return self.process.communicate()[0].strip()


def with_contact(sim, law, properties=None):
    """A copy of an initial state with another contact law and other properties of its material, without the forces and
    records of the old law."""
    settings, arrays = checkpoint.pack(sim)
    first, *others = settings["materials"]
    settings |= {"contact": law, "forces_known": False, "materials": [first | (properties or {}), *others]}
    arrays = {name: array for name, array in arrays.items() if not name.startswith("history_")}
    return checkpoint.unpack(settings, arrays, md.Simulation)


def compare(other, starts, threads, steps, turns, force="no-force"):
    """Row of the table, without case and threads. starts : checkpoints of the other tree and of this one."""
    workers = [Worker(tree, start, threads, steps, forces)              # the other may not run
               for tree, start, forces in zip((other, ROOT), starts, (force, "no-force"))][::-1]
    times = []
    for turn in range(turns):
        order = (0, 1) if turn % 2 else (1, 0)
        spent = {k: workers[k].portion() for k in order}
        times.append((spent[0], spent[1]))
    ratios = [b / a for a, b in times]
    low, _, high = quantiles(ratios, n=4)
    equal = len({worker.digest() for worker in workers}) == 1
    return (f"{1e6 * median(a for a, _ in times):.4g}", f"{median(ratios):.3f} ({low:.3f}..{high:.3f})",
            "equal" if equal else "different")


def main(argv=None):
    parser = argparse.ArgumentParser(prog="compare_trees.py", description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="folder of the other tree")
    parser.add_argument("--cases", type=known_cases, default="A,C", metavar="NAMES",
                        help="separated by commas (default: %(default)s)")
    parser.add_argument("--threads", type=numbers, default="1", metavar="N,...",
                        help="numbers of threads (default: %(default)s)")
    parser.add_argument("--contact", metavar="NAME", help="contact law in the other tree (default: as in the case)")
    parser.add_argument("--rotation", metavar="NAME", help="scheme in the other tree (default: as in the case)")
    parser.add_argument("--zero-force", action="store_const", const="zero-force", default="no-force", dest="force",
                        help="the other tree calls a compiled force of zeros (needs numba)")
    parser.add_argument("--turns", type=at_least(2), default=21, metavar="K", help="portions (default: %(default)s)")
    arguments = parser.parse_args(argv)
    other = arguments.other.resolve()
    rows = [("case", "threads", "us/step", "other/this", "bits")]
    with tempfile.TemporaryDirectory() as folder:
        for name, case in arguments.cases:
            starts = Path(folder, f"{name}_other"), Path(folder, name)
            try:
                sim = case.simulation(1, None)
                sim.save(starts[1])
                if arguments.rotation:
                    sim = without_history(sim, arguments.rotation, sim.contact)
                save_for(other, with_contact(sim, arguments.contact) if arguments.contact else sim, starts[0])
                rows += [(name, str(number), *compare(other, starts, number, STEPS[name],
                                                      arguments.turns, arguments.force))
                         for number in arguments.threads]
            except (RuntimeError, ValueError) as error:
                print(error, file=sys.stderr)
                return 1
    print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
