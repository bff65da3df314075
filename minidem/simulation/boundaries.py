"""Topic of a `Simulation`: its walls and its periodic box."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.contacts import wall_wrenches
from minidem.analysis.diagnosis import refuse_deep_overlaps
from minidem.core.checks import finite_array, list_of, whole
from minidem.core.guard import exclusive
from minidem.core.read_only import observable
from minidem.engine.reader import Reader
from minidem.holds.hold import refuse_held
from minidem.simulation.topic import Topic
from minidem.walls import Wall, require_planes_at_rest
from minidem.walls.motion import STEERED, at_rest, driven_apart, motion_at
from minidem.walls.periodic_box import Box, PeriodicBox
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


class Boundaries(Topic):
    """Walls, and a periodic box."""

    @property
    @exclusive
    def walls_at_rest(self) -> tuple:
        """The `walls` at their present places, without motion: each is itself if it does not move."""
        return tuple(at_rest(wall, self.loop.step_count, self.dt, state)
                     for wall, state in zip(self.walls, self.reader.servo_states()))

    @exclusive
    def overlap_walls(self, spheres: ArrayLike) -> np.ndarray:
        """Which spheres overlap with walls at this instant, with a margin of rounding errors.

        Parameters
        ----------
        spheres : (n, 4) array_like
            Centres and radii, lab frame [m].

        Returns
        -------
        (n,) bool ndarray
        """
        spheres = finite_array("spheres", spheres, (-1, 4))
        return self.reader.deepest_in_walls(spheres)[0] > -rounding_errors(spheres)

    @exclusive
    def wall_force(self, k: int | str) -> np.ndarray:
        """(3,) force of all clumps on the wall with the number or name k, lab frame [N].

        A wall that carries clumps takes all forces on them: contacts, weight, user forces.
        """
        return self._wall_wrench(k)[:3]

    @exclusive
    def wall_torque(self, k: int | str, about: ArrayLike | None = None) -> np.ndarray:
        """(3,) its torque about the point `about` (3,) [m], default: the wall's centre now, lab frame [N m]."""
        return self._wall_wrench(k, None if about is None else finite_array("about", about, (3,)))[3:]

    @exclusive
    def wall_velocity(self, k: int | str) -> tuple[np.ndarray, np.ndarray]:
        """Velocity (3,) of the centre of a wall [m/s], and its angular velocity (3,) [rad/s], now, lab frame.

        `surface_velocity` is not in them. Clumps have the power wall_force(k) @ velocity + wall_torque(k) @
        angular_velocity on the wall.
        """
        k = self._number_of("k", k)
        speed = self.loop.steered_speeds()[0][k]
        return motion_at(self.walls[k], self.loop.step_count, self.dt, (0.0, speed))[1:]

    def _wall_wrench(self, k, about=None):
        k = self._number_of("k", k)
        return wall_wrenches(self, self.reader.contacts(), about)[k]

    @exclusive
    def move_wall(self, wall: int | str, motion: Any = None, velocity: ArrayLike = (0.0, 0.0, 0.0),
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
        k, old = self._number_of("wall", wall), self.loop
        new = at_rest(self.walls[k], old.step_count, self.dt, self.reader.servo_states()[k])
        new = new.with_changes(motion=motion, velocity=velocity, angular_velocity=angular_velocity,
                               center=new.center if center is None else center, since=old.step_count * self.dt,
                               surface_velocity=surface_velocity, surface_angular_velocity=surface_angular_velocity)
        self._change_walls([*self.walls[:k], new, *self.walls[k + 1:]], list(range(len(self.walls))))

    @exclusive
    def add_wall(self, wall: Wall) -> int:
        """Add a wall, which is where it is given at this instant. Returns its number, the last one.

        Its motion begins now, as in `move_wall`. It has no values of fields. The energy of contacts that begin at once
        is in `energy().exchanged`.

        Raises
        ------
        ValueError
            For a name in use, a missing pair, an overlap with a clump of more than a tenth of a radius, or a wall that
            the contact law or the periodic box cannot have. Nothing is added then.
        """
        list_of(Wall, "wall", [wall], "Plane, Cylinder, Cone or MeshWall")
        self._change_walls([*self.walls, wall.with_changes(since=self.loop.step_count * self.dt)],
                           [*range(len(self.walls)), -1])
        self.monitor.check_materials(self, [self.reader.materials[self.reader.wall_materials[-1]]])
        return len(self.walls) - 1

    @exclusive
    def remove_wall(self, wall: int | str) -> None:
        """Remove the wall with this number or name, and its contacts. The numbers of walls behind it close up.

        The energy of its contacts leaves by `energy().exchanged`. ValueError for an unknown wall.
        """
        k = self._number_of("wall", wall)
        if (self.reader.carriers() == k).any():
            raise ValueError(f"wall = {wall!r}: it carries clumps; free them before, by sim.set_motion(ids)")
        self._change_walls([*self.walls[:k], *self.walls[k + 1:]], [n for n in range(len(self.walls)) if n != k])

    def _number_of(self, argument, wall):
        """Number of the wall that has this number or name."""
        names = [one.name for one in self.walls]
        numbers = {name: k for k, name in enumerate(names)} if isinstance(wall, str) else range(len(names))
        if (wall if isinstance(wall, str) else whole(argument, wall, 0)) not in numbers:
            there = f"are {len(names)} walls" if len(names) != 1 else "is 1 wall"
            named = ", ".join(repr(name) for name in names if name)
            raise ValueError(f"{argument} = {wall!r}: there {there}, numbered from 0, with "
                             f"{f'the names {named}' if named else 'no names; md.Plane(..., name=...) gives one'}")
        return numbers[wall]

    def _change_walls(self, walls, origin):
        """Continue with these walls; origin : the number that each had before, -1 of a new one."""
        old = self.loop
        old.user_forces.check()
        primitives = checked_primitives(tuple(walls), old.state.box, self.contact, self.settings)
        origin = np.array(origin, dtype=int)
        servo_states = np.append(self.reader.servo_states(), np.zeros((1, 2)), axis=0)[origin]
        speeds, _ = old.steered_speeds()
        for k, was in enumerate(origin):
            if was < 0 or walls[k] is not self.walls[was]:
                motions = [walls[k].motion] + ([self.walls[was].motion] if was >= 0 else [])
                same = [motion.direction for motion in motions if isinstance(motion, STEERED)
                        and motion.turns == getattr(motions[0], "turns", None)]
                speed = driven_apart(walls[k])[2]
                servo_states[k] = 0.0, speed or (np.dot(*same) * speeds[was] if len(same) == 2 else 0.0)
        snapshot = old.snapshot().with_walls(primitives, origin, servo_states)
        new, touched = self._loop_from(snapshot.copy()), np.zeros(old.state.n_clumps, dtype=bool)
        refuse_deep_overlaps(Reader(new), old.state.n_clumps, walls=[k for k, was in enumerate(origin) if was < 0])
        for loop, kept in (old, origin), (new, np.flatnonzero(origin >= 0)):
            contacts = loop.contacts()
            changed = (contacts["clump_j"] < 0) & ~np.isin(-1 - contacts["clump_j"], kept)      # come or gone
            touched[contacts["clump_i"][changed]] = True
        if touched.any():
            snapshot = snapshot.begun_again(self._with_changing_forces(touched, 0), *old.last_rates())
            new = self._loop_from(replace(snapshot, forces_known=False))
        new.evaluate()                      # the power of walls in the coming half step
        self._exchange(new)

    @exclusive
    def deform(self, shear: Any = None, rates: Any = (0.0, 0.0, 0.0), affine: bool = True) -> None:
        """Change the motion of the periodic box: consolidate first, then shear; reverse a shear; stop.

        Parameters
        ----------
        shear, rates, affine
            As of `PeriodicBox`, from the next step on. Without them the box stays as it is now.

        Raises
        ------
        ValueError
            If the simulation has no periodic box, for an argument out of range, or for a shear along other axes than
            an earlier shear. The motion does not change then.

        Notes
        -----
        Contacts keep their history. With `affine` the velocities of the clumps change with the flow in the next step. A
        `Pressure` begins with the strain rate of this instant.
        """
        old = self.loop
        if old.state.box is None:
            raise ValueError("deform: the simulation has no periodic box; give periodic=md.PeriodicBox(...) to "
                             "Simulation")
        box = old.state.box.with_motion(shear, rates, affine).continued(
            since=old.step_count * self.dt, begins=old.steered_speeds()[1].tolist())
        refuse_held(old.state.hold, box)
        box.refuse_walls(self.walls)
        snapshot = old.snapshot()
        if old.user_forces.acts:                        # they see the change of the flow
            old.user_forces.check()
            snapshot = self._with_new_forces(snapshot)
        new = self._loop_from(replace(snapshot, state=snapshot.state.with_box(box)))
        for k, template in enumerate(old.state.templates):
            new.box.refuse_large(template, old.state.scale[old.state.template_index == k])
        if new.forces_known:                # the power of the box in the coming half step
            new.evaluate()
        self.monitor.forget_energy()
        self._use(new)

    @property
    def periodic(self) -> tuple | PeriodicBox | None:
        """The periodic box as it was given, or changed by `deform`."""
        return self.reader.periodic and self.reader.periodic.setting

    @property
    def box(self) -> Box | None:
        """The periodic box at this instant: corners, lattice, strain, velocity gradient, flow(position)."""
        return self.reader.box

    @observable
    def strain(self) -> np.ndarray:
        """(4,) logarithmic strains of the axes of the periodic box, and its shear strain, since the first step."""
        return np.zeros(4) if self.box is None else self.box.strain.copy()

    @observable
    def wrapped_position(self) -> np.ndarray:
        """(n_clumps, 3) `position` moved by whole lengths of the periodic box into it, lab frame [m]."""
        position, box = self.reader.column("position"), self.box
        return position if box is None else box.wrapped(position)

    @observable
    def image(self) -> np.ndarray:
        """(n_clumps, 3) int64, by how many lengths of the periodic box `position` is outside; 0 along open axes."""
        position, box = self.reader.column("position"), self.box
        return np.zeros(position.shape, dtype=np.int64) if box is None else box.image(position)
