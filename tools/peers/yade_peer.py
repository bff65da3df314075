"""Yade as a peer: write the state for yade_clumps.py, which runs inside Yade."""

import json
from pathlib import Path

import numpy as np

from peers.peer import Measurement, Peer, run_on_one_thread
from peers.state import clump_state

# Enlargement of the bounds of a sphere; negative: in radii of the smallest sphere (Yade's default: -0.5).
VERLET_DISTANCES = (-0.125, -0.25, -0.5, -1.0)


def measure(program, sim, settings, warmup, steps, folder):
    folder = Path(folder)
    np.savez(folder / "state.npz", **clump_state(sim))
    job = {"settings": settings, "warmup": warmup, "steps": steps}
    (folder / "job.json").write_text(json.dumps(job))
    script = str(Path(__file__).with_name("yade_clumps.py"))
    command = [program, "-j1", "-n", "-x", script, "state.npz", "job.json", "result.json"]
    run_on_one_thread(command, folder)
    return Measurement(**json.loads((folder / "result.json").read_text()))


YADE = Peer(name="yade", program="yade", package="yade", measure=measure,
            settings=tuple({"verletDist": distance} for distance in VERLET_DISTANCES))
