"""Schemes whose record claims that they are symplectic: no energy drift, and reversible motion."""
import numpy as np
import pytest

import minidem as md
from minidem.core.quaternions import rotate
from minidem.scenarios.rotating_bodies.driven_bodies import ARM, INERTIA, ORIENTATION, SPIN, of_orientation

EPS = np.finfo(float).eps
SYMPLECTIC = [name for name in md.rotation.available() if md.rotation.info(name).symplectic]
WEIGHT = [0.3, 0.2, -1.5]               # of the heavy bodies under `of_orientation`, lab frame [N]
DT = 0.05                               # [s]; a swing takes some hundred steps


def energy_errors(name, steps=10_000):
    """Change of the energy of six heavy bodies at every step, (steps, 6) [J]."""
    path = md.rotation.integrate(name, INERTIA, ORIENTATION, SPIN, of_orientation, DT, steps, record_every=1)

    def energy(q, w):
        return 0.5 * np.sum(INERTIA * w * w, axis=-1) - np.sum(rotate(q, ARM) * WEIGHT, axis=-1)
    return energy(path.orientation, path.angular_velocity) - energy(ORIENTATION, SPIN)


def growth(errors):
    """Root mean square error of the last tenth of a run relative to that of the first."""
    tenth = len(errors) // 10
    return np.sqrt(np.mean(errors[-tenth:]**2) / np.mean(errors[:tenth]**2))


@pytest.mark.parametrize("name", SYMPLECTIC)
def test_energy_of_heavy_bodies_does_not_drift(name):
    """It oscillates: the first and the last fifty seconds differ by the phases of the swings only."""
    assert growth(energy_errors(name)) < 1.2


def test_a_drift_is_seen():
    """Omelyan's scheme with three iterations is not symmetric in time."""
    assert growth(energy_errors("omelyan")) > 5.0


@pytest.mark.parametrize("name", SYMPLECTIC)
def test_reversed_rotation(name):
    """Bodies return to their start; rounding grows less than a hundredfold, as a disturbance of 1e-9 does."""
    def there_and_back(w):
        end = md.rotation.integrate(name, INERTIA, ORIENTATION, w, of_orientation, DT, 200)
        back = md.rotation.integrate(name, INERTIA, end.orientation, -end.angular_velocity, of_orientation, DT, 200)
        return end, np.hstack([back.orientation, -back.angular_velocity])

    end, back = there_and_back(SPIN)
    disturbed, _ = there_and_back(SPIN + 1e-9)
    assert np.max(np.abs(end.orientation - disturbed.orientation)) < 100 * 1e-9
    assert np.max(np.abs(end.orientation - ORIENTATION)) > 0.5
    assert np.max(np.abs(back - np.hstack([ORIENTATION, SPIN]))) < 100 * 10 * 400 * EPS


@pytest.mark.parametrize("name", SYMPLECTIC)
def test_angular_momentum_of_free_bodies(name):
    """Each part of the splitting keeps it in the lab: some thirty roundings a step, all in one direction at worst."""
    steps = 1000
    end = md.rotation.integrate(name, INERTIA, ORIENTATION, SPIN, (0.0, 0.0, 0.0), DT, steps)
    before, after = rotate(ORIENTATION, INERTIA * SPIN), rotate(end.orientation, INERTIA * end.angular_velocity)
    assert np.max(np.abs(end.angular_velocity - SPIN)) > 0.5
    assert np.max(np.abs(after - before)) < 30 * steps * EPS * np.max(np.linalg.norm(before, axis=1))
