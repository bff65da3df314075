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
ROUGH, SMOOTH = 0.9, 0.15
SHAPES = {
    "equal spheres": lambda law, sine: pair([ball(0.01), ball(0.01)], law, sine),
    "spheres of ratio 4": lambda law, sine: pair([ball(0.01), ball(0.04)], law, sine),
    "plane": lambda law, sine: on_plane(ball(0.01), law, np.degrees(np.arcsin(sine))),
    "asymmetric clumps": lambda law, sine: pair([lumpy(scale=0.3), lumpy(scale=0.3)], law, sine),
}
MOTIONS = {"sticking": (ROUGH, 0.3), "sliding": (SMOOTH, 0.7)}          # friction, sine of the angle of impact


@pytest.mark.parametrize("restitution", [1.0, 0.6])
@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("name", SHAPES)
def test_order(name, motion, restitution):
    """Of the mean over phases and, without damping, of the root mean square as well: 1.8 at least."""
    friction, sine = MOTIONS[motion]
    impact = SHAPES[name](Law(restitution, friction), sine)
    errors = [impact.errors(steps, PHASES) for steps in STEPS]
    mean, scatter = [rms(np.mean(each, axis=0)) for each in errors], [rms(each) for each in errors]
    assert order(mean) > 1.8, (mean, scatter)
    if restitution == 1.0:
        assert order(scatter) > 1.8, (mean, scatter)
