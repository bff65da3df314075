"""Topic of a `Simulation`: its walls."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contacts import wall_wrenches
from minidem.analysis.diagnosis import refuse_deep_overlaps
from minidem.core.checks import finite_array, list_of, whole
from minidem.core.guard import exclusive
from minidem.engine.reader import Reader
from minidem.simulation.topic import Accessor
from minidem.walls import Wall, require_planes_at_rest
from minidem.walls.motion import STEERED, at_rest, driven_apart, motion_at
from minidem.walls.wall_table import WallPrimitives, rounding_errors


def checked_primitives(walls, box, contact, settings):
    """WallPrimitives of walls, a tuple; ValueError for what names, the box or the contact law cannot have."""
    names = [wall.name for wall in walls if wall.name is not None]
    if len(set(names)) < len(names):
        raise ValueError(f"walls: two of them have one name, of {', '.join(names)}; give each another one")
    if box is not None:
        box.refuse_walls(walls)
    if settings.law.corrects_onsets(settings.law_values):
        require_planes_at_rest(contact, walls)
    return WallPrimitives(walls, box and box.start.length)


def wall_number(sim, argument, wall):
    """Number of the wall of a simulation that has this number or name; argument : its name in errors."""
    names = [one.name for one in sim.reader.walls]
    numbers = {name: k for k, name in enumerate(names)} if isinstance(wall, str) else range(len(names))
    if (wall if isinstance(wall, str) else whole(argument, wall, 0)) not in numbers:
        there = f"are {len(names)} walls" if len(names) != 1 else "is 1 wall"
        named = ", ".join(repr(name) for name in names if name)
        raise ValueError(f"{argument} = {wall!r}: there {there}, numbered from 0, with "
                         f"{f'the names {named}' if named else 'no names; md.Plane(..., name=...) gives one'}")
    return numbers[wall]


class Walls(Accessor, tuple):
    """`sim.walls`: the walls, a tuple in the order of their numbers, and what can be done with them."""

    def __new__(cls, simulation):
        return super().__new__(cls, simulation.reader.walls)

    def __reduce__(self):
        return tuple, (tuple(self),)

    __repr__ = tuple.__repr__

    @property
    @exclusive
    def at_rest(self) -> tuple:
        """The walls at their present places, without motion: each is itself if it does not move."""
        sim = self._sim
        return tuple(at_rest(wall, sim.loop.step_count, sim.dt, state)
                     for wall, state in zip(sim.reader.walls, sim.reader.servo_states()))

    @exclusive
    def overlap(self, spheres: ArrayLike) -> np.ndarray:
        """Which spheres overlap with the walls at this instant, with a margin of rounding errors.

        Parameters
        ----------
        spheres : (n, 4) array_like
            Centres and radii, lab frame [m].

        Returns
        -------
        (n,) bool ndarray
        """
        spheres = finite_array("spheres", spheres, (-1, 4))
        return self._sim.reader.deepest_in_walls(spheres)[0] > -rounding_errors(spheres)

    @exclusive
    def force(self, wall: int | str) -> np.ndarray:
        """(3,) force of all clumps on the wall with this number or name, lab frame [N].

        A wall that carries clumps takes all forces on them: contacts, weight, user forces.
        """
        return self._wrench(wall)[:3]

    @exclusive
    def torque(self, wall: int | str, *, about: ArrayLike | None = None) -> np.ndarray:
        """(3,) its torque about the point `about` (3,) [m], default: the wall's centre now, lab frame [N m]."""
        return self._wrench(wall, None if about is None else finite_array("about", about, (3,)))[3:]

    @exclusive
    def velocity(self, wall: int | str) -> tuple[np.ndarray, np.ndarray]:
        """Velocity (3,) of the centre of a wall [m/s], and its angular velocity (3,) [rad/s], now, lab frame.

        `surface_velocity` is not in them. Clumps have the power force(wall) @ velocity + torque(wall) @
        angular_velocity on it.
        """
        sim, k = self._sim, wall_number(self._sim, "wall", wall)
        speed = sim.loop.steered_speeds()[0][k]
        return motion_at(sim.reader.walls[k], sim.loop.step_count, sim.dt, (0.0, speed))[1:]

    def _wrench(self, wall, about=None):
        k = wall_number(self._sim, "wall", wall)
        return wall_wrenches(self._sim, self._sim.reader.contacts(), about)[k]

    @exclusive
    def move(self, wall: int | str, motion: Any = None, *, velocity: ArrayLike = (0.0, 0.0, 0.0),
             angular_velocity: ArrayLike = (0.0, 0.0, 0.0), center: ArrayLike | None = None,
             surface_velocity: ArrayLike = (0.0, 0.0, 0.0),
             surface_angular_velocity: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Give a wall another motion from its present place on: start, stop, change a rate, let a `Servo` take over.

        Parameters
        ----------
        wall : int or str
            Number or name.
        motion, velocity, angular_velocity, surface_velocity, surface_angular_velocity
            As of `Plane`; without them the wall stays where it is. A function or `Oscillation` is called with the time
            of the simulation, and the wall is displaced by what has changed since now: nothing jumps. A `Servo` or
            `Driven` begins at rest or with the velocity given, or else with the velocity of a `Servo` or `Driven`
            that it replaces.
        center : (3,) array_like, optional
            A point of the axis of rotation now, lab frame [m]. Default: the present centre of the wall.

        Raises
        ------
        ValueError
            For an unknown wall, or an argument out of range. The wall keeps its motion then.

        Notes
        -----
        Contacts keep their history, and clumps the forces of this instant. The new velocity counts from the next step
        on.
        """
        sim = self._sim
        k, old = wall_number(sim, "wall", wall), sim.loop
        walls = sim.reader.walls
        new = at_rest(walls[k], old.step_count, sim.dt, sim.reader.servo_states()[k])
        new = new.with_changes(motion=motion, velocity=velocity, angular_velocity=angular_velocity,
                               center=new.center if center is None else center, since=old.step_count * sim.dt,
                               surface_velocity=surface_velocity, surface_angular_velocity=surface_angular_velocity)
        self._change([*walls[:k], new, *walls[k + 1:]], list(range(len(walls))))

    @exclusive
    def add(self, wall: Wall) -> int:
        """Add a wall, which is where it is given at this instant. Returns its number, the last one.

        Its motion begins now, as in `move`. It has no values of fields. The energy of contacts that begin at once
        is in `energy().exchanged`.

        Raises
        ------
        ValueError
            For a name in use, a missing pair, an overlap with a clump of more than a tenth of a radius, or a wall that
            the contact law or the periodic box cannot have. Nothing is added then.
        """
        list_of(Wall, "wall", [wall], "Plane, Cylinder, Cone, MeshWall or CompoundWall")
        sim = self._sim
        walls = sim.reader.walls
        self._change([*walls, wall.with_changes(since=sim.loop.step_count * sim.dt)], [*range(len(walls)), -1])
        sim.monitor.check_materials(sim, [sim.reader.materials[sim.reader.wall_materials[-1]]])
        return len(walls)

    @exclusive
    def remove(self, wall: int | str) -> None:
        """Remove the wall with this number or name, and its contacts. The numbers of walls behind it close up.

        The energy of its contacts leaves by `energy().exchanged`. ValueError for an unknown wall.
        """
        k = wall_number(self._sim, "wall", wall)
        if (self._sim.reader.carriers() == k).any():
            raise ValueError(f"wall = {wall!r}: it carries clumps; free them before, by sim.set_motion(ids)")
        walls = self._sim.reader.walls
        self._change([*walls[:k], *walls[k + 1:]], [n for n in range(len(walls)) if n != k])

    def _change(self, walls, origin):
        """Continue with these walls; origin : the number that each had before, -1 of a new one."""
        sim, old, before = self._sim, self._sim.loop, self._sim.reader.walls
        old.user_forces.check()
        primitives = checked_primitives(tuple(walls), old.state.box, sim.contact, sim.settings)
        origin = np.array(origin, dtype=int)
        servo_states = np.append(sim.reader.servo_states(), np.zeros((1, 2)), axis=0)[origin]
        speeds, _ = old.steered_speeds()
        for k, was in enumerate(origin):
            if was < 0 or walls[k] is not before[was]:
                motions = [walls[k].motion] + ([before[was].motion] if was >= 0 else [])
                same = [motion.direction for motion in motions if isinstance(motion, STEERED)
                        and motion.turns == getattr(motions[0], "turns", None)]
                speed = driven_apart(walls[k])[2]
                servo_states[k] = 0.0, speed or (np.dot(*same) * speeds[was] if len(same) == 2 else 0.0)
        snapshot = old.snapshot().with_walls(primitives, origin, servo_states)
        new, touched = sim._loop_from(snapshot.copy()), np.zeros(old.state.n_clumps, dtype=bool)
        refuse_deep_overlaps(Reader(new), old.state.n_clumps, walls=[k for k, was in enumerate(origin) if was < 0])
        for loop, kept in (old, origin), (new, np.flatnonzero(origin >= 0)):
            contacts = loop.contacts()
            changed = (contacts["clump_j"] < 0) & ~np.isin(-1 - contacts["clump_j"], kept)      # come or gone
            touched[contacts["clump_i"][changed]] = True
        if touched.any():
            snapshot = snapshot.begun_again(sim._with_changing_forces(touched, 0), *old.last_rates())
            new = sim._loop_from(replace(snapshot, forces_known=False))
        new.evaluate()                      # the power of walls in the coming half step
        sim._exchange(new)
