"""Coarse-grained fields: mass, balance of momentum in cells, stresses, temperature, other frames and orders."""
from functools import lru_cache

import numpy as np
import pytest
from bit_systems import bumps
from scenes import BALL, CLUMP, ELASTIC, MATERIAL, MOTIONS, ROLLING, gas, motion, settling
from scipy.special import erf

import minidem as md
from minidem.analysis.coarse import Fields
from minidem.analysis.flow import granular_temperature
from minidem.core.quaternions import multiply, rotate

FLOOR = (0.0, -0.1, 0.02), (0.5, 0.6, 0.3), (4, 2, 3)       # low, high, cells: across the floor and walls at the sides


@lru_cache
def packing(template=CLUMP):
    """A hundred bodies with friction in a box, while the last of them come to rest."""
    sim = settling(dt=2e-4, template=template)
    sim.run(2000)
    pairs = sim.contacts()["clump_j"] >= 0
    assert np.count_nonzero(pairs) > 80 and np.count_nonzero(~pairs) > 30
    return sim


@lru_cache
def chute():
    """Rods on a bumpy mesh, which has images in the periodic box."""
    edge, rng = 0.4, np.random.default_rng(6)
    sim = md.Simulation(MATERIAL, [md.MeshWall(bumps((0, 0), (edge, edge), 4, 0.02))], contact=ROLLING, dt=2e-4,
                        gravity=(3.0, 0.0, -9.3), periodic=((0, 0, 0), (edge, edge, 1), (True, True, False)))
    x, y, z = 0.1 + 0.13 * np.indices((3, 3, 4)).reshape(3, -1)
    sim.add_clumps(CLUMP, np.column_stack([x, y, z]), velocity=rng.normal(0.0, 0.5, (36, 3)))
    sim.run(3000)
    at_floor = sim.contacts()["clump_j"] < 0
    assert at_floor.sum() > 15 and (~at_floor).sum() > 15
    return sim


@lru_cache
def bonded():
    """Bonds are contacts, across gaps and in tension too."""
    sim = md.Simulation(md.Material(1e6, 0.3, restitution=0.5, friction=0.5), [md.Plane((0, 0, 0), (0, 0, 1))],
                        contact="hertz-mindlin:bonds=parallel", dt=5e-5, gravity=(0, 0, -9.81))
    sim.add_clumps(BALL, 0.081 * np.indices((3, 2, 3)).reshape(3, -1).T + (0.0, 0.0, 0.05), velocity=(0.5, 0.0, -2.0))
    assert sim.bonds.add(2e-3, young=1e7, tensile=1e6, shear=1e6) > 30
    sim.run(300)
    assert (sim.contacts()["overlap"] < 0.0).any() and sim.walls.force(0).any()
    return sim


@lru_cache
def flying(kind=None):
    """A gas of rods with contacts, which begin boxes away, in a periodic box at rest or one that is sheared."""
    sim = gas(MOTIONS[kind] if kind else {}, "hertz-mindlin", n=100, solid_fraction=0.18, speed=1.0)
    state, images = (sim.orientation, sim.velocity, sim.angular_velocity), np.random.default_rng(5).integers(
        -2, 3, (100, 3))
    position = sim.position + images * sim.box.length
    sim.remove_clumps(sim.ids)
    sim.add_clumps(sim.templates[0], **motion((position, *state)))
    sim.run(300)
    assert len(sim.contacts()) > 20 and np.abs(sim.image).max() > 1
    return sim


GASES = {"gas": flying, "sheared gas": lambda: flying("shear")}


def fields_of(sim, *grid):
    fields = Fields(*grid)
    fields.measure(sim)
    return fields


def volume_of(fields):
    return np.prod([np.diff(edges)[0] for edges in fields.edges])


def around(sim, cells, width):
    """A grid that has the supports of all clumps and contacts, or fills the periodic box."""
    if sim.box is not None:
        return sim.box.low, sim.box.high, cells, width
    return sim.position.min(0) - 3.0 * width - 0.06, sim.position.max(0) + 3.0 * width + 0.06, cells, width


