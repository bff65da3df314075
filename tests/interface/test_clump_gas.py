"""Cooling gas: initial state, fit of Haff's law, walls that do not dissipate."""
import json

import clump_gas as gas
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("without_pictures")


def build(*argv):
    return gas.build(gas.SCENARIO.parse([*argv, "--threads", "1"]))


def test_start():
    sim = build("--count", "200")
    energy = sim.energy()
    assert len(sim.contacts()) == 0 and np.max(np.abs(sim.linear_momentum())) < 1e-12
    assert energy.translational == pytest.approx(1.5 * 200 * sim.templates[0].mass, rel=0.2)
    assert energy.rotational == pytest.approx(energy.translational, rel=0.2)
    assert build("--count", "20", "--friction", "0").energy().rotational == 0.0


def test_fit_finds_the_parameters():
    time = np.linspace(0.0, 4.0, 500)
    (initial, tau, exponent), two = gas.fit(time, 7.0 / (1.0 + time / 0.3) ** 2)
    np.testing.assert_allclose([initial, tau, exponent, *two], [7.0, 0.3, 2.0, 7.0, 0.3], rtol=1e-6)
    (_, _, exponent), _ = gas.fit(time, 7.0 / (1.0 + time / 0.3) ** 1.5)
    assert exponent == pytest.approx(1.5, rel=1e-6)


def test_haff(tmp_path):
    """The exponent of few clumps scatters; the energy of smooth spheres that have cooled follows kinetic theory."""
    assert gas.main(["--shape", "sphere", "--friction", "0", "--count", "300", "--restitution", "0.9", "--time", "2",
                     "--dt", "2e-5", "--frames", "0", "--threads", "1", "--quiet", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    result = summary["result"]
    assert result["exponent"] == pytest.approx(2.0, abs=0.3)
    assert result["tau"] == pytest.approx(result["tau_kinetic_theory"], rel=0.25)
    assert result["rotational_share"] < 1e-20 and summary["energy_balance_error"] < 5e-3
    assert 5.0 < result["cooling"] < 100.0


def test_walls_are_elastic_and_without_friction():
    """A single sphere keeps its speed along each axis, but for integration errors, and its spin."""
    sim = build("--count", "10")
    sim = gas.md.Simulation(sim.material, walls=sim.walls, contact="hertz-mindlin", dt=5e-6, pairs=sim.pairs)
    sim.add_clumps(gas.settling.SHAPES["sphere"], [0.5 * np.max([wall.point for wall in sim.walls], axis=0)],
                   velocity=(0.3, 0.4, -1.0), angular_velocity=(1.0, 2.0, 3.0))
    sim.run_until(1.0)
    np.testing.assert_allclose(np.abs(sim.velocity), [[0.3, 0.4, 1.0]], rtol=2e-3)
    np.testing.assert_allclose(sim.angular_velocity, [[1.0, 2.0, 3.0]], rtol=1e-12)
