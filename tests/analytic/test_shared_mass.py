"""mass=shared, the default: restitution of landings with several contacts, single contacts, order: FRICTION.md."""
import re
from functools import cache
from math import log, pi, sqrt

import numpy as np
import pytest
from examples import rows_of
from oblique_impacts import duration
from reference_contact import effective_modulus
from scenes import ball, unit_vectors, warnings_of
from scipy.spatial.transform import Rotation

import minidem as md
from minidem.analysis.damping import damping_rate

RADIUS, OVERLAP, YOUNG = 1e-3, 1e-6, 1e9        # [m], [m] of a flat landing, [Pa]
STIFF = effective_modulus(YOUNG, 0.25, YOUNG, 0.25)
LATTICES = {"rod of 5": (5, 1, 1), "plate of 4 x 4": (4, 4, 1), "cube of 2 x 2 x 2": (2, 2, 2), "two rods": (5, 1, 1)}
TABLE = rows_of("contact/FRICTION.md", r"([\w ]+), (flat|tilted) \| (.*)", 8)


def landing(name, restitution, mass, tilted=True, steps=100, n=20, threads=1, adhesion=0.0):
    """n clumps that are about to land on a plane, or rods on rods, at random phases of the step; speed, contact time.

    tilted : so that the heights of their lowest spheres differ by up to 2 OVERLAP along each axis.
    """
    rng, on_rods, lattice = np.random.default_rng(1), name == "two rods", LATTICES[name]
    clump = md.ClumpTemplate(2.0 * RADIUS * np.array(list(np.ndindex(lattice))), [RADIUS] * np.prod(lattice), 2500.0)
    number, m, radius = lattice[0] * lattice[1], clump.mass / (1 + on_rods), RADIUS / (1 + on_rods)
    speed = sqrt(OVERLAP ** 2.5 * 16 / 15 * number * STIFF * sqrt(radius) / m)
    time = duration(m, radius, number * STIFF, speed)
    angle = rng.uniform(-1.0, 1.0, (n, 2)) * tilted * OVERLAP / ((max(lattice[:2]) - 1) * RADIUS)
    turn = Rotation.from_rotvec(np.column_stack([angle * (lattice[1] > 1, 1), np.zeros(n)]))
    low = np.min([turn.apply(offset)[:, 2] for offset in clump.offsets @ clump.axes.T], axis=0) - RADIUS
    height = speed * time * (1e-3 + rng.uniform(0.0, 0.02, n)) - low
    sim = md.Simulation(md.Material(YOUNG, 0.25, restitution=restitution, adhesion=adhesion), dt=time / steps,
                        threads=threads, walls=() if on_rods else [md.Plane((0, 0, 0), (0, 0, 1))],
                        contact=f"hertz-mindlin:mass={mass}")
    place = np.column_stack([20.0 * RADIUS * np.arange(n), np.zeros(n), height + RADIUS * on_rods])
    sim.add_clumps(clump, place, turn.as_quat()[:, [3, 0, 1, 2]], velocity=(0.0, 0.0, -speed))
    if on_rods:
        sim.add_clumps(clump, place * (1, 1, 0))
    return sim, speed, time


@cache
def restitution_of_energy(name, restitution, mass, tilted):
    """Signed root of the energy that contacts return as they open over that which they take as they close, (n,)."""
    sim, _, time = landing(name, restitution, mass, tilted, n=20 if tilted else 3)
    n, taken, last, quiet = sim.n_clumps // (1 + (name == "two rods")), np.zeros((2, sim.n_clumps)), {}, 0
    while quiet < 3.0 * time and sim.time < 30.0 * time:        # overdamped contacts never end
        sim.run(1)
        contacts, quiet = sim.contacts(), quiet + sim.dt
        force = np.sum(contacts["force"] * contacts["normal"], axis=1).tolist()
        keys = zip(contacts["sphere_i"].tolist(), contacts["sphere_j"].tolist())
        now = dict(zip(keys, zip(contacts["clump_i"].tolist(), force, contacts["overlap"].tolist())))
        for key in last.keys() | now.keys():
            clump, f, d = now.get(key, (*last.get(key, (0,))[:1], 0.0, 0.0))
            _, f0, d0 = last.get(key, (0, 0.0, 0.0))
            taken[int(d < d0), clump] += 0.5 * (f + f0) * (d - d0)
            quiet = 0.0
        last = now
    ratio = -taken[1, :n] / taken[0, :n]
    return np.sign(ratio) * np.sqrt(np.abs(ratio))


def row_of_table(name, how, masses=("single", "clump", "shared")):
    """Means, with mass=shared also smallest and largest, at restitutions of 0.9, 0.5 and 0.1."""
    found = []
    for restitution in 0.9, 0.5, 0.1:
        for mass in masses:
            values = restitution_of_energy(name, restitution, mass, how == "tilted")
            found += [values.mean()] + ([values.min(), values.max()] if how == "tilted" and mass == "shared" else [])
    return found


