"""Walls that are moved, added and removed between two runs, and walls under a pressure."""
import copy
from dataclasses import replace

import numpy as np
import pytest
from bit_systems import bits, through_a_file
from reference_walls import plate

import minidem as md
from minidem.initial import place_densely
from minidem.scenarios import periodic_grains as grains, triaxial

SMOOTH, BALL, SIDE = md.Material(2e7, 0.3), md.ClumpTemplate([(0, 0, 0)], [0.01], 2600.0), 0.1


def swing(t):
    return (0.002 * np.sin(30.0 * t), 0.0, 0.001 * np.cos(50.0 * t)), (0.0, 0.0, 0.5 * t)


def pressed(dt=4e-5):
    """Balls on a mesh between planes, under a lid that comes down."""
    walls = [*md.box_walls((0, 0, 0), (SIDE, SIDE, 1.0))[:4],
             md.MeshWall(plate(4, -0.05, 0.15, jitter=0.0), name="floor"),
             md.Plane((0, 0, 0.15), (0, 0, -1), name="lid", velocity=(0, 0, -0.3))]
    sim = md.Simulation(md.Material(2e7, 0.3, restitution=0.5, friction=0.5), walls, contact="hertz-mindlin", dt=dt,
                        gravity=(0, 0, -9.81))
    sim.add_clumps(BALL, place_densely([BALL], [60], (0, 0, 0.001), (SIDE, SIDE, 0.15), np.random.default_rng(1))[0][0])
    sim.run(round(0.13 / dt))
    return sim


CHANGES = (
    lambda sim: sim.walls.move("lid", velocity=(0, 0, -0.1)),
    lambda sim: sim.walls.move("lid", md.Servo(pressure=2e3, mass=0.5, damping=5.0)),
    lambda sim: sim.walls.move("floor", md.Oscillation((0, 0, 0.001), 20.0, phase=1.0)),
    lambda sim: sim.walls.move("floor", swing, angular_velocity=(0.1, 0, 0)),
    lambda sim: sim.walls.move("lid", md.Servo(force=30.0, mass=0.5, damping=5.0)),
    lambda sim: sim.walls.move("lid"),
    lambda sim: sim.walls.remove(1),                     # the others get other numbers
    lambda sim: sim.walls.add(md.Plane((sim.position[:, 0].max() + 0.0095, 0, 0), (-1, 0, 0), velocity=(-0.1, 0, 0))),
    lambda sim: sim.walls.move("lid", md.Driven(mass=0.5, force=20.0, damping=1.0)),
    lambda sim: sim.walls.move("floor", surface_velocity=(0.3, 0, 0), surface_angular_velocity=(0, 0, 2.0)),
    lambda sim: sim.walls.move("floor", md.Driven(inertia=1e-3, axis=(0, 0, 1), moment=1e-3)))


def test_order_of_the_balance():
    errors = []
    for dt in (4e-5, 1e-5):
        sim, balance = pressed(dt), []
        for change in CHANGES:
            before = sim.energy()
            change(sim)
            after = sim.energy()
            assert after.balance == pytest.approx(before.balance, abs=1e-13)
            assert after.work == pytest.approx(before.work, abs=1e-13) and after.dissipated == before.dissipated
            if len(balance) < 6:                        # springs of friction persist
                assert after.elastic_tangential == before.elastic_tangential > 0.0
            sim.run(round(0.02 / dt))
            balance.append(sim.energy().balance - after.balance)
        errors.append(np.abs(balance).max())
    assert errors[1] < errors[0] / 10.0 and errors[0] < 3e-4 and abs(sim.energy().exchanged) > 1e-4


