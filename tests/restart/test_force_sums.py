"""Sums of the forces of laws without records, which are added as integers: contact/fixed_point.pxd."""
import numpy as np
import pytest

import minidem as md

STEEL, RUBBER = md.Material(young=2e11, poisson=0.3), md.Material(young=1e6, poisson=0.49)
RADIUS = 0.012
LAWS = {"hertz": 2e11 / (1.0 - 0.3 ** 2), "hooke:stiffness=1e6": 1e6}


def ball(radius=RADIUS):
    return md.ClumpTemplate([(0.0, 0.0, 0.0)], [radius], 2500.0)


def power_of_two(x):
    return 2.0 ** np.floor(np.log2(x))


def heap(contact, order, materials=(STEEL,)):
    """A sphere that fourteen smaller ones of two sizes touch; materials in turn. The last one is in the middle."""
    height = 1.0 - 2.0 * (np.arange(15) + 0.5) / 14
    turn = 2.4 * np.arange(15)
    across = np.sqrt(np.maximum(1.0 - height ** 2, 0.0))
    outward = np.stack([across * np.cos(turn), across * np.sin(turn), height], axis=1)
    sim = md.Simulation(STEEL, contact=contact, dt=1e-7)
    for k in order:
        radius = RADIUS if k == 14 else RADIUS / (4 + 3 * (k % 2))
        distance = 0.0 if k == 14 else RADIUS + (0.99 - 0.004 * k) * radius
        sim.add_clumps(ball(radius), distance * outward[k:k + 1], material=materials[k % len(materials)])
    return sim


@pytest.mark.parametrize("contact", LAWS)
def test_a_sum_is_one_of_integers(contact):
    """Of the forces that sim.contacts() lists, in units of the sphere, to the last bit."""
    sim = heap(contact, range(15))
    pairs = sim.contacts()
    radius = power_of_two(RADIUS)
    unit = power_of_two(LAWS[contact] * radius ** (2 if contact == "hertz" else 1)) * 2.0 ** -54
    sign = (pairs["clump_i"] == 14) * 1.0 - (pairs["clump_j"] == 14)
    force = sign[sign != 0.0, None] * pairs["force"][sign != 0.0]
    assert len(force) == 14
    assert np.array_equal(sim.force[14], unit * np.rint(force / unit).astype(np.int64).sum(axis=0))
    assert np.abs(sim.force[14] - force.sum(axis=0)).max() < 3e-13 * np.abs(force).max()


@pytest.mark.parametrize("materials", [(STEEL,), (STEEL, RUBBER)], ids=["one", "two"])
@pytest.mark.parametrize("contact", [*LAWS, "hertz:onset=corrected"])
def test_any_order_of_clumps(contact, materials):
    """Of one and of two materials."""
    order = np.random.default_rng(5).permutation(15)
    first, second = heap(contact, range(15), materials), heap(contact, order, materials)
    for sim in first, second:
        sim.run(20)
    for name in ("force", "torque", "position", "velocity"):
        assert np.array_equal(getattr(first, name)[order], getattr(second, name))


@pytest.mark.parametrize("contact", LAWS)
def test_units_are_those_of_the_sphere(contact):
    """Neither a larger sphere elsewhere nor one of another material changes a bit."""
    alone, beside = heap(contact, range(15)), heap(contact, range(15))
    beside.add_clumps(ball(2.0), [[9.0, 0.0, 0.0]])
    beside.add_clumps(ball(), [[-9.0, 0.0, 0.0]], material=RUBBER)
    for sim in alone, beside:
        sim.run(20)
    assert np.array_equal(alone.force, beside.force[:15])
    assert np.array_equal(alone.position, beside.position[:15])


def test_equal_spheres_conserve_momentum():
    """They have the same unit, so that the two forces of a contact are opposite to the last bit."""
    sim = md.Simulation(STEEL, contact="hertz", dt=1e-7)
    lattice = 1.96 * RADIUS * np.stack(np.unravel_index(np.arange(27), (3, 3, 3)), axis=1)
    sim.add_clumps(ball(), lattice + 0.01 * RADIUS * np.random.default_rng(1).uniform(-1.0, 1.0, (27, 3)))
    unit = power_of_two(LAWS["hertz"] * power_of_two(RADIUS) ** 2) * 2.0 ** -54
    assert len(sim.contacts()) == 54
    assert np.array_equal((sim.force / unit).astype(np.int64).sum(axis=0), np.zeros(3))


@pytest.mark.filterwarnings("ignore:.*moves by:UserWarning")
@pytest.mark.parametrize("count, fine", [(100, True), (150, False), (600, False)])
def test_beyond_the_range(count, fine):
    """Spheres that come together in a step, with almost 2 F each. Beyond 256 F the run stops: nothing wraps."""
    apart = np.column_stack([3.0 * np.arange(count), np.zeros((count, 2))])
    together = np.column_stack([np.linspace(0.0, 0.2, count), np.zeros((count, 2))])
    sim = md.Simulation(STEEL, contact="hooke:stiffness=1024", dt=1e-3)
    sim.add_clumps(ball(1.0), apart, velocity=(together - apart) / sim.dt)
    sim.run(1)
    if fine:
        assert 100.0 * 1024.0 < np.abs(sim.force).max() < 256.0 * 1024.0
        sim.run(2)
    else:
        assert np.isnan(sim.force[0, 0])
        with pytest.raises(FloatingPointError, match="is not finite"):
            sim.run(2)
