"""Clumps of one template in many sizes: `add_clumps(..., scale=...)`."""
import warnings

import meshio
import numpy as np
import pytest
import scenes
from bit_systems import sizes

import minidem as md
import minidem.engine.loop_memory

DT = 38e-6
OUTCOME = ("position", "orientation", "velocity", "angular_velocity", "force", "torque", "mass", "sphere_radii",
           "scale", "contacts", "energy")


def outcome(sim):
    return [*scenes.state_of(sim), sim.force, sim.torque, sim.mass, sim.sphere_radii, sim.scale, sim.contacts(),
            sim.energy()]


def pairs(scale):
    """Colliding lumpy clumps: of a template with this scale, and of a template of that size."""
    shape = scenes.lumpy()
    made = md.ClumpTemplate(scenes.LUMPY_CENTERS * scale, scenes.LUMPY_RADII * scale, 2500.0)
    rng = np.random.default_rng(5)
    position = scale * 0.22 * np.array([(x, y, 0.0) for x in range(4) for y in range(4)])
    motion = scenes.unit_vectors(rng, 16, 4), 20.0 * scenes.unit_vectors(rng, 16), 9.0 * scenes.unit_vectors(rng, 16)
    for template, options in (shape.template, {"scale": scale}), (made, {}):
        sim = md.Simulation(md.Material(1e8, 0.1), dt=0.2 * DT * scale, gravity=(0, 0, -9.81),
                            walls=[md.Plane((0, 0, -0.2 * scale), (0, 0, 1))])
        sim.add_clumps(template, position, *motion, **options)
        yield sim


@pytest.mark.parametrize("scale", [0.25, 2.0])
def test_a_scaled_clump_is_one_of_a_scaled_template(scale):
    """To the last bit where the scale is a power of two, which multiplies without rounding."""
    scaled, made = pairs(scale)
    touched = 0
    for _ in range(100):
        for sim in (scaled, made):
            sim.run(20)
        for name, a, b in zip(OUTCOME, outcome(scaled), outcome(made), strict=True):
            assert name == "scale" or np.array_equal(a, b), f"{name} differs"
        touched += len(scaled.contacts())
    assert touched > 10


def test_mass_inertia_and_spheres():
    shape = scenes.lumpy()
    sim = md.Simulation(md.Material(1e8, 0.1), dt=DT)
    scale = np.array([0.3, 1.0, 1.7])
    spin = np.array([3.0, -4.0, 5.0])
    sim.add_clumps(shape.template, [(0, 0, 0), (1, 0, 0), (2, 0, 0)], angular_velocity=spin, scale=scale)
    for k, s in enumerate(scale):
        made = md.ClumpTemplate(scenes.LUMPY_CENTERS * s, scenes.LUMPY_RADII * s, 2500.0)
        alone = md.Simulation(md.Material(1e8, 0.1), dt=DT)
        alone.add_clumps(made, [(k, 0, 0)], angular_velocity=spin)
        assert sim.mass[k] == pytest.approx(made.mass, rel=1e-13)
        mine = sim.sphere_clump == k
        assert np.allclose(sim.sphere_radii[mine], alone.sphere_radii, rtol=1e-15)
        assert np.allclose(sim.sphere_centers()[mine], alone.sphere_centers(), rtol=0, atol=1e-15)
        assert sim.body_angular_velocity[k] == pytest.approx(alone.body_angular_velocity[0], rel=1e-12)
        part = md.Simulation(md.Material(1e8, 0.1), dt=DT)
        part.add_clumps(shape.template, [(k, 0, 0)], angular_velocity=spin, scale=s)
        assert part.energy().rotational == pytest.approx(alone.energy().rotational, rel=1e-12)
        assert part.angular_momentum((0, 0, 0)) == pytest.approx(alone.angular_momentum((0, 0, 0)), rel=1e-12)
    assert np.array_equal(sim.scale, scale) and np.array_equal(sim.template_index, [0, 0, 0])
    assert len(sim.templates) == 1


def test_frames(tmp_path):
    sim = sizes(n=20)
    sim.write_vtu(tmp_path / "frame.vtu")
    frame = meshio.read(tmp_path / "frame.vtu")
    assert np.array_equal(frame.point_data["radius"], sim.sphere_radii)
    radii = np.concatenate([s * sim.templates[k].radii for s, k in zip(sim.scale, sim.template_index)])
    assert np.array_equal(frame.point_data["radius"], radii)


def test_deep_overlap_is_a_part_of_the_scaled_radius():
    ball = md.ClumpTemplate([(0, 0, 0)], [0.1])
    sim = md.Simulation(md.Material(1e8, 0.1), dt=1e-6)
    sim.add_clumps(ball, [(0, 0, 0)])
    sim.add_clumps(ball, [(0.1181, 0, 0)], scale=0.2)                   # by 0.0019: a tenth of 0.02 is the limit
    with pytest.raises(ValueError, match="overlaps clump 2 by 0.0021 m"):
        sim.add_clumps(ball, [(-0.1179, 0, 0)], scale=0.2)
    assert sim.n_clumps == 2


def test_a_small_clump_warns_of_the_step():
    ball = md.ClumpTemplate([(0, 0, 0)], [0.1])
    material = md.Material(1e8, 0.1)
    sim = md.Simulation(material, dt=1.01 * material.rayleigh_step(0.05, 2500.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.add_clumps(ball, [(0, 0, 0)])
        with pytest.raises(UserWarning, match="Rayleigh step"):
            sim.add_clumps(ball, [(1, 0, 0), (2, 0, 0)], scale=[1.0, 0.5])
