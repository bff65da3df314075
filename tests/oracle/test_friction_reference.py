"""The reference solution with friction: energy. Closed forms: tests/analytic/test_friction_collisions.py."""
import numpy as np
import pytest
from oblique_impacts import Law, pair
from scenes import ball


def moved(impact):
    return impact.world().move(impact.position, impact.velocity, impact.orientation, impact.angular_velocity,
                               impact.lasts * impact.contact_time, impact.contact_time / 20)


def kinetic(impact, v, w):
    """Of spheres, whose three moments are equal."""
    mass, inertia = (np.array([getattr(shape.body, name) for shape in impact.shapes]) for name in ("mass", "inertia"))
    return 0.5 * (mass * (v**2).sum(1)).sum() + 0.5 * (inertia * w**2).sum()


@pytest.mark.parametrize("law", [Law(1.0, 0.5), Law(0.6, 0.5), Law(0.6, 0.5, 0.1, rolling_damping=0.3),
                                 Law(0.8, 0.3, stiffness=1e6)])
def test_energy(law):
    """Kinetic energy before = after + energy lost, by work of forces on the relative motion of the bodies."""
    impact = pair([ball(0.01), ball(0.02)], law, 0.5)
    if law.stiffness:                                   # a linear contact of this mass lasts longer
        impact.lasts = 8.0
    _, v, _, w, lost = moved(impact)
    before = kinetic(impact, impact.velocity, impact.angular_velocity)
    assert before - kinetic(impact, v, w) == pytest.approx(lost.sum(), abs=1e-8 * before)
    assert np.all(lost >= 0.0) and lost[1] > 1e-3 * before and (lost[0] > 0.0) == (law.restitution < 1.0)
