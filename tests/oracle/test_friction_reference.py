"""The reference solution with friction against closed forms: restitution, gross sliding, energy."""
import numpy as np
import pytest
from oblique_impacts import Law, on_plane, pair
from scenes import ball


def moved(impact):
    return impact.world().move(impact.position, impact.velocity, impact.orientation, impact.angular_velocity,
                               impact.lasts * impact.contact_time, impact.contact_time / 20)


def kinetic(impact, v, w):
    """Of spheres, whose three moments are equal."""
    mass, inertia = (np.array([getattr(shape.body, name) for shape in impact.shapes]) for name in ("mass", "inertia"))
    return 0.5 * (mass * (v**2).sum(1)).sum() + 0.5 * (inertia * w**2).sum()


@pytest.mark.parametrize("restitution", [1.0, 0.6, 0.3])
def test_restitution(restitution):
    impact = on_plane(ball(0.01), Law(restitution), 40.0)
    _, v, _, w, _ = moved(impact)
    assert v[0, 2] / -impact.velocity[0, 2] == pytest.approx(restitution, rel=1e-7)
    np.testing.assert_allclose(w, impact.angular_velocity, rtol=1e-9)


def test_gross_sliding():
    """On a plane: beta_t = 1 - mu (1 + e) / tan(angle) and r w' = 5/2 mu (1 + e) v_n, for a small overlap."""
    impact = on_plane(ball(0.01), Law(1.0, 0.1), 60.0, speed=1e-4, spin=0.0)
    _, v, _, w, _ = moved(impact)
    assert v[0, 0] / impact.velocity[0, 0] == pytest.approx(1 - 0.2 / np.tan(np.radians(60.0)), rel=1e-8)
    assert 0.01 * w[0, 1] == pytest.approx(0.5e-4 * np.cos(np.radians(60.0)), rel=1e-4)     # the arm is r - d


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
