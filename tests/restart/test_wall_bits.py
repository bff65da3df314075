"""Bits with walls and periodic boxes: files, seams, half steps, motions that raise, boxes that are deformed."""
import copy

import numpy as np
import pytest
from bit_systems import MIXED, MULTISTAGE, bits, gas, spring, through_a_file
from reference_walls import MINDLIN, ROLLING, plate, simulation
from scenes import gas as moving_gas

import minidem as md

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")


def test_walls_of_checkpoints(tmp_path):
    directions = np.random.default_rng(1).normal(size=(40, 3))
    walls = [md.Plane((0, 0, 0), n) for n in directions] + [
        shape for n in directions for shape in (md.Cylinder((0, 0, 0), n, 2.0), md.Cone((0, 0, 0), n, (1, 2), 3))]
    sim = simulation(walls, "hertz")
    for other in through_a_file(sim, tmp_path), copy.deepcopy(sim):
        assert other.walls == sim.walls
    for n in directions:
        servo = md.Servo(direction=n, force=1.0, mass=1.0)
        assert md.Servo(direction=servo.direction, force=1.0, mass=1.0) == servo


@pytest.mark.parametrize("seed", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_order_of_contacts_over_seams(seed, tmp_path):
    """Sums of three forces do not depend on the triangles on which contacts began, unknown to what is loaded."""
    points, triangles = plate(16, -1.0, 1.0, jitter=0.0)
    points[:, 2] = 0.8 * np.abs(points[:, 0])
    triangles = np.random.default_rng(seed).permutation(triangles)
    walls = [md.MeshWall((points, triangles)), md.Plane((0, -0.9, 0), (0, 1, 0), velocity=(0, 1.0, 0))]
    sim = simulation(walls, MINDLIN, 2e-4, gravity=(0, -6, -9), threads=1)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1], density=2500.0), [(0.0, y, 0.127) for y in (-0.79, -0.58)])
    sim.run(610)
    for _ in range(50):                                 # each contact moves on to another triangle
        sim.run(5)
        other = through_a_file(sim, tmp_path)
        for simulated in sim, other:
            simulated.run(1)
        assert np.array_equal(other.force, sim.force) and np.array_equal(other.velocity, sim.velocity)


def test_walls_at_half_steps():
    """Collisions with walls that move fast are of second order, with half steps too."""
    def end(rotation, dt):
        sim = simulation([md.MeshWall(plate(3), velocity=(0.5, 0, 1.7)), md.Cylinder(
            (0, 0, 0.6), (0, 1, 0), 0.2, outside=True, motion=md.Oscillation((0, 0, 0.05), 3.0))], "hertz", dt,
            rotation=rotation)
        sim.add_clumps(MIXED, [(0.001, 0.002, 0.1)], velocity=(0, 0, -0.5))
        sim.run(round(0.12 / dt))
        assert len(sim.contacts()) == 0
        return np.concatenate([sim.velocity[0], sim.angular_velocity[0], [sim.energy().work]])
    exact = end("spiral", 6.25e-6)
    assert np.abs(exact[3:6]).max() > 1.0 and exact[6] > 1.0
    for rotation in "spiral", MULTISTAGE:
        errors = [np.abs(end(rotation, dt) - exact).max() for dt in (4e-4, 1e-4)]
        assert errors[1] < errors[0] / 6 and errors[1] < 2e-3


@pytest.mark.parametrize("fails_at", [0.2, 0.19, 0.1802])
def test_motion_that_raises(fails_at):
    """The state is that before the step; the run continues when the function works again."""
    def motion(t):
        if t > end[0]:
            raise ZeroDivisionError
        return (0.05 * np.sin(9.0 * t), 0.0, 0.1 * t), (0.0, 0.0, 0.0)
    end = [np.inf]
    sims = [simulation([md.MeshWall(plate(5), motion=motion)], MINDLIN, 2e-4, gravity=(0, 0, -9)) for _ in range(2)]
    for sim in sims:
        sim.add_clumps(MIXED, [(0, 0, 0.06)])
        sim.run(900)
    end[0], before = fails_at, bits(sims[0])
    with pytest.raises(ZeroDivisionError):              # poses may be known for a thousand steps
        sims[0].run(1500)
    junk = [np.full((n, 2, 24), 7.0) for n in (1, 101, 201, 301, 401, 501, 1001)]       # in memory that was freed
    end[0] = np.inf
    assert bits(sims[0]) == before or sims[0].step_count > 900 and junk
    for sim in sims:
        sim.run(2500 - sim.step_count)
    assert bits(sims[0]) == bits(sims[1])


def test_added_and_removed_clumps_keep_their_box_lengths():
    """Positions of the others do not change, and the new clump is where it was added."""
    sim = gas("hertz")
    sim.run(257)
    position, orientation, shift = np.array(sim.position), np.array(sim.orientation), np.array(sim.loop.state.shift)
    assert np.any(shift)
    sim.remove_clumps(sim.ids[::3])
    kept = np.arange(len(position)) % 3 > 0
    assert np.array_equal(sim.position, position[kept]) and np.array_equal(sim.loop.state.shift, shift[kept])
    sim.add_clumps(sim.templates[0], position[0], orientation[0])
    assert np.array_equal(sim.position[:-1], position[kept]) and np.array_equal(sim.position[-1], position[0])


