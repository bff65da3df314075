"""The output folder of a run: its file names and its checkpoints."""

import errno
import fcntl
import json
import os
import tempfile
from pathlib import Path

import numpy as np

from minidem.core.atomic import remove_leftovers, to_disk
from minidem.output import checkpoint
from minidem.simulation import Simulation


def check_writable(path, files=()):
    """Refuse a folder in which no file can be created.

    Parameters
    ----------
    path : path
        The folder, or where it will be created.
    files : sequence of paths
        Files that will be written in it; their names are checked for length.

    Raises
    ------
    ValueError
        Names --out and the reason.
    """
    if not os.fspath(path):
        raise ValueError("--out: '' is no folder; give one, '.' for the present one")
    try:
        above = Path(path).absolute()
        existing = next(folder for folder in (above, *above.parents) if folder.exists())
        if not existing.is_dir():
            raise ValueError(f"--out: {existing} is a file; give a folder")
        name_max, path_max = os.pathconf(existing, "PC_NAME_MAX"), os.pathconf(existing, "PC_PATH_MAX")
        for file in (Path(path), *files):
            if len(os.fsencode(file)) >= path_max or any(len(os.fsencode(part)) > name_max for part in file.parts):
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise ValueError(f"--out: cannot write in {path} ({error.strerror}); give another folder") from None


ALL = -1                                # clumps in the trajectory


class RunFolder:
    """The files of the scenario `name` in the folder `out`.

    The last two checkpoints are kept, each with the notes of the run, so that damage to one costs at most the time
    between the two.
    """

    def __init__(self, out, name):
        self.path = Path(out)
        self.energy = self.path / "energy.csv"
        self.observables = self.path / "observables.csv"
        self.wall_forces = self.path / "walls.csv"
        self.picture = self.path / "energy.png"
        self.summary = self.path / "summary.json"
        self.series = self.path / f"{name}.pvd"
        self.walls = self.path / "walls.vtu"
        self.trajectories = self.path / f"{name}.gsd", self.path / "trajectory.csv"     # at most one exists
        self.frames = self.path / "frames"
        self.checkpoint = self.path / "checkpoint.npz"
        self.earlier = self.path / "checkpoint_before.npz"
        self._next = self.path / "checkpoint_next.npz"
        self._last_is_good = False
        self._lock = None
        self._name = name

    def start(self):
        """Create and lock the folder, and remove the files of an earlier run of this scenario."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.lock()
        # First the checkpoints, then the list of frames, then the frames: no file refers to a missing one.
        for file in (self.earlier, self.checkpoint, self.summary, self.picture, self.series, self.walls,
                     self.wall_forces, *self.trajectories):
            file.unlink(missing_ok=True)
        for file in self.frames.glob(f"{self._name}_*.vtu"):
            file.unlink()

    def lock(self):
        """Lock the folder, and remove temporary files of killed runs; BlockingIOError if another run holds the lock."""
        self._lock = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.unlock()
            raise BlockingIOError(f"another run is writing into {self.path}; "
                                  "wait for its end, or give another --out") from None
        except OSError:
            pass                # a file system without locks
        self._next.unlink(missing_ok=True)      # left by a run killed before the renaming, or a symbolic link
        for folder in (self.path, self.frames):
            remove_leftovers(folder)

    def unlock(self):
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def checkpoints(self):
        """Existing checkpoints, the last one first."""
        return [file for file in (self.checkpoint, self.earlier) if file.exists()]

    def save(self, sim, notes, frames, snapshot=None):
        """Save a checkpoint with `notes`, after tables, series and `frames` (since the last one) are on the disk.

        snapshot : Snapshot of `sim`, optional; default: the present one.
        """
        synced = (self.energy, self.observables, self.wall_forces, self.series, self.walls, *self.trajectories, *frames)
        to_disk([file for file in synced if file.exists()])
        checkpoint.save(self._next, sim, notes, snapshot)
        if self._last_is_good:
            os.replace(self.checkpoint, self.earlier)
        os.replace(self._next, self.checkpoint)
        self._last_is_good = True

    def load(self, file, physics, threads):
        """(simulation, notes) of a checkpoint; ChangedPhysics if its physics differs, ValueError if it is unusable."""
        sim, notes = checkpoint.load(file, Simulation, threads)
        try:
            here, there = json.loads(json.dumps(physics)), dict(notes["physics"])
            schedule, spent = dict(notes["schedule"]), dict(notes["spent"])
            if not all(type(schedule[name]) is int and schedule[name] >= least for name, least in (
                    ("steps", 1), ("rows", 1), ("frames", 0), ("track", ALL), ("track_steps", 0))):
                raise ValueError
            spent = {name: float(spent[name]) for name in ("steps", "loop_seconds", "wall_seconds")}
            warnings = {str(kind): str(text) for kind, text in notes.get("warnings", {}).items()}
            reach = notes.get("reach") and np.array(notes["reach"], dtype=float).reshape(2, 3).tolist()
            notes = {"physics": there, "schedule": schedule, "spent": spent, "warnings": warnings, "reach": reach}
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ValueError(f"{file}: a checkpoint, but not of a run of a scenario") from None
        for name in [*here, *sorted(there.keys() - here.keys())]:       # derived options last: `resolve_defaults`
            if here.get(name) != there.get(name):
                raise ChangedPhysics(
                    f"--{name.replace('_', '-')}: {here.get(name)} here, but {there.get(name)} in the run in "
                    f"{self.path}; continue with that value, or start anew without --resume")
        self._last_is_good = file == self.checkpoint
        return sim, notes


class ChangedPhysics(ValueError):
    """The options differ from those of the run to continue."""
