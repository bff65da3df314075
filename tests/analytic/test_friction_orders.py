
import numpy as np
import pytest
from oblique_impacts import Law, Spheres, duration
from reference_contact import effective_modulus
from reference_friction import shear_modulus
from scipy.integrate import solve_ivp

DEGREES = np.array([5.0, 45.0, 80.0])
SPEED, RADIUS, STEPS, NO_LIMIT = 1e-3, 0.01, 200, 1e6          # steps per contact; coefficient of friction
UP = np.array([0.0, 0.0, 1.0])


def impacts(tangential, poisson, stiffness=None):
    """Relative changes of the kinetic energy, "dissipated" by sliding, errors of the balance, for each angle."""
    angles, found = np.radians(DEGREES), []
    for angle in angles:
        velocity = SPEED * np.array([[[np.sin(angle), 0.0, -np.cos(angle)]]])
        scene = Spheres(np.array([[RADIUS]]), UP, velocity, np.zeros((1, 1, 3)), np.array([1e-12]))
        modulus = effective_modulus(1e9, poisson, 1e9, poisson)
        dt = duration(scene.mass[0, 0], RADIUS, modulus, SPEED * np.cos(angle)) / STEPS
        sim = scene.simulation(Law(1.0, NO_LIMIT, tangential=tangential, tangential_stiffness=stiffness), dt,
                               poisson=poisson)
        start = sim.energy()
        sim.run(STEPS + 10)
        end = sim.energy()
        assert len(sim.contacts()) == 0
        found.append([change / start.kinetic for change in (
            end.kinetic - start.kinetic, end.dissipated_sliding, end.balance - start.balance)])
    return np.array(found).T


def gains(poisson):
    """The same changes of a contact with T = -8 G* a xi and no limit; mass, radius and E* are 1."""
    normal, tangential = 4 / 3, 8 * shear_modulus(1.0, poisson, 1.0, poisson) / effective_modulus(
        1.0, poisson, 1.0, poisson)

    def rates(_, y):
        overlap, approach, shift, slip = y
        a = np.sqrt(max(overlap, 0.0))
        return [approach, -normal * a * overlap, slip, -3.5 * tangential * a * shift]

    def end(_, y):
        return y[0]
    end.terminal, end.direction, found = True, -1.0, []
    for angle in np.radians(DEGREES):
        y = solve_ivp(rates, (0.0, 1e9), [1e-15, np.cos(angle), 0.0, np.sin(angle)], "DOP853", events=end, rtol=1e-9,
                      atol=1e-15).y[:, -1]
        found.append(y[1]**2 + y[3]**2 / 3.5 - np.cos(angle)**2 - np.sin(angle)**2 / 3.5)
    return np.array(found)


@pytest.mark.parametrize("poisson", [0.0, 0.2, 0.3])
def test_energy_of_mindlin(poisson):
    """What a contact gains while it grows; the ledger has it as negative dissipation, and the balance closes."""
    found, sliding, balance = impacts("mindlin", poisson)
    np.testing.assert_allclose(found, gains(poisson), rtol=2.5e-2, atol=1e-6)
    assert np.all(sliding < 0.0) == np.all(found > 0.0) == (poisson < 0.25)
    np.testing.assert_allclose(sliding, -found, rtol=0.0, atol=2e-7)
    assert np.max(np.abs(balance)) < 2e-7


@pytest.mark.parametrize("tangential, stiffness", [("rescale", None), ("linear", 1e3)])
def test_other_models_create_no_energy(tangential, stiffness):
    found, sliding, balance = impacts(tangential, 0.2, stiffness)
    assert np.all(found < 0.0) and np.all(sliding > 0.0) and np.max(np.abs(balance)) < 2e-7


def test_linear_spring():
    """Of a sphere that is moved along the plane by a known displacement: T = -k_t xi, whatever the overlap."""
    for overlap in 1e-5, 1e-4:
        scene = Spheres(np.array([[RADIUS]]), UP, np.array([[[1e-3, 0.0, 0.0]]]), np.zeros((1, 1, 3)),
                        np.array([-overlap]), density=1e12)
        sim = scene.simulation(Law(1.0, NO_LIMIT, tangential="linear", tangential_stiffness=2e4), 1e-6)
        sim.run(1000)
        x, y, z = sim.contacts()["tangential"][0]
        assert x == pytest.approx(-2e4 * 1e-6, rel=2e-3) and y == z == 0.0
        assert sim.energy().elastic_tangential == pytest.approx(0.5 * 2e4 * 1e-6**2, rel=4e-3)
