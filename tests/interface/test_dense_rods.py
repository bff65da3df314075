"""The dense gas of rods: initial state and observables."""
import json

import dense_rods as gas
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("without_pictures")


def build(*argv):
    return gas.build(gas.SCENARIO.parse([*argv, "--threads", "1"]))


def test_placement_without_thermalisation():
    n = 2000
    sim = build("--rods", str(n), "--thermalise", "0")
    assert sim.n_clumps == n and sim.step_count == 0 and len(sim.contacts()) == 0
    edge = max(wall.point[0] for wall in sim.walls)
    assert n * sim.templates[0].volume / edge ** 3 == pytest.approx(0.3, rel=1e-14)
    np.testing.assert_allclose(np.linalg.norm(sim.velocity, axis=1), 4.0, rtol=1e-14)
    # The energy about each principal axis is e = m v^2 / 6 times a squared normal deviate, of variance 2.
    spins = 0.5 * sim.templates[0].inertia * sim.body_angular_velocity ** 2
    e = sim.mass[0] * 4.0 ** 2 / 6.0
    assert np.max(np.abs(spins.mean(axis=0) / e - 1.0)) < 5.0 * np.sqrt(2.0 / n)


def test_thermalised_state_does_not_depend_on_the_integrator():
    sims = [build("--rods", "300", "--thermalise", "0.004", "--integrator", scheme)
            for scheme in ("spiral", "omelyan")]
    still = build("--rods", "300", "--thermalise", "0")
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        np.testing.assert_array_equal(getattr(sims[0], name), getattr(sims[1], name))
        assert np.any(getattr(sims[0], name) != getattr(still, name))
    assert [sim.rotation for sim in sims] == ["spiral", "omelyan"] and sims[0].step_count == 0
    # The same energy, but for the little that is elastic when the speeds change: a share of a few per cent at
    # full speed, less at half of it, of which a quarter counts.
    assert sims[0].energy().total == pytest.approx(still.energy().total, rel=0.04)


def test_summary(tmp_path):
    assert gas.main(["--rods", "200", "--thermalise", "0.004", "--time", "0.01", "--frames", "0", "--quiet",
                     "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    observed = np.loadtxt(tmp_path / "observables.csv", delimiter=",", skiprows=1)
    assert summary["contacts_per_clump"] == np.mean(observed[:, 1]) / 200 > 0.0
    assert 0.0 < summary["observables"]["nematic_order"]["final"] < 1.0