def close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * np.abs(expected).max())


def inflow(sim, low, high, cells, width):
    """(nx, ny, nz, 3) what flows into each cell through its faces [N], from fields on planes."""
    low, high, total = np.array(low), np.array(high), 0.0
    size = (high - low) / cells
    for axis in range(3):
        planes = []
        for place in np.linspace(low[axis], high[axis], cells[axis] + 1):
            ends = [np.where(np.arange(3) == axis, place, corner) for corner in (low, high)]
            on = fields_of(sim, *ends, np.where(np.arange(3) == axis, 1, cells), width)
            flow = on.momentum[..., None] * np.nan_to_num(on.velocity)[..., None, :]
            planes.append((flow + on.kinetic_stress + on.contact_stress)[..., axis])
        total = total - np.diff(np.concatenate(planes, axis=axis), axis=axis) * np.prod(size) / size[axis]
    return total


def rate_of_momentum(sim, low, high, cells, width):
    """(nx, ny, nz, 3) rate of the momentum in each cell [N] by all forces and velocities, of every clump and image."""
    shifts = np.zeros((1, 3)) if sim.box is None else sim.box.shifts()
    start = sim.position if sim.box is None else sim.wrapped_position
    place = (start + shifts[:, None]).reshape(-1, 3)
    mass, force, velocity, before = (np.tile(values.T, len(shifts)).T for values in (
        sim.mass, sim.force, sim.velocity, sim.position))
    if sim.box is not None:
        velocity = velocity + sim.box.flow(place) - sim.box.flow(before)
    share, rate = [], []
    for axis, w in enumerate(np.broadcast_to(width, 3)):
        u = (np.linspace(low[axis], high[axis], cells[axis] + 1) - place[:, axis, None]) / w
        share.append(np.diff(np.clip(erf(u / np.sqrt(2)) / erf(3 / np.sqrt(2)), -1, 1) / 2))
        kernel = (np.abs(u) < 3) * np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi) / w / erf(3 / np.sqrt(2))
        rate.append(-np.diff(kernel) * velocity[:, axis, None])
    x, y, z = share
    total = np.einsum("na,nx,ny,nz->xyza", force, x, y, z)
    for parts in ((rate[0], y, z), (x, rate[1], z), (x, y, rate[2])):
        total += np.einsum("na,nx,ny,nz->xyza", mass[:, None] * velocity, *parts)
    return total


def imbalance(sim, *grid):
    """Largest difference of the two sides of the balance of momentum over all cells, relative to its terms."""
    fields = fields_of(sim, *grid)
    sources = volume_of(fields) * (fields.density[..., None] * np.array(sim.gravity) + fields.wall_force)
    terms = rate_of_momentum(sim, *grid), sources, inflow(sim, *grid)
    return np.abs(terms[0] - terms[1] - terms[2]).max() / np.abs(terms).max()


BALANCED = {            # scene, grid
    **{f"packing {width}": (packing, (*FLOOR, width)) for width in (0.05, (0.02, 0.05, 0.03), (0.1, 0.007, 0.05))},
    **{f"{name}, whole": (scene, (None, None, (2, 3, 2), 0.03)) for name, scene in GASES.items()},
    **{f"{name}, part": (scene, (None, (0.7, 0.2, 0.5), (3, 1, 2), (0.03, 0.02, 0.04)))
       for name, scene in GASES.items()},
    "chute": (chute, ((0, 0, -0.1), (0.4, 0.4, 0.25), (2, 1, 4), 0.04)),
    "bonds": (bonded, ((-0.1, 0, -0.1), (0.3, 0.1, 0.2), (3, 1, 3), 0.04))}


@pytest.mark.parametrize("name", BALANCED)
def test_momentum(name):
    make, (low, high, cells, width) = BALANCED[name]
    sim = make()
    if low is None:                                     # of the box, or a part of it
        low, high = sim.box.low, sim.box.low + (1.0 if high is None else np.array(high)) * sim.box.length
    assert imbalance(sim, low, high, cells, width) < 1e-12


