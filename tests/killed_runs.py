"""Scenarios that are killed (SIGKILL) at random moments and continued, against runs that are not.

All the while a reader checks the files of the run: tables, series and frames are at every instant complete and
the beginning of those of the uninterrupted run. After each kill the checkpoint is valid and no older than
--checkpoint-every, counted from the last row of energy.csv. In the end all files are the same, byte for byte,
except times of the clock.

As a script:  killed_runs.py KILLS [SEED].  The runs are forked from that process, which has imported everything:
a start takes milliseconds, and the kills hit the run itself. Exit status 1: it prints what is wrong and keeps the
folder.
"""
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from minidem.output import npz_checksum
from minidem.scenario import plot

RUNS = {        # scenario: (options, steps between checkpoints)
    "rods_in_box": (["--time", "0.04", "--dt", "3.8e-5"], 30),
    "falling_fibres": (["--fibres", "9", "--time", "0.008", "--dt", "1e-5"], 20),
    "dense_rods": (["--rods", "60", "--thermalise", "0", "--time", "0.02", "--dt", "3.8e-5"], 15),
    "chess_in_box": (["--time", "0.003", "--dt", "1e-5"], 7),
}
SCENARIOS = {name: import_module(name).SCENARIO for name in RUNS}
SEEDED = {"rods_in_box", "dense_rods", "chess_in_box"}
PATIENCE = 0.15     # mean time to a kill, over the time that the undisturbed run takes


class Wrong(Exception):
    """A file is not what it must be."""


class Life:
    """One run of a scenario, and what it must leave behind."""

    def __init__(self, number, folder):
        self.name = list(RUNS)[number % len(RUNS)]
        options, self.period = RUNS[self.name]
        self.dt = float(options[-1])
        scenario = SCENARIOS[self.name]
        self.main = scenario.main
        seed = ["--seed", str(number)] if self.name in SEEDED else []
        self.options = [*options, *seed, "--frames", "9", "--threads", "1", "--quiet",
                        "--checkpoint-every", repr(self.period * self.dt)]
        scenario.build(scenario.parse(self.options))    # what it caches no child need compute
        self.folder = folder / f"{number}_{self.name}"
        self.model = folder / f"{number}_{self.name}_undisturbed"
        began = time.perf_counter()
        if os.waitpid(self.start(self.model), 0)[1] != 0:
            raise Wrong(f"{self.model}: the undisturbed run failed")
        self.seconds = time.perf_counter() - began
        self.tables = {name: (self.model / name).read_bytes() for name in ("energy.csv", "observables.csv")}
        self.series = frames_of(self.model / f"{self.name}.pvd")

    def start(self, out, *more):
        """The number of a new process that runs the scenario."""
        number = os.fork()
        if number == 0:
            status = 99
            try:
                status = self.main([*self.options, *more, "--out", str(out)])
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        return number

    def look(self):
        """Wrong unless tables and series, if they are there, are the beginning of what they will be."""
        for name, whole in self.tables.items():
            found = read(self.folder / name)
            if found is not None and not (whole.startswith(found) and found.endswith(b"\n")):
                raise Wrong(f"{self.folder / name} is not the beginning of that of the undisturbed run")
        path = self.folder / f"{self.name}.pvd"
        listed = frames_of(path)
        if listed != self.series[:len(listed)]:
            raise Wrong(f"{path}: {listed} is not the beginning of {self.series}")
        for _, file in listed:
            frame = read(self.folder / file)
            if frame is None and file not in [again for _, again in frames_of(path)]:
                continue            # taken off the list since
            if frame != (self.model / file).read_bytes():
                raise Wrong(f"{self.folder / file} is not that of the undisturbed run")

    def loss(self):
        """Steps from the checkpoint to the last row of energy.csv; None before there is a checkpoint."""
        rows = (read(self.folder / "energy.csv") or b"").splitlines()[1:]
        last = round(float(rows[-1].split(b",")[0]) / self.dt) if rows else 0
        if not resumable(self.folder):
            if last > 0:
                raise Wrong(f"{self.folder}: no checkpoint after {last} steps")
            return None
        path = self.folder / "checkpoint.npz"
        if not path.exists():
            path = self.folder / "checkpoint_before.npz"        # killed while the two were exchanged
        settings, _ = npz_checksum.read(path)
        lost = last - settings["step_count"]
        if lost > self.period:
            raise Wrong(f"{self.folder}: {lost} steps since the last checkpoint, not {self.period} at most")
        return max(0, lost)

    def compare(self):
        """Wrong unless all files are those of the undisturbed run."""
        found, expected = (content(folder) for folder in (self.folder, self.model))
        names = found.keys() | expected.keys()
        differing = sorted(name for name in names if found.get(name) != expected.get(name))
        if differing:
            raise Wrong(f"{self.folder}: these differ from the undisturbed run: {', '.join(differing)}")


def resumable(folder):
    """Whether a run in it got so far that it can be continued."""
    return any((folder / name).exists() for name in ("checkpoint.npz", "checkpoint_before.npz"))


def read(path):
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def frames_of(path):
    """(time, file) of the frames in a series; none without one."""
    text = read(path)
    if text is None:
        return []
    entries = ElementTree.fromstring(text).iter("DataSet")
    return [(entry.get("timestep"), entry.get("file")) for entry in entries]


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


def live(life, kills, rng, told):
    """Run `life` to its end through at most so many kills; returns how many there were."""
    killed = 0
    while True:
        process = life.start(life.folder, *(["--resume"] if resumable(life.folder) else []))
        moment = rng.exponential(PATIENCE * life.seconds) if killed < kills else threading.TIMEOUT_MAX
        end = threading.Timer(moment, os.kill, (process, signal.SIGKILL))
        end.start()
        try:
            while os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                life.look()
                told["looks"] += 1
        except BaseException:
            os.kill(process, signal.SIGKILL)
            raise
        finally:
            end.cancel()
            end.join()
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])     # frees its number
        life.look()
        if status != -signal.SIGKILL:
            if status != 0:
                raise Wrong(f"{life.folder}: exit status {status}")
            life.compare()
            return killed
        killed += 1
        lost = life.loss()
        told["before the first checkpoint"] += lost is None
        share = (lost or 0) / life.period
        told["largest loss, over the period"] = max(told["largest loss, over the period"], share)
        told["in the middle of writing"] += any(life.folder.rglob(".*"))


def main(kills, seed=1):
    rng, told, began = np.random.default_rng(seed), Counter(), time.perf_counter()
    killed = lives = 0
    folder = Path(tempfile.mkdtemp(prefix="killed_runs_"))
    warnings.filterwarnings("ignore", "dt = .* is above the Rayleigh step")     # of the chess pieces
    warnings.filterwarnings("error", ".*going on from")                 # no kill damages a checkpoint
    plot.save = lambda *_: False        # pictures tell nothing new and take longer than these runs
    try:
        while killed < kills:
            life = Life(lives, folder)
            killed += live(life, kills - killed, rng, told)
            lives += 1
            for done in (life.folder, life.model):
                shutil.rmtree(done)
    except (Wrong, ValueError, ElementTree.ParseError) as wrong:
        print(f"after {killed} kills: {wrong}")
        return 1
    shutil.rmtree(folder)
    print(f"{killed} kills of {lives} runs in {time.perf_counter() - began:.0f} s: all files as without. "
          f"{told['in the middle of writing']} came while a file was being written, "
          f"{told['before the first checkpoint']} before the first checkpoint. At most "
          f"{told['largest loss, over the period']:.0%} of the time between two checkpoints was lost. "
          f"{told['looks']} looks at the files found them whole.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
