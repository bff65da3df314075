"""The simulation: clumps, walls and settings, and all that can be read of it or done with it.

`Simulation` is a list of what there is. Its time loop belongs to an `Engine` (engine/engine.py), its warnings to a
`Monitor` (analysis/monitor.py); longer methods are functions of the modules named beside them.
"""
from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minidem import bonds as bonding, changes, fields as fielding
from minidem.analysis import contacts as contact_sums, energy as energies
from minidem.analysis.diagnosis import explain_pose
from minidem.analysis.monitor import Monitor
from minidem.core.checks import (
    LARGEST,
    check_call,
    did_you_mean,
    existing_file,
    file_path,
    finite_array,
    list_of,
    non_negative,
    positive,
    short_repr,
    whole,
)
from minidem.core.guard import exclusive
from minidem.core.quaternions import multiply, rotate
from minidem.core.read_only import observable
from minidem.core.threads import checked_threads
from minidem.engine.chunked_run import Pacer, steps_to_reach
from minidem.engine.driver import NotFinite
from minidem.engine.engine import Engine
from minidem.material import Material, Pair, require_materials
from minidem.output import checkpoint, lammps, vtu
from minidem.state.bodies import frames_to_drawn
from minidem.state.periodic_box import Box, PeriodicBox, periodic_box
from minidem.walls import Wall, require_planes_at_rest, wall_list
from minidem.walls.motion import at_rest

MOST_STEPS = 2.0 ** 53  # with more, times of different steps are equal
BETWEEN_COPIES = 200    # times the duration of a copy of the state, to which a run goes back if a step fails
MOST_COPIED = 300_000   # spheres of such a copy, 0.7 kB each in a bed with friction


