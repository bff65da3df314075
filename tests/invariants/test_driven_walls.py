"""Walls that clumps drive, and surfaces that move while their walls stay: closed forms, equations of motion."""
import numpy as np
import pytest
from reference_walls import BALL, MATERIAL, MINDLIN, ROLLING, plate, simulation
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import minidem as md

SMOOTH, RADIUS, G, TURN = md.Material(1e7, 0.3), 0.1, 9.81, (0, 0, 2.0)
ROUGH = md.Material(1e7, 0.3, restitution=0.6, friction=0.4)
MASS = BALL.mass * RADIUS ** 3
FLAP = np.array([(0, 0, -1), (1, 0, -1), (1, 0, 1), (0, 0, 1.0)]), [(0, 1, 2), (0, 2, 3)]
HINGE = {"axis": (0, 0, 1), "about": (0, 0, 0)}


@pytest.mark.parametrize("contact", (MINDLIN, ROLLING))
def test_turntable(contact):
    """A ball that rolls moves on a circle with the angular rate W / (1 + 2.5 (arm / radius)^2), 2 / 7 W if stiff."""
    depth = (0.75 * MASS * G / (md.effective_modulus(MATERIAL, MATERIAL) * np.sqrt(RADIUS))) ** (2 / 3)
    rate, ends = 2.0 / (1.0 + 2.5 * (1.0 - depth / RADIUS) ** 2), []
    spin = (2.0 - rate) * 0.3 / (RADIUS - depth)        # of rolling on a circle of radius 0.3 about the origin
    for table in (md.Plane((0, 0, 0), (0, 0, 1), angular_velocity=TURN),
                  md.Plane((0, 0, 0), (0, 0, 1), surface_angular_velocity=TURN),
                  md.MeshWall(plate(7, jitter=0.0), surface_angular_velocity=TURN, center=(0, 0, 0))):
        sim = simulation([table], contact, 2e-4, gravity=(0, 0, -G))
        sim.add_clumps(BALL, (0.3, 0, RADIUS - depth), velocity=(0, 0.3 * rate, 0), angular_velocity=(spin, 0, 0),
                       scale=RADIUS)
        sim.run(10000)
        ends.append([*sim.position[0], *sim.velocity[0], *sim.angular_velocity[0], sim.energy().work])
    if contact == MINDLIN:
        np.testing.assert_allclose(ends[0][:2], 0.3 * np.array([np.cos(2.0 * rate), np.sin(2.0 * rate)]), atol=2e-4)
    np.testing.assert_allclose(ends, ends[:1] * 3, rtol=0, atol=1e-11)


def test_piston_on_a_spring_of_grains():
    """Two balls between a floor and a piston with its equation of motion, solved by another method."""
    def load(t):
        return 30.0 * np.cos(40.0 * t) + 50.0

    def rates(t, y):
        low, middle, high = 1e4 * np.maximum(np.array([RADIUS, 2 * RADIUS, RADIUS]) - np.diff(y[:3], prepend=0), 0)
        return [*y[3:], (low - middle) / MASS, (middle - high) / MASS, (high - load(t) - 20.0 * y[5]) / 5.0]

    start, errors = [0.0998, 0.2994, 0.399, 0, 0, -0.3], []
    exact = solve_ivp(rates, (0, 0.06), start, "DOP853", rtol=1e-11, atol=1e-12, max_step=1e-4).y[:, -1]
    for dt in 2e-4, 1e-4:
        lid = md.Plane((0, 0, 0.399), (0, 0, -1), velocity=(0, 0, -0.3), motion=md.Driven(
            mass=5.0, force=load, damping=20.0))
        sim = md.Simulation(SMOOTH, [md.Plane((0, 0, 0), (0, 0, 1)), lid], contact="hooke:stiffness=1e4", dt=dt)
        sim.add_clumps(BALL, [(0, 0, 0.0998), (0, 0, 0.2994)], scale=RADIUS)
        sim.run(round(0.06 / dt))
        end = [*sim.position[:, 2], sim.walls.at_rest[1].point[2], *sim.velocity[:, 2], sim.walls.velocity(1)[0][2]]
        errors.append(np.abs(end - exact))
    assert len(sim.contacts()) and (errors[1] < 0.3 * errors[0]).all() and errors[1].max() < 1e-5


@pytest.mark.parametrize("ratio", [10.0, 1.0, 0.3])
@pytest.mark.parametrize("mass", ["shared", "single", "clump"])
def test_restitution_at_a_driven_wall(mass, ratio):
    """It is that of the material at a wall, at a clump that one carries, and at a rotor, of any mass and inertia."""
    arm, ball = 5.0 * RADIUS, MASS * ratio
    line, turns = md.Driven(mass=ball, axis=(0, 0, 1)), md.Driven(inertia=ball * arm ** 2, about=(-arm, 0, 0),
                                                                  axis=(0, 1, 0))
    walls = [md.Plane((0, 0, RADIUS), (0, 0, 1), motion=line),
             md.MeshWall((FLAP[0][:, [0, 2, 1]] + (-0.4, 0.2, RADIUS), FLAP[1]), motion=turns)]
    for wall, motion in (walls[0], line), (walls[1], turns), (None, line), (None, turns):
        sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.6), wall and [wall], dt=1e-5,
                            contact=f"hertz-mindlin:mass={mass}")
        if wall is None:
            sim.add_clumps(BALL, (0, 0, 0), scale=RADIUS, motion=motion)
        sim.add_clumps(BALL, (0, 0, 2.00001 * RADIUS), scale=RADIUS, velocity=(0, 0, -0.01))
        sim.run(1)
        while len(sim.contacts()) or sim.step_count < 200:
            sim.run(100)
        velocity, rate = sim.walls.velocity(0)
        assert (sim.velocity[-1] - velocity)[2] + arm * rate[1] == pytest.approx(0.006, rel=1e-3)


