"""`cohesion=dmt`: the attraction of Derjaguin, Muller and Toporov: force, pull-off, restitution, ledger and order."""
import numpy as np
import pytest

import minidem as md

R, ADHESION = 1e-3, 0.5
BALL = md.ClumpTemplate([(0, 0, 0)], [R], density=2500.0)
LAW = "hertz-mindlin:cohesion=dmt"
MATERIAL = md.Material(1e8, 0.3, adhesion=ADHESION)
MODULUS = md.effective_modulus(MATERIAL, MATERIAL)


def pull(radius):
    """2 pi w R* [N]."""
    return 2.0 * np.pi * ADHESION * radius


@pytest.mark.parametrize("other, radius", [(R, 0.5 * R), (0.5 * R, R / 3.0), (None, R)])
def test_force_and_pull_off(other, radius):
    """Of a ball that flies off another one or a plane: Hertz's force minus a constant one, until they part."""
    sim = md.Simulation(MATERIAL, [] if other else [md.Plane((0, 0, 0), (0, 0, 1))], contact=LAW, dt=2e-8)
    sim.add_clumps(BALL, (0, 0, R + (other or 0.0) - 2e-6), velocity=(0, 0, 1.0))
    if other:
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [other], density=2500.0), (0, 0, 0), free="", turns="")
    rows = []
    while len(found := sim.contacts()):
        rows.append((found["overlap"][0], found["force"][0] @ found["normal"][0], found["energy"][0]))
        sim.run(1)
    overlap, force, energy = np.array(rows).T
    hertz = 4.0 / 3.0 * MODULUS * np.sqrt(radius) * overlap ** 1.5
    assert len(force) > 50
    np.testing.assert_allclose(force[:-1], (hertz - pull(radius))[:-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(energy, 0.4 * hertz * overlap - pull(radius) * overlap, rtol=1e-9, atol=1e-18)
    assert force[-2] == pytest.approx(-pull(radius), rel=2e-2)         # a step before lift-off


def impacts(dt, n=16, restitution=1.0, speed=0.1, **material):
    """Balls that hit a plane at different instants of a step, until they have parted or 10 ms have passed."""
    sim = md.Simulation(md.Material(1e8, 0.3, restitution=restitution, adhesion=ADHESION, **material),
                        [md.Plane((0, 0, 0), (0, 0, 1))], contact=LAW, dt=dt)
    place = np.zeros((n, 3))
    place[:, 0], place[:, 2] = 10.0 * R * np.arange(n), R + (np.arange(n) + 0.5) / n * speed * dt
    sim.add_clumps(BALL, place, velocity=(0.3 * speed, 0, -speed))
    start = sim.energy()
    sim.run(20)
    while len(sim.contacts()) and sim.time < 0.01:
        sim.run(20)
    return sim, start


def test_restitution_is_one_and_the_order():
    """The attraction takes nothing: neither touch nor lift-off dissipates energy."""
    errors, changes = [], []
    for dt in (4e-7, 5e-8):
        sim, start = impacts(dt)
        errors.append(np.sqrt(np.mean((sim.velocity[:, 2] / 0.1 - 1.0) ** 2)))
        changes.append(abs(sim.energy().balance - start.balance) / start.kinetic)
        assert len(sim.contacts()) == 0 and abs(sim.energy().dissipated) < 1e-12 * start.kinetic
    assert errors[0] < 1e-3 and errors[1] < errors[0] / 8.0 ** 1.7
    assert changes[0] < 1e-3 and changes[1] < changes[0] / 8.0 ** 1.7


def test_damped_ones_stick_at_the_exact_overlap():
    """Where Hertz's force is the pull; and friction acts up to mu times that without any load."""
    sim, start = impacts(2e-7, restitution=0.3, speed=0.02, friction=0.4)
    assert len(sim.contacts()) == 16
    depth = (0.75 * pull(R) / (MODULUS * np.sqrt(R))) ** (2.0 / 3.0)
    np.testing.assert_allclose(sim.contacts()["overlap"], depth, rtol=1e-3)
    assert sim.energy().balance == pytest.approx(start.balance, abs=2e-3 * start.kinetic)
    limit = 0.4 * pull(R)
    for push, slides in ((0.9, False), (1.1, True)):
        sim, _ = impacts(2e-7, n=1, restitution=0.3, speed=0.02, friction=0.4)
        sim.set_motion(sim.ids, velocity=(0, 0, 0), angular_velocity=(0, 0, 0), turns="")
        sim.set_gravity((push * limit / BALL.mass, 0, 0))
        sim.run(20_000)
        assert sim.contacts()["sliding"][0] == slides


def test_adhesion_zero_is_hertz():
    material, floor = md.Material(1e8, 0.3, restitution=0.8), md.Plane((0, 0, 0), (0, 0, 1))
    sims = [md.Simulation(material, [floor], contact=law, dt=1e-6) for law in (LAW, "hertz-mindlin")]
    for sim in sims:
        sim.add_clumps(BALL, (0, 0, R), velocity=(0.1, 0, -0.1))
        sim.run(200)
    assert np.array_equal(sims[0].velocity, sims[1].velocity) and sims[0].velocity[0, 2] > 0.0
