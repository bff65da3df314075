"""Scripts of scenarios/: short runs of all that record energies, and the physics that no other test looks at.

Studies of papers are run by tests/analytic/test_published.py and test_studies.py.
"""
import inspect
import json
from pathlib import Path

import clump_gas as gas
import compression
import cooling_gas
import crushing
import dense_rods
import hopper
import incline
import meshio
import numpy as np
import pytest
import repose_by_shape
import settling
import shear_rheology
import sheared_gas
import silo
import triaxial

import minidem as md
from minidem.core.interpreter import scenario_scripts
from minidem.scenarios import dosta, module_of, periodic_grains
from minidem.scenarios.collisions import oblique_impact as impacts
from minidem.scenarios.rotating_bodies import falling_fibres as fibres

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """The working folder, with a file of a bed under the ball of an impact, and one of grains in a drum."""
    monkeypatch.chdir(tmp_path)
    x, y = (axis.ravel().tolist() for axis in np.mgrid[-3:4, -3:4] * 0.0021)
    bed = [(0.001, a, b, -0.0892431 + 0.0021 * k) for k in range(2) for a, b in zip(x, y)]
    x = np.arange(-0.02, 0.021, 0.0045).tolist()
    drum = [(0.002, a, 0.0, z) for z in (-0.09, -0.0855) for a in x] + [(0.001, a, 0.0, -0.08) for a in x]
    last = {"bed": "5 0.01 0.01 0 0 0.06\n \n", "drum": ""}
    for name, rows in (("bed", bed), ("drum", drum)):
        text = "".join(" ".join(map(repr, row)) + "\n" for row in rows)
        Path(f"{name}.txt").write_text("radius x y z\n" + text + last[name])


def observed(name="run"):
    return np.genfromtxt(f"{name}/observables.csv", delimiter=",", names=True)


def build(script, *words):
    return script.build(script.SCENARIO.parse([*words, "--threads", "1"]))


BALANCE = ("energy_balance_error", 0.0, 1e-3)
SHORT = {       # script: (options, sizes (clumps, spheres), (entry of summary.json, lowest, highest), ...)
    "rods_in_box": ("--time 0.02", (30, 90), ("max_relative_energy_error", 1e-9, 1e-2)),
    "chess_in_box": ("--time 0.012 --dt 4e-6", (32, 3200), ("max_relative_energy_error", 1e-12, 1e-2)),
    "angle_of_repose": ("--quick --count 150 --clump sphere --time 0.4", None, ("result left", 1, 149),
                        ("result angle", -10.0, 60.0), BALANCE),            # one layer is left
    "clump_gas": ("--shape sphere --friction 0 --count 300 --restitution 0.9 --time 2 --dt 2e-5", (300, 300),
                  ("result exponent", 1.7, 2.3), ("result cooling", 5.0, 100.0),
                  ("result rotational_share", 0.0, 1e-20), ("energy_balance_error", 0.0, 5e-3)),
    "dense_rods": ("--rods 200 --thermalise 0.004 --time 0.01", (200, 600), ("contacts_per_clump", 0.01, 9.0),
                   ("observables nematic_order final", 1e-6, 1.0)),
    "drum": ("--soft --particles drum.txt --time 0.02", (30, 30), ("energy_balance_error", 0.0, 0.02)),
    "falling_fibres": ("--fibres 9 --dt 2e-6 --time 0.3", (9, 45), ("contacts_max", 1, 99),
                       ("physics azimuth", -45.0, -45.0)),
    "impact": ("--quick --particles bed.txt --time 0.011 --dt 1e-6", (99, 99), BALANCE),
    "settling": ("--count 20 --dt 4e-5 --time 0.3", (20, None), ("result at_rest", False, False), BALANCE),
    "shear_flow": ("--count 100 --strain 1.5 --inertial 0.5", (100, None), ("result mu", 0.4, 0.8),
                   ("result solid_fraction", 0.48, 0.6), ("result normal_stress", 900.0, 1100.0),
                   ("result rotation", 0.8, 1.2))}


