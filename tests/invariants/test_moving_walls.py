"""Moving walls and servos: frames of reference, balances of energy and momentum, closed forms."""
from dataclasses import replace

import meshio
import numpy as np
import pytest
from bit_systems import MIXED, press
from reference_walls import BALL, CUBE, CUBE_FACES, MATERIAL, MINDLIN, ROLLING, facets, plate, simulation
from scenes import unit_vectors
from scipy.spatial.transform import Rotation

import minidem as md

RADIUS, G = 0.1, 9.81
STEEP = np.array([0.0, 0.0, -G])


def drum(surface, spin):
    turn = {"angular_velocity": (0, 0, spin)}
    ends = [md.Plane((0, 0, -0.3), (0, 0, 1), **turn), md.Plane((0, 0, 0.3), (0, 0, -1), **turn)]
    if surface == "cylinder":
        return [md.Cylinder((0, 0, 0), (0, 0, 1), 0.5, **turn), *ends]
    return [md.MeshWall(facets(48, 0.5, 0.8, rows=2), **turn, center=(0, 0, 0)), *ends]


def swinging(t):
    return (0.05 * np.sin(9.0 * t), 0.02 * (1.0 - np.cos(5.0 * t)), 0.03 * np.sin(7.0 * t)), (
        0.3 * np.sin(4.0 * t), 0.2 * np.sin(6.0 * t), 0.8 * t)


def walls_of(kind):
    if kind in ("cylinder", "facets"):
        return drum(kind, 3.0)
    box = md.box_walls((-0.5, -0.5, -0.31), (0.5, 0.5, 0.9))
    if kind == "driven":
        box[1] = md.Plane((0.5, 0, 0), (-1, 0, 0), velocity=(0, 0.5, 0), motion=md.Driven(mass=3.0, force=40.0))
    box[4] = {"belt": md.Plane((0, 0, -0.31), (0, 0, 1), velocity=(0.7, 0.3, 0)),
              "driven": md.MeshWall(plate(5, height=-0.31), motion=md.Driven(
                  inertia=3.0, axis=(1, 0.5, 0), moment=lambda t: 40.0 * np.sin(30.0 * t), damping=2.0)),
              "oscillation": md.Plane((0, 0, -0.31), (0, 0, 1), motion=md.Oscillation((0.01, 0.02, 0.03), 5.0)),
              "function": md.MeshWall(plate(5, height=-0.31), motion=swinging),
              "cone": md.Cone((0, 0, -0.5), (0, 0.1, 1), (0.6, 0.05), 0.2, motion=swinging),
              "compound": md.CompoundWall([md.Cone((0, 0, -0.5), (0, 0, 1), (0.3, 0.3), 0.2), md.Cone(
                  (0, 0, -0.3), (0, 0, 1), (0, 0.3), 0.0), md.MeshWall.box((0.25, -0.3, -0.5), (0.4, 0.3, -0.25))],
                  motion=swinging),
              "cube": md.MeshWall((0.5 * CUBE + (-0.2, -0.2, -0.85), CUBE_FACES), motion=swinging,
                                  angular_velocity=(0, 0, 1.0))}[kind]
    return box if kind not in ("cube", "cone", "compound") else box + [md.Plane((0, 0, -0.33), (0, 0, 1))]


KINDS = ["cylinder", "facets", "belt", "oscillation", "function", "cube", "cone", "compound", "driven"]
SURFACES = {"surface_velocity": (0.8, -0.5, 0.3), "surface_angular_velocity": (0.5, 0.2, 3.0)}


def moving(kind, contact, dt=2e-4, shift=(0, 0, 0), walls=None, **options):
    """Eighteen clumps of three spheres, that begin to move with the walls."""
    rng = np.random.default_rng(4)
    sim = simulation(walls_of(kind) if walls is None else walls, contact, dt,
                     gravity=(2, -9, -1) if kind in ("cylinder", "facets") else (1, 0, -9), **options)
    places = np.array([-0.2, -0.2, -0.17]) + 0.19 * np.argwhere(np.ones((3, 3, 2)))
    sim.add_clumps(MIXED, places, unit_vectors(rng, 18, 4), velocity=0.3 * rng.normal(size=(18, 3)) + shift,
                   angular_velocity=3.0 * rng.normal(size=(18, 3)))
    return sim


