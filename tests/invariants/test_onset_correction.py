"""What the onset correction must not change: flight, steady contacts, rest in a heap."""
from functools import cache

import numpy as np
import pytest
import scenes
from examples import rows_of
from isolated_collisions import STEP
from scenes import Scene, drag, quaternion, unit_vectors
from user_functions import same

import minidem as md
from minidem.scenarios.rotating_bodies.driven_bodies import rms

ONSET = "hertz:onset=corrected"
SCHEMES = [name for name in md.rotation.available() if len(md.rotation.info(name).stages) == 1]
FEW_SCHEMES = ["spiral", "velocity-verlet", "improved-pcdm"]    # velocities half a step behind, with `finish`, ahead


@pytest.mark.parametrize("scheme", FEW_SCHEMES)
@pytest.mark.parametrize("force", [None, drag])
def test_equal_bits_without_a_contact(scheme, force):
    """Sixty clumps of two kinds fall, a few millimetres apart and above a wall."""
    scene = scenes.packed_mixture(4, (5, 4, 3), speed=0.2, spin=1.0, walls=False)
    scene = scene.changed(gravity=(0.0, 0.0, -9.81), walls=[md.Plane((0.0, 0.0, -0.5), (0.0, 0.0, 1.0))])
    sims = [scene.simulation(STEP, contact=contact, rotation=scheme) for contact in ("hertz", ONSET)]
    for sim in sims:
        if force:
            sim.forces.add(force)
        sim.run(100, every=1, callback=lambda sim: len(sim.contacts()) == 0 or pytest.fail("there is a contact"))
    assert same(*sims)