@pytest.mark.parametrize("name", SHORT)
def test_a_short_run(name):
    words, sizes, *entries = SHORT[name]
    assert module_of(name).main([*words.split(), "--frames", "2", "--quiet", "--out", "run"]) == 0
    summary = json.loads(Path("run/summary.json").read_text())
    assert summary["scenario"] == name and summary["ended"] == "done"
    for size, expected in zip(("clumps", "spheres"), sizes or ()):
        assert expected is None or summary[size] == expected
    for entry, low, high in entries:
        value = summary
        for key in entry.split():
            value = value[key]
        assert low <= value <= high, (entry, value)
    rows = observed()
    assert len(rows) > 20 and np.isfinite(rows["contacts"]).all()
    frames = [path for path in Path("run/frames").iterdir() if path.stem.rpartition("_")[2].isdigit()]
    assert len(frames) == 2 and len(meshio.read(max(frames)).points) == summary["spheres"]
    if name == "drum":                              # large and small grains: zone 1 is x > 0, z > 0; zone 2 x, z < 0
        assert [rows[f"{size}_in_zone_{zone}"][0] for size in ("M2", "M1") for zone in (1, 2)] == [0, 10, 0, 5]
    if name == "impact":                            # the ball is stopped by the grains of the file
        assert rows["ball_velocity"][0] == -5.0 and rows["ball_velocity"][-1] > -2.0
        assert summary["result"]["lowest_height"] == rows["ball_height"].min()
    if name == "settling":
        assert "NOT at rest" in summary["conclusion"] and summary["result"]["rest_time"] is None
    if name == "clump_gas":                         # smooth spheres that have cooled follow kinetic theory
        assert summary["result"]["tau"] == pytest.approx(summary["result"]["tau_kinetic_theory"], rel=0.25)
    if name == "dense_rods":
        assert summary["contacts_per_clump"] == np.mean(rows["contacts"]) / 200


def test_start_of_gases():
    """At equal energies of all degrees of freedom, without contacts; walls of the gas take no energy and no spin."""
    sim = build(gas, "--count", "200")
    energy = sim.energy()
    assert len(sim.contacts()) == 0 and np.max(np.abs(sim.linear_momentum())) < 1e-12
    assert energy.translational == pytest.approx(1.5 * 200 * sim.templates[0].mass, rel=0.2)
    assert energy.rotational == pytest.approx(energy.translational, rel=0.2)
    assert [(pair.restitution, pair.friction) for pair in sim.pairs] == [(1.0, 0.0)]
    n = 2000
    sim = build(dense_rods, "--rods", str(n), "--thermalise", "0")
    assert sim.n_clumps == n and sim.step_count == 0 and len(sim.contacts()) == 0
    assert n * sim.templates[0].volume / max(wall.point[0] for wall in sim.walls) ** 3 == pytest.approx(0.3, rel=1e-14)
    np.testing.assert_allclose(np.linalg.norm(sim.velocity, axis=1), 4.0, rtol=1e-14)
    # The energy about each principal axis is e = m v^2 / 6 times a squared normal deviate, of variance 2.
    spins = 0.5 * sim.templates[0].inertia * sim.body_angular_velocity ** 2
    assert np.max(np.abs(spins.mean(axis=0) / (sim.mass[0] * 4.0 ** 2 / 6.0) - 1.0)) < 5.0 * np.sqrt(2.0 / n)


def test_thermalised_state_does_not_depend_on_the_integrator():
    one, other = (build(dense_rods, "--rods", "300", "--thermalise", "0.004", "--integrator", scheme)
                  for scheme in ("spiral", "omelyan"))
    still = build(dense_rods, "--rods", "300", "--thermalise", "0")
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
        assert np.any(getattr(one, name) != getattr(still, name))
    # The same energy, except the little that is elastic when the speeds change.
    assert one.energy().total == pytest.approx(still.energy().total, rel=0.04)


def test_scenarios_take_the_default_integrator():
    default = inspect.signature(md.Simulation).parameters["rotation"].default
    modules = [module_of(name) for name in scenario_scripts()]
    taken = {one.SCENARIO.name: one.SCENARIO.defaults["integrator"] for one in modules if hasattr(one, "SCENARIO")}
    of_papers = {"chess_in_box": "spiral", "falling_fibres": "pcdm"}
    assert len(taken) > 9 and taken == dict.fromkeys(taken, default) | of_papers


