"""Drag and a torque of a user force in the many-body loop: the order of every scheme. With velocities of half a step
ago every leapfrog would fall to first order."""
from functools import cache

import numpy as np
import pytest
import scenes
from reference_contact import rotation_matrix

import minidem as md
from minidem.scenarios.rotating_bodies.driven_bodies import driven, order, orientation_error, rms

SCHEMES = md.rotation.available()
DURATION = 1.0
STEPS = 40 * 2**np.arange(5)
# A straight line through five errors, each at half the step of the one before, deviates from the whole number
# by the next order's term, c dt at the largest step of 1/40 with c of order one; 0.1 is far from 1, which
# separates two orders.
TOLERANCE = 0.1
# Per mass and per moment of inertia. What a clump starts with falls to a fifth by the drag.
DRAG, PUSH, FREQUENCY, PHASE = 1.5, 2.0, 3.0, np.array([0.2, 1.1, -0.7])    # [1/s], [m/s2], [rad/s]
SPIN = 5.0                                                                  # [rad/s]


def lumpy_pair():
    """Two asymmetric clumps that never meet, and turn by some five radians in the time."""
    rng, shape = np.random.default_rng(7), scenes.lumpy()
    q, v, w = scenes.unit_vectors(rng, 2, 4), rng.normal(size=(2, 3)), SPIN * rng.normal(size=(2, 3))
    return scenes.Scene([shape] * 2, np.array([[0.0, 0.0, 0.0], [50.0, 0.0, 0.0]]), q, v, w)


def drag_and_swing(scene):
    """The user force, lab frame: linear drag on v and w, and a push and a torque that swing in time."""
    template = scene.shapes[0].template

    def force(t, x, v, q, w):
        swing = PUSH * np.sin(FREQUENCY * t + PHASE)
        return template.mass * (swing - DRAG * v), template.inertia[1] * (swing - DRAG * w)
    return force


def exact_translation(x, v, t):
    """x and v of vdot = PUSH sin(FREQUENCY t + PHASE) - DRAG v, in closed form."""
    amplitude = PUSH / (DRAG + 1j * FREQUENCY) * np.exp(1j * PHASE)
    decaying = v - amplitude.imag
    end = np.exp(1j * FREQUENCY * t)
    swung = (amplitude * (end - 1.0) / (1j * FREQUENCY)).imag
    return (x + decaying * (1.0 - np.exp(-DRAG * t)) / DRAG + swung,
            decaying * np.exp(-DRAG * t) + (amplitude * end).imag)


@cache
def exact_end():
    """x, v, principal orientation and body angular velocity of the pair after DURATION."""
    scene = lumpy_pair()
    return (*exact_translation(scene.position, scene.velocity, DURATION), *exact_rotation(scene, DURATION))


def exact_rotation(scene, t):
    """Principal orientation and body angular velocity, by DOP853."""
    template = scene.shapes[0].template
    q = scenes.product(scene.orientation, np.tile(template.orientation, (2, 1)))
    w = np.einsum("nji,nj->ni", rotation_matrix(q), scene.angular_velocity)

    def torque(s, q, w):
        swing = PUSH * np.sin(FREQUENCY * s + PHASE)
        return template.inertia[1] * (np.einsum("nji,j->ni", rotation_matrix(q), swing) - DRAG * w)
    return driven(np.tile(template.inertia, (2, 1)), q, w, torque, t)


def errors(name):
    """Errors of x, v, q and w at the end, (4, number of time steps)."""
    scene = lumpy_pair()
    x, v, q, w = exact_end()
    drawn = np.tile(scene.shapes[0].template.orientation, (2, 1))
    found = []
    for steps in STEPS:
        sim = scene.simulation(DURATION / steps, rotation=name, threads=1)
        sim.add_force(drag_and_swing(scene))
        sim.run(steps)
        found.append((rms(sim.position - x), rms(sim.velocity - v),
                      orientation_error(scenes.product(sim.orientation, drawn), q),
                      rms(sim.body_angular_velocity - w)))
        assert len(sim.contacts()) == 0
    return np.array(found).T


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.filterwarnings("ignore:dt")                # above the Rayleigh step: nothing touches
def test_orders_under_drag(name):
    """Translation is a leapfrog, of second order with every scheme; rotation has the order of its record."""
    record = md.rotation.info(name)
    declared = (2, 2, record.order_q_varying, record.order_w_varying)
    for what, expected, error in zip("xvqw", declared, errors(name)):
        assert abs(order(error) - expected) < TOLERANCE, f"{what}: order {order(error)} from {error}"
