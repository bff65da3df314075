"""Alternating runs of a peer and of minidem: ratio of the times, and a check that both run the same system."""

import dataclasses
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import minidem as md
from peers.peer import Measurement


def measure_minidem(sim, warmup, steps):
    """Measure minidem like the peers: warm up, then time the steps."""
    energy_initial = sim.energy().total
    sim.run(warmup)
    position = sim.position
    begin = time.perf_counter()
    sim.run(steps)
    seconds = time.perf_counter() - begin
    return Measurement(md.__version__, 1e6 * seconds / steps, energy_initial, sim.energy().total, position)


def measure_peer(peer, settings, sim, warmup, steps):
    with tempfile.TemporaryDirectory() as folder:
        return peer.measure(peer.find(), sim, settings, warmup, steps, folder)


def fastest_settings(peer, sim, warmup, steps):
    """The settings with the smallest time per step in the better of two trials over a quarter of the steps.

    Other programs on the machine can disturb one trial.
    """
    if len(peer.settings) == 1:
        return peer.settings[0]
    times = [[measure_peer(peer, settings, sim, warmup, max(1, steps // 4)).us_per_step
              for settings in peer.settings] for _ in range(2)]
    return peer.settings[int(np.argmin(np.min(times, axis=0)))]


def check_same_start(peer, sim, theirs, ours):
    """RuntimeError if the initial energies of the peer and of minidem differ by more than round-off.

    Bound: each of n clumps adds one rounding to the sum. Its own term has fewer than a hundred operations; the
    rotation of the inertia tensor into another frame and back amplifies their errors at most by the ratio of
    the moments. A contact adds its force times the rounding of an overlap, which is a difference of coordinates
    as large as the box, after fewer than a hundred operations.
    """
    spread = max(max(template.inertia) / min(template.inertia) for template in sim.templates)
    forces = np.linalg.norm(sim.contacts()["force"], axis=1).sum()
    in_contacts = 100 * forces * np.abs(sim.sphere_centers).max() / abs(ours.energy_initial)
    bound = (sim.n_clumps + 100 * spread + in_contacts) * np.finfo(float).eps
    if not abs(theirs.energy_initial / ours.energy_initial - 1) <= bound:
        raise RuntimeError(f"{peer.name} starts with {theirs.energy_initial!r} J and minidem with "
                           f"{ours.energy_initial!r} J: they do not run the same clumps")


def compare(peer, start, warmup, steps, repeats):
    """Choose the settings of the peer, then alternate `repeats` runs of it and of minidem from `start`.

    Returns the report, a dictionary for JSON.
    """
    settings = fastest_settings(peer, start, warmup, steps)
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder, "start")
        start.save(checkpoint)
        for _ in range(repeats):
            theirs.append(measure_peer(peer, settings, start, warmup, steps))
            ours.append(measure_minidem(md.Simulation.load(checkpoint, start.threads), warmup, steps))
    check_same_start(peer, start, theirs[0], ours[0])
    ratios = [their.us_per_step / our.us_per_step for their, our in zip(theirs, ours)]
    apart = np.linalg.norm(np.subtract(theirs[0].position, ours[0].position), axis=1).max()
    return {"peer": peer.name, "settings": settings, "ratio": statistics.median(ratios), "ratios": ratios,
            "apart_in_radii": float(apart / start.sphere_radii.min()),
            "peer_runs": [figures(run) for run in theirs], "minidem_runs": [figures(run) for run in ours]}


def figures(run):
    """A measurement without the positions, a dictionary for JSON."""
    values = dataclasses.asdict(run)
    del values["position"]
    return {**values, "drift": run.drift}
