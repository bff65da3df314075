"""A simulation at an instant, and its settings: what a time loop is made of.

`Settings` hold for the life of a simulation, a `Snapshot` has all that changes. `Driver(settings, snapshot)` is a time
loop that continues it with equal bits, and `loop.snapshot()` returns the state that the loop has reached.

Whatever changes a simulation between two steps is a function from Snapshot to Snapshot: the methods below, or
`dataclasses.replace`. A new loop is made of the result, and replaces the old one by one assignment, so that an error or
Ctrl-C leaves the simulation as it was. Files (output/checkpoint.py), copies and pickle have snapshots as their content.

Arrays are in the user's order of clumps and spheres, and nothing changes them, except the arrays of the state, which
the loop steps in place. So another loop gets a copy of the state, and `copy` makes a snapshot that can be kept. Lists
of neighbours, shares of threads and the order in memory are no part of a snapshot, as no result depends on them.
"""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from minidem.core.guard import Guard
from minidem.core.parameters import named_values
from minidem.core.quaternions import cross, rotate, rotate_back
from minidem.engine.population import Population
from minidem.fields.field import set_new, without_rates
from minidem.forces.user_forces import UserForces
from minidem.holds.hold import carriers, immovable
from minidem.state.state import State


@dataclass(frozen=True, eq=False)
class Settings:
    """What holds for all steps of a simulation.

    Attributes
    ----------
    scheme, scheme_values : Scheme of the rotation, and the values of its parameters
    dt : step [s]
    law, law_values : ContactLaw, and the values of its parameters; None: free bodies, without contacts
    threads : largest number of threads
    loads : of free bodies, function of the Driver and the number of steps since it was made, called at every pose after
        the prediction of velocities; it overwrites forces and torques
    guard : Guard, which all uses of the simulation enter
    """

    scheme: Any
    scheme_values: Any
    dt: float
    law: Any = None
    law_values: Any = ()
    threads: int = 1
    loads: Any = None
    guard: Any = field(default_factory=Guard)

    def law_value(self, name):
        """A parameter of the contact law, a number or a word; None for a law without it."""
        return named_values(self.law.parameters, self.law_values).get(name)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A simulation at an instant. What is None is zero, or not known, or cannot differ from zero.

    Attributes
    ----------
    state : State, the clumps
    pair_table : PairTable, the materials; None: free bodies
    gravity : (3,) [m/s2]
    step : number of the steps done
    started : (n_clumps,) bool, clumps whose velocities are half a step behind their poses
    forces_known : whether the forces in the state belong to its pose
    callback_due : whether the callback of this step is still to be called, or has raised
    population : Population, ids and fields of the clumps
    user_forces : UserForces
    history : dict of arrays, contacts of a law with a history, see read_history (contact/history.pyx)
    onsets : (n, 3) spheres and onset correction [N] of contacts that begin or end, see onset/onset_pass.pyx
    dissipated : (5, 2) by damping, tangential damping, sliding, rolling, fracture, each the sum of two numbers [J]
    fractures : (n, 6) what broke, see fractures.pyx
    wall_work : (2, 2) work of moving walls and box until now; work of half a step by the last forces, which the next
        step adds; sums of two numbers [J]
    servo_states : (n_walls, 2) displacements along the line of the force [m, rad], and velocities half a step before
    box_state : (10,) strains and rates of a box that moves, see BoxState of loop.pxd
    walls : WallPrimitives; None: free bodies
    """

    state: State
    pair_table: Any = None
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    step: int = 0
    started: Any = None
    forces_known: bool = False
    callback_due: bool = False
    population: Any = None
    user_forces: UserForces = field(default_factory=UserForces)
    history: dict | None = None
    onsets: np.ndarray | None = None
    dissipated: np.ndarray | None = None
    fractures: np.ndarray | None = None
    wall_work: np.ndarray | None = None
    servo_states: np.ndarray | None = None
    box_state: np.ndarray | None = None
    walls: Any = None

    def __post_init__(self):
        if self.started is None:
            vars(self)["started"] = np.zeros(self.state.n_clumps, dtype=bool)
        if self.population is None:
            vars(self)["population"] = Population().with_new(self.state.n_clumps)

    def copy(self):
        """The same with a state of its own, which no loop changes."""
        return replace(self, state=self.state.copy())

    def with_clumps(self, template, material, columns):
        """Add clumps of one template; columns : as State.with_clumps. Forces are then not known."""
        table = self.pair_table.with_material(material)
        state = self.state.with_clumps(template, *columns, table.index(material))
        return replace(self, pair_table=table).extended(state)

    def extended(self, state, values=None):
        """Take a state with more clumps at its end; values : of their fields, see `set_new`. Forces are then not known.
        """
        n = state.n_clumps - self.state.n_clumps
        set_new(self.population, state, self.state.n_clumps, values)
        return replace(self, state=state, started=np.append(self.started, np.zeros(n, dtype=bool)), forces_known=False,
                       population=self.population.with_new(n))

    def without(self, gone):
        """Remove the clumps where `gone` (n_clumps,) is true, and their contacts."""
        spheres = np.repeat(gone, self.state.bodies.sizes[self.state.template_index])
        population = replace(self.population, ids=self.population.ids[~gone],
                             work=self.population.work + self._force_work(gone))
        return replace(self, state=self.state.without(gone), started=self.started[~gone], population=population,
                       **self._of_contacts(lambda pairs: _kept(pairs, spheres)))

    def with_walls(self, walls, origin, servo_states):
        """Replace the walls. Contacts with walls that remain keep their history, also if numbers change.

        walls : WallPrimitives
        origin : (n_walls,) number that each wall had before, -1 for a new one
        servo_states : (n_walls, 2)
        """
        gone = len(walls.wall_of)
        number = np.full(len(self.walls.wall_of) + 1, gone)     # of each primitive, and the last for clumps
        for wall, old in enumerate(origin):
            if old >= 0:
                number[np.flatnonzero(self.walls.wall_of == old)] = np.flatnonzero(walls.wall_of == wall)

        def kept(pairs):
            at_wall, new = pairs[:, 1] < 0, number[np.maximum(-1 - pairs[:, 1], -1)]
            keep = ~at_wall | (new < gone)
            second = np.where(at_wall, -1 - new, pairs[:, 1])
            return keep, np.column_stack([pairs[:, 0], second])[keep].astype(np.int32)

        state, carried = self.state, carriers(self.state)
        if (carried >= 0).any():
            hold = state.hold.copy()
            hold["wall"] = np.where(carried < 0, 0.0, 1.0 + np.argmax(origin == carried[:, None], axis=1))
            state = state.copy(hold=hold)
        population, moved = self.population, 0.0 if self.wall_work is None else float(self.wall_work[0].sum())
        fields = tuple(replace(one, walls=np.append(one.walls, np.full((1, one.components), np.nan), axis=0)[origin])
                       for one in population.fields)
        return replace(self, state=state, walls=walls, pair_table=self.pair_table.with_walls(walls.walls),
                       servo_states=servo_states, wall_work=None,
                       population=replace(population, fields=fields, work=population.work + moved),
                       **self._of_contacts(kept))

    def with_materials(self, table):
        """Replace the materials and pairs, whose indices stay. Contacts of materials that do not interact are lost."""
        excluded = table.exclusions
        if excluded is None:
            return replace(self, pair_table=table)
        of_spheres = np.repeat(self.state.material_index, self.state.bodies.sizes[self.state.template_index])
        of_walls = table.wall_index[self.walls.wall_of]

        def kept(pairs):
            first, second = of_spheres[pairs[:, 0]], of_spheres.take(pairs[:, 1], mode="clip")
            at_wall = pairs[:, 1] < 0
            second[at_wall] = of_walls[-1 - pairs[at_wall, 1]]
            keep = ~excluded[first, second]
            return keep, pairs[keep]

        return replace(self, pair_table=table, **self._of_contacts(kept))

    def _of_contacts(self, kept):
        """History and onset corrections of contacts; kept : function of pairs (n, 2), as `_kept`."""
        history, onsets = self.history, self.onsets
        if history is not None:
            keep, renumbered = kept(history["spheres"])
            history = {name: np.ascontiguousarray(values[:, keep] if name == "records" else values[keep])
                       for name, values in history.items()} | {"spheres": renumbered}
        if onsets is not None:
            keep, renumbered = kept(onsets[:, :2].astype(np.int32))
            onsets = np.column_stack([renumbered, onsets[keep, 2]])
        return {"history": history, "onsets": onsets}

    def begun_again(self, clumps, velocity, angular_velocity):
        """Give the clumps where `clumps` (n_clumps,) is true these velocities at the instant of the pose.

        The next step begins with half a step back for them, as for new clumps.
        """
        state = self.state.copy()
        for name, values in (("velocity", velocity), ("angular_velocity", angular_velocity)):
            state.set_column(name, np.where(clumps[:, None], values, state.column(name)))
        return replace(self, state=state, started=self.started & ~clumps)

    def with_hold(self, clumps, hold, velocity, angular_velocity):
        """Hold the clumps with the indices (k,) as `hold` (k,) says.

        velocity, angular_velocity : (k, 3), lab, at the instant of the pose; what a pin or axis does not allow is left
            out

        Clumps that no force moves lose their contacts with walls and with each other, unless both bodies are at rest.
        """
        state, rate, axis = self.state.with_hold(clumps, hold), np.array(angular_velocity), hold["axis"]
        rate = np.where(axis.any(axis=1)[:, None], np.sum(axis * rate, axis=1)[:, None] * axis, rate)
        frames = state.column("orientation")[clumps]
        velocity = np.where(hold["arm"].any(axis=1)[:, None], cross(rate, rotate(frames, hold["arm"])), velocity)
        for name, values in ("velocity", velocity), ("angular_velocity", rotate_back(frames, rate)):
            column = state.column(name)
            column[clumps] = values
            state.set_column(name, column)
        rests = ~np.hstack([state.column("velocity"), state.column("angular_velocity")]).any(axis=1)
        fixed, rests = (np.repeat(of_clumps, state.bodies.sizes[state.template_index])
                        for of_clumps in (immovable(state), rests & (carriers(state) < 0)))

        def kept(pairs):
            i, j = pairs[:, 0], pairs[:, 1]
            keep = ~(fixed[i] & ((j < 0) | fixed[j] & ~(rests[i] & rests[j])))
            return keep, pairs[keep]

        return replace(self, state=state, **self._of_contacts(kept))

    def with_force(self, force):
        """Add a user force or flux. Known rates of fields persist if it is one that the file was saved with."""
        forces = UserForces((*self.user_forces.forces, force), self.user_forces.expected)
        if self.user_forces.complete:
            return replace(self, user_forces=forces, state=without_rates(self.state))
        return replace(self, user_forces=forces)

    def without_forces(self, velocity, angular_velocity, kept=()):
        """Drop the user forces but those `kept`; all act up to the present pose, at which the given velocities are."""
        every = np.ones_like(self.started)
        done = 0.0 if kept else self._force_work(every)         # else it remains with the clumps
        population = replace(self.population, work=self.population.work + done)
        return replace(self.begun_again(every, velocity, angular_velocity), user_forces=UserForces(kept),
                       forces_known=False, population=population)

    def _force_work(self, clumps):
        """Work of user forces on the clumps where `clumps` (n_clumps,) is true [J]."""
        return float(self.state.column("force_work")[clumps, 0].sum()) if "force_work" in self.state.optional else 0.0


def _kept(pairs, gone):
    """Which pairs of spheres (n, 2) remain, (n,) bool, and their new numbers, if spheres vanish of which `gone`
    (n_spheres,) is true; negative ones stand for primitives of walls."""
    absent, number = np.append(gone, False), np.append(np.cumsum(~gone) - 1, 0)         # the last one for walls
    spheres = np.maximum(pairs, -1)
    keep = ~absent[spheres].any(axis=1)
    return keep, np.where(pairs < 0, pairs, number[spheres])[keep].astype(np.int32)
