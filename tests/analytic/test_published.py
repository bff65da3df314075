"""Errors of schemes on the driven cylinder to ten digits (the `reference` fields of their records), and figures on the
free bodies of the papers, all from programs independent of minidem. test_paper_free_bodies.py compares with the
papers."""
import numpy as np
import pytest

import minidem as md
from minidem.scenarios.rotating_bodies import forced_cylinder, forced_sphere, spinning_top
from minidem.scenarios.spiral.cylinder import errors


@pytest.mark.parametrize("scheme, ahead, x", [
    ("scalar-factor:omega=new", 1.0, 0.2871182), ("direct-multiplication:omega=new", 1.0, 0.2871182),
    ("pcdm", 1.0, 0.2915805), ("pcdm", 0.0, 0.2953061), ("improved-pcdm", 0.0, 0.2934444),
    ("spiral", 0.0, 0.2934441), ("spiral-sync", 0.0, 0.2953061), ("omelyan", 0.0, 0.2934738)])
def test_sphere(scheme, ahead, x):
    """Seven decimals: half a unit of the last, and as much again for the rounding of two programs."""
    _, arrow, _ = forced_sphere.spin_up(scheme, ahead)
    assert arrow[-1, 0] == pytest.approx(x, rel=0, abs=1e-7)


@pytest.mark.parametrize("scheme, drift", [
    ("pcdm", 7.384e-4), ("improved-pcdm", 1.5220e-3), ("spiral", -2.4595e-4), ("spiral-sync", -2.4595e-4),
    ("omelyan", -7.2655e-4), ("rk4", -2.7446e-9)])
def test_energy_of_the_top(scheme, drift):
    """10 000 s, to four or five digits."""
    dt, steps = 1e-2, 10**6
    found = spinning_top.energy_error(spinning_top.spin_freely(scheme, dt, steps).angular_velocity)
    assert found == pytest.approx(drift, rel=1e-4, abs=2 * steps * np.finfo(float).eps)


CYLINDER_STEPS = [100, 200, 500, 1000]


@pytest.fixture(scope="module")
def exact_angles():
    return forced_cylinder.axis_angle(forced_cylinder.reference(CYLINDER_STEPS[-1])[0])


@pytest.mark.parametrize("scheme, ahead, errors", [
    ("pcdm", 0.0, [0.0752, 0.0421, 0.0176, 0.0089]), ("pcdm", 1.0, [0.109, 0.0502, 0.0188, 0.00921]),
    ("improved-pcdm", 0.0, [0.0109, 0.00247, 0.000372, 9.14e-05]),
    ("spiral", 0.0, [0.0141, 0.00343, 0.000531, 0.000132]), ("spiral-sync", 0.0, [0.0752, 0.0421, 0.0176, 0.0089]),
    ("omelyan", 0.0, [0.0254, 0.00639, 0.000968, 0.000237])])
def test_cylinder(scheme, ahead, errors, exact_angles):
    """Mean error of the axis, to three digits."""
    found = [forced_cylinder.mean_error(scheme, ahead, steps, exact_angles) for steps in CYLINDER_STEPS]
    assert [float(f"{error:.3g}") for error in found] == errors


def test_without_a_start_the_leapfrog_of_the_improvement_is_of_first_order():
    """start=False: w(dt/2) = w(0)."""
    exact, found = forced_cylinder.reference(1000)[0], []
    for steps in CYLINDER_STEPS:
        dt = forced_cylinder.TIME / steps
        path = md.rotation.integrate("improved-pcdm", forced_cylinder.INERTIA, (1, 0, 0, 0), (0, 0, 0),
                                     lambda t, q, w: forced_cylinder.torque_at(t), dt, steps, start=False,
                                     record_every=1)
        error = forced_cylinder.axis_angle(path.orientation) - forced_cylinder.axis_angle(exact[1000 // steps - 1::
                                                                                                1000 // steps])
        found.append(float(f"{np.mean(np.abs(error)):.3g}"))
    assert found == [0.0133, 0.00522, 0.00221, 0.00117]


REFERENCE = {f"{name}:{parameters}".rstrip(":"): values for name in md.rotation.available()
             for parameters, values in md.rotation.info(name).reference.items()}


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("row, steps", [(0, 800), (1, 200)])
def test_errors_of_the_benchmark(name, row, steps):
    # Each step rounds q and w about ten times, by half an eps of their size; the values have ten digits.
    round_off = 10 * steps * np.finfo(float).eps
    # The paper of improved-pcdm gives the predicted q and w of the whole step.
    found = np.ravel(errors(name, 1.0 / steps, reading="synchronised" if name == "improved-pcdm" else "published"))
    assert found == pytest.approx(REFERENCE[name][row], rel=1e-9, abs=round_off)
