"""Order of convergence of velocities after oblique impacts with friction, against the reference solution.

Copies of one impact touch at fractions of a step that are spread evenly over it. The mean of their errors over this
fraction is what many contacts accumulate. The errors of single copies scatter about it.
"""
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from oblique_impacts import Law, on_plane, pair
from scenes import ball, lumpy

from minidem.scenarios.rotating_bodies.driven_bodies import order, rms

STEPS = {1.0: (50, 100, 200, 400), 0.6: (25, 50, 100, 200)}        # elastic sliding reaches its order late
PHASES = 16
SHAPES = {
    "equal spheres": lambda law, sine: pair([ball(0.01), ball(0.01)], law, sine),
    "spheres of ratio 4": lambda law, sine: pair([ball(0.01), ball(0.04)], law, sine),
    "plane": lambda law, sine: on_plane(ball(0.01), law, np.degrees(np.arcsin(sine))),
    "asymmetric clumps": lambda law, sine: pair([lumpy(scale=0.3), lumpy(scale=0.3)], law, 0.5 * sine),
}
MOTIONS = {"sticking": (0.9, 0.3), "sliding": (0.15, 0.7)}          # friction, sine of the angle of impact


SLOW = {("asymmetric clumps", "sliding", 0.6), ("asymmetric clumps", "sticking", 1.0)}
CASES = [pytest.param(*case, marks=[pytest.mark.slow] * (case in SLOW)) for case in product(SHAPES, MOTIONS, STEPS)]


@pytest.mark.parametrize("name, motion, restitution", CASES)
def test_order(name, motion, restitution):
    """At least 1.8, of the mean over phases and of single collisions."""
    friction, sine = MOTIONS[motion]
    impact = SHAPES[name](Law(restitution, friction, tangential_damping=0.0), sine)
    found = [impact.errors(steps, PHASES) for steps in STEPS[restitution]]
    errors = [rms(np.mean(of_phases, axis=0)) for of_phases in found]
    assert order(errors) > 1.8, errors
    assert order([rms(of_phases) for of_phases in found]) > 1.8
    assert errors[-1] < (2e-4 if restitution == 1.0 or name == "asymmetric clumps" else 2e-5)


MODELS = {"mindlin": {"tangential": "mindlin"}, "linear": {"tangential": "linear", "tangential_stiffness": 2e7}}


@pytest.mark.parametrize("model, motion", [
    ("mindlin", "sticking"), ("mindlin", "sliding"), ("linear", "sticking"),
    pytest.param("linear", "sliding", marks=pytest.mark.slow)])
def test_order_of_other_tangential_models(model, motion):
    """Of the mean over phases and of single collisions: as of the default one, but lower for a linear spring that
    slides. It reaches its limit, which is zero at touch, at once."""
    friction, sine = MOTIONS[motion]
    impact = SHAPES["spheres of ratio 4"](Law(0.6, friction, tangential_damping=0.0, **MODELS[model]), sine)
    impact.rtol = 1e-8 if model == "linear" else 1e-10
    found = [impact.errors(steps, PHASES) for steps in STEPS[0.6]]
    for errors in ([rms(np.mean(of_phases, axis=0)) for of_phases in found], [rms(each) for each in found]):
        assert order(errors) > (1.2 if (model, motion) == ("linear", "sliding") else 1.8), errors
        assert errors[-1] < 5e-5


@pytest.mark.parametrize("motion, largest", [("sticking", 1e-3), ("sliding", 4e-5)])
def test_tangential_damping(motion, largest):
    """With the default tangential dashpot, the solution converges to the reference as well, but to first order."""
    friction, sine = MOTIONS[motion]
    impact = SHAPES["spheres of ratio 4"](Law(0.6, friction), sine)
    errors = np.array([rms(np.mean(impact.errors(steps, PHASES), axis=0)) for steps in STEPS[0.6]])
    assert np.all(errors < largest * 25.0 / np.array(STEPS[0.6])), errors


ROLLING = {
    "pair": lambda law: pair([ball(0.01), ball(0.04)], law, 0.3, spin=2.0),
    "plane": lambda law: on_plane(ball(0.01), law, 20.0, spin=2.0),
}


@pytest.mark.parametrize("name", ROLLING)
@pytest.mark.parametrize("friction", [0.9, 0.15])
def test_rolling_resistance(name, friction):
    """Without damping of rolling: its stiffness and its limit, which all of these impacts reach."""
    impact = ROLLING[name](Law(1.0, friction, 0.3, tangential_damping=0.0, rolling_damping=0.0))
    errors = [rms(np.mean(impact.errors(steps, PHASES), axis=0)) for steps in STEPS[0.6]]
    assert order(errors) > 1.6, errors
    assert errors[-1] < 2e-5


def about_one_axis(impact):
    """With spins normal to the plane of the motion: spring and dashpot of a couple that slides are parallel then."""
    position, velocity = (np.append(rows, np.zeros((1, 3)), axis=0)[:2] for rows in (impact.position, impact.velocity))
    axis = np.cross(velocity[0] - velocity[1], position[0] - position[1])
    spins = np.linalg.norm(impact.angular_velocity, axis=1, keepdims=True)
    impact.angular_velocity = spins * axis / np.linalg.norm(axis)
    return impact


@pytest.mark.parametrize("name", ROLLING)
def test_damping_of_rolling(name):
    """Critical damping."""
    impact = about_one_axis(ROLLING[name](Law(1.0, 0.9, 0.3, tangential_damping=0.0, rolling_damping=1.0)))
    errors = [rms(np.mean(impact.errors(steps, PHASES), axis=0)) for steps in STEPS[0.6]]
    assert order(errors) > 1.6, errors
    assert errors[-1] < 1e-4


def with_linear_springs(impact):
    """Of a stiffness with which a contact lasts as long."""
    mass = 1.0 / sum(1.0 / shape.body.mass for shape in impact.shapes)
    impact.law = replace(impact.law, stiffness=mass * (np.pi / impact.contact_time)**2)
    return impact


@pytest.mark.parametrize("name", ROLLING)
@pytest.mark.parametrize("law, least", [(Law(0.6, 0.9), 0.7), (Law(0.6, 0.9, 0.3, 0.0, rolling_damping=1.0), 1.4)])
def test_linear_springs(name, law, least):
    """Dashpots of linear springs begin and end with a jump; the tangential one leaves an error of first order."""
    impact = with_linear_springs(about_one_axis(ROLLING[name](law)))
    errors = [rms(np.mean(impact.errors(steps, PHASES), axis=0)) for steps in STEPS[0.6]]
    assert order(errors) > least, errors
    assert errors[-1] < 5e-4