@pytest.mark.parametrize("kind, contact", [(kind, contact) for kind in KINDS for contact in ("hertz", MINDLIN, ROLLING)
                                           if contact != "hertz" or kind not in ("cylinder", "belt")])
def test_energy_balance(kind, contact):
    """With contacts that begin, end and slide. At the seams of a facetted drum forces are not continuous."""
    errors = []
    for dt in 4e-4, 1e-4:
        sim, balance = moving(kind, contact, dt), []
        balance.append(sim.energy().balance)
        sim.run(round(0.24 / dt), every=round(0.03 / dt), callback=lambda sim: balance.append(sim.energy().balance))
        errors.append(np.ptp(balance))
    energy = sim.energy()
    assert abs(energy.work) > 0.05 and (energy.dissipated > 1.0 or contact == "hertz")
    assert errors[1] < 1e-3 * (abs(energy.work) + energy.kinetic)
    assert errors[1] < errors[0] / (2 if kind == "facets" else 4)


def on_wall(kind, contact, dt):
    depth = (0.75 * BALL.mass * RADIUS**3 * G / (md.effective_modulus(MATERIAL, MATERIAL) * np.sqrt(RADIUS)))**(2 / 3)
    wall, motion = {
        "cylinder": (md.Cylinder((0, 0, 1), (0, 1, 0), 1.0, angular_velocity=(0, 2.0, 0), velocity=(0, 0.1, 0)), {}),
        "oscillation": (md.Plane((0, 0, 0), (0, 0, 1), motion=md.Oscillation((0.01, 0.003, 0.001), 9.0, phase=0.4)),
                        {}),
        "function": (md.MeshWall(plate(4), motion=lambda t: (
            (0.1 * t * t, 0.002 * np.sin(20 * t), 0.003 * np.sin(9 * t)), (0.2 * t * t, 0.1 * np.sin(5 * t), t))), {}),
        "belt": (md.Plane((0, 0, 0), (0, 0, 1), velocity=(2.0, 0.3, 0)), {"angular_velocity": (30, -20, 5)}),
        "surfaces": (md.MeshWall(plate(4), velocity=(0.2, 0, 0), angular_velocity=(0, 0.1, 1), **SURFACES), {}),
        "piston": (md.Plane((0, 0, 0), (0, 0, 1), motion=md.Driven(mass=20.0, force=150.0)), {}),
        "flap": (md.MeshWall(plate(4), velocity=(0, 0.4, 0), motion=md.Driven(
            inertia=2.0, axis=(1, 0.1, 0), about=(0, -0.5, 0), moment=lambda t: 80.0 + 500.0 * t)), {})}[kind]
    sim = simulation([wall], contact, dt, gravity=STEEP)
    sim.add_clumps(BALL, [(0.01, 0.02, RADIUS - depth)], scale=RADIUS, **motion)
    return sim


@pytest.mark.parametrize("kind, contact", [(kind, contact) for kind in ("cylinder", "oscillation", "function", "belt",
                                                                        "surfaces", "piston", "flap")
                                           for contact in ("hertz", MINDLIN, ROLLING, "hooke-coulomb:stiffness=1e5")
                                           if contact != "hertz" or kind not in ("cylinder", "belt", "surfaces")])
def test_order_of_the_energy_balance(kind, contact):
    """The error falls with second order where contacts last and slide or stick all the time."""
    errors = []
    for dt in 4e-4, 1e-4:
        sim = on_wall(kind, contact, dt)
        first = sim.energy().balance
        sim.run(round(0.08 / dt))
        assert len(sim.contacts())
        errors.append(abs(sim.energy().balance - first))
    work = abs(sim.energy().work)
    assert work > 1e-4 and errors[1] < 1e-3 * work and errors[1] < errors[0] / 10


