"""The simulation: clumps, boundaries and settings, and all that can be read from it or done with it.

Topics are in files of their names. Those with a name of their own, such as `sim.bonds`, are an `Accessor` (topic.py);
the others are base classes of `Simulation`. Here are settings, runs, files to continue from. The present time loop is
`loop`, a `Driver` (engine/driver.pyx); what changes a simulation makes another one (engine/snapshot.py).
"""
from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from minidem.analysis.diagnosis import explain_forces, explain_pose
from minidem.analysis.monitor import Monitor
from minidem.contact import registry as contact_laws
from minidem.contact.pair_table import PairTable
from minidem.core.checks import check_call, did_you_mean, flag, list_of, non_negative, positive, whole
from minidem.core.guard import exclusive
from minidem.core.keywords import by_keyword
from minidem.core.progress import Line
from minidem.core.read_only import CHANGED_BY
from minidem.core.threads import checked_threads
from minidem.engine.failures import NotFinite
from minidem.engine.snapshot import Settings, Snapshot
from minidem.material import Material, Pair, require_materials
from minidem.output import checkpoint
from minidem.output.lammps.dump import read_lammps
from minidem.rotation import registry as rotation_schemes
from minidem.simulation.bonds import Bonds
from minidem.simulation.box import PeriodicBoundaries
from minidem.simulation.breakage import Breakage
from minidem.simulation.conditions import Conditions, checked_gravity
from minidem.simulation.contacts import Contacts, Energies
from minidem.simulation.diagnostics import Diagnostics
from minidem.simulation.fields import Fields
from minidem.simulation.files import Files
from minidem.simulation.forces import Forces
from minidem.simulation.pace import Pacer, steps_to_reach
from minidem.simulation.topic import Named
from minidem.simulation.walls import Walls, checked_primitives
from minidem.state.state import State
from minidem.walls import Wall
from minidem.walls.periodic_box import PeriodicBox, periodic_box

FUNCTIONS = {                           # of minidem, taken for methods
    "show": "md.show(sim)", "cite": "md.cite(sim)",
    "view": "md.view(sim), or run with callback=md.Live(), which follows a run in a notebook"}
DISTINCT_STEPS = 2.0 ** 53  # with more, times of different steps are equal


# Spellings of before 0.25, which end with 1.0.
OLD = {"add_bonds": "bonds.add", "broken_bonds": "bonds.broken", "write_bonds": "io.write_bonds",
       "add_field": "fields.add", "add_flux": "fields.add_flux", "field": "fields.__getitem__",
       "set_field": "fields.__setitem__", "add_force": "forces.add", "renew_forces": "forces.renew",
       "user_forces": "forces.functions", "add_wall": "walls.add", "move_wall": "walls.move",
       "remove_wall": "walls.remove", "wall_force": "walls.force", "wall_torque": "walls.torque",
       "wall_velocity": "walls.velocity", "walls_at_rest": "walls.at_rest", "overlap_walls": "walls.overlap",
       "write_vtu": "io.write_vtu", "write_contacts": "io.write_contacts", "write_lammps": "io.write_lammps",
       "contact_columns": "io.contact_columns", "statistics": "diagnostics.statistics", "phases": "diagnostics.phases"}


