"""Placement across periodic faces: no overlap with any image, and the same density up to the faces."""
import numpy as np
import pytest
from scenes import BALL, CLUMP, ELASTIC, smallest_gap

import minidem as md
from minidem.initial import Inlet, Lognormal, Mixture, place, place_densely, settled_bed
from minidem.walls.periodic_box import Box

ROD = md.ClumpTemplate([(x, 0, 0) for x in (-0.1, 0.0, 0.1)], [0.05] * 3, density=2500.0)
STIFF = md.Material(1e9, 0.2, restitution=0.5, friction=0.3)


@pytest.mark.parametrize("how, fraction", [(place, 0.1), (place_densely, 0.4)])
@pytest.mark.parametrize("axes, across", [((1, 1, 1), None), ((1, 0, 1), None), ((0, 1, 0), None), ((1, 1, 1), (1, 0)),
                                          ((1, 1, 1), (0, 2)), ((1, 1, 0), (0, 1))])
def test_no_overlap(how, fraction, axes, across):
    """Through faces, edges and corners, of straight and tilted boxes; inside of the open sides."""
    axes, rng = np.array(axes, dtype=bool), np.random.default_rng(sum(axes))
    numbers, scales = [20, 60], [np.ones(20), rng.uniform(0.5, 1.0, 60)]
    volume = 20 * ROD.volume + CLUMP.volume * np.sum(scales[1] ** 3)
    low, tilt = np.array([-1.0, 0.0, 2.0]), np.zeros((3, 3))
    high = low + (volume / fraction) ** (1 / 3) * np.array([1.0, 1.1, 1.0 / 1.1])
    if across:
        tilt[across] = 0.4 * (high - low)[across[1]]
    box = Box(low, high, axes, tilt, across=across and across[0])
    sim = md.Simulation(ELASTIC, dt=1e-9)
    for template, pose, scale in zip((ROD, CLUMP), how([ROD, CLUMP], numbers, low, high, rng, scales, box), scales):
        sim.add_clumps(template, *pose, scale=scale)
    x, r = sim.sphere_centers, sim.sphere_radii[:, None]
    assert 0.0 < smallest_gap(sim, box) < 0.02 and np.all((low <= sim.position) & (sim.position <= high))
    assert np.array_equal(np.any((x - r < low) | (x + r > high), axis=0), axes)


@pytest.mark.parametrize("template, how, fraction", [(ROD, place, 0.1), (BALL, place_densely, 0.45)])
def test_density_at_faces(template, how, fraction):
    """Within a radius of the faces it is the mean, within four errors over seeds."""
    edge, radius = (100 * template.volume / fraction) ** (1 / 3), template.radii.max()
    box = (0, 0, 0), (edge,) * 3, (True, True, True)
    def near(seed, **options):
        (position, _), = how([template], [100], *box[:2], np.random.default_rng(seed), **options)
        return np.mean((position < radius) | (position > edge - radius)) / (2.0 * radius / edge)
    density = [near(seed, periodic=box) for seed in range(60)]
    assert abs(np.mean(density) - 1.0) < 4.0 * np.std(density, ddof=1) / np.sqrt(60) < 0.1


def test_inlet_fills_a_sheared_box():
    """Twice, at two tilts, without overlap, across all its faces; half a box has clumps inside of its ends."""
    box = md.PeriodicBox((0, 0, 0), (1, 1.2, 0.9), axes=(True,) * 3, shear=("x", "y", 2.0))
    for seed in range(5):
        sim = md.Simulation(ELASTIC, dt=1e-4, periodic=box)
        every = Inlet(ROD, (0, 0, 0), (1, 1.2, 0.9), rate=1e3, every=500, seed=seed)
        half = Inlet(ROD, (0, 0, 0), (1, 1.2, 0.45), rate=100.0, every=500, seed=seed)
        sim.run(500, every=500, callback=every)
        sim.run(500, every=500, callback=every)
        assert smallest_gap(sim, sim.box, first=50) > 0.0 and sim.n_clumps == 100
        assert np.all(np.ptp(sim.sphere_centers[150:], axis=0) > sim.box.length)
        half(sim)
        z = sim.sphere_centers[300:, 2]
        assert len(z) and z.min() > 0.05 and z.max() < 0.4


def test_periodic_bed_of_a_mass():
    """No walls along x; its mass within the largest grain; grains across the faces, and within the walls."""
    grains = Mixture([BALL, CLUMP], [0.5, 0.5], sizes=Lognormal(0.06, 0.2))
    bed = settled_bed(grains, None, (0, 0, 0), (0.4, 0.4), STIFF, 2e-5, mass=30.0, periodic=(True, False))
    assert bed.mass.sum() == pytest.approx(30.0, abs=bed.mass.max()) and bed.n_clumps > 50
    assert [wall.normal[0] for wall in bed.walls] == [0.0] * 4 and bed.periodic[2] == (True, False, False)
    x, r = bed.sphere_centers, bed.sphere_radii
    assert np.any(np.abs(bed.box.wrapped(x)[:, 0] - 0.2) > 0.2 - 0.5 * r)
    assert np.all(np.abs(x[:, 1] - 0.2) < 0.2 - 0.9 * r)