def test_bonds_with_a_clump_that_a_driven_wall_carries():
    """Their dashpots have the effective mass of the ball and the wall."""
    sim = md.Simulation(SMOOTH, contact="hertz-mindlin:bonds=parallel", dt=1e-5)
    sim.add_clumps(BALL, (0, 0, 0), scale=RADIUS, motion=md.Driven(mass=3.0 * MASS, axis=(0, 0, 1)))
    sim.add_clumps(BALL, (0, 0, 2.0 * RADIUS), scale=RADIUS)
    sim.bonds.add([(0, 1)], radius=1.0, young=1e6, stiffness_ratio=1.0, tensile=1e9, shear=1e9, damping=0.1)
    assert sim.loop.history()["mass"] == pytest.approx([0.75 * MASS], rel=1e-12)


def test_free_walls_obey_newton():
    """A lid that falls, a flap under a moment about an axis that is carried along: exact to rounding."""
    lid = md.Plane((0, 0, 1), (0, 0, -1), motion=md.Driven(mass=2.0, axis=(0, 0, 1), force=-2.0 * G))
    flap = md.MeshWall(FLAP, angular_velocity=(0, 0, 0.5), velocity=(0.3, 0, 1), motion=md.Driven(
        inertia=2.0, moment=3.0, **HINGE))
    sim = md.Simulation(SMOOTH, [lid, flap], dt=1e-3)
    sim.run(1000)
    places, turn = sim.walls.at_rest, Rotation.from_rotvec((0, 0, 0.5 + 0.75))
    assert [*places[0].point, *sim.walls.velocity(0)[0]] == pytest.approx([0, 0, 1.0 - 0.5 * G, 0, 0, -G], abs=1e-12)
    np.testing.assert_allclose(sim.walls.velocity(1), [(0.3, 0, 1), (0, 0, 2.0)], atol=1e-12)
    np.testing.assert_allclose(places[1].points, turn.apply(flap.points) + (0.3, 0, 1), atol=1e-12)


@pytest.mark.parametrize("contact, material", [("hertz", SMOOTH), (MINDLIN, ROUGH)])
@pytest.mark.parametrize("glued", (False, True))
def test_a_ball_hits_a_flap(contact, material, glued):
    """Moment of momentum about the hinge to rounding; energy of both, conserved without dashpots.

    glued : the flap is a row of balls, a rotor.
    """
    def moment(sim):
        x, v, w = sim.position[-1], sim.velocity[-1], sim.angular_velocity[-1]
        return MASS * (np.cross(x, v)[2] + 0.4 * RADIUS ** 2 * w[2]) + 4.0 * sim.walls.velocity(0)[1][2]
    motion = md.Driven(inertia=4.0, **HINGE)
    sim = md.Simulation(material, [] if glued else [md.MeshWall(FLAP, motion=motion)], contact=contact, dt=1e-4)
    if glued:
        sim.add_clumps(BALL, [(x, -RADIUS, 0.2) for x in np.linspace(0.05, 1.0, 6)], scale=RADIUS, motion=motion)
    sim.add_clumps(BALL, (0.7, 0.103, 0.2), velocity=(0.5, -1.0, 0), scale=RADIUS)
    moments, energy = [moment(sim)], sim.energy().kinetic
    sim.run(600, every=10, callback=lambda sim: moments.append(moment(sim)))
    of_flap = 2.0 * sim.walls.velocity(0)[1][2] ** 2
    assert np.ptp(moments) < 1e-12 and len(sim.contacts()) == 0 and of_flap > 2.0
    assert sim.energy().work == pytest.approx(-of_flap, rel=1e-4)
    assert sim.energy().kinetic + sim.energy().dissipated + of_flap == pytest.approx(energy, rel=1e-4)