@pytest.mark.parametrize("kind", KINDS)
def test_work_is_the_power_of_wall_forces(kind):
    """Forces and torques on the walls times their velocities, and the momentum of all clumps."""
    sim = moving(kind, ROLLING)
    mass, gravity = np.sum(sim.mass), np.array(sim.gravity)
    sim.run(900)
    first, start, work, impulse, dt = sim.energy().work, sim.linear_momentum(), 0.0, np.zeros(3), sim.dt
    for n in range(61):
        force, torque, about = (np.array([wrench(sim, k) for k in range(len(sim.walls))]) for wrench in (
            lambda sim, k: sim.walls.force(k), lambda sim, k: sim.walls.torque(k),
            lambda sim, k: sim.walls.torque(k, about=(0, 0, 0))))
        centers = np.array([wall.center for wall in sim.walls.at_rest])
        np.testing.assert_allclose(about, torque + np.cross(centers, force), atol=1e-9)
        rates = [sim.walls.velocity(k) for k in range(len(sim.walls))]
        if kind != "driven":
            np.testing.assert_allclose(rates, [rates_of(wall, sim.time) for wall in sim.walls], atol=1e-4)
        power = -sum(f @ v + m @ w for f, m, (v, w) in zip(force, torque, rates))
        part = 0.5 if n in (0, 60) else 1.0
        work += part * power * dt
        impulse += part * dt * (mass * gravity - force.sum(axis=0))
        sim.run(1 if n < 60 else 0)
    assert abs(work) > 1e-3
    tolerance = 5e-4 if kind == "driven" else 2e-4      # half steps at both ends have other speeds: 6e-5 at dt / 2
    np.testing.assert_allclose(sim.energy().work - first, work, rtol=tolerance)
    np.testing.assert_allclose(sim.linear_momentum() - start, impulse, atol=1e-10)


def rates_of(wall, t, step=1e-6):
    """Velocity of the centre, and angular velocity, of a wall with constant ones and a motion."""
    def pose(t):
        shift, vector = wall.motion(t) if wall.motion else np.zeros((2, 3))
        return (np.array(shift) + np.array(wall.velocity) * t,
                Rotation.from_rotvec(vector) * Rotation.from_rotvec(np.array(wall.angular_velocity) * t))
    (x, q), (y, r) = pose(t - step), pose(t + step)
    return (y - x) / (2 * step), (r * q.inv()).as_rotvec() / (2 * step)