@pytest.mark.parametrize("cells, width", [((3, 4, 5), 0.04), ((1, 1, 1), 0.03), ((9, 2, 30), 0.004)])
@pytest.mark.parametrize("scene", [packing, *GASES.values()])
def test_sums_over_the_grid(scene, cells, width):
    """Mass, momentum, and the stress of Love and Weber; the forces of walls."""
    sim = scene()
    fields = fields_of(sim, *around(sim, cells, width))
    volume, axes = volume_of(fields), (0, 1, 2)
    assert fields.density.sum() * volume == pytest.approx(sim.mass.sum(), rel=1e-13)
    if sim.box is None or not sim.box.gradient.any():   # else images have other momenta
        close(fields.momentum.sum(axes) * volume, sim.linear_momentum(), 1e-12)
    close(fields.contact_stress.sum(axes) * volume, sim.stress(volume=1.0), 1e-12)
    walls = -sum((sim.walls.force(k) for k in range(len(sim.walls))), np.zeros(3))
    close(fields.wall_force.sum(axes) * volume, walls, 1e-12)


def test_cells_without_smoothing():
    """Width 0: clumps are counted, and the stress is that of the parts of the branches of spheres in each cell."""
    sim = packing(BALL)
    fields = fields_of(sim, (0, 0, 0), (0.6, 0.6, 0.4), (3, 2, 4), 0.0)
    close(fields.density, np.histogramdd(sim.position, fields.edges)[0] * BALL.mass / volume_of(fields), 1e-13)
    for cell in np.ndindex(3, 2, 4):
        low, high = ([edges[k + step] for k, edges in zip(cell, fields.edges)] for step in (0, 1))
        np.testing.assert_allclose(fields.contact_stress[cell], sim.stress(low=low, high=high), atol=1e-7)
    assert np.abs(fields.contact_stress).max() > 100.0


def test_temperature_of_a_box():
    sim = flying()
    fields = fields_of(sim, sim.box.low, sim.box.high, (1, 1, 1), 0.03)
    close(fields.kinetic_stress[0, 0, 0], sim.stress(kinetic=True) - sim.stress(), 1e-12)
    assert fields.temperature[0, 0, 0] == pytest.approx(granular_temperature(sim), rel=1e-12)


def points(position, velocity):
    """Spheres that do not touch, in a periodic box of 1 m."""
    sim = md.Simulation(ELASTIC, dt=1e-7, periodic=((0,) * 3, (1,) * 3, (True,) * 3))
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [1e-4], density=2500.0), position, velocity=velocity)
    return sim


def test_temperature_of_a_gradient():
    """A lattice with v_x = 4 y: density * 16 * (width^2, less by the cut, + cell^2 / 12)."""
    y = (np.arange(200) + 0.5) / 200
    sim = points(np.column_stack([0 * y, y, 0 * y]), np.column_stack([4.0 * y, 0 * y, 0 * y]))
    fields = fields_of(sim, (0, 0.25, 0), (1, 0.75, 1), (1, 5, 1), 0.05)
    left = 1.0 - 6.0 / np.sqrt(2 * np.pi) * np.exp(-4.5) / erf(3 / np.sqrt(2))
    expected = fields.density * 16.0 * (left * 0.05 ** 2 + 0.1 ** 2 / 12)
    np.testing.assert_allclose(fields.kinetic_stress[..., 0, 0], expected, rtol=1e-3)
    assert np.abs(fields.kinetic_stress[..., 1:]).max() < 1e-12 * expected.max()


def test_mean_of_samples():
    """Fluctuations in time count: a sphere that comes back with the opposite velocity has a temperature."""
    fields = Fields((0, 0, 0), (1, 1, 1), (1, 1, 1), 0.1)
    for speed in (1.0, -1.0, 1.0, -1.0):
        fields.measure(points([(0.5, 0.5, 0.5)], [(speed, 0.0, 0.0)]))
    assert fields.samples == 4 and fields.temperature[0, 0, 0] == pytest.approx(1.0 / 3.0, rel=1e-12)
    assert fields.density[0, 0, 0] == pytest.approx(2500.0 * 4 / 3 * np.pi * 1e-12, rel=1e-12)


