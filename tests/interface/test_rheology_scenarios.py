"""scenarios/compression.py, triaxial.py, shear_rheology.py, sheared_gas.py: small runs, and what they compute."""
import json

import compression
import numpy as np
import pytest
import shear_rheology
import sheared_gas
import triaxial

import minidem as md
from minidem.analysis.contacts import rattlers
from minidem.scenarios import periodic_grains

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")


def test_a_sample_jams(tmp_path, monkeypatch):
    monkeypatch.setattr(compression, "PRESSURES", (1e-4, 3e-5, 1e-5))
    row = compression.compress(1.0, 100, 1, str(tmp_path))
    [fraction], [contacts] = compression.jamming([row])
    assert 0.6 < fraction < 0.66 and 5.7 < contacts < 6.3
    fractions, numbers = (compression.column([row], name)[0] for name in ("fraction", "contacts"))
    assert np.all(np.diff(fractions) < 0.0) and np.all(np.diff(numbers) < 0.0) and row["rattlers_1e-05"] < 0.1
    assert (tmp_path / "packings" / "aspect_1_seed_1.vtu").exists()


def test_extrapolation_to_no_pressure():
    p = np.array(compression.PRESSURES)
    row = {f"{name}_{x:.0e}": value for name, values in (("fraction", 0.64 + 2.0 * p ** (2 / 3)),
                                                         ("contacts", 6.0 + 10.0 * p ** (1 / 3)))
           for x, value in zip(p, values)}
    assert [values[0] for values in compression.jamming([row])] == pytest.approx([0.64, 6.0], rel=1e-12)


def test_rattlers():
    """What is held by others that are not held is left out in the end; walls hold."""
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / np.sqrt(3.0)
    ball = md.ClumpTemplate([(0, 0, 0)], [0.5], density=1000.0)
    sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-5)
    sim.add_clumps(ball, [(0, 0, 0), *(0.999 * corners)])               # the outer ones have one contact each
    assert rattlers(sim, 1).sum() == 0 and rattlers(sim, 2).all()
    assert sim.coordination_number() == pytest.approx(8 / 5) and sim.coordination_number(rattling=False) == 0.0
    box = md.box((-0.499,) * 3, (0.499,) * 3)
    sim = md.Simulation(md.Material(1e7, 0.3), box, dt=1e-5)
    sim.add_clumps(ball, [(0, 0, 0)])
    assert not rattlers(sim).any() and sim.coordination_number(rattling=False) == 6.0
    assert rattlers(sim, 7).all()


def test_steps_for_low_restitutions():
    """The dashpot over the critical one times the step does not grow."""
    steps = [periodic_grains.step_of(2.0, e) for e in (0.9, 0.5, 0.3, 0.1)]
    losses = [-np.log(e) / np.hypot(np.pi, np.log(e)) for e in (0.5, 0.5, 0.3, 0.1)]
    assert steps[0] == steps[1] and np.multiply(steps, losses)[1:] == pytest.approx([steps[0] * losses[0]] * 3)
    with pytest.raises(ValueError, match="--aspect: 6 is not from 1 to 5"):
        periodic_grains.grain(6.0)


@pytest.mark.parametrize("state", ["dense", pytest.param("loose", marks=pytest.mark.slow)])
def test_a_triaxial_test(state, tmp_path, monkeypatch):
    monkeypatch.setattr(triaxial, "INERTIAL", 0.04)
    row = triaxial.compress(1.0, state, 120, 1, str(tmp_path))
    ratio, volume = (triaxial.curve([row], name)[0] for name in ("ratio", "volume"))
    assert 0.5 < ratio[15:].mean() < 1.1
    if state == "dense":
        assert ratio.max() > 1.3 * ratio[15:].mean() and volume[-1] > 0.05 and row["consolidated"] > 0.63
    else:
        assert volume.min() < 0.01 and row["consolidated"] < 0.6


def test_a_rheology_run_is_kept_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(shear_rheology, "QUICK", {0.3: 0.2})
    arguments = {"aspect": 2.0, "inertial": 0.3, "fraction": 0.0, "count": 100, "quick": True, "seed": 1,
                 "out": str(tmp_path)}
    row = shear_rheology.shear(**arguments)
    [folder] = tmp_path.iterdir()
    result = json.loads((folder / "summary.json").read_text())["result"]
    assert set(row) == set(shear_rheology.QUANTITIES) and all(row[name] == result[name] for name in row)
    assert shear_rheology.shear(**arguments) == row                 # from its last checkpoint
    (folder / "summary.json").unlink()
    for checkpoint in folder.glob("*.npz"):
        checkpoint.write_bytes(b"")
    with pytest.raises(RuntimeError, match="To restart the run remove"):
        shear_rheology.shear(**arguments)


def test_laws_are_fitted():
    x = np.array([0.003, 0.01, 0.03, 0.1, 0.3])
    points = [{"inertial_number": i, "mu": shear_rheology.friction_law(i, 0.38, 0.7, 0.2), "mu_error": 1e-3,
               "solid_fraction": shear_rheology.fraction_law(i, 0.59, 0.15, 0.9), "solid_fraction_error": 1e-3}
              for i in x]
    (friction, _), (fraction, _) = shear_rheology.fit(points)
    assert friction == pytest.approx([0.38, 0.7, 0.2], rel=1e-4)
    assert fraction == pytest.approx([0.59, 0.15, 0.9], rel=1e-4)
    assert shear_rheology.fit(points[:3]) is None


def test_kinetic_theories():
    """They agree as collisions become elastic; quadrature has converged."""
    for quantity, first in zip(sheared_gas.gaussian_theory(0.3, 0.999), sheared_gas.first_order(0.3, 0.999)):
        assert quantity == pytest.approx(first, rel=0.03)
    coarse, fine = (sheared_gas.gaussian_theory(0.3, 0.8, nodes) for nodes in (16, 40))
    assert coarse == pytest.approx(fine, rel=1e-6)


def test_a_sheared_gas(monkeypatch):
    """One short run of softer spheres: the theory within its sampling errors."""
    monkeypatch.setattr(sheared_gas, "YOUNG", 1e8)
    found, theory = sheared_gas.shear(0.9, 500, 8.0, 1), sheared_gas.gaussian_theory(0.3, 0.9)
    assert [found["temperature"], found["pressure"]] == pytest.approx(theory[:2], rel=0.05)
    assert found["stress"] == pytest.approx(theory[2], rel=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("study", [sheared_gas, compression, triaxial, shear_rheology], ids=lambda one: one.__name__)
def test_quick_studies(study, tmp_path):
    report = study.EXPERIMENT.run_into(tmp_path, quick=True)
    assert report.findings and all(found.verdict in ("reproduced", "too short to tell") for found in report.findings)
