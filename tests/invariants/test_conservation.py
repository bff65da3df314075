"""Conserved quantities in collisions: momentum, angular momentum, the spin of a rod about its axis."""
import numpy as np
import pytest
import scenes
from reference_contact import rotation_matrix

import minidem as md
from minidem.scenarios.rotating_bodies.driven_bodies import order

EPS = np.finfo(float).eps
DT, STEPS = 38e-6, 400
SCHEMES = md.rotation.available()
ONSET = "hertz:onset=corrected"
CASES = [(scheme, "hertz") for scheme in SCHEMES] + [
    (scheme, ONSET) for scheme in SCHEMES if len(md.rotation.info(scheme).stages) == 1]


@pytest.fixture(scope="module")
def free_clumps():
    """48 free clumps, millimetres to centimetres apart, with random velocities: some fifty collisions."""
    return scenes.packed_mixture(3, (3, 4, 4), walls=False)


def largest(vectors):
    return np.max(np.linalg.norm(vectors, axis=1))


def collisions(sim, steps):
    touching = []
    sim.run(steps, every=10, callback=lambda sim: touching.append(len(sim.contacts())))
    return np.count_nonzero(touching)


@pytest.mark.parametrize("scheme, contact", CASES)
def test_linear_momentum(free_clumps, scheme, contact):
    """Each step rounds every velocity by half an eps, and the sum of the forces of a clump by less. With it the angular
    momentum about another point, and the norms of orientations, which half a dozen roundings a step change.

    Leapfrog changes the orbital part of the angular momentum by dt x_n x F_n exactly; two schemes add dt M_n to the
    spin in the lab.
    """
    sim = free_clumps.simulation(DT, rotation=scheme, contact=contact)
    before, angular = sim.linear_momentum(), sim.angular_momentum()
    assert collisions(sim, STEPS) > STEPS // 20
    mass, fastest = free_clumps.world().mass, max(largest(free_clumps.velocity), largest(sim.velocity))
    given = mass @ free_clumps.velocity
    assert np.max(np.abs(before - given)) < len(mass) * EPS * mass.sum() * fastest
    assert np.max(np.abs(sim.linear_momentum() - before)) < STEPS * EPS * mass.sum() * fastest
    summed, a = mass @ sim.velocity, np.array([3.0, -2.0, 5.0])
    assert np.max(np.abs(sim.linear_momentum() - summed)) < len(mass) * EPS * mass.sum() * fastest
    about_a = sim.angular_momentum() - np.cross(a, sim.linear_momentum())
    assert np.max(np.abs(sim.angular_momentum(about=a) - about_a)) < len(mass) * EPS * mass.sum() * fastest * 7.0
    assert np.max(np.abs(np.linalg.norm(sim.orientation, axis=1) - 1)) < 6 * STEPS * EPS
    if scheme.startswith(("fincham", "no-squish")):
        scale = mass.sum() * largest(sim.velocity) * largest(sim.position)
        assert np.linalg.norm(sim.angular_momentum() - angular) < 6 * STEPS * EPS * scale


def angular_momentum_error(free_clumps, scheme, finer):
    sim = free_clumps.simulation(DT / finer, rotation=scheme)
    before = sim.angular_momentum()
    sim.run(STEPS * finer)
    return np.linalg.norm(sim.angular_momentum() - before), sim


@pytest.mark.parametrize("scheme", SCHEMES)
def test_angular_momentum_converges(free_clumps, scheme):
    """With the declared order, 2 at most; 0.3 for the dt^(5/2) of first and last touch, or to round-off."""
    record = md.rotation.info(scheme)
    declared = min(2, record.order_q_varying, record.order_w_varying)
    errors, sims = zip(*(angular_momentum_error(free_clumps, scheme, finer) for finer in (1, 2, 4, 8)))
    scale = free_clumps.world().mass.sum() * largest(sims[0].velocity) * largest(sims[0].position)
    assert order(errors) > declared - 0.3 or max(errors) < 6 * 8 * STEPS * EPS * scale, errors


def test_axial_spin_of_rods():
    """No force has a moment about the axis. Roundings: a dozen a step, and of r x F, counted by the impulses."""
    scene, steps = scenes.rods_in_box(seed=2), 10_000
    body, sim, impulse = scene.shapes[0].body, scene.simulation(DT), 0.0
    def spin_about_axis(sim):
        axis = rotation_matrix(sim.orientation) @ body.axes[:, 0]
        return (axis * sim.angular_velocity).sum(1)
    def add_impulse(sim):
        nonlocal impulse
        impulse = impulse + np.linalg.norm(sim.force, axis=1) * DT
    before = spin_about_axis(sim)
    sim.run(steps, every=1, callback=add_impulse)
    assert np.max(impulse) > 2 * body.mass * 4.0             # rods were hit
    reach = np.max(np.linalg.norm(body.offsets, axis=1))
    from_kicks = reach * np.max(impulse) / body.inertia[0]
    allowed = EPS * (6 * steps * largest(sim.angular_velocity) + 4 * from_kicks)
    assert np.max(np.abs(spin_about_axis(sim) - before)) < allowed
