"""Long runs: errors do not grow beyond their random walk. Rods in a box of 1 m, a common benchmark of DEM codes; free
bodies.

A head-on contact of n = 34 steps leaves the rebound off by 3e-4 (20/n)^(5/2), of the energy in the contact, a 75th of
the total. About 1500 contacts in 100 000 steps make a random walk of 2 * 8e-5 / 75 * sqrt(1500) = 1e-4, oblique ones
two or three times that."""
import numpy as np
import pytest
import scenes

import minidem as md
from minidem.core.quaternions import rotate
from minidem.scenarios.rotating_bodies.driven_bodies import order, rms

EPS = np.finfo(float).eps
SCHEMES = md.rotation.available() + ["omelyan:iterations=20", "spiral:inner=rk4"]


def order_of(scheme, *quantities):
    return min(getattr(md.rotation.info(scheme), quantity) for quantity in quantities)


def is_pcdm(scheme):
    """These drift by their order."""
    return scheme.endswith("pcdm")


# ---------------------------------------------------------------- rods in a box

DT, SAMPLES = 38e-6, 250
STEPS = 100_000                 # of a run in the default tests
LONG, WINDOWS = 10**7, 100      # and of the slow ones
# Variance of (E - E0) / E0 per step: 20 seeds of 1e5 steps had a mean square over the run, which is half that at
# its end, of (1.8e-4)^2.
RATE = 2 * 1.8e-4**2 / 1e5


def relative_errors(seed, dt, steps):
    """(E - E0) / E0 at regular instants of the run, `spiral`."""
    sim = scenes.rods_in_box(seed).simulation(dt)
    start, found = sim.energy().total, []
    sim.run(steps, every=steps // SAMPLES, callback=lambda sim: found.append(sim.energy().total / start - 1))
    assert len(found) == SAMPLES
    return np.array(found)


def few_or(few, many):
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


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [s for s in SCHEMES if order_of(s, "order_q_varying", "order_w_varying") >= 2
                                    and not is_pcdm(s)])
def test_energy_of_rods_does_not_drift(scheme):
    """Every contact changes the energy a little, either way: a walk of length sqrt(RATE * steps) = 2.5e-3. One in a
    thousand goes 3.5 times as far; its variance over 100 windows is within four standard deviations, and a factor 2."""
    sim = scenes.rods_in_box(seed=1).simulation(DT, rotation=scheme)
    total = [sim.energy().total]
    sim.run(LONG, every=LONG // WINDOWS, callback=lambda sim: total.append(sim.energy().total))
    walk = np.array(total) / total[0] - 1
    variance = np.sum(np.diff(walk)**2)
    figures = f"max {np.max(np.abs(walk)):.2e}, end {walk[-1]:+.2e}, walk {np.sqrt(variance):.2e}"
    assert np.max(np.abs(walk)) < 3.5 * np.sqrt(RATE * LONG), figures
    assert variance < 2 * (1 + 4 * np.sqrt(2 / WINDOWS)) * RATE * LONG, figures
    assert np.max(np.abs(walk)) < 3.5 * np.sqrt(variance), figures


# ---------------------------------------------------------------- free bodies

MOMENTS = np.array([[1.0, 2.0, 2.5], [1.0, 1.5, 2.4], [1.0, 3.0, 3.5], [1.0, 1.1, 1.2]]).repeat(2, axis=0)
SPINS = np.array([[0.7, 1.0, -0.6], [-1.0, 0.3, 0.4]] * 4)      # eight bodies, about either outer axis
MANY = 10**8


def worst(scheme, dt, steps):
    """Largest relative errors of energy and of the vector of angular momentum over a run, at ten thousand instants."""
    q = scenes.unit_vectors(np.random.default_rng(5), len(MOMENTS), 4)
    path = md.rotation.integrate(scheme, MOMENTS, q, SPINS, (0.0, 0.0, 0.0), dt, steps, record_every=steps // 10_000)
    momentum, start = rotate(path.orientation, MOMENTS * path.angular_velocity), rotate(q, MOMENTS * SPINS)
    energy = np.sum(MOMENTS * path.angular_velocity**2, axis=-1) / np.sum(MOMENTS * SPINS**2, axis=-1) - 1
    off = np.linalg.norm(momentum - start, axis=-1) / np.linalg.norm(start, axis=-1)
    return np.max(np.abs(energy), axis=0), np.max(off, axis=0)


# Of schemes that round more often, solve an equation, or normalise, with errors that are alike for long.
ROUNDINGS = {"cf4": 20, "touma-wisdom": 20, "lie-midpoint": 50, "lie-verlet": 100, "richardson": 10_000}


def round_off(steps, scheme="spiral"):
    """Ten roundings a step of half an eps at most, either way: four standard deviations of their walk."""
    return 4 * np.sqrt(ROUNDINGS.get(scheme, 10) * steps / 12) * EPS


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [s for s in SCHEMES if order_of(s, "order_q", "order_w") >= 2])
def test_a_hundred_million_free_steps(scheme):
    """An oscillation c dt^2 and a drift c dt^3 t (PCDM: c dt^2 t): a tenth of the step makes a hundredth (a tenth)."""
    less = 10 if is_pcdm(scheme) else 100
    coarse, fine = worst(scheme, 1e-2, MANY // 100), worst(scheme, 1e-3, MANY)
    for name, long, short in zip(("energy", "momentum"), fine, coarse):
        assert np.all(long < 1.1 * short / less + round_off(MANY, scheme)), (name, long, short)


@pytest.mark.parametrize("scheme", ["exact", "dmv"])
def test_free_rotation_without_error_of_energy(scheme):
    """Energy and momentum stay those of the start to rounding."""
    for off in worst(scheme, 1e-2, MANY // 100):
        assert np.all(off < round_off(MANY // 100)), off


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s.startswith(("fincham", "johnson"))])
def test_angular_momentum_in_the_lab_is_conserved(scheme):
    """Only the turn into the body frame and back rounds, some twenty times."""
    _, off = worst(scheme, 1e-3, MANY)
    assert np.all(off < 20 * EPS), off
