"""What is measured in contacts and flows: stress, forces on walls, order, profiles; files of coarse-grained fields."""
import numpy as np
import pytest
from scenes import BALL, ELASTIC, MATERIAL, MOTIONS, ROLLING, SHORT_ROD as ROD, gas, material_for, settling

import minidem as md
from minidem.analysis import flow
from minidem.analysis.averages import block_mean
from minidem.analysis.coarse import UNITS, Fields
from minidem.analysis.contacts import rattlers

RADIUS, GRAVITY, FLOOR = 0.04, 9.81, md.Plane((0, 0, 0), (0, 0, 1))
STIFFNESS = 4.0 / 3.0 * md.effective_modulus(ELASTIC, ELASTIC)


def spheres(position, walls=(), contact="hertz", velocity=(0, 0, 0), gravity=(0, 0, 0)):
    sim = md.Simulation(material_for(contact), walls, contact=contact, dt=1e-5, gravity=gravity)
    sim.add_clumps(BALL, position, velocity=velocity)
    return sim


def column(n=4, contact="hertz"):
    """n spheres in equilibrium above each other, and their heights: each contact bears the weight above it."""
    weight = BALL.mass * GRAVITY * np.arange(n, 0, -1)
    radius = np.r_[RADIUS, np.full(n - 1, 0.5 * RADIUS)]                # effective: wall, spheres
    overlap = (weight / (STIFFNESS * np.sqrt(radius))) ** (2.0 / 3.0)
    height = np.cumsum(np.r_[RADIUS, np.full(n - 1, 2.0 * RADIUS)] - overlap)
    box = md.box_walls((0.0, 0.0, 0.0), (1.0, 0.5, 2.0))
    return spheres(np.column_stack([np.full((n, 2), 0.2), height]), box, contact, gravity=(0, 0, -GRAVITY)), height


LENGTH = 1.98 * RADIUS      # of the line of centres of two spheres


@pytest.mark.parametrize("axis, low, high, part", [
    ((0.0, 1.0, 0.0), (-1.0, -1.0, -1.0), (1.0, 0.5 * LENGTH, 1.0), 0.5),
    ((2 / 3, -1 / 3, 2 / 3), (LENGTH / 6, -1.0, -1.0), (1.0, 1.0, LENGTH / 2), 0.5)])
def test_stress_of_two_spheres(axis, low, high, part):
    """F l n n / V along the line of centres, of which a box takes the part of the line inside."""
    sim = spheres([(0.0, 0.0, 0.0), LENGTH * np.array(axis)])
    force = STIFFNESS * np.sqrt(0.5 * RADIUS) * (0.02 * RADIUS) ** 1.5
    expected, volume = force * LENGTH * np.outer(axis, axis), np.prod(np.subtract(high, low))
    for given, found in ((sim.stress(volume=3.0), expected / 3.0),
                         (sim.stress(low=(-1.0, -0.5, -0.5), high=(0.5, 1.5, 0.5)), expected / 3.0),
                         (sim.stress(low=low, high=high), part * expected / volume),
                         (sim.stress(low=(1.0, -1.0, -1.0), high=(2.0, 1.0, 1.0)), 0.0 * expected)):
        np.testing.assert_allclose(given, found, rtol=1e-11, atol=1e-11 * force * LENGTH)


def test_stress_of_a_sliding_sphere():
    """Force in the row, vector in the column: the stress of friction on a wall is not symmetric."""
    sim = spheres((0.0, 0.0, 0.99 * RADIUS), [FLOOR], "hertz-mindlin", velocity=(3.0, 0.0, 0.0))
    sim.run(20)
    force, height = -sim.walls.force(0), sim.position[0, 2]
    assert force[0] == pytest.approx(-MATERIAL.friction * force[2], rel=1e-4) and force[2] > 0.0
    expected = np.zeros((3, 3))
    expected[:, 2] = force * height / 5.0
    np.testing.assert_allclose(sim.stress(volume=5.0), expected, rtol=1e-12, atol=1e-12 * force[2])


