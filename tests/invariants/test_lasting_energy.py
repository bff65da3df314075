"""The lasting energy: the total energy without its bounded oscillation in contacts, and the error taken from it."""

import numpy as np
import pytest
import scenes
from oblique_impacts import free_rotation
from reference_contact import rotation_matrix

import minidem as md
from minidem.analysis.energy import lasting_energy_error

EDGE = 2            # steps at either end of a contact that are left out


def two_rods():
    orientation = np.array([[1.0, 0.0, 0.0, 0.0], [0.8, 0.1, 0.5, 0.3]])
    velocity = np.array([[4.0, 0.3, 0.2], [-3.0, 0.5, -1.0]])
    touching = np.array([[0.0, 0.0, 0.0], [0.109, 0.028, 0.014]])
    return scenes.Scene([scenes.rod()] * 2, touching - 1e-4 * velocity,
                        orientation / np.linalg.norm(orientation, axis=1, keepdims=True), velocity,
                        np.array([[3.0, 40.0, -20.0], [10.0, -30.0, 7.0]]))


def clump_at_wall():
    """An asymmetric clump that falls on a wall with an acceleration of 500 m/s2."""
    velocity = np.array([[1.0, 0.4, -3.0]])
    return scenes.Scene([scenes.lumpy()], np.array([[0.0, 0.0, 0.062]]) - 1e-3 * velocity,
                        np.array([[1.0, 0.2, 0.3, 0.1]]) / np.sqrt(1.14), velocity, np.array([[6.0, 40.0, -25.0]]),
                        [md.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))], gravity=(0.0, 0.0, -500.0))


def energies(scene, dt, **options):
    """(total, lasting) energies at all steps, and the first and the last step of the contact."""
    sim, rows, touching = scene.simulation(dt, **options), [], []
    for _ in range(round(4e-3 / dt)):
        energy = sim.energy(shadow=True)
        assert energy.total == sim.energy().total               # in contacts too: `lasting` alone leaves them out
        rows.append((energy.total, energy.lasting))
        touching.append(len(sim.contacts()))
        sim.run(1)
    changes = np.flatnonzero(np.diff(touching))
    assert len(changes) == 2 and touching[0] == touching[-1] == 0           # one contact begins and ends
    return np.array(rows), changes[0] + 1, changes[1]


def oscillation(scene, scheme, dt):
    """Peak-to-peak values of the total and the lasting energy within the contact."""
    rows, first, last = energies(scene, dt, rotation=scheme)
    return np.ptp(rows[first + EDGE:last - EDGE + 1], axis=0)


@pytest.mark.parametrize("scheme", ["spiral", "omelyan", "no-squish", "fincham", "exact"])
@pytest.mark.parametrize("scene", [two_rods(), clump_at_wall()], ids=["two rods", "clump at wall"])
def test_lasting_energy_has_no_oscillation_of_second_order(scene, scheme):
    """The total energy oscillates by O(dt^2). That of the lasting energy was 2000 times smaller or less."""
    long, short = (oscillation(scene, scheme, dt) for dt in (9.5e-6, 4.75e-6))
    assert np.log2(long[0] / short[0]) == pytest.approx(2.0, abs=0.05)
    assert long[1] < long[0] / 1000.0 and short[1] < short[0] / 1000.0


@pytest.mark.parametrize("phase", np.arange(6) / 6)
@pytest.mark.parametrize("scene", [two_rods(), clump_at_wall()], ids=["two rods", "clump at wall"])
def test_lasting_energy_is_constant_where_contacts_begin_and_end(scene, phase):
    """With the onset correction, before, in and after the contact."""
    dt = 19e-6
    moved = scene.changed(position=scene.position + phase * dt * scene.velocity)
    rows, first, last = energies(moved, dt, contact="hertz:onset=corrected")
    total, lasting = np.max(np.abs(rows - rows[0]), axis=0)
    assert lasting < total / 200.0 and lasting < np.max(np.abs(rows[[first, last], 0] - rows[0, 0])) / 50.0


def test_shadow_terms_are_those_of_the_definition():
    """U_free / 12 by differences along the exact free motion, F.M^-1.F / 24 from the oracle's forces."""
    scene, dt = scenes.packed_mixture(5, (3, 4, 5)).changed(gravity=(1.0, -2.0, -9.0)), 1e-5
    sim = scene.simulation(dt)
    while len(sim.contacts()) < 15 or min(sim.contacts()["clump_j"]) >= 0:
        sim.run(10)
    x, q, v, w = (np.array(part) for part in scenes.state_of(sim))
    dt = 1e-8                                           # no contact begins or ends within a step
    sim = scene.changed(position=x, orientation=q, velocity=v, angular_velocity=w).simulation(dt)
    world = scene.world()
    forces = world.forces(x, q)
    step = 1e-7
    turned = np.array([free_rotation(shape.body, *motion, np.array([-step, step]))[0]
                       for shape, *motion in zip(scene.shapes, q, w)])
    before, after = (world.forces(x + time * v, turned[:, k]).pair_energy.sum() for k, time in enumerate((-step, step)))
    curvature = (before - 2.0 * forces.pair_energy.sum() + after) / step**2
    force, mass, gravity = forces.force, world.mass[:, None], np.array(scene.gravity)
    torque = np.einsum("nba,ncb,nc->na", world.axes, rotation_matrix(q), forces.torque)         # principal frame
    squares = np.sum(((force + mass * gravity)**2 - (mass * gravity)**2) / mass) + np.sum(torque**2 / world.inertia)
    assert sim.energy(shadow=True).shadow == pytest.approx(dt**2 * (curvature / 12.0 - squares / 24.0), rel=1e-5)


def test_without_contacts_lasting_and_total_energy_are_equal():
    """Also in a field of gravity, whose constant share of the shadow Hamiltonian is left out."""
    sim = scenes.rods_in_box(3, walls=False).changed(gravity=(0.0, 0.0, -9.81)).simulation()
    sim.run(10)
    energy = sim.energy(shadow=True)
    assert len(sim.contacts()) == 0 and energy.shadow == 0.0 and energy.lasting == energy.total == sim.energy().total
    assert sim.energy().shadow is None                  # it is computed on request


@pytest.mark.parametrize("free, rows", [(0, "shadow"), (9, "shadow"), (10, "contact-free"), (100, "contact-free")])
def test_rows_without_contacts_are_used_if_there_are_enough(free, rows):
    total, lasting = np.random.default_rng(1).uniform(1.0, 2.0, (2, 100))
    contacts = np.r_[np.ones(100 - free), np.zeros(free)]
    table = {"total": total, "lasting": lasting, "translational": total, "rotational": np.zeros(100),
             "potential": np.zeros(100)}
    used = total[100 - free:] if rows == "contact-free" else lasting
    assert lasting_energy_error(table, contacts) == (np.max(np.abs(used - used[0])) / total[0], rows)
    assert lasting_energy_error({name: np.zeros(100) for name in table}, contacts) == (None, None)
    nine = {name: values[-9:] for name, values in table.items()}
    assert lasting_energy_error(nine, np.zeros(9))[1] == "shadow"       # too few, although all are without contacts