def test_compiled_forces_see_positions_in_unbounded_space():
    """A spring to the origin, as in Python, for rods that were wrapped; also after a spatial sort."""
    one, other = gas("hertz", threads=2), gas("hertz", threads=1)
    one.forces.add(spring)
    other.forces.add(lambda t, x, v, q, w: (-20.0 * x - 0.5 * v, -1e-3 * w))
    for sim in one, other:
        sim.run(400)
    assert np.any(np.abs(one.loop.state.shift) >= 2)
    np.testing.assert_allclose(one.position, other.position, rtol=0, atol=1e-9)
    assert one.energy().work == pytest.approx(other.energy().work, rel=1e-9)


# --- Periodic boxes that move.

def test_a_rate_that_is_a_function_is_given_again(tmp_path):
    sim = moving_gas({"shear": ("z", "x", lambda t: 5.0)}, n=8, solid_fraction=0.02)
    with pytest.raises(ValueError, match="motions: the rate of the periodic box is a function"):
        through_a_file(sim, tmp_path)
    assert through_a_file(sim, tmp_path, motions={"periodic": sim.periodic}).n_clumps == 8


def test_precision_far_away():
    """Positions along the flow are wrapped, so that a long strain costs no digits."""
    sim = moving_gas({"shear": ("x", "y", 400.0)}, n=8, solid_fraction=0.01, dt=1e-4)
    sim.run(33_000)
    assert sim.box.strain[3] > 1000.0 and abs(sim.loop.state.in_slot_order("position")).max() < 1e3 * sim.box.length[0]
    inside = sim.wrapped_position
    assert (inside >= sim.box.low).all() and (inside <= sim.box.high).all()
    assert abs(inside + sim.box.displacement(sim.image) - sim.position).max() < 1e-9 * abs(sim.position).max()


def test_deform_has_the_bits_of_rates_that_are_functions(tmp_path):
    """Compressed, at rest, sheared, sheared back and stretched, with a checkpoint in each part."""
    parts, dt = [({}, 100), ({"rates": (0.0, -2.0, 0.0)}, 100), ({}, 50), ({"shear": ("x", "y", 5.0)}, 150),
                 ({"shear": ("x", "y", -3.0), "rates": (0.0, 0.0, 0.7)}, 100), ({}, 100)], 2e-5
    ends = [dt * sum(steps for _, steps in parts[:k + 1]) for k in range(len(parts) - 1)] + [1.0]
    def function(value):
        return lambda t: value(next(motion for (motion, _), end in zip(parts, ends) if t < end))
    rates = tuple(function(lambda motion, axis=axis: motion.get("rates", (0.0,) * 3)[axis]) for axis in range(3))
    shear = "x", "y", function(lambda motion: motion.get("shear", (0, 0, 0.0))[2])
    whole = moving_gas({"rates": rates, "shear": shear}, ROLLING, threads=1)
    whole.run(sum(steps for _, steps in parts))
    sim = moving_gas({}, ROLLING, threads=1)
    for motion, steps in parts:
        before = sim.energy()
        sim.deform(**motion)
        assert sim.energy() == before
        sim.run(steps // 2)
        sim = through_a_file(sim, tmp_path)
        sim.run(steps - steps // 2)
    assert bits(sim) == bits(whole)


def test_deform_of_clumps_that_are_boxes_away():
    """Clumps that have left a resting box take part in the shear of unbounded space."""
    sim = moving_gas({}, speed=30.0, solid_fraction=0.02, threads=1)
    sim.run(3000)
    away = sim.image.copy()
    assert abs(away).max() > 1
    before, velocity = sim.position.copy(), sim.velocity.copy()
    sim.deform(shear=("x", "y", 5.0))
    assert (sim.position == before).all() and (sim.velocity == velocity).all()
    sim.run(1)
    change = sim.velocity - velocity
    free = abs(change[:, 1:]).max(axis=1) == 0.0
    assert free.sum() > 50 and abs(change - sim.box.flow(before))[free].max() < 1e-9


def test_what_begins_later_does_so_after_a_restart(tmp_path):
    """Half a step at the beginning of a Servo and a Pressure, with the rate of the instant, saved before it is done."""
    sim = md.Simulation(md.Material(1e7, 0.3), [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-3, periodic=md.PeriodicBox(
        (0, 0, 0), (1, 1, 1), axes=(True, False, False), rates=(md.Pressure(50.0, 0.1), 0.0, 0.0)))
    sim.run(100)
    sim.walls.move(0, md.Servo(force=4.0, mass=2.0))
    sim.deform(rates=(md.Pressure(100.0, 0.05), 0.0, 0.0))
    sim.save(tmp_path / "begun.npz")
    ends = []
    for other in sim, md.Simulation.load(tmp_path / "begun.npz"), copy.deepcopy(sim):
        other.run(1)
        other.save(tmp_path / "one.npz")
        for one in other, md.Simulation.load(tmp_path / "one.npz"):
            one.run(99)
            ends.append([*one.strain, *one.walls.at_rest[0].point, *one.walls.velocity(0)[0]])
    assert ends == ends[:1] * 6 and ends[0][-1] == pytest.approx(0.2) and ends[0][0] < -0.1
