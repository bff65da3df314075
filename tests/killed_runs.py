"""Scenarios that are killed (SIGKILL) at random moments and continued, against runs that are not.

A reader checks all the while that tables, series and frames are complete, and equal the beginning of the whole run's.
After each kill the checkpoint is valid and no older than --checkpoint-every. In the end all files are the same, except
times of the clock. As a script:  killed_runs.py KILLS [SEED].  Runs are forked from a process that has imported all."""
import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from minidem.output import npz_checksum
from minidem.scenario import plot
from minidem.scenarios import module_of

RUNS = {        # scenario: (options, steps between checkpoints)
    "rods_in_box": (["--time", "0.04", "--dt", "3.8e-5"], 30),
    "falling_fibres": (["--fibres", "9", "--time", "0.008", "--dt", "1e-5"], 20),
    "dense_rods": (["--rods", "60", "--thermalise", "0", "--time", "0.02", "--dt", "3.8e-5"], 15),
    "chess_in_box": (["--time", "0.003", "--dt", "1e-5"], 7),
}
SCENARIOS = {name: module_of(name).SCENARIO for name in RUNS}
MEAN_LIFE = 0.15        # mean time to a kill, in times that the uninterrupted run takes


def read(path):
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def frames_of(path):
    text = read(path)
    entries = [] if text is None else ElementTree.fromstring(text).iter("DataSet")
    return [(entry.get("timestep"), entry.get("file")) for entry in entries]


def columns(path):
    return np.genfromtxt(path, delimiter=",", names=True)


def watching(value):
    """rods_in_box with another function of the simulation as its observable."""
    rods = SCENARIOS["rods_in_box"]
    return replace(rods, observables=(replace(rods.observables[0], value=value),))


def resumable(folder):
    """Whether there is a checkpoint. A kill can come while the two are exchanged."""
    return any((folder / name).exists() for name in ("checkpoint.npz", "checkpoint_before.npz"))


def content(folder):
    """Name -> what must be the same, of all files but pictures."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".npz":
            settings, arrays = npz_checksum.read(path)
            settings["notes"]["spent"] = None
            found[name] = settings, {key: array.tobytes() for key, array in arrays.items()}
        elif path.name == "summary.json":
            entries = json.loads(path.read_text())
            found[name] = {key: entries[key] for key in entries if key not in ("wall_seconds", "us_per_step")}
        elif path.is_file() and path.suffix != ".png":
            found[name] = path.read_bytes()
    return found


def assert_same(out, whole):
    """All files are the same, except times of the clock, and nothing else is there."""
    found, expected = content(out), content(whole)
    assert found.keys() == expected.keys() and [name for name in found if found[name] != expected[name]] == []


class Reader:
    def __init__(self, whole, name):
        self.whole, self.name = whole, name
        self.tables = {table: (whole / table).read_bytes() for table in ("energy.csv", "observables.csv")}
        self.series = frames_of(whole / f"{name}.pvd")

    def assert_beginning(self, out):
        """Tables, series and frames in `out` are complete and equal the beginning of the whole run's."""
        for table, complete in self.tables.items():
            found = read(out / table)
            assert found is None or complete.startswith(found) and found.endswith(b"\n"), f"{out / table}"
        path = out / f"{self.name}.pvd"
        listed = frames_of(path)
        assert listed == self.series[:len(listed)], f"{path}"
        for _, file in listed:
            frame = read(out / file)
            if frame is not None or file in [again for _, again in frames_of(path)]:    # else removed from it since
                assert frame == (self.whole / file).read_bytes(), f"{out / file}"


def options_of(name, out, frames, periods=1):
    """Options of a run whose checkpoints are `periods` times as far apart as RUNS says."""
    given, period = RUNS[name]
    return [*given, "--frames", str(frames), "--threads", "1", "--quiet", "--checkpoint-every",
            repr(periods * period * float(given[-1])), "--out", str(out)]


def start(main, arguments):
    number = os.fork()
    if number == 0:
        status = 99
        try:
            status = main(arguments)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return number


def assert_checkpoint(out, dt, period):
    """Valid and no older than `period` steps, seen from the last row of energy.csv; there, if steps were made."""
    rows = (read(out / "energy.csv") or b"").splitlines()[1:]
    last = round(float(rows[-1].split(b",")[0]) / dt) if rows else 0
    if not resumable(out):
        assert last == 0, f"{out}: no checkpoint after {last} steps"
        return
    path = out / "checkpoint.npz"
    settings, _ = npz_checksum.read(path if path.exists() else out / "checkpoint_before.npz")
    assert last - settings["step_count"] <= period, f"{out}: {last} steps, checkpoint at {settings['step_count']}"


def kill_and_resume(folder, number, kills, rng):
    """A run with at most so many kills; returns how many there were."""
    name = list(RUNS)[number % len(RUNS)]
    (given, period), scenario = RUNS[name], SCENARIOS[name]
    dt = float(given[-1])
    whole, out = folder / f"{number}_whole", folder / f"{number}"
    first, again = (options_of(name, place, 9) + (["--seed", str(number)] if name != "falling_fibres" else [])
                    for place in (whole, out))
    scenario.build(scenario.parse(first))           # what it caches no child need compute
    began = time.perf_counter()
    assert os.waitpid(start(scenario.main, first), 0)[1] == 0
    seconds, reader = time.perf_counter() - began, Reader(whole, name)
    for killed in range(kills + 1):
        process = start(scenario.main, [*again, *(["--resume"] if resumable(out) else [])])
        moment = rng.exponential(MEAN_LIFE * seconds) if killed < kills else threading.TIMEOUT_MAX
        timer = threading.Timer(moment, os.kill, (process, signal.SIGKILL))
        timer.start()
        try:
            while os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                reader.assert_beginning(out)
        except BaseException:
            os.kill(process, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
            timer.join()
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])     # frees its number
        reader.assert_beginning(out)
        if status != -signal.SIGKILL:
            assert status == 0, f"{out}: exit status {status}"
            assert_same(out, whole)
            return killed
        assert_checkpoint(out, dt, period)


def main(kills, seed=1):
    rng, killed, runs = np.random.default_rng(seed), 0, 0
    warnings.filterwarnings("ignore", "dt = .* is above the Rayleigh step")     # of the chess pieces
    warnings.filterwarnings("error", ".*going on from")                 # no kill damages a checkpoint
    plot.save = lambda *_: False        # pictures take longer than these runs
    with tempfile.TemporaryDirectory() as folder:
        while killed < kills:
            killed += kill_and_resume(Path(folder), runs, kills - killed, rng)
            runs += 1
    print(f"{killed} kills of {runs} runs")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
