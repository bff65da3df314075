"""minidem movie, md.movie, md.Live, md.show, md.view: pictures of the right size, number and content; errors."""
import base64
import math
import re
import sys
import zlib
from types import SimpleNamespace

import numpy as np
import pytest

import minidem as md
from minidem import __main__ as command_line, render
from minidem.output import vtu
from minidem.output.wall_shapes import write_walls
from minidem.render import colour, scene

pyvista = pytest.importorskip("pyvista")
ffmpeg = pytest.importorskip("imageio_ffmpeg")
Image = pytest.importorskip("PIL.Image")

BALL = md.ClumpTemplate([(0, 0, 0)], [0.1], density=1000.0)
PLATE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Folder of a run with three frames: two spheres in a box approach each other."""
    folder = tmp_path_factory.mktemp("run") / "two"
    sim = md.Simulation(md.Material(1e9, 0.1), md.box_walls((0, 0, 0), (1, 1, 1)), dt=1e-4)
    sim.add_clumps(BALL, [(0.2, 0.5, 0.5), (0.8, 0.5, 0.5)], velocity=[(1, 0, 0), (-0.5, 0, 0)])
    frames = md.Frames(folder)
    frames(sim)
    sim.run(2000, every=1000, callback=frames)
    return folder


def movie(*words):
    return command_line.main(["movie", *map(str, words), "--quiet"])


def pictures(path):
    """Pictures (n, height, width, 3) of a movie, and its duration in seconds."""
    reader = ffmpeg.read_frames(str(path))
    about = next(reader)
    width, height = about["size"]
    return np.array([np.frombuffer(data, np.uint8).reshape(height, width, 3) for data in reader]), about["duration"]


def still(spheres, camera=scene.CAMERA, **how):
    sim = md.Simulation(md.Material(1e9, 0.1), how.pop("walls", None), dt=1e-5)
    sim.add_clumps(BALL, spheres)
    return np.asarray(md.show(sim, color="solid", size=how.pop("size", (200, 150)), camera=camera, **how)).astype(int)


def coloured(pixels):
    """Pixels that belong to spheres: neither white nor grey, nor in the lower left corner, where the axes are."""
    found = np.ptp(pixels, axis=-1) > 20
    height, width = found.shape
    found[round(0.8 * height):, :round(0.15 * width)] = False
    return found


def test_mp4_and_gif(run, tmp_path):
    """The spheres come closer; 3 frames in 1.2 s at 10 pictures per second are repeated."""
    assert movie(run, "--size", "160x120", "--fps", "10", "--seconds", "1.2") == 0
    shown, seconds = pictures(run / "two.mp4")
    assert shown.shape == (12, 120, 160, 3) and seconds == pytest.approx(1.2)
    middle = [np.flatnonzero(coloured(picture.astype(int))[:, :130].any(axis=0)) for picture in shown[[0, 6, 11]]]
    widths = [columns.max() - columns.min() for columns in middle]
    assert widths[0] > widths[1] + 5 > widths[2] + 10
    gif = tmp_path / "two.gif"
    assert movie(run / "two.pvd", "--out", gif, "--size", "160x120", "--every", "2", "--color", "template") == 0
    with Image.open(gif) as shown:
        assert shown.format == "GIF" and shown.size == (160, 120) and shown.n_frames == 2


def test_movie_of_a_notebook(run, tmp_path):
    """The same file as of the command, which the notebook contains; errors name the option."""
    made = md.movie(run, tmp_path / "one.mp4", size=(160, 120), fps=10, seconds=1.2, camera=(10, 20))
    assert movie(run, "--size", "160x120", "--fps", "10", "--seconds", "1.2", "--camera", "10,20") == 0
    assert made.path.read_bytes() == (run / "two.mp4").read_bytes() and repr(made) == f"Movie('{tmp_path / 'one.mp4'}')"
    page = made._repr_html_()
    kept = page.partition("base64,")[2].partition('"')[0]
    assert "<video" in page and base64.b64decode(kept) == made.path.read_bytes()
    frames = md.Frames(tmp_path / "series")
    sim = md.Simulation(md.Material(1e9, 0.1), dt=1e-4)
    sim.add_clumps(BALL, (0, 0, 0), velocity=(1, 0, 0))
    sim.run(200, every=100, callback=frames)
    made = md.movie(frames, tmp_path / "two.gif", size=(64, 48), color="solid", transparent_walls=True)
    assert "<img src=" in made._repr_html_()
    assert md.movie(frames, size=(64, 48)).path == tmp_path / "series" / "series.mp4"
    for options, message in (({"size": (161, 120)}, "two even numbers"), ({"contacts": True}, "has no contacts"),
                             ({"path": "movie.avi"}, "does not end in"), ({"fps": -1}, "--fps")):
        with pytest.raises(ValueError, match=message):
            md.movie(frames, **options)


def test_a_picture_that_follows_a_run(monkeypatch):
    """One display, which is updated; in a script the remedy is named."""
    shown, sim = [], md.Simulation(md.Material(1e9, 0.1), dt=1e-4)
    sim.add_clumps(BALL, [(0, 0, 0), (0, 0, 1)], velocity=[(1, 0, 0), (0, 0, 0)])
    live = md.Live(color="speed", size=(64, 48))
    with pytest.raises(RuntimeError, match=r"md\.Frames and md\.movie"):
        sim.run(30, every=10, callback=live)
    handle = SimpleNamespace(update=lambda picture: shown.append(("update", picture.size)))

    def display(picture, display_id):
        shown.append(("display", picture.size))
        return handle

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(
        get_ipython=lambda: object(), display=SimpleNamespace(display=display)))
    sim.run(20, every=10, callback=live)
    assert shown == [("display", (64, 48)), ("update", (64, 48)), ("update", (64, 48))]


@pytest.mark.parametrize("words, message", [
    (["--color", "mass"], "color: the frames have no field 'mass'; known are solid, speed, radius, clump, velocity,"),
    (["--colormap", "nothing"], "colormap: 'nothing' is unknown"),
    (["--background", "nothing"], "background: 'nothing' is no colour"),
    (["--camera", "0,0,0"], "camera: '0,0,0'; give azimuth,elevation"),
    (["--size", "161x120"], "give two even numbers from 16 to 4096 as in 1280x720, not '161x120'"),
    (["--out", "movie.avi"], "--out: movie.avi does not end in .mp4 or .gif"),
    (["--out", "nowhere/movie.mp4"], "--out: there is no folder nowhere"),
    (["--contacts"], "two.pvd has no contacts at 3 of 3 times, the first 0 s; run the scenario with --contacts")])
def test_bad_arguments(run, words, message, capsys, here):
    (run / "two.mp4").unlink(missing_ok=True)
    assert movie(run, *words) == 2 and message in capsys.readouterr().err
    assert not list(here.iterdir()) and not list(run.glob("*.mp4")) and not list(run.glob(".minidem*"))


def test_folders_without_frames_and_what_is_not_installed(run, tmp_path, monkeypatch, capsys):
    def refused(path, status, words):
        assert movie(path) == status and re.search(words, capsys.readouterr().err)
    refused(tmp_path / "missing", 2, "there is no folder")
    refused(tmp_path, 2, r"has no frames \(\*.pvd\); run the scenario with --frames")
    vtu.Pvd(tmp_path / "empty.pvd").write()
    refused(tmp_path, 2, "lists no frames")
    (tmp_path / "other.pvd").write_text("")
    refused(tmp_path, 2, "has several series")
    (tmp_path / "empty.pvd").write_text((run / "two.pvd").read_text())
    refused(tmp_path / "empty.pvd", 2, "there is no file")
    for name in ("pyvista", "imageio_ffmpeg"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            refused(run, 1, rf"need the package {name}.*\n.*-m pip install pyvista imageio-ffmpeg")
    monkeypatch.setenv("VTK_DEFAULT_OPENGL_WINDOW", "vtkOSOpenGLRenderWindow")
    monkeypatch.setattr(scene, "find_library", lambda name: None)
    refused(run, 1, "apt-get install libegl1")


def test_a_sphere_that_fills_the_picture_is_whole():
    """Its outline has no straight sides, and the scale of lengths agrees with its diameter."""
    shown = still([(0.0, 0.0, 0.0)], size=(640, 480))
    disc = np.any(shown[:435, 100:540] < 245, axis=-1)          # without time, axes and scale
    rows, columns = (disc.sum(axis=axis) for axis in (1, 0))
    width, height = np.count_nonzero(columns), np.count_nonzero(rows)
    assert width == pytest.approx(height, rel=0.02) and height > 300 and max(rows[rows > 0][[0, -1]]) < 0.16 * width
    position, focus, _, _ = scene.view(scene.CAMERA, np.array([(-0.1,) * 3, (0.1,) * 3]), 4 / 3)
    bar = (shown[440:, 480:].max(axis=-1) < 120).sum(axis=1).max()                   # the longest dark row
    outline = 0.2 / math.sqrt(1.0 - (0.1 / np.linalg.norm(position - focus)) ** 2)  # wider than the diameter
    assert outline * bar / width == pytest.approx(scene.nice_length(scene.SCALE * 640 / width * 0.2)[0], rel=0.02)
    lengths = [scene.nice_length(longest)[1] for longest in (0.99, 0.0999, 7e-6, 31.0)]
    assert lengths == ["0.5 m", "50 mm", "5 µm", "20 m"]


def test_walls(tmp_path):
    """Walls of every kind are seen, do not hide spheres, and are glass if wanted; a periodic box has twelve edges."""
    kinds = [(md.box_walls((0, 0, 0), (1, 1, 1)), 6, 0, None), ([md.MeshWall(PLATE)], 0, 2, (True, True, False)),
             ([md.Cylinder((0.5, 0.5, -0.5), (1, 0, 0), 0.4, outside=True)], 0, 96, (True, False, False)),
             ([], 0, 0, (True, True, True))]
    for walls, planes, others, axes in kinds:
        shown = still([(0.3, 0.5, 0.5), (0.7, 0.5, 0.5)], walls=walls)
        light = (shown.sum(axis=-1) < 750) & ~coloured(shown)
        assert coloured(shown).sum() > 200 and (light[30:110].mean() > 0.1) == bool(walls)
        periodic = ((0, 0, 0), (1, 1, 1), axes) if axes else None
        sim = md.Simulation(md.Material(1e9, 0.1), walls, dt=1e-5, periodic=periodic)
        sim.add_clumps(BALL, [(0.5, 0.5, 0.5)])
        write_walls(tmp_path / "walls.vtu", sim)
        found = scene.split_walls(render.read(tmp_path / "walls.vtu"))
        assert [mesh.n_cells for mesh in found] == [planes, others, 12 if axes else 0]
        solid, glass = (np.asarray(md.show(sim, color="solid", size=(200, 150),
                                           transparent_walls=transparent)).astype(int)
                        for transparent in (False, True))
        assert 100 < coloured(solid).sum() < 0.2 * solid[..., 0].size       # the camera shows the box
        assert np.any(solid != glass) == (planes > 0)


def test_contacts_are_tubes():
    """Their heights in the picture are as the forces, and their colours differ."""
    sim = md.Simulation(md.Material(1e6, 0.1), dt=1e-6)
    sim.add_clumps(BALL, [(0, 0, 0), (0.198, 0, 0), (0.39, 0, 0)])
    shown = np.asarray(md.show(sim, contacts=True, camera="y", size=(640, 480))).astype(int)
    heights = np.array([coloured(shown[:, :540])[:, column].sum() for column in (190, 350)])
    expected = np.linalg.norm(sim.contacts()["force"], axis=1)
    assert heights[1] > 50 and heights[0] / heights[1] == pytest.approx(expected[0] / expected[1], abs=0.04)
    assert np.ptp(shown[240, 190] - shown[240, 350]) > 50
    assert 180 < shown[185, 275].min() == shown[185, 275].max() < 250       # a ball, above the tubes


def test_movie_of_contacts_and_walls_that_move(tmp_path):
    """A plate moves away from two balls that touch only at first; frames have the walls and contacts of their time."""
    walls = [md.MeshWall(PLATE, velocity=(0, 0, -1.0)), md.Plane((0, 0, -1.0), (0, 0, 1))]
    sim = md.Simulation(md.Material(1e6, 0.1), walls, dt=1e-4)
    sim.add_clumps(BALL, [(0.4, 0.5, 0.5), (0.598, 0.5, 0.5)])
    frames = md.Frames(tmp_path / "two", contacts=True)
    frames(sim)
    sim.run(4000, every=4000, callback=frames)
    assert movie(tmp_path / "two", "--contacts", "--size", "320x240") == 0
    first, second = pictures(tmp_path / "two" / "two.mp4")[0].astype(int)
    assert coloured(first[:, :270]).sum() > 100 > 10 > coloured(second[:, :270]).sum()
    assert np.abs(first - second)[:, :100].max() > 20
    planes, others, edges = scene.split_walls(render.read(tmp_path / "two" / "frames" / "two_000004000_walls.vtu"))
    assert (planes.n_cells, others.n_cells, edges.n_cells) == (1, 2, 0)


def test_values():
    """What is coloured by; the colours of a component of a vector are symmetric about 0, templates have one each."""
    frame = pyvista.PolyData(np.zeros((3, 3), np.float32))
    frame["radius"], frame["clump"], frame["template"] = np.array([[1.0, 1.0, 2.0], [4, 4, 7], [0, 2, 1]])
    frame["velocity"] = np.array([(3.0, 0, 0), (0, 4.0, 0), (0, 0, -2.0)])
    for name, expected, ends in (("speed", [2.5, 2.5, 2.0], (0.0, 2.5)), ("velocity", [3.0, 4.0, 2.0], (0.0, 4.0)),
                                 ("velocity_z", [0.0, 0.0, -2.0], (-2.0, 2.0)), ("radius", [1.0, 1.0, 2.0], (1.0, 2.0)),
                                 ("template", [0, 2, 1], (-0.5, 2.5))):
        assert colour.values(frame, name) == pytest.approx(expected) and colour.value_range([frame], name) == ends
    first, second, third = colour.values(frame, "clump")
    assert first == second != third
    assert colour.label("angular_velocity_x") == "angular velocity x (1/s)" and colour.label("clump") == ""
    for span, ticks in ((-0.5, 2.5), [0, 1, 2]), ((-0.5, 29.5), list(range(0, 30, 2))):
        assert colour.lookup_table("template", None, span).n_values == round(span[1] - span[0])
        assert colour.ticks("template", span).tolist() == ticks


def test_view(tmp_path):
    """The spheres with their diameters and speeds, the edges of a box, a mesh; nothing is loaded from a network."""
    pytest.importorskip("k3d")
    msgpack = pytest.importorskip("msgpack")
    sim = md.Simulation(md.Material(1e9, 0.1), [*md.box_walls((0, 0, 0), (1, 1, 1)), md.MeshWall(PLATE)], dt=1e-4)
    sim.add_clumps(BALL, [(0.5, 0.5, 0.3), (0.5, 0.5, 0.8)], velocity=[(1, 0, 0), (0, 3, 0)])
    shown = md.view(sim)
    shown.save(tmp_path / "view.html")
    assert (tmp_path / "view.html").read_text(encoding="utf-8") == shown.page
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=", shown.page) and "<iframe srcdoc=" in shown._repr_html_()
    data = min(re.findall(r"[A-Za-z0-9+/]{100,}={0,2}", shown.page), key=len)       # zlib of msgpack, in base64
    drawn = msgpack.unpackb(zlib.decompress(base64.b64decode(data)))["objects"]
    objects = {one["type"]: one for one in drawn}
    assert {"Points", "Lines", "Mesh"} <= set(objects)
    for name, expected in ("positions", sim.position), ("point_sizes", 2.0 * BALL.radii[0]), ("attribute", [1.0, 3.0]):
        found = objects["Points"][name]
        found = np.frombuffer(found["data"], dtype=found["dtype"]).reshape(found["shape"])
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=1e-6)


def test_what_cannot_be_shown(tmp_path):
    empty, full = (md.Simulation(md.Material(1e9, 0.1), dt=1e-5) for _ in range(2))
    full.add_clumps(BALL, [(0, 0, 0)])
    for call, message in ((lambda: md.show(empty), "there are no clumps to show"),
                          (lambda: md.view(empty), "there are no clumps to show"),
                          (lambda: md.show(full, size=(8, 8)), "size = .*from 16 to 4096"),
                          (lambda: md.show(full, color="speed", contacts=True),
                           "the contacts have no field 'speed'; known "
                           "are solid, force, normal_force"),
                          (lambda: md.view(full, color="taste"), "no field 'taste'"),
                          (lambda: md.view(full).save(tmp_path / "view.png"), "path.*html")):
        with pytest.raises(ValueError, match=message):
            call()
