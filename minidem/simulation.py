"""The simulation: clumps, walls and settings, and the time loop that integrates them.

All that changes belongs to one `Driver`. What needs another one, such as adding clumps, prepares it and replaces the
old one by one assignment, so that Ctrl-C or an error leaves the simulation as it was.
"""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter

from numpy.typing import ArrayLike

from minidem.analysis.diagnosis import explain_pose
from minidem.analysis.monitor import ISSUED, Monitor
from minidem.contact import registry as contact_laws
from minidem.contact.pair_table import PairTable
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
from minidem.core.guard import Guard, exclusive
from minidem.core.threads import checked_threads
from minidem.engine.chunked_run import Pacer, steps_to_reach
from minidem.engine.driver import Driver, NotFinite
from minidem.files import Files
from minidem.material import Material, Pair, require_materials
from minidem.output import checkpoint
from minidem.rotation import registry
from minidem.state.periodic_box import periodic_box
from minidem.state.state import State
from minidem.walls import Oscillation, Servo, Wall, require_planes_at_rest, wall_list
from minidem.walls.wall_table import WallElements

MOST_STEPS = 2.0 ** 53  # with more, times of different steps are equal
BETWEEN_COPIES = 200    # times the duration of a copy of the state, to which a run goes back if a step fails


class Simulation(Files):
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
    periodic : tuple, optional
        (low (3,), high (3,), (bool, bool, bool)): corners of a box [m], and along which axes it is periodic. Along open
        axes the corners are drawn only. The box must be longer than the diameter of any clump and than four radii of
        any sphere. Walls must be the same along periodic axes: planes, or a cylinder along the only periodic axis.

    Raises
    ------
    ValueError
        For an argument out of range; the message names argument, value and remedy.

    Warns
    -----
    UserWarning
        For restitution, friction or rolling friction of a material or pair that the contact law does not read.

    See Also
    --------
    Clumps : add_clumps and remove_clumps.
    Forces : add_force.
    Files : write_vtu, write_contacts, write_lammps, read_lammps.
    Observables : position, velocity, energy(), contacts() and all else that can be read.

    Notes
    -----
    In a periodic box two spheres interact by their nearest images. `position` and all that is computed from it are in
    unbounded space, without jumps at the faces; `wrapped_position` is in the box. So `energy().balance` is constant
    with gravity along a periodic axis. Angular momentum is not conserved.

    copy.deepcopy and pickle make an independent simulation that continues with the same bits. Only one Python thread at
    a time may use a simulation; another thread, or a user force during a step, gets a RuntimeError.
    """

    def __init__(self, material: Material, walls: Iterable[Wall] | None = None, rotation: str = "spiral",
                 contact: str = "hertz", dt: float | None = None, gravity: ArrayLike = (0.0, 0.0, 0.0),
                 threads: int | None = None, pairs: Iterable[Pair] | None = None, periodic: tuple | None = None):
        require_materials(material=material)
        if dt is None:
            raise ValueError("dt = None: give the time step in seconds; material.rayleigh_step(radius, density) "
                             "is its usual upper limit")
        self._threads = checked_threads(threads)
        self._guard, self._pacer, self._monitor = Guard(), Pacer(), Monitor()
        self._due = None                        # the step whose callback has not returned
        self._copy_due = 0.0                    # when the next copy of the state is made [s]
        self._scheme, self._parameters = registry.select(rotation)
        self._law, self._law_parameters = contact_laws.select(contact, self._scheme)
        box, walls = periodic_box(periodic), tuple(wall_list("walls", walls))
        if box is not None:
            box.refuse_walls(walls)
        vars(self).update(material=material, walls=walls, periodic=box and box.values, dt=positive("dt", dt),
                          gravity=tuple((finite_array("gravity", gravity, (3,), limit=LARGEST) + 0.0).tolist()),
                          rotation=str(rotation), contact=str(contact), pairs=tuple(list_of(Pair, "pairs", pairs)))
        if self._law.corrects_onsets(self._law_parameters):
            require_planes_at_rest(self.contact, self.walls)
        self._elements = WallElements(walls, box is not None)
        self._loop = self._make_loop(State(self._scheme.n_scratch, box), PairTable(material, self.walls, self.pairs))
        self._monitor.check_materials(self, (*self.materials, *self.pairs))

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
        return (f"<Simulation of {self.n_clumps} clumps ({self.n_spheres} spheres): rotation {self.rotation!r}, "
                f"dt {self.dt:g} s, step {self.step_count}, time {self.time:.6g} s>")

    def _make_loop(self, state, pair_table, step_count=0, forces=None, **known):
        """A Driver for `state` at step number step_count; `known` are further arguments."""
        pair_table.require_pairs(self._law, self._law_parameters, state.material_index)
        return Driver(state, self._scheme, self._parameters, self.dt, first_step=step_count,
                      law=(self._law, self._law_parameters, pair_table), gravity=self.gravity,
                      walls=self._elements, threads=self._threads, user_forces=forces,
                      guard=self._guard, **known)

    @exclusive
    def run(self, steps: int, every: int | None = None, callback: Callable | None = None) -> None:
        """Advance by `steps` steps.

        Parameters
        ----------
        steps : int
        every, callback : int and callable, optional
            callback(simulation) is called after every `every` steps, at whole steps. If it raises, clumps and forces
            that it has added or removed are taken back, and the next run with a callback first calls it again at the
            same step, also after `save` and `load`. So a callback that writes files may be called twice at a step.

        Raises
        ------
        FloatingPointError
            In the step in which a pose becomes non-finite, with step, clump, likely cause and remedy. A non-finite
            velocity, force or torque reaches the pose in the next step.
        KeyboardInterrupt
            Within a fraction of a second after Ctrl-C, between two steps or in a callback. The simulation can be
            queried, saved or run on with the bits of an undisturbed run; likewise when a user function raises during a
            step, which is then undone.
        MemoryError, or the error of a compiled contact law
            The simulation can be queried, saved or run on with the bits of an undisturbed run. If the error was within
            a step, it is at an earlier step: the message says which. Callbacks since then are called again.

        Warns
        -----
        UserWarning
            Once of each: a deep overlap, a clump behind a wall or outside its closed mesh, a step that is large for a
            contact or the speed of a clump. The guide (measurements) says when it is looked for.
        """
        steps = whole("steps", steps, 0)
        if (every is None) != (callback is None):
            raise ValueError("every and callback belong together: give both or none")
        if callback is not None and not callable(callback):
            raise ValueError(f"callback = {short_repr(callback)}: give a function of the simulation")
        if callback is not None:
            check_call("callback", callback, "simulation")
        every, monitor = steps if every is None else whole("every", every, 1), self._monitor
        end = self.step_count + steps
        while True:
            if callback and self._due == self.step_count and self.step_count % every == 0:
                self._call(callback)
            step = self.step_count
            if step >= end:
                return
            stop = min(end, (step // every + 1) * every) if callback else end
            if step < monitor.due < stop:
                stop = monitor.due
            self._due = stop if callback and stop % every == 0 else None
            self._prepare()
            self._advance(stop - step)
            if stop >= monitor.ready:
                monitor.look(self)

    def _call(self, callback):
        """Call the callback that is due; if it raises it remains so, with the clumps and forces of before."""
        loop, step = self._loop, self.step_count
        try:
            callback(self)
            self._due = None
        except BaseException:
            if self.step_count == step:
                self._loop, self._due = loop, step
            raise

    def run_until(self, t: float) -> None:
        """Advance by the fewest steps that reach time t [s]; by none if t is past."""
        t = non_negative("t", t)
        if t > MOST_STEPS * self.dt:
            raise ValueError(f"t = {t}: more than 2^53 steps of dt = {self.dt} away; check the units")
        self.run(max(0, steps_to_reach(t, self.dt) - self.step_count))

    def _prepare(self):
        """Forces at the present pose, and half a step back for new clumps."""
        self._user_forces.check()
        if not self._loop.forces_known:
            self._loop.evaluate()
        self._loop.start(self.dt)

    def _advance(self, steps):
        try:
            self._pacer.run(self._run_piece, steps)
        except NotFinite as error:
            raise FloatingPointError(f"step {self.step_count + 1} (time {self.time + self.dt:.6g} s): {error}. "
                                     + explain_pose(self)) from None
        except Exception as error:
            if self._loop.broken is None:
                raise
            step, due = self.step_count + 1, self._due
            other = _restored(*self._loop.copy)
            self._loop, self._guard = other._loop, other._guard
            self._due = due if due == self.step_count else None
            error.args = (f"{error} in step {step}: the simulation is back at step {self.step_count} (time "
                          f"{self.time:.6g} s), where it can be read, saved and run on with equal bits",)
            raise

    def _run_piece(self, steps):
        """Run so many steps, with a copy of an earlier state.

        A step that fails leaves forces and contacts incomplete. Loops that call Python in each step keep a copy of
        their own.
        """
        loop = self._loop
        began = perf_counter()
        if not loop.undoes_steps and (loop.copy is None or began >= self._copy_due):
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
             motions: dict[int, Callable] | None = None, forces: str = "expect") -> Simulation:
        """Read a checkpoint.

        Parameters
        ----------
        path : path
        threads : int, optional
            As for a new simulation.
        motions : dict, optional
            Motions of walls that are functions, by the number of the wall; files do not contain them.
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
        return sim._without_forces() if forces == "drop" and sim._user_forces.expected else sim

    @exclusive
    def __reduce__(self):
        motions = {k: wall.motion for k, wall in enumerate(self.walls)
                   if wall.motion is not None and not isinstance(wall.motion, Oscillation | Servo)}
        return _restored, (type(self), *checkpoint.pack(self), self._threads, self._user_forces.forces, motions,
                           self._monitor.issued)

    def __copy__(self):
        return copy.deepcopy(self)


def _restored(make, settings, arrays, threads, forces, motions, issued):
    """Inverse of `Simulation.__reduce__`."""
    before = ISSUED.set(issued)
    try:
        sim = checkpoint.unpack(settings, arrays, make, threads, motions)
    finally:
        ISSUED.reset(before)
    for force in forces:
        sim.add_force(force.function, force.parameters)
    return sim
