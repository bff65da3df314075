"""Measures of packings and flows against formulas, lattices and brute force; their errors against the spread."""
import numpy as np
import pytest
from scenes import BALL, ELASTIC, MOTIONS, SHORT_ROD as ROD, gas

import minidem as md
from minidem.analysis import (
    angle_of_repose,
    fabric_tensor,
    granular_temperature,
    mean_square_displacement,
    radial_distribution,
    solid_fraction,
    unbalanced_force,
)

RADIUS = BALL.radii[0]
POINT = md.ClumpTemplate([(0, 0, 0)], [1e-6], density=1000.0)


def simulation(template, position, walls=(), **options):
    sim = md.Simulation(ELASTIC, walls, dt=1e-8, **options)
    sim.add_clumps(template, position)
    return sim


def random_points(n, **options):
    """Points in a cube of 1 m, independent of each other."""
    return simulation(POINT, np.random.default_rng(3).uniform(0.0, 1.0, (n, 3)), **options)


def agree(found, expected):
    """Deviations over errors are of the order of 1."""
    z = (found.value - expected)[found.error > 0.0] / found.error[found.error > 0.0]
    return np.abs(z).max() < 4.5 and 0.3 < np.sqrt(np.mean(z ** 2)) < 1.7


# --- Slopes.


def test_slope_of_a_cone_and_of_a_ramp():
    rng = np.random.default_rng(1)
    foot, edges = rng.uniform(-0.5, 0.5, (40_000, 2)), np.linspace(0.1, 0.4, 13)
    top = 0.6 - np.tan(np.radians(25.0)) * np.linalg.norm(foot, axis=1)
    cone = np.column_stack([foot, top * rng.uniform(0.0, 1.0, len(top)) ** 0.1])
    slope = angle_of_repose((cone + [2.0, 1.0, 3.0], 0.01), edges, center=(2.0, 1.0, 0.0))
    assert np.degrees(slope.value) == pytest.approx(25.0, abs=0.5) and np.degrees(slope.error) < 0.5
    assert slope.height == pytest.approx(3.61, abs=0.02) and slope.points.shape == (12, 2)
    # a ramp along -y on its side: heights are along x
    along = np.linspace(0.0, 0.5, 26)
    ramp = np.column_stack([1.0 - np.tan(0.4) * along, -along, 0.0 * along])
    slope = angle_of_repose(simulation(POINT, ramp), np.arange(-0.01, 0.5, 0.02), along=(0, -1, 0), up=(1, 0, 0))
    assert slope.value == pytest.approx(0.4, rel=1e-9) and slope.error < 1e-9
    empty = angle_of_repose((ramp, 0.0), [-0.2, 0.0, 0.9, 1.1])
    assert np.isnan(empty.value) and np.isnan(empty.points[:, 1]).tolist() == [True, False, False]


def test_error_of_a_slope_is_its_spread():
    rng, x = np.random.default_rng(2), np.linspace(0.05, 0.95, 10)
    found = [angle_of_repose((np.column_stack([x, 0.0 * x, 2.0 - 0.5 * x + rng.normal(0.0, 0.03, 10)]), 0.0),
                             np.linspace(0.0, 1.0, 11)) for _ in range(400)]
    spread = np.std([slope.value for slope in found])
    assert np.mean([slope.error for slope in found]) == pytest.approx(spread, rel=0.1)
    assert np.mean([slope.value for slope in found]) == pytest.approx(np.arctan(0.5), abs=4.0 * spread / 20.0)


# --- Forces and normals.


def test_unbalanced_force():
    """A ball in equilibrium on a floor and one that falls: the mean total force is half a contact force."""
    weight, stiffness = 9.81 * BALL.mass, 4.0 / 3.0 * md.effective_modulus(ELASTIC, ELASTIC) * np.sqrt(RADIUS)
    height = RADIUS - (weight / stiffness) ** (2.0 / 3.0)
    sim = simulation(BALL, [(0, 0, height)], [md.Plane((0, 0, 0), (0, 0, 1))], gravity=(0, 0, -9.81))
    assert unbalanced_force(sim) < 1e-9
    sim.add_clumps(BALL, (1, 0, 1))
    sim.add_clumps(BALL, (2, 0, 1), free="", turns="")                  # held: does not count
    assert unbalanced_force(sim) == pytest.approx(0.5) and unbalanced_force(sim, largest=True) == pytest.approx(1.0)
    sim.remove_clumps([0])
    assert np.isnan(unbalanced_force(sim))                             # without contacts


