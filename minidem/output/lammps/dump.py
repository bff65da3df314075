"""Dumps that the input scripts write: motion of the clumps, and a simulation that continues from it."""
import numpy as np

from minidem.core.checks import LARGEST, finite_array
from minidem.core.quaternions import conjugate, multiply, rotate_back
from minidem.engine.population import Population
from minidem.output import checkpoint
from minidem.output.lammps.data import is_rigid
from minidem.output.lammps.script import CHECKPOINT
from minidem.state.state import State

COLUMNS = {False: 11, True: 18}         # of dumps, by whether clumps are rigid bodies of several spheres


def read_dump(path):
    """Rows of a LAMMPS dump, sorted by their first column."""
    rows = np.loadtxt(path, skiprows=9, ndmin=2)
    return rows[np.argsort(rows[:, 0])]


def read_motion(folder, moment):
    """Mass (n,), position, velocity, angular velocity (n, 3) and, of rigid bodies, angular momentum of the clumps.

    The columns of rigid bodies: molecule id, mass, these, and the quaternion from LAMMPS' principal frame to the lab.
    """
    rows = read_dump(folder / f"{moment}.clumps")
    return rows[:, 1], *np.split(rows[:, 2:14], range(3, min(rows.shape[1], 14) - 2, 3), axis=1)


def read(folder, make, threads=None):
    """A new simulation in the state of the dump end.clumps, with the settings of the checkpoint start.npz.

    Parameters
    ----------
    folder : Path
    make : callable
        The class Simulation, which imports this package.
    threads : int, optional

    Raises
    ------
    ValueError
        For a dump that does not belong to the checkpoint, or is not finite.
    """
    sim = checkpoint.load(folder / CHECKPOINT, make, threads)[0]
    rows, steps = checked_rows(sim, folder / "end.clumps")
    position, velocity, spin = np.split(rows[:, 2:11], 3, axis=1)
    orientation = sim._state.column("orientation")
    if is_rigid(sim):           # LAMMPS chooses principal frames of its own: only turns since the start can be compared
        first = checked_rows(sim, folder / "start.clumps")[0]
        turn = multiply(rows[:, 14:], conjugate(first[:, 14:]))
        orientation = multiply(turn / np.linalg.norm(turn, axis=1, keepdims=True), orientation)
    old, population = sim._state, sim._loop.population
    state = State(old.n_scratch).extended(
        old.bodies, old.template_index, old.scale, old.material_index, position=position, orientation=orientation,
        velocity=velocity, angular_velocity=rotate_back(orientation, spin))
    sim._loop = sim._make_loop(state, sim._loop.pair_table, sim.step_count + steps,
                               population=Population(population.ids, population.next_id))
    return sim


def checked_rows(sim, path):
    """Rows of a dump that belongs to `sim`, and its step; ValueError for another file."""
    with path.open() as file:
        header = [file.readline() for _ in range(9)]
    columns = COLUMNS[is_rigid(sim)]
    try:
        steps, rows = int(header[1]), read_dump(path)
    except ValueError as error:
        raise ValueError(f"{path}: this is not a dump of in.minidem: {error}") from None
    if rows.shape != (sim.n_clumps, columns) or not np.array_equal(rows[:, 0], 1.0 + np.arange(sim.n_clumps)):
        raise ValueError(f"{path}: {len(rows)} rows of {rows.shape[1]} columns; {CHECKPOINT} has {sim.n_clumps} "
                         f"clumps, of which a dump has {columns} columns, numbered from 1 on")
    return finite_array(str(path), rows, rows.shape, limit=LARGEST), steps
