"""Laws with friction are sums of parts, chosen by the words of parameters: every combination."""
from itertools import product

import numpy as np
import pytest

import minidem as md

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


def collisions(contact, exchanged=False, friction=0.3):
    """Two clouds of clumps that meet in pairs; exchanged : added in the opposite order, so that i and j change."""
    rng = np.random.default_rng(6)
    rolling = 0.1 if "epsd" in contact else 0.0
    material = md.Material(1e7, 0.3, restitution=0.6, friction=friction, rolling_friction=rolling,
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


@pytest.mark.parametrize("contact", COMBINATIONS)
def test_restitution(contact):
    """Of two spheres head-on, which touch one pair after another."""
    ball = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2500.0)
    material = md.Material(1e7, 0.3, restitution=0.6, friction=0.3, rolling_friction=0.1 * ("epsd" in contact))
    sim = md.Simulation(material, contact=contact, dt=1e-5)
    height, gap = 0.1 * np.arange(8), 0.01 + 1e-5 * (1.0 + np.arange(8))
    for side in 1.0, -1.0:
        sim.add_clumps(ball, np.column_stack([side * gap, 0.0 * height, height]), velocity=[-0.5 * side, 0.0, 0.0])
    sim.run(400)
    assert len(sim.contacts()) == 0
    np.testing.assert_allclose(sim.velocity[:8, 0] - sim.velocity[8:, 0], 0.6, rtol=0.0, atol=6e-4)


def test_all_tangential_models_of_linear_springs_are_one():
    """The stiffness does not depend on a contact radius."""
    found = []
    for model in TANGENTIAL["hooke-coulomb"]:
        sim = collisions(f"hooke-coulomb:tangential={model},stiffness=1e5,rolling=epsd")
        sim.run(500)
        found.append(state(sim))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0.0, atol=1e-10)


def test_models_without_friction_are_one():
    """To the last bit: no tangential force acts."""
    found = []
    for contact in ("hertz-mindlin", *(f"hertz-mindlin:tangential={model}" for model in TANGENTIAL["hertz-mindlin"])):
        sim = collisions(contact, friction=0.0)
        sim.run(500)
        found.append(state(sim))
    assert all(np.array_equal(found[0], other) for other in found[1:])
