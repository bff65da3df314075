"""The tests in the papers of PCDM and of its improvement, and what minidem's schemes give on them.

Zhao and van Wachem, Acta Mech. 224, 3091 (2013), doi:10.1007/s00707-013-0914-2 (Z);
Seelen, Padding and Kuipers, Acta Mech. 227, 3381 (2016), doi:10.1007/s00707-016-1670-x (S).
Where a paper prints no number, the figures were computed from the formulas by a program independent of
minidem. The torque that a scheme uses in a step is the function's value at the step's start; the papers'
results for the sphere need the one at its end, so that those runs pass f(t + dt) and say so.
"""
import numpy as np
import pytest
from reference_contact import rotation_matrix

import minidem as md
from minidem.validation.driven_bodies import driven

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])

# ---------------------------------------------------- sphere under a growing torque: Z Table 2, S Table 1

SPHERE_MOMENT = 0.4 * 1100.0 * 4.0 / 3.0 * np.pi            # diameter 2 m
SPHERE_DT, AMPLITUDE = 1e-4, 1e5
EXACT_X = np.cos(AMPLITUDE / SPHERE_MOMENT * (np.e - 2.0))  # angle = A/I (e^t - 1 - t)
PUBLISHED_EXACT_X = 0.2934253           # what both papers compare with; wrong from the fifth digit on


def marked_point(name, torque_at_the_end):
    """x after 1 s of the point of the sphere that starts at (1, 0, 0)."""
    ahead = SPHERE_DT if torque_at_the_end else 0.0

    def torque(t, q, w):
        return np.array([0.0, AMPLITUDE * np.exp(t + ahead), 0.0])

    last = md.rotation.integrate(name, [SPHERE_MOMENT] * 3, UPRIGHT, np.zeros(3), torque, SPHERE_DT,
                                 round(1.0 / SPHERE_DT))
    return rotation_matrix(last.orientation)[0, 0]


@pytest.mark.parametrize("name, torque_at_the_end, x", [
    ("scalar-factor:omega=new", True, 0.2871182), ("direct-multiplication:omega=new", True, 0.2871182),
    ("pcdm", True, 0.2915805), ("pcdm", False, 0.2953061), ("improved-pcdm", False, 0.2934444),
    ("spiral", False, 0.2934441), ("spiral-sync", False, 0.2953061), ("omelyan", False, 0.2934738)])
def test_sphere(name, torque_at_the_end, x):
    """Figures with seven decimals; half a unit of the last, and as much again for two programs' rounding."""
    assert marked_point(name, torque_at_the_end) == pytest.approx(x, rel=0, abs=1e-7)


@pytest.mark.parametrize("name, torque_at_the_end, x, percent", [
    ("scalar-factor:omega=new", True, 0.2871152, 2.15), ("pcdm", True, 0.2915775, 0.63),
    ("improved-pcdm", False, 0.293444, 0.0065)])
def test_sphere_as_printed(name, torque_at_the_end, x, percent):
    """The printed errors, to the digits printed, against the papers' own exact value. Of the printed x, those
    of Z lie 3.0e-6 below what their formulas give, for a reason unknown; so much is let pass."""
    found = marked_point(name, torque_at_the_end)
    digits = len(str(percent).partition(".")[2])
    assert round(100.0 * abs(found / PUBLISHED_EXACT_X - 1.0), digits) == percent
    assert found == pytest.approx(x, rel=0, abs=3.5e-6)


def test_true_errors_of_the_sphere():
    """Against the exact solution the improvement is better than its paper knows: 1.5e-4 %, not 0.0065 %."""
    assert EXACT_X == pytest.approx(0.2934439661, abs=1e-10)
    percent = 100.0 * abs(marked_point("improved-pcdm", False) / EXACT_X - 1.0)
    assert f"{percent:.1e}" == "1.5e-04"


# ---------------------------------------------------- free symmetric top, 10000 s: S section 3.1

TOP, TOP_SPIN = np.array([1100.0, 1100.0, 2600.0]), np.array([1.2, 0.45, -0.6])


def top_energy(name, dt, steps, **options):
    """Kinetic energy over that of the start, as told at the end of so many steps."""
    last = md.rotation.integrate(name, TOP, UPRIGHT, TOP_SPIN, np.zeros(3), dt, steps, **options)
    return np.sum(TOP * last.angular_velocity**2) / np.sum(TOP * TOP_SPIN**2)


@pytest.mark.parametrize("name, dt, options, drift", [
    ("pcdm", 1e-2, {}, 7.384e-4), ("pcdm", 5e-3, {}, 9.2255e-5),
    ("improved-pcdm", 1e-2, {}, 1.5220e-3), ("improved-pcdm", 5e-3, {}, 1.9556e-4),
    ("improved-pcdm", 1e-2, {"sync": False}, 1.4889e-3),
    ("spiral", 1e-2, {}, -2.4595e-4), ("spiral", 5e-3, {}, -3.0749e-5), ("spiral-sync", 1e-2, {}, -2.4595e-4),
    ("omelyan", 1e-2, {}, -7.2655e-4), ("omelyan", 5e-3, {}, -8.9486e-5), ("rk4", 1e-2, {}, -2.7446e-9)])
def test_energy_of_the_top(name, dt, options, drift):
    """Four to five digits of the figures are given, so that they may be off by 1e-4; rounding in each of the
    steps changes w by eps at most, and its square by twice that."""
    steps = round(1e4 / dt)
    found = top_energy(name, dt, steps, **options) - 1.0
    assert found == pytest.approx(drift, rel=1e-4, abs=2 * steps * np.finfo(float).eps)


