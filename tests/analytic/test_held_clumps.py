"""Clumps that are fixed, move as given, are free along some axes, or turn about an axis or a pin."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import minidem as md
from minidem.core.quaternions import rotate, rotate_back
from minidem.initial import place_densely

GRAVITY, PIN, RADIUS, SPIN = 9.81, np.array([0.1, 0.2, 0.3]), 0.01, np.array([0.0, 30.0, 4.0])
BALL = md.ClumpTemplate([(0, 0, 0)], [RADIUS], 2500.0)
ODD = md.ClumpTemplate([(0, 0, 0), (0.02, 0.005, 0), (0.01, 0.03, 0.012)], [0.012, 0.01, 0.008], 2500.0)
ROD = md.ClumpTemplate([(0, 0, z) for z in (-0.03, -0.01, 0.01, 0.03)], [0.012] * 4, 2500.0)
SOFT = md.Material(1e7, 0.3, restitution=0.6, friction=0.5)


def simulation(dt, contact="hertz-mindlin", walls=None, material=SOFT, **options):
    return md.Simulation(material, walls, contact=contact, dt=dt, **options)


def period_of(sim, along, steps):
    """Mean period of the passages of `along`(sim) through zero."""
    found = []
    sim.run(steps, every=1, callback=lambda sim: found.append((sim.time, along(sim))))
    t, x = np.array(found).T
    k = np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))
    return np.diff(t[k] + (t[k + 1] - t[k]) * x[k] / (x[k] - x[k + 1])).mean()


@pytest.mark.parametrize("rotation", ["exact", "spiral", "no-squish", "velocity-verlet"])
@pytest.mark.parametrize("turns", ["xyz", "x"])
def test_period_of_a_pendulum_of_large_amplitude(turns, rotation):
    """T = 4 sqrt(I / (m g d)) K(sin^2(amplitude / 2)), and errors of order 2. Hinged: of a clump without symmetry."""
    amplitude, template, errors = 2.0, ODD if turns == "x" else ROD, []
    turned = np.array([np.cos(amplitude / 2), np.sin(amplitude / 2), 0.0, 0.0])
    inertia = template.axes[0] ** 2 @ template.inertia + template.mass * 0.04 ** 2
    exact = 4.0 * np.sqrt(inertia / (template.mass * GRAVITY * 0.04)) * ellipk(np.sin(amplitude / 2) ** 2)
    for dt in 1e-3, 5e-4:
        sim = simulation(dt, gravity=(0, 0, -GRAVITY), rotation=rotation)
        sim.add_clumps(template, [PIN + rotate(turned, (0.0, 0.0, -0.04))], turned, pin=PIN, turns=turns)
        start = sim.energy().balance
        errors.append(period_of(sim, lambda sim: sim.position[0, 1] - PIN[1], int(6 * exact / dt)) / exact - 1.0)
        assert np.linalg.norm(sim.position[0] - PIN) == pytest.approx(0.04, rel=1e-12)
        assert sim.energy().balance == pytest.approx(start, abs=1e-5 * template.mass * GRAVITY * 0.04)
    assert abs(errors[0]) < 1e-4 and abs(errors[0] / errors[1]) > 3.8


def test_spherical_pendulum_conserves_energy_and_angular_momentum():
    for dt, limit in (1e-3, 4e-6), (5e-4, 1e-6):
        sim = simulation(dt, gravity=(0, 0, -GRAVITY))
        sim.add_clumps(ODD, [PIN + (0.03, -0.01, 0.02)], (0.3, 0.5, 0.2, 0.7), pin=PIN, angular_velocity=(3, -5, 8))
        energy, momentum = sim.energy().total, sim.angular_momentum(PIN)[2]
        sim.run(int(2.0 / dt))
        assert sim.energy().total == pytest.approx(energy, abs=limit * ODD.mass * GRAVITY * 0.03)
        assert sim.angular_momentum(PIN)[2] == pytest.approx(momentum, rel=1e-12)


@pytest.mark.parametrize("contact", ["hertz-mindlin", "hertz:onset=corrected", "hertz-mindlin:rolling=epsd,mass=clump"])
def test_a_fixed_sphere_acts_as_one_of_infinite_mass(contact):
    """An oblique collision with one that moves steadily, in its frame; the work closes the balance with order 2."""
    found, errors = {}, []
    for how, dt in ("moves", 2e-6), ("moves", 1e-6), ("fixed", 1e-6), ("heavy", 1e-6):
        sim, speed = simulation(dt, contact), np.array([0, 0.1, 0.3]) * (how == "moves")
        held = {"template": md.ClumpTemplate([(0, 0, 0)], [RADIUS], 2500e12)} if how == "heavy" else {
            "template": BALL, "free": "", "turns": "", "velocity": speed}
        sim.add_clumps(position=[(0, 0, 0)], **held)
        sim.add_clumps(BALL, [(0.003, 0, 2 * RADIUS + 1e-5)], velocity=speed - (0, 0, 0.5))
        start = sim.energy().balance
        sim.run(int(0.006 / dt))
        errors.append((sim.energy().balance - start) / BALL.mass)
        found[how] = np.append(sim.velocity[1] - speed, RADIUS * sim.angular_velocity[1])
    assert found["fixed"] == pytest.approx(found["heavy"], abs=1e-10)
    assert found["moves"] == pytest.approx(found["fixed"], abs=1e-9)
    assert abs(errors[1]) < 1e-6 and (abs(errors[0]) < 1e-12 or errors[0] / errors[1] == pytest.approx(4.0, rel=0.05))
    assert np.abs(errors[2:]).max() < 2e-6


@pytest.mark.parametrize("free, turns", [("", ""), ("", "xyz"), ("xy", "x")])
def test_restitution_at_a_held_sphere(free, turns):
    sim = simulation(1e-6)
    sim.add_clumps(BALL, [(0, 0, 0)], free=free, turns=turns)
    sim.add_clumps(BALL, [(0, 0, 2 * RADIUS + 1e-5)], velocity=(0, 0, -0.5))
    sim.run(6000)
    assert sim.velocity[1, 2] == pytest.approx(0.3, rel=1e-6)
    assert sim.position[0] == pytest.approx(0.0, abs=0.0) and sim.linear_momentum()[2] == BALL.mass * sim.velocity[1, 2]


@pytest.mark.parametrize("arm", [0.3, 0.1, 0.02])
def test_restitution_near_a_hinge(arm):
    """A rod hits a plane beside its hinge: the effective mass, inertia / arm^2, is up to 2400 times its own."""
    rod = md.ClumpTemplate([(0, 0, 0), (0.03, 0, 0)], [RADIUS, 0.4 * RADIUS], 2500.0)
    sim = simulation(4e-6, walls=[md.Plane((0, 0, -1.00001 * RADIUS), (0, 0, 1))],
                     material=md.Material(1e8, 0.25, restitution=0.5))
    sim.add_clumps(rod, [rod.center_of_mass], pin=(-arm * RADIUS, 0, 0), turns="y", angular_velocity=(0, 1, 0))
    sim.run(200)
    while len(sim.contacts()):
        sim.run(200)
    assert sim.angular_velocity[0, 1] == pytest.approx(-0.5, abs=1e-4)


def bed(dt, **floor):
    """Rods fall on a floor of balls that move as given, and overlap, and on a rod that a pin lets turn steadily."""
    sim = simulation(dt, gravity=(0, 0, -GRAVITY), periodic=((0, 0, -0.2), (0.12, 0.12, 1), (True, True, False)))
    sim.add_clumps(BALL, 0.015 * np.argwhere(np.ones((8, 8, 1))) + 0.0075, **floor or {"free": "", "turns": ""})
    sim.add_clumps(ROD, [(0.06, 0.06, 0.06)], pin=(0.06, 0.06, 0.09), turns="", angular_velocity=SPIN)
    [(places, turns)] = place_densely([ROD], [12], (0, 0, 0.14), (0.12, 0.12, 0.3), np.random.default_rng(1),
                                      periodic=sim.periodic)
    sim.add_clumps(ROD, places, turns)
    return sim


def test_balance_and_work_with_a_rotor_and_phases():
    """Order 2 also if rods are fixed, freed and fixed again; the rotor moves as given, and its power is its work."""
    errors, speed = [], np.linalg.norm(SPIN)
    for dt in 4e-5, 2e-5:
        sim, power, worst = bed(dt), [], 0.0
        start, centre = sim.energy().balance, np.array([0.06, 0.06, 0.09])

        def look(sim, power=power):
            force = sim.force[64] - ROD.mass * np.array(sim.gravity)
            power.append(-force @ sim.velocity[64] - sim.torque[64] @ sim.angular_velocity[64])

        for k in range(6):
            sim.run(round(0.03 / dt), every=1, callback=look)
            before = sim.energy().balance
            sim.set_motion(sim.ids[65::2], **({} if k % 2 else {"free": "", "turns": ""}))
            assert sim.energy().balance == pytest.approx(before, abs=1e-12)
            worst = max(worst, abs(before - start))
            assert k % 2 or np.all(sim.velocity[65::2] == 0.0)
        errors.append(worst)
        assert sim.energy().work == pytest.approx(np.sum(power) * dt, rel=1e-3)
        spin = np.append(np.cos(speed * sim.time / 2), np.sin(speed * sim.time / 2) / speed * SPIN)
        assert sim.position[64] == pytest.approx(centre + rotate(spin, (0.0, 0.0, -0.03)), abs=1e-12)
        assert np.all(sim.velocity[:64] == 0.0)
    assert errors[0] < 1e-4 * sim.energy().dissipated and errors[0] / errors[1] > 3.5


def shaken(t):
    return (0.02 * np.sin(20.0 * t), 0.0, 0.01 * np.sin(45.0 * t)), (0.0, 0.0, 2.0 * np.sin(11.0 * t))


def test_a_floor_of_glued_balls_that_shakes():
    """It moves as the function says, the force on it is that on its carrier, and its work closes the balance."""
    errors, pin = [], np.array([0.06, 0.06, 0.0])
    for dt in 4e-5, 2e-5:
        sim = bed(dt, motion=shaken, pin=pin)
        start, before = sim.energy().balance, sim.position[:64]
        sim.run(round(0.25 / dt))
        errors.append(sim.energy().balance - start)
        moved, (_, _, angle) = np.array(shaken(sim.time)[0]), shaken(sim.time)[1]
        place = pin + moved + rotate(np.array([np.cos(angle / 2), 0, 0, np.sin(angle / 2)]), before - pin)
        assert sim.position[:64] == pytest.approx(place, abs=1e-12)
        speed = (0.4 * np.cos(20 * sim.time), 0.0, 0.45 * np.cos(45 * sim.time)) + np.cross(
            (0, 0, 22.0 * np.cos(11 * sim.time)), place - pin - moved)
        assert sim.velocity[:64] == pytest.approx(speed, abs=1e-7)
        force, weight = sim.force[:64], BALL.mass * np.array(sim.gravity)
        assert sim.walls.force(0) == pytest.approx(force.sum(axis=0), abs=1e-9) and np.abs(force - weight).max() > 0.1
    assert abs(errors[0]) < 1e-3 * sim.energy().work and errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)
    with pytest.raises(ValueError, match="it carries clumps"):
        sim.walls.remove(0)
    sim.walls.move(0)
    sim.run(100)
    assert np.all(sim.velocity[:64] == 0.0)
    sim.set_motion(sim.ids[:64])
    sim.walls.remove(0)
    sim.run(10)
    assert sim.velocity[:64, 2].max() < 0.0 or len(sim.contacts()) > 0


def test_a_glued_ball_loads_a_servo():
    """It moves as a free ball of the mass of the servo, by its weight and the forces of another ball."""
    heavy, dt, found = md.ClumpTemplate([(0, 0, 0)], [RADIUS], 5.0 / (4 / 3 * np.pi * RADIUS ** 3)), 1e-5, []
    for held in {"motion": md.Servo(direction=(0, 0, -1), force=0.0, mass=5.0)}, {"free": "z", "turns": ""}:
        sim = simulation(dt, "hertz", [md.Plane((0, 0, -RADIUS), (0, 0, 1))], gravity=(0, 0, -8.0))
        sim.add_clumps(BALL, [(0, 0, 0)], free="z")
        sim.add_clumps(heavy, [(0.002, 0, 2.02 * RADIUS)], **held)
        sim.run(15000)
        found.append([*sim.position[:, 2], sim.velocity[0, 2], (sim.walls.velocity(1)[0] if held.get(
            "motion") else sim.velocity[1])[2]])
    assert found[0] == pytest.approx(found[1], abs=1e-11) and found[0][-1] < -0.1


def test_weight_and_user_forces_drive_the_wall_that_carries():
    """A pendulum of carried balls about a driven hinge, with its equation of motion, solved by another method; a lift.

    The work of a user force on carried clumps is that of the wall, with the other sign.
    """
    moment, balls, gravity = BALL.mass * GRAVITY * 0.3, [(0.1, 0, 0), (0.2, 0, 0)], (0, 0, -GRAVITY)
    hinge = md.Driven(inertia=0.002, axis=(0, 1, 0), about=(0, 0, 0))

    def rates(t, y):
        return y[1], (moment * np.cos(y[0]) + 0.01 * np.sin(9.0 * t)) / hinge.inertia
    exact = solve_ivp(rates, (0, 0.5), (0.0, 1.0), "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for dt in 2e-3, 1e-3:
        sim = simulation(dt, gravity=gravity)
        sim.add_clumps(BALL, balls, motion=hinge)
        sim.walls.move(0, hinge, angular_velocity=(0, 1, 0))
        sim.forces.add(lambda t, x, v, q, w: (np.zeros((2, 3)), np.array([(0, 0.01 * np.sin(9.0 * t), 0), (0, 0, 0)])))
        start = sim.energy().balance
        sim.run(round(0.5 / dt))
        angle = np.arctan2(-sim.position[0, 2], sim.position[0, 0])
        errors.append(np.abs(np.remainder([angle, sim.walls.velocity(0)[1][1]] - exact + np.pi, 2 * np.pi) - np.pi))
        assert sim.walls.force(0) == pytest.approx(sim.force.sum(axis=0)) and sim.energy().balance == pytest.approx(
            start, abs=1e-4)
    assert (errors[1] < 0.3 * errors[0]).all() and errors[1].max() < 1e-3
    for motion in md.Driven(mass=2.0, axis=(0, 0, -1)), md.Servo(direction=(0, 0, -1), force=0.0, mass=2.0):
        lift = simulation(1e-3, gravity=gravity)
        lift.add_clumps(BALL, balls, motion=motion)
        lift.run(100)
        assert lift.walls.force(0)[2] == pytest.approx(-2 * BALL.mass * GRAVITY)
        assert lift.position[:, 2] == pytest.approx(-0.5 * BALL.mass * GRAVITY * 0.01, rel=1e-12)


def test_motion_in_a_plane():
    """Balls that are free in a plane move as free balls in this plane do, and exactly in it."""
    sims, walls = [], md.box_walls((0, -1, 0), (0.2, 1, 0.3))
    places = 0.022 * np.argwhere(np.ones((8, 1, 6))) * (1, 0, 1) + (0.015, 0, 0.02)
    for held in {"free": "xz", "turns": "y"}, {}:
        sims.append(simulation(2e-5, walls=walls, gravity=(1.0, 0, -GRAVITY)))
        sims[-1].add_clumps(BALL, places, velocity=np.random.default_rng(1).normal(0, 0.3, places.shape) * (1, 0, 1),
                            **held)
        sims[-1].run(3000)
    held, free = sims
    assert np.all(held.velocity[:, 1] == 0.0) and np.all(held.angular_velocity[:, ::2] == 0.0)
    assert held.position == pytest.approx(free.position, abs=1e-8) and len(held.contacts()) > 10
    assert held.energy().balance == pytest.approx(free.energy().balance, abs=1e-9)


@pytest.mark.parametrize("turns", ["xyz", (0.3, 0.1, -0.2)])
def test_a_pin_far_away(turns, tmp_path):
    """The smallest moment about it is that about the centre, and what is saved can be loaded."""
    rod = md.ClumpTemplate([(0, 0, -0.01), (0, 0, 0.01)], [0.01] * 2, 2500.0)
    for far in 10.0 ** np.arange(2, 10):
        sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-5)
        sim.add_clumps(rod, [(0.013, 0.001, 0.03)], (0.1, 0.5, -0.5, 0.7))
        rotation = sim.loop.state.column("orientation")[0]
        pin = far * np.array([0.3, -0.5, 0.8])
        sim.set_motion([0], pin=tuple(pin), turns=turns)
        if turns == "xyz":                                  # about the arm, and all others about m arm^2
            arm, found = sim.position[0] - pin, np.sort(sim.loop.state.hold["inertia"][0])
            axis = rotate_back(rotation, arm / np.linalg.norm(arm))
            assert np.allclose(found / [rod.inertia @ axis ** 2, *2 * [rod.mass * arm @ arm]], 1.0, rtol=3e-8)
        sim.run(2)
        sim.save(tmp_path / "state.npz")
        assert md.Simulation.load(tmp_path / "state.npz").position.tobytes() == sim.position.tobytes()
    with pytest.raises(ValueError, match=r"pin\[0\] = .*more than 1e\+12 of its radii of gyration away"):
        sim.set_motion([0], pin=(1e11, 0, 0), turns=turns)


def test_what_is_refused():
    sim = simulation(1e-5, periodic=md.PeriodicBox((0, 0, 0), (1, 1, 1), axes=(True,) * 3, shear=("x", "y", 1.0)))
    sim.add_clumps(BALL, [(0.5, 0.5, 0.5)])
    for text, held in {"about two axes": {"turns": "xy"}, "free = 'xx'": {"free": "xx"}, "free = 1": {"free": 1},
                       "a pin holds": {"pin": PIN, "free": "x"}, "velocity: at a pin": {"pin": PIN, "velocity": SPIN},
                       "turns = ": {"turns": (0, 0, 0)}, "the box moves": {"free": "xz"}}.items():
        with pytest.raises(ValueError, match=text):
            sim.set_motion([0], **held)
        with pytest.raises(ValueError, match=text):
            sim.add_clumps(BALL, [(0.2, 0.2, 0.2)], **held)
    sim.set_motion([])
    assert sim.n_clumps == 1
