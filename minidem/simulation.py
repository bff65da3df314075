"""The simulation: clumps, walls, settings, and the time loop that moves them."""
import warnings

import numpy as np

from minidem.checks import (
    LARGEST, MOST_THREADS, dimensions, file_path, finite_array, non_negative, positive, shown, unit_quaternions,
    whole,
)
from minidem.clump import ClumpTemplate
from minidem.diagnosis import beyond, of_pose, relative_overlap
from minidem.driver import Driver, has_openmp, most_threads
from minidem.geometry.quaternions import multiply, rotate, rotate_back
from minidem.material import Material, effective_modulus
from minidem.observables import Observables
from minidem.output import checkpoint, vtu
from minidem.pacing import Pacer, steps_to_reach
from minidem.rotation import registry
from minidem.state import State
from minidem.walls import plane_list

MOST_STEPS = 2.0 ** 53  # beyond it not every step has a time of its own
DEEPEST_START = 0.1     # largest overlap of a start, as a fraction of the smaller radius


class Simulation(Observables):
    """Rigid clumps with conservative Hertz contacts between them and with plane walls.

    Parameters
    ----------
    material : Material
        Of all clumps, and of walls that have none of their own.
    walls : list of Plane, optional
        `md.box(low, high)` makes six. None or []: unbounded space.
    rotation : str
        Rotation scheme, 'name' or 'name:parameter=value'; `md.rotation.available()` lists the names.
    dt : float
        Time step [s]. A step above the Rayleigh step of the smallest sphere warns, once.
    gravity : (3,)
        Acceleration [m/s2], lab frame.
    threads : int, optional
        At most so many; default: all processors. Small systems use fewer, since a thread pays
        from about 2000 spheres on. The result does not depend on it, to the last bit.

    What can be read of it, see `Observables`: position, energy(), contacts() and the rest.
    Raises ValueError for arguments that make no sense.
    """

    def __init__(self, material, walls=None, rotation="spiral", dt=None, gravity=(0.0, 0.0, 0.0), threads=None):
        if not isinstance(material, Material):
            raise ValueError(f"material = {shown(material)}: give a minidem.Material(young, poisson)")
        if dt is None:
            raise ValueError("dt = None: give the time step in seconds; material.rayleigh_step(radius, density) "
                             "is its usual upper limit")
        self.material = material
        self.walls = plane_list("walls", walls)
        self.dt = positive("dt", dt)
        self.gravity = tuple(finite_array("gravity", gravity, (3,), limit=LARGEST).tolist())
        self._threads = most_threads() if threads is None else whole("threads", threads, 1, MOST_THREADS)
        if self._threads > 1 and not has_openmp():
            warnings.warn(f"threads = {threads}: this minidem was built without OpenMP and uses one thread; "
                          "see MINIDEM_OPENMP in the README", UserWarning, stacklevel=2)
        self.rotation = str(rotation)
        self._scheme, self._parameters = registry.select(rotation)
        self._state = State(self._scheme.n_scratch)
        self._pacer = Pacer()
        self._started = np.zeros(0, dtype=bool)     # clumps whose velocities stand half a step behind
        self._forces_known = False
        self._user_forces = []
        self._forces_expected = 0                   # with those that a checkpoint had
        self._renew_loop(0)

    def __setattr__(self, name, value):
        """Settings stay as they are: the time loop has its own, which would not follow."""
        if not name.startswith("_") and name in vars(self):
            raise AttributeError(f"{name} cannot be set: make a new Simulation")
        super().__setattr__(name, value)

    def __repr__(self):
        return (f"<Simulation of {self.n_clumps} clumps ({self.n_spheres} spheres): rotation {self.rotation!r}, "
                f"dt {self.dt:g} s, step {self.step_count}, time {self.time:.6g} s>")

    # ---------------------------------------------------------------- building up

    def add_clumps(self, template, position, orientation=(1.0, 0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0),
                   angular_velocity=(0.0, 0.0, 0.0)):
        """Add clumps of one template; returns their indices (n,).

        position : (n, 3) centres of mass, lab [m]
        orientation : (n, 4) or one (4,); (1, 0, 0, 0) is as the template was drawn
        velocity : (n, 3) or one (3,), lab [m/s]
        angular_velocity : (n, 3) or one (3,), lab [rad/s]

        Clumps may touch one another and walls, by a tenth of the smaller radius at most; with a
        deeper overlap, or any other bad value, a ValueError is raised and nothing is added.
        Many clumps are added fastest in one call.
        """
        if not isinstance(template, ClumpTemplate):
            raise ValueError(f"template = {shown(template)}: give a minidem.ClumpTemplate")
        if dimensions("position", position) == 1 and len(position) == 3:
            position = [position]
        position = finite_array("position", position, (-1, 3), limit=LARGEST)
        n = len(position)
        orientation = unit_quaternions("orientation", orientation, n)
        velocity = finite_array("velocity", velocity, (n, 3), repeat=True, limit=LARGEST)
        angular_velocity = finite_array("angular_velocity", angular_velocity, (n, 3), repeat=True, limit=LARGEST)
        internal = multiply(orientation, template.orientation)
        old = self._state, self._started, self._forces_known
        self._state = old[0].copy()
        added = self._state.append(template, position, internal, velocity, rotate_back(internal, angular_velocity))
        self._started = np.concatenate([self._started, np.zeros(n, dtype=bool)])
        self._forces_known = False
        step_count = self.step_count
        self._renew_loop(step_count)
        try:
            self._refuse_deep_overlaps(set(added.tolist()))
        except BaseException:
            self._state, self._started, self._forces_known = old
            self._renew_loop(step_count)
            raise
        self._warn_of_large_step(template, known=old[0].templates)
        return added

    def add_force(self, function):
        """Add forces and torques of your own, from Python.

        function(t, x, v, q, w) -> (force (n, 3) [N], torque (n, 3) [N m]), lab frame, over all
        clumps at once; it gets the time [s], position, velocity, orientation (template frame ->
        lab) and angular velocity (lab). It is called at the pose of every force evaluation, with
        velocities predicted for that instant, so that a scheme of second order stays so under
        damping. Several functions add up. A checkpoint does not hold them: add them again after load.
        """
        if not callable(function):
            raise ValueError(f"function = {shown(function)}: give a function of (t, x, v, q, w)")
        self._user_forces = self._user_forces + [function]
        if len(self._user_forces) > self._forces_expected:
            self._forces_expected = len(self._user_forces)
            self._forces_known = False
        self._renew_loop(self.step_count)

    def _apply_user_forces(self, steps):
        """Called by the loop, `steps` after it was made, when contact forces are in the state."""
        state, n = self._state, self.n_clumps
        frame = state.column("orientation")
        force, torque = state.column("force"), state.column("torque")
        pose = ((self._first_step + steps) * self.dt, self.position, state.column("predicted_velocity"),
                self.orientation, rotate(frame, state.column("predicted")))
        for function in self._user_forces:
            answer = function(*pose)
            try:
                f, m = answer
            except (TypeError, ValueError):
                raise ValueError(f"a user force returned {shown(answer)}: "
                                 "return (force (n, 3), torque (n, 3))") from None
            f, m = (finite_array(f"{name} of a user force", value, (n, 3), repeat=True, limit=LARGEST)
                    for name, value in (("force", f), ("torque", m)))
            force += f
            torque += rotate_back(frame, m)
        state.set_column("force", force)
        state.set_column("torque", torque)

    def _evaluate(self):
        """Contacts at the pose; forces too, where they are not known already.

        Known forces stay as they are: where they depend on velocities, those of the whole step are
        not, to the last bit, the ones that were predicted when the forces were found.
        """
        state = self._state
        known = {name: state.column(name) for name in ("force", "torque") if self._forces_known}
        if self._user_forces and not self._forces_known:
            for name, rate in zip(("predicted_velocity", "predicted"), self._synchronised()):
                state.set_column(name, rate)
        self._loop.evaluate()
        for name, values in known.items():
            state.set_column(name, values)
        self._forces_known = True

    def _renew_loop(self, step_count):
        """A time loop over the present clumps; steps are counted on from step_count."""
        planes = (np.array([wall.point for wall in self.walls]), np.array([wall.normal for wall in self.walls]),
                  np.array([effective_modulus(self.material, wall.material or self.material) for wall in self.walls]))
        self._loop = Driver(self._state, self._scheme, self._parameters, self.dt, first_step=step_count,
                            modulus=effective_modulus(self.material, self.material), gravity=self.gravity,
                            planes=planes, threads=self._threads,
                            ask=self._apply_user_forces if self._user_forces else None)
        self._first_step = step_count

    def _refuse_deep_overlaps(self, added):
        contacts = self.contacts()
        relative = relative_overlap(contacts, self.sphere_radii)
        for contact, part in zip(contacts[relative > DEEPEST_START], relative[relative > DEEPEST_START]):
            i, j = int(contact["clump_i"]), int(contact["clump_j"])
            if i in added or j in added:
                other = f"clump {j}" if j >= 0 else f"wall {-1 - j}"
                raise ValueError(
                    f"position of clump {i}: it overlaps {other} by {contact['overlap']:.6g} m at the start, "
                    f"{beyond(part, DEEPEST_START)} of the smaller radius; the limit is {DEEPEST_START:g}. Move them "
                    "apart")

    def _warn_of_large_step(self, template, known):
        """Of a step above the template's Rayleigh step, unless one that was known before has no longer one."""
        limit, *others = (self.material.rayleigh_step(float(one.radii.min()), one.density)
                          for one in (template, *known))
        if limit < min([self.dt, *others]):
            warnings.warn(f"dt = {self.dt:g} s is above the Rayleigh step {limit:g} s of the smallest sphere: "
                          "contacts may not be resolved; watch the energy, or lower dt", UserWarning, stacklevel=3)

    # ---------------------------------------------------------------- running

    def run(self, steps, every=None, callback=None):
        """Advance by `steps` steps; with `every`, call callback(simulation) after every so many.

        Ctrl-C is answered within a fraction of a second, between two steps: the simulation stays
        whole and can be queried, saved or run on. Once a pose is no longer finite FloatingPointError is
        raised in that step, with step, clump, the likely cause and the remedy; a velocity, force or torque
        that is lost reaches the pose in the next step.
        """
        steps = whole("steps", steps, 0)
        if (every is None) != (callback is None):
            raise ValueError("every and callback belong together: give both or none")
        if callback is not None and not callable(callback):
            raise ValueError(f"callback = {shown(callback)}: give a function of the simulation")
        every = steps if every is None else whole("every", every, 1)
        self._prepare()
        end = self.step_count + steps
        while self.step_count < end:
            stop = min(end, (self.step_count // every + 1) * every) if callback else end
            self._advance(stop - self.step_count)
            if callback and self.step_count % every == 0:
                callback(self)

    def run_until(self, t):
        """Advance by the fewest steps that reach time t [s]; none if it lies behind."""
        t = non_negative("t", t)
        if t > MOST_STEPS * self.dt:
            raise ValueError(f"t = {t}: more than 2^53 steps of dt = {self.dt} away; check the units")
        self.run(max(0, steps_to_reach(t, self.dt) - self.step_count))

    def _prepare(self):
        """Forces at the pose, and the half step back for clumps that are new."""
        if len(self._user_forces) < self._forces_expected:
            raise ValueError(f"this simulation was saved with {self._forces_expected} user forces and has "
                             f"{len(self._user_forces)}: call add_force again after load, before run")
        if not self._forces_known:
            self._evaluate()
        if not self._started.all():
            self._loop.start(~self._started, self.dt)
            self._started[:] = True

    def _advance(self, steps):
        try:
            self._pacer.run(self._loop.run, steps)
        except FloatingPointError as error:
            raise FloatingPointError(f"step {self.step_count + 1} (time {self.time + self.dt:.6g} s): {error}. "
                                     + of_pose(self)) from None

    # ---------------------------------------------------------------- files

    def write_vtu(self, path):
        """All spheres as a VTU file (output/vtu.py says what it holds)."""
        vtu.write_spheres(file_path("path", path), self)

    def save(self, path):
        """A checkpoint from which `Simulation.load` continues with the same bits."""
        checkpoint.save(file_path("path", path), self)

    @classmethod
    def load(cls, path, threads=None):
        """The simulation of a checkpoint; `threads` as for a new one."""
        return checkpoint.load(file_path("path", path), cls, threads)