class Simulation(Breakage, PeriodicBoundaries, Conditions, Contacts, Energies):
    """Rigid clumps with contacts between them and with walls, in unbounded space or a periodic box.

    Its topics, of which those on the left have names of their own, such as `sim.walls.force(0)`:

    ===========  ===========================================================================================
    ..           run, run_until, save, load; time, step_count
    ..           clumps: add_clumps, remove_clumps; set_motion: hold them, set velocities; position, force ...
    ..           breakage: replace, by fragments; set_scale: let clumps grow
    ..           periodic box: deform, box, strain; contacts: contacts, coordination_number, stress
    ..           materials and gravity: set_material, set_pair, set_gravity
    ..           energy, linear_momentum, angular_momentum
    walls        a tuple of the walls; add, move, remove; force, torque, velocity
    bonds        bonds(): those that hold; add, broken
    fields       fields["T"], such as temperatures: add, add_flux: what flows through contacts
    forces       of your own: add, renew
    io           write_vtu, write_contacts, write_bonds, write_lammps
    diagnostics  phases of a step, statistics
    ===========  ===========================================================================================

    Arrays of clumps and spheres are properties, and copies; what takes arguments, or sums, is a method.

    Parameters
    ----------
    material : Material
        Of all clumps and walls without a material of their own.
    walls : list of Plane, Cylinder, Cone, MeshWall and CompoundWall, optional
        `md.box_walls(low, high)` makes six planes. None or []: unbounded space.
    rotation : str
        Rotation scheme, 'name' or 'name:parameter=value'; `md.rotation.available()` lists the names. 'exact' has
        the smallest errors, 'spiral' takes the least time for asymmetric clumps: see guide/integrators.md.
    contact : str
        Contact law in the same form; `md.contact.available()` lists them. 'hertz:onset=corrected' conserves energy
        much better; 'hertz-mindlin:rolling=epsd' has damping, friction and rolling resistance.
    dt : float
        Time step [s]. Its usual upper limit is `material.rayleigh_step(radius, density)` of the smallest sphere; a
        larger step warns once.
    gravity : (3,) array_like
        Acceleration [m/s2], lab frame.
    threads : int, optional
        Maximum number of threads; default: OMP_NUM_THREADS, or all available processors. Systems with fewer than about
        2000 spheres per thread use fewer. Results are bitwise identical for any number.
    pairs : list of Pair, optional
        One for any two different materials that can meet, if the contact law reads properties of pairs
        (`md.contact.info(name).reads_of_pairs`).
    periodic : tuple or PeriodicBox, optional
        (low (3,), high (3,), (bool, bool, bool)): corners of a box [m], and along which axes it is periodic. It must be
        longer than the diameter of any clump and four radii of any sphere. An `md.PeriodicBox` may be sheared,
        compressed, or held under a pressure.

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
    In a periodic box two spheres interact with their nearest images. `position` is in unbounded space, without jumps at
    the faces, and so is all that is computed from it; `wrapped_position` is in the box. `velocity` belongs to
    `position`: in a sheared box, the image of a clump in the box has another one.

    copy.deepcopy and pickle make an independent simulation that continues with the same bits. Functions given to it
    are shared, with all that they read; callable objects and the objects of bound methods are copied.

    Only one Python thread at a time may use a simulation: another one, or a user force during a step, gets a
    RuntimeError.
    """

    walls = Named(Walls)
    bonds = Named(Bonds)
    fields = Named(Fields)
    forces = Named(Forces)
    io = Named(Files)
    diagnostics = Named(Diagnostics)

    def __init__(self, material: Material, walls: Iterable[Wall] | None = None, *, rotation: str = "exact",
                 contact: str = "hertz", dt: float, gravity: ArrayLike = (0.0, 0.0, 0.0),
                 threads: int | None = None, pairs: Iterable[Pair] | None = None,
                 periodic: tuple | PeriodicBox | None = None):
        require_materials(material=material)
        box, walls = periodic_box(periodic), tuple(list_of(
            Wall, "walls", walls, "Plane, Cylinder, Cone, MeshWall, CompoundWall, or those of minidem.box_walls(low, "
            "high)"))
        gravity, pairs = checked_gravity(gravity), tuple(list_of(Pair, "pairs", pairs))
        vars(self).update(dt=positive("dt", dt), rotation=str(rotation), contact=str(contact), inlets=[])
        self._begin(rotation, contact, checked_threads(threads))
        primitives = checked_primitives(walls, box, self.contact, self.settings)
        self.continue_from(Snapshot(State(box), PairTable(material, walls, pairs), gravity, walls=primitives))
        self.monitor.check_materials(self, (*self.materials, *self.pairs))
        self.monitor.check_parameters(self)

    def _begin(self, rotation, contact, threads, issued=()):
        """Set all attributes but those that a user has given, and the loop; issued : warnings of the original."""
        scheme, scheme_values = rotation_schemes.select(rotation)
        law, law_values = contact_laws.select(contact, scheme)
        vars(self).update(settings=Settings(scheme, scheme_values, self.dt, law, law_values, threads),
                          monitor=Monitor(issued), calls_every=None, inlets_called={})
        self._pacer = Pacer()

    @exclusive
    def __getstate__(self):
        made = ("settings", "loop", "reader", "material", "pairs", "gravity", "monitor", "calls_every",
                "inlets_called", "_pacer")
        given = {name: value for name, value in vars(self).items() if name not in made}
        return given, self.settings.threads, self.loop.snapshot(), self.monitor.issued

    def __setstate__(self, state):
        given, threads, snapshot, issued = state
        vars(self).update(given)
        self._begin(self.rotation, self.contact, threads, issued)
        self.continue_from(snapshot)

    def __copy__(self):
        return copy.deepcopy(self)

    def __setattr__(self, name, value):
        """Refuse to change settings: the time loop has copies of them."""
        if name.startswith("_"):
            super().__setattr__(name, value)
        elif hasattr(type(self), name) or name in vars(self):
            raise AttributeError(f"{name} cannot be set: {CHANGED_BY.get(name, 'make a new Simulation')}"
                                 f"{' changes it' if name in CHANGED_BY else ''}")
        elif type(self) is not Simulation:              # attributes of derived classes
            super().__setattr__(name, value)
        else:
            raise AttributeError(f"a Simulation has no attribute {name!r}{did_you_mean(name, dir(self))}")

    if not TYPE_CHECKING:
        def __getattr__(self, name):
            """Name the nearest attribute, or the function of this name, for one that there is not."""
            if hasattr(type(self), name):               # a property that has raised AttributeError itself
                return object.__getattribute__(self, name)
            if name in OLD:
                new = OLD[name].replace(".__getitem__", "[name]").replace(".__setitem__", "[name] = values")
                warnings.warn(f"sim.{name} is now sim.{new}; the old name ends with minidem 1.0", DeprecationWarning,
                              stacklevel=2)
                return attrgetter(OLD[name])(self)
            near = f"; call {FUNCTIONS[name]}" if name in FUNCTIONS else did_you_mean(name, dir(type(self)))
            raise AttributeError(f"a Simulation has no attribute {name!r}{near}")

    def __repr__(self):
        return (f"<Simulation of {self.n_clumps} clumps ({self.n_spheres} spheres): rotation {self.rotation!r}, dt "
                f"{self.dt:g} s, step {self.step_count}, time {self.time:.6g} s>")

    @property
    def step_count(self) -> int:
        """Number of steps done."""
        return self.loop.step_count

    @property
    def time(self) -> float:
        """step_count * dt [s]."""
        return self.step_count * self.dt

    @property
    def threads(self) -> int:
        """Number of threads of the time loop."""
        return self.loop.threads

    @exclusive
    def run(self, steps: int, *, every: int | None = None, callback: Callable | None = None,
            progress: bool = False) -> None:
        """Advance by `steps` steps.

        Parameters
        ----------
        steps : int
        every, callback : int and callable, optional
            callback(simulation) is called after every `every` steps; for one with an attribute `every`, such as an
            `Inlet`, it must be the same number. If it raises, what it has added or removed is taken back, and the next
            run with a callback calls it again at the same step first, also after `save` and `load`.
        progress : bool
            Print on standard error which step is reached, and the time left: on a terminal in one line, in a file a
            dated line now and then.

        Raises
        ------
        FloatingPointError
            If a position or orientation becomes non-finite, with step, clump, cause and remedy. The simulation is at
            the beginning of that step.
        KeyboardInterrupt
            Within a fraction of a second after Ctrl-C, between two steps or in a callback. The simulation can be
            queried, saved or run on with the bits of an undisturbed run. The same holds when a user function raises
            during a step, which is then undone.
        MemoryError, or the error of a compiled contact law
            The simulation is at an earlier step, which the message names. With more than 300 000 spheres there is no
            copy to go back to, here and after a non-finite position: continue from the last checkpoint.

        Warns
        -----
        UserWarning
            Once of each: a deep overlap, a step that is large for a contact, clumps that are lost, and others. The
            guide (measurements) has all, and when.
        """
        steps = whole("steps", steps, 0)
        if (every is None) != (callback is None):
            raise ValueError("every and callback belong together: give both or none")
        if callback is not None:
            check_call("callback", callback, "simulation")
            own = getattr(callback, "every", every)
            if isinstance(own, int) and own != every:
                raise ValueError(f"every = {every}: the callback acts every {own} steps by its own `every`; give "
                                 f"every={own} to run, or make it with every={every}")
        every = steps if every is None else whole("every", every, 1)
        end = self.step_count + steps
        line = Line() if flag("progress", progress) and steps else None
        try:
            self._run(end, every, callback, line and (lambda: line.update(
                lambda: f"step {self.step_count} of {end}, {self.time:.4g} of {end * self.dt:.4g} s",
                1.0 - (end - self.step_count) / steps)))
        finally:
            if line:
                line.close()

    def _run(self, end, every, callback, shown):
        """Run to the step `end`; shown() : called between pieces of the run, or None"""
        while True:
            if callback and self.loop.due == self.step_count and self.step_count % every == 0:
                self._call(callback, every)
            step = self.step_count
            if step >= end:
                return
            stop = min(end, (step // every + 1) * every) if callback else end
            if step < self.monitor.due < stop:
                stop = self.monitor.due
            self.loop.due = stop if callback and stop % every == 0 else None
            self.reader.user_forces.check()
            self.loop.evaluate_forces()
            self.loop.start(self.dt)            # half a step back for new clumps
            self._advance(stop - step, shown)
            if stop >= self.monitor.ready:
                self.monitor.look(self)

    def _call(self, callback, every):
        """Call the callback that is due; if it raises it remains so, with the clumps and forces of before."""
        loop, step = self.loop, self.step_count
        vars(self)["calls_every"] = every
        try:
            callback(self)
            self.loop.due = None
        except BaseException:
            if self.step_count == step:
                self._use(loop)
                loop.due = step
            raise
        finally:
            vars(self)["calls_every"] = None

    @by_keyword
    def run_until(self, t: float, *, every: int | None = None, callback: Callable | None = None,
                  progress: bool = False) -> None:
        """Advance by the fewest steps that reach time t [s], by none if t is past; otherwise like `run`."""
        t = non_negative("t", t)
        if t > DISTINCT_STEPS * self.dt:
            raise ValueError(f"t = {t}: more than 2^53 steps of dt = {self.dt} away; check the units")
        self.run(max(0, steps_to_reach(t, self.dt) - self.step_count), every=every, callback=callback,
                 progress=progress)

    def _advance(self, steps, shown):
        try:
            self._pacer.run(lambda piece: (self._run_piece(piece), shown and shown()), steps)
        except NotFinite as error:
            text = f"step {self.step_count + 1} (time {self.time + self.dt:.6g} s): {error}. "
            cause = explain_pose(self)
            self.loop.return_to_last_step()
            raise FloatingPointError(text + (explain_forces(self) or cause)) from None

    def _run_piece(self, steps):
        if self.loop.is_unsorted:
            self.continue_from(self.loop.sorted(), self.loop)
        self.loop.run(steps)

    @exclusive
    def save(self, path: str | Path) -> None:
        """Write a checkpoint, from which `Simulation.load` continues with the same bits."""
        checkpoint.save(path, self)

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
            raise ValueError(f"forces = {forces!r}: give 'expect', to add the user forces again, or 'drop'")
        sim = checkpoint.load(path, cls, threads, motions)[0]
        if forces == "drop" and sim.reader.user_forces.expected:
            sim.continue_from(sim.loop.snapshot().without_forces(*sim.loop.last_rates()))
        return sim

    @classmethod
    def read_lammps(cls, folder: str | Path, threads: int | None = None) -> Self:
        """Read the state that LAMMPS has reached with the input of `sim.io.write_lammps`.

        Parameters
        ----------
        folder : path
            The folder of `sim.io.write_lammps`, in which LAMMPS has run in.minidem.
        threads : int, optional
            As for a new simulation.

        Returns
        -------
        Simulation
            With the settings, templates, ids and order of the clumps of the simulation that was written.

        Raises
        ------
        ValueError
            For a dump of other clumps, or with numbers that are not finite.
        FileNotFoundError

        Notes
        -----
        Sums of `energy()` (dissipated, work, exchanged) begin at zero. Clumps of one sphere have the orientations of
        the start.
        """
        return read_lammps(cls, folder, threads)
