"""Sphere on an inclined plane: findings of the quick run, and what a wrong coefficient of friction does to them."""
import json

import incline
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")


def test_findings(tmp_path):
    assert incline.main(["--quick", "--quiet", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [f["verdict"] for f in summary["findings"]] == 5 * ["reproduced"]
    rows = np.loadtxt(tmp_path / "rolling_starts.csv", delimiter=",", skiprows=1)
    assert list(rows[:, 0]) == [0.2, 0.6, 1.0]


def test_linear_springs():
    """The soft tangential spring delays the transition to rolling by part of its period."""
    options = incline.EXPERIMENT.parse(["--quick", "--contact", "hooke-coulomb:stiffness=1e5"])
    for slope in (0.5, 2.0):
        np.testing.assert_allclose(incline.accelerations(options, slope), incline.exact_accelerations(slope, 0.3),
                                   rtol=1e-3)
    rows = incline.begin_to_roll(options, 1.0)
    np.testing.assert_allclose(rows[-1, 1:3], 5.0 / 7.0, rtol=1e-3)
    assert rows[rows[:, 3] > 0, 0].max() == pytest.approx(incline.transition(1.0), rel=2e-3)


def test_accelerations_depend_on_friction_where_the_sphere_slides():
    options = incline.EXPERIMENT.parse(["--quick", "--friction", "0.2", "--time", "0.1"])
    for slope, slides in ((0.5, False), (0.8, True)):
        found = incline.accelerations(options, slope)
        np.testing.assert_allclose(found, incline.exact_accelerations(slope, 0.2), rtol=1e-3)
        other = np.abs(found / incline.exact_accelerations(slope, 0.21) - 1.0)
        assert np.all(other > 0.01) == slides
