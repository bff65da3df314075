"""tools/compare_friction.py: coefficients for LAMMPS, initial states, and the comparison itself."""
import compare_friction
import numpy as np
import pytest
from installed_lammps import needs_lammps
from peers.traces import CONTACT

import minidem as md
from minidem.output.lammps.law import law, warn_of_differences
from minidem.output.lammps.walls import contact_commands

GLASS = md.Material(4.8e10, 0.2, restitution=0.7, friction=0.3)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2800.0)


def simulation(contact, **options):
    return md.Simulation(GLASS, contact=contact, dt=1e-7, **options)


def test_coefficients_of_lammps():
    words = law(simulation("hertz-mindlin:limit_damping=yes"), 0, 0).split()
    modulus, shear = 4.8e10 / (2.0 * 0.96), 4.8e10 / (4.0 * 1.8 * 1.2)
    numbers = [float(words[k]) for k in (1, 2, 5, 6, 7)]
    # The stiffness-ratio is that of the tangential and the normal stiffness, 8 G* a and 2 E* a.
    np.testing.assert_allclose(numbers, [4.0 / 3.0 * modulus, 0.7, 8.0 * shear, (4.0 * shear / modulus) ** 0.5, 0.3],
                               rtol=1e-15)
    assert words[-1] == "limit_damping"
    assert law(simulation("hertz-mindlin:tangential_damping=0.25"), 0, 0).split()[6] == "0.25"


def test_cohesion_in_lammps():
    """E* = E / 2 with nu = 0, and gamma = w / 2; LAMMPS has no equal damping, and ends contacts early."""
    clean = md.Material(4.8e10, 0.2, friction=0.3, adhesion=0.6)
    sim = md.Simulation(clean, contact="hertz-mindlin:cohesion=jkr", dt=1e-7)
    words = law(sim, 0, 0).split()
    assert words[0] == "jkr" and words[-2:] == ["damping", "velocity"]
    np.testing.assert_allclose([float(word) for word in words[1:5]], [4.8e10 / 0.96, 0.0, 0.0, 0.3], rtol=1e-15)
    with pytest.warns(UserWarning, match="at the gap of the largest attraction"):
        warn_of_differences(sim)
    with pytest.raises(ValueError, match="restitution of 0.7"):
        law(simulation("hertz-mindlin:cohesion=jkr"), 0, 0)


@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read restitution, friction:UserWarning")
@pytest.mark.parametrize("contact", ["hertz-mindlin:rolling=epsd", "hertz:onset=corrected",
                                     "hooke-coulomb:stiffness=1e5"])
def test_laws_without_an_equal_in_lammps_are_refused(contact):
    with pytest.raises(ValueError, match=contact):
        law(simulation(contact), 0, 0)


def two_materials(speed, steps):
    """Spheres of glass and steel that touch each other, walls of both materials, or nothing: one collision each."""
    steel = md.Material(2.1e11, 0.3, restitution=0.6, friction=0.5)
    walls = md.box((0.0,) * 3, (0.2,) * 3)
    walls[4] = md.Plane(walls[4].point, walls[4].normal, steel)
    time = 2.868 * (BALL.mass ** 2 / (0.5 * BALL.radii[0] * 2.5e10 ** 2 * speed)) ** 0.2
    sim = md.Simulation(GLASS, walls, contact=CONTACT, dt=time / steps, threads=1,
                        pairs=[md.Pair(GLASS, steel, restitution=0.8, friction=0.2)])
    across = np.array([0.6, 0.64, 0.48])
    for position, velocity, material in [
            ((0.05, 0.05, 0.01), (0.5, 0.3, -1.0), GLASS), ((0.15, 0.05, 0.01), (0.2, -0.3, -1.0), steel),
            ((0.01, 0.15, 0.1), (-1.0, 0.2, 0.3), steel), ((0.05, 0.15, 0.19), (0.1, 0.4, 1.0), GLASS),
            ((0.1,) * 3, across + (0.1, 0.2, -0.3), GLASS), (0.1 + 0.02 * across, (0.0,) * 3, steel)]:
        sim.add_clumps(BALL, [position], velocity=np.multiply(speed, velocity), material=material)
    return sim


def test_commands_of_two_materials():
    """A type per material of the clumps, coefficients of the pair, and walls of each material and type."""
    lines = contact_commands(two_materials(0.01, 100))
    rows = [line.split() for line in lines]
    restitution = {tuple(row[1:3]): float(row[5]) for row in rows if row[0] == "pair_coeff"}
    assert restitution == {("1", "1"): 0.7, ("1", "2"): 0.8, ("2", "2"): 0.6}
    walls = {(row[2], *row[-3:]): (float(row[7]), float(row[12])) for row in rows if row[0] == "fix"}
    glass, between, steel = (0.7, 0.3), (0.8, 0.2), (0.6, 0.5)
    sides = [("xplane", "0", "0.20000000000000001"), ("yplane", "0", "0.20000000000000001"),
             ("zplane", "NULL", "0.20000000000000001")]
    assert walls == {("type1", "zplane", "0", "NULL"): between, ("type2", "zplane", "0", "NULL"): steel,
                     **{("type1", *side): glass for side in sides}, **{("type2", *side): between for side in sides}}


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


@needs_lammps
def test_two_materials_agree_with_lammps():
    """At 1 mm/s the arms at walls, which differ by the overlap, change velocities by a few 1e-5."""
    assert compare_friction.compare(lambda steps: two_materials(0.001, steps), [4000, 8000])[2] < 1e-4


@pytest.mark.slow
@needs_lammps
def test_collisions_agree_with_lammps(run_tool):
    done = run_tool("compare_friction")
    assert done.returncode == 0, done.stdout + done.stderr
