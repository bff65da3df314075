"""Clumps that settle: initial state, rest, rest after a continuation, energy balance."""
import json
from types import SimpleNamespace

import numpy as np
import pytest
import settling

import minidem as md

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")
SMALL = ["--count", "20", "--dt", "4e-5", "--frames", "0", "--threads", "1", "--quiet"]


def run(folder, *argv):
    assert settling.main([*SMALL, *argv, "--out", str(folder)]) == 0
    return json.loads((folder / "summary.json").read_text())


@pytest.mark.parametrize("shape", settling.SHAPES)
def test_start(shape):
    sim = settling.build(settling.SCENARIO.parse(["--count", "50", "--shape", shape, "--threads", "1"]))
    assert sim.n_clumps == 50 and len(sim.contacts()) == 0 and np.all(sim.velocity == 0.0)
    assert settling.kinetic_energy(sim) == 0.0
    box = np.max([wall.point for wall in sim.walls], axis=0)
    assert 50 * sim.templates[0].volume / np.prod(box) <= 1.001 * settling.RAIN


def test_rest_and_its_continuation(tmp_path):
    summary = run(tmp_path, "--time", "2")
    result, rows = summary["result"], np.loadtxt(tmp_path / "observables.csv", delimiter=",", skiprows=1)
    assert result["at_rest"] and summary["conclusion"].startswith("At rest from")
    late = rows[rows[:, 0] >= result["rest_time"]]
    assert np.all(late[:, 2] < settling.REST) and rows[rows[:, 0] < result["rest_time"]][-1, 2] >= settling.REST
    assert 0.2 < result["packing_fraction"] < 0.6 and 4.0 < result["coordination_number"] < 9.0
    assert summary["energy_balance_error"] < 1e-3
    longer = run(tmp_path, "--time", "2.2", "--resume")
    rows = np.loadtxt(tmp_path / "observables.csv", delimiter=",", skiprows=1)
    assert rows[-1, 0] == pytest.approx(2.2) and np.all(rows[rows[:, 0] > 2.0, 2] < settling.REST)
    assert longer["result"]["rest_time"] == result["rest_time"]


def heap(shape, position, spin, **flags):
    """Clumps above the bottom z = 0."""
    bottom = md.Plane((0, 0, 0), (0, 0, 1))
    sim = md.Simulation(md.Material(settling.YOUNG, settling.POISSON, friction=0.5), walls=[bottom],
                        contact="hertz-mindlin", dt=1.5e-5, threads=1)
    sim.add_clumps(settling.SHAPES[shape], position, angular_velocity=spin, **flags)
    return sim


def test_energy_of_torsion():
    """Spheres and rods that touch the bottom once: the spin about the vertical. In the air or lying on it: none."""
    touching, apart = 0.999 * settling.RADIUS, 2.0 * settling.RADIUS
    spin = np.array([(0.2, 0.0, 0.5), (0.0, 0.0, 0.5), (0.0, 0.3, 0.0)])
    sim = heap("sphere", [(0, 0, touching), (1, 0, apart), (2, 0, touching)], spin)
    clump = sim.templates[0]
    unit = 3 * clump.mass * settling.G * settling.RADIUS
    assert settling.torsion_energy(sim) == pytest.approx(0.5 * clump.inertia[2] * 0.5**2 / unit, rel=1e-12)
    assert settling.kinetic_energy(sim) == pytest.approx(0.5 * clump.inertia[2] * np.sum(spin**2) / unit, rel=1e-12)
    across = np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0                       # the axis of a rod is z before, x after it
    lying, upright = (heap("rod", [(0, 0, height)], [(0, 0, 0.5)], orientation=[pose])
                      for height, pose in ((touching, across), (touching + 2 * settling.RADIUS, (1, 0, 0, 0))))
    assert len(lying.contacts()) == 3 and len(upright.contacts()) == 1
    assert settling.torsion_energy(lying) == 0.0
    assert settling.torsion_energy(upright) == pytest.approx(settling.kinetic_energy(upright), rel=1e-12)


def test_torsion_is_rest_and_nothing_else_is(tmp_path, monkeypatch):
    """Rows of a heap in which one clump turns for ever: by torsion, or by something else."""
    monkeypatch.setattr(settling, "save", lambda *_: False)
    times, still = np.arange(100) / 10.0, 1e-15
    sim = heap("sphere", [(0, 0, 0.02)], [(0, 0, 0)])

    def conclude(torsion):
        table = {"time": times, "kinetic_energy": np.where(times < 3.0, 1e-3, 1e-10 + still),
                 "torsion_energy": np.full(100, torsion), "coordination_number": times, "packing_fraction": times}
        observed = type("Rows", (dict,), {"rows": times})(table)
        return settling.conclude(sim, SimpleNamespace(observed=observed), tmp_path)

    result, text = conclude(1e-10)
    assert result["at_rest"] and result["rest_time"] == 3.0 and "1.0e-10 m g r of spin" in text
    assert text.startswith("At rest from 3 s on: kinetic energy per clump at the end 1.0e-15 m g r (limit 1e-12)")
    assert not conclude(0.0)[0]["at_rest"]


def test_not_at_rest(tmp_path):
    summary = run(tmp_path, "--time", "0.3")
    assert not summary["result"]["at_rest"] and summary["result"]["rest_time"] is None
    assert "NOT at rest" in summary["conclusion"]


@pytest.mark.slow
def test_balance_error_falls_with_the_step(tmp_path):
    errors = [run(tmp_path, "--time", "0.3", "--dt", dt)["energy_balance_error"] for dt in ("4e-5", "1e-5")]
    assert errors[1] < errors[0] / 4.0
