"""Topic of a `Simulation`: its clumps."""
from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem.analysis.diagnosis import FEW, refuse_coincidence, refuse_deep_overlaps, warn_of_large_step
from minidem.analysis.energy import flow_energy, measure
from minidem.core.checks import LARGEST, as_array, finite_array, non_negative, short_repr, unit_quaternions, unit_vector
from minidem.core.guard import exclusive
from minidem.core.quaternions import multiply, rotate, rotate_back
from minidem.core.read_only import observable
from minidem.engine.reader import Reader
from minidem.holds.hold import holds_of, refuse_held
from minidem.material import Material, require_materials
from minidem.simulation.topic import Topic
from minidem.simulation.walls import checked_primitives, wall_number
from minidem.templates.clump_template import ClumpTemplate, template_scales
from minidem.walls import Carrier
from minidem.walls.motion import motion_at

FREE = (1.0, 1.0, 1.0), True, None, None    # see _checked_hold


class Clumps(Topic):
    """Clumps are added, held and removed. Arrays are copies, at the whole step, in the order of `ids`."""

    @exclusive
    def add_clumps(self, template: ClumpTemplate, position: ArrayLike, orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
                   *, velocity: ArrayLike = (0.0, 0.0, 0.0), angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
                   scale: ArrayLike = 1.0, material: Material | None = None, overlap: float = 0.1, free: str = "xyz",
                   turns: ArrayLike = "xyz", pin: ArrayLike | None = None, motion: Any = None) -> np.ndarray:
        """Add clumps of one template, many in one call: a call costs 3 to 6 us per clump already there.

        Parameters
        ----------
        template : ClumpTemplate
        position : (n, 3)
            Centres of mass, lab frame [m].
        orientation : (n, 4) or (4,)
            Quaternions (w, x, y, z), template frame -> lab.
        velocity : (n, 3) or (3,)
            Lab frame [m/s].
        angular_velocity : (n, 3) or (3,)
            Lab frame [rad/s].
        scale : (n,) or float
            Factor of all lengths of a clump, about its centre of mass; mass scales with its cube, inertia with its
            fifth power.
        material : Material, optional
            Of these clumps; default: the simulation's. A simulation has at most 1000 materials.
        overlap : float
            Largest overlap with another clump or a wall, over the smaller radius, below 2; more than the default for a
            state that a simulation has reached. Springs of friction begin at zero.
        free, turns, pin, motion
            How the clumps are held, as of `set_motion`. Along axes that are not free, and without rotation, they keep
            the velocities given here.

        Returns
        -------
        (n,) int64
            Ids of the new clumps (`ids`). They are indices, too, unless clumps were removed before.

        Raises
        ------
        ValueError
            For a bad value, a larger overlap, a missing pair, a template of another density than the material, or a
            clump too large for the periodic box. Nothing is added then.
        """
        material = self.material if material is None else material
        columns = _columns(template, position, orientation, velocity, angular_velocity, scale, material)
        if not non_negative("overlap", overlap) < 2.0:
            raise ValueError(f"overlap = {overlap}: give a number below 2, the overlap of spheres in one place")
        old, n = self.loop, len(columns[0])
        first = old.state.n_clumps
        if old.box is not None:
            old.box.refuse_large(template, columns[-1])
        how = _checked_hold(free, turns, pin, motion, *map(np.any, columns[2:4]))
        if n > FEW and motion is None and (how[1] is not False or any(how[0])):
            refuse_coincidence(template, columns[0], columns[1], columns[-1], first, overlap)
        snapshot = old.snapshot().with_clumps(template, material, columns)
        if how != FREE:
            spin = rotate(columns[1], columns[3])
            snapshot = self._held(snapshot, np.arange(first, first + n), how, columns[2], spin)
        new = self._loop_from(snapshot)
        reader = Reader(new)
        refuse_deep_overlaps(reader, first, overlap)
        warn_of_large_step(self, reader, first)
        self.monitor.check_landing(self, reader, first)
        self.monitor.check_materials(self, [material])
        self._exchange(new)
        return new.population.ids[first:].copy()

    @exclusive
    def set_motion(self, ids: ArrayLike, *, free: str = "xyz", turns: ArrayLike = "xyz", pin: ArrayLike | None = None,
                   motion: Any = None, velocity: ArrayLike | None = None,
                   angular_velocity: ArrayLike | None = None) -> None:
        """Hold clumps from now on, or free them, and set their velocities.

        Held clumps are fixed, move as given, or are free in part. By default clumps are free, and keep their
        velocities or begin with other ones: ``sim.set_motion(sim.ids, velocity=(1, 0, 0))`` throws them all.

        Parameters
        ----------
        ids : (n,) array_like of int
            Ids of the clumps, each once.
        free : str
            Axes of the lab along which forces move the centres: "xyz", "xz", "" for none. Along the others velocities
            are constant.
        turns : str or (3,) array_like
            "xyz": torques turn the clumps; "x", "y", "z" or a vector: about this axis of the lab only; "": they turn
            with constant angular velocities.
        pin : (3,) array_like, optional
            A point of each clump that stays where it is now, lab frame [m]; with one axis of `turns` a hinge.
        motion : int, str, callable, Servo or Driven, optional
            Number or name of a wall that carries the clumps from now on; or a motion as of a `Plane`, with `pin` as the
            centre of its rotation, by default the mean of the positions. For this one a wall without a surface is made,
            the last one of `sim.walls`. The velocity of clumps that a Servo or Driven carries lags by half a
            step.
        velocity, angular_velocity : (n, 3) or (3,) array_like, optional
            Of the clumps now, lab frame [m/s], [rad/s]. Default: the present ones, but zero along axes that are not
            free, and for the rotation with turns="".

        Raises
        ------
        ValueError
            For an unknown id, two axes in `turns`, a velocity at a pin, a periodic box that moves, or a bad value.
            Nothing changes then.

        Notes
        -----
        Two clumps that no force moves do not touch, nor does one of them touch a wall; contacts and bonds of two that
        are at rest persist. `energy()` counts kinetic and potential energy of what is free, and the work that held
        clumps do while they move; energy that appears or vanishes here is in `exchanged`. `sim.force` and `sim.torque`
        contain contacts, gravity and user forces, also on what is fixed.
        """
        (chosen, clumps), old = marked(ids, self.reader.population.ids), self.loop
        how = _checked_hold(free, turns, pin, motion, velocity is not None, angular_velocity is not None)
        n = len(clumps)
        if not n:
            return
        old.user_forces.check()
        rates = old.rates()
        present = rates[0] * how[0], rotate(old.state.column("orientation"), rates[1]) * (how[1] is not False)
        given = [now[clumps] if value is None else finite_array(name, value, (n, 3), repeat=True, limit=LARGEST)
                 for name, value, now in zip(("velocity", "angular_velocity"), (velocity, angular_velocity), present)]
        snapshot = old.snapshot().begun_again(self._with_changing_forces(chosen, 0), *rates)
        self._exchange(self._loop_from(replace(self._held(snapshot, clumps, how, *given), forces_known=False)))

    def _held(self, snapshot, clumps, how, velocity, angular_velocity):
        """The snapshot with clumps (k,) held; how : of _checked_hold;  velocities : (k, 3), lab."""
        (*how, motion), wall, stages = how, -1, len(self.settings.scheme.stages)
        if not (how[2] is None and motion is None) and stages > 1:
            raise ValueError("pin, motion: they need a rotation scheme with one evaluation of forces per step, and "
                             f"{self.rotation!r} has {stages}; take another scheme")
        if motion is not None:
            position, walls, step = snapshot.state.column("position")[clumps], list(self.walls), self.step_count
            if isinstance(motion, (int, np.integer, str)):
                wall = wall_number(self, "motion", motion)
            else:
                material = snapshot.pair_table.materials[snapshot.state.material_index[clumps[0]]]
                walls.append(Carrier(np.mean(position, axis=0) if how[2] is None else how[2], material=material,
                                     motion=motion, since=step * self.dt))
                wall, servo_states = len(walls) - 1, np.append(self.reader.servo_states(), np.zeros((1, 2)), axis=0)
                primitives = checked_primitives(tuple(walls), self.reader.periodic, self.contact, self.settings)
                snapshot = snapshot.with_walls(primitives, np.append(np.arange(wall), -1), servo_states)
            servo_state = (0.0, 0.0) if wall == len(self.walls) else (
                self.reader.servo_states()[wall, 0], self.loop.steered_speeds()[0][wall])
            center, speed, angular_velocity = motion_at(walls[wall], step, self.dt, servo_state)
            angular_velocity = np.tile(angular_velocity, (len(clumps), 1))
            velocity, how = speed + np.cross(angular_velocity, position - center), ((0.0,) * 3, False, None)
        snapshot = snapshot.with_hold(clumps, holds_of(snapshot.state, clumps, *how, wall), velocity, angular_velocity)
        refuse_held(snapshot.state.hold, snapshot.state.box)
        return snapshot

    @exclusive
    def remove_clumps(self, ids: ArrayLike, *, outlet: str | None = None) -> None:
        """Remove clumps, and their contacts.

        Parameters
        ----------
        ids : (n,) array_like of int
            Ids of the clumps (`sim.ids`), each once. The others keep their ids; indices close up.
        outlet : str, optional
            Name under which `sim.outflow` counts them. Default: they are not counted.

        Raises
        ------
        ValueError
            For an id that is not present, or given twice. Nothing is removed then.

        Notes
        -----
        Clumps that were in contact with removed ones, or all with user forces, get new forces at the same positions,
        and begin the next step with half a step back, as new ones do. The energy that leaves is in
        `energy().exchanged`. Remove many clumps in one call, which costs 3 to 8 us per clump that is there.
        """
        if not (outlet is None or isinstance(outlet, str)):
            raise ValueError(f"outlet = {short_repr(outlet)}: give a name, or None")
        gone, _ = marked(ids, self.reader.population.ids)
        if not gone.any():
            return
        self.reader.user_forces.check()
        changed, left = self._with_changing_forces(gone, 1), self.reader.column("mass")[gone]
        snapshot = self.loop.snapshot().begun_again(changed, *self.loop.last_rates()).without(gone)
        if outlet is not None:
            snapshot = replace(snapshot, population=snapshot.population.with_outflow(outlet, left))
        self._exchange(self._loop_from(replace(snapshot, forces_known=not changed[~gone].any())))

    @observable
    def ids(self) -> np.ndarray:
        """(n_clumps,) int64, ids of the present clumps, ascending. The id of a removed clump is never used again.

        All arrays of clumps are in this order. Ids are equal to the indices 0, 1, ... unless clumps were removed.
        """
        return self.reader.population.ids.copy()

    @property
    def outflow(self) -> dict:
        """What outlets have removed since the start: name -> (number of clumps, mass [kg]); (0, 0.0) of others."""
        return defaultdict(lambda: (0, 0.0), self.reader.population.outflow)

    @property
    def n_clumps(self) -> int:
        """Number of clumps."""
        return self.reader.n_clumps

    @property
    def n_spheres(self) -> int:
        """Number of spheres of all clumps."""
        return self.reader.n_spheres

    @property
    def templates(self) -> tuple:
        """The ClumpTemplates in use; `template_index` refers to them."""
        return tuple(self.reader.templates)

    @observable
    def template_index(self) -> np.ndarray:
        """(n_clumps,) int32, index of each clump's template in `templates`."""
        return self.reader.template_index.copy()

    @observable
    def scale(self) -> np.ndarray:
        """(n_clumps,) ratio of the lengths of each clump to the lengths of its template."""
        return self.reader.scale.copy()

    @property
    def materials(self) -> tuple:
        """The Materials of the simulation, its walls and clumps; `material_index` refers to them."""
        return self.reader.materials

    @observable
    def material_index(self) -> np.ndarray:
        """(n_clumps,) int32, index of each clump's material in `materials`."""
        return self.reader.material_index.copy()

    @observable
    def mass(self) -> np.ndarray:
        """(n_clumps,) [kg]."""
        return self.reader.column("mass")

    @observable
    def position(self) -> np.ndarray:
        """(n_clumps, 3) centres of mass, lab frame [m]; in a periodic box without jumps at its faces."""
        return self.reader.column("position")

    @observable
    def orientation(self) -> np.ndarray:
        """(n_clumps, 4) unit quaternions (w, x, y, z), template frame -> lab frame."""
        return multiply(self.reader.column("orientation"), self.reader.template_frames())

    @observable
    def velocity(self) -> np.ndarray:
        """(n_clumps, 3) of `position`, lab frame [m/s]; `box.flow(position)` is the velocity of a moving periodic box.

        The mean of two half steps: with noise, its square is lower than theirs (guide, extensions).
        """
        return self.reader.rates()[0]

    @observable
    def angular_velocity(self) -> np.ndarray:
        """(n_clumps, 3) lab frame [rad/s]."""
        return rotate(self.reader.column("orientation"), self.reader.rates()[1])

    @observable
    def body_angular_velocity(self) -> np.ndarray:
        """(n_clumps, 3) principal frame [rad/s]."""
        return self.reader.rates()[1]

    @observable
    def force(self) -> np.ndarray:
        """(n_clumps, 3) gravity included, lab frame [N]."""
        self.loop.evaluate_forces()
        return self.reader.column("force")

    @observable
    def torque(self) -> np.ndarray:
        """(n_clumps, 3) about the centres of mass, lab frame [N m]."""
        self.loop.evaluate_forces()
        return rotate(self.reader.column("orientation"), self.reader.column("torque"))

    @observable
    def sphere_radii(self) -> np.ndarray:
        """(n_spheres,) [m]."""
        return self.reader.sphere_radii()

    @observable
    def sphere_clump(self) -> np.ndarray:
        """(n_spheres,) int, index of the clump of each sphere."""
        return np.repeat(np.arange(self.n_clumps), self.reader.sphere_counts())

    @observable
    def sphere_centers(self) -> np.ndarray:
        """(n_spheres, 3) lab frame [m]; in a periodic box next to the `position` of their clump."""
        return self.reader.spheres()[:, :3].copy()

    def _with_changing_forces(self, clumps, far):
        """(n_clumps,) bool, `clumps` and those up to `far` contacts away, on which forces change with them.

        An onset correction depends on the other forces on both clumps.
        """
        law, contacts = self.settings.law, self.reader.contacts()
        i, j = (contacts[name][contacts["clump_j"] >= 0] for name in ("clump_i", "clump_j"))
        changed = clumps | (self.reader.user_forces.expected > 0)
        for _ in range(far + law.corrects_onsets(self.settings.law_values)):
            changed[np.concatenate([j[changed[i]], i[changed[j]]])] = True
        return changed

    def _exchange(self, new, entry="exchanged"):
        """Replace the loop by one with other clumps. From the first step on the energy balance is continuous.

        entry : of the Population and of `Energy`, for what the energy changes
        """
        old, reader = self.reader, Reader(new)
        new.population = replace(new.population, work=new.population.work + flow_energy(old) - flow_energy(reader))
        if self.step_count:
            before, after = (measure(one).balance for one in (old, reader))
            total = getattr(new.population, entry) + (after - before)
            new.population = replace(new.population, **{entry: total})
        self._use(new)


