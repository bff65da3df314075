"""One row of the file: a case, measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarking.provenance import provenance

CHILD = Path(__file__).with_name("child.py")


def measure(checkpoint, threads, warmup, steps, repeats):
    """What child.py says; RuntimeError with the end of its complaints if it fails."""
    command = [sys.executable, CHILD, checkpoint, *map(str, (threads, warmup, steps, repeats))]
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        raise failure(done.returncode, done.stderr)
    return json.loads(done.stdout)


def failure(status, complaints):
    """The RuntimeError that quotes the end of a process's complaints."""
    end = "\n".join(complaints.splitlines()[-10:])
    return RuntimeError(f"the measurement ended with status {status}:\n{end}")


def identity(name, case, sim, seed):
    """The part of a row that tells which clumps were run."""
    return {"case": name, "family": case.family, "description": case.description, "seed": seed,
            "integrator": sim.rotation, "dt": sim.dt, "clumps": sim.n_clumps, "spheres": sim.n_spheres}


def row(name, case, sim, checkpoint, threads, warmup, steps, repeats, seed):
    """A dictionary that JSON can hold: the figures of a case on so many threads, and of what they are.

    sim : the simulation that was saved in `checkpoint`.
    """
    origin = provenance()
    found = measure(checkpoint, threads, warmup, steps, repeats)
    per_thread = [spent / found["threads"] for spent in found["processor"]]
    return {
        **identity(name, case, sim, seed),
        "threads_asked": threads, "threads": found["threads"],
        "warmup": found["warmup"], "steps": steps, "repeats": repeats,
        "us_per_step": spread(found["step"], 1e6), "processor_us_per_step": spread(found["processor"], 1e6),
        "ns_per_sphere_step": spread(found["step"], 1e9 / sim.n_spheres),
        "phases_us": {phase: 1e6 * median(per_thread) * share for phase, share in shares(found).items()},
        "rotation_us": 1e6 * median(found["rotation"]), "pose_us": 1e6 * median(found["pose"]),
        "contacts": found["contacts"], "contacts_per_clump": found["contacts"] / sim.n_clumps,
        "lists": found["lists"],
        "peak_bytes": found["peak_bytes"], "empty_bytes": found["empty_bytes"],
        "bytes_per_sphere": found["peak_bytes"] / sim.n_spheres,
        "energy_drift": found["energy_final"] / sim.energy().total - 1,
        "build": found["build"], **origin}


def spread(times, unit):
    return {"median": unit * median(times), "min": unit * min(times), "max": unit * max(times)}


def shares(found):
    """The share of each phase in a step, the median over the repeats, without the reading of the clock.

    On one thread nobody waits: what is booked to "waiting", twice in a step, is the reading alone. Each of
    the others is read once a step, "lists" once a renewal.
    """
    often = {"blocks": 1.0, "contacts": 1.0, "lists": found["lists"]["inner_renewals_per_step"]}
    repeats = []
    for phases in found["phases"]:
        if found["threads"] == 1:
            reading = 0.5 * phases["waiting"]
            phases = {name: max(0.0, spent - often.get(name, 0.0) * reading)
                      for name, spent in phases.items()}
            phases["waiting"] = 0.0
        total = sum(phases.values())
        repeats.append({name: spent / total for name, spent in phases.items()})
    middle = {name: median(one[name] for one in repeats) for name in repeats[0]}
    total = sum(middle.values())
    return {name: share / total for name, share in middle.items()}
