"""A process for test_exhausted_memory.py: refuses each allocation of an operation in turn, and prints counts as JSON.

    LD_PRELOAD=failing_memory.so python exhausted_memory.py OPERATION FOLDER
"""
import copy
import ctypes
import json
import sys
from pathlib import Path

import scenes

import minidem as md
import minidem.engine.loop_owner

DT = 38e-6
NUMBERS = [*range(1, 50), *range(50, 400, 17)]      # of the allocations to refuse
PRELOADED = ctypes.CDLL(None)
PRELOADED.fail_allocation.argtypes = [ctypes.c_long]
PRELOADED.allocations_refused.restype = ctypes.c_long
minidem.engine.loop_owner.REBUILDS_PER_SORT = 1
MANY = scenes.packed_mixture(4, (8, 8, 10), speed=20.0, spin=20.0)
FEW = scenes.rods_in_box(seed=4, n=8, speed=20.0, spin=20.0)


def drag(t, x, v, q, w):
    return -0.1 * v, -1e-3 * w


def driven():
    sim = FEW.part(range(6)).simulation(DT, threads=1)
    sim.add_force(drag)
    return sim


def add(sim, path):
    if sim.n_clumps == 6:
        sim.add_clumps(FEW.shapes[0].template, *(values[6:] for values in FEW.state))


def continued(sim, path):
    sim.save(path)
    other = md.Simulation.load(path, threads=1)
    other.add_force(drag)
    other.run(10)


OPERATIONS = {
    "run": (lambda: MANY.simulation(DT, threads=1), lambda sim, path: sim.run_until(40 * DT)),
    "force": (driven, lambda sim, path: sim.run_until(40 * DT)),
    "add clumps": (driven, add),
    "save and load": (driven, continued),
    "look": (driven, lambda sim, path: (sim.energy(), sim.contacts())),
}


def finished(sim, act, path):
    """The bits after it, or None where the simulation refuses to go on."""
    try:
        act(sim, path)
        sim.run(20)
        return [sim.step_count, *(values.tobytes() for values in (*scenes.state_of(sim), sim.force, sim.contacts()))]
    except RuntimeError as refusal:
        assert "cannot go on: in step" in str(refusal) and "memory" in str(refusal), refusal
        return None


def main(name, folder):
    make, act = OPERATIONS[name]
    path, start = Path(folder) / "state.npz", make()
    expected = finished(copy.deepcopy(start), act, path)
    results = {"tried": 0, "raised": 0, "other": 0, "went on": 0, "refused": 0}
    for number in NUMBERS:
        sim = copy.deepcopy(start)
        PRELOADED.fail_allocation(number)
        try:
            act(sim, path)
        except MemoryError:
            results["raised"] += 1
        except Exception:                   # NumPy, in places, forgets to say what was missing: a SystemError
            results["other"] += 1
        if not PRELOADED.allocations_refused():
            break
        bits = finished(sim, act, path)
        assert bits is None or bits == expected, f"other bits after allocation {number} was refused"
        results["tried"] += 1
        results["refused" if bits is None else "went on"] += 1
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
