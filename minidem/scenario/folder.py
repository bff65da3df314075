"""The output folder of a run: the names of its files, and the checkpoint with its notes."""

import json
import tempfile
from pathlib import Path

from minidem.output import replace_text


def check_writable(path):
    """ValueError unless files can be made in the folder, or in the nearest one above it that exists."""
    try:
        above = Path(path).absolute()
        existing = next(folder for folder in (above, *above.parents) if folder.exists())
        if not existing.is_dir():
            raise ValueError(f"--out: {existing} is a file; give a folder")
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise ValueError(
            f"--out: cannot write in {path} ({error.strerror}); give another folder") from None


class RunFolder:
    """The files of the scenario `name` in the folder `out`."""

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
        self._notes = self.path / "checkpoint.json"
        self._name = name

    def frame(self, step):
        """The file of the frame at a step."""
        return self.frames / f"{self._name}_{step:09d}.vtu"

    def start(self):
        """Make the folder, and remove what an earlier run of this scenario left in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.drop_frames()
        for file in (self.checkpoint, self._notes, self.summary, self.picture, self.series, self.walls):
            file.unlink(missing_ok=True)

    def drop_frames(self, keep=()):
        """Remove frames that the series no longer lists. keep: names of files."""
        for file in self.frames.glob(f"{self._name}_*.vtu"):
            if file.name not in keep:
                file.unlink()

    def has_checkpoint(self):
        """Is there all that a run needs to go on?"""
        return all(file.exists() for file in (self.checkpoint, self._notes, self.energy, self.observables))

    def save(self, sim, notes):
        """Save a checkpoint and what belongs to it (a dictionary for JSON)."""
        sim.save(self.checkpoint)
        replace_text(self._notes, json.dumps(notes, indent=2) + "\n")

    def notes_for(self, physics):
        """The notes beside the checkpoint; ValueError naming what differs if that run has other physics."""
        notes = json.loads(self._notes.read_text(encoding="utf-8"))
        here, there = json.loads(json.dumps(physics)), notes["physics"]
        for name in sorted(here.keys() | there.keys()):
            if here.get(name) != there.get(name):
                raise ValueError(
                    f"--{name.replace('_', '-')}: {here.get(name)} here, but {there.get(name)} in the run in "
                    f"{self.path}; continue with that value, or start anew without --resume")
        return notes
