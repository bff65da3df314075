"""Series of frames for ParaView and for movies: spheres, walls and contacts over time in one folder."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from minidem.analysis.wall_loads import WallLoads
from minidem.core.atomic import remove_leftovers
from minidem.core.checks import as_array, check_call, file_path, flag, real_array, short_repr
from minidem.output import vtu
from minidem.output.wall_shapes import reach, wall_mesh, write_walls


class Frames:
    """A folder to which each call adds a frame of all spheres: a callback of `Simulation.run`.

    ParaView opens NAME.pvd; ``minidem movie FOLDER`` makes a movie. A second call at the same time writes nothing.

    Parameters
    ----------
    folder : path
        Made at the first call. It gets NAME.pvd, walls.vtu and the folder `frames`.
    contacts : bool
        With the contacts of each frame as lines, for force chains and ``minidem movie --contacts``.
    fields : list of str, or str, optional
        Arrays of the spheres, as for `Simulation.io.write_vtu`. Default: all.
    append : bool
        Continue the series, if there is one, after its frames up to the time of the first call; later ones are removed.
        Default: replace it.
    name : str, optional
        NAME of the files. Default: the name of the folder.
    extra : dict, optional
        Names of further arrays of the spheres, each with a function of the simulation that returns a number or a vector
        for each clump, (n_clumps,) or (n_clumps, 3). Names as in Python, other than the names of `fields`.
    loads : WallLoads, optional
        Write walls with each frame, with the loads of their triangles, see `minidem.analysis.WallLoads`.

    Raises
    ------
    ValueError
        For an unknown field, names or functions of `extra` that cannot be used, or a file NAME.pvd to continue that is
        no series of frames; in a call for a function that returns something else, or the name of a field of the
        simulation.
    OSError
        In a call, if a file cannot be written.
    """

    def __init__(self, folder: str | Path, *, contacts: bool = False, fields: Iterable[str] | str | None = None,
                 append: bool = False, name: str | None = None, extra: Mapping[str, Callable] | None = None,
                 loads: WallLoads | None = None):
        self.folder, self.contacts, self.fields = file_path("folder", folder), flag("contacts", contacts), fields
        self.name, self._append = name or self.folder.absolute().name, flag("append", append)
        if name is not None and file_path("name", name).name != name:
            raise ValueError(f"name = {name!r}: give the name of the files alone; they are in folder = {str(folder)!r}")
        vtu.field_names(fields)
        self.extra = _checked({} if extra is None else extra)
        if not (loads is None or isinstance(loads, WallLoads)):
            raise ValueError(f"loads = {short_repr(loads)}: give minidem.analysis.WallLoads(), or None")
        self.loads = loads
        self.path, self.walls = self.folder / f"{self.name}.pvd", self.folder / "walls.vtu"
        self.files: list[Path] = []             # that were written
        self.reach: list | None = None          # of infinite walls in walls.vtu
        self.last: float | None = None          # time of the last frame
        self._series: Any = None
        self._walls_drawn: Any = False          # or the walls in walls.vtu

    def __call__(self, sim) -> None:
        if self._series is None:
            self.begin((lambda time: time <= sim.time) if self._append else None)
            self.open()
        taken = self.take(sim)
        if taken:
            self.write(*taken)

    def begin(self, keep: Callable | None = None) -> None:
        """Read the series; keep : as of `vtu.Pvd`. Nothing is written."""
        self._series = vtu.Pvd(self.path, keep)
        self.last = self._series.frames[-1][0] if self._series.frames else None
        self._walls_drawn = bool(self._series.frames)

    def open(self) -> None:
        """Make the folder, and remove the frames that are not kept; the list is written first."""
        frames = self.folder / "frames"
        frames.mkdir(parents=True, exist_ok=True)
        remove_leftovers(frames)
        self._series.write()
        kept = {file.rpartition("/")[2] for _, file in self._series.frames}
        for file in frames.glob(f"{self.name}_*.vtu"):
            if file.name not in kept:
                file.unlink()

    def file(self, step: int) -> Path:
        """Path of the file of spheres of the frame at a step."""
        return self.folder / "frames" / f"{self.name}_{step:09d}.vtu"

    def take(self, sim) -> tuple | None:
        """Copies of what `write` needs, for another thread; None if there is a frame of this time."""
        if self.last == sim.time:
            return None
        extra = {name: _of_clumps(name, function, sim) for name, function in self.extra.items()}
        self.last = sim.time                    # not before: a call whose function has failed can be repeated
        file = self.file(sim.step_count)
        if self.loads is not None:
            self.loads(sim)
        walls = wall_mesh(sim, loads=self.loads) if self.loads is not None or sim.reader.moves \
            or self._walls_drawn not in (True, False, sim.walls) else None
        if self.loads is not None:
            self.loads.restart()
        if not self._walls_drawn or walls is None and reach(sim, self.reach) != self.reach:
            self.reach, self._walls_drawn = reach(sim, self.reach), sim.walls   # beyond the clumps of all frames so far
            write_walls(self.walls, sim, self.reach)
        contacts = vtu.contact_mesh(sim) if self.contacts else None
        parts = {file.with_name(file.stem + end): mesh for end, mesh in zip(vtu.PARTS, (walls, contacts))
                 if mesh is not None}
        self.files += [file, *parts]
        return vtu.Frame(sim, True, self.fields, extra), file, parts, sim.time

    def write(self, frame, file, parts, time) -> None:
        """Write what `take` has returned."""
        frame.write(file)
        for part, mesh in parts.items():
            vtu.write_mesh(part, mesh, time)
        self._series.add(time, file, *parts)


def _checked(extra):
    """dict of names -> functions; ValueError for what cannot be arrays of a frame."""
    if not isinstance(extra, Mapping):
        raise ValueError(f"extra = {short_repr(extra)}: give a dict of names to functions of the simulation, "
                         "{'height': lambda sim: ...}")
    for name, function in extra.items():
        if not isinstance(name, str) or not name.isidentifier() or name in vtu.ARRAYS:
            raise ValueError(f"extra: the name {short_repr(name)} cannot be used; give a name as in Python, other than "
                             f"{', '.join(vtu.ARRAYS)}")
        check_call(f"extra[{name!r}]", function, "simulation")
    return dict(extra)


def _of_clumps(name, function, sim):
    """What a function of `extra` returns, as a copy."""
    if name in sim.reader.drawn():
        raise ValueError(f"extra[{name!r}]: frames have the field of this name already; give another name")
    what, n, values = f"result of extra[{name!r}]", sim.n_clumps, function(sim)
    remedy = f"give shape ({n},) or ({n}, 3), a number or a vector for each clump"
    shape = as_array(what, values, remedy).shape
    if shape not in ((n,), (n, 3)):
        raise ValueError(f"{what} = {short_repr(values)} has shape {shape}; {remedy}")
    return real_array(what, values, shape)
