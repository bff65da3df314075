"""scenarios/drum.py, silo.py, hopper.py, angle_of_repose.py: small runs, and the numbers that they exist for."""
import json
from pathlib import Path

import angle_of_repose
import drum
import hopper
import numpy as np
import pytest
import silo

import minidem as md
from minidem.scenarios import dosta

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def result(name):
    return json.loads(Path("results", name, "summary.json").read_text())


def grains_file(rows):
    Path("grains.txt").write_text("radius x y z\n" + "\n".join(" ".join(map(repr, row)) for row in rows) + "\n")
    return "grains.txt"


def drum_rows():
    """Two layers of large grains near the bottom, small ones above."""
    x = np.arange(-0.02, 0.021, 0.0045).tolist()
    return [(0.002, a, 0.0, z) for z in (-0.09, -0.0855) for a in x] + [(0.001, a, 0.0, -0.08) for a in x]


@pytest.mark.slow
def test_drum_with_a_file():
    """The drum moves the grains up on the side x > 0; its work and the dissipation close the balance."""
    words = ["--soft", "--particles", grains_file(drum_rows()), "--time", "0.3", "--frames", "3", "--quiet"]
    assert drum.main(words) == 0
    summary, sim = result("drum"), md.Simulation.load("results/drum/checkpoint.npz")
    assert sim.n_clumps == len(drum_rows()) and summary["energy_balance_error"] < 0.02
    assert {m.name for m in sim.materials} == {"M1", "M2", "steel"} and sim.energy().work > 0.0
    assert sim.position[:, 0].mean() > 0.01
    assert np.max(np.hypot(sim.position[:, 0], sim.position[:, 2])) < drum.RADIUS
    frames = sorted(path.name for path in Path("results/drum/frames").iterdir())
    assert len(frames) == 6 and sum(name.endswith("_walls.vtu") for name in frames) == 3


@pytest.mark.parametrize(("words", "hint"), ((["--clump", "rod"], "leave one"), ([], "a radius of 0.003 m")))
def test_drum_refuses_a_file(capsys, words, hint):
    file = grains_file([(0.003, 0.0, 0.0, 0.0)])
    assert drum.main(["--soft", "--particles", file, *words]) == 2
    assert hint in capsys.readouterr().err


def test_zones():
    """Zone 1 is x > 0, z > 0; zone 2 x < 0, z < 0."""
    options = drum.SCENARIO.parse(["--soft", "--particles", grains_file(
        [(0.002, 0.05, 0, 0.05), (0.001, -0.05, 0, -0.05), (0.001, -0.04, 0, -0.05), (0.001, 0.05, 0, -0.05)])])
    sim = drum.build(options)
    counts = {of.name: of.value(sim) for of in drum.OBSERVABLES}
    assert counts == {"M2_in_zone_1": 1, "M1_in_zone_1": 0, "M2_in_zone_2": 0, "M1_in_zone_2": 2}


@pytest.mark.parametrize("funnel", ["mesh", pytest.param("cone", marks=pytest.mark.slow)])
def test_silo_empties_and_continues(funnel):
    """A run in two parts, with grains removed in both, ends with the bits of one run."""
    words = ["--quick", "--count", "80", "--frames", "0", "--quiet", "--funnel", funnel]
    assert silo.main([*words, "--time", "0.3", "--out", "whole"]) == 0
    assert silo.main([*words, "--time", "0.17", "--out", "parts"]) == 0
    assert silo.main([*words, "--time", "0.3", "--out", "parts", "--resume"]) == 0
    whole, parts = (md.Simulation.load(f"{name}/checkpoint.npz") for name in ("whole", "parts"))
    assert whole.n_clumps < 80 and whole.ids.tolist() == parts.ids.tolist()
    assert whole.position.tobytes() == parts.position.tobytes() and whole.energy() == parts.energy()
    summary = json.loads(Path("whole/summary.json").read_text())
    assert summary["result"]["left"] < 80 and summary["energy_balance_error"] < 1e-3
    rows = np.genfromtxt("parts/observables.csv", delimiter=",", names=True)
    assert (rows["outlet_count"][-1], rows["outlet_mass"][-1]) == parts.outflow["outlet"] == whole.outflow["outlet"]
    assert rows["outlet_count"][[0, -1]].tolist() == [0, 80 - parts.n_clumps]


def test_silo_has_the_published_geometry():
    """The cone of 45 degrees reaches the cylinder where the published walls change."""
    for name, start in (("small", 0.0206992), ("large", 0.0145778)):
        points, triangles = silo.cone(*silo.ORIFICES[name])
        radius = np.hypot(points[:, 0], points[:, 1])
        assert points[:, 2].max() == pytest.approx(start, abs=1e-12)
        np.testing.assert_allclose(points[:, 2] - points[:, 2].min(), radius - radius.min(), atol=1e-12)
        assert len(triangles) == 2 * silo.SIDES * silo.RINGS


def test_repose_leaves_a_slope():
    words = ["--quick", "--count", "150", "--clump", "sphere", "--time", "0.4", "--frames", "0", "--quiet"]
    assert angle_of_repose.main(words) == 0
    summary = result("angle_of_repose")
    assert summary["result"]["left"] < 150 and -10.0 < summary["result"]["angle"] < 60.0     # one layer is left
    assert summary["energy_balance_error"] < 1e-3


def test_angle_of_a_known_slope():
    """Spheres along a line of 30 degrees."""
    x = np.linspace(0.0, angle_of_repose.LENGTH, 200)
    sim = md.Simulation(md.Material(1e7, 0.2), dt=1e-6)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [1e-4]), np.column_stack([x, 0 * x, 0.2 - np.tan(np.pi / 6) * x]))
    assert angle_of_repose.angle(sim) == pytest.approx(30.0, abs=1.0)


def test_hopper_flows_faster_through_larger_orifices(monkeypatch):
    """A thin layer, and its first grains only."""
    monkeypatch.setattr(hopper, "BEGIN", 0.005)
    monkeypatch.setattr(hopper, "END", 0.06)
    report = hopper.EXPERIMENT.run_into("hopper", quick=True, count=600)
    table = np.genfromtxt("hopper/beverloo.csv", delimiter=",", names=True)
    assert np.all(np.diff(table["flow_rate"]) > 0.0) and report.findings[0].reproduced > 1.0
    assert len(list(Path("hopper").glob("*.stl"))) == 3 and Path("hopper/flow.pvd").exists()


@pytest.mark.slow
@pytest.mark.parametrize("clump", dosta.SHAPES)
def test_beverloo_in_full(clump):
    report = hopper.EXPERIMENT.run_into("hopper", clump=clump)
    assert report.findings[0].holds or clump != "sphere"