class Simulation:
    """Rigid clumps with contacts between them and with walls, in unbounded space or a periodic box.

    Parameters
    ----------
    material : Material
        Of all clumps and walls without a material of their own.
    walls : list of Plane, Cylinder, Cone and MeshWall, optional
        `md.box(low, high)` makes six planes. None or []: unbounded space.
    rotation : str
        Rotation scheme, 'name' or 'name:parameter=value'; `md.rotation.available()` lists the names.
    contact : str
        Contact law, likewise; `md.contact.available()`. 'hertz:onset=corrected' conserves energy much better;
        'hertz-mindlin:rolling=epsd' has damping, friction and rolling resistance.
    dt : float
        Time step [s]. A step above the Rayleigh step of the smallest sphere warns once.
    gravity : (3,) array_like
        Acceleration [m/s2], lab frame.
    threads : int, optional
        Largest number of threads; default: all processors that the process may use, or OMP_NUM_THREADS. Small systems
        use fewer: a thread pays from about 2000 spheres on. Results do not depend on it, to the last bit.
    pairs : list of Pair, optional
        Of each two different materials that can meet, for a contact law that reads properties of pairs
        (`md.contact.info(name).reads_of_pairs`).
    periodic : tuple or PeriodicBox, optional
        (low (3,), high (3,), (bool, bool, bool)): corners of a box [m], and along which axes it is periodic. Along open
        axes the corners are drawn only. It must be longer than the diameter of any clump and than four radii of any
        sphere. An `md.PeriodicBox` may be sheared, compressed, or held under a pressure.

    Raises
    ------
    ValueError
        For an argument out of range; the message names argument, value and remedy.

    Warns
    -----
    UserWarning
        For a property of a material or pair, or a parameter of the contact law, that the law does not read.

    Notes
    -----
    In a periodic box two spheres interact by their nearest images. `position` and all that is computed from it are in
    unbounded space, without jumps at the faces; `wrapped_position` is in the box. `velocity` belongs to `position`: in
    a box that is sheared, a clump that is n boxes away has another velocity than its image in the box.

    copy.deepcopy and pickle make an independent simulation that continues with the same bits. Only one Python thread at
    a time may use a simulation; another thread, or a user force during a step, gets a RuntimeError.
    """

    material: Material
    walls: tuple[Wall, ...]
    rotation: str
    contact: str
    dt: float
    gravity: tuple[float, float, float]
    pairs: tuple[Pair, ...]
    engine: Engine
    monitor: Monitor

    def __init__(self, material: Material, walls: Iterable[Wall] | None = None, rotation: str = "spiral",
                 contact: str = "hertz", dt: float | None = None, gravity: ArrayLike = (0.0, 0.0, 0.0),
                 threads: int | None = None, pairs: Iterable[Pair] | None = None,
                 periodic: tuple | PeriodicBox | None = None):
        require_materials(material=material)
        if dt is None:
            raise ValueError("dt = None: give the time step in seconds; material.rayleigh_step(radius, density) "
                             "is its usual upper limit")
        box, walls = periodic_box(periodic), tuple(wall_list("walls", walls))
        if box is not None:
            box.refuse_walls(walls)
        vars(self).update(material=material, walls=walls, dt=positive("dt", dt),
                          gravity=tuple((finite_array("gravity", gravity, (3,), limit=LARGEST) + 0.0).tolist()),
                          rotation=str(rotation), contact=str(contact), pairs=tuple(list_of(Pair, "pairs", pairs)))
        engine = Engine(material, walls, self.pairs, box, rotation, contact, self.dt, self.gravity,
                        checked_threads(threads))
        if engine.law.corrects_onsets(engine.law_values):
            require_planes_at_rest(self.contact, self.walls)
        vars(self).update(engine=engine, monitor=Monitor())
        self._pacer, self._copy_due = Pacer(), 0.0          # _copy_due: when the next copy of the state is made [s]
        self.monitor.check_materials(self, (*self.materials, *self.pairs))
        self.monitor.check_parameters(self)

    def __setattr__(self, name, value):
        """Refuse to change settings: the time loop has copies of them."""
        if name.startswith("_"):
            super().__setattr__(name, value)
        elif hasattr(type(self), name) or name in vars(self):
            raise AttributeError(f"{name} cannot be set: make a new Simulation")
        elif type(self) is not Simulation:              # attributes of derived classes
            super().__setattr__(name, value)
        else:
            raise AttributeError(f"a Simulation has no attribute {name!r}{did_you_mean(name, dir(self))}")

    def __repr__(self):
        return (f"<Simulation of {self.n_clumps} clumps ({self.n_spheres} spheres): rotation {self.rotation!r}, dt "
                f"{self.dt:g} s, step {self.step_count}, time {self.time:.6g} s>")

    @exclusive
    def run(self, steps: int, every: int | None = None, callback: Callable | None = None) -> None:
        """Advance by `steps` steps.

        Parameters
        ----------
        steps : int
        every, callback : int and callable, optional
            callback(simulation) is called after every `every` steps, at whole steps. A callback that has an attribute
            `every` of its own, such as an `Inlet`, needs the same number here. If it raises, clumps and forces
            that it has added or removed are taken back, and the next run with a callback first calls it again at the
            same step, also after `save` and `load`. So a callback that writes files may be called twice at a step.

        Raises
        ------
        FloatingPointError
            In the step in which a position or orientation becomes non-finite, with step, clump, cause and remedy.
        KeyboardInterrupt
            Within a fraction of a second after Ctrl-C, between two steps or in a callback. The simulation can be
            queried, saved or run on with the bits of an undisturbed run; likewise when a user function raises during a
            step, which is then undone.
        MemoryError, or the error of a compiled contact law
            The simulation can be queried, saved or run on with the bits of an undisturbed run. If the error was within
            a step, it is at an earlier step: the message says which. Callbacks since then are called again. Of more
            than 300 000 spheres there is no copy to go back to: the last checkpoint continues.

        Warns
        -----
        UserWarning
            Once of each: a deep overlap, a clump behind a wall or outside its closed mesh, clumps that fall for ever, a
            wall that has left all clumps, a step that is large for a contact, its dashpots, a field or a speed, a
            density that nobody gave, and others. The guide (measurements) has all, and when.
        """
        steps = whole("steps", steps, 0)
        if (every is None) != (callback is None):
            raise ValueError("every and callback belong together: give both or none")
        if callback is not None:
            if not callable(callback):
                raise ValueError(f"callback = {short_repr(callback)}: give a function of the simulation")
            check_call("callback", callback, "simulation")
            own = getattr(callback, "every", every)
            if isinstance(own, int) and own != every:
                raise ValueError(f"every = {every}: the callback acts every {own} steps by its own `every`; give "
                                 f"every={own} to run, or make it with every={every}")
        every, engine = steps if every is None else whole("every", every, 1), self.engine
        end = self.step_count + steps
        while True:
            if callback and engine.due == self.step_count and self.step_count % every == 0:
                self._call(callback, every)
            step = self.step_count
            if step >= end:
                return
            stop = min(end, (step // every + 1) * every) if callback else end
            if step < self.monitor.due < stop:
                stop = self.monitor.due
            engine.due = stop if callback and stop % every == 0 else None
            self._prepare()
            self._advance(stop - step)
            if stop >= self.monitor.ready:
                self.monitor.look(self)

    def _call(self, callback, every):
        """Call the callback that is due; if it raises it remains so, with the clumps and forces of before."""
        engine, loop, step = self.engine, self.engine.loop, self.step_count
        engine.calls_every = every
        try:
            callback(self)
            engine.due = None
        except BaseException:
            if self.step_count == step:
                engine.loop, engine.due = loop, step
            raise
        finally:
            engine.calls_every = None

    def run_until(self, t: float, every: int | None = None, callback: Callable | None = None) -> None:
        """Advance by the fewest steps that reach time t [s], by none if t is past; otherwise like `run`."""
        t = non_negative("t", t)
        if t > MOST_STEPS * self.dt:
            raise ValueError(f"t = {t}: more than 2^53 steps of dt = {self.dt} away; check the units")
        self.run(max(0, steps_to_reach(t, self.dt) - self.step_count), every, callback)

    def _prepare(self):
        """Forces at the present positions, and half a step back for new clumps."""
        self.engine.user_forces.check()
        self.engine.evaluate_forces()
        self.engine.loop.start(self.dt)

    def _advance(self, steps):
        engine = self.engine
        try:
            self._pacer.run(self._run_piece, steps)
        except NotFinite as error:
            raise FloatingPointError(f"step {self.step_count + 1} (time {self.time + self.dt:.6g} s): {error}. "
                                     + explain_pose(self)) from None
        except Exception as error:
            if engine.loop.broken is None or engine.loop.copy is None:
                raise
            step, due = self.step_count + 1, engine.due
            before = checkpoint.restored(*engine.loop.copy).engine
            engine.loop, engine.guard = before.loop, before.guard
            engine.due = due if due == self.step_count else None
            error.args = (f"{error} in step {step}: the simulation is back at step {self.step_count} (time "
                          f"{self.time:.6g} s), where it can be read, saved and run on with equal bits",)
            raise

    def _run_piece(self, steps):
        """Run so many steps, with a copy of an earlier state: a step that fails leaves forces and contacts incomplete.

        Loops that call Python in each step keep a copy of their own. Of more spheres than MOST_COPIED there is none.
        """
        loop, began = self.engine.loop, perf_counter()
        if not loop.undoes_steps and self.n_spheres <= MOST_COPIED and (loop.copy is None or began >= self._copy_due):
            loop.copy = None                    # its memory is used for the next one
            loop.copy = self.__reduce__()[1]
            now = perf_counter()
            self._copy_due = now + BETWEEN_COPIES * (now - began)
        loop.run(steps)

    @exclusive
    def save(self, path: str | Path) -> None:
        """Write a checkpoint, from which `Simulation.load` continues with the same bits."""
        checkpoint.save(file_path("path", path), self)

    @classmethod
    def load(cls, path: str | Path, threads: int | None = None,
             motions: dict[int | str, Any] | None = None, forces: str = "expect") -> Simulation:
        """Read a checkpoint.

        Parameters
        ----------
        path : path
        threads : int, optional
            As for a new simulation.
        motions : dict, optional
            What files do not contain: motions of walls that are functions, by the number of the wall, and with the key
            'periodic' a PeriodicBox whose rates are functions.
        forces : {"expect", "drop"}
            User forces of the simulation that was saved: "expect" that they are added again before the next step, or
            continue without them from the same positions and velocities. `energy().work` keeps what they have done.

        Raises
        ------
        FileNotFoundError
        ValueError
            For a file that is not a checkpoint, or is damaged.
        """
        if forces not in ("expect", "drop"):
            raise ValueError(f"forces = {short_repr(forces)}: give 'expect', to add the user forces again, or 'drop'")
        path = existing_file("path", path, "give a file that Simulation.save has written, or checkpoint.npz of a run")
        sim = checkpoint.load(path, cls, threads, motions)[0]
        if forces == "drop" and sim.engine.user_forces.expected:
            changes.drop_forces(sim)
        return sim

    @exclusive
    def __reduce__(self):
        return checkpoint.restored, (type(self), *checkpoint.pack(self), self.engine.threads,
                                     self.engine.user_forces.forces, checkpoint.motions_of(self), self.monitor.issued)

    def __copy__(self):
        return copy.deepcopy(self)

    # Clumps, user forces, motion of the box: changes.py.
    add_clumps, remove_clumps = exclusive(changes.add_clumps), exclusive(changes.remove_clumps)
    add_force, deform = exclusive(changes.add_force), exclusive(changes.deform)
    add_bonds, bonds = exclusive(bonding.add_bonds), exclusive(bonding.bonds)
    broken_bonds, add_flux = exclusive(bonding.broken_bonds), exclusive(fielding.add_flux)
    add_field, set_field = exclusive(fielding.add_field), exclusive(fielding.set_field)
    field, fields = exclusive(fielding.field), property(exclusive(fielding.fields))

    @property
    def user_forces(self):
        """Functions given to `add_force`, a tuple, in the order of the calls."""
        return tuple(force.function for force in self.engine.user_forces.forces if not force.is_flux)

    # Contacts: analysis/contacts.py.
    contacts = exclusive(contact_sums.contacts)
    contact_columns = contact_sums.contact_columns
    coordination_number = exclusive(contact_sums.coordination_number)
    stress = exclusive(contact_sums.stress)
    wall_force, wall_torque = exclusive(contact_sums.wall_force), exclusive(contact_sums.wall_torque)

    # Files for other programs: output/.
    write_vtu, write_lammps = exclusive(vtu.write_vtu), exclusive(lammps.write_lammps)
    write_contacts, write_bonds = exclusive(vtu.write_contacts), exclusive(vtu.write_bonds)
    read_lammps: Any = classmethod(lammps.read_lammps)

    # What can be read, at the whole step: arrays are copies in the order in which clumps were added, that of `ids`.
    @observable
    def ids(self) -> np.ndarray:
        """(n_clumps,) int64, ids of the present clumps, ascending. The id of a removed clump is never used again.

        All arrays of clumps are in this order. Ids are equal to the indices 0, 1, ... unless clumps were removed.
        """
        return self.engine.loop.population.ids.copy()

    @property
    def outflow(self) -> dict:
        """What outlets have removed since the start: name -> (number of clumps, mass [kg]); (0, 0.0) of others."""
        return defaultdict(lambda: (0, 0.0), self.engine.loop.population.outflow)

    @property
    def n_clumps(self) -> int:
        """Number of clumps."""
        return self.engine.state.n_clumps

    @property
    def n_spheres(self) -> int:
        """Number of spheres of all clumps."""
        return self.engine.state.n_spheres

    @property
    @exclusive
    def walls_at_rest(self) -> tuple:
        """The `walls` at their present places, without motion: each is itself if it does not move."""
        return tuple(at_rest(wall, self.step_count, self.dt, state)
                     for wall, state in zip(self.walls, self.engine.loop.walls.servo_states))

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
        return self.engine.loop.overlap_walls(finite_array("spheres", spheres, (-1, 4)))

    @property
    def templates(self) -> tuple:
        """The ClumpTemplates in use; `template_index` refers to them."""
        return tuple(self.engine.state.templates)

    @observable
    def template_index(self) -> np.ndarray:
        """(n_clumps,) int32, index of each clump's template in `templates`."""
        return self.engine.state.template_index.copy()

    @observable
    def scale(self) -> np.ndarray:
        """(n_clumps,) ratio of the lengths of each clump to those of its template."""
        return self.engine.state.scale.copy()

    @property
    def materials(self) -> tuple:
        """The Materials of the simulation, its walls and clumps; `material_index` refers to them."""
        return self.engine.loop.pair_table.materials

    @observable
    def material_index(self) -> np.ndarray:
        """(n_clumps,) int32, index of each clump's material in `materials`."""
        return self.engine.state.material_index.copy()

    @property
    def threads(self) -> int:
        """Number of threads of the time loop."""
        return self.engine.loop.threads

    @property
    @exclusive
    def statistics(self) -> dict:
        """Skins, sizes and rebuilds of the Verlet lists since clumps were last added or removed."""
        return self.engine.loop.statistics

    @property
    def step_count(self) -> int:
        """Number of steps done."""
        return self.engine.loop.step_count

    @property
    def time(self) -> float:
        """step_count * dt [s]."""
        return self.step_count * self.dt

    @property
    def periodic(self) -> tuple | PeriodicBox | None:
        """The periodic box as it was given, or changed by `deform`."""
        return self.engine.state.box and self.engine.state.box.setting

    @property
    def box(self) -> Box | None:
        """The periodic box at this instant: corners, lattice, strain, velocity gradient, flow(position)."""
        return self.engine.box

    @observable
    def strain(self) -> np.ndarray:
        """(4,) logarithmic strains of the axes of the periodic box, and its shear strain, since the first step."""
        return np.zeros(4) if self.box is None else self.box.strain.copy()

    @observable
    def mass(self) -> np.ndarray:
        """(n_clumps,) [kg]."""
        return self.engine.state.column("mass")

    @observable
    def position(self) -> np.ndarray:
        """(n_clumps, 3) centres of mass, lab frame [m]; in a periodic box without jumps at its faces."""
        return self.engine.state.column("position")

    @observable
    def wrapped_position(self) -> np.ndarray:
        """(n_clumps, 3) `position` moved by whole lengths of the periodic box into it, lab frame [m]."""
        return self.engine.in_box()[0]

    @observable
    def image(self) -> np.ndarray:
        """(n_clumps, 3) int64, by how many lengths of the periodic box `position` is outside; 0 along open axes."""
        return self.engine.in_box()[1]

    @observable
    def orientation(self) -> np.ndarray:
        """(n_clumps, 4) unit quaternions (w, x, y, z), template frame -> lab frame."""
        return multiply(self.engine.state.column("orientation"), frames_to_drawn(self.engine.state))

    @observable
    def velocity(self) -> np.ndarray:
        """(n_clumps, 3) of `position`, lab frame [m/s]; `box.flow(position)` is that of a periodic box that moves."""
        return self.engine.rates()[0]

    @observable
    def angular_velocity(self) -> np.ndarray:
        """(n_clumps, 3) lab frame [rad/s]."""
        return rotate(self.engine.state.column("orientation"), self.engine.rates()[1])

    @observable
    def body_angular_velocity(self) -> np.ndarray:
        """(n_clumps, 3) principal frame [rad/s]."""
        return self.engine.rates()[1]

    @observable
    def force(self) -> np.ndarray:
        """(n_clumps, 3) gravity included, lab frame [N]."""
        self.engine.evaluate_forces()
        return self.engine.state.column("force")

    @observable
    def torque(self) -> np.ndarray:
        """(n_clumps, 3) about the centres of mass, lab frame [N m]."""
        self.engine.evaluate_forces()
        return rotate(self.engine.state.column("orientation"), self.engine.state.column("torque"))

    @observable
    def sphere_radii(self) -> np.ndarray:
        """(n_spheres,) [m]."""
        return self.engine.spheres()[:, 3].copy()

    @observable
    def sphere_clump(self) -> np.ndarray:
        """(n_spheres,) int, index of the clump of each sphere."""
        return np.repeat(np.arange(self.n_clumps), self.engine.state.bodies.sizes[self.engine.state.template_index])

    @exclusive
    def sphere_centers(self) -> np.ndarray:
        """(n_spheres, 3) lab frame [m]; in a periodic box next to the `position` of their clump."""
        self.engine.loop.pose()
        return self.engine.spheres()[:, :3].copy()

    energy = exclusive(energies.energy)
    linear_momentum, angular_momentum = exclusive(energies.linear_momentum), exclusive(energies.angular_momentum)
