"""The output folder of a run: the names of its files, and its checkpoints with their notes."""

import errno
import fcntl
import json
import os
import tempfile
from pathlib import Path

from minidem.output import checkpoint, remove_leftovers, to_disk
from minidem.simulation import Simulation


def check_writable(path, files=()):
    """ValueError unless files can be made in the folder, or in the nearest one above it that exists.

    files: paths in that folder that will be written, to see whether their names are too long.
    """
    if not os.fspath(path):
        raise ValueError("--out: '' is no folder; give one, '.' for the present one")
    try:
        above = Path(path).absolute()
        existing = next(folder for folder in (above, *above.parents) if folder.exists())
        if not existing.is_dir():
            raise ValueError(f"--out: {existing} is a file; give a folder")
        longest, whole = os.pathconf(existing, "PC_NAME_MAX"), os.pathconf(existing, "PC_PATH_MAX")
        for file in (Path(path), *files):
            if len(os.fsencode(file)) >= whole or any(len(os.fsencode(part)) > longest for part in file.parts):
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise ValueError(
            f"--out: cannot write in {path} ({error.strerror}); give another folder") from None


class RunFolder:
    """The files of the scenario `name` in the folder `out`.

    Two checkpoints are kept, the last and the one before it, each with the notes of the run: one that proves
    damaged costs the time between the two and no more.
    """

    def __init__(self, out, name):
        self.path = Path(out)
        self.energy = self.path / "energy.csv"
        self.observables = self.path / "observables.csv"
        self.picture = self.path / "energy.png"
        self.summary = self.path / "summary.json"
        self.series = self.path / f"{name}.pvd"
        self.walls = self.path / "walls.vtu"
        self.frames = self.path / "frames"
        self.checkpoint = self.path / "checkpoint.npz"
        self.earlier = self.path / "checkpoint_before.npz"
        self._next = self.path / "checkpoint_next.npz"
        self._results = (self.summary, self.picture, self.series, self.walls)
        self._last_is_good = False
        self._lock = None
        self._name = name

    def frame(self, step):
        """The file of the frame at a step."""
        return self.frames / f"{self._name}_{step:09d}.vtu"

    def start(self):
        """Make the folder its own, and remove what an earlier run of this scenario left in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.occupy()
        # First what would be continued, then the list of the frames, then the frames.
        for file in (self.earlier, self.checkpoint, *self._results):
            file.unlink(missing_ok=True)
        self.drop_frames()

    def occupy(self):
        """Keep other runs out until `leave`, and remove what a killed one was about to write."""
        self._lock = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.leave()
            raise BlockingIOError(f"another run is writing into {self.path}; "
                                  "wait for its end, or give another --out") from None
        except OSError:
            pass                # a file system without locks
        self._next.unlink(missing_ok=True)      # of one killed before the renaming; a link would become a checkpoint
        for folder in (self.path, self.frames):
            remove_leftovers(folder)

    def leave(self):
        """Let other runs in."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def drop_frames(self, keep=()):
        """Remove frames that the series no longer lists. keep: names of files."""
        for file in self.frames.glob(f"{self._name}_*.vtu"):
            if file.name not in keep:
                file.unlink()

    def checkpoints(self):
        """Those there are, the last one first."""
        return [file for file in (self.checkpoint, self.earlier) if file.exists()]

    def save(self, sim, notes, frames):
        """Save a checkpoint with its notes (a dictionary for JSON), after all that a run needs beside it.

        frames: those written since the last checkpoint.
        """
        beside = (self.energy, self.observables, self.series, self.walls, *frames)
        to_disk([file for file in beside if file.exists()])
        checkpoint.save(self._next, sim, notes)
        if self._last_is_good:
            os.replace(self.checkpoint, self.earlier)
        os.replace(self._next, self.checkpoint)
        self._last_is_good = True

    def load(self, file, physics, threads):
        """(simulation, notes) of one of the checkpoints.

        ChangedPhysics naming what differs if that run has other physics; ValueError with the reason if it is
        of no use.
        """
        sim, notes = checkpoint.load_with_notes(file, Simulation, threads)
        try:
            here, there = json.loads(json.dumps(physics)), dict(notes["physics"])
            schedule, spent = dict(notes["schedule"]), dict(notes["spent"])
            if not all(type(schedule[name]) is int and schedule[name] >= least
                       for name, least in (("steps", 1), ("rows", 1), ("frames", 0))):
                raise ValueError
            spent = {name: float(spent[name]) for name in ("steps", "loop_seconds", "wall_seconds")}
            said = {str(kind): str(text) for kind, text in notes.get("warnings", {}).items()}
            notes = {"physics": there, "schedule": schedule, "spent": spent, "warnings": said}
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ValueError(f"{file}: a checkpoint, but not of a run of a scenario") from None
        for name in [*here, *sorted(there.keys() - here.keys())]:       # followers last: `resolved`
            if here.get(name) != there.get(name):
                raise ChangedPhysics(
                    f"--{name.replace('_', '-')}: {here.get(name)} here, but {there.get(name)} in the run in "
                    f"{self.path}; continue with that value, or start anew without --resume")
        self._last_is_good = file == self.checkpoint
        return sim, notes


class ChangedPhysics(ValueError):
    """The run to continue computes something else."""
