"""Equal bits with cylinders, meshes and moving walls: threads, sorting, restarts, undone steps, other clumps."""
import copy
import pickle
from functools import cache

import numpy as np
import pytest
from reference_walls import CUBE, CUBE_FACES, MINDLIN, ROLLING, facets, plate, simulation
from scenes import unit_vectors

import minidem as md

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
STATE = "ids", "position", "orientation", "velocity", "angular_velocity", "force", "torque"
CLUMP = md.ClumpTemplate([(-0.03, 0.0, 0.0), (0.03, 0.0, 0.0), (0.0, 0.03, 0.02)], [0.05, 0.05, 0.04], density=2500.0)
MULTISTAGE = next(name for name in md.rotation.available() if len(md.rotation.info(name).stages) > 1)
LAWS = ["hertz", MINDLIN, ROLLING]
BEFORE, STEPS = 2500, 150


def shaken(t):
    """A motion, of a function that pickle can hold."""
    return (0.05 * np.sin(9.0 * t), 0.0, 0.03 * np.sin(17.0 * t)), (0.3 * np.sin(14.0 * t), 0.2 * np.sin(6.0 * t), t)


MOTIONS = {3: shaken, 5: shaken}


def mixer(contact, rotation="spiral", order=None, threads=1):
    """Clumps in a turning mesh drum between planes, with a shaken cube, a shaken cone and a cylinder in it."""
    turn = {"angular_velocity": (0, 0, 4.0)}
    walls = [md.MeshWall(facets(30, 0.5, 1.0, rows=6), **turn, center=(0, 0, 0)),
             md.Plane((0, 0, -0.4), (0, 0, 1), **turn), md.Plane((0, 0, 0.4), (0, 0, -1), motion=md.Oscillation(
                 (0, 0, 0.03), 8.0)), md.MeshWall((0.25 * (CUBE - 0.5) + (0.1, 0, -0.3), CUBE_FACES), motion=shaken),
             md.Cylinder((0, 0, 0), (0, 0, 1), 0.08, outside=True, **turn),
             md.Cone((-0.28, 0, -0.24), (0, 1, 0.2), (0.02, 0.08), 0.05, angular_velocity=(3.0, 0, 0), motion=shaken)]
    sim = simulation(walls, contact, 2e-4, rotation=rotation, threads=threads, gravity=(2, -9, -4))
    rng = np.random.default_rng(6)
    places = 0.16 * (np.argwhere(np.ones((6, 6, 4))) - [2.5, 2.5, 1.5])
    radius = np.linalg.norm(places[:, :2], axis=1)
    places = places[(radius < 0.39) & (radius > 0.19) & ~np.all(np.abs(places - (0.1, 0, -0.3)) < 0.23, axis=1)
                    & (np.linalg.norm(places - (-0.28, 0, -0.24), axis=1) > 0.19)]
    n = len(places)
    state = places, unit_vectors(rng, n, 4), rng.normal(size=(n, 3)), 5.0 * rng.normal(size=(n, 3))
    for k in np.arange(n)[order] if order is not None else [slice(None)]:
        sim.add_clumps(CLUMP, *(values[k] if order is None else values[[k]] for values in state))
    return sim


@cache
def stirred(contact, rotation="spiral"):
    sim = mixer(contact, rotation)
    touched = set()
    sim.run(BEFORE, every=100, callback=lambda sim: touched.update(sim.contacts()["clump_j"].tolist()))
    assert ({-1} if contact == "hertz" else {-1, -2, -4}) <= touched
    return sim


def bits(sim):
    """All that a simulation contains."""
    contacts, energies = sim.contacts(), np.array(list(vars(sim.energy()).values()), dtype=float)
    arrays = {name: np.array(getattr(sim, name)) for name in STATE} | {"energies": energies}
    arrays |= {name: contacts[name] for name in contacts.dtype.names} | {"work": sim.engine.loop.wall_work()[:, 0]}
    arrays |= {"walls": [np.append(sim.wall_force(k), sim.wall_torque(k)) for k in range(len(sim.walls))]}
    arrays |= sim.engine.loop.history() or {}
    return {name: np.ascontiguousarray(values).tobytes() for name, values in arrays.items()}


@cache
def undisturbed(contact, rotation="spiral"):
    """Bits at the end of a run in one go on one thread; contacts with walls have begun and ended in it."""
    sim = copy.deepcopy(stirred(contact, rotation))
    before = at_walls(sim)
    sim.run(STEPS)
    after = at_walls(sim)
    assert before - after and after - before and (before & after or contact == "hertz")
    return bits(sim)


def at_walls(sim):
    contacts = sim.contacts()
    return {(int(i), int(j)) for i, j in zip(contacts["sphere_i"], contacts["sphere_j"]) if j < 0}


def reloaded(sim, threads, tmp_path, motions=MOTIONS):
    sim.save(tmp_path / "state.npz")
    return md.Simulation.load(tmp_path / "state.npz", threads=threads, motions=motions)


