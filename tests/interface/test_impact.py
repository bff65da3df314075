"""scenarios/impact.py: a ball hits a bed; the bed settles or comes from a file."""
import json
import re
from pathlib import Path

import impact
import numpy as np
import pytest

import minidem as md
from minidem.initial import settled_bed
from minidem.scenarios import dosta

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")
M1 = md.Material(1e9, 0.2, restitution=0.5, friction=0.3)


def small_bed(**others):
    rod = dosta.grain("rod", 1e-3, dosta.M1)
    return settled_bed(rod, 60, (0.0, 0.0, 0.1), (0.012, 0.012), M1, 2e-6, fraction=0.15, seed=1, threads=1, **others)


def test_settled_bed():
    """In the box, nearly at rest, without deep overlaps; its bottom carries its weight; the same for the same seed."""
    parts = []
    bed, again = small_bed(report=parts.append), small_bed()
    assert bed.position.tobytes() == again.position.tobytes()
    assert parts == sorted(parts) and parts[-1] == 1.0
    assert np.min([wall.point for wall in bed.walls], axis=0).tolist() == [0.0, 0.0, 0.1]
    assert np.max([wall.point for wall in bed.walls], axis=0)[:2].tolist() == [0.012, 0.012]
    weight = bed.n_clumps * bed.templates[0].mass * 9.81
    assert bed.energy().kinetic < 1e-3 * weight * 1e-3          # of a fall by the radius of a grain
    assert bed.contacts()["overlap"].max() < 2e-3 * bed.sphere_radii.min()
    assert np.all(bed.position[:, 2] > 0.1) and bed.coordination_number() > 3.0
    bottom = []
    bed.run(2000, every=20, callback=lambda sim: bottom.append(-sim.wall_force(4)[2]))
    assert np.mean(bottom) == pytest.approx(weight, rel=0.05)


@pytest.mark.parametrize("clump", dosta.SHAPES)
def test_grains_have_the_volume_of_the_sphere(clump):
    assert dosta.grain(clump, 1e-3, dosta.M1).volume == pytest.approx(4.0 / 3.0 * np.pi * 1e-9, rel=2e-3)


@pytest.mark.parametrize("last", ("", "5 0.01 0.01 0 0 0.06\n \n"))
def test_bed_from_a_file(tmp_path, monkeypatch, last):
    """The ball is stopped by the grains of the file: less kinetic energy, accounted for by dissipation."""
    monkeypatch.chdir(tmp_path)
    x, y = np.mgrid[-3:4, -3:4] * 0.0021
    rows = [f"0.001 {a!r} {b!r} {-0.0892431 + 0.0021 * k!r}" for k in range(2) for a, b in
            zip(x.ravel().tolist(), y.ravel().tolist())]
    Path("bed.txt").write_text("radius x y z\n" + "\n".join(rows) + "\n" + last)
    assert impact.main(["--quick", "--particles", "bed.txt", "--time", "0.011", "--dt", "1e-6", "--frames", "0",
                           "--quiet"]) == 0
    summary = json.loads(Path("results/impact/summary.json").read_text())
    assert summary["clumps"] == 99 and summary["energy_balance_error"] < 1e-3
    table = np.genfromtxt("results/impact/observables.csv", delimiter=",", names=True)
    assert table["ball_velocity"][0] == -5.0 and table["ball_velocity"][-1] > -2.0
    assert summary["result"]["lowest_height"] == table["ball_height"].min()


@pytest.mark.parametrize("text, words", [
    ("radius x y z\n", "no line with radius x y z"),
    ("radius x y z\n0.001 0 0\n0.001 0 0 0\n", "in line 2"),
    ("radius x y z\n0.001 0 0 nought\n0.001 0 0 0\n", "not four numbers")])
def test_bad_files_are_refused(tmp_path, monkeypatch, capsys, text, words):
    monkeypatch.chdir(tmp_path)
    Path("bed.txt").write_text(text)
    assert impact.main(["--quick", "--particles", "bed.txt"]) == 2
    assert words in capsys.readouterr().err
    assert not Path("results").exists()


def test_a_file_has_spheres(capsys):
    assert impact.main(["--particles", "bed.txt", "--clump", "rod"]) == 2
    assert "leave one of them out" in capsys.readouterr().err


def test_a_bed_too_soft_for_its_placement_names_softer():
    """The clumps were placed without overlap; the value that it names begins to settle."""
    class Begun(Exception):
        pass

    def report(part):
        raise Begun

    rod = md.ClumpTemplate([(-0.002, 0, 0), (0, 0, 0), (0.002, 0, 0)], [0.001] * 3, 2500.0)
    material = md.Material(5e7, 0.2, restitution=0.5, friction=0.3)

    def settle(softer):
        settled_bed(rod, 100, (0, 0, 0), (0.006, 0.006), material, 1e-7, softer=softer, slower=1, report=report)

    with pytest.raises(ValueError, match="softer = 100: .* smaller by 0.059.*overlaps clump.*Take softer up") as error:
        settle(100.0)
    with pytest.raises(Begun):
        settle(float(re.search(r"softer up to ([\d.]+)", str(error.value))[1]))