def test_a_sheared_gas(monkeypatch):
    """One short run of softer spheres: the theory within its sampling errors. Theories agree for elastic collisions."""
    for quantity, first in zip(sheared_gas.gaussian_theory(0.3, 0.999), sheared_gas.first_order(0.3, 0.999)):
        assert quantity == pytest.approx(first, rel=0.03)
    coarse, fine = (sheared_gas.gaussian_theory(0.3, 0.8, nodes) for nodes in (16, 40))
    assert coarse == pytest.approx(fine, rel=1e-6)
    monkeypatch.setattr(sheared_gas, "YOUNG", 1e8)
    found, theory = sheared_gas.shear(0.9, 500, 8.0, 1), sheared_gas.gaussian_theory(0.3, 0.9)
    assert [found["temperature"], found["pressure"]] == pytest.approx(theory[:2], rel=0.05)
    assert found["stress"] == pytest.approx(theory[2], rel=0.08)


def test_a_sample_jams(monkeypatch):
    monkeypatch.setattr(compression, "PRESSURES", (1e-4, 3e-5, 1e-5))
    row = compression.compress(1.0, 100, 1, ".")
    [fraction], [contacts] = compression.jamming([row])
    assert 0.6 < fraction < 0.66 and 5.7 < contacts < 6.3
    fractions, numbers = (compression.column([row], name)[0] for name in ("fraction", "contacts"))
    assert np.all(np.diff(fractions) < 0.0) and np.all(np.diff(numbers) < 0.0) and row["rattlers_1e-05"] < 0.1
    assert Path("packings/aspect_1_seed_1.vtu").exists()
    monkeypatch.undo()
    p = np.array(compression.PRESSURES)             # extrapolation to none
    row = {f"{name}_{x:.0e}": value for name, values in (("fraction", 0.64 + 2.0 * p ** (2 / 3)),
                                                         ("contacts", 6.0 + 10.0 * p ** (1 / 3)))
           for x, value in zip(p, values)}
    assert [values[0] for values in compression.jamming([row])] == pytest.approx([0.64, 6.0], rel=1e-12)


def test_grains_are_crushed(monkeypatch):
    """Fewer whole grains at each strain, finer gradings, of the same mass; balance within rounding at replacements."""
    monkeypatch.setattr(crushing, "STRAIN", 0.25)
    monkeypatch.setattr(crushing, "ROWS", 2)
    monkeypatch.setattr(crushing, "STRENGTH", 1e5)
    row = crushing.crush(40, 1, 1, ".")
    assert row["jump"] < 1e-12 and row["residual"] < 1e-3 and row["breakage"] < 0.0 < row["work"]
    whole, clumps = (crushing.column([row], name)[0] for name in ("whole", "clumps"))
    assert 1.0 > whole[0] > whole[1] > 0.3 and np.allclose(clumps, 40 * (whole + len(crushing.SIZES) * (1.0 - whole)))
    sieves = np.array([[row[f"sieve_{k}_{i}"] for i in range(len(crushing.SIEVES))] for k in range(2)])
    assert np.all(np.diff(sieves) >= 0.0) and np.all(sieves[1] >= sieves[0]) and np.all(sieves[:, -1] == 1.0)
    assert sieves[:, -2] == pytest.approx(1.0 - whole, rel=1e-12) and Path("samples/seed_1.vtu").exists()
    assert len(crushing.patterns(3)) == 3


def test_steps_for_low_restitutions():
    """The dashpot over the critical one times the step does not grow."""
    steps = [periodic_grains.step_of(2.0, e) for e in (0.9, 0.5, 0.3, 0.1)]
    losses = [-np.log(e) / np.hypot(np.pi, np.log(e)) for e in (0.5, 0.5, 0.3, 0.1)]
    assert steps[0] == steps[1] and np.multiply(steps, losses)[1:] == pytest.approx([steps[0] * losses[0]] * 3)


@pytest.mark.parametrize("state", ["dense", pytest.param("loose", marks=pytest.mark.slow)])
def test_a_triaxial_test(state, monkeypatch):
    monkeypatch.setattr(triaxial, "INERTIAL", 0.04)
    rows = [triaxial.compress(1.0, state, 120, seed, ".") for seed in (1, 2, 3)]
    ratio, volume = (triaxial.curve(rows, name).mean(axis=0) for name in ("ratio", "volume"))
    consolidated = [row["consolidated"] for row in rows]
    assert 0.5 < ratio[15:].mean() < 1.1
    if state == "dense":
        assert ratio.max() > 1.3 * ratio[15:].mean() and volume[-1] > 0.05 and min(consolidated) > 0.63
    else:
        assert volume.min() < 0.01 and max(consolidated) < 0.6


