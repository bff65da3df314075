"""Clumps that have left a closed mesh."""
from operator import ge, le

import numpy as np

from minidem.templates.mesh_repair import bodies, open_edges, oriented, surrounded
from minidem.walls.motion import placed

MOST_STEPS = 65536              # between two looks at each clump; fewer in the first steps


def enclosures(sim):
    """An Enclosure of each connected closed surface of a mesh; none in a periodic box, whose clumps come back."""
    found = []
    for number, wall in enumerate(() if sim.periodic else sim.walls):
        if wall.surface is not None:
            points, triangles = wall.surface[0], oriented(wall.surface[1])
            body = bodies(triangles)
            found += [Enclosure(number, points[triangles[body == k]]) for k in range(body.max() + 1)
                      if not open_edges(triangles[body == k])[0].any()]
    return found


class Enclosure:
    """A closed surface, corners (m, 3, 3), of the wall with this number.

    Of each clump the centre of one sphere is kept, as it was first seen in the bounding box. Whether it was surrounded
    is found out once the clump is outside the box, so that a look takes little time for meshes of any size. While all
    clumps are inside a box at rest, none is looked at.
    """

    def __init__(self, number, corners):
        self.number, self.corners = number, corners
        self.low, self.high, self.due = corners.min(axis=(0, 1)), corners.max(axis=(0, 1)), 0
        self.ids, self.points, self.next_id = np.zeros(0, dtype=np.int64), np.zeros((0, 3)), 0

    def add_new(self, sim):
        """Keep the places of the clumps that came since the last call."""
        ids, sizes = sim.engine.loop.population.ids, sim.engine.state.bodies.sizes[sim.engine.state.template_index]
        new = np.flatnonzero(ids >= self.next_id)
        self.next_id = sim.engine.loop.population.next_id
        if len(new):
            points = self._in_wall(sim, sim.sphere_centers()[(np.cumsum(sizes) - sizes)[new]])
            within = ((self.low <= points) & (points <= self.high)).all(axis=1)
            self.ids = np.append(self.ids, ids[new[within]])
            self.points = np.append(self.points, points[within], axis=0)

    def lost(self, sim, low, high):
        """What is to be said of a clump that was surrounded, and is outside the bounding box; None without any.

        low, high : corners of the bounding box of all centres of mass.
        """
        step, moves = sim.step_count, sim.walls[self.number].moves
        if not len(self.ids) or step < self.due \
                or not moves and all(map(ge, low, self.low)) and all(map(le, high, self.high)):
            return None
        self.due = step + min(step // 2, MOST_STEPS)
        state, ids = sim.engine.state, sim.engine.loop.population.ids
        clump = np.minimum(np.searchsorted(ids, self.ids), max(0, len(ids) - 1))
        present = ids[clump] == self.ids if len(ids) else np.zeros(len(self.ids), dtype=bool)
        self._keep(present)
        clump = clump[present]
        radius = np.array([template.bounding_radius for template in state.templates])[state.template_index[clump]]
        x = self._in_wall(sim, state.column("position")[clump])
        beyond = np.maximum(self.low - x, x - self.high).max(axis=1) - radius * state.scale[clump]
        for k in np.flatnonzero(beyond > 0.0):
            if any(surrounded(self.points[k:k + 1], corners)[0] for corners in (self.corners, self.corners[:, ::-1])):
                return (f"step {step} (time {sim.time:.6g} s): clump {clump[k]} was within the closed mesh of "
                        f"wall {self.number} and is {beyond[k]:.3g} m outside its bounding box: it has passed through "
                        "the mesh. Lower dt, or its speed, or take a stiffer material")
        self._keep(beyond <= 0.0)
        return None

    def _keep(self, kept):
        self.ids, self.points = self.ids[kept], self.points[kept]

    def _in_wall(self, sim, x):
        """Points (n, 3) of the lab, in the frame of the wall, which is the lab at time zero."""
        wall, number = sim.walls[self.number], self.number
        if not wall.moves:
            return x
        position, matrix = placed(wall, sim.step_count, sim.dt, sim.engine.loop.walls.servo_states[number])
        return wall.center + (x - position) @ matrix
