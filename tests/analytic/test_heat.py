"""Heat conduction through contacts: exact temperatures of resting grains, order in the step, collisions."""
import copy

import heat_chain as heat
import numpy as np
import pytest

import minidem as md

WALLS = [heat.HOT, heat.COLD]


def test_chain():
    """Against the matrix exponential while the heat arrives, and the straight line at the end."""
    sim, contacts = heat.chain(6)
    _, found, exact = heat.measured(sim, contacts, WALLS, heat.chain_steps(contacts))
    assert heat.deviation(found, exact) < 1e-6
    assert heat.deviation(found[-1], heat.straight(contacts)) < 1e-6
    assert np.abs(sim.velocity).max() < 1e-12


def test_chain_with_walls_as_contacts_say():
    """Overlaps, clumps and walls of the formulas are those of sim.contacts()."""
    sim, (i, j, conductance) = heat.chain(4)
    contacts = sim.contacts()
    radius = np.where(contacts["clump_j"] < 0, 1.0, 0.5) * heat.RADIUS
    width = 2.0 * np.sqrt(radius * contacts["overlap"])
    found = {frozenset(pair): heat.CONDUCTIVITY * a for *pair, a in zip(
        contacts["clump_i"].tolist(), contacts["clump_j"].tolist(), width)}
    assert found == pytest.approx({frozenset(pair): h for *pair, h in zip(i, j, conductance)}, rel=1e-10)


@pytest.mark.parametrize("count, steps", [(24, (600, 900)), pytest.param(200, heat.STEPS, marks=pytest.mark.slow)])
def test_packing(count, steps):
    """Between a hot and a cold wall, against the matrix exponential; and with adiabatic walls alone."""
    bed = heat.packing(count)
    closed = copy.deepcopy(bed)
    _, found, exact, change = heat.warmed(bed, steps)
    assert change < 1e-6
    assert heat.deviation(found, exact) < 1e-6
    assert np.ptp(found[-1]) > 50.0
    heat.heated(closed, None).set_field("temperature", np.linspace(heat.COLD, heat.HOT, count))
    total = float(np.sum(closed.mass * closed.field("temperature")))
    closed.run(500)
    assert float(np.sum(closed.mass * closed.field("temperature"))) == pytest.approx(total, rel=1e-12)
    assert np.std(closed.field("temperature")) < 15.0       # 29 at the start


def test_second_order():
    errors = []
    for step in 4e-5, 2e-5, 1e-5:
        sim, contacts = heat.chain(4, step)
        _, found, exact = heat.measured(sim, contacts, WALLS, [round(4e-3 / step)])
        errors.append(heat.deviation(found, exact))
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 1e-5


def collision(step, conductivity):
    """Two spheres that collide, with different temperatures; steps: conductance and difference at each."""
    sim = md.Simulation(heat.MATERIAL, contact="hertz-mindlin", dt=step)
    sim.add_clumps(heat.BALL, [(0, 0, 0), (2.02 * heat.RADIUS, 0, 0)], velocity=[(0.1, 0, 0), (-0.1, 0, 0)])
    sim.add_field("temperature", WALLS, capacity=heat.CAPACITY, per_mass=True)
    sim.add_flux(heat.conduction, [conductivity])
    rows = []

    def look(sim):
        overlap = max(2.0 * heat.RADIUS - np.ptp(sim.position[:, 0]), 0.0)
        rows.append((2.0 * conductivity * np.sqrt(0.5 * heat.RADIUS * overlap), -np.diff(sim.field("temperature"))[0]))

    sim.run_until(2e-3, 1, look)
    assert rows[-1][0] == 0.0 and sim.velocity[0, 0] < 0.0
    return sim, np.array(rows).T


def test_heat_of_a_collision_is_the_sum_over_its_steps():
    """The two-step formula adds each rate with the weight of a step once the contact has ended."""
    sim, (conductance, difference) = collision(2e-6, 1e4)
    heat_flow = sim.mass[0] * heat.CAPACITY * (heat.HOT - sim.field("temperature")[0])
    assert np.count_nonzero(conductance) > 100
    assert heat_flow == pytest.approx(sim.dt * np.sum(conductance * difference), rel=1e-10)
    assert sim.field("temperature").sum() == pytest.approx(heat.HOT + heat.COLD, rel=1e-13)


@pytest.mark.parametrize("step", [8e-6, 2e-6, 5e-7])
def test_heat_of_a_collision_is_of_second_order(step):
    """The difference falls by the exponential of the integral of the conductance, here over recorded overlaps.

    The error stays below the integral times the square of the step over the shortest time of the exchange.
    """
    sim, (conductance, difference) = collision(step, 1e4)
    rates = 2.0 * step * conductance / (sim.mass[0] * heat.CAPACITY)
    error = abs(difference[-1] / (heat.HOT - heat.COLD) - np.exp(-rates.sum()))
    assert 0.09 < rates.sum() < 0.1
    assert error < rates.sum() * rates.max() ** 2
