"""Benchmark impacts: findings of the quick run, exact limits of the reference with partial slip."""
import json
from types import SimpleNamespace

import numpy as np
import pytest

from minidem.scenarios.collisions import oblique_impact as impacts

pytestmark = pytest.mark.usefixtures("without_pictures")


def test_findings(tmp_path):
    assert impacts.main(["--quick", "--quiet", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {f["verdict"] for f in summary["findings"]} == {"reproduced", "known limit"}
    limit = {(f["item"], f["quantity"].partition(":")[0]) for f in summary["findings"] if f["verdict"] == "known limit"}
    assert limit == {("test 4", "tangential restitution, below 14 degrees"), ("test 4", "spin, below 14 degrees"),
                     ("test 5", "spin, below 6 friction vn"),
                     ("test 5", "velocity of the contact point, below 6 friction vn")}
    error = {(f["item"], f["quantity"].partition(":")[0]): f["reproduced"] for f in summary["findings"]}
    assert error["test 1", "largest force"] < 1e-4 and error["test 2", "contact time"] < 1e-4
    assert error["test 3", "restitution"] < 5e-4
    rows = np.loadtxt(tmp_path / "test1.csv", delimiter=",", skiprows=1)
    assert rows[:, 1].max() == pytest.approx(10.70e3, rel=2e-3) and rows[-1, 0] == pytest.approx(40.35e-6, rel=2e-3)


def test_only_known_deviations_are_a_known_limit():
    """Smaller ones are reproduced, larger ones not, nor are any where all laws agree."""
    def judged(error, known):
        report = SimpleNamespace(found=[], say=lambda text: None)
        report.find = report.found.append
        impacts.deviation(report, "test 4", "spin", np.array([1.0 + error]), np.array([1.0]), 0.02, "", known=known)
        return report.found[0].verdict

    assert [judged(*pair) for pair in ((0.01, 0.1), (0.05, 0.1), (0.11, 0.1), (0.05, 0.0))] == [
        "reproduced", "known limit", "not reproduced", "not reproduced"]


def test_partial_slip():
    """Gross sliding at large angles; odd in the incidence; impulse and spin consistent; no gain of energy."""
    incidence = np.array([-2.0, 0.5, 2.0, 4.0, 6.5, 9.0])
    spin, velocity = impacts.partial_slip(0.3, incidence)
    np.testing.assert_allclose(spin[-2:], -5.0, rtol=2e-3)
    np.testing.assert_allclose(velocity[-2:], incidence[-2:] - 7.0, atol=0.01)
    assert spin[0] == -spin[2] and velocity[0] == -velocity[2]
    np.testing.assert_allclose(velocity, incidence + 1.4 * spin, atol=1e-12)
    assert np.all(np.abs(velocity) < np.abs(incidence))


def test_impact_of_a_pair_is_that_of_a_sphere_with_a_mirror():
    options = impacts.EXPERIMENT.parse(["--quick"])
    impact = impacts.Impact(options, impacts.GLASS, [(3e-4, 0, -1e-4), (1e-5, 0, -1e-4)], pairs=True)
    impact.after()
    sim = impact.sim
    np.testing.assert_array_equal(sim.velocity[:2], -sim.velocity[2:])
    np.testing.assert_array_equal(sim.angular_velocity[:2], sim.angular_velocity[2:])
    # Friction is 0.35, and the first pair slides throughout. At this speed the normal hardly turns.
    assert 1e4 * sim.velocity[0, 0] == pytest.approx(3.0 - 2 * 0.35, rel=2e-4)