def test_fabric_of_a_lattice_and_of_random_pairs():
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * 1.99 * RADIUS
    floor = [md.Plane((0, 0, -0.99 * RADIUS), (0, 0, 1))]
    sim = simulation(BALL, grid, floor)
    cubic, with_floor = fabric_tensor(sim), fabric_tensor(sim, walls=True)
    np.testing.assert_allclose(cubic.value, np.eye(3) / 3.0, atol=1e-12)
    assert with_floor.value[2, 2] == pytest.approx((48 + 16) / (144 + 16))
    one = fabric_tensor(sim, low=(0.5 * RADIUS, -RADIUS, -RADIUS), high=(1.5 * RADIUS, RADIUS, RADIUS))
    np.testing.assert_allclose(one.value, np.diag([1.0, 0.0, 0.0]), atol=1e-12)
    assert np.isnan(one.error).all() and np.isnan(fabric_tensor(simulation(BALL, [(0, 0, 0)])).value).all()

    rng, n = np.random.default_rng(5), 3000
    normal = rng.normal(size=(n, 3))
    normal *= 1.98 * RADIUS / np.linalg.norm(normal, axis=1)[:, None]
    first = np.column_stack([np.arange(n) * 10.0 * RADIUS, np.zeros(n), np.zeros(n)])
    pairs = fabric_tensor(simulation(BALL, np.concatenate([first, first + normal])))
    assert np.trace(pairs.value) == pytest.approx(1.0) and (np.abs(pairs.value - np.eye(3) / 3) < 4 * pairs.error).all()
    variance = np.where(np.eye(3) == 1.0, 4.0 / 45.0, 1.0 / 15.0)       # of n_a n_b of isotropic normals
    np.testing.assert_allclose(pairs.error, np.sqrt(variance / n), rtol=0.05)


# --- Volumes and distances.


def test_solid_fraction_of_a_cut_sphere():
    """A cap of height h has the volume pi h^2 (R - h / 3); a whole sphere beside it is exact."""
    sim, h = simulation(BALL, [(0, 0, 0), (3 * RADIUS, 0, 2 * RADIUS)]), 0.6 * RADIUS
    low, high = (-RADIUS, -RADIUS, RADIUS - h), (4 * RADIUS, RADIUS, 3 * RADIUS)
    room, cap = np.prod(np.subtract(high, low)), np.pi * h ** 2 * (RADIUS - h / 3.0)
    found = solid_fraction(sim, low=low, high=high)
    assert abs(found.value - (BALL.volume + cap) / room) < 4.0 * found.error < 0.02 * found.value
    assert found == solid_fraction(sim, low=low, high=high)
    assert solid_fraction(sim, low=(9, 9, 9), high=(10, 10, 10)) == (0.0, 0.0)
    assert solid_fraction(sim, low=(-1, -1, -1), high=(1, 1, 1)) == (pytest.approx(2.0 * BALL.volume / 8.0), 0.0)
    assert solid_fraction(sim, volume=5.0) == (pytest.approx(2.0 * BALL.volume / 5.0), 0.0)
    with pytest.raises(ValueError, match="do not enclose a box"):
        solid_fraction(sim)


@pytest.mark.parametrize("motion", ["sheared", "at rest"])
def test_solid_fraction_counts_images_and_overlap_once(motion):
    """Rods whose spheres overlap, across the faces of a box: the whole and its two halves."""
    sim = gas(MOTIONS["shear"] if motion == "sheared" else {})
    if motion == "sheared":
        sim.run(1500)
    whole, box = solid_fraction(sim), sim.box
    assert whole.error == 0.0 and whole.value == pytest.approx(sim.n_clumps * ROD.volume / box.volume)
    assert whole.value < 0.95 * np.sum(4.0 / 3.0 * np.pi * sim.sphere_radii ** 3) / box.volume
    halves = [solid_fraction(sim, low=box.low + [0, 0, z], high=box.high - [0, 0, box.length[2] / 2 - z])
              for z in (0.0, box.length[2] / 2)]
    mean, error = np.mean([half.value for half in halves]), np.hypot(*(half.error for half in halves)) / 2.0
    assert abs(mean - whole.value) < 4.0 * error < 0.02 * whole.value


def test_distances_of_independent_positions():
    periodic = random_points(4000, periodic=((0, 0, 0), (1, 1, 1), (True,) * 3))
    walled = random_points(4000, walls=md.box_walls((0, 0, 0), (1, 1, 1)))
    for sim in periodic, walled:
        assert agree(radial_distribution(sim, 0.2, 20)[1], 1.0)
    with pytest.raises(ValueError, match="half the shortest"):
        radial_distribution(periodic, 0.6)
    with pytest.raises(ValueError, match="open sides"):
        radial_distribution(walled, 0.6)


def test_distances_of_a_lattice():
    """Shells of a cubic lattice: 6, 12, 8, 6 neighbors at sqrt(1, 2, 3, 4) lattice constants."""
    side = np.arange(5) + 0.5
    grid = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
    sim = simulation(POINT, grid, periodic=((0, 0, 0), (5, 5, 5), (True,) * 3))
    r, found = radial_distribution(sim, 2.2, 11)
    edges = np.linspace(0.0, 2.2, 12)
    number = found.value * 4.0 / 3.0 * np.pi * np.diff(edges ** 3) * (124 / 125)
    np.testing.assert_allclose(r, 0.1 + edges[:-1])
    np.testing.assert_allclose(number[[5, 7, 8, 10]], [6, 12, 8, 6])
    assert np.count_nonzero(number) == 4 and (found.error < 1e-12).all()


