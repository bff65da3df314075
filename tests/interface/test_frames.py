"""Frames written in the background: equal bytes, order, errors, memory, interruption, and the choice of fields."""
import dataclasses
import errno
import os
import signal
import threading
import time

import meshio
import numpy as np
import pytest
from rods_in_box import SCENARIO as RODS

import minidem as md
from minidem.output import vtu
from minidem.output.background import Background
from minidem.scenario.run import Run

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")
RUN = ["--time", "0.02", "--frames", "6", "--seed", "3", "--quiet"]


def main(out, *arguments, scenario=RODS):
    return scenario.main([*RUN, "--out", str(out), *arguments])


def files(out):
    """Series and frames, and all else in their folder, by name."""
    return {path.name: path.read_bytes() for path in [out / "rods_in_box.pvd", *(out / "frames").iterdir()]}


@pytest.fixture(scope="module")
def synchronous(tmp_path_factory):
    """Files of a run that writes each frame before it goes on."""
    out = tmp_path_factory.mktemp("synchronous")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Background, "call", lambda self, function, *arguments: function(*arguments))
        assert main(out) == 0
    assert len(files(out)) == 7
    return files(out)


@pytest.fixture
def writing(monkeypatch):
    """A function that sets what precedes the writing of each frame, in its thread: act(number of the frame)."""
    def setting(act):
        numbers = iter(range(1000))
        write = meshio.vtu.write

        def acting(file, mesh, **options):
            if "vertex" in mesh.cells_dict:         # not the walls
                act(next(numbers))
            write(file, mesh, **options)
        monkeypatch.setattr(meshio.vtu, "write", acting)
    return setting


def test_equal_bytes(synchronous, writing, tmp_path):
    """Also if the run waits for the frames, whose threads are not the run's."""
    threads = set()

    def slowly(_):
        threads.add(threading.current_thread())
        time.sleep(0.01)

    writing(slowly)
    assert main(tmp_path) == 0
    assert files(tmp_path) == synchronous
    [thread] = threads
    assert thread is not threading.main_thread() and not thread.is_alive()


def test_a_frame_is_a_copy(tmp_path):
    sim = RODS.build(RODS.parse([]))
    sim.run(100)
    frame = vtu.Frame(sim)
    sim.write_vtu(tmp_path / "at_once.vtu")
    sim.run(100)
    frame.write(tmp_path / "later.vtu")
    assert (tmp_path / "later.vtu").read_bytes() == (tmp_path / "at_once.vtu").read_bytes()


def test_at_most_two_frames_in_memory(writing, tmp_path, monkeypatch):
    """One is being written while the next is copied; the run waits before a third."""
    copied, held = [0], []

    class Counted(vtu.Frame):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            copied[0] += 1

    monkeypatch.setattr(vtu, "Frame", Counted)

    def slowly(number):
        for _ in range(10_000):
            if copied[0] >= min(number + 2, 6):
                break
            time.sleep(0.001)
        time.sleep(0.1)             # longer than the run takes from frame to frame
        held.append(copied[0] - number)

    writing(slowly)
    assert main(tmp_path) == 0
    assert held == [2, 2, 2, 2, 2, 1]


def test_calls_keep_their_order_and_end_with_an_error():
    done = []
    with Background() as background:
        for k in range(50):
            background.call(done.append, k)
        background.wait(7)
        assert len(done) >= 43
        background.wait()
        assert done == list(range(50))
        background.call(int, "x")
        background.call(done.append, "left out")
        with pytest.raises(ValueError, match="'x'"):
            background.wait()
    assert done == list(range(50))


@pytest.mark.parametrize("number", [0, 2, 5], ids=["first", "third", "last"])
def test_full_disk(number, synchronous, writing, tmp_path, capsys):
    """The message names the file. Earlier frames and the series stay, and there is no later frame or checkpoint."""
    def fail(k):
        if k == number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    writing(fail)
    assert main(tmp_path) == 1
    names = sorted(name for name in synchronous if name.endswith(".vtu"))
    said = capsys.readouterr().err
    assert "rods_in_box: failed: [Errno 28] No space left on device" in said and names[number] in said
    found = files(tmp_path)
    assert found.pop("rods_in_box.pvd").count(b"timestep") == number
    assert found == {name: synchronous[name] for name in names[:number]}
    assert not (tmp_path / "summary.json").exists() and not (tmp_path / "checkpoint.npz").exists()


def watching(value):
    """The scenario with another function of the simulation as its observable."""
    return dataclasses.replace(RODS, observables=(dataclasses.replace(RODS.observables[0], value=value),))


def test_an_error_ends_a_run_at_the_next_row(writing, tmp_path):
    failed = threading.Event()

    def fail(_):
        failed.set()
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def wait(sim):
        assert sim.step_count == 0 or failed.wait(60)
        time.sleep(0.01)            # until the thread has ended the call
        return 0.0

    writing(fail)
    assert main(tmp_path, "--frames", "2", scenario=watching(wait)) == 1
    assert 1 < (tmp_path / "energy.csv").read_text().count("\n") < 10


