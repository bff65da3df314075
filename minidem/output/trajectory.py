"""Trajectories of clumps: positions, orientations and velocities over time, in one GSD or CSV file."""
from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import as_array, file_path, flag, short_repr
from minidem.core.guard import exclusive
from minidem.core.interpreter import this_python
from minidem.output.table import Table

FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG
COLUMNS = ("time", "clump", *(f"{name}_{axis}" for name, axes in (
    ("position", "xyz"), ("orientation", "wxyz"), ("velocity", "xyz"), ("angular_velocity", "xyz")) for axis in axes))


class Trajectory(AbstractContextManager):
    """A file to which each call appends the state of clumps: a callback of `Simulation.run`.

    The first call opens the file. A second call at the same time writes nothing.

    Parameters
    ----------
    path : path
        NAME.gsd, which OVITO, freud and HOOMD-blue read and which needs the package gsd (extra `trajectories`), or
        NAME.csv.
    clumps : (n,) array_like of int, optional
        Ids of the clumps (`sim.ids`); those that are not present are omitted. Default: all.
    append : bool
        Continue the file, if it exists, after its rows or frames up to the time of the simulation; later ones are
        removed. Default: replace the file.

    Raises
    ------
    ValueError
        For another suffix, ids that are not whole numbers, or a file to continue that is no trajectory.
    ModuleNotFoundError
        For NAME.gsd without the package gsd.
    OSError
        In a call: the disk is full, or another program has deleted, replaced or changed the file; names the file, cause
        and remedy. Nothing of the frame is in the file then, and a further call at the same time writes it.

    Notes
    -----
    CSV: one row per clump and time with all digits, in the lab frame: `time` [s], `clump` (id), `position_x` ... of the
    centre of mass [m], without jumps in a periodic box, `orientation_w` ... (template frame to lab frame), `velocity_x`
    ... [m/s], `angular_velocity_x` ... [rad/s].

    GSD, schema hoomd, single precision, SI units: the guide (output) has a table. `position` + `log/origin` is in the
    lab frame.
    """

    def __init__(self, path: str | Path, *, clumps: ArrayLike | None = None, append: bool = False):
        self.path, self.continued = file_path("path", path, ".gsd", ".csv"), flag("append", append)
        self._file: Any = None
        self._written: tuple | None = None      # the status of the file when it was written last
        if self.path.suffix == ".gsd" and not has_gsd():
            raise ModuleNotFoundError(f"GSD files need the package gsd: {this_python()} -m pip install gsd; or give "
                                      "NAME.csv")
        if clumps is not None:
            clumps = as_array("clumps", list(clumps) if isinstance(clumps, Iterable) else clumps)
            if clumps.ndim != 1 or clumps.size and clumps.dtype.kind not in "iu":
                raise ValueError(f"clumps = {short_repr(clumps)}: give a list of whole numbers, as in sim.ids")
            if clumps.size and clumps.min() < 0 or len(np.unique(clumps)) < len(clumps):
                raise ValueError(f"clumps = {short_repr(clumps)}: give each id once, from 0")
        self.clumps = clumps

    def __call__(self, sim) -> None:
        """Append the state of `sim`."""
        self.append(self.sample(sim))

    def open(self, time: float) -> None:
        """Open the file, unless it is open; rows of a continued file that are later than `time` [s] are removed."""
        if self._file is None:
            if self._written and _status(self.path) is None:
                self._require_unchanged()
            kept = time if self.continued and self.path.exists() else None
            if self.path.suffix == ".gsd":
                from minidem.output.trajectory_gsd import GsdFile
                self._file = GsdFile(self.path, kept)
            else:
                self._file = CsvFile(self.path, kept)
            self.last, self._written = self._file.last, _status(self.path)

    def sample(self, sim) -> SimpleNamespace:
        """What `append` needs of `sim` at this instant, as copies."""
        return _sample(sim, self.clumps)

    def append(self, sample: SimpleNamespace) -> None:
        """Append a sample; OSError as for a call, ValueError for a sample earlier than the last one."""
        self.open(sample.time)
        if self.last is not None and sample.time <= self.last:
            if sample.time < self.last:
                raise ValueError(f"{self.path}: this trajectory has a frame at {self.last} s, later than the "
                                 f"simulation at {sample.time} s; close() it first, then the next call removes later "
                                 "frames")
            return
        self._require_unchanged()
        try:
            self._file.append(sample)
            self.last = sample.time
        except BaseException as error:
            with suppress(Exception):
                self.close()            # the next call removes what there is of the sample
            if not isinstance(error, OSError):
                raise
            remedy = "make room" if error.errno in FULL else "remove the cause"
            raise OSError(error.errno, f"{error.strerror}; nothing of the frame at {sample.time:g} s is in the file: "
                          f"{remedy}, then continue", str(self.path)) from None
        finally:
            self._written = _status(self.path) or self._written

    def _require_unchanged(self):
        """OSError if the file is not the one that was written last."""
        status, written = _status(self.path), self._written
        if status == written:
            return
        how = ("deleted or moved" if status is None else "replaced by another file" if status[:2] != written[:2] else
               "cut off" if status[2] < written[2] else "written to by another program")
        raise OSError(errno.ENOENT if status is None else errno.ESTALE, f"this trajectory was {how} while it was being "
                      f"written, after its frame at {self.last} s; put it back, or continue a Trajectory of another "
                      "name, or with append=True after the frames that are left", str(self.path))

    def close(self) -> None:
        """Close the file; a further call continues it."""
        file, self._file = self._file, None
        if file is not None:
            self.continued = True
            file.close()

    def __exit__(self, *failure):
        self.close()