def test_distances_in_a_sheared_box_are_those_of_nearest_images():
    sim = gas(MOTIONS["shear"])
    sim.run(1500)
    r_max, shift = 0.45 * sim.box.length.min(), sim.box.shifts()
    assert sim.box.lattice[1, 0] != 0.0
    first, second = np.triu_indices(sim.n_clumps, 1)
    between = sim.wrapped_position[first] - sim.wrapped_position[second]
    distance = np.min(np.linalg.norm(between[:, None] + shift, axis=2), axis=1)
    counts, edges = np.histogram(distance, 12, (0.0, r_max))
    n, (_, found) = sim.n_clumps, radial_distribution(sim, r_max, 12)
    expected = counts / (4.0 / 3.0 * np.pi * np.diff(edges ** 3) * n * (n - 1) / 2.0 / sim.box.volume)
    np.testing.assert_allclose(found.value, expected, rtol=1e-12)


# --- Temperature.


GRADIENT = np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, -2.0]])


@pytest.mark.parametrize("moves", [False, True])
def test_temperature_of_a_maxwell_distribution(moves):
    """Of clumps of two masses, without the flow: of the box, or a drift with a gradient that is fitted."""
    rng, n, hot = np.random.default_rng(11), 20_000, 0.04
    place = rng.uniform(0.0, 1.0, (n, 3))
    box = md.PeriodicBox((0, 0, 0), (1, 1, 1), axes=(True,) * 3, shear=("x", "y", 3.0)) if moves else None
    sim = md.Simulation(ELASTIC, dt=1e-9, periodic=box)
    scale, drift = np.where(np.arange(n) < n // 2, 1.0, 2.0), np.array([4.0, -1.0, 0.5])
    flow = 0.0 if moves else drift + place @ GRADIENT.T
    sim.add_clumps(POINT, place, velocity=flow + rng.normal(0.0, np.sqrt(hot), (n, 3)), scale=scale)
    sim.run(1)
    tolerance = 4.0 * hot * np.sqrt(2.0 / (3.0 * n) * (1 + 64) / 2 / 4.5 ** 2)      # of a weighted mean of squares
    resolved = hot if moves else hot + np.trace(GRADIENT @ GRADIENT.T) / 12.0 / 3.0
    assert granular_temperature(sim) == pytest.approx(resolved, abs=tolerance if moves else 0.02)
    assert granular_temperature(sim, gradient=True) == pytest.approx(hot, abs=tolerance)
    part = {"low": (0.1, 0.2, 0.3), "high": (0.5, 0.9, 0.9)}
    assert granular_temperature(sim, **part, gradient=True) == pytest.approx(hot, abs=2.5 * tolerance)
    cold = {"low": (0.9, 0.9, 0.9), "high": (0.9 + 1e-9,) * 3}
    assert all(np.isnan(granular_temperature(sim, **cold, gradient=gradient)) for gradient in (False, True))
    rows = ((part["low"] <= sim.wrapped_position) & (sim.wrapped_position <= part["high"])).all(axis=1)
    relative = sim.velocity - (sim.box.flow(sim.position) if moves else np.average(
        sim.velocity[rows], axis=0, weights=sim.mass[rows]))
    expected = np.average(np.sum(relative[rows] ** 2, axis=1), weights=sim.mass[rows]) / 3.0
    assert granular_temperature(sim, **part) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="low and high belong together"):
        granular_temperature(sim, low=(0, 0, 0))


# --- Displacements.


def test_displacement_of_random_walks_and_of_free_flight():
    rng, step, interval = np.random.default_rng(7), 0.02, 0.5
    walk = np.cumsum(rng.normal(0.0, step, (40, 800, 3)), axis=0)
    (t, found), diffusion = mean_square_displacement(walk, interval), step ** 2 / (2.0 * interval)
    np.testing.assert_allclose(t, interval * np.arange(40))
    assert found.value[0] == found.error[0] == 0.0
    assert (np.abs(found.value - 6.0 * diffusion * t) <= 4.0 * found.error).all()
    assert found.error[1] == pytest.approx(found.value[1] * np.sqrt(2.0 / 3.0 / 39 / 800), rel=0.1)
    sim, frames = random_points(3), []
    sim.set_motion(sim.ids, velocity=[(1.0, 2.0, 2.0)] * 3)
    sim.run(50, every=10, callback=lambda sim: frames.append(sim.position))
    t, flight = mean_square_displacement(frames, 10 * sim.dt)
    np.testing.assert_allclose(flight.value, (3.0 * t) ** 2, rtol=1e-6, atol=1e-18)
    with pytest.raises(ValueError, match="positions"):
        mean_square_displacement([frames[0], frames[0][:2]])