def test_motions_take_over():
    """The velocity persists from one motion by forces to the next along the same line, and not beyond."""
    sim, speeds = md.Simulation(SMOOTH, [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-3), []
    driven = md.Driven(mass=2.0, axis=(0, 0, 1), force=4.0)
    for motion in driven, driven, md.Driven(mass=1.0), md.Driven(inertia=1.0), md.Servo(force=1.0, mass=1.0), None:
        sim.walls.move(0, motion)
        sim.run(250)
        speeds.append(sim.walls.velocity(0)[0][2])
    assert speeds == pytest.approx([0.5, 1.0, 1.0, 0.0, 0.25, 0.0], abs=1e-12)
    sim.walls.move(0, driven, velocity=(1, 0, 3))
    np.testing.assert_allclose(sim.walls.velocity(0)[0], (1, 0, 3), atol=1e-12)


def test_what_cannot_be(tmp_path):
    def sim(**options):
        sim = md.Simulation(SMOOTH, [md.Plane((0, 0, 0.1), (0, 0, 1), **options)], dt=1e-4, periodic=(
            (-2, -2, 0), (2, 2, 4), (True, True, False)))
        sim.add_clumps(BALL, (0, 0, 1.0899), scale=0.99)
        return sim
    hinge = md.Driven(inertia=1.0, axis=(0, 1, 0), about=(0, 1, 0))
    for make, message in (
            (lambda: md.Driven(), "give one of them"), (lambda: md.Driven(mass=1.0, moment=2.0), "moment = 2.0: leave"),
            (lambda: sim(motion=hinge), "Plane turns about its normal only; give a MeshWall"),
            (lambda: sim(surface_angular_velocity=(1, 0, 0)), "surface_angular_velocity = .*about its normal only"),
            (lambda: sim(surface_angular_velocity=TURN), "a plane that turns needs open axes"),
            (lambda: md.Cylinder((1, 0, 0), (0, 1, 0), 1.0, motion=hinge), r"center = \[0.0, 1.0, 0.0\]: a Cylinder"),
            (lambda: sim(surface_velocity=(1, 0, 0)).io.write_lammps(tmp_path), "LAMMPS takes planes at rest")):
        with pytest.raises(ValueError, match=message):
            make()
    light = sim(motion=md.Driven(mass=8e-4))
    with pytest.warns(UserWarning, match=r"times sqrt\(m/k\) of wall 0 with Driven\(mass=0.0008"):
        light.run(1)


@pytest.mark.parametrize("motion", ({"angular_velocity": (0, 0, 3.0)}, {"surface_angular_velocity": (0, 3.0, 0)}))
def test_rotations_across_a_periodic_face(motion):
    """A paddle that reaches through a face, as one in the middle of the box."""
    ends, box = [], ((0, 0, 0), (2, 2, 2), (True, True, True))
    for middle in 1.0, 0.1, 1.9:
        paddle = md.MeshWall(((FLAP[0] - (0.5, 0, 0)) * 0.8 + (middle, 1, 1), FLAP[1]), **motion)
        sim = md.Simulation(ROUGH, [paddle], dt=1e-4, contact=MINDLIN, periodic=box)
        sim.add_clumps(BALL, [((middle + 0.3) % 2, 1.06, 1), ((middle - 0.3) % 2, 0.94, 1)], scale=0.05,
                       velocity=[(0, -1, 0), (0, 1, 0)])
        sim.run(1000)
        ends.append([*sim.velocity.flat, *sim.angular_velocity.flat, sim.energy().work])
    np.testing.assert_allclose(ends, ends[:1] * 3, atol=1e-9)


def test_a_screw_along_a_periodic_axis():
    """It may be as long as the box and turn about its axis: a long lifter pushes balls as in open space."""
    corners, triangles = [(0.6, 0.05, 0), (-0.6, 0.05, 0), (-0.6, 0.4, 0), (0.6, 0.4, 0)], [(0, 1, 2), (0, 2, 3)]
    ends, box = [], ((-0.6, -1, -1), (0.6, 1, 1), (True, True, False))
    lifter = {"surface": (corners, triangles), "center": (0, 0, 0)}
    for motion in ({"angular_velocity": (3.0, 0, 0)}, {"motion": lambda t: ((0, 0, 0), (3.0 * t, 0, 0))},
                   {"angular_velocity": (3.0, 0, 0), "motion": md.Driven(inertia=1e9, axis=(1, 0, 0))}):
        for periodic in (box, None) if len(ends) < 2 else (box,):
            sim = md.Simulation(ROUGH, [md.MeshWall(**lifter, **motion)], dt=1e-4, contact=MINDLIN, periodic=periodic)
            sim.add_clumps(BALL, [(x, 0.2, 0.06) for x in (-0.4, 0.0, 0.3)], scale=0.05)
            sim.run(1000)
            ends.append([*sim.velocity.flat, *sim.angular_velocity.flat, sim.energy().work])
    np.testing.assert_allclose(ends, ends[:1] * 4, atol=1e-6)
    assert ends[0][-1] > 1e-3
    for wrong, reason in (
            ({"angular_velocity": (0, 1.0, 0)}, r"takes 1.34.* m when it turns along the periodic axis x, of a box of"),
            ({"angular_velocity": (1.0, 1.0, 0)}, "when it turns along the periodic axis x"),
            ({"motion": lambda t: ((0, 0, 0), (0, 3.0 * t, 0))}, "when it turns along the periodic axis x")):
        with pytest.raises(ValueError, match=reason):
            md.Simulation(ROUGH, [md.MeshWall(**lifter | wrong | {"center": (0, 0, 0.3)})], dt=1e-4,
                          periodic=box).run(10)
