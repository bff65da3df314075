"""Total energy of 30 elastic rods in a box of 1 m, a common benchmark of DEM codes.

Rods of three touching spheres, 1 GPa, Poisson ratio 0.1, 4 m/s, 4 rad/s, step 38 microseconds; energy at whole steps.
What to expect: a head-on contact of n steps leaves the rebound off by 3e-4 (20/n)^(5/2), either way
(test_hertz_collision). Here n is 34, the energy in the contact, the relative one along the normal, is in the mean a
75th of the total (30 rods share it among 150 degrees of freedom, and two halves meet), and there are about 1500
contacts in 100 000 steps. The energy walks at random by 2 * 8e-5 / 75 * sqrt(1500) = 1e-4 of itself; oblique contacts
make it two or three times that. In the step it goes as dt^(5/2).
"""
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
    """1e-3 at most: four times the expected walk of the worst contacts. Seen with 20 seeds: 7e-4, root mean
    square 1.8e-4."""
    errors = np.array([relative_errors(seed, DT, STEPS) for seed in seeds])
    assert np.max(np.abs(errors)) < 1e-3, np.max(np.abs(errors), axis=1)
    assert np.max(np.abs(errors)) > 1e-5          # contacts took place


@few_or(4, 20)
def test_energy_error_falls_with_the_step(seeds):
    """Slope of the pooled root mean square over three halvings: 2.5 expected, 1.8 demanded.

    The mean square of a random walk has a relative standard deviation of 1.15 (that of the integral of
    B(t)^2), its root over s runs 0.58/sqrt(s), or 0.83/sqrt(s) in log2. The slope weighs four such
    logarithms by 0.3, 0.1, -0.1, -0.3: 0.37/sqrt(s), which is 0.19 for 4 seeds and 0.08 for 20. At least
    three and a half of it are between 1.8 and 2.5.
    """
    steps = STEPS // 5 * 2**np.arange(4)
    pooled = [[relative_errors(seed, DT * steps[0] / n, n) for seed in seeds] for n in steps]
    errors = [rms(run) for run in pooled]
    assert order(errors) > 1.8, errors
