"""Atomic files: links, devices, pipes, permissions, long names, several and killed writers; full disks."""
import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path

import pytest
from processes import run
from trajectory_files import content, needs_gsd

import minidem as md
from minidem.core import atomic
from minidem.scenario import plot


def write(path):
    """As all files are written (tests/build/test_layers.py)."""
    atomic.replace_text(path, "content")


def reads(path):
    return path.read_text() == "content"


def test_links_at_the_temporary_name_are_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(atomic.secrets, "token_hex", lambda n: "0" * 2 * n)
    (tmp_path / (".minidem-" + 16 * "0" + ".npz")).symlink_to(victim)
    with pytest.raises(FileExistsError):
        write(tmp_path / "other.npz")
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("exists", [True, False])
def test_link_to_a_file(exists, tmp_path):
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target.npz"
    if exists:
        target.write_text("old")
    (tmp_path / "second").symlink_to("far/target.npz")
    (tmp_path / "first.npz").symlink_to("second")
    write(tmp_path / "first.npz")
    assert reads(target) and not target.is_symlink()
    assert (tmp_path / "first.npz").readlink() == Path("second") and (tmp_path / "second").is_symlink()


def test_circular_links(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write(tmp_path / "a")
    assert (tmp_path / "a").is_symlink() and len(list(tmp_path.iterdir())) == 2


def test_permissions_are_preserved(tmp_path):
    path, before = tmp_path / "file.npz", os.umask(0o027)
    try:
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640       # as open() makes it
        for mode in (0o600, 0o664, 0o755):
            path.chmod(mode)
            write(path)
            assert stat.S_IMODE(path.stat().st_mode) == mode and reads(path)
    finally:
        os.umask(before)


@contextmanager
def ordinary_user():
    """Run the block without root rights; yields a folder."""
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() == 0:
            os.chmod(folder, 0o777)
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            os.seteuid(os.getuid())
            os.chmod(folder, 0o700)


def test_read_only_files_and_folders():
    with ordinary_user() as folder:
        kept = folder / "kept.npz"
        kept.write_text("kept")
        kept.chmod(0o444)
        with pytest.raises(PermissionError, match=r"read-only.*kept\.npz"):
            write(kept)
        mine = folder / "mine"
        mine.mkdir()
        (mine / "file.npz").write_text("old")
        mine.chmod(0o555)
        with pytest.raises(PermissionError, match=r"its folder must be writable.*file\.npz"):
            write(mine / "file.npz")
        assert kept.read_text() == "kept" and (mine / "file.npz").read_text() == "old"
        mine.chmod(0o755)


def test_folders_and_pipes_are_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name, words in (("folder", "a folder"), ("pipe", "pipe"), ("link", "pipe")):
        with pytest.raises(OSError, match=rf"{words}.*{name}"):
            write(tmp_path / name)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode) and (tmp_path / "link").is_symlink()
    assert len(list(tmp_path.iterdir())) == 3


@pytest.fixture
def device(tmp_path):
    """A function that makes a device with a minor number (3: /dev/null, 7: /dev/full), which a failure may damage."""
    def make(minor):
        path = tmp_path / f"device{minor}"
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        except PermissionError:
            if os.geteuid() == 0:
                pytest.skip("as root without the right to make devices, the test could damage those of the machine")
            return {3: Path("/dev/null"), 7: Path("/dev/full")}[minor]
        return path
    return make


def test_devices_are_not_replaced(device):
    null, full = device(3), device(7)
    for path in null, full:
        with pytest.raises(OSError, match="a device"):
            write(path)
    assert stat.S_ISCHR(null.lstat().st_mode) and stat.S_ISCHR(full.lstat().st_mode)


@pytest.mark.parametrize("name", ["n" * 251 + ".npz", "n." + "s" * 253, "é" * 125 + ".npz"])
def test_the_longest_names(name, tmp_path):
    write(tmp_path / name)
    assert reads(tmp_path / name) and len(list(tmp_path.iterdir())) == 1


def test_too_long_name_is_refused_before_any_work(tmp_path):
    drawn = []
    with pytest.raises(OSError, match="File name too long"):
        plot.save(tmp_path / ("n" * 252 + ".png"), (1.0, 1.0), drawn.append)
    assert not drawn and not list(tmp_path.iterdir())


def test_threads_that_write_to_one_name(tmp_path):
    path, texts, failures = tmp_path / "a.txt", [100_000 * letter for letter in "ab"], []
    def save(text):
        try:
            for _ in range(200):
                atomic.replace_text(path, text)
        except BaseException as error:
            failures.append(error)
    atomic.replace_text(path, texts[0])
    threads = [threading.Thread(target=save, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert path.read_text() in texts
    assert not failures and len(list(tmp_path.iterdir())) == 1


def test_temporary_files_of_killed_writers_are_removed(tmp_path):
    """The file of a live writer stays."""
    (tmp_path / "frames").mkdir()
    program = ("import sys\nfrom minidem.core.atomic import replacing\n"
               "with replacing(sys.argv[1]) as path:\n"
               "    path.write_text('half')\n    print(path, flush=True)\n    sys.stdin.readline()\n")
    writers, files = [], []
    try:
        for name in ("energy.csv", "frames/rods_in_box_000000012.vtu", "observables.csv"):
            writers.append(subprocess.Popen([sys.executable, "-c", program, tmp_path / name], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        files = [Path(writer.stdout.readline().strip()) for writer in writers]
        assert all(file.read_text() == "half" for file in files)
        for writer in writers[:2]:
            writer.kill()
            writer.wait()
        (tmp_path / ".energy.csv").write_text("")
        for folder in (tmp_path, tmp_path / "frames"):
            atomic.remove_leftovers(folder)
        assert [file.exists() for file in files] == [False, False, True] and (tmp_path / ".energy.csv").exists()
        writers[2].communicate("go on\n", timeout=60)
        assert (tmp_path / "observables.csv").read_text() == "half" and not files[2].exists()
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()


def test_temporary_file_removed_before_it_is_locked(tmp_path, monkeypatch):
    lock, taken = atomic.fcntl.flock, []
    def late(descriptor, how):
        if not taken:
            taken.append(1)
            atomic.remove_leftovers(tmp_path)
        return lock(descriptor, how)
    monkeypatch.setattr(atomic.fcntl, "flock", late)
    write(tmp_path / "rod.txt")
    assert taken and [path.name for path in tmp_path.iterdir()] == ["rod.txt"]


# --- A full disk: errors name the file, old files stay, and a continued trajectory has every frame once.

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
    ("save", "a.npz", "a.npz"), ("io.write_vtu", "a.vtu", "a.vtu"),
    ("io.write_contacts", "a.vtu", "a.vtu"), ("io.write_lammps", "folder", "folder/spheres.data")])
@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read:UserWarning")
def test_the_error_names_the_file(method, name, file, size, tmp_path):
    sim = row_of_rods()
    sim.add_clumps(ROD, [(0.5 * k, 0.0, 0.199) for k in range(N)])         # contacts
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("old")
    with pytest.raises(OSError, match="File too large") as error, full_at(size):
        attrgetter(method)(sim)(tmp_path / name)
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
