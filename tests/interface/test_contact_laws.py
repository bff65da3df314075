"""Contact laws by name: their records, every combination of the parts of laws with friction, Hooke's closed form."""
from itertools import product

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


# --- laws that are sums of parts ---

LAWS = {"hertz-mindlin": "", "hooke-coulomb": "stiffness=1e5"}
TANGENTIAL = {"hertz-mindlin": ("rescale", "mindlin", "linear,tangential_stiffness=3e4"),
              "hooke-coulomb": ("rescale", "mindlin", "linear")}
COMBINATIONS = [",".join(filter(None, (f"{name}:tangential={model}", f"rolling={rolling}", f"mass={mass}", LAWS[name])))
                for name in LAWS
                for model, rolling, mass in product(TANGENTIAL[name], ("none", "epsd"), ("contact", "clump"))]
COMBINATIONS += [f"{contact},cohesion=jkr" for contact in COMBINATIONS if contact.startswith("hertz")]
CLUMP = md.ClumpTemplate([(-0.008, 0.0, 0.0), (0.008, 0.0, 0.0), (0.0, 0.009, 0.004)], [0.01, 0.01, 0.008],
                         density=2500.0)
N = 24


def collisions(contact, exchanged=False):
    """Two clouds of clumps that meet in pairs; exchanged : added in the opposite order, so that i and j change."""
    rng = np.random.default_rng(6)
    rolling = 0.1 if "epsd" in contact else 0.0
    material = md.Material(1e7, 0.3, restitution=0.6, friction=0.3, rolling_friction=rolling,
                           adhesion=1.0 if "jkr" in contact else 0.0)
    sim = md.Simulation(material, contact=contact, dt=4e-6)
    place = np.column_stack([np.zeros((N, 2)), 0.1 * np.arange(N)])
    sides = []
    for side in 1.0, -1.0:
        turn = rng.normal(size=(N, 4))
        sides.append((place + (side * 0.021, 0.0, 0.0), turn / np.linalg.norm(turn, axis=1)[:, None],
                      side * np.array([-3.0, 0.0, 0.0]) + 0.5 * rng.normal(size=(N, 3)),
                      30.0 * rng.normal(size=(N, 3))))
    for side in sides[::-1] if exchanged else sides:
        sim.add_clumps(CLUMP, *side)
    return sim


def state(sim):
    return np.array([sim.position, sim.velocity, sim.angular_velocity]).reshape(3, 2, N, 3)


@pytest.mark.parametrize("contact", COMBINATIONS)
def test_every_combination(contact):
    """Momentum is conserved, energy is lost and accounted for, and the roles of both bodies can be exchanged to the
    last bit."""
    sim, other = collisions(contact), collisions(contact, exchanged=True)
    start, momentum = sim.energy(), sim.velocity.sum(axis=0)
    touched = 0
    for _ in range(30):
        sim.run(50)
        touched = max(touched, len(sim.contacts()))
    other.run(1500)
    end = sim.energy()
    assert touched > 0.5 * N and np.array_equal(state(sim), state(other)[:, ::-1])
    np.testing.assert_allclose(sim.velocity.sum(axis=0), momentum, atol=1e-12)
    assert 0.2 * start.kinetic < start.kinetic - end.kinetic
    assert abs(end.balance - start.balance) < 1e-3 * start.kinetic
    assert (end.dissipated_rolling != 0.0) == ("epsd" in contact)
    assert {md.contact.info(contact).mass_of_clumps(md.contact.registry.select(contact)[1])} == {"clump" in contact}