@pytest.mark.parametrize("name, how, values", [pytest.param(*row, marks=[] if row[:2] == ("rod of 5", "flat") else [
    pytest.mark.slow]) for row in TABLE])
def test_landings(name, how, values):
    """The table of FRICTION.md: flat, within 0.002; tilted, at 0.9 and 0.5, the mean within 0.025."""
    found = row_of_table(name, how)
    np.testing.assert_allclose(found, [float(x) for x in re.findall(r"-?\d\.\d+", values)], rtol=0, atol=6e-4)
    for k, restitution in enumerate((0.9, 0.5, 0.1) if how == "flat" else (0.9, 0.5)):
        assert found[(5 if how == "tilted" else 3) * k + 2] == pytest.approx(
            restitution, abs=2e-3 if how == "flat" else 0.025)


@pytest.mark.slow
@pytest.mark.parametrize("restitution, single, error", [(0.5, 0.551, 0.03), (0.1, 0.254, 0.015)])
@pytest.mark.parametrize("name", LATTICES)
def test_landings_without_attraction(name, restitution, single, error):
    """With limit_damping=yes landings have the restitution of a single contact."""
    flat, tilted = (restitution_of_energy(name, restitution, "shared,limit_damping=yes", how) for how in (False, True))
    assert flat == pytest.approx(single, abs=2e-3) and tilted == pytest.approx(single, abs=error)


def landed(steps, mass, adhesion=0.0):
    """Velocities after tilted landings over the speed before (n, 6), and the largest change of the energy balance."""
    sim, speed, time = landing("plate of 4 x 4", 0.5, mass, steps=steps, adhesion=adhesion)
    start, worst = sim.energy().balance, 0.0
    for _ in range(12):
        sim.run_until(sim.time + time)
        worst = max(worst, abs(sim.energy().balance - start))
    return np.hstack([sim.velocity, RADIUS * sim.angular_velocity]) / speed, worst


def rms(x):
    return np.sqrt(np.mean(x ** 2))


def test_order_of_tilted_landings():
    """Second order, although masses change between two poses; so is the balance of energies."""
    exact, few, many = (landed(steps, "shared") for steps in (3200, 50, 200))
    coarse, fine = rms(few[0] - exact[0]), rms(many[0] - exact[0])
    assert coarse < 4e-4 and coarse > 10.0 * fine
    assert few[1] > 12.0 * many[1]


@pytest.mark.parametrize("mass, error, rebound", [("shared", 1.2e-3, 0.48), ("single", 2e-4, 0.14)])
def test_order_across_gaps(mass, error, rebound):
    """FRICTION.md: of first order with shared masses; of second order without, and in the balance of energies."""
    exact, few, many = (landed(steps, f"{mass},cohesion=jkr", adhesion=1e-3) for steps in (3200, 50, 200))
    coarse, fine = rms(few[0] - exact[0]), rms(many[0] - exact[0])
    assert coarse == pytest.approx(error, rel=0.25) and coarse > (3.5 if mass == "shared" else 10.0) * fine
    assert np.mean(exact[0][:, 2]) == pytest.approx(rebound, abs=5e-3)
    assert few[1] > 12.0 * many[1]


def test_single_contacts_are_unchanged():
    """Balls that collide, and rods that hit a plane with one end, until another contact begins."""
    def velocities(mass):
        rng, found = np.random.default_rng(2), []
        sim = md.Simulation(md.Material(1e7, 0.25, restitution=0.5, friction=0.3), [md.Plane((0, 0, 0), (0, 0, 1))],
                            contact=f"hertz-mindlin:mass={mass}", dt=1e-6, gravity=(0, 0, -9.81))
        sim.add_clumps(ball(RADIUS).template, RADIUS * (1.0 + 2.2 * np.array(list(np.ndindex(5, 5, 5)))),
                       velocity=rng.normal(size=(125, 3)))
        place = np.column_stack([0.1 + 0.02 * np.arange(30), np.zeros(30), np.full(30, 6.0 * RADIUS)])
        sim.add_clumps(md.shapes.rod(10 * RADIUS, RADIUS, 5, 2500.0), place, unit_vectors(rng, 30, 4),
                       velocity=(0, 0, -1.0))
        for _ in range(200):
            sim.run(25)
            found.append((sim.velocity, np.bincount(sim.contacts()["clump_i"], minlength=sim.n_clumps)))
        return found
    alone, touched = np.ones((155, 1), dtype=bool), 0
    for (v, n), (w, m) in zip(velocities("single"), velocities("shared")):
        alone[125:, 0] &= (n[125:] < 2) & (m[125:] < 2)
        assert np.array_equal(np.where(alone, v, 0.0), np.where(alone, w, 0.0))
        touched += n[125:][alone[125:, 0]].sum() + n[:125].sum()
    assert touched > 1000 and not alone.all()


