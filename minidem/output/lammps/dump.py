"""Dumps that the input scripts write: motion of the clumps, and a simulation that continues from it."""
from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import numpy as np

from minidem.core.checks import LARGEST, file_path, finite_array
from minidem.core.quaternions import conjugate, multiply, rotate_back
from minidem.engine.population import Population
from minidem.output import checkpoint
from minidem.output.lammps.script import CHECKPOINT, groups_of, single_spheres
from minidem.state.state import State

T = TypeVar("T")        # the class Simulation


def read_dump(path):
    """Rows of a LAMMPS dump, sorted by their first column."""
    rows = np.loadtxt(path, skiprows=9, ndmin=2)
    return rows[np.argsort(rows[:, 0])]


def read_motion(sim, folder, moment):
    """Motion of the clumps of `sim`, in their order, in the dumps of `moment`, "start" or "end", and number of steps.

    A dict: mass (n,); position, velocity, angular_velocity, angular_momentum (n, 3); orientation (n, 4), quaternions
    from LAMMPS' principal frames to the lab, (1, 0, 0, 0) of single spheres. ValueError for dumps that do not belong to
    `sim`, or are not finite.
    """
    single, values, widths = single_spheres(sim), np.zeros((sim.n_clumps, 17)), {"bodies": 17, "singles": 10}
    values[:, 13] = 1.0
    numbers = {"bodies": np.flatnonzero(~single), "singles": np.flatnonzero(single[sim.sphere_clump])}
    for group in groups_of(sim):
        rows, steps = checked_rows(folder / f"{moment}.{group}", numbers[group] + 1, widths[group])
        values[single == (group == "singles"), :rows.shape[1]] = rows
    mass, *vectors = np.split(values, (1, 4, 7, 10, 13), axis=1)
    motion = dict(zip(("position", "velocity", "angular_velocity", "angular_momentum", "orientation"), vectors))
    radius = sim.sphere_radii[numbers["singles"], None]
    motion["angular_momentum"][single] = 0.4 * mass[single] * radius ** 2 * motion["angular_velocity"][single]
    return {"mass": mass[:, 0], **motion}, steps


def checked_rows(path, numbers, columns):
    """Columns behind the number of a dump of these numbers, and its step; ValueError for another file."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}: run in.minidem in this folder with LAMMPS first")
    with path.open() as file:
        header = [file.readline() for _ in range(9)]
    try:
        steps, rows = int(header[1]), read_dump(path)
    except ValueError as error:
        raise ValueError(f"{path}: this is not a dump of in.minidem: {error}") from None
    if rows.shape[1] != 1 + columns or not np.array_equal(rows[:, 0], numbers):
        raise ValueError(f"{path}: {len(rows)} rows of {rows.shape[1]} columns are not the {len(numbers)} of "
                         f"{1 + columns} of {CHECKPOINT}; run in.minidem in this folder")
    return finite_array(str(path), rows[:, 1:], (len(rows), columns), limit=LARGEST), steps


def read_lammps(cls: type[T], folder: str | Path, threads: int | None = None) -> T:
    """Read the state that LAMMPS has reached with the input of `write_lammps`.

    Parameters
    ----------
    folder : path
        The folder of `write_lammps`, in which LAMMPS has run in.minidem.
    threads : int, optional
        As for a new simulation.

    Returns
    -------
    Simulation
        Settings, templates, ids and order of the clumps are those of the simulation that was written; time, positions,
        orientations, velocities and angular velocities those at the end of the run.

    Raises
    ------
    ValueError
        For a dump of other clumps, or with numbers that are not finite.
    FileNotFoundError

    Notes
    -----
    The history of contacts is not read: tangential springs begin at zero again. Sums of `energy()` (dissipated,
    work, exchanged) begin at zero, too. Clumps of one sphere have the orientations of the start.
    """
    folder = file_path("folder", folder)
    if not (folder / CHECKPOINT).is_file():
        raise FileNotFoundError(f"there is no file {folder / CHECKPOINT}: give a folder that write_lammps has written")
    sim = checkpoint.load(folder / CHECKPOINT, cls, threads)[0]
    if sim.box is not None and (sim.box.moves or sim.box.across is not None):
        raise ValueError(f"{folder}: the periodic box moves or is tilted, and the images of LAMMPS are those of a box "
                         "whose tilt it has turned over; read its dumps with OVITO")
    (start, _), (end, steps) = (read_motion(sim, folder, moment) for moment in ("start", "end"))
    # LAMMPS chooses principal frames of its own: only turns since the start can be compared.
    turn = multiply(end["orientation"], conjugate(start["orientation"]))
    old, population = sim.engine.state, sim.engine.loop.population
    orientation = multiply(turn / np.linalg.norm(turn, axis=1, keepdims=True), old.column("orientation"))
    state = State(old.n_scratch, old.box).extended(
        old.bodies, old.template_index, old.scale, old.material_index,
        position=end["position"], orientation=orientation, velocity=end["velocity"],
        angular_velocity=rotate_back(orientation, end["angular_velocity"]))
    sim.engine.loop = sim.engine.make(state, sim.engine.loop.pair_table, sim.step_count + steps,
                                      population=Population(population.ids, population.next_id))
    return sim
