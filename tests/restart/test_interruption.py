"""Runs interrupted by signals, a full disk, a lost folder, a damaged checkpoint are continued without a gap."""
import dataclasses
import fcntl
import os
import resource
import signal
import time

import killed_runs
import pytest
import rods_in_box
from killed_runs import RUNS as SHORT, SCENARIOS, Reader, assert_same, content, options_of, resumable
from processes import python

from minidem.output.table import Table
from minidem.scenario.run import Run

RODS, PERIOD, DT = SCENARIOS["rods_in_box"], SHORT["rods_in_box"][1], 3.8e-5
END = 0.04          # [s] of the rods
FEWER = 4           # times the period between checkpoints of the tool
pytestmark = pytest.mark.usefixtures("without_pictures")


def run(out, *more, scenario=RODS):
    return scenario.main([*options_of(scenario.name, out, 6, FEWER), *more])


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Folder of an uninterrupted run of each scenario, made on first use."""
    made = {}
    def folder(name="rods_in_box"):
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            assert run(made[name], scenario=SCENARIOS[name]) == 0
        return made[name]
    return folder


@pytest.fixture
def at(monkeypatch):
    """at(time, act): act() when the run has come past the time, between two pieces of it, once."""
    def arrange(moment, act):
        def show(run):
            if run.sim.time > moment and left:
                left.pop()()
        left = [act]
        monkeypatch.setattr(Run, "_show", show)
    return arrange


def signalled(number):
    return lambda: os.kill(os.getpid(), number)


@pytest.mark.filterwarnings("ignore:dt = .* is above the Rayleigh step")
@pytest.mark.parametrize("name, number", [("rods_in_box", signal.SIGINT), *((name, signal.SIGTERM) for name in SHORT)])
def test_every_scenario_goes_on_after_a_signal(name, number, uninterrupted, tmp_path, at):
    end = float(SHORT[name][0][SHORT[name][0].index("--time") + 1])
    for part in (0.3, 0.64):
        at(part * end, signalled(number))
        assert run(tmp_path, *(["--resume"] if part > 0.3 else []), scenario=SCENARIOS[name]) == 130
    assert run(tmp_path, "--resume", scenario=SCENARIOS[name]) == 0
    assert_same(tmp_path, uninterrupted(name))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_initial_state_is_made(number, tmp_path, capsys):
    def build(options):
        os.kill(os.getpid(), number)
        time.sleep(20.0)
    before = signal.getsignal(number)
    assert run(tmp_path / "out", scenario=dataclasses.replace(RODS, build=build)) == 130
    assert capsys.readouterr().err == "rods_in_box: interrupted; nothing was written\n"
    assert not (tmp_path / "out").exists() and signal.getsignal(number) is before


@pytest.mark.parametrize("room", [pytest.param(1100, marks=pytest.mark.slow), 70_000])
def test_no_room_for_a_file_that_grows(room, uninterrupted, tmp_path):
    """The kernel's own refusal, in the middle of a line too: no file may be larger than `room` bytes."""
    done = python(rods_in_box.__file__, *options_of("rods_in_box", tmp_path, 6, FEWER), fails=True,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    assert done.returncode == 1 and "Traceback" not in done.stderr and "failed" in done.stderr
    Reader(uninterrupted(), RODS.name).assert_beginning(tmp_path)
    saved = resumable(tmp_path)
    assert saved or room < 60_000
    assert run(tmp_path, *(["--resume"] if saved else [])) == 0
    assert_same(tmp_path, uninterrupted())


def interrupted(out, at):
    at(0.6 * END, signalled(signal.SIGINT))
    assert run(out) == 130


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def without_a_row(path):
    """As after a power cut on a disk that promises more than it keeps."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]) + lines[-2][:9])


@pytest.mark.parametrize("file, damage, said", [
    ("checkpoint.npz", cut, r"checkpoint\.npz: damaged or cut off"),
    ("observables.csv", without_a_row, "observables.csv has not all rows"),
    pytest.param("energy.csv", without_a_row, "energy.csv has not all rows", marks=pytest.mark.slow)])
def test_resume_from_the_checkpoint_before(file, damage, said, uninterrupted, tmp_path, at):
    interrupted(tmp_path, at)
    damage(tmp_path / file)
    before = int(0.6 * END / DT) // (FEWER * PERIOD) * FEWER * PERIOD * DT
    with pytest.warns(UserWarning, match=rf"{said}.*going on from .*checkpoint_before\.npz, at {before:g} s"):
        assert run(tmp_path, "--resume") == 0
    assert_same(tmp_path, uninterrupted())


def test_without_a_valid_checkpoint_nothing_is_changed(tmp_path, at, capsys):
    interrupted(tmp_path, at)
    (tmp_path / "checkpoint.npz").write_bytes(b"PK")
    RODS.build(RODS.parse([])).save(tmp_path / "checkpoint_before.npz")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert run(tmp_path, "--resume") == 2
    said = capsys.readouterr().err
    assert "no checkpoint is of use" in said and "cut off" in said and "not of a run of a scenario" in said
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_two_runs_in_one_folder_are_refused(uninterrupted, capsys):
    before, folder = content(uninterrupted()), os.open(uninterrupted(), os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        for more in ([], ["--resume"]):
            assert run(uninterrupted(), *more) == 1
            said = capsys.readouterr().err
            assert "another run is writing into" in said and "--resume" not in said
    finally:
        os.close(folder)
    assert content(uninterrupted()) == before


# --- Killed processes (SIGKILL) and concurrent readers: no incomplete file is ever seen or left.

@pytest.mark.parametrize("kills", [5, pytest.param(500, marks=pytest.mark.slow)])
def test_random_kills(kills):
    assert python(killed_runs.__file__, kills, timeout=None).stdout.startswith(f"{kills} kills of ")


@pytest.mark.parametrize("there", [b"", b"x,y\n", b"time,a\n1\n", b"time,a\n1,2,3\n", b"time,a\n1,two\n",
                                   b"\xff\xfe\n"])
def test_invalid_table_is_refused(there, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(there)
    with pytest.raises(ValueError, match="table.csv"):
        Table(path, ["a"], keep=lambda time: True)
    assert path.read_bytes() == there