def test_damping_rate_of_a_flat_rod():
    """Five dashpots together slow it down at the rate of one that has the whole mass and five springs."""
    sim, _, time = landing("rod of 5", 0.5, "shared", tilted=False, n=1)
    sim.run_until(0.5 * time)
    contacts, beta = sim.contacts(), log(2.0) / sqrt(pi ** 2 + log(2.0) ** 2)
    stiffness = 5.0 * 4 / 3 * STIFF * sqrt(RADIUS * contacts["overlap"].mean())
    assert damping_rate(sim)[0] == pytest.approx(beta * sqrt(5.0 * stiffness / sim.mass[0]), rel=0.06)


def test_on_a_mesh_as_on_a_plane():
    """Contacts have the mass of their own history, also where a wall has many triangles, and behind another wall."""
    corners = np.array([(x, y, 0.0) for x in range(-3, 4) for y in range(-3, 4)])
    squares = [7 * x + y for x in range(6) for y in range(6)]
    triangles = [t for k in squares for t in ((k, k + 7, k + 8), (k, k + 8, k + 1))]
    lid, found = md.Plane((0, 0, 1), (0, 0, -1)), []
    for floor in md.Plane((0, 0, 0), (0, 0, 1)), md.MeshWall((6.1 * RADIUS * corners, triangles)):
        sim = md.Simulation(md.Material(YOUNG, 0.25, restitution=0.5, friction=0.3), [lid, floor], dt=1e-6,
                            contact="hertz-mindlin:mass=shared")
        for k, lattice in enumerate(LATTICES.values()):
            clump = md.ClumpTemplate(2.0 * RADIUS * np.array(list(np.ndindex(lattice))), [RADIUS] * np.prod(lattice),
                                     2500.0)
            height = RADIUS - OVERLAP - min(clump.offsets @ clump.axes.T[:, 2])
            sim.add_clumps(clump, (RADIUS * (0.3 + 9.0 * (k // 2) - 9.0), RADIUS * (9.2 * (k % 2) - 8.0), height))
        contacts, history = sim.reader.contacts_and_history()
        found.append([len(contacts), damping_rate(sim)[0], *np.bincount(contacts["clump_i"], history["mass"])])
        assert warnings_of(lambda: sim.run(2))[0] == []
    assert found[0] == pytest.approx(found[1], rel=1e-9) and found[0][0] == 30


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.9, 0.5])
def test_cooling_gas_of_rods(restitution):
    """Haff's law: one over the root of the kinetic energy grows evenly, within 5 % as fast as with mass=single."""
    def rate(mass):
        sim = md.Simulation(md.Material(1e8, 0.25, restitution=restitution), dt=4e-6,
                            contact=f"hertz-mindlin:mass={mass}", periodic=((0, 0, 0), (0.13,) * 3, (True,) * 3))
        rng, energies = np.random.default_rng(4), []
        places = 0.013 * (0.5 + np.array(list(np.ndindex(10, 10, 10))))
        sim.add_clumps(md.shapes.rod(0.01, RADIUS, 5, 2500.0), places, unit_vectors(rng, 1000, 4),
                       velocity=rng.normal(0.0, 0.7, (1000, 3)))
        for _ in range(60):
            sim.run(500)
            energies.append(sim.energy().translational + sim.energy().rotational)
        assert np.all(np.diff(energies) < 0.0)
        time, root = np.arange(60), 1.0 / np.sqrt(energies)
        line = np.polyfit(time[15:], root[15:], 1)
        assert np.abs(root - np.polyval(line, time))[15:].max() < 0.01 * root[-1]
        return line[0] / root[0]
    assert rate("shared") == pytest.approx(rate("single"), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.5, 0.1])
def test_rods_that_fall_into_a_box_come_to_rest(restitution):
    sim = md.Simulation(md.Material(1e7, 0.25, restitution=restitution, friction=0.4), dt=1e-5, gravity=(0, 0, -9.81),
                        walls=md.box_walls((0, 0, 0), (0.0425, 0.0425, 0.2)), contact="hertz-mindlin:mass=shared")
    places = 0.0085 * (0.5 + np.array(list(np.ndindex(5, 5, 16))))
    sim.add_clumps(md.shapes.rod(0.008, RADIUS, 4, 2500.0), places, unit_vectors(np.random.default_rng(3), 400, 4))
    moving = []
    for _ in range(50):
        sim.run(1000)
        moving.append(sim.energy().translational + sim.energy().rotational)
    assert moving[-1] < 1e-7 * max(moving)
    contacts = sim.contacts()
    pairs = list(zip(contacts["clump_i"].tolist(), contacts["clump_j"].tolist()))
    assert len(pairs) - len(set(pairs)) > 100           # rods that share masses
