"""The energy balance: dissipation is never negative, the balance is constant."""
from functools import lru_cache

import numpy as np
import pytest
from scenes import CLUMP, ELASTIC, ROLLING, settling

import minidem as md
import minidem.engine.driver
from minidem.analysis.energy import DISSIPATED, balance_error, energy_input

LAWS = ["hertz-mindlin", ROLLING, "hertz-mindlin:limit_damping=yes", "hooke-coulomb:stiffness=1e5,rolling=epsd"]
DISPLACED = ["hertz-mindlin:tangential=mindlin,rolling=epsd",       # a growing contact gains energy
             "hertz-mindlin:tangential=mindlin-force,rolling=epsd,twisting=marshall",
             "hertz-mindlin:tangential=mindlin-rescale,rolling=constant",
             "hertz-mindlin:rolling=epsd,mobilised_damping=1,sliding=static",
             "hertz-mindlin:tangential=linear,tangential_stiffness=2e4,rolling=epsd"]


@pytest.mark.parametrize("contact", LAWS)
def test_dissipation_is_never_negative(contact):
    """In each step, of each kind in all contacts together, to 1e-8 of the energy of a clump."""
    sim, old = settling(contact=contact), np.zeros(5)
    start, least = sim.energy(), 0.0
    for _ in range(2500):
        sim.run(1)
        new = sim.loop.ledger()["dissipated"].sum(axis=1)
        least, old = min(least, np.min(new - old)), new
    end = sim.energy()
    supplied = (start.kinetic + start.potential - end.potential) / 100
    assert least >= -1e-8 * supplied
    kinds = [getattr(end, name) for name in DISSIPATED]
    assert kinds == old.tolist() and min(kinds[:3]) > 0.01 * end.dissipated
    assert (kinds[3] > 0.0) == ("rolling=epsd" in contact) and kinds[4] == 0.0
    assert end.dissipated == sum(kinds) > 0.5 * 100 * supplied


@lru_cache
def residual(dt, contact=ROLLING):
    sim = settling(dt, contact)
    found = [sim.energy()]
    sim.run(round(0.3 / dt), every=round(1e-3 / dt), callback=lambda sim: found.append(sim.energy()))
    names = ("translational", "rotational", "elastic", "potential", "work", "balance", "exchanged", "breakage")
    table = {name: np.array([getattr(energy, name) for energy in found]) for name in names}
    assert energy_input(table) == pytest.approx(found[0].kinetic + found[0].potential - table["potential"].min())
    return balance_error(table)


@pytest.mark.parametrize("contact", LAWS[1:] + DISPLACED)
def test_balance_is_constant(contact):
    """Within 5e-4 at about fifty steps per contact, and of second order in the step."""
    errors = [residual(dt, contact) for dt in (1e-4, 5e-5, 2.5e-5)]
    assert errors[0] < 5e-4
    assert all(3.0 < coarse / fine < 5.5 for coarse, fine in zip(errors, errors[1:])), errors


def wind(t, x, v, q, w):
    return 0.5 * np.cos(20.0 * x[:, :1]) * np.array([1.0, 0.5, 0.0]) - 0.3 * v, -1e-3 * w


@pytest.mark.parametrize("rotation", ["spiral", "rk4", "no-squish"])
def test_work_balances_the_energy_of_free_clumps(rotation):
    found = []
    for dt in (2e-3, 1e-3):
        sim = md.Simulation(ELASTIC, dt=dt, rotation=rotation)
        sim.add_clumps(CLUMP, [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], velocity=(1.0, 3.0, 0.0), angular_velocity=(9, 2, 5))
        sim.forces.add(wind)
        start = sim.energy().balance
        sim.run(round(0.4 / dt))
        assert abs(sim.energy().work) > 1e-2
        found.append(abs(sim.energy().balance - start))
    assert found[0] < 1e-4 and found[1] < 0.4 * found[0]
