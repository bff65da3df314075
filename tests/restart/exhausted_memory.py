"""A process that refuses each allocation of an operation in turn, for test_interrupted_operations.py; prints counts.

    LD_PRELOAD=failing_memory.so python exhausted_memory.py OPERATION THREADS FOLDER [EVERY]
"""
import copy
import ctypes
import json
import sys
from itertools import count
from pathlib import Path

from operations import OPERATIONS, finished

import minidem.engine.driver
import minidem.loop.bare_loop

NUMBERS = [*range(1, 40), *range(40, 800, 11)]      # of the allocations to refuse
PRELOADED = ctypes.CDLL(None)
PRELOADED.fail_allocation.argtypes = [ctypes.c_long, ctypes.c_int]
PRELOADED.allocations_refused.restype = ctypes.c_long
minidem.engine.driver.REBUILDS_PER_SORT = minidem.loop.bare_loop.SPHERES_PER_THREAD = 1
minidem.engine.driver.MIN_SORTED_BLOCKS = 0


def main(name, threads, folder, every=1):
    """threads : 0: one, and the allocations of that thread, also of Python; else those of the package in all threads.

    every : of these, so many are passed over between two.
    """
    make, act = OPERATIONS[name]
    path, threads = Path(folder) / "state.npz", int(threads)
    start = make(max(1, threads))
    assert start.threads == max(1, threads) or start.n_clumps < 8
    expected = finished(copy.deepcopy(start), act, path)
    results = {"tried": 0, "raised": 0, "other": 0, "went back": 0}
    for number in count(1, int(every)) if threads else NUMBERS[::int(every)]:
        sim = copy.deepcopy(start)
        PRELOADED.fail_allocation(number, threads > 0)
        try:
            act(sim, path)
        except MemoryError as error:
            results["raised"] += 1
            results["went back"] += f"back at step {sim.step_count} " in str(error)
        except Exception:                   # NumPy, in places, forgets to say what was missing: a SystemError
            results["other"] += 1
        if not PRELOADED.allocations_refused():
            break
        sim.energy(), sim.save(path)                # can be read and saved
        assert finished(sim, act, path) == expected, f"other bits after allocation {number} was refused"
        results["tried"] += 1
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