@pytest.mark.parametrize("friction, low, high", [(0.1, 2.0, 30.0), (0.6, -0.2, 0.2)])
def test_friction_couples_the_rotation_of_a_gas(friction, low, high, tmp_path):
    """Spheres that cool: their energies stay equal, unless contacts slide and leave the rotation as it is."""
    assert low < cooling_gas.cool("sphere", friction, 150, 1, str(tmp_path))["change"] < high


@pytest.mark.parametrize("shape, exact", [("sphere", 1.0), ("rod", 12.0 / 16.0), ("capsule", None)])
def test_convexity(shape, exact):
    """Of three touching spheres in a row, whose hull is a cylinder with round ends."""
    found = repose_by_shape.convexity(shape)
    assert found == pytest.approx(exact, rel=3e-3) if exact else 0.95 < found < 1.0


def test_a_rheology_run_is_kept_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(shear_rheology, "QUICK", {0.3: 0.1})
    arguments = {"aspect": 2.0, "inertial": 0.3, "fraction": 0.0, "friction": 0.5, "count": 100, "quick": True,
                 "seed": 1, "out": str(tmp_path / "runs")}
    row = shear_rheology.shear(**arguments)
    [folder] = (tmp_path / "runs").iterdir()
    result = json.loads((folder / "summary.json").read_text())["result"]
    assert set(row) == set(shear_rheology.QUANTITIES) and all(row[name] == result[name] for name in row)
    assert shear_rheology.shear(**arguments) == row                 # from its last checkpoint
    (folder / "summary.json").unlink()
    for checkpoint in folder.glob("*.npz"):
        checkpoint.write_bytes(b"")
    with pytest.raises(RuntimeError, match="To restart the run remove"):
        shear_rheology.shear(**arguments)


def test_rest_and_its_continuation():
    words = ["--count", "20", "--dt", "4e-5", "--frames", "0", "--threads", "1", "--quiet", "--out", "run", "--time"]
    assert settling.main([*words, "2"]) == 0
    summary, rows = json.loads(Path("run/summary.json").read_text()), observed()
    result, energy = summary["result"], rows["kinetic_energy"]
    assert result["at_rest"] and summary["conclusion"].startswith("At rest from")
    assert np.all(energy[rows["time"] >= result["rest_time"]] < settling.REST)
    assert energy[rows["time"] < result["rest_time"]][-1] >= settling.REST
    assert 0.2 < result["packing_fraction"] < 0.6 and 4.0 < result["coordination_number"] < 9.0
    assert settling.main([*words, "2.2", "--resume"]) == 0
    rows = observed()
    assert rows["time"][-1] == pytest.approx(2.2) and np.all(rows["kinetic_energy"][rows["time"] > 2.0] < settling.REST)
    assert json.loads(Path("run/summary.json").read_text())["result"]["rest_time"] == result["rest_time"]


@pytest.mark.parametrize("funnel", ["mesh", pytest.param("cone", marks=pytest.mark.slow)])
def test_silo_empties_and_continues(funnel):
    """A run in two parts, with grains removed in both, ends with the bits of one run."""
    words = ["--quick", "--count", "80", "--frames", "0", "--quiet", "--funnel", funnel]
    assert silo.main([*words, "--time", "0.1", "--out", "whole"]) == 0
    assert silo.main([*words, "--time", "0.06", "--out", "parts"]) == 0
    assert silo.main([*words, "--time", "0.1", "--out", "parts", "--resume"]) == 0
    whole, parts = (md.Simulation.load(f"{name}/checkpoint.npz") for name in ("whole", "parts"))
    assert 0 < whole.n_clumps < 80 and whole.ids.tolist() == parts.ids.tolist()
    assert whole.position.tobytes() == parts.position.tobytes() and whole.energy() == parts.energy()
    rows = observed("parts")
    assert (rows["outlet_count"][-1], rows["outlet_mass"][-1]) == parts.outflow["outlet"] == whole.outflow["outlet"]
    assert rows["outlet_count"][[0, -1]].tolist() == [0, 80 - parts.n_clumps]
    summary = json.loads(Path("whole/summary.json").read_text())
    assert 0 < summary["result"]["left"] < 80 and summary["energy_balance_error"] < 1e-3


