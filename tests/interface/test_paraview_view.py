"""tools/paraview_view.py: invalid arguments, and, if ParaView is installed, its pictures."""
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import minidem as md
from minidem.output import vtu, wall_shapes

TOOL = Path(__file__).parents[2] / "tools" / "paraview_view.py"
DISPLAY = ["xvfb-run", "-a"] if shutil.which("xvfb-run") else []
needs_paraview = [pytest.mark.slow, pytest.mark.skipif(
    not (shutil.which("pvbatch") and shutil.which("pvpython") and (DISPLAY or os.environ.get("DISPLAY"))),
    reason="needs ParaView, and a display or xvfb-run")]


def look(program, *words):
    done = subprocess.run([*program, str(TOOL), *map(str, words)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A series of two frames, at 0 and 2 s, with walls."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "frames").mkdir()
    sim = md.Simulation(md.Material(1e9, 0.1), md.box((0, 0, 0), (1, 1, 1)), dt=1e-4)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1]), [(0.3, 0.5, 0.5), (0.7, 0.5, 0.5)],
                   velocity=[(0, 0, 0.1), (0, 0, 0)])
    wall_shapes.write_walls(folder / "walls.vtu", sim)
    lines = []
    for k in range(2):
        vtu.write_spheres(folder / "frames" / f"{k}.vtu", sim, float32=True)
        lines.append(f'<DataSet timestep="{2.0 * k}" file="frames/{k}.vtu"/>')
        sim.run(20_000)
    (folder / "run.pvd").write_text('<VTKFile type="Collection" version="0.1"><Collection>' + "".join(lines)
                                    + "</Collection></VTKFile>")
    return folder


@pytest.mark.parametrize("words, told", [
    (["none.pvd"], "no file none.pvd"), (["{run}/frames/0.vtu", "--time", "1"], "--time"),
    ([str(TOOL)], "give the .pvd file"), (["{run}/run.pvd", "--pgn", "a.png"], "--pgn"),
    (["{run}/run.pvd", "--png", "picture"], "--png"),
    (["{run}/run.pvd", "--png", "no/such/folder/a.png"], "no/such/folder"),
    (["{run}/run.pvd", "--png", "a.png"], "pvbatch"),
])
def test_refused_without_paraview(run, words, told):
    status, said = look([sys.executable], *(word.replace("{run}", str(run)) for word in words))
    assert status != 0 and told in said and "Traceback" not in said


def test_help_needs_no_paraview():
    assert look([sys.executable], "--help") == (0, "")


class TestWithParaView:
    pytestmark = needs_paraview

    @pytest.mark.parametrize("words, told", [
        (["run.pvd", "--time", "2.5", "--png", "a.png"], "from 0 to 2 s"),
        (["walls.vtu", "--png", "a.png"], "no spheres"), (["run.pvd"], "--png"),
    ])
    def test_refused(self, run, words, told, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        status, said = look([*DISPLAY, "pvbatch"], run / words[0], *words[1:])
        assert status != 0 and told in said and "Traceback" not in said
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("words", [["run.pvd"], ["run.pvd", "--time", "0.3"], ["frames/0.vtu"]])
    def test_pictures_show_two_spheres_in_a_box(self, run, words, tmp_path):
        from matplotlib.image import imread
        picture = tmp_path / "a.png"
        status, said = look([*DISPLAY, "pvbatch"], run / words[0], *words[1:], "--png", picture, "--size", "640", "480")
        assert status == 0, said
        image = imread(picture)[..., :3]
        assert image.shape == (480, 640, 3)
        coloured = np.ptp(image, axis=2) > 0.2                      # spheres and the scale beside them
        grey = (np.ptp(image, axis=2) < 0.02) & (image.mean(axis=2) < 0.6)      # edges of the box
        assert 0.01 < coloured.mean() < 0.2 and grey.mean() > 1e-3
        assert coloured[:, :320].any() and coloured[:, 320:560].any()

    @pytest.mark.parametrize("words, low, high", [([], 0.003, 0.01), (["--no-contacts"], 0.012, 0.03)])
    def test_contacts_are_tubes(self, words, low, high, tmp_path):
        """Beside walls that move, as three parts of a frame; nothing is drawn around the ends of lines."""
        from matplotlib.image import imread
        sim = md.Simulation(md.Material(1e6, 0.1), md.box((0, 0, 0), (1, 1, 1)), dt=1e-4)
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1]), [(0.4, 0.5, 0.5), (0.595, 0.5, 0.5)])
        files = [tmp_path / "0.vtu", tmp_path / "0_walls.vtu", tmp_path / "0_contacts.vtu"]
        sim.write_vtu(files[0])
        wall_shapes.write_walls(files[1], sim)
        sim.write_contacts(files[2])
        vtu.Pvd(tmp_path / "run.pvd").add(0.0, *files)
        words = [*words, "--png", tmp_path / "a.png", "--size", "640", "480"]
        status, said = look([*DISPLAY, "pvbatch"], tmp_path / "run.pvd", *words)
        assert status == 0, said
        image = imread(tmp_path / "a.png")[..., :3]
        coloured = np.ptp(image[:380, :500], axis=2) > 0.1      # without axes and scale
        grey = (np.ptp(image, axis=2) < 0.02) & (image.mean(axis=2) < 0.6)      # edges of the box
        assert low < coloured.mean() < high and 1e-3 < grey.mean() < 0.1

    def test_a_mesh_is_glass_with_its_outline(self, tmp_path):
        """Not dark with the edges of its 3200 triangles; the edges of the periodic box are there."""
        from matplotlib.image import imread
        i, j = np.indices((40, 40)).reshape(2, -1)
        corner = 41 * i + j
        x, y = np.indices((41, 41)).reshape(2, -1) / 40
        plate = md.MeshWall((np.column_stack([x, y, 0.0 * x]), np.concatenate([
            np.column_stack([corner, corner + 41, corner + 42]), np.column_stack([corner, corner + 42, corner + 1])])))
        sim = md.Simulation(md.Material(1e9, 0.1), [plate], dt=1e-4,
                            periodic=((0, 0, -1), (1, 1, 1), (True, True, False)))
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1]), [(0.5, 0.5, 0.5)])
        md.Frames(tmp_path / "run")(sim)
        words = ["--png", tmp_path / "a.png", "--size", "640", "480"]
        status, said = look([*DISPLAY, "pvbatch"], tmp_path / "run" / "run.pvd", *words)
        assert status == 0, said
        image = imread(tmp_path / "a.png")[..., :3]
        grey = np.ptp(image, axis=2) < 0.02
        dark, glass = ((grey & (low < image.mean(axis=2)) & (image.mean(axis=2) < high)).mean()
                       for low, high in ((0.0, 0.6), (0.85, 0.97)))
        assert 5e-3 < dark < 0.04 and glass > 0.03

    def test_pvpython_opens_a_window(self, run):
        """The window stays open until it is closed."""
        command = [*DISPLAY, "pvpython", str(TOOL), str(run / "run.pvd")]
        process = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=30)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=30)