def _columns(template, position, orientation, velocity, angular_velocity, scale, material):
    """Columns of new clumps: position (n, 3), orientation (n, 4) principal frame -> lab, velocity (n, 3), scale (n,)
    and, before it, angular velocity (n, 3) in the principal frame.
    """
    if not isinstance(template, ClumpTemplate):
        raise ValueError(f"template = {short_repr(template)}: give a minidem.ClumpTemplate")
    require_materials(material=material)
    checked_density(material, template)
    if as_array("position", position).ndim == 1 and len(position) == 3:
        position = [position]
    position = finite_array("position", position, (-1, 3), limit=LARGEST)
    n = len(position)
    orientation = unit_quaternions("orientation", orientation, n, stacklevel=4)
    velocity = finite_array("velocity", velocity, (n, 3), repeat=True, limit=LARGEST)
    angular_velocity = finite_array("angular_velocity", angular_velocity, (n, 3), repeat=True, limit=LARGEST)
    scale = template_scales(template, scale, n)
    internal = multiply(orientation, template.orientation)
    return position, internal, velocity, rotate_back(internal, angular_velocity), scale


def _checked_hold(free, turns, pin, motion, velocity, angular_velocity):
    """(free (3,) of 0 and 1; turns: True, False or a unit vector (3,); pin (3,) or None; motion), tuples.

    velocity, angular_velocity : bool, whether they are given
    """
    if velocity and pin is not None:
        raise ValueError("velocity: at a pin it follows from angular_velocity; leave velocity out")
    if motion is not None and (velocity or angular_velocity or not free == turns == "xyz"):
        raise ValueError("motion: it says all; leave out free, turns, velocity and angular_velocity, or the motion")
    if not isinstance(free, str) or set(free) - set("xyz") or len(set(free)) < len(free):
        raise ValueError(f"free = {short_repr(free)}: give axes along which forces move the centre, as 'xz', or ''")
    if isinstance(turns, str) and turns and sorted(turns) != ["x", "y", "z"]:
        if turns not in ("x", "y", "z"):
            raise ValueError(f"turns = {turns!r}: give 'xyz', '' for none, or one axis, 'x', 'y', 'z' or a vector; "
                             "rotations about two axes combine into one about the third")
        turns = [float(axis == turns) for axis in "xyz"]
    if not isinstance(turns, str):
        turns = tuple(unit_vector("turns", turns, "give the axis of rotation, 'xyz' or ''").tolist())
    if pin is not None:
        pin = tuple(finite_array("pin", pin, (3,), limit=LARGEST).tolist())
        if free != "xyz":
            raise ValueError(f"free = {free!r}: a pin holds the centre already; leave out free, or the pin")
    return tuple(float(axis in free) for axis in "xyz"), bool(turns) if isinstance(turns, str) else turns, pin, motion


def checked_density(material, template):
    """ValueError for a template of another density than its material has."""
    if material.density not in (None, template.density):
        raise ValueError(f"material has the density {material.density}, and the template {template.density}: make the "
                         "template with the density of the material, or the material without one")


def marked(ids, present):
    """(n_clumps,) bool, True for the clumps with these ids, all of which must be present; and their indices (k,)."""
    given = as_array("ids", ids)
    if given.ndim != 1 or given.size and given.dtype.kind not in "iu":
        raise ValueError(f"ids = {short_repr(ids)}: give a list of whole numbers, as in sim.ids")
    wanted, counts = np.unique(given, return_counts=True)
    unknown = wanted[~np.isin(wanted, present)]
    if len(unknown):
        raise ValueError(f"ids: there is no clump with the id {unknown[0]}; sim.ids has those that are present")
    if (counts > 1).any():
        raise ValueError(f"ids: {wanted[np.argmax(counts > 1)]} is given {counts.max()} times; give each id once")
    return np.isin(present, wanted), np.searchsorted(present, given)
