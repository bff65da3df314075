"""Components of -0.0 that a user gives have the same bits in any order of the clumps and after a restart."""
import copy

import numpy as np
import pytest
from settling_scene import BALL, CLUMP, ELASTIC

import minidem as md

STATE = "position", "orientation", "velocity", "angular_velocity", "force", "torque"


@pytest.mark.parametrize("gravity", [(-0.0, 0.0, -0.0), (-0.0, -0.0, -9.81)])
@pytest.mark.parametrize("template, height", [(BALL, 0.0399), (CLUMP, 0.031)])
def test_orders_and_restarts(template, height, gravity, tmp_path):
    """Clumps in one block with one in contact are summed up, and others are not; the sort changes which."""
    sim = md.Simulation(ELASTIC, [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-5, gravity=gravity, threads=1)
    place = np.argwhere(np.ones((5, 5, 1))).astype(float)
    place[:, 2] = np.where(place[:, 1] < 2, height, 0.5)
    sim.add_clumps(template, place, velocity=np.where(place[:, [1, 2, 0]] < 2, -0.0, 0.0),
                   angular_velocity=(-0.0, 0.0, -0.0))
    assert len(sim.contacts()) >= 10
    for steps in 0, 3:
        sim.run(steps)
        sim.save(tmp_path / "state.npz")
        others = [md.Simulation.load(tmp_path / "state.npz"), copy.deepcopy(sim)]
        sim.engine.loop.sort_clumps()
        for _ in range(2):
            assert all(getattr(other, name).tobytes() == getattr(sim, name).tobytes()
                       for other in others for name in STATE)
            for each in (sim, *others):
                each.run(1)
