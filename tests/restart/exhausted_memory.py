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
import minidem.engine.loop_memory

DT = 38e-6
NUMBERS = [*range(1, 40), *range(40, 400, 23)]      # of the allocations to refuse
PRELOADED = ctypes.CDLL(None)
PRELOADED.fail_allocation.argtypes = [ctypes.c_long]
PRELOADED.allocations_refused.restype = ctypes.c_long
minidem.engine.loop_memory.REBUILDS_PER_SORT = 1
MANY = scenes.packed_mixture(4, (6, 6, 8), speed=20.0, spin=20.0)
FEW = scenes.rods_in_box(seed=4, n=8, speed=20.0, spin=20.0)


def drag(t, x, v, q, w):
    return -0.1 * v, -1e-3 * w


def driven():
    sim = FEW.part(range(6)).simulation(DT, threads=1)
    sim.add_force(drag)
    return sim


def frictional():
    material = md.Material(MANY.young, MANY.poisson, restitution=0.8, friction=0.4)
    sim = md.Simulation(material, MANY.walls, contact="hertz-mindlin", dt=DT, threads=1)
    for shape in dict.fromkeys(MANY.shapes):
        numbers = [k for k, other in enumerate(MANY.shapes) if other is shape]
        sim.add_clumps(shape.template, *(values[numbers] for values in MANY.state))
    return sim


def many_runs(sim, path):
    while sim.step_count < 40:
        sim.run(1)


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
    "friction": (frictional, lambda sim, path: sim.run_until(40 * DT)),
    "many runs": (frictional, many_runs),
    "force": (driven, lambda sim, path: sim.run_until(40 * DT)),
    "add clumps": (driven, add),
    "save and load": (driven, continued),
    "look": (driven, lambda sim, path: (sim.energy(), sim.contacts())),
}


def finished(sim, act, path):
    """The bits after it."""
    act(sim, path)
    sim.run(20)
    return [sim.step_count, *(values.tobytes() for values in (*scenes.state_of(sim), sim.force, sim.contacts()))]


def main(name, folder):
    make, act = OPERATIONS[name]
    path, start = Path(folder) / "state.npz", make()
    expected = finished(copy.deepcopy(start), act, path)
    results = {"tried": 0, "raised": 0, "other": 0, "went back": 0}
    for number in NUMBERS:
        sim = copy.deepcopy(start)
        PRELOADED.fail_allocation(number)
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
