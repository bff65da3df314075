"""--out: no folder is refused before any work; links in a folder are followed, or not."""
from pathlib import Path

import pytest
from rods_in_box import SCENARIO as RODS

from minidem.scenario import Scenario
from minidem.scenarios import paper_report

ROOT = Path(__file__).parents[2]
EXPERIMENT = Scenario("nothing", "Nothing.", study=lambda options, report: None)
SHORT = ["--rods", "2", "--time", "1e-3", "--frames", "2", "--quiet"]
pytestmark = pytest.mark.usefixtures("without_pictures")


def never(options):
    raise AssertionError("work was begun")


def scenario(name="never"):
    return Scenario(name, "Never built.", never, {"time": 1.0, "integrator": "spiral", "dt": 1e-5})


@pytest.mark.parametrize("arguments", [["--out", ""], ["--out="], ["--out", "", "--compare", "spiral,rk4"]])
@pytest.mark.parametrize("main", [scenario().main, EXPERIMENT.main, paper_report.main],
                         ids=["scenario", "experiment", "report of papers"])
def test_no_folder(main, arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments if main == scenario().main else arguments[:2]) == 2
    said = capsys.readouterr().err
    assert "--out" in said and "'' is no folder" in said
    assert not list(tmp_path.iterdir())


def test_no_folder_from_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="'' is no folder"):
        EXPERIMENT.run_into("")
    assert not list(tmp_path.iterdir())


def test_a_link_in_the_place_of_the_next_checkpoint(tmp_path):
    """It is not followed, and does not become the checkpoint of a continued run."""
    out, victim = tmp_path / "out", tmp_path / "victim"
    victim.write_text("precious")
    assert RODS.main([*SHORT, "--out", str(out)]) == 0
    (out / "checkpoint_next.npz").symlink_to(victim)
    assert RODS.main([*SHORT, "--time", "2e-3", "--out", str(out), "--resume"]) == 0
    assert victim.read_text() == "precious" and not (out / "checkpoint.npz").is_symlink()


def test_a_table_that_is_a_link_grows_at_its_target(tmp_path):
    out, far = tmp_path / "out", tmp_path / "far.csv"
    out.mkdir()
    (out / "energy.csv").symlink_to(far)
    assert RODS.main([*SHORT, "--time", "4e-3", "--out", str(out)]) == 0
    assert (out / "energy.csv").is_symlink()
    assert far.stat().st_size > 8192 and len(far.read_text().splitlines()) == 108      # over pages, a row a step
