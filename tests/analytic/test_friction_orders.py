"""Order of convergence of velocities after oblique impacts with friction, against the reference solution.

Copies of one impact touch at fractions of a step that are spread evenly over it. The mean of their errors over this
fraction is what many contacts accumulate. The errors of single copies scatter about it: the damping coefficient grows
as d^(1/4), whose sampling by whole steps leaves h^(5/4) times a periodic function of the fraction with mean zero, and
the elastic force leaves h^(5/2).
"""
import numpy as np
import pytest
from oblique_impacts import Law, on_plane, pair
from scenes import ball, lumpy

from minidem.validation.driven_bodies import order, rms

STEPS, PHASES = (25, 50, 100, 200), 32
SHAPES = {
    "equal spheres": lambda law, sine: pair([ball(0.01), ball(0.01)], law, sine),
    "spheres of ratio 4": lambda law, sine: pair([ball(0.01), ball(0.04)], law, sine),
    "plane": lambda law, sine: on_plane(ball(0.01), law, np.degrees(np.arcsin(sine))),
    "asymmetric clumps": lambda law, sine: pair([lumpy(scale=0.3), lumpy(scale=0.3)], law, 0.5 * sine),
}
MOTIONS = {"sticking": (0.9, 0.3), "sliding": (0.15, 0.7)}          # friction, sine of the angle of impact


@pytest.mark.parametrize("restitution", [1.0, 0.6])
@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("name", SHAPES)
def test_order(name, motion, restitution):
    """At least 1.75, of the mean over phases: 1.8 but for the scatter of a fit to four steps."""
    friction, sine = MOTIONS[motion]
    impact = SHAPES[name](Law(restitution, friction, tangential_damping=0.0), sine)
    errors = [rms(np.mean(impact.errors(steps, PHASES), axis=0)) for steps in STEPS]
    assert order(errors) > 1.75, errors
    assert errors[-1] < 2e-4


@pytest.mark.parametrize("motion", MOTIONS)
def test_tangential_damping(motion):
    """With the default tangential dashpot, the solution converges to the reference as well."""
    friction, sine = MOTIONS[motion]
    impact = SHAPES["spheres of ratio 4"](Law(0.6, friction), sine)
    errors = [rms(np.mean(impact.errors(steps, PHASES), axis=0)) for steps in STEPS]
    assert order(errors) > 1.5, errors