def _status(path):
    """(device, inode, size) of a file, None without it."""
    with suppress(FileNotFoundError):
        status = os.stat(path)
        return status.st_dev, status.st_ino, status.st_size


def has_gsd():
    """Whether the package gsd is installed."""
    return find_spec("gsd") is not None


@exclusive
def _sample(sim, clumps):
    """State of the clumps with these ids, None: all; `clump` is the index in the sample of each sphere's clump.

    bonds : (n, 2), indices in the sample of the spheres of bonds between these clumps
    """
    reader, of_sphere, bonds = sim.reader, np.asarray(sim.sphere_clump), sim.bonds()
    bonds = np.stack([bonds["sphere_i"], bonds["sphere_j"]], axis=1)
    chosen = np.ones(sim.n_clumps, dtype=bool) if clumps is None else np.isin(sim.ids, clumps)
    taken = chosen[of_sphere]
    per_clump = {name: np.asarray(getattr(sim, name)) for name in (
        "ids", "position", "orientation", "velocity", "angular_velocity", "mass")}
    per_clump |= {"principal": reader.column("orientation"), "rate": np.asarray(sim.body_angular_velocity),
                  "inertia": reader.column("inertia"), "template": np.asarray(sim.template_index)}
    return SimpleNamespace(
        step=sim.step_count, time=sim.time, walls=[wall for wall in sim.walls if wall.stays], box=sim.box,
        templates=sim.templates, spheres=reader.spheres()[taken],
        clump=(np.cumsum(chosen) - 1)[of_sphere[taken]], bonds=(np.cumsum(taken) - 1)[bonds[taken[bonds].all(axis=1)]],
        fields={name: values[chosen] for name, values in reader.drawn().items()},
        **{name: values[chosen] for name, values in per_clump.items()})


class CsvFile(Table):
    """Rows of COLUMNS. until: time up to which the rows of an existing file are kept; None: a new file."""

    def __init__(self, path, until=None):
        super().__init__(path, COLUMNS[1:], None if until is None else lambda time: time <= until, remember=False)
        self.open()

    def append(self, sample):
        values = np.concatenate([sample.position, sample.orientation, sample.velocity, sample.angular_velocity], axis=1)
        self.extend([(sample.time, clump, *row) for clump, row in zip(sample.ids.tolist(), values.tolist())])
