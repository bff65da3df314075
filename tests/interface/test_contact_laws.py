"""Contact laws by name: records, parameters, refusals, checkpoints, scenarios; Hooke's law against its closed form."""
import json

import numpy as np
import pytest
import rods_in_box as RODS

import minidem as md

MATERIAL = md.Material(young=1e9, poisson=0.1)
SPHERE = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05], density=2500.0)


def simulation(contact="hertz", rotation="spiral", **options):
    return md.Simulation(MATERIAL, md.box((0, 0, 0), (1, 1, 1)), rotation, contact, **{"dt": 1e-5} | options)


def test_records():
    assert md.contact.available() == ["hertz", "hertz-mindlin", "hooke", "hooke-coulomb"]
    for name in md.contact.available():
        law, with_friction = md.contact.info(name), "-" in name
        assert law.name == name and law.title and law.doi.startswith("10.") and law.doc
        assert law.needs_velocity == law.has_history == with_friction and law.conservative != with_friction
        assert ("onset" in law.parameters) != with_friction
    assert md.contact.info("hertz:onset=corrected").power == 1.5 and md.contact.info("hooke").power == 1.0
    assert md.contact.info("hertz").reads == ("young", "poisson") and md.contact.info("hooke").reads == ()


@pytest.mark.parametrize("contact, words", [
    ("herz", "contact is 'herz', must be one of: hertz, hertz-mindlin, hooke, hooke-coulomb"),
    ("hooke", "contact 'hooke': stiffness is missing"),
    ("hooke:stiffness=-1", "stiffness is '-1', must be a positive number"),
    ("hooke:stiffness=nan", "stiffness is 'nan', must be a positive number"),
    ("hooke:stiffness=1e300", "stiffness is '1e300', must be a positive number, from 1e-60 to 1e.60"),
    ("hooke:stiffness=1e-300", "stiffness is '1e-300', must be a positive number, from"),
    ("hertz-mindlin:rolling_damping=1e300", "rolling_damping is '1e300', must be a number from 0 on, up to 1e.60"),
    ("hertz:onset=yes", "onset is 'yes', must be one of plain, corrected"),
    ("hertz:stiffness=1e6", "contact 'hertz' has no parameter 'stiffness' \\(parameters: onset\\)"),
    (3, "contact is 3, must be one of")])
def test_refusals(contact, words):
    with pytest.raises(ValueError, match=words):
        simulation(contact)


def test_several_evaluations_are_refused():
    with pytest.raises(ValueError, match="one force evaluation per step, and 'rk4' has 4"):
        simulation("hertz:onset=corrected", "rk4")
    simulation("hertz:onset=plain", "rk4")


@pytest.mark.parametrize("stiffness, dt", [(1e6, 1e-6)])
def test_hooke_collision(stiffness, dt):
    """Head on: duration pi sqrt(m / 2k), largest overlap v sqrt(m / 2k) with the relative speed v, energy k d^2 / 2."""
    overlaps, speed = [], 1.0

    def note(sim):
        table = sim.contacts()
        overlaps.extend(table["overlap"])
        assert np.allclose(table["energy"], 0.5 * stiffness * table["overlap"]**2, rtol=1e-12)
        assert np.allclose(table["force"][:, 0], -stiffness * table["overlap"], rtol=1e-12)

    unit = np.sqrt(SPHERE.mass / (2.0 * stiffness))
    sim = simulation(f"hooke:stiffness={stiffness}", dt=dt)
    sim.add_clumps(SPHERE, [(0.449, 0.5, 0.5), (0.551, 0.5, 0.5)], velocity=[(speed, 0, 0), (-speed, 0, 0)])
    sim.run(int((1e-3 + 4.0 * unit) / dt), 1, note)
    assert len(overlaps) * dt == pytest.approx(np.pi * unit, abs=2 * dt)
    assert max(overlaps) == pytest.approx(2.0 * speed * unit, rel=1e-3)
    assert sim.velocity[:, 0] == pytest.approx([-speed, speed], rel=1e-3)


def test_scenario(tmp_path, capsys):
    arguments = ["--time", "0.02", "--frames", "0", "--quiet", "--out", str(tmp_path), "--contact"]
    assert RODS.main([*arguments, "hertz:onset=corrected"]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["contact"] == summary["physics"]["contact"] == "hertz:onset=corrected"
    assert RODS.main([*arguments, "hertz", "--resume"]) == 2
    assert "--contact: hertz here, but hertz:onset=corrected in the run" in capsys.readouterr().err
    assert RODS.main([*arguments, "hooke"]) == 2
    assert "stiffness is missing" in capsys.readouterr().err