@pytest.mark.parametrize("threads, shares", [(2, None), (3, None), (3, (0.5, 0.125, 0.375))])
@pytest.mark.parametrize("contact", LAWS)
def test_threads(contact, threads, shares, tmp_path):
    sim = reloaded(stirred(contact), threads, tmp_path)
    assert sim.threads == threads
    if shares:
        sim.engine.loop.set_shares(shares)
    sim.run(STEPS)
    assert bits(sim) == undisturbed(contact)


def test_threads_from_the_start():
    """Threads do not change the first contacts either."""
    ends = []
    for threads in 1, 3:
        sim = mixer(ROLLING, threads=threads)
        sim.run(300)
        ends.append(bits(sim))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("contact", LAWS)
def test_restart_at_any_step(contact, tmp_path):
    """With other numbers of threads, contacts looked at, clumps sorted; from files, pickles and copies."""
    sim = copy.deepcopy(stirred(contact))
    for step in range(0, STEPS, 13):
        sim.run(BEFORE + step - sim.step_count)
        if step % 2:
            sim.contacts()
        if step % 3 == 0:
            sim.engine.loop.sort_clumps()
        for other in (reloaded(sim, 1 + step % 3, tmp_path), copy.deepcopy(sim),
                      pickle.loads(pickle.dumps(sim)))[:1 + 2 * (step < 30)]:
            assert bits(other) == bits(sim)
            other.run(STEPS - step)
            assert bits(other) == undisturbed(contact)
    sim.run(BEFORE + STEPS - sim.step_count)
    assert bits(sim) == undisturbed(contact)


def test_walls_of_checkpoints(tmp_path):
    """Directions of any kind keep their bits."""
    directions = np.random.default_rng(1).normal(size=(40, 3))
    walls = [md.Plane((0, 0, 0), n) for n in directions] + [
        shape for n in directions for shape in (md.Cylinder((0, 0, 0), n, 2.0), md.Cone((0, 0, 0), n, (1, 2), 3))]
    sim = simulation(walls, "hertz")
    for other in reloaded(sim, 1, tmp_path, {}), copy.deepcopy(sim):
        assert other.walls == sim.walls
    for n in directions:
        servo = md.Servo(n, force=1.0, mass=1.0)
        assert md.Servo(servo.direction, force=1.0, mass=1.0) == servo


@pytest.mark.parametrize("seed", [2, 3])
def test_order_of_contacts_over_seams(seed, tmp_path):
    """Balls in a groove of triangles in random order, pushed by a plane: the sums of three forces do not depend on the
    triangles on which contacts began, of which a simulation that is loaded knows nothing."""
    points, triangles = plate(16, -1.0, 1.0, jitter=0.0)
    points[:, 2] = 0.8 * np.abs(points[:, 0])
    triangles = np.random.default_rng(seed).permutation(triangles)
    walls = [md.MeshWall((points, triangles)), md.Plane((0, -0.9, 0), (0, 1, 0), velocity=(0, 1.0, 0))]
    sim = simulation(walls, MINDLIN, 2e-4, gravity=(0, -6, -9))
    ball = md.ClumpTemplate([(0, 0, 0)], [0.1], density=2500.0)
    sim.add_clumps(ball, [(0.0, y, 0.127) for y in (-0.79, -0.58)])
    sim.run(610)
    for _ in range(50):                                 # each contact moves on to another triangle
        sim.run(5)
        other = reloaded(sim, 1, tmp_path, {})
        for simulated in sim, other:
            simulated.run(1)
        assert np.array_equal(other.force, sim.force) and np.array_equal(other.velocity, sim.velocity)


def test_pieces_longer_than_a_table_of_poses(tmp_path):
    """Poses are computed for 1000 steps at once; where a table begins changes nothing."""
    whole = mixer(ROLLING)
    other = copy.deepcopy(whole)
    whole.run(2100)
    other.run(999)
    other = reloaded(other, 2, tmp_path)
    other.run(1101)
    assert bits(other) == bits(whole)


def test_multistage_scheme(tmp_path):
    """Half steps: forces are evaluated there with the walls where they are then."""
    sim = reloaded(stirred("hertz", MULTISTAGE), 3, tmp_path)
    for steps in 1, STEPS // 2, STEPS - STEPS // 2 - 1:
        sim.run(steps)
        sim.energy()
    assert bits(sim) == undisturbed("hertz", MULTISTAGE)