def test_kinetic_stress():
    """m v' v' / V relative to the mean velocity, of the clumps in the box."""
    sim = spheres([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (9.0, 0.0, 0.0)],
                  velocity=[(5.0, 1.0, 0.0), (3.0, -1.0, 0.0), (9.0, 9.0, 9.0)])
    corners = {"low": (-1.0, -1.0, -1.0), "high": (2.0, 1.0, 1.0)}
    expected = BALL.mass * 2.0 * np.outer([1, 1, 0], [1, 1, 0]) / 12.0
    np.testing.assert_allclose(sim.stress(**corners, kinetic=True), expected, rtol=1e-12)
    assert not sim.stress(**corners).any() and not sim.stress(low=(3,) * 3, high=(4,) * 3, kinetic=True).any()
    sim.add_clumps(BALL, (0.0, 0.9, 0.0), velocity=(0.0, 0.0, 7.0), scale=0.5)
    inside = [0, 1, 3]
    expected = np.cov(sim.velocity[inside].T, aweights=sim.mass[inside], ddof=0) * sim.mass[inside].sum() / 12.0
    np.testing.assert_allclose(sim.stress(**corners, kinetic=True), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin"])
def test_column_at_rest(contact):
    """The bottom wall bears the weight; so does each slab between two centres that of the spheres above it."""
    sim, height = column(contact=contact)
    weight = BALL.mass * GRAVITY
    np.testing.assert_allclose(sim.walls.force(4), [0.0, 0.0, -4.0 * weight], rtol=1e-9, atol=1e-12)
    assert not any(sim.walls.force(k).any() or sim.walls.torque(k).any() for k in (0, 1, 2, 3, 5))
    np.testing.assert_allclose(sim.walls.torque(4), np.cross([0.2, 0.2, 0.0], sim.walls.force(4)), rtol=1e-9)
    np.testing.assert_allclose(sim.walls.torque(4, about=(0.2, 0.2, 7.0)), 0.0, atol=1e-9)
    for k, (low, high) in enumerate(zip(np.r_[0.0, height[:-1]], height)):
        stress = sim.stress(low=(0.0, 0.0, low + 1e-3), high=(1.0, 0.5, high - 1e-3))
        assert stress[2, 2] == pytest.approx((4 - k) * weight / 0.5, rel=1e-6)
        assert np.count_nonzero(np.abs(stress) > 1e-9 * stress[2, 2]) == 1
    whole = np.sum((4 - np.arange(4)) * weight * np.diff(np.r_[0.0, height]))
    assert sim.stress()[2, 2] == pytest.approx(whole / 1.0, rel=1e-6)                   # the box has 1 m3


@pytest.mark.parametrize("contact", ["hertz", ROLLING])
def test_forces_on_walls_change_the_momentum(contact):
    """The leapfrog adds the trapezoidal sum of all forces to the momentum, their moments to the spin of spheres."""
    sim, about = settling(contact=contact, template=BALL), (0.3, 0.1, 0.2)
    sim.run(500)
    mass, impulse, twist = sim.mass.sum(), np.zeros(3), np.zeros(3)
    momentum, spin = sim.linear_momentum(), sim.angular_momentum(about)
    steps = 300
    for k in range(steps + 1):
        force = mass * np.array(sim.gravity) - sum(sim.walls.force(w) for w in range(6))
        weights = sim.mass[:, None] * np.array(sim.gravity)
        torque = np.cross(sim.position - about, weights).sum(0)
        torque -= sum(sim.walls.torque(w, about=about) for w in range(6))
        share = 0.5 if k in (0, steps) else 1.0
        impulse, twist = impulse + share * sim.dt * force, twist + share * sim.dt * torque
        if k < steps:
            sim.run(1)
    assert np.count_nonzero(sim.contacts()["clump_j"] < 0) > 5
    np.testing.assert_allclose(sim.linear_momentum() - momentum, impulse, atol=1e-9 * np.abs(momentum).max())
    # rolling couples on a wall are no part of the moment of its forces
    np.testing.assert_allclose(sim.angular_momentum(about) - spin, twist, atol=1e-8 * np.abs(spin).max())


def test_coordination_number():
    """Two rods of three spheres side by side on a wall, a ball apart: six contacts with it, three with each other."""
    rod = md.ClumpTemplate([(-0.1, 0.0, 0.0), (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)], [RADIUS] * 3)
    sim = spheres([(0.0, 0.0, 1.0)], [FLOOR])
    sim.add_clumps(rod, [(0.0, 0.0, 0.0395), (0.0, 0.079, 0.0395)])
    contacts, columns = sim.contacts(), sim.io.contact_columns()
    assert len(contacts) == 9 and all(column.shape == (9,) for column in columns.values())
    assert np.array_equal(columns["force_y"], contacts["force"][:, 1]) and columns["force_y"].any()
    for options, expected in (({}, 12), ({"walls": False}, 6), ({"neighbours": True}, 4),
                              ({"walls": False, "neighbours": True}, 2)):
        assert sim.coordination_number(**options) == pytest.approx(expected / 3.0)
    assert spheres(np.zeros((0, 3))).coordination_number() == 0.0



def test_profile():
    """Clumps at rest in the flow: linear to half a slab, the same from images whole boxes away."""
    sim = gas(MOTIONS["shear"], solid_fraction=0.05, speed=0.0)
    sim.run(1)
    rate, slabs = 5.0, flow.profile(sim, 5)
    thickness = sim.box.length[1] / 5
    assert flow.granular_temperature(sim) < 1e-12 and slabs["clumps"].sum() == sim.n_clumps
    assert slabs["solid_fraction"].mean() == pytest.approx(sim.n_clumps * ROD.volume / sim.box.volume, rel=1e-12)
    linear = rate * (slabs["position"] - sim.box.center[1])
    assert np.abs(slabs["velocity_x"] - linear).max() < 0.5 * rate * thickness
    assert np.abs(slabs["velocity_y"]).max() < 1e-9 and slabs["temperature"].max() < (rate * thickness) ** 2 / 12 * 1.5
    moved = md.Simulation(md.Material(1e7, 0.3), dt=2e-5, periodic=md.PeriodicBox(
        sim.box.low, sim.box.high, axes=(True,) * 3, shear=("x", "y", rate)))
    start = sim.position - sim.dt * sim.velocity
    moved.add_clumps(ROD, start + np.arange(sim.n_clumps)[:, None] % 3 * [0.0, sim.box.length[1], 0.0], sim.orientation)
    moved.run(1)
    again = flow.profile(moved, 5)
    for name in "velocity_x", "temperature", "clumps", "order":
        assert again[name] == pytest.approx(slabs[name], rel=1e-9, abs=1e-12)


def rods(along, **options):
    sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-5, **options)
    half = np.asarray(along, dtype=float) + [0.0, 0.0, 1.0]     # the rotation by pi about it takes z to the vector
    turn = half / np.linalg.norm(half, axis=1)[:, None]
    places = np.arange(len(turn))[:, None] * [1.0, 0.0, 0.0]
    sim.add_clumps(md.shapes.rod(0.5, 0.1, 6, 1000.0), places, np.column_stack([np.zeros(len(turn)), turn]))
    return sim


