"""The driven cylinder of the SPIRAL paper (10.1016/j.cpc.2023.109077, section 3): motion, Table 2, scripts. The errors
of all schemes on it: test_published."""

import numpy as np
import pytest

from minidem.scenarios.rotating_bodies.driven_bodies import driven
from minidem.scenarios.spiral import cylinder, driven_cylinder, driven_cylinder_cost


@pytest.mark.parametrize("time", [0.3, 1.0, 3.0])
def test_exact_motion(time):
    """Against DOP853 on Euler's equations and the quaternion, without Eq. 11 and without the split of q."""
    q, w = driven(cylinder.INERTIA, cylinder.ORIENTATION, cylinder.SPIN,
                  lambda t, q, w: cylinder.TORQUE, time)
    # DOP853 keeps the error of each step far below its rtol = 1e-13; some ten steps make a radian.
    allowed = 1e-13 * (1.0 + 0.5 * cylinder.spin(time)[0] * time)
    assert cylinder.deviation(cylinder.orientation([time])[0], q) < allowed
    assert cylinder.deviation(cylinder.spin(time), w) < allowed


def test_orientation_by_independent_values():
    """Values of a long-double Magnus integration of the same motion, printed to 16 and (20 s) 13 digits."""
    expected = [[0.13656657563891536, -0.9829517989974985, 0.026129851470049533, -0.1203019622782392],
                [-0.2675828999779852, -0.9535491748154523, 0.06981606929344099, -0.11945325159473481],
                [0.0154219815953, -0.9900502023211, 0.029797480509, -0.1366560262953]]
    np.testing.assert_allclose(cylinder.orientation([1.0, 5.0, 20.0]), expected, rtol=0, atol=5e-12)
    np.testing.assert_allclose(cylinder.spin(1.0), [44.110392937123876, -0.6927048185944634, -0.830758710033191],
                               rtol=1e-11)


def test_step_for_a_target():
    steps = np.array([1e-4, 1e-3, 1e-2])
    errors = np.outer(steps**2, [1.0, 3.0])             # mean 2 dt^2: a straight line, interpolated exactly
    assert cylinder.step_for(steps, errors, 2e-5) == pytest.approx(10**-2.5, rel=1e-12)
    assert cylinder.step_for(steps, errors, 1e-9) is None
    assert cylinder.step_for(steps, errors, 1.0) is None


def test_readings():
    """The published reading has another time for w; several rows give the same errors as one."""
    published, synchronised = (np.ravel(cylinder.errors("spiral", 1e-3, reading=reading))
                               for reading in ("published", "synchronised"))
    assert published[0] == pytest.approx(synchronised[0], rel=1e-6) and published[1] != synchronised[1]
    rows = np.array(cylinder.errors("spiral", 1e-3, 2.0, rows=4))
    assert rows.shape == (2, 4)
    # The reference, 2e-12 at worst, is found in two pieces here.
    np.testing.assert_allclose(rows[:, 1], published, rtol=0, atol=2e-12)
    with pytest.raises(ValueError, match="reading is 'exact'"):
        cylinder.errors("spiral", 1e-3, reading="exact")


def entries():
    for name, printed in driven_cylinder.TABLE_2.items():
        for target, text in zip(cylinder.TARGETS, printed):
            short = float(text) < 3e-6                  # a run of half a million steps and more: seconds
            yield pytest.param(name, target, text, marks=pytest.mark.slow if short else ())


@pytest.mark.parametrize("name, target, text", list(entries()))
def test_table_2(name, target, text):
    """Every entry to its printed digits, from the two points of the authors' grid around it."""
    after = np.searchsorted(cylinder.STEPS, float(text))
    steps = cylinder.STEPS[after - 1:after + 1]
    scheme = cylinder.SCHEMES["published"][name]
    errors = np.array([np.ravel(cylinder.errors(scheme, dt)) for dt in steps])
    assert f"{cylinder.step_for(steps, errors, target):.3e}" == text


@pytest.mark.slow
def test_experiment(tmp_path):
    """All findings are reproduced but three claims of the paper."""
    report = driven_cylinder.EXPERIMENT.run_into(tmp_path, quick=True)
    not_so = {(f.item, f.verdict) for f in report.findings if f.verdict != "reproduced"}
    assert not_so == {("Fig. 2", "not reproduced"), ("Appendix B.5", "not reproduced"),
                      ("Local orders", "published value wrong")}
    assert sum(f.item == "Table 2" for f in report.findings) == 25
    assert {"errors_published.csv", "errors_synchronised.csv", "table_2_published.csv"} <= set(report.files)


def test_cost_of_a_step(tmp_path):
    """Runge-Kutta costs about four times a step of Euler; timing is rough, so only the order is checked."""
    assert driven_cylinder_cost.nanoseconds("rk4", 64, 500) > driven_cylinder_cost.nanoseconds("euler", 64, 500) > 0.0


def test_time_steps_of_the_cost_are_those_of_table_2():
    assert [f"{dt:.3e}" for dt in driven_cylinder_cost.time_steps("spiral", "published", cylinder.TARGETS)] == list(
        driven_cylinder.TABLE_2["SPIRAL"])


@pytest.mark.slow
def test_experiment_on_cost(tmp_path):
    report = driven_cylinder_cost.EXPERIMENT.run_into(tmp_path, quick=True)
    assert [f.item for f in report.findings] == ["Fig. 4"]
    assert {"cost.csv", "speedup_published.csv", "speedup_synchronised.csv"} <= set(report.files)