def test_walls_at_half_steps():
    """Collisions with walls that move fast are of second order, with half steps too."""
    def end(rotation, dt):
        sim = simulation([md.MeshWall(plate(3), velocity=(0.5, 0, 1.7)), md.Cylinder(
            (0, 0, 0.6), (0, 1, 0), 0.2, outside=True, motion=md.Oscillation((0, 0, 0.05), 3.0))], "hertz", dt,
            rotation=rotation)
        sim.add_clumps(CLUMP, [(0.001, 0.002, 0.1)], velocity=(0, 0, -0.5))
        sim.run(round(0.12 / dt))
        assert len(sim.contacts()) == 0
        return np.concatenate([sim.velocity[0], sim.angular_velocity[0], [sim.energy().work]])

    exact = end("spiral", 6.25e-6)
    assert np.abs(exact[3:6]).max() > 1.0 and exact[6] > 1.0
    for rotation in "spiral", MULTISTAGE:
        errors = [np.abs(end(rotation, dt) - exact).max() for dt in (4e-4, 1e-4)]
        assert errors[1] < errors[0] / 6 and errors[1] < 2e-3


def test_order_of_added_clumps():
    """Clumps that are added in another order, one by one, move alike where they are too few to touch each other."""
    walls = [md.MeshWall(plate(6), angular_velocity=(0, 0, 1.0)), md.Cylinder((0, 0, 0), (0, 0, 1), 0.9,
                                                                              angular_velocity=(0, 0, -2.0))]
    rng, ends = np.random.default_rng(3), []
    places = np.column_stack([np.repeat([-0.5, 0.0, 0.5], 3), np.tile([-0.6, 0.0, 0.6], 3), np.full(9, 0.12)])
    velocity = rng.normal(size=(9, 3))
    for order in np.arange(9), rng.permutation(9):
        sim = simulation(walls, ROLLING, 2e-4, gravity=(0, 0, -9.81))
        for k in order:
            sim.add_clumps(CLUMP, places[[k]], velocity=0.1 * velocity[k])
        sim.run(2000)
        assert (sim.contacts()["clump_j"] >= 0).sum() == 0 and len(sim.contacts()) > 1
        back = np.argsort(order)
        ends.append([sim.position[back].tolist(), sim.angular_velocity[back].tolist(),
                     sim.engine.loop.wall_work().tolist()])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_undone_step(threads, tmp_path):
    """A step whose user force raises is undone, with the work of the walls and the history of all contacts."""
    def force(t, x, v, q, w):
        if fails[0]:
            raise ZeroDivisionError
        return -0.1 * v, 0.0 * w

    fails = [False]
    whole = reloaded(stirred(ROLLING), threads, tmp_path)
    whole.add_force(force)
    sim = copy.deepcopy(whole)
    whole.run(STEPS)
    for step in range(5, STEPS - 10, 7):
        sim.run(BEFORE + step - sim.step_count)
        before, fails[0] = bits(sim), True
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                sim.run(3)
        fails[0] = False
        assert bits(sim) == before
    with pytest.raises(ZeroDivisionError):              # nothing is read after it
        fails[0] = sim.run(7) is None
        sim.run(2)
    fails[0] = False
    sim.run(BEFORE + STEPS - sim.step_count)
    assert bits(sim) == bits(whole)


@pytest.mark.parametrize("fails_at", [0.2, 0.19, 0.1802])
def test_motion_that_raises(fails_at):
    """The state is the one before; the run goes on when the function works again."""
    def motion(t):
        if t > end[0]:
            raise ZeroDivisionError
        return (0.05 * np.sin(9.0 * t), 0.0, 0.1 * t), (0.0, 0.0, 0.0)

    end = [np.inf]
    sims = [simulation([md.MeshWall(plate(5), motion=motion)], MINDLIN, 2e-4, gravity=(0, 0, -9)) for _ in range(2)]
    for sim in sims:
        sim.add_clumps(CLUMP, [(0, 0, 0.06)])
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


@pytest.mark.parametrize("contact", LAWS)
def test_clumps_come_and_go(contact, tmp_path):
    """While walls move; the work on removed clumps is kept, and the balance is continuous."""
    def change(sim, between):
        for k in range(3):
            contacts, energy = sim.contacts(), sim.energy()
            expected = [energy.balance, energy.work]
            touching = np.unique(contacts["clump_i"][contacts["clump_j"] == -1])
            gone = touching[k::5]
            place, turn = sim.position[gone[0]], sim.orientation[gone[0]]
            sim.remove_clumps(sim.ids[gone])
            np.testing.assert_allclose([sim.energy().balance, sim.energy().work], expected, rtol=1e-12)
            sim = between(sim)
            sim.add_clumps(CLUMP, [place], [turn], scale=0.9)
            np.testing.assert_allclose([sim.energy().balance, sim.energy().work], expected, rtol=1e-12)
            sim = between(sim)
            sim.run(40)
            assert abs(sim.energy().balance - energy.balance) < 5e-3 * sim.energy().kinetic
            sim = between(sim)
        return sim

    expected = change(copy.deepcopy(stirred(contact)), lambda sim: sim)
    for threads in 1, 3:
        sim = change(copy.deepcopy(stirred(contact)), lambda sim: reloaded(sim, threads, tmp_path))
        assert bits(sim) == bits(expected)
