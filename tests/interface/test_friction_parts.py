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
