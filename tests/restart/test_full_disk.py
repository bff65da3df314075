"""A full disk: errors name the file, old files stay, and a continued trajectory has every frame once."""
import os
import re
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
from processes import run
from trajectory_files import content, needs_gsd

import minidem as md

N = 300
ROD = md.ClumpTemplate([(-0.1, 0.0, 0.0), (0.1, 0.0, 0.0)], [0.1, 0.1], density=1000.0)


def row_of_rods():
    sim = md.Simulation(md.Material(1e7, 0.2), dt=1e-5)
    sim.add_clumps(ROD, [(0.5 * k, 0.0, 0.0) for k in range(N)], velocity=(0.0, 0.0, 1.0))
    return sim


@contextmanager
def full_at(size):
    """In the block no file of this process grows beyond `size` bytes; as on a full disk, OSError does not name it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 4000])
@pytest.mark.parametrize("method, name, file", [
    ("save", "a.npz", "a.npz"), ("write_vtu", "a.vtu", "a.vtu"), ("write_contacts", "a.vtu", "a.vtu"),
    ("write_lammps", "folder", "folder/spheres.data")])
@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read:UserWarning")
def test_the_error_names_the_file(method, name, file, size, tmp_path):
    sim = row_of_rods()
    sim.add_clumps(ROD, [(0.5 * k, 0.0, 0.199) for k in range(N)])         # contacts
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("old")
    with pytest.raises(OSError, match="File too large") as error, full_at(size):
        getattr(sim, method)(tmp_path / name)
    assert error.value.filename == str(tmp_path / file) and (tmp_path / file).read_text() == "old"
    assert list((tmp_path / file).parent.iterdir()) == [tmp_path / file]


@pytest.mark.parametrize("name, how", [
    *(pytest.param("a.gsd", how, marks=needs_gsd) for how in ("full", "full within a frame", "raises after a frame")),
    ("a.csv", "full"), ("a.csv", "raises after a frame")])
def test_a_continued_trajectory_has_every_frame(name, how, tmp_path, monkeypatch):
    """The callback fails at several sizes of the file, or by Ctrl-C after a frame, and is called again at its step."""
    if how == "full within a frame":                    # another program has taken the room that was there before
        monkeypatch.setattr("minidem.output.trajectory_gsd._reserve", lambda path, size=0: None)
    sim, path, failed = row_of_rods(), tmp_path / name, 0
    with md.Trajectory(tmp_path / f"whole_{name}") as whole, md.Trajectory(path) as trajectory:
        for step in range(10):
            sim.run(10)
            whole(sim)
            if how == "raises after a frame" and step in (3, 7):
                append = trajectory._file.append
                with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
                    patch.setattr(trajectory._file, "append", lambda sample: (append(sample), 1 / 0))
                    trajectory(sim)
                failed += 1
            for room in (0, 40, 3000) if how.startswith("full") and step in (3, 7, 8) else ():
                with pytest.raises(OSError, match="File too large") as error, full_at(path.stat().st_size + room):
                    trajectory(sim)
                assert error.value.filename == str(path)
                assert how != "full" or re.search("nothing of the frame at .* make room", str(error.value))
                failed += 1
            for _ in range(2):
                trajectory(sim)
    assert failed == (9 if how.startswith("full") else 2) and content(path) == content(tmp_path / f"whole_{name}")


ON_A_SMALL_DISK = """\
import gsd.hoomd
import minidem as md
sim = md.Simulation(md.Material(1e7, 0.2), dt=1e-5)
sim.add_clumps(md.ClumpTemplate([(-0.1, 0, 0), (0.1, 0, 0)], [0.1, 0.1], density=1000.0), [(0, 0, 0)])
with md.Trajectory("disk/a.gsd") as trajectory:
    sim.run(120, every=1, callback=trajectory)          # an index of 1024 entries, 609 in use
with open("disk/ballast", "wb", buffering=0) as ballast:
    try:
        while True:
            ballast.write(bytes(4096))
    except OSError:
        pass
    for step in range(4):
        sim.run(1)
        try:
            with md.Trajectory("disk/a.gsd", append=True) as trajectory:
                trajectory(sim)
        except OSError as error:
            print("full:", error.filename)
        else:
            print("written")
        if step == 1:
            ballast.truncate(0)
with gsd.hoomd.open("disk/a.gsd") as frames:
    print([round(frame.log["time"][0] / sim.dt) for frame in frames])
"""


@needs_gsd
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare and mount, for a small disk")
def test_a_full_disk_does_not_end_the_process(tmp_path):
    """gsd maps its index into memory, a part of which is not on the disk."""
    (tmp_path / "disk").mkdir()
    mount = ["unshare", "--mount", *["--user", "--map-root-user"] * (os.geteuid() != 0), "sh", "-c",
             'mount -t tmpfs -o size=256k minidem disk && exec "$@"', "sh"]
    if subprocess.run([*mount, "true"], cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("this user may not mount a disk of their own")
    *lines, steps = run(*mount, sys.executable, "-c", ON_A_SMALL_DISK, cwd=tmp_path).stdout.splitlines()
    assert lines == 2 * ["full: disk/a.gsd"] + 2 * ["written"] and steps == str([*range(1, 121), 123, 124])
