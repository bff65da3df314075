"""Clumps of one template in many sizes: `add_clumps(..., scale=...)`."""
import numpy as np
import pytest
import scenes

import minidem as md


def pairs(scale):
    """Colliding lumpy clumps: of a template with this scale, and of a template of that size."""
    made = md.ClumpTemplate(scenes.LUMPY_CENTERS * scale, scenes.LUMPY_RADII * scale, 2500.0)
    rng = np.random.default_rng(5)
    position = scale * 0.22 * np.array([(x, y, 0.0) for x in range(4) for y in range(4)])
    motion = scenes.unit_vectors(rng, 16, 4), 20.0 * scenes.unit_vectors(rng, 16), 9.0 * scenes.unit_vectors(rng, 16)
    for template, options in (scenes.lumpy().template, {"scale": scale}), (made, {}):
        sim = md.Simulation(md.Material(1e8, 0.1), dt=7.6e-6 * scale, gravity=(0, 0, -9.81),
                            walls=[md.Plane((0, 0, -0.2 * scale), (0, 0, 1))])
        sim.add_clumps(template, position, *motion, **options)
        yield sim


def outcome(sim):
    return [*scenes.state_of(sim), sim.force, sim.torque, sim.mass, sim.sphere_radii, sim.contacts(), sim.energy(),
            sim.body_angular_velocity, sim.angular_momentum(), sim.sphere_centers()]


@pytest.mark.parametrize("scale", [0.25, 2.0])
def test_a_scaled_clump_is_one_of_a_scaled_template(scale):
    """To the last bit where the scale is a power of two, which multiplies without rounding."""
    scaled, made = pairs(scale)
    assert np.all(scaled.scale == scale) and np.all(made.scale == 1.0)
    touched = 0
    for _ in range(100):
        for sim in (scaled, made):
            sim.run(20)
        assert all(np.array_equal(a, b) for a, b in zip(outcome(scaled), outcome(made), strict=True))
        touched += len(scaled.contacts())
    assert touched > 10


def test_each_clump_has_a_size_of_its_own():
    scale = np.array([0.3, 1.0, 1.7])
    sim = md.Simulation(md.Material(1e8, 0.1), dt=1e-5)
    sim.add_clumps(scenes.lumpy().template, [(k, 0, 0) for k in range(3)], scale=scale)
    for k, s in enumerate(scale):
        made = md.ClumpTemplate(scenes.LUMPY_CENTERS * s, scenes.LUMPY_RADII * s, 2500.0)
        assert sim.mass[k] == pytest.approx(made.mass, rel=1e-13)
        np.testing.assert_allclose(sim.sphere_radii[sim.sphere_clump == k], made.radii, rtol=1e-15)
    assert np.array_equal(sim.scale, scale) and len(sim.templates) == 1