@pytest.mark.parametrize("signals", [1, 2])
def test_interrupted_while_a_frame_is_written(signals, synchronous, writing, tmp_path):
    """The frame is finished, by the second signal too, and the run can be continued to the same files."""
    begun, threads = threading.Event(), set()

    def slowly(number):
        threads.add(threading.current_thread())
        if number == 2:
            begun.set()
            time.sleep(0.2)

    def interrupt(sim):
        if begun.is_set() and not sent:
            sent.append(True)
            for _ in range(signals):
                os.kill(os.getpid(), signal.SIGINT)
        return 0.0

    sent, options = [], ["--checkpoint-every", "0.003"]
    writing(slowly)
    assert main(tmp_path, *options, scenario=watching(interrupt)) == 130
    assert sent and not any(thread.is_alive() for thread in threads)
    found = files(tmp_path)
    listed = found.pop("rods_in_box.pvd")
    assert len(found) >= 3 and all(name.encode() in listed for name in found)
    assert main(tmp_path, *options, "--resume", scenario=watching(lambda sim: 0.0)) == 0
    assert files(tmp_path) == synchronous


CHOICES = {
    "all": vtu.FIELDS[:-1], "radius": ("radius",), "orientation,clump": ("radius", "clump", "orientation"),
    "velocity": ("radius", "velocity"), "angular_velocity,radius": ("radius", "angular_velocity"),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_fields(choice, tmp_path):
    """Those chosen have the bytes that they have among all, in the same order; `image` is for periodic boxes."""
    sim = RODS.build(RODS.parse([]))
    sim.run(50)
    sim.write_vtu(tmp_path / "all.vtu")
    sim.write_vtu(tmp_path / "some.vtu", fields=choice)
    sim.write_vtu(tmp_path / "list.vtu", fields=choice.split(",") if choice != "all" else None)
    whole, some = (meshio.read(tmp_path / name) for name in ("all.vtu", "some.vtu"))
    assert tuple(some.point_data) == CHOICES[choice]
    np.testing.assert_array_equal(some.points, whole.points)
    for name, values in some.point_data.items():
        np.testing.assert_array_equal(values, whole.point_data[name])
    assert (tmp_path / "some.vtu").read_bytes() == (tmp_path / "list.vtu").read_bytes()
    assert ((tmp_path / "some.vtu").read_bytes() == (tmp_path / "all.vtu").read_bytes()) == (choice == "all")


def test_fields_of_a_scenario(synchronous, tmp_path):
    """A continued run may choose others; all of them by default."""
    assert main(tmp_path, "--fields", "clump", "--time", "0.01") == 0
    assert main(tmp_path, "--fields", "velocity", "--resume") == 0
    fields = [tuple(meshio.read(path).point_data) for path in sorted((tmp_path / "frames").iterdir())]
    assert set(fields[:5]) == {("radius", "clump")} and set(fields[6:]) == {("radius", "velocity")}
    assert main(tmp_path, "--fields", "all") == 0
    assert files(tmp_path) == synchronous


@pytest.mark.parametrize("fields", ["speed", "velocity,speed", "velocity,", "", ["velocity", 3], [None], 5, {"clump"}])
def test_unknown_fields(fields, tmp_path):
    sim = RODS.build(RODS.parse([]))
    with pytest.raises(ValueError, match="fields.*radius, clump, velocity, angular_velocity, orientation"):
        sim.write_vtu(tmp_path / "a.vtu", fields=fields)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_share_of_a_large_run(tmp_path, monkeypatch):
    """A run of 1e5 spheres with 100 frames is held up less than 5 % of its time: by copying, and waiting for room.

    With -s the share is printed, and that of writing in the background.
    """
    spent = {}

    def timed(owner, name):
        function = getattr(owner, name)

        def timing(*arguments):
            start = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - start
        monkeypatch.setattr(owner, name, timing)

    for owner, name in ((Run, "execute"), (Run, "_write_frame"), (md.Frames, "write")):
        timed(owner, name)
    assert main(tmp_path, "--rods", "33334", "--time", "2", "--frames", "100") == 0
    held, written = (spent[name] / spent["execute"] for name in ("_write_frame", "write"))
    print(f"{spent['execute']:.0f} s, {100 * held:.1f} % of it for frames, whose writing takes {100 * written:.1f} %")
    assert held < 0.05


def test_frames_of_a_script(synchronous, tmp_path):
    """The files of a scenario; after a restart the series goes on, and frames of later times are replaced."""
    sim, out = RODS.build(RODS.parse(RUN)), tmp_path / "rods_in_box"
    steps = sorted(int(name[-13:-4]) for name in synchronous if name.endswith(".vtu"))

    def run(sim, frames, last):
        for step in steps:
            if sim.step_count <= step <= last:
                sim.run(step - sim.step_count)
                frames(sim)
                frames(sim)                                     # a second time: nothing

    run(sim, md.Frames(out), steps[3])
    sim.save(tmp_path / "state.npz")
    run(sim, md.Frames(out, append=True), steps[-1])
    assert files(out) == synchronous and (out / "walls.vtu").exists()
    again = md.Simulation.load(tmp_path / "state.npz")
    frames = md.Frames(out, append=True)
    frames(again)
    assert [path.name for path in sorted((out / "frames").iterdir())] == sorted(synchronous)[1:5]
    run(again, frames, steps[-1])
    assert files(out) == synchronous
    md.Frames(out)(again)                                       # a new series
    assert len(files(out)) == 2


def test_frames_with_contacts_and_moving_walls(tmp_path):
    sim = md.Simulation(md.Material(1e7, 0.2), [md.Plane((0, 0, 0), (0, 0, 1), velocity=(0, 0, 0.1))], dt=1e-4)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.1], density=1000.0), [(0, 0, 0.0999)])
    sim.run(20, every=10, callback=md.Frames(tmp_path / "a", contacts=True, fields="velocity", name="shaken"))
    names = sorted(path.name for path in (tmp_path / "a" / "frames").iterdir())
    assert names == [f"shaken_0000000{k}0{end}.vtu" for k in (1, 2) for end in ("", "_contacts", "_walls")]
    series = vtu.Pvd(tmp_path / "a" / "shaken.pvd", keep=lambda time: True)
    assert len(series.frames) == 6 and series.frames[-1][0] == sim.time
    mesh = meshio.read(tmp_path / "a" / "frames" / "shaken_000000010.vtu")
    assert set(mesh.point_data) == {"radius", "velocity"}
    for arguments, message in (({"fields": "speed"}, "fields: 'speed' is unknown"),
                               ({"contacts": 1}, "contacts = 1: give")):
        with pytest.raises(ValueError, match=message):
            md.Frames(tmp_path, **arguments)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "b.pvd").write_text("no series")
    with pytest.raises(ValueError, match="not a series of frames"):
        md.Frames(tmp_path / "b", append=True)(sim)


