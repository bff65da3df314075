"""Oblique impacts with friction: the order of convergence to a reference, the energy of tangential models."""
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from oblique_impacts import Law, Spheres, duration, on_plane, pair
from reference_contact import effective_modulus
from reference_friction import shear_modulus
from scenes import ball, lumpy
from scipy.integrate import solve_ivp

from minidem.scenarios.rotating_bodies.driven_bodies import order, rms

STICKS, SLIDES = (0.9, 0.3), (0.15, 0.7)                # friction, sine of the angle of impact
SHAPES = {
    "equal spheres": lambda law, sine: pair([ball(0.01), ball(0.01)], law, sine),
    "ratio 4": lambda law, sine: pair([ball(0.01), ball(0.04)], law, sine),
    "plane": lambda law, sine: on_plane(ball(0.01), law, np.degrees(np.arcsin(sine))),
    "asymmetric clumps": lambda law, sine: pair([lumpy(scale=0.3), lumpy(scale=0.3)], law, 0.5 * sine)}


def impact(shape, motion, restitution=0.6, **options):
    return SHAPES[shape](Law(restitution, motion[0], **{"tangential_damping": 0.0} | options), motion[1])


def rolling(shape, friction=0.9, restitution=1.0, linear=False, **options):
    """With large spins, normal to the plane of the motion where a dashpot acts: it is parallel to the spring then."""
    law = Law(restitution, friction, 0.3, **{"tangential_damping": 0.0} | options)
    found = pair([ball(0.01), ball(0.04)], law, 0.3, spin=2.0) if shape == "ratio 4" else on_plane(
        ball(0.01), law, 20.0, spin=2.0)
    if "rolling_damping" in options:
        position, velocity = (np.append(x, np.zeros((1, 3)), axis=0)[:2] for x in (found.position, found.velocity))
        axis = np.cross(velocity[0] - velocity[1], position[0] - position[1])
        found.angular_velocity = np.linalg.norm(found.angular_velocity, axis=1, keepdims=True) * axis / np.linalg.norm(
            axis)
    if linear:                                          # springs with which a contact lasts as long
        mass = 1.0 / sum(1.0 / shape.body.mass for shape in found.shapes)
        found.law = replace(law, stiffness=mass * (np.pi / found.contact_time)**2)
    return found


# impact, least order of single errors and of their mean over the phases of a step, largest mean in the end
CONVERGE = {
    **{(shape, "sticks" if motion == STICKS else "slides", restitution): (
        lambda case=(shape, motion, restitution): impact(*case), 1.8, 2e-4 if shape == "asymmetric clumps" else 2e-5)
       for shape, motion, restitution in product(SHAPES, (STICKS, SLIDES), (0.6, 1.0))},
    "mindlin sticks": (lambda: impact("ratio 4", STICKS, tangential="mindlin"), 1.8, 5e-5),
    "mindlin slides": (lambda: impact("ratio 4", SLIDES, tangential="mindlin"), 1.8, 5e-5),
    **{f"{model} {name}": (partial(impact, "ratio 4", options, tangential=model), 1.8, 5e-5)
       for model in ("mindlin-rescale", "mindlin-force") for name, options in (("sticks", STICKS), ("slides", SLIDES))},
    "linear sticks": (lambda: impact("ratio 4", STICKS, tangential="linear", tangential_stiffness=2e7), 1.8, 5e-5),
    # its limit, which is zero at touch, is reached at once
    "linear slides": (lambda: impact("ratio 4", SLIDES, tangential="linear", tangential_stiffness=2e7), 1.2, 5e-5),
    # a dashpot begins with a jump
    "damped sticks": (lambda: impact("ratio 4", STICKS, tangential_damping=None), 0.8, 1.3e-4),
    "damped slides": (lambda: impact("ratio 4", SLIDES, tangential_damping=None), 0.8, 5e-6),
    **{("rolling", shape, friction): (lambda case=(shape, friction): rolling(*case), 1.6, 2e-5)
       for shape in ("ratio 4", "plane") for friction in (0.9, 0.15)},
    **{("damped rolling", shape): (lambda shape=shape: rolling(shape, rolling_damping=1.0), 1.6, 1e-4)
       for shape in ("ratio 4", "plane")},
    **{("linear rolling", shape): (
        lambda shape=shape: rolling(shape, restitution=0.6, linear=True, rolling_damping=1.0), 1.4, 5e-4)
       for shape in ("ratio 4", "plane")}}


@pytest.mark.parametrize("case", [pytest.param(case, id=str(case), marks=[pytest.mark.slow] * (k % 3 > 0))
                                  for k, case in enumerate(CONVERGE)])
def test_order(case):
    """Copies of an impact touch at fractions of a step that are spread evenly over it."""
    make, least, largest = CONVERGE[case]
    made = make()
    steps = 2 * np.array([25, 50, 100, 200]) // (1 if made.law.restitution == 1.0 else 2)       # elastic: later
    world, (*end, lost) = made.world(), made.end
    before = world.energy(made.position, made.velocity, made.orientation, made.angular_velocity)
    assert before - world.energy(*end) == pytest.approx(lost.sum(), abs=1e-6 * before)     # of the reference itself
    assert (lost[0] > 0.0) == (made.law.restitution < 1.0) and abs(lost[1]) > 1e-4 * before
    found = [made.errors(n, 16) for n in steps]
    mean, single = [rms(np.mean(each, axis=0)) for each in found], [rms(each) for each in found]
    assert min(order(mean), order(single)) > least and mean[-1] < largest, (order(mean), order(single), mean)


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