@pytest.mark.parametrize("axis", [(0.6, 0.8, 0.0), (0.0, 0.0, 1.0), (1 / 3, -2 / 3, 2 / 3)])
def test_order_of_rods(axis):
    """Of parallel rods, of rods along all three axes, and of spheres, which have none."""
    sim = rods([axis] * 5)
    assert flow.nematic_order(sim) == pytest.approx(1.0, rel=1e-14)
    assert abs(flow.director(sim) @ axis) == pytest.approx(1.0, rel=1e-14)
    assert flow.nematic_tensor(sim) == pytest.approx(1.5 * np.outer(axis, axis) - 0.5 * np.eye(3), abs=1e-14)
    sim = rods(np.eye(3))
    assert flow.nematic_order(sim) == pytest.approx(0.0, abs=1e-14)
    assert flow.nematic_tensor(sim) == pytest.approx(np.zeros((3, 3)), abs=1e-14)
    sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-5)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1], density=1000.0), [(0, 0, 0)])
    assert np.isnan(flow.nematic_order(sim))


@pytest.mark.parametrize("flow_axis, gradient, expected", [("x", "y", np.arctan(0.5)), ("y", "z", -np.arctan(2.0))])
def test_angle_of_the_director(flow_axis, gradient, expected):
    """From the flow axis towards the gradient axis, of either end of the rods."""
    along = np.array([2.0, 1.0, -2.0]) / 3.0
    box = md.PeriodicBox((0,) * 3, (3,) * 3, axes=(True,) * 3, shear=(flow_axis, gradient, 1.0))
    assert flow.director_angle(rods([along, -along], periodic=box)) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match=r"periodic = None: without shear .* shear="):
        flow.director_angle(rods([along]))


def test_rotation_and_tumbling():
    """Rods along the axes of flow, gradient and vorticity that all turn about the last: the third one rolls."""
    sim = rods(np.eye(3), periodic=md.PeriodicBox((0,) * 3, (3,) * 3, axes=(True,) * 3, shear=("x", "y", 4.0)))
    sim.set_motion(sim.ids, angular_velocity=(0.0, 0.0, -1.0))
    sim.run(1)
    assert flow.relative_rotation(sim) == pytest.approx(0.5, rel=1e-9)
    assert flow.relative_rotation(sim, tumbling=True) == pytest.approx(1.0 / 3.0, rel=1e-9)