def still(position, orientation, velocity, walls=True):
    """The packing at one instant, elastic, so that its forces depend on the poses alone."""
    sim = md.Simulation(ELASTIC, md.box_walls((0, 0, 0), (0.6, 0.6, 0.6)) if walls else None, dt=1e-4)
    sim.add_clumps(CLUMP, position, orientation, velocity=velocity)
    return sim


VECTORS, TENSORS = ("momentum", "wall_force"), ("contact_stress", "kinetic_stress")


@pytest.mark.parametrize("how", ["turned by axes", "turned at will", "in another order"])
def test_symmetry(how):
    """The kernel is isotropic; at will: fields at a point, of clumps that are all within its reach."""
    sim, rng, walls, order = packing(), np.random.default_rng(3), True, np.arange(100)
    state, grid = (sim.position, sim.orientation, sim.velocity), (*FLOOR, (0.04, 0.05, 0.06))
    turn, turned_grid = np.array([1.0, 0.0, 0.0, 0.0]), grid
    if how == "turned by axes":                         # x, y, z -> y, z, x
        turn, turned_grid = np.full(4, 0.5), [np.roll(part, 1) for part in grid]
    elif how == "turned at will":
        turn, state, walls = rng.normal(size=4), (state[0] - state[0].mean(0), *state[1:]), False
    else:
        order = rng.permutation(100)
    turns = np.tile(turn / np.linalg.norm(turn), (100, 1))
    matrix = rotate(turns[:3], np.eye(3)).T
    if how == "turned at will":
        place = np.array([0.02, -0.1, 0.05])
        grid, turned_grid = ((at, at, (1, 1, 1), 0.25) for at in (place, matrix @ place))
    turned = [rows[order] for rows in (rotate(turns, state[0]), multiply(turns, state[1]), rotate(turns, state[2]))]
    first, other = (fields_of(still(*what, walls=walls), *where) for what, where in (
        (state, grid), (turned, turned_grid)))
    for name in ("density", *VECTORS, *TENSORS):
        values = getattr(first, name)
        if name in VECTORS:
            values = values @ matrix.T
        elif name in TENSORS:
            values = matrix @ values @ matrix.T
        if how == "turned by axes":
            values = values.transpose(2, 0, 1, *range(3, values.ndim))
        close(getattr(other, name), values, 1e-11)


def test_parts_add_up():
    """Clumps that are chosen and the others: densities, momenta and contact stresses add up to those of all; the stress
    is that of the ends of contacts at the chosen ones."""
    sim = packing()
    grid = around(sim, (3, 3, 4), 0.02)
    whole, one, other = (Fields(*grid, clumps=chosen) for chosen in (
        None, lambda sim: np.arange(sim.n_clumps) % 3 == 0, lambda sim: np.arange(sim.n_clumps) % 3 != 0))
    for fields in whole, one, other:
        fields.measure(sim)
    for name in ("density", "momentum", "contact_stress", "wall_force"):
        close(getattr(one, name) + getattr(other, name), getattr(whole, name), 1e-13)
    assert np.sum(one.density) * volume_of(one) == pytest.approx(sim.mass[::3].sum(), rel=1e-12)
    contacts, ends = sim.contacts(), np.zeros((3, 3))
    for name, sign in (("clump_i", 1.0), ("clump_j", -1.0)):
        mine = contacts[(contacts[name] >= 0) & (contacts[name] % 3 == 0)]
        ends += sign * mine["force"].T @ (sim.position[mine[name]] - mine["point"])
    close(one.contact_stress.sum((0, 1, 2)) * volume_of(one), ends, 1e-12)
    with pytest.raises(ValueError, match="result of clumps"):
        Fields(*grid, clumps=lambda sim: [True]).measure(sim)
