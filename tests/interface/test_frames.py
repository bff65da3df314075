"""Frames and tables, written in the background by scenarios and in callbacks of scripts: bytes, order, errors."""
import errno
import os
import signal
import threading
import time

import meshio
import numpy as np
import pytest
from killed_runs import watching
from rods_in_box import SCENARIO as RODS
from scenes import MOTIONS, gas

import minidem as md
from minidem.output import vtu
from minidem.scenario import plot
from minidem.scenario.run import Run

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")
RUN = ["--time", "0.02", "--frames", "6", "--seed", "3", "--quiet"]


def main(out, *arguments, scenario=RODS):
    return scenario.main([*RUN, "--out", str(out), *arguments])


def files(out):
    return {path.name: path.read_bytes() for path in [out / "rods_in_box.pvd", *(out / "frames").iterdir()]}


@pytest.fixture(scope="module")
def synchronous(tmp_path_factory):
    """Folder of a run that writes each frame before its next step."""
    out = tmp_path_factory.mktemp("synchronous")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "_in_background", lambda self, function, *arguments: function(*arguments))
        assert main(out) == 0
    assert len(files(out)) == 7
    return out


@pytest.fixture
def writing(monkeypatch):
    """A function that sets what precedes the writing of each frame, in its thread: act(number of the frame)."""
    def setting(act):
        numbers, write = iter(range(1000)), meshio.vtu.write
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
    assert main(tmp_path) == 0 and files(tmp_path) == files(synchronous)
    [thread] = threads
    assert thread is not threading.main_thread() and not thread.is_alive()


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
    assert main(tmp_path) == 0 and held == [2, 2, 2, 2, 2, 1]


def test_full_disk(synchronous, writing, tmp_path, capsys):
    """The message names the file. Earlier frames and the series stay, and there is no later frame or checkpoint."""
    def fail(k):
        if k == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    writing(fail)
    assert main(tmp_path) == 1
    expected, found, said = files(synchronous), files(tmp_path), capsys.readouterr().err
    names = sorted(name for name in expected if name.endswith(".vtu"))
    assert "rods_in_box: failed: [Errno 28] No space left on device" in said and names[2] in said
    assert found.pop("rods_in_box.pvd").count(b"timestep") == 2
    assert found == {name: expected[name] for name in names[:2]}
    assert not (tmp_path / "summary.json").exists() and not (tmp_path / "checkpoint.npz").exists()


@pytest.mark.parametrize("signals", [1, 2])
def test_interrupted_while_a_frame_is_written(signals, synchronous, writing, tmp_path, capsys):
    """The frame is finished, by the second signal too, and the run can be continued to the same files."""
    begun, sent, options = threading.Event(), [], ["--checkpoint-every", "0.003"]
    def slowly(number):
        if number == 2:
            begun.set()
            time.sleep(0.2)
    def interrupt(sim):
        if begun.is_set() and not sent:
            sent.append(True)
            for _ in range(signals):
                os.kill(os.getpid(), signal.SIGINT)
        return 0.0
    writing(slowly)
    assert main(tmp_path, *options, scenario=watching(interrupt)) == 130 and sent
    assert ("the last checkpoint is complete, --resume continues" in capsys.readouterr().err) == (signals == 2)
    found = files(tmp_path)
    listed = found.pop("rods_in_box.pvd")
    assert len(found) >= 3 and all(name.encode() in listed for name in found)
    assert main(tmp_path, *options, "--resume", scenario=watching(lambda sim: 0.0)) == 0
    assert files(tmp_path) == files(synchronous)


def test_files_of_a_script(synchronous, tmp_path):
    """Those of a scenario, and its energies; after a restart the series continues, and later frames are replaced."""
    sim, out, expected = RODS.build(RODS.parse(RUN)), tmp_path / "rods_in_box", files(synchronous)
    steps = sorted(int(name[-13:-4]) for name in expected if name.endswith(".vtu"))
    def run(sim, frames, last):
        for step in steps:
            if sim.step_count <= step <= last:
                sim.run(step - sim.step_count)
                frames(sim)
                frames(sim)                                     # a second time: nothing
    run(sim, md.Frames(out), steps[3])
    sim.save(tmp_path / "state.npz")
    run(sim, md.Frames(out, append=True), steps[-1])
    assert files(out) == expected and (out / "walls.vtu").exists()
    again, frames = md.Simulation.load(tmp_path / "state.npz"), md.Frames(out, append=True)
    frames(again)
    assert [path.name for path in sorted((out / "frames").iterdir())] == sorted(expected)[1:5]
    run(again, frames, steps[-1])
    assert files(out) == expected
    md.Frames(out)(again)                                       # a new series
    assert len(files(out)) == 2
    table, sim = (synchronous / "energy.csv").read_text(), RODS.build(RODS.parse(RUN))
    with md.Table(tmp_path / "script" / "energy.csv") as rows:
        for line in table.splitlines()[1:]:
            sim.run(round(float(line.split(",")[0]) / sim.dt) - sim.step_count)
            rows(sim)
            rows(sim)
    assert (tmp_path / "script" / "energy.csv").read_text() == table


def test_functions_and_restart(tmp_path):
    columns = {("vx", "vy", "vz"): lambda sim: sim.velocity[0], "n": lambda sim: len(sim.contacts())}
    sim, whole = gas(MOTIONS["shear"], n=50, speed=3.0), md.Table(tmp_path / "whole.csv", columns)
    energies = md.Table(tmp_path / "energy.csv")
    sim.run(300, every=100, callback=lambda sim: (whole(sim), energies(sim)))
    assert whole["vz"][-1] == sim.velocity[0, 2] and whole["n"].tolist()[-1] == len(sim.contacts())
    assert whole["time"] == pytest.approx(sim.dt * np.array([100, 200, 300]))
    assert energies["strain_shear"][-1] == sim.strain[3] and energies["work"][-1] == sim.energy().work
    sim, parts = gas(MOTIONS["shear"], n=50, speed=3.0), tmp_path / "parts.csv"
    with md.Table(parts, columns) as table:
        sim.run(200, every=100, callback=table)
        sim.save(tmp_path / "state.npz")
        sim.run(50, every=50, callback=table)
    sim = md.Simulation.load(tmp_path / "state.npz")
    table = md.Table(parts, columns, append=True)
    table(sim)                                                  # now, so that the row at 250 steps goes
    sim.run(100, every=100, callback=table)
    assert parts.read_text() == (tmp_path / "whole.csv").read_text()


def test_the_picture_of_a_table_is_drawn_once(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(plot, "energies", lambda path, *rest: drawn.append(path))
    with md.Table(tmp_path / "a.csv") as table:
        gas(MOTIONS["shear"], n=50).run(100, every=1, callback=table)
    assert len(table.rows) == 100 and drawn == [tmp_path / "a.png"]
