"""The force of a sliding contact: its part along the normal is that of the limit, to rounding."""
import numpy as np
import pytest

import minidem as md

LAWS = "hertz-mindlin", "hertz-mindlin:tangential_damping=0", "hooke-coulomb:stiffness=1e5"


@pytest.mark.parametrize("contact", LAWS)
def test_sliding_force(contact):
    """|T| = mu |F_n| in random oblique impacts; a spring or dashpot that is not turned with the contact changes F_n."""
    rng, n, mu = np.random.default_rng(4), 40, 0.2
    material = md.Material(1e7, 0.3, restitution=0.6, friction=mu)
    sim = md.Simulation(material, contact=contact, dt=4e-6)
    sphere = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2500.0)
    place = np.column_stack([np.zeros((n, 2)), 0.1 * np.arange(n)])
    normal = rng.normal(size=(n, 3)) * (1.0, 1.0, 0.3)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    for side in (1.0, -1.0):
        sim.add_clumps(sphere, place + side * 0.010001 * normal,
                       velocity=-side * normal + 0.4 * rng.normal(size=(n, 3)),
                       angular_velocity=40.0 * rng.normal(size=(n, 3)))
    seen = np.zeros(2, dtype=int)
    for _ in range(60):
        sim.run(2)
        contacts = sim.contacts()
        size = np.linalg.norm(contacts["tangential"], axis=1)
        slides = contacts["sliding"].astype(bool)
        pressing = np.abs(np.sum(contacts["force"] * contacts["normal"], axis=1))
        assert np.allclose(size[slides], mu * pressing[slides], rtol=1e-12, atol=0.0)
        seen += np.count_nonzero(slides), np.count_nonzero(~slides)
    assert np.all(seen > 100)
