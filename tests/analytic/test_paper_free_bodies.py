"""Verdicts of the scripts of paper experiments, and independent checks of the formulas behind those of Zhao and van
Wachem, Acta Mech. 224, 3091 (2013) and Seelen, Padding and Kuipers, Acta Mech. 227, 3381 (2016)."""
import json
import subprocess
import sys

import numpy as np
import pytest
from reference_rotation import free_spin
from scipy.special import ellipkm1

import minidem as md
from minidem.core.interpreter import scenario_scripts
from minidem.scenarios import module_of
from minidem.scenarios.rotating_bodies import (
    coupled_cylinders as pair,
    forced_cylinder as cylinder,
    spinning_top as top,
    tennis_racket as nut,
)

EPS = np.finfo(float).eps

# scenario: (number of findings, those published wrong, those not reproduced), by their quantity.
VERDICTS = {
    "forced_sphere": (24, ["theory, x", "theory, z", "theory, x", "theory, z", "this work, error [%]"],
                      ["the error comes from normalisation"]),
    "forced_cylinder": (9, ["order of PCDM with the torque of a whole step"], []),
    "spinning_top": (4, ["energy error of the improved method / of the original"], []),
    "coupled_cylinders": (4, [], []),
    "tennis_racket": (1, [], []),
    "custom_integrator": (4, [], []),
    "custom_law": (9, [], []),
    "capillary_bridge": (11, [], []),
    "cohesive_slope": (10, [], []),
    "cantilever": (4, [], []),
    "agglomerate_impact": (2, [], []),
    "segregation": (2, [], []),
    "heat_chain": (3, [], []),
}

SLOW = ("cohesive_slope", "capillary_bridge", "forced_cylinder", "cantilever", "segregation", "heat_chain",
        "custom_integrator", "custom_law", "forced_sphere")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in VERDICTS])
@pytest.mark.usefixtures("own", "own_law")      # the custom ones register schemes and laws
def test_quick_run(name, tmp_path, capsys):
    assert module_of(name).main(["--quick", "--out", str(tmp_path)]) == 0
    check_verdicts(name, tmp_path)
    assert str(tmp_path) in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", VERDICTS)
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


# ---------------------------------------------------- the sphere: in one plane angles simply add


# ---------------------------------------------------- the top: a complex factor in every step


@pytest.mark.parametrize("scheme, step, once", [
    ("pcdm", lambda z: 1 + z + z**2 / 2, lambda z: 1.0),
    ("spiral-sync", lambda z: 1 + z + z**2 / 2 + z**3 / 6, lambda z: 1.0),
    # the leapfrog goes back half a step at the start, and forward when it is read
    ("spiral", lambda z: 1 + z + z**2 / 2 + z**3 / 6,
     lambda z: (1 + z / 2 + z**2 / 8 + z**3 / 48) * (1 - z / 2 + z**2 / 8 - z**3 / 48)),
    ("rk4", lambda z: 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24, lambda z: 1.0),
    ("euler", lambda z: 1 + z, lambda z: 1.0),
    ("velocity-verlet", lambda z: (1 + z / 2)**2, lambda z: 1.0),
])
def test_factor_of_the_top(scheme, step, once):
    """w_x + i w_y is multiplied by a polynomial in z = i Omega dt. Rounding: w takes up four eps a step."""
    dt, steps = 1e-2, 20_000
    z = 1j * top.OMEGA * dt
    exact = (1 - top.ACROSS) + top.ACROSS * abs(once(z) * step(z)**steps)**2
    found = top.energy_error(top.spin_freely(scheme, dt, steps).angular_velocity) + 1
    assert found == pytest.approx(exact, rel=8 * EPS * steps)


# ---------------------------------------------------- cylinders, wing nut


def test_cylinder_spins_up_about_y_and_z():
    """About its axis, where the other moments are equal, w is the integral of the torque."""
    _, spin = cylinder.reference(2000)
    t = np.arange(1, 2001) * 5e-5
    about_axis = 5e-4 / cylinder.INERTIA[0] / (200 * np.pi) * (1 - np.cos(200 * np.pi * t))
    scale = np.max(np.abs(spin))
    np.testing.assert_allclose(spin[:, 0], about_axis, rtol=0, atol=1e-13 * scale * np.sqrt(len(t)))
    np.testing.assert_allclose(spin[-1, 1:], [839.5, 2098], rtol=5e-4)     # as printed in the figure's source


@pytest.mark.parametrize("scheme, errors", [
    ("pcdm", ("0.01181", "0.005871", "0.002928")),
    ("improved-pcdm", ("0.0006016", "0.0001492", "3.715e-05")),
])
def test_coupled_cylinders(scheme, errors):
    """Largest error of w for dt lambda = 0.04, 0.02, 0.01: four digits of a program independent of minidem."""
    assert pair.RATE == pytest.approx(21.6, rel=4 * EPS)
    for part, error in zip((0.04, 0.02, 0.01), errors):
        found = pair.largest_error(scheme, part / pair.RATE, 10.0 / pair.RATE)
        assert f"{found:.3e}" == f"{float(error):.3e}"


@pytest.mark.parametrize("tilt", [1e-3, 1e-2, 0.3])
def test_wing_nut_against_the_general_solution(tilt):
    """Each flip of 2 K(m), K ~ -log(1 - m)/2, is off by eps / (1 - m), and the phase by a few roundings."""
    inertia = md.ClumpTemplate(nut.CENTERS, nut.RADII, density=nut.DENSITY).inertia
    motion = nut.FreeMotion(inertia, nut.SPIN, tilt)
    flips = 10
    t = np.linspace(0.0, flips * motion.flip_time, 1000)
    found, oracle = motion.angular_velocity(t), free_spin(inertia, motion.start, t)
    complement = 1.0 - motion.parameter
    phase = EPS * (flips / complement + 8 * motion.rate * t[-1])
    assert np.max(np.abs(found - oracle)) < 2 * phase * np.linalg.norm(motion.start)
    assert motion.flip_time == pytest.approx(2 * ellipkm1(complement) / motion.rate, rel=EPS / complement)
