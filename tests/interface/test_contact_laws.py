"""Contact laws by name: their records; Hooke's law against its closed form."""
import numpy as np
import pytest

import minidem as md

SPHERE = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05], density=2500.0)


def test_records():
    assert md.contact.available() == ["hertz", "hertz-mindlin", "hooke", "hooke-coulomb"]
    for name in md.contact.available():
        law, with_friction = md.contact.info(name), "-" in name
        assert law.name == name and law.title and law.doi.startswith("10.") and law.doc
        assert law.needs_velocity == law.has_history == with_friction and law.conservative != with_friction
        assert ("onset" in law.parameters) != with_friction
    assert md.contact.info("hertz:onset=corrected").power == 1.5 and md.contact.info("hooke").power == 1.0
    assert md.contact.info("hertz").reads == ("young", "poisson") and md.contact.info("hooke").reads == ()


def test_hooke_collision():
    """Head on: duration pi sqrt(m / 2k), largest overlap v sqrt(m / 2k) with the relative speed v, energy k d^2 / 2."""
    stiffness, dt, speed, overlaps = 1e6, 1e-6, 1.0, []

    def note(sim):
        table = sim.contacts()
        overlaps.extend(table["overlap"])
        assert np.allclose(table["energy"], 0.5 * stiffness * table["overlap"]**2, rtol=1e-12)
        assert np.allclose(table["force"][:, 0], -stiffness * table["overlap"], rtol=1e-12)

    unit = np.sqrt(SPHERE.mass / (2.0 * stiffness))
    sim = md.Simulation(md.Material(1e9, 0.1), contact=f"hooke:stiffness={stiffness}", dt=dt)
    sim.add_clumps(SPHERE, [(0.449, 0.5, 0.5), (0.551, 0.5, 0.5)], velocity=[(speed, 0, 0), (-speed, 0, 0)])
    sim.run(int((1e-3 + 4.0 * unit) / dt), 1, note)
    assert len(overlaps) * dt == pytest.approx(np.pi * unit, abs=2 * dt)
    assert max(overlaps) == pytest.approx(2.0 * speed * unit, rel=1e-3)
    assert sim.velocity[:, 0] == pytest.approx([-speed, speed], rel=1e-3)
