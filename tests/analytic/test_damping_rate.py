"""The step up to which dashpots damp and springs are stable: rates of contacts and bodies, and what longer steps do."""
from math import log, pi, sqrt

import numpy as np
import pytest
from examples import rows_of
from scenes import warnings_of

import minidem as md
from minidem.analysis import damping
from minidem.analysis.damping import damping_rate, spring_rate
from minidem.analysis.landing import faces, flat_mobility, flat_rate
from minidem.initial import random_orientations
from minidem.scenarios.periodic_grains import PRESSURE, material, placed, step_of, time_unit

R, DEEP = 0.01, 1e-5
BALL = md.ClumpTemplate([(0, 0, 0)], [R], 2500.0)
E_OVER = 1.0 / (2.0 * (1 - 0.3 ** 2) / 1e7)                         # E*
G_OVER = 1.0 / (4.0 * (2 - 0.3) * (1 + 0.3) / 1e7)                  # G*


def touching(walls=(), contact="hertz-mindlin", **material):
    """Two balls that touch, or one and a wall."""
    sim = md.Simulation(md.Material(1e7, 0.3, **material), walls, contact=contact, dt=1e-6)
    sim.add_clumps(BALL, [(0, 0, R - DEEP)] if walls else [(0, 0, 0), (2 * R - DEEP, 0, 0)])
    return sim


@pytest.mark.parametrize("walls", [(), [md.Plane((0, 0, 0), (0, 0, 1))]])
def test_rate_of_one_contact(walls):
    """Of the fastest motion: contact points move along the contact with a mobility of 1/m + R^2/I = 3.5/m each."""
    sim, smooth = touching(walls, restitution=0.3, friction=0.5), touching(walls, restitution=0.3)
    m, spheres = sim.mass[0], sim.n_clumps
    beta = -log(0.3) / sqrt(pi ** 2 + log(0.3) ** 2)
    normal = sqrt(5.0) * beta * sqrt(m / spheres * 4 / 3 * E_OVER * sqrt(R / spheres * DEEP))
    tangential = normal * sqrt(4.0 * G_OVER / E_OVER)
    assert 3.5 * tangential > normal
    rate, clump = damping_rate(sim)
    assert rate == pytest.approx(3.5 * spheres * tangential / m, rel=1e-3) and clump in range(spheres)
    assert damping_rate(smooth)[0] == pytest.approx(spheres * normal / m, rel=1e-3)


def test_rate_across_faces_of_a_box_and_of_clumps():
    """A rod that touches its neighbour across a face, as in open space."""
    rod, rates = md.shapes.rod(6 * R, R, 3, 2500.0), []
    for periodic, second in ((None, 6 * R - DEEP), (((0, -1, -1), (1, 1, 1), (True,) * 3), 6 * R - DEEP - 1.0)):
        sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.3, friction=0.5), contact="hertz-mindlin", dt=1e-6,
                            periodic=periodic)
        sim.add_clumps(rod, [(0.99, 0, 0), (0.99 + second, 0, 0)], (sqrt(0.5), 0, sqrt(0.5), 0))
        rates.append(damping_rate(sim)[0])
    assert rates[0] == pytest.approx(rates[1], rel=1e-9) and rates[0] > 0.0


def test_the_most_loaded_clumps_of_many(monkeypatch):
    """The rate of a few contacts of a dense sample is nearly that of all."""
    sim = placed(1.0, 500, 1).simulation(material(0.5, 0.5), step_of(1.0), {"rates": (md.Pressure(
        PRESSURE, 0.5 * time_unit(1.0, 500)),) * 3}, contact="hertz-mindlin", threads=1)
    sim.run(6000)
    contacts = sim.contacts()
    whole = damping_rate(sim)[0]
    monkeypatch.setattr(damping, "MOST", 300)
    [(_, _, ends)] = damping._of_contacts(sim, contacts, sim.reader.stiffnesses(contacts), 0.0)
    assert len(contacts) > 1000 and len(ends) < 500
    assert 0.8 * whole < damping_rate(sim)[0] < 1.1 * whole


def test_nothing_to_damp():
    elastic, alone = touching(contact="hertz"), touching()
    alone.remove_clumps([1])
    for sim in elastic, alone:
        assert damping_rate(sim) == (0.0, -1)


def bonded(damping, dt, **options):
    """A chain of six spheres across small gaps, which move and spin in all directions."""
    rng = np.random.default_rng(1)
    sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.5, friction=0.3), dt=dt,
                        contact="hertz-mindlin:bonds=parallel")
    sim.add_clumps(BALL, [(0.0201 * k, 0, 0) for k in range(6)], velocity=rng.normal(0.0, 1e-3, (6, 3)),
                   angular_velocity=rng.normal(0.0, 0.1, (6, 3)))
    sim.run(2)
    sim.bonds.add(1e-3, young=1e7, damping=damping, **options)
    return sim