def test_block_mean():
    mean = block_mean(np.arange(10.0), 2)
    assert mean.value == 4.5 and mean.error == pytest.approx(2.5)
    noise = np.random.default_rng(1).normal(0.0, 1.0, 40000)
    assert block_mean(noise, 100).error == pytest.approx(1.0 / 200.0, rel=0.3)


def test_rattlers():
    """What is held by others that are not held is left out in the end; walls hold."""
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / np.sqrt(3.0)
    ball = md.ClumpTemplate([(0, 0, 0)], [0.5], density=1000.0)
    sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-5)
    sim.add_clumps(ball, [(0, 0, 0), *(0.999 * corners)])               # the outer ones have one contact each
    assert rattlers(sim, 1).sum() == 0 and rattlers(sim, 2).all()
    assert sim.coordination_number() == pytest.approx(8 / 5) and sim.coordination_number(rattling=False) == 0.0
    sim = md.Simulation(md.Material(1e7, 0.3), md.box_walls((-0.499,) * 3, (0.499,) * 3), dt=1e-5)
    sim.add_clumps(ball, [(0, 0, 0)])
    assert not rattlers(sim).any() and sim.coordination_number(rattling=False) == 6.0 and rattlers(sim, 7).all()


def measured(sim, high, cells):
    fields = Fields((2, 2, 0), high, cells, 0.4)
    fields.measure(sim)
    return fields


@pytest.mark.parametrize("high, cells", [((4, 4, 2.5), (3, 2, 5)), ((4, 2, 2.5), (3, 1, 5)), ((2, 2, 2.5), (1, 1, 5)),
                                         ((2, 2, 0), (1, 1, 1))], ids=["volume", "plane", "line", "point"])
def test_vti_read_back(high, cells, dimers_on_floor, tmp_path):
    fields = measured(dimers_on_floor, high, cells)
    fields.write_vti(tmp_path / "fields.vti")
    image, flat = pytest.importorskip("pyvista").read(tmp_path / "fields.vti"), np.equal((2, 2, 0), high)
    assert image.dimensions == tuple(np.array(cells) + ~flat) and image.cell_data.keys() == list(UNITS)
    np.testing.assert_allclose(image.bounds, np.ravel([(2, 2, 0), high], order="F"))
    centers = image.cell_centers().points
    for number, backwards in enumerate(np.ndindex(cells[::-1])):
        cell = backwards[::-1]
        np.testing.assert_allclose(centers[number], [axis[k] for axis, k in zip(fields.centers, cell)])
        for name in UNITS:
            np.testing.assert_array_equal(image[name][number].ravel(), getattr(fields, name)[cell].ravel())


def test_csv_read_back(dimers_on_floor, tmp_path):
    fields = measured(dimers_on_floor, (4, 4, 2.5), (3, 2, 5))
    fields.write_csv(tmp_path / "fields.csv")
    table = np.genfromtxt(tmp_path / "fields.csv", delimiter=",", names=True)
    assert table.dtype.names[:7] == ("x", "y", "z", "density", "momentum_x", "momentum_y", "momentum_z")
    for name, column in fields.columns().items():
        np.testing.assert_array_equal(table[name], column)
    np.testing.assert_array_equal(table["z"].reshape(3, 2, 5)[1, 0], fields.centers[2])
    np.testing.assert_array_equal(table["contact_stress_zx"].reshape(3, 2, 5), fields.contact_stress[..., 2, 0])
    assert [len(axis) for axis in fields.edges] == [4, 3, 6]
    assert repr(fields).endswith("cells [3, 2, 5], width [0.4, 0.4, 0.4] m, 1 samples>")


def test_empty_cells(dimers_on_floor):
    fields = Fields((8, 8, 8), (9, 9, 9), (2, 2, 2), 0.1)
    fields.measure(dimers_on_floor)
    assert not fields.density.any() and not fields.contact_stress.any() and not fields.kinetic_stress.any()
    assert np.isnan(fields.velocity).all() and np.isnan(fields.temperature).all()
    fields.measure(md.Simulation(md.Material(1e7, 0.2), dt=1e-5))
    assert fields.samples == 2 and not fields.density.any()