@pytest.mark.parametrize("kind", ["facets", "cylinder", "box"])
@pytest.mark.parametrize("contact", ["hertz", ROLLING])
def test_galilean_invariance(kind, contact):
    """All seen from a moving frame: walls at rest move, moving ones move otherwise."""
    V, dt, steps = np.array([0.7, -0.4, 0.3]), 2e-4, 1200
    ends = []
    for shift in np.zeros(3), V:
        if kind == "box":
            walls = [md.Plane(w.point, w.normal, velocity=shift)
                     for w in md.box_walls((-0.5, -0.5, -0.31), (0.5, 0.5, 0.5))]
            walls += [md.MeshWall((0.5 * CUBE + (-0.2, -0.2, -0.85), CUBE_FACES), velocity=shift,
                                  motion=md.Oscillation((0.05, 0.03, 0.02), 4.0))]
        else:
            walls = [replace(wall, velocity=shift) for wall in drum(kind, 3.0)]
        sim = moving(kind, contact, dt, shift, walls)
        for _ in range(4):
            sim.run(steps // 4)
        energy = sim.energy()
        ends.append([sim.position - sim.time * shift, sim.velocity - shift, sim.angular_velocity, sim.orientation,
                     [energy.dissipated, energy.elastic, energy.elastic_tangential],
                     [energy.kinetic - shift @ sim.linear_momentum() + 0.5 * np.sum(sim.mass) * (shift @ shift)],
                     [sim.walls.force(0), sim.walls.torque(0)]])
        assert len(sim.contacts())
    for one, other in zip(*ends):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("belt", [md.Plane((0, 0, 0), (0, 0, 1), velocity=(1.4, 0, 0)),
                                  md.MeshWall(plate(20, -3.0, 3.0), velocity=(1.4, 0, 0))], ids=["plane", "mesh"])
def test_conveyor_belt(belt):
    """A ball slips, then rolls with V / (1 + 2.5 (arm / radius)^2); what cannot roll slips until V / (mu g)."""
    V, mu, dt = 1.4, 0.4, 2e-5
    tripod = md.ClumpTemplate([(0, 0, 0), (0.3, 0, 0), (0.15, 0.3, 0)], [0.1] * 3, density=2500.0)
    sim = simulation([belt], MINDLIN, dt, gravity=STEEP, material=md.Material(1e7, 0.2, restitution=0.3, friction=mu))
    depth = [(0.75 * m * G / (md.effective_modulus(MATERIAL, MATERIAL) * np.sqrt(RADIUS)))**(2 / 3)
             for m in (BALL.mass * RADIUS**3, tripod.mass / 3)]
    sim.add_clumps(BALL, [(-2, 0, RADIUS - depth[0])], scale=RADIUS)
    sim.add_clumps(tripod, [(-2, 1, RADIUS - depth[1])])
    rows, balance = [], sim.energy().balance
    sim.run(25000, every=20, callback=lambda sim: rows.append([sim.contacts()["sliding"][0], *sim.velocity[:, 0]]))
    sliding, *speeds = np.array(rows).T
    t, arm = 20 * dt * np.arange(1, len(rows) + 1), 1.0 - depth[0] / RADIUS
    ends = V / (1.0 + 2.5 * arm**2), V
    assert abs(t[sliding == 1][-1] - ends[0] / (mu * G)) < 5e-3
    for v, end in zip(speeds, ends):
        np.testing.assert_allclose(v, np.minimum(mu * G * t, end), atol=2e-2 * V)
        assert abs(v[-1] - end) < 2e-3
    assert abs(sim.angular_velocity[0, 1] * RADIUS + 2.5 * arm * ends[0]) < 2e-3
    np.testing.assert_allclose(sim.energy().balance - balance, 0.0, atol=1e-4 * sim.energy().work)


# --- A wall that a force moves.

FORCE, MASS = 20.0, 0.02


def test_held_force():
    """At rest, whatever the mass. The height is that of one packing of many."""
    ends = []
    for mass in (MASS, 2.0 * MASS):
        sim = press(mass=mass)
        sim.run_until(0.55)
        assert sim.walls.force(5)[2] == pytest.approx(FORCE, rel=1e-6)
        assert sim.energy().kinetic < 1e-7              # a rod that turns about one contact is not held
        ends.append(sim.walls.at_rest[5].point[2])
    assert ends == pytest.approx([0.023, 0.023], abs=0.004)


def chute(speed=0.0, **motion):
    """Balls that slide down a chute of two triangles, two on each, and one on a plane; another mesh."""
    corners = [(0, 0, 0), (0.2, 0, 0), (0.2, 0.1, 0), (0, 0.1, 0)]
    other = md.MeshWall((np.array(corners) - (0, 0, 1), [(0, 1, 2), (0, 2, 3)]))
    walls = [other, md.Plane((0, 0, -2), (0, 0, 1)),
             md.MeshWall((corners, [(0, 1, 2), (0, 2, 3)]), name="chute", **motion)]
    sim = md.Simulation(md.Material(young=1e7, poisson=0.2, restitution=0.5, friction=0.3), walls, dt=2e-5,
                        contact="hertz-mindlin", gravity=(7, 0, -4))
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.005], density=2500.0),
                   [*((0.09, 0.02 * k, 0.005) for k in (1, 2, 3, 4)), (0.5, 0.05, -1.9951)], velocity=(speed, 0, 0))
    return sim