@pytest.mark.parametrize("law", ["hertz-mindlin", "hooke-coulomb"])
def test_rate_of_one_bond(law):
    """Springs and dashpots of forces and couples of two spheres, along and across their line."""
    options = "bonds=parallel,stiffness=1e4" if law == "hooke-coulomb" else "bonds=parallel"
    sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.5), contact=f"{law}:{options}", dt=1e-5)
    sim.add_clumps(BALL, [(0, 0, 0), (2.02 * R, 0, 0)])
    sim.bonds.add([(0, 1)], young=1e7, stiffness_ratio=2.0, damping=0.7)
    m, inertia, lever = sim.mass[0], 0.4 * sim.mass[0] * R ** 2, 1.01 * R
    k_n = 1e7 * pi * R ** 2 / (2.02 * R)
    turning = 0.25 * k_n * R ** 2                       # the same for bending and torsion: k_s = k_n / 2
    along, across, about = (1.4 * sqrt(mass * k) + 0.25 * sim.dt * k for mass, k in (
        (m / 2, k_n), (m / 2, k_n / 2), (0.7 * m * R ** 2, turning)))
    expected = max(2.0 * along / m, 2.0 * across * (1.0 / m + lever ** 2 / inertia), 2.0 * about / inertia)
    assert damping_rate(sim)[0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("part", [0.95, 1.1])
@pytest.mark.parametrize("damping", [0.3, 1.5, 3.0])
def test_dashpots_of_bonds_beyond_their_step_create_energy(damping, part):
    """The warning is where energy grows: part : of the step at which the rate is 1 / dt."""
    dt = 1e-5
    for _ in range(12):                                 # the rate depends on the step, because of the springs
        sim = bonded(damping, dt)
        dt *= (1.0 / (damping_rate(sim)[0] * dt)) ** 0.5
    sim = bonded(damping, part * dt)
    texts, _ = warnings_of(lambda: sim.run(70))
    grows, warned = sim.energy().kinetic > 1e-4, [text for text in texts if "dashpots" in text]
    assert grows == (part > 1.0) == len(warned), (sim.energy().kinetic, warned)
    if warned:
        assert warned[0].startswith("step 3 ") and "less damping of the bonds" in warned[0]


def strength(restitution, part, count=150, inertial=0.02, seed=1):
    """Deviatoric over mean stress of a sample that is compressed along z under a pressure, largest rate * dt, warnings.

    part : of the step of periodic_grains.py for restitutions of 0.5 and more.
    """
    unit = time_unit(1.0, count)
    dt, held = part * step_of(1.0), md.Pressure(PRESSURE, 0.5 * unit)
    ratios, rates = [], []
    def measure(sim):
        stress = np.diag(sim.stress(kinetic=True))
        ratios.append((stress[2] - stress[:2].mean()) / stress.mean())
        rates.append(damping_rate(sim)[0] * dt)
    def compress():
        sim = placed(1.0, count, seed, shape=(1.0, 1.0, 1.5)).simulation(
            material(0.5, restitution), dt, {"rates": (-0.05 / unit,) * 3}, contact="hertz-mindlin", threads=1)
        while np.trace(sim.stress()) / 3.0 < 0.5 * PRESSURE:
            sim.run(round(unit / dt))
        sim.deform(rates=(held, held, -inertial / unit))
        sim.run(round(0.3 / inertial * unit / dt), every=round(0.01 / inertial * unit / dt), callback=measure)
    texts, _ = warnings_of(compress)
    return np.mean(ratios[12:]), max(rates), [text for text in texts if "dashpots" in text]


def test_dashpots_beyond_their_step_take_the_strength():
    """At a rate of 2 / dt a sample loses a fifth of its strength at least; below 1 / dt there is no warning."""
    good, slow, nothing = strength(0.1, 0.35)
    weak, fast, [text] = strength(0.1, 1.0)
    assert slow < 1.0 < 1.5 < fast and not nothing
    assert good > 0.7 and weak < 0.8 * good and "friction is too weak. Lower dt below" in text


TABLE = rows_of("guide/friction.md", r"(0\.\d) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)", 4)


@pytest.mark.slow
@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_table_of_the_guide(row):
    """q/p and the largest rate times dt at 0.2 and 0.1 Rayleigh steps: means of twelve samples of 300 spheres."""
    restitution, *expected = map(float, row)
    found = [value for part in (1.0, 0.5) for value in np.mean(
        [strength(restitution, part, 300, 0.01, seed)[:2] for seed in range(1, 13)], axis=0)]
    print(restitution, found)
    assert found == pytest.approx(expected, abs=0.03)


# --- Springs: the step that a body bears on all its contacts.

FLOOR = md.Plane((0, 0, 0), (0, 0, 1))


def lattice(*numbers, spacing=2.0):
    """Spheres in rows, whose lowest layer can lie on a floor."""
    centers = spacing * R * (np.array(list(np.ndindex(numbers))) - 0.5 * (np.array(numbers) - 1))
    return md.ClumpTemplate(centers, [R] * len(centers), 2500.0)


def on_floor(clump, height, contact, dt=1e-6, material=None, gravity=(0, 0, 0), **motion):
    """A clump whose lowest spheres are at this height above the floor, negative: overlap."""
    sim = md.Simulation(material or md.Material(1e7, 0.3), [FLOOR], contact=contact, dt=dt, gravity=gravity)
    lowest = (clump.offsets @ clump.axes.T)[:, 2].min() - R
    warnings, _ = warnings_of(lambda: sim.add_clumps(clump, (0, 0, height - lowest), **motion))
    return sim, warnings


def of_flat(clump, k):
    """Angular frequency of a clump on springs k below all spheres of its lowest layer."""
    low = clump.offsets @ clump.axes.T
    low = low[low[:, 2] < low[:, 2].min() + 1e-9 * R, :2]
    inertia = np.diag(clump.axes @ np.diag(clump.inertia) @ clump.axes.T)
    turning = (low[:, ::-1] ** 2).sum(axis=0) / inertia[:2]
    return sqrt(k * max(len(low) / clump.mass, *turning))


LATTICES = [(1, 1, 1), (5, 1, 1), (3, 3, 1), (2, 2, 2)]


@pytest.mark.parametrize("numbers", LATTICES)
def test_springs_of_all_contacts_of_a_body(numbers):
    """Linear and Hertzian; a body at rest gains energy from a step of 2 over their frequency on."""
    clump, k = lattice(*numbers), 1e5
    for contact, stiffness in (f"hooke:stiffness={k:g}", k), ("hertz", 2.0 * E_OVER * sqrt(R * DEEP)):
        sim, _ = on_floor(clump, -DEEP, contact)
        assert spring_rate(sim, sim.contacts())[0] == pytest.approx(of_flat(clump, stiffness), rel=5e-3)
        assert spring_rate(sim, sim.contacts(), 100.0 * of_flat(clump, stiffness)) == (0.0, -1)
    depth = clump.mass * 9.81 / k / numbers[0] / numbers[1]
    for part in 0.98, 1.02:
        sim, _ = on_floor(clump, -1.001 * depth, f"hooke:stiffness={k:g}", part * 2.0 / of_flat(clump, k),
                          gravity=(0, 0, -9.81))
        texts, _ = warnings_of(lambda: sim.run(300))
        grows = sim.energy().kinetic > 0.01 * clump.mass * 9.81 * depth
        assert grows == (part > 1.0) and any("on all its contacts (unstable from 2 on)" in text for text in texts)


@pytest.mark.parametrize("walls", [(), [FLOOR]])
def test_springs_of_friction(walls):
    """Of a contact that sticks: a mobility of 3.5 / m for each of its spheres; without friction that of the normal."""
    sim, smooth = touching(walls, restitution=0.9, friction=0.5), touching(walls, restitution=0.9)
    m, spheres, radius = sim.mass[0], sim.n_clumps, sqrt(R / sim.n_clumps * DEEP)
    expected = spheres / m * radius * np.array([2.0 * E_OVER, 3.5 * 8.0 * G_OVER])
    assert spring_rate(smooth, smooth.contacts())[0] == pytest.approx(sqrt(expected[0]), rel=1e-3)
    assert spring_rate(sim, sim.contacts())[0] == pytest.approx(sqrt(expected.max()), rel=1e-3)


@pytest.mark.parametrize("numbers, spacing", [*((numbers, 2.0) for numbers in LATTICES[1:]), ((10, 10, 1), 0.3)])
def test_what_a_template_bears_when_it_lies_flat(numbers, spacing):
    """In any orientation, of linear springs and at an overlap of R / 64, and of a clump of half the size."""
    clump, k, turned = lattice(*numbers, spacing=spacing), 1e5, (0.1, 0.7, -0.3, 0.5)
    for contact, stiffness in (f"hooke:stiffness={k:g}", k), ("hertz", 2.0 * E_OVER * R / 8.0):
        for scale in 1.0, 0.5:
            expected = of_flat(clump, stiffness) * (scale ** -1.5 if contact != "hertz" else 1.0 / scale)
            sim, _ = on_floor(clump, 1.0, contact, dt=1.0, orientation=turned, scale=scale)
            assert flat_rate(sim, sim.reader, 0) == (pytest.approx(expected, rel=1e-6), 0)
    assert flat_rate(on_floor(clump, 1.0, "hertz", dt=1e-7)[0], sim.reader, 0) == (0.0, -1)


def test_faces_of_spheres_of_different_radii():
    """They touch three spheres, or both of two; of a thousand directions none needs a much shorter step."""
    rng = np.random.default_rng(3)
    for n in 2, 5, 30:
        clump = md.ClumpTemplate(rng.normal(size=(n, 3)), rng.uniform(0.3, 1.0, n), 2500.0)
        normal = faces(clump)
        height = clump.offsets @ normal.T + clump.radii[:, None]
        touching = np.count_nonzero(height > height.max(axis=0) - 1e-6, axis=0)     # others: of one sphere alone
        assert (touching >= min(n, 3)).sum() >= min(n, 4) - 1
        best = flat_mobility(clump, (1.0,) * n, 1.0)
        for u in rng.normal(size=(1000, 3)):
            u /= np.linalg.norm(u)
            height = clump.offsets @ u + clump.radii
            hit = height > height.max() - 0.5 * clump.radii.min() / 64
            rows = np.hstack([np.tile(u, (hit.sum(), 1)) / sqrt(clump.mass),
                              np.cross(clump.offsets[hit], u) / np.sqrt(clump.inertia)])
            assert np.linalg.eigvalsh(rows.T @ rows)[-1] <= 1.05 * best


@pytest.mark.parametrize("contact, numbers, spacing, part, said", [
    ("hertz", (20, 20, 1), 0.1, 0.1, 0), ("hertz", (20, 20, 1), 0.1, 0.2, 1), ("hertz", (20, 20, 1), 0.05, 0.3, 1),
    ("hertz", (4, 4, 1), 2.0, 0.9, 0), ("hooke:stiffness=1e6", (1, 1, 1), 2.0, 0.5, 0),
    ("hooke:stiffness=1e6", (1, 1, 1), 2.0, 2.5, 1), ("hooke-coulomb:stiffness=1e6", (4, 4, 1), 2.0, 2.5, 1)])
def test_a_step_that_a_flat_landing_does_not_bear(contact, numbers, spacing, part, said):
    """It is said before the landing; the landing is so short that no look sees its contacts, but the energy it gains.

    part : of the Rayleigh step, of linear springs of sqrt(m/k) of a sphere
    """
    clump, material = lattice(*numbers, spacing=spacing), md.Material(1e8, 0.3)
    m = 2500.0 * 4.0 / 3.0 * pi * R ** 3
    unit = material.rayleigh_step(R, 2500.0) if contact == "hertz" else sqrt(m / 1e6)
    sim, texts = on_floor(clump, 1e-3 * R, contact, part * unit, material, velocity=(0, 0, -1.0))
    assert len(texts) == said and all("when it lies flat" in text for text in texts)
    before = sim.energy().total
    later, _ = warnings_of(lambda: sim.run(int(0.02 / sim.dt)))
    growth = sim.energy().total / before - 1.0
    assert growth < 0.1 or said
    assert (growth > 0.5) == any("the energy balance has grown" in text for text in later), (growth, later)


@pytest.mark.parametrize("clump", [BALL, lattice(3, 3, 1), md.shapes.rod(6 * R, R, 3, 2500.0)])
def test_no_rate_is_above_its_bound(clump):
    """Of clumps in a heap: what a check may skip, it would not have reported."""
    sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.3, friction=0.5), [FLOOR], contact="hertz-mindlin", dt=1e-6)
    places = np.indices((3, 3, 3)).reshape(3, -1).T + 0.5
    spacing = 1.9 * R if clump is BALL else 1.3 * clump.bounding_radius
    sim.add_clumps(clump, spacing * places, random_orientations(27, np.random.default_rng(1)), overlap=1.9)
    contacts, history = sim.reader.contacts_and_history()
    matrices = (sim.reader.dashpots(contacts, history["mass"]), damping_rate(sim)[0]), (
        sim.reader.stiffnesses(contacts), spring_rate(sim, contacts)[0] ** 2)
    for tensors, rate in matrices:
        clumps = [np.where(contacts[f"clump_{side}"] >= 0, contacts[f"clump_{side}"], 27) for side in "ij"]
        bound = damping._bounds(sim, clumps, *tensors).max()
        assert 0.0 < rate <= bound < 30.0 * rate
    assert damping_rate(sim, 1.01 * damping._bounds(sim, clumps, *matrices[0][0]).max()) == (0.0, -1)
