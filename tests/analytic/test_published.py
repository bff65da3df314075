"""Published experiments on rotating bodies: verdicts of their scripts, tables to the printed digits, figures of
programs independent of minidem.

SPIRAL: doi 10.1016/j.cpc.2023.109077, section 3. PCDM: Zhao and van Wachem, Acta Mech. 224, 3091 (2013); its
improvement: Seelen, Padding and Kuipers, Acta Mech. 227, 3381 (2016).
"""
import json
import subprocess
import sys

import numpy as np
import pytest

import minidem as md
from minidem.core.interpreter import scenario_scripts
from minidem.scenarios import module_of
from minidem.scenarios.rotating_bodies import forced_cylinder, forced_sphere
from minidem.scenarios.rotating_bodies.driven_bodies import driven
from minidem.scenarios.spiral import cylinder, driven_cylinder, driven_cylinder_cost

# scenario: (number of findings, those published wrong, those not reproduced), by their quantity.
VERDICTS = {
    "forced_sphere": (24, ["theory, x", "theory, z", "theory, x", "theory, z", "this work, error [%]"],
                      ["the error comes from normalisation"]),
    "forced_cylinder": (9, ["order of PCDM with the torque of a whole step"], []),
    "spinning_top": (4, ["energy error of the improved method / of the original"], []),
    "driven_cylinder": (41, ["Fincham"], ["the same over the entire range of time steps",
                                          "Omelyan's quaternion loses its norm to rounding"]),
    **{name: (number, [], []) for name, number in (
        ("coupled_cylinders", 4), ("tennis_racket", 1), ("custom_integrator", 4), ("custom_law", 9),
        ("capillary_bridge", 11), ("cohesive_slope", 10), ("cantilever", 4), ("agglomerate_impact", 2), ("crushing", 2),
        ("segregation", 2), ("heat_chain", 3))}}

SLOW = ("crushing", "cohesive_slope", "capillary_bridge", "forced_cylinder", "cantilever", "segregation", "heat_chain",
        "custom_integrator", "custom_law", "forced_sphere", "driven_cylinder")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in VERDICTS])
@pytest.mark.usefixtures("own", "own_law")      # the custom ones register schemes and laws
def test_quick_run(name, tmp_path, capsys):
    assert module_of(name).main(["--quick", "--out", str(tmp_path)]) == 0
    check_verdicts(name, tmp_path)
    assert str(tmp_path) in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in VERDICTS if name != "driven_cylinder"])
def test_full_run(name, tmp_path):
    subprocess.run([sys.executable, scenario_scripts()[name], "--quiet", "--out", tmp_path], check=True)
    check_verdicts(name, tmp_path)


def check_verdicts(name, folder):
    result = json.loads((folder / "summary.json").read_text())
    found = {verdict: [f["quantity"] for f in result["findings"] if f["verdict"] == verdict]
             for verdict in ("published value wrong", "not reproduced")}
    number, wrong, missed = VERDICTS[name]
    assert (result["scenario"], result["ended"], len(result["findings"])) == (name, "done", number)
    assert found == {"published value wrong": wrong, "not reproduced": missed}
    assert all((folder / file).stat().st_size > 0 for file in result["files"])
    assert any(file.endswith(".csv") for file in result["files"])


# --- The driven cylinder of SPIRAL.

@pytest.mark.parametrize("time", [0.3, 1.0, 3.0])
def test_exact_motion(time):
    """Against DOP853 on Euler's equations and the quaternion, without Eq. 11 and without the split of q."""
    q, w = driven(cylinder.INERTIA, cylinder.ORIENTATION, cylinder.SPIN, lambda t, q, w: cylinder.TORQUE, time)
    # DOP853 keeps the error of each step far below its rtol = 1e-13; some ten steps make a radian.
    allowed = 1e-13 * (1.0 + 0.5 * cylinder.spin(time)[0] * time)
    assert cylinder.deviation(cylinder.orientation([time])[0], q) < allowed
    assert cylinder.deviation(cylinder.spin(time), w) < allowed


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
    errors = np.array([np.ravel(cylinder.errors(cylinder.SCHEMES["published"][name], dt)) for dt in steps])
    assert f"{cylinder.step_for(steps, errors, target):.3e}" == text


@pytest.mark.slow
def test_experiment_on_cost(tmp_path):
    report = driven_cylinder_cost.EXPERIMENT.run_into(tmp_path, quick=True)
    assert [f.item for f in report.findings] == ["Fig. 4"]
    assert {"cost.csv", "speedup_published.csv", "speedup_synchronised.csv"} <= set(report.files)


REFERENCE = {f"{name}:{parameters}".rstrip(":"): values for name in md.rotation.available()
             for parameters, values in md.rotation.info(name).reference.items()}


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("row, steps", [(0, 800), (1, 200)])
def test_errors_of_the_benchmark(name, row, steps):
    # Each step rounds q and w about ten times, by half an eps of their size; the values have ten digits.
    round_off = 10 * steps * np.finfo(float).eps
    # The paper of improved-pcdm gives the predicted q and w of the whole step.
    reading = "synchronised" if name == "improved-pcdm" else "published"
    found = np.ravel(cylinder.errors(name, 1.0 / steps, reading=reading))
    assert found == pytest.approx(REFERENCE[name][row], rel=1e-9, abs=round_off)


# --- PCDM and its improvement.

@pytest.mark.parametrize("scheme, ahead, x", [
    ("scalar-factor:omega=new", 1.0, 0.2871182), ("direct-multiplication:omega=new", 1.0, 0.2871182),
    ("pcdm", 1.0, 0.2915805), ("pcdm", 0.0, 0.2953061), ("improved-pcdm", 0.0, 0.2934444),
    ("spiral", 0.0, 0.2934441), ("spiral-sync", 0.0, 0.2953061), ("omelyan", 0.0, 0.2934738)])
def test_sphere(scheme, ahead, x):
    """Seven decimals: half a unit of the last, and as much again for the rounding of two programs."""
    _, arrow, _ = forced_sphere.spin_up(scheme, ahead)
    assert arrow[-1, 0] == pytest.approx(x, rel=0, abs=1e-7)


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