@pytest.mark.usefixtures("many_threads_and_sorts")
def test_equal_bits_over_threads_parts_copies_and_files(tmp_path):
    sims = [pressed()]
    sims.append(copy.deepcopy(sims[0]))
    for k, change in enumerate(CHANGES):
        sims[1] = copy.deepcopy(sims[1]) if k % 2 else through_a_file(
            sims[1], tmp_path, threads=3, motions={n: swing for n, wall in enumerate(sims[1].walls)
                                                   if wall.motion is swing})
        for sim, parts in zip(sims, (1, 5)):
            change(sim)
            for _ in range(parts):
                sim.run(60 // parts)
        assert bits(sims[0]) == bits(sims[1]) and sims[0].energy() == sims[1].energy()


def test_a_removed_wall_takes_the_energy_of_its_contact():
    floor, lid = md.Plane((0, 0, -0.0098), (0, 0, 1)), md.Plane((0, 0, 0.0097), (0, 0, -1), name="lid")
    sim = md.Simulation(SMOOTH, [floor, lid], dt=1e-6)
    sim.add_clumps(BALL, [(0, 0, 0)])
    sim.run(1)
    energy = sim.contacts()["energy"]
    sim.walls.remove("lid")
    assert sim.energy().exchanged == pytest.approx(-energy.max(), rel=1e-9)
    sim.run(3000)
    assert len(sim.contacts()) == 0 and sim.energy().kinetic == pytest.approx(energy.min(), rel=1e-3)


def test_motions_begin_at_the_present_place():
    sim = md.Simulation(SMOOTH, [md.MeshWall(plate(2), motion=swing, name="m")], dt=1e-3)
    sim.run(300)
    place = sim.walls.at_rest[0]
    sim.walls.move("m", motion=swing, velocity=(0, 2, 0))
    sim.run(200)
    (x, y, z), shift = (place.points - place.center).T, np.subtract(swing(0.5)[0], swing(0.3)[0]) + (0, 0.4, 0)
    turned = np.stack([np.cos(0.1) * x - np.sin(0.1) * y, np.sin(0.1) * x + np.cos(0.1) * y, z], axis=1)
    np.testing.assert_allclose(sim.walls.at_rest[0].points, place.center + shift + turned, atol=1e-14)
    corner = sim.walls.at_rest[0].points[0]
    sim.walls.move("m", md.Servo(direction=(1, 0, 0), force=0.0, mass=1.0), velocity=(0, 3, 0))
    sim.run(100)
    assert sim.walls.overlap([(*corner + (0, 0.3, 0), 1e-6)]).all()     # where spheres touch it
    for force in 5.0, 0.0:                              # the second one begins with the velocity of the first
        start = sim.walls.at_rest[0].center[0]
        sim.walls.move("m", md.Servo(direction=(1, 0, 0), force=force, mass=1.0))
        sim.run(100)
    assert sim.walls.at_rest[0].center[0] - start == pytest.approx(0.05, rel=0.01)


def test_a_servo_begins_at_this_instant():
    """A wall without contacts falls freely, through any number of phases, and slows down with order 2."""
    for phases in 1, 10:
        sim, servo = md.Simulation(SMOOTH, [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-3), md.Servo(force=4.0, mass=2.0)
        for _ in range(phases):
            sim.walls.move(0, servo)
            sim.run(100 // phases)
        assert [sim.walls.at_rest[0].point[2], sim.walls.velocity(0)[0][2]] == pytest.approx([0.01, 0.2], rel=1e-12)
    errors = []
    for dt in 1e-2, 5e-3:
        servo = md.Servo(force=4.0, mass=2.0, damping=20.0)
        sim = md.Simulation(SMOOTH, [md.Plane((0, 0, 0), (0, 0, 1), motion=servo)], dt=dt)
        sim.run(round(0.1 / dt))
        sim.walls.move(0, md.Servo(force=-8.0, mass=2.0, damping=20.0))
        sim.run(round(0.1 / dt))
        fall = np.exp(-1.0)
        speed = 0.2 * (1.0 - fall) + 0.4                # at the change, beside the last one
        errors.append(np.abs([sim.walls.at_rest[0].point[2] - (0.02 * fall - 0.04 + 0.1 * speed * (1.0 - fall)),
                              sim.walls.velocity(0)[0][2] - (speed * fall - 0.4)]))
    assert (errors[1] < 0.3 * errors[0]).all()


def test_area_of_an_empty_box():
    """Six walls with drag: dL/dt = -2 p L^2 / c."""
    servo = md.Servo(pressure=100.0, mass=1e-3, damping=200.0)
    sim = md.Simulation(SMOOTH, [replace(one, motion=servo) for one in md.box_walls((0, 0, 0), (1, 1, 1))], dt=1e-4)
    sim.run(10000)
    assert sim.walls.at_rest[1].point[0] - sim.walls.at_rest[0].point[0] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("mass, area", [(0.5, None), (1e-9, None), (1e-9, SIDE ** 2), (0.5, lambda t: SIDE ** 2)])
def test_held_pressure(mass, area):
    sim = pressed()
    sim.walls.move("lid", md.Servo(pressure=2e3, mass=mass, damping=5.0, area=area))
    sim.run_until(0.6)
    assert sim.walls.force("lid")[2] / SIDE ** 2 == pytest.approx(2e3, rel=1e-3)
    with pytest.raises(ValueError, match=r"walls\[4\]: its area does not follow"):
        sim.walls.move("floor", md.Servo(direction=(0, 0, 1), pressure=1.0, mass=1.0))


@pytest.mark.slow
def test_strength_in_a_triaxial_test():
    """q/p between smooth walls, and in the periodic box of scenarios/triaxial.py: 0.760 +- 0.004 of 4 x 1000 grains."""
    unit, dt, found = grains.time_unit(1.0, 1000), grains.step_of(1.0), []
    smooth, rough = grains.material(0.0, 0.5), grains.material(0.5, 0.5)
    for seed in 1, 2:
        start = grains.placed(1.0, 1000, seed, shape=(1.0, 1.0, 1.5))
        mass = start.template.mass * np.sum(start.scale ** 3)
        servo = md.Servo(pressure=grains.PRESSURE, mass=0.1 * mass, damping=0.1 * mass / unit)
        walls, position = md.box_walls(start.low, start.high), start.position
        for material in smooth, rough:                  # dense, by consolidation without friction
            sim = md.Simulation(material, [replace(one, material=smooth, motion=servo) for one in walls], dt=dt,
                                contact="hertz-mindlin", pairs=[md.Pair(smooth, rough, restitution=0.5, friction=0.0)])
            sim.add_clumps(start.template, position, scale=start.scale)
            sim.run(round(30.0 * unit / dt))
            walls, position = sim.walls.at_rest, sim.position
        rate, half = triaxial.INERTIAL / unit, 0.5 * (walls[5].point[2] - walls[4].point[2])
        for k, sign in (4, -1.0), (5, 1.0):
            sim.walls.move(k, lambda t, a=sign * half, rate=rate, since=sim.time: (
                (0, 0, a * np.expm1(-rate * (t - since))), (0, 0, 0)))
        stress = []
        sim.run(round(0.3 / rate / dt))
        sim.run(round(0.2 / rate / dt), every=100, callback=lambda sim,
                to=stress: to.append(np.diag(sim.stress(kinetic=True))))
        x, y, z = np.mean(stress, axis=0)
        assert [x, y] == pytest.approx([grains.PRESSURE] * 2, rel=0.02)
        found.append((z - 0.5 * (x + y)) * 3.0 / (x + y + z))
    assert np.mean(found) == pytest.approx(0.76, rel=0.08)             # layers at the walls are weaker


def test_a_loop_that_is_discarded_changes_no_state_that_is_used(monkeypatch):
    """Where contacts end with a wall, and another wall carries clumps: a second loop begins as the first one did."""
    from minidem.engine.snapshot import Snapshot
    from minidem.simulation import topic
    loops, begun, driver, begun_again = [], [], topic.Driver, Snapshot.begun_again

    def recorded(settings, snapshot, like=None):
        loops.append(snapshot.state)
        return driver(settings, snapshot, like)

    sim = md.Simulation(SMOOTH, [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-4, gravity=(0, 0, -9.81))
    sim.add_clumps(BALL, [(0.5, 0.5, 0.00999)])
    sim.add_clumps(BALL, [(0.0, 0.0, 5.0)], motion=md.Oscillation((0, 0, 0.01), 1.0))
    sim.run(10)
    loops.append(sim.loop.state)
    monkeypatch.setattr(topic, "Driver", recorded)
    monkeypatch.setattr(Snapshot, "begun_again",
                        lambda self, *more: begun.append(self.state) or begun_again(self, *more))
    sim.walls.remove(0)
    assert len(loops) == 3 and len(begun) == 1 and not any(state is begun[0] for state in loops)
