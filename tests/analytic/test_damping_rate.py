"""The step up to which dashpots damp: rates of single contacts, and what a longer step does to a dense sample."""
from math import log, pi, sqrt

import numpy as np
import pytest
from examples import rows_of
from scenes import warnings_of

import minidem as md
from minidem.analysis import damping
from minidem.analysis.damping import damping_rate
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
    assert len(contacts) > 1000 and np.count_nonzero(damping._of_loaded_clumps(contacts, 500)) < 500
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
    sim.add_bonds(1e-3, young=1e7, damping=damping, **options)
    return sim


@pytest.mark.parametrize("law", ["hertz-mindlin", "hooke-coulomb"])
def test_rate_of_one_bond(law):
    """Springs and dashpots of forces and couples of two spheres, along and across their line."""
    options = "bonds=parallel,stiffness=1e4" if law == "hooke-coulomb" else "bonds=parallel"
    sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.5), contact=f"{law}:{options}", dt=1e-5)
    sim.add_clumps(BALL, [(0, 0, 0), (2.02 * R, 0, 0)])
    sim.add_bonds([(0, 1)], young=1e7, stiffness_ratio=2.0, damping=0.7)
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