def pressed(speed):
    """Two rods side by side between two walls, overlaps of a fiftieth of the radius, speeds of about `speed`."""
    rng, r = np.random.default_rng(2), scenes.ROD_RADIUS
    upright = quaternion(np.tile([np.sqrt(0.5), -np.sqrt(0.5), 0.0], (2, 1)), np.arccos(np.sqrt(1 / 3)))
    position = np.array([[0.98 * r, 0.0, 0.0], [2.94 * r, 0.0, 0.0]])
    return Scene([scenes.rod()] * 2, position, upright, speed * unit_vectors(rng, 2), speed * unit_vectors(rng, 2),
                 [md.Plane((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), md.Plane((3.92 * r, 0.0, 0.0), (-1.0, 0.0, 0.0))])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_equal_bits_in_deep_contacts(scheme):
    """Deeper than 1.1 steps at the speed of the contact: no force is added."""
    sims = [pressed(0.01).simulation(STEP, contact=contact, rotation=scheme) for contact in ("hertz", ONSET)]
    assert np.array_equal(sims[0].force, sims[1].force) and np.max(np.abs(sims[0].force)) > 0.0
    for sim in sims:
        sim.run(30, every=1, callback=lambda sim: len(sim.contacts()) == 9 or pytest.fail("a contact has ended"))
    assert same(*sims)
    fast = [pressed(30.0).simulation(STEP, contact=contact, rotation=scheme) for contact in ("hertz", ONSET)]
    assert not np.array_equal(fast[0].force, fast[1].force)


def test_forces_of_contacts_contain_the_correction():
    """They sum up to the force on each clump; overlaps and elastic energies are those of the plain law."""
    sims = [pressed(30.0).simulation(STEP, contact=contact) for contact in ("hertz", ONSET)]
    tables = [sim.contacts() for sim in sims]
    assert sims[0].energy() == sims[1].energy()
    for name in ("overlap", "normal", "point", "energy"):
        assert np.array_equal(tables[0][name], tables[1][name])
    assert not np.array_equal(tables[0]["force"], tables[1]["force"])
    for sim, table in zip(sims, tables):
        total, pairs = np.zeros((sim.n_clumps, 3)), table[table["clump_j"] >= 0]
        np.add.at(total, table["clump_i"], table["force"])
        np.subtract.at(total, pairs["clump_j"], pairs["force"])
        assert np.allclose(total, sim.force, rtol=0.0, atol=1e-12 * np.max(np.abs(table["force"])))


REST = 8 * STEP                 # for soft rods, whose errors it makes as large as STEP those of the others


@cache
def heap_at_rest():
    """Three rods of soft material in a groove, two of them on the third, at rest to 1e-9 m/s."""
    r, s = scenes.ROD_RADIUS, np.sqrt(0.5)
    along_x = quaternion(np.tile([0.0, s, -s], (3, 1)), np.arccos(np.sqrt(1 / 3)))
    side, low = 1.25 * r, r / s
    position = np.array([[0.0, 0.0, low], [r, side, low + side], [r, -side, low + side]])
    walls = [md.Plane((0.0, 0.0, 0.0), (0.0, s, s)), md.Plane((0.0, 0.0, 0.0), (0.0, -s, s))]
    scene = Scene([scenes.rod()] * 3, position, along_x, np.zeros((3, 3)), np.zeros((3, 3)), walls, young=1e7,
                  gravity=(0.0, 0.0, -9.81))
    sim = scene.simulation(REST)
    sim.forces.add(lambda t, x, v, q, w: (-100.0 * v, -0.1 * w))
    sim.run(4000)
    assert np.max(np.abs(sim.velocity)) < 1e-9 and len(sim.contacts()) == 22
    return scene.changed(position=sim.position, orientation=sim.orientation)


def drift(contact, seed):
    """Change of the energy within 1e5 steps and the standard error of its measurement, over the kinetic energy."""
    velocity = 0.2 * unit_vectors(np.random.default_rng(seed), 3)
    velocity[:, 0] -= np.mean(velocity[:, 0])           # along the groove the heap stays
    sim, total = heap_at_rest().changed(velocity=velocity).simulation(REST, contact=contact), []
    start = sim.energy().kinetic
    sim.run(100_000, every=100, callback=lambda sim: total.append(sim.energy().total))
    first, last = (np.array(part) / start for part in (total[:300], total[-300:]))
    return np.mean(last) - np.mean(first), np.hypot(np.std(first), np.std(last)) / np.sqrt(300)


def test_energy_of_a_heap_in_motion():
    """Contacts end and begin all the time. With the correction the drift is below four standard errors."""
    plain, corrected = (np.array([drift(contact, seed) for seed in range(3)]) for contact in ("hertz", ONSET))
    assert np.all(np.abs(corrected[:, 0]) < 4.0 * corrected[:, 1]), corrected
    assert rms(corrected[:, 0]) < 0.1 * rms(plain[:, 0]), (plain, corrected)


def lasting_error(scheme, dt, seed, time, young=1e9):
    scene = scenes.rods_in_box(seed, shape=scenes.lumpy(scale=0.4)).changed(young=young)
    sim = scene.simulation(dt, rotation=scheme, contact=ONSET)
    energies = [sim.energy(shadow=True).lasting]
    sim.run(round(time / dt), every=round(time / dt / 100),
            callback=lambda sim: energies.append(sim.energy(shadow=True).lasting))
    return np.max(np.abs(np.array(energies) / energies[0] - 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("row", rows_of("onset/ONSET.md", r"`([\w-]+)` \| (\S+) \| (\S+) \| (\S+)", 6))
def test_table_of_asymmetric_clumps(row):
    """ONSET.md; each value is a random walk, so that only its size is compared."""
    scheme, *errors = row
    for dt, value in zip((38e-6, 19e-6, 9.5e-6), map(float, errors)):
        assert 0.5 < rms([lasting_error(scheme, dt, seed, 10.0) for seed in (1, 2, 3)]) / value < 2.0


def test_exact_rotation_of_soft_clumps():
    """Long contacts are so exact that the error of the rotation remains; over 10 s that of `omelyan` is 45 times."""
    exact, other = (rms([lasting_error(scheme, 40e-6, seed, 3.0, young=1e7) for seed in (1, 2, 3, 4)])
                    for scheme in ("exact", "omelyan"))
    assert exact < other / 10.0
