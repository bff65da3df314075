"""Loads of the triangles of meshes, over time."""
from __future__ import annotations

import numpy as np

from minidem.analysis.contacts import to_nearest_image
from minidem.core.checks import short_repr
from minidem.walls.motion import placed

LOAD = np.dtype([("area", float), ("force", float, 3), ("pressure", float), ("sliding_work", float)])


class WallLoads:
    """Forces of clumps on the triangles of meshes, and the work of friction: a callback of `Simulation.run`.

    `loads[wall]`, with the name of a `MeshWall` or `CompoundWall`, or its number if it has none, is a structured array
    of its triangles: `area` [m2]; `force` (3,) [N] and `pressure` [Pa], means over the calls; and `sliding_work` [J],
    the sum over the calls of the power of friction where contacts slide, times the time since the call before.
    `Frames(folder, loads=loads)` writes them, with means over the calls since the last frame.

    Notes
    -----
    A pressure is the sum of the normal forces of contacts over the area, positive where clumps push. A second call at
    the same time adds nothing. The wear by the law of Archard, a coefficient times normal force times distance over
    hardness, is coefficient / (friction * hardness) * sliding_work. J. F. Archard, J. Appl. Phys. 24, 981 (1953), doi
    10.1063/1.1721448.
    """

    def __init__(self) -> None:
        self._sums: dict = {}           # wall -> number of calls, sums over them (m,) of LOAD; as pressure of forces
        self._walls: tuple = ()         # of the last call
        self._time: float | None = None
        self._restarts = False

    def __call__(self, sim) -> None:
        if self._time == sim.time:
            return
        found, interval, new = sim.contacts(), 0.0 if self._time is None else sim.time - self._time, {}
        load = np.sum(found["force"] * found["normal"], axis=1)
        for k, mesh in enumerate(sim.walls):
            if mesh.surface is None:
                continue
            wall, area = mesh.name or k, _areas(*mesh.surface)
            calls, sums = self._sums.get(wall, (0, np.zeros(len(area), LOAD)))
            if len(area) != len(sums):
                raise ValueError(f"wall {wall!r} has {len(area)} triangles, not {len(sums)} as in earlier calls; take "
                                 "another WallLoads for it")
            if wall == k and any(mesh is one for one in self._walls[k + 1:]):
                raise ValueError(f"wall {k} had a larger number in the call before, as walls were removed; give "
                                 "names to meshes, whose loads are found by the name then")
            sums = sums.copy()
            if self._restarts:
                calls, sums["force"], sums["pressure"] = 0, 0.0, 0.0
            own = (found["clump_j"] == -1 - k) & (found["triangle"] >= 0)
            triangle = found["triangle"][own]
            np.subtract.at(sums["force"], triangle, found["force"][own])
            np.add.at(sums["pressure"], triangle, load[own])
            np.add.at(sums["sliding_work"], triangle, interval * _sliding(sim, k, found[own], load[own]))
            sums["area"], new[wall] = area, (calls + 1, sums)
        vars(self).update(_sums=self._sums | new, _time=sim.time, _restarts=False, _walls=tuple(sim.walls))

    def __getitem__(self, wall: int | str) -> np.ndarray:
        try:
            calls, sums = self._sums[wall]
        except (KeyError, TypeError):                   # TypeError: it cannot be a key
            raise ValueError(f"wall = {short_repr(wall)}: there are loads of {list(self._sums)}, names of meshes in "
                             "the calls until now, or numbers of those without a name") from None
        loads = sums.copy()
        loads["force"], loads["pressure"] = sums["force"] / calls, sums["pressure"] / calls / sums["area"]
        return loads

    def __contains__(self, wall: int | str) -> bool:
        return wall in self._sums

    def restart(self) -> None:
        """Let the means begin anew with the next call."""
        self._restarts = True


def _sliding(sim, k, found, load):
    """(n,) power of friction at contacts with wall k, 0 where they do not slide [W]; load : (n,) normal forces."""
    wall, clump, (velocity, turning) = sim.walls[k], found["clump_i"], sim.walls.velocity(k)
    center, matrix = placed(wall, sim.step_count, sim.dt, sim.reader.servo_states()[k])
    velocity, turning = velocity + matrix @ wall.surface_velocity, turning + matrix @ wall.surface_angular_velocity
    slip = sim.velocity[clump] + np.cross(sim.angular_velocity[clump], found["point"] - sim.position[clump])
    slip -= velocity + np.cross(turning, to_nearest_image(sim.box, found["point"] - center))
    friction = found["force"] - load[:, None] * found["normal"]
    return np.where(found["sliding"], -np.sum(friction * slip, axis=1), 0.0)


def _areas(points, triangles):
    """(m,) of triangles [m2]."""
    a, b, c = points[triangles].swapaxes(0, 1)
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
