"""Order, temperature and profiles of flows; the scenario of a sheared box."""
import json

import numpy as np
import pytest
from sheared_scenes import MOTIONS, ROD, gas

from minidem.analysis import flow
from minidem.analysis.averages import block_mean
from minidem.scenarios import shear_flow


def test_temperature_and_profile():
    sim = gas(MOTIONS["shear"], "hertz-mindlin", solid_fraction=0.1)
    sim.run(500)
    stress = sim.stress(kinetic=True) - sim.stress()
    kinetic = np.trace(stress) * sim.box.volume / (3.0 * sim.mass.sum())
    assert flow.granular_temperature(sim) == pytest.approx(kinetic, rel=1e-12)
    slabs = flow.profile(sim, 5)
    assert slabs["clumps"].sum() == sim.n_clumps
    assert slabs["solid_fraction"].mean() == pytest.approx(sim.n_clumps * ROD.volume / sim.box.volume, rel=1e-12)
    slope = np.polyfit(slabs["position"], slabs["velocity_x"], 1)[0]
    assert slope == pytest.approx(5.0, rel=0.5)


def test_order_of_rods():
    sim = gas(MOTIONS["shear"], solid_fraction=0.05)
    axes = flow.clump_axes(sim)
    centers = sim.sphere_centers().reshape(-1, 3, 3)
    along = centers[:, 2] - centers[:, 0]
    assert np.abs(np.sum(axes * along, axis=1)) == pytest.approx(np.linalg.norm(along, axis=1), rel=1e-9)
    assert flow.nematic_order(sim) < 0.3 and np.trace(flow.nematic_tensor(sim)) == pytest.approx(0.0, abs=1e-12)


def test_block_mean():
    mean = block_mean(np.arange(10.0), 2)
    assert mean.value == 4.5 and mean.error == pytest.approx(2.5)


def test_scenario_of_a_sheared_box(tmp_path):
    words = ["--count", "100", "--strain", "1", "--inertial", "0.3", "--frames", "2", "--quiet", "--out", str(tmp_path)]
    assert shear_flow.main(words) == 0
    result = json.loads((tmp_path / "summary.json").read_text())["result"]
    assert 0.1 < result["mu"] < 1.0 and 0.3 < result["solid_fraction"] < 0.65
