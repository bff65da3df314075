"""Dumps that the input scripts write: motion of clumps, springs of contacts; a simulation that continues from them."""
from __future__ import annotations

import errno

import numpy as np

from minidem.core.checks import ADD, LARGEST, file_path, finite_array, foreign
from minidem.core.quaternions import conjugate, multiply, rotate_back
from minidem.output import checkpoint
from minidem.output.lammps.history import go_on, restore
from minidem.output.lammps.script import CHECKPOINT, PAIRS, WALLS, moving_groups
from minidem.state.state import State


def read_dump(path):
    """Rows of a LAMMPS dump, sorted by their first column."""
    rows = np.loadtxt(path, skiprows=9, ndmin=2)
    return rows[np.argsort(rows[:, 0])]


def read_motion(sim, folder, moment):
    """Motion of the clumps of `sim`, in their order, in the dumps of `moment`, "start" or "end", and number of steps.

    A dict: mass (n,); position, velocity, angular_velocity, angular_momentum (n, 3); orientation (n, 4), quaternions
    from LAMMPS' principal frames to the lab. ValueError for dumps that do not belong to `sim`, or are not finite.
    """
    values, groups = np.zeros((sim.n_clumps, 17)), moving_groups(sim)
    values[:, 0], values[:, 1:4], values[:, 13] = sim.mass, sim.position, 1.0           # of clumps that are held
    for group, clumps in groups.items():
        numbers, columns = (clumps, 17) if group == "bodies" else (clumps[sim.sphere_clump], 10)
        rows, steps = checked_rows(folder / f"{moment}.{group}", np.flatnonzero(numbers) + 1, columns)
        values[clumps, :columns] = rows
    mass, *vectors = np.split(values, (1, 4, 7, 10, 13), axis=1)
    motion = dict(zip(("position", "velocity", "angular_velocity", "angular_momentum", "orientation"), vectors))
    single = groups.get("singles", np.zeros(sim.n_clumps, dtype=bool))
    radius = sim.sphere_radii[single[sim.sphere_clump], None]
    motion["angular_momentum"][single] = 0.4 * mass[single] * radius ** 2 * motion["angular_velocity"][single]
    return {"mass": mass[:, 0], **motion}, steps


def checked_rows(path, numbers, columns):
    """Columns behind the `numbers` in a dump (None: 1, 2, ...), and its step; ValueError for another file."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}: run in.minidem in this folder with LAMMPS first")
    with path.open() as file:
        header = [file.readline() for _ in range(9)]
    try:
        steps, some = int(header[1]), numbers is not None or int(header[3]) > 0
        rows = read_dump(path) if some else np.zeros((0, 1 + columns))
    except ValueError as error:
        raise ValueError(f"{path}: this is not a dump of in.minidem: {error}") from None
    numbers = np.arange(1, len(rows) + 1) if numbers is None else numbers
    if rows.shape[1] != 1 + columns or not np.array_equal(rows[:, 0], numbers):
        raise ValueError(f"{path}: {len(rows)} rows of {rows.shape[1]} columns are not the {len(numbers)} of "
                         f"{1 + columns} of {CHECKPOINT}; run in.minidem in this folder")
    return finite_array(str(path), rows[:, 1:], (len(rows), columns), limit=LARGEST), steps


def read_springs(sim, folder):
    """Contacts (n, 2) as of `restore`, and the tangential forces (n, 3) on the first sphere [N], of PAIRS and WALLS."""
    rows = checked_rows(folder / PAIRS, None, 5)[0]
    sign = np.where(rows[:, :1] > rows[:, 1:2], -1.0, 1.0)
    ends, forces = [np.sort(rows[:, :2].astype(np.int64) - 1, axis=1)], [sign * rows[:, 2:]]
    if sim.walls:
        with (folder / WALLS).open() as file:
            names = [file.readline() for _ in range(9)][8].split()[3::4]
        rows = checked_rows(folder / WALLS, np.arange(1, sim.n_spheres + 1), 4 * len(names))[0]
        for name, (touches, *force) in zip(names, rows.T.reshape(-1, 4, sim.n_spheres)):
            for wall in walls_of(sim, name):
                sphere = np.flatnonzero(touches)
                ends.append(np.column_stack([sphere, np.full(len(sphere), -1 - wall)]))
                forces.append(np.array(force).T[sphere])
    return np.concatenate(ends), np.concatenate(forces)


def walls_of(sim, name):
    """Numbers of the walls of a column f_xplane_0_1[1] or f_region2_0_1[1]: a direction or a number, and a material."""
    kind, material, _ = name.removeprefix("f_").split("_")
    if kind.startswith("region"):
        return [int(kind.removeprefix("region"))]
    return [k for k, (wall, index) in enumerate(zip(sim.walls, sim.reader.wall_materials))
            if wall.face() and "xyz"[wall.face()[0]] == kind[0] and index == int(material)]


def read_lammps(cls, folder, threads):
    """A simulation of the class `cls` from the dumps in a folder: see `Simulation.read_lammps`."""
    folder = file_path("folder", folder)
    if not (folder / CHECKPOINT).is_file():
        what = f"this is {foreign(folder) or 'a file'}" if folder.is_file() else \
            f"there is no {CHECKPOINT} in it" if folder.is_dir() else "there is no such folder"
        raise FileNotFoundError(errno.ENOENT, f"folder = {str(folder)!r}: {what}; give a folder that write_lammps has "
                                f"written. To continue from another state of LAMMPS, {ADD}", str(folder / CHECKPOINT))
    sim = checkpoint.load(folder / CHECKPOINT, cls, threads)[0]
    if sim.box is not None and (sim.box.moves or sim.box.across is not None):
        raise ValueError(f"{folder}: the periodic box moves or is tilted, and the images of LAMMPS are those of a box "
                         "whose tilt it has turned over; read its dumps with OVITO")
    (start, _), (end, steps) = (read_motion(sim, folder, moment) for moment in ("start", "end"))
    # LAMMPS chooses principal frames of its own: only turns since the start can be compared.
    turn = multiply(end["orientation"], conjugate(start["orientation"]))
    old = sim.reader.snapshot().state
    orientation = multiply(turn / np.linalg.norm(turn, axis=1, keepdims=True), old.column("orientation"))
    state = State(old.box).extended(
        old.bodies, old.template_index, old.scale, old.material_index,
        position=end["position"], orientation=orientation, velocity=end["velocity"],
        angular_velocity=rotate_back(orientation, end["angular_velocity"])).copy(hold=old.hold)
    go_on(sim, state, sim.step_count + steps)
    if (folder / PAIRS).is_file():
        restore(sim, *read_springs(sim, folder))
    return sim
