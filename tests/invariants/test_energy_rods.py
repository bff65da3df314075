"""Total energy of 30 elastic rods in a box of 1 m, a common benchmark of DEM codes: 1 GPa, 4 m/s, 38 microseconds.

A head-on contact of n = 34 steps leaves the rebound off by 3e-4 (20/n)^(5/2), of the energy in the contact, a 75th of
the total. About 1500 contacts in 100 000 steps make a random walk of 2 * 8e-5 / 75 * sqrt(1500) = 1e-4, oblique ones
two or three times that."""
import numpy as np
import pytest
import scenes

from minidem.scenarios.rotating_bodies.driven_bodies import order, rms

DT, STEPS = 38e-6, 100_000
SAMPLES = 250


def relative_errors(seed, dt, steps):
    """(E - E0) / E0 at regular instants of the run, `spiral`."""
    sim = scenes.rods_in_box(seed).simulation(dt)
    start, found = sim.energy().total, []
    sim.run(steps, steps // SAMPLES, lambda sim: found.append(sim.energy().total / start - 1))
    assert len(found) == SAMPLES
    return np.array(found)


def few_or(few, many):
    """Seeds of the default run, and of the slow one."""
    return pytest.mark.parametrize("seeds", [range(few), pytest.param(range(many), marks=pytest.mark.slow)], ids=len)


@few_or(3, 20)
def test_energy_is_bounded(seeds):
    """Four times the expected walk; with 20 seeds 7e-4 was seen."""
    errors = np.array([relative_errors(seed, DT, STEPS) for seed in seeds])
    assert np.max(np.abs(errors)) < 1e-3, np.max(np.abs(errors), axis=1)
    assert np.max(np.abs(errors)) > 1e-5          # contacts took place


@few_or(4, 20)
def test_energy_error_falls_with_the_step(seeds):
    """2.5 expected, 1.8 demanded: 3.5 standard deviations of the slope of such walks, 0.37 / sqrt(seeds)."""
    steps = STEPS // 5 * 2**np.arange(4)
    pooled = [[relative_errors(seed, DT * steps[0] / n, n) for seed in seeds] for n in steps]
    errors = [rms(run) for run in pooled]
    assert order(errors) > 1.8, errors
