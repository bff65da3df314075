"""Measure one case, in a process of its own, from a checkpoint; writes JSON to standard output.

    child.py CHECKPOINT THREADS WARMUP STEPS REPEATS

The peak of the memory is that of the whole process, Python and its libraries included, while it loads the
checkpoint, warms up and runs once: it is read before contacts and energies become NumPy arrays. The timers of
the time loop and its parts on their own are of no use to a script, and so no attributes of Simulation.
"""

import json
import resource
import sys
import time
from pathlib import Path
from statistics import fmean

import numpy as np

import minidem as md
from minidem.core.build_record import build_record
from minidem.engine.driver import Driver

WARM_LISTS = 3          # outer lists: by then the clumps stand in order and the skins follow the motion
WORTHWHILE = 1_000_000  # spheres that are posed for one timing


def peak_memory():
    """The most memory that this process has had at any time [bytes].

    On Linux not from getrusage: its peak includes that of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line, = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def seconds(action, *arguments):
    """(elapsed, spent by the processor on all threads)"""
    begin, busy = time.perf_counter(), time.process_time()
    action(*arguments)
    return time.perf_counter() - begin, time.process_time() - busy


def warm_up(sim, steps):
    """So many steps, and more until the lists are as they will be."""
    sim.run(steps)
    while sim.statistics["outer_lists"] < WARM_LISTS:
        sim.run(steps)


def lists(before, samples, steps):
    """What the lists look like, the mean of some samples, and how often in a step they are made anew."""
    made = {kind: samples[-1][f"{kind}_lists"] - before[f"{kind}_lists"] for kind in ("outer", "inner")}
    described = ("outer_skin", "inner_skin", "outer_pairs", "inner_pairs", "active_slots")
    return {**{name: fmean(sample[name] for sample in samples) for name in described},
            **{f"{kind}_renewals_per_step": number / steps for kind, number in made.items()}}


def phases(sim, steps):
    """Seconds by phase of so many steps, with timers in the time loop."""
    sim._loop.time_phases(True)
    sim.run(steps)
    spent = sim._loop.phase_seconds
    sim._loop.time_phases(False)
    return spent


def free_bodies(sim):
    """A time loop over the same clumps that does nothing but rotate them, without torques."""
    state = sim._state.copy()
    state.set_column("torque", np.zeros(3))
    return Driver(state, sim._scheme, sim._parameters, sim.dt, threads=sim.threads)


def pose(sim, times):
    for _ in range(times):
        sim._loop.pose()


def measure(sim, warmup, steps, repeats):
    """Figures of a simulation, a dictionary; times are lists of seconds per step, one for each repeat.

    "step" is elapsed, "processor", "rotation" and "pose" are the processor's. What shall be compared takes
    turns, so that others' load on the machine meets all of it.
    """
    first_step = sim.step_count
    warm_up(sim, warmup)
    warmup, before = sim.step_count - first_step, sim.statistics
    times, busy, timed, rotation, posed, contacts, samples = [], [], [], [], [], [], []
    peak = free = None
    poses = max(1, WORTHWHILE // sim.n_spheres)
    for _ in range(repeats):
        elapsed, spent = seconds(sim.run, steps)
        times.append(elapsed / steps)
        busy.append(spent / steps)
        if free is None:
            peak, free = peak_memory(), free_bodies(sim)
        contacts.append(len(sim.contacts()))
        samples.append(sim.statistics)
        timed.append(phases(sim, steps))
        rotation.append(seconds(free.run, steps)[1] / steps)
        posed.append(seconds(pose, sim, poses)[1] / poses)
        samples.append(sim.statistics)
    return {"threads": sim.threads, "warmup": warmup, "step": times, "processor": busy, "phases": timed,
            "rotation": rotation, "pose": posed, "lists": lists(before, samples, 2 * repeats * steps),
            "contacts": fmean(contacts),
            "peak_bytes": peak, "energy_final": sim.energy().total, "build": build_record()}


def main():
    checkpoint, *numbers = sys.argv[1:]
    threads, warmup, steps, repeats = map(int, numbers)
    empty = peak_memory()
    found = measure(md.Simulation.load(checkpoint, threads), warmup, steps, repeats)
    print(json.dumps({**found, "empty_bytes": empty}))


if __name__ == "__main__":
    main()