def test_silo_has_the_published_geometry():
    """The cone of 45 degrees reaches the cylinder where the published walls change."""
    for name, start in (("small", 0.0206992), ("large", 0.0145778)):
        x, y, z = silo.cone(*silo.ORIFICES[name])[0].T
        radius = np.hypot(x, y)
        assert z.max() == pytest.approx(start, abs=1e-12)
        np.testing.assert_allclose(z - z.min(), radius - radius.min(), atol=1e-12)


def test_hopper_flows_faster_through_larger_orifices(monkeypatch):
    monkeypatch.setattr(hopper, "BEGIN", 0.005)
    monkeypatch.setattr(hopper, "END", 0.06)
    report = hopper.EXPERIMENT.run_into("hopper", quick=True, count=600)
    table = np.genfromtxt("hopper/beverloo.csv", delimiter=",", names=True)
    assert np.all(np.diff(table["flow_rate"]) > 0.0) and report.findings[0].reproduced > 1.0
    assert len(list(Path("hopper").glob("*.stl"))) == 3 and Path("hopper/flow.pvd").exists()


@pytest.mark.slow
def test_verdicts_on_figure_2(tmp_path):
    report = fibres.EXPERIMENT.run_into(tmp_path, quick=True)
    verdicts = {finding.quantity: finding.verdict for finding in report.findings}
    assert [q for q, verdict in verdicts.items() if verdict != "reproduced"] == [
        "scalar-factor: typically below 0.2 %", "scalar factor and PCDM overlap",
        "euler-quaternion: error next to zero, not increasing"]
    assert len((tmp_path / "fig2_one_fibre.csv").read_text().splitlines()) == 1 + fibres.ROWS


def test_oblique_impacts():
    assert impacts.main(["--quick", "--quiet", "--out", "run"]) == 0
    findings = json.loads(Path("run/summary.json").read_text())["findings"]
    assert {f["verdict"] for f in findings} == {"reproduced", "known limit"}
    limit = {(f["item"], f["quantity"].partition(":")[0]) for f in findings if f["verdict"] == "known limit"}
    assert limit == {("test 4", "tangential restitution, below 14 degrees"), ("test 4", "spin, below 14 degrees"),
                     ("test 5", "spin, below 6 friction vn"),
                     ("test 5", "velocity of the contact point, below 6 friction vn")}
    error = {(f["item"], f["quantity"].partition(":")[0]): f["reproduced"] for f in findings}
    assert error["test 1", "largest force"] < 1e-4 and error["test 2", "contact time"] < 1e-4
    assert error["test 3", "restitution"] < 5e-4
    rows = np.loadtxt("run/test1.csv", delimiter=",", skiprows=1)
    assert rows[:, 1].max() == pytest.approx(10.70e3, rel=2e-3) and rows[-1, 0] == pytest.approx(40.35e-6, rel=2e-3)


def test_a_sphere_on_an_incline():
    assert incline.main(["--quick", "--quiet", "--out", "run"]) == 0
    findings = json.loads(Path("run/summary.json").read_text())["findings"]
    assert [found["verdict"] for found in findings] == 5 * ["reproduced"]
    assert np.loadtxt("run/rolling_starts.csv", delimiter=",", skiprows=1)[:, 0].tolist() == [0.2, 0.6, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("study", [sheared_gas, compression, triaxial, shear_rheology], ids=lambda one: one.__name__)
def test_quick_studies(study, tmp_path):
    report = study.EXPERIMENT.run_into(tmp_path, quick=True)
    assert report.findings and all(found.verdict in ("reproduced", "too short to tell") for found in report.findings)


@pytest.mark.slow
@pytest.mark.parametrize("clump", dosta.SHAPES)
def test_beverloo_in_full(clump):
    assert hopper.EXPERIMENT.run_into("hopper", clump=clump).findings[0].holds or clump != "sphere"