def test_loads_and_sliding_work_of_triangles(tmp_path):
    """Balls that slide: their weight, friction times the distance; in frames the means since the last one."""
    sim, loads = chute(), md.analysis.WallLoads()
    frames = md.Frames(tmp_path, loads=loads)
    frames(sim)
    for _ in range(2):
        sim.run_until(sim.time + 0.05, every=10, callback=loads)
        frames(sim)
    found, weight = loads["chute"], 2.0 * sim.mass[0] * 4.0
    slid = np.array([0.05, 0.1]) ** 2 * 0.5 * (7.0 - 3.5 * 0.3 * 4.0)
    assert np.allclose(found["force"], weight * np.array([[0.3, 0.0, -1.0]] * 2), atol=0.01 * weight)
    assert np.allclose(found["area"], 0.01) and np.allclose(found["pressure"], weight / 0.01, rtol=0.01)
    assert np.allclose(found["sliding_work"], 0.3 * weight * slid[1], rtol=0.01) and not loads[0]["force"].any()
    for file, work in zip(sorted(tmp_path.glob("frames/*_walls.vtu"))[1:], slid):
        drawn = meshio.read(file)
        arrays = {name: np.concatenate(drawn.cell_data[name]) for name in ("force", "pressure", "sliding_work")}
        assert np.isnan(arrays["pressure"][:1]).all() and not arrays["pressure"][1:3].any()       # plane, other mesh
        assert np.allclose(arrays["pressure"][3:], weight / 0.01, rtol=0.02) and arrays["force"].shape == (5, 3)
        assert np.allclose(arrays["sliding_work"][3:], 0.3 * weight * work, rtol=0.02)
    for other in "other", [1], 1.5, np.zeros(2), None:
        with pytest.raises(ValueError, match=r"^wall = .*: there are loads of \[0, 'chute'\]"):
            loads[other]
    sim.walls.remove("chute")
    sim.walls.add(md.MeshWall.box((0, 0, -1), (1, 1, -0.5), name="chute"))
    sim.run(1)
    with pytest.raises(ValueError, match="wall 'chute' has 12 triangles, not 2 as in earlier calls"):
        loads(sim)
    with pytest.raises(ValueError, match="^loads = 'all': give minidem.analysis.WallLoads"):
        md.Frames(tmp_path, loads="all")


def test_loads_of_a_mesh_whose_number_has_changed():
    """A wall behind it may go, one in front of it not: the sums of two meshes would be one."""
    sim, loads = chute(), md.analysis.WallLoads()
    for wall in md.MeshWall.box((2, 0, 0), (3, 1, 1)), md.Plane((0, 0, -5), (0, 0, 1)):
        sim.walls.add(wall)
    loads(sim)
    sim.walls.remove(4)
    sim.walls.move("chute", velocity=(1, 0, 0))
    sim.run(1, callback=loads, every=1)
    sim.walls.remove(1)
    sim.run(1)
    with pytest.raises(ValueError, match="^wall 2 had a larger number in the call before.*; give names to meshes"):
        loads(sim)


@pytest.mark.parametrize("motion", [
    {"velocity": (1.0, 0, 0)}, {"surface_velocity": (1.0, 0, 0)}, {"motion": md.Oscillation((1e3, 0, 0), 5e-4 / np.pi)},
    {"motion": md.Driven(mass=1e9, axis=(1, 0, 0)), "velocity": (1.0, 0, 0)},
    {"surface_angular_velocity": (0, 1e-4, 0), "center": (0, 0, -1e4)}])
def test_sliding_work_on_walls_that_move(motion):
    """The same as for balls that move backwards on the wall at rest."""
    work = []
    for sim in chute(**motion), chute(speed=-1.0):
        loads = md.analysis.WallLoads()
        sim.run_until(0.01, every=10, callback=loads)
        work.append(loads["chute"]["sliding_work"].sum())
    assert work[0] == pytest.approx(work[1], rel=1e-5) and work[0] > 5e-5
