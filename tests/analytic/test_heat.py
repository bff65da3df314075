"""Heat conduction through contacts: exact temperatures of resting grains, order in the step, collisions."""

import heat_chain as heat
import numpy as np
import pytest
from scipy.special import beta

import minidem as md
from minidem.analysis.damping import exchange_rate

WALLS = [heat.HOT, heat.COLD]


def test_chain():
    """Against the matrix exponential while the heat arrives, and the straight line at the end."""
    sim, contacts = heat.chain(6)
    _, found, exact = heat.measured(sim, contacts, WALLS, heat.chain_steps(contacts))
    assert heat.deviation(found, exact) < 1e-6 and heat.deviation(found[-1], heat.straight(contacts)) < 1e-6
    assert np.abs(sim.velocity).max() < 1e-12


@pytest.mark.parametrize("power, order", [(0.5, 1.5), (1.0, 2.0)])
def test_order_of_the_exchange_in_a_collision(power, order):
    """With rates like a power of the overlap, against the integral over Hertz's collision, mean over 32 phases."""
    speed, count, exponent = 0.5, 32, 0.5
    modulus, mass = 1e7 / (2.0 * (1.0 - 0.3 ** 2)), 0.5 * heat.BALL.mass
    deepest = (1.25 * mass * speed ** 2 / (4.0 / 3.0 * modulus * np.sqrt(0.5 * heat.RADIUS))) ** 0.4
    duration = 2.0 * deepest / speed * beta(0.4, 0.5) / 2.5
    rate = 0.5 * exponent / (2.0 * deepest ** (power + 1.0) / speed * beta((power + 1.0) / 2.5, 0.5) / 2.5)
    def flux(contacts, rate):
        values = contacts.fields["temperature"]
        change = rate * np.maximum(contacts.overlap, 0.0) ** power * (values[:, 1] - values[:, 0])
        contacts.rates["temperature"] = np.column_stack([change, -change])
    errors = []
    for steps in 50, 100, 200:
        sim = md.Simulation(md.Material(young=1e7, poisson=0.3), contact="hertz-mindlin", dt=duration / steps)
        places = np.zeros((2, count, 3))
        gaps = speed * sim.dt * (np.arange(count) + 0.001) / count
        places[:, :, 0] = heat.RADIUS * np.array([[-1.0], [1.0]]) + 0.5 * gaps * np.array([[-1.0], [1.0]])
        places[:, :, 1] = 5.0 * heat.RADIUS * np.arange(count)
        approach = np.outer(np.repeat([0.5, -0.5], count), (speed, 0, 0))
        sim.add_clumps(heat.BALL, places.reshape(-1, 3), velocity=approach)
        sim.fields.add("temperature", np.repeat([0.0, 1.0], count))
        sim.fields.add_flux(flux, [rate])
        sim.run(round(1.3 * steps))
        assert not len(sim.contacts())
        low, high = sim.fields["temperature"].reshape(2, -1)
        errors.append(np.sqrt(np.mean((high - low - np.exp(-exponent)) ** 2)))
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(order, abs=0.08), errors
    assert errors[1] < 1.2e-4


def test_the_step_that_a_chain_allows():
    """The largest rate of the matrix of conductances, which a warning names as a step."""
    sim, (i, j, conductance) = heat.chain(12)
    matrix = np.zeros((12, 12))
    for a, b, h in zip(i, j, conductance):
        matrix[a, a] += h
        if b >= 0:
            matrix[b, b] += h
            matrix[[a, b], [b, a]] -= h
    largest = np.linalg.eigvalsh(matrix)[-1] / (heat.BALL.mass * heat.CAPACITY)
    sim.run(1)
    assert 0.97 * largest < exchange_rate(sim)[0] < (1.0 + 1e-9) * largest