@pytest.mark.parametrize("dt", [1e-2, 5e-3])
def test_energy_of_the_top_with_the_prediction_recomputed(dt):
    """S finds the errors of both schemes equal. They are where the prediction is made anew from the angular
    velocity of the half step, which then obeys the same map as that of PCDM: both energies grow by the same
    factor, but for the starts, which lie half a step apart. That changes w by less than dt/2 |w|^2, and the
    growth, which goes as dt^3 w^4, by four times as much in relation."""
    steps = round(1e4 / dt)
    name = "improved-pcdm:predictor=recomputed"
    growth = top_energy(name, dt, steps, sync=False) / top_energy(name, dt, 0, sync=False) - 1.0
    assert growth == pytest.approx(top_energy("pcdm", dt, steps) - 1.0, rel=2 * dt * np.linalg.norm(TOP_SPIN))


# ---------------------------------------------------- cylinder under three torques: S section 3.3

RADIUS, HEIGHT = 0.005, 0.03
MASS = 1100.0 * np.pi * RADIUS**2 * HEIGHT
CYLINDER = np.array([0.5 * MASS * RADIUS**2, *2 * [MASS * (3 * RADIUS**2 + HEIGHT**2) / 12]])
DURATION = 0.1
STEPS = [100, 200, 500, 1000]


def cylinder_torque(t):
    """S Eq. 5, in the body frame."""
    return np.array([5e-4 * np.sin(200 * np.pi * t), 1e-5 * np.exp(3 + 24 * t), 1e-5 * 5.0**(52 * t)])


def tilt(q):
    """Angle of the axis to where it started."""
    return np.arccos(np.clip(1.0 - 2.0 * (q[:, 2]**2 + q[:, 3]**2), -1.0, 1.0))


@pytest.fixture(scope="module")
def exact_cylinder():
    """q and w at the instants of the smallest step."""
    times = DURATION / STEPS[-1] * np.arange(1, STEPS[-1] + 1)
    return driven(CYLINDER, UPRIGHT, np.zeros(3), lambda t, q, w: cylinder_torque(t), times)


def test_final_spin_of_the_cylinder(exact_cylinder):
    """Read from S Fig. 3: hardly any about the axis, 839.5 and 2098 rad/s across."""
    np.testing.assert_allclose(exact_cylinder[1][-1], [0.0, 839.5, 2098.0], rtol=3e-4, atol=3e-4 * 2098.0)


@pytest.mark.parametrize("name, torque_at_the_end, start, alphas", [
    ("pcdm", False, True, [0.0752, 0.0421, 0.0176, 0.0089]),
    ("pcdm", True, True, [0.109, 0.0502, 0.0188, 0.00921]),
    ("improved-pcdm", False, True, [0.0109, 0.00247, 0.000372, 9.14e-05]),
    ("improved-pcdm", False, False, [0.0133, 0.00522, 0.00221, 0.00117]),       # w(dt/2) = w(0): first order
    ("spiral", False, True, [0.0141, 0.00343, 0.000531, 0.000132]),
    ("spiral-sync", False, True, [0.0752, 0.0421, 0.0176, 0.0089]),
    ("omelyan", False, True, [0.0254, 0.00639, 0.000968, 0.000237])])
def test_cylinder(name, torque_at_the_end, start, alphas, exact_cylinder):
    """The mean error of the tilt, S Eqs 6 and 7, to the three digits printed."""
    found = []
    for n in STEPS:
        dt = DURATION / n
        ahead = dt if torque_at_the_end else 0.0
        steps = md.rotation.integrate(name, CYLINDER, UPRIGHT, np.zeros(3),
                                      lambda t, q, w: cylinder_torque(t + ahead), dt, n, start=start,
                                      record_every=1)
        exact = exact_cylinder[0][STEPS[-1] // n - 1::STEPS[-1] // n]
        found.append(np.mean(np.abs(tilt(steps.orientation) - tilt(exact))))
    assert [float(f"{alpha:.3g}") for alpha in found] == alphas


# ---------------------------------------------------- two cylinders in touch: S section 3.4

RADII, SPINS, FRICTION = np.array([1.0, 2.4]), np.array([2.0, 0.4]), 5.4
MOMENTS = np.array([0.5, 2.88])         # not in the paper: solid cylinders of 1 kg, which turn as it says
RATE = FRICTION * np.sum(RADII**2 / MOMENTS)


@pytest.mark.parametrize("name, worst", [("pcdm", [0.01181, 0.005871, 0.002928]),
                                         ("improved-pcdm", [0.0006016, 0.0001492, 3.715e-05])])
def test_two_cylinders(name, worst):
    """Friction proportional to the sliding velocity couples both bodies; largest relative error of the first
    spin for dt = 0.04, 0.02 and 0.01 of the time constant, to four digits."""
    def torque(t, q, w):
        return np.column_stack([np.zeros((2, 2)), -RADII * FRICTION * (w[:, 2] @ RADII)])

    for share, expected in zip([0.04, 0.02, 0.01], worst):
        steps = md.rotation.integrate(name, np.tile(MOMENTS[:, None], 3), UPRIGHT,
                                      np.outer(SPINS, [0.0, 0.0, 1.0]), torque, share / RATE,
                                      round(5.0 / share), record_every=1)
        decay = (1.0 - np.exp(-RATE * steps.time)) / RATE
        exact = SPINS[0] - RADII[0] / MOMENTS[0] * FRICTION * (SPINS @ RADII) * decay
        assert f"{np.max(np.abs(steps.angular_velocity[:, 0, 2] / exact - 1.0)):.3e}" == f"{expected:.3e}"