def test_arrays_of_a_script(tmp_path):
    """They are in the file by name, those of its clump at each sphere; what cannot be an array is refused."""
    sim = md.Simulation(md.Material(1e7, 0.2), dt=1e-4)
    rod = md.ClumpTemplate([(-0.1, 0, 0), (0.1, 0, 0)], [0.1, 0.1], density=1000.0)
    sim.add_clumps(rod, [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3)], velocity=(0, 0, 1))
    start, returned = sim.position.copy(), {"value": np.zeros(3)}
    sim.run(20, every=10, callback=md.Frames(tmp_path / "a", fields="clump", extra={
        "height": lambda sim: sim.position[:, 2], "displacement": lambda sim: sim.position - start}))
    data = meshio.read(tmp_path / "a" / "frames" / "a_000000020.vtu").point_data
    assert set(data) == {"radius", "clump", "height", "displacement"}
    np.testing.assert_array_equal(data["height"], sim.position[data["clump"], 2].astype(np.float32))
    np.testing.assert_array_equal(data["displacement"], (sim.position - start)[data["clump"]].astype(np.float32))

    frames = md.Frames(tmp_path / "b", extra={"own": lambda sim: returned["value"]})
    for value, message in ((np.zeros(3), r"has shape \(3,\); give shape \(4,\) or \(4, 3\)"), (None, "None has shape"),
                           (np.zeros((4, 2)), r"has shape \(4, 2\)"), ([(1, 2), (3,)], "rows of different lengths"),
                           (["a"] * 4, r"not real numbers; give real numbers of shape \(4,\)")):
        returned["value"] = value
        with pytest.raises(ValueError, match=rf"result of extra\['own'\] .*{message}"):
            frames(sim)
    returned["value"] = np.arange(4)
    frames(sim)                                                 # at the same time, after the error
    data = meshio.read(tmp_path / "b" / "frames" / "b_000000020.vtu").point_data
    assert data["own"].tolist() == data["clump"].tolist()
    sim.add_field("own", 1.0)
    with pytest.raises(ValueError, match=r"extra\['own'\]: .*field of this name already; give another name"):
        md.Frames(tmp_path / "c", extra=frames.extra)(sim)
    for extra, message in (({"velocity": np.zeros_like}, "name 'velocity' cannot be used; .* other than radius, clump"),
                           ({"a b": np.zeros_like}, "name 'a b' cannot"), ({1: np.zeros_like}, "name 1 cannot"),
                           ({"own": np.zeros(4)}, r"extra\['own'\] = array.*: give a function of \(simulation\)"),
                           ({"own": lambda: 1}, r"extra\['own'\] = .* it is called with \(simulation\)"),
                           (["own"], r"extra = \['own'\]: give a dict of names to functions")):
        with pytest.raises(ValueError, match=message):
            md.Frames(tmp_path, extra=extra)
