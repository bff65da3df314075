# distutils: extra_compile_args = -O1
"""Driver: starts, runs and evaluates the time loop for Python.

Each change of the state is complete or does not happen, whatever raises: a user function, Ctrl-C, exhausted memory.
Python handles signals between two of its own instructions, so compiled code is interrupted only where it calls Python.
Such code works on copies, or saves a copy to restore.
"""
import numpy as np

from minidem.engine.population import Population
from minidem.engine.user_forces import UserWork

from minidem.broadphase.broadphase cimport FORCE_AFTER_END, IN_CALLBACK, NO_FAILURE, OUT_OF_MEMORY, SMALL_TEAM
from minidem.broadphase.ghosts cimport clump_of, slot_of
from minidem.contact.fixed_point cimport join_wide
from minidem.contact.stored cimport Stored, restore_stored
from minidem.core.guard cimport Guard
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3
from minidem.engine.compiled_forces cimport CompiledForces
from minidem.engine.half_steps cimport start_clumps, synchronised
from minidem.engine.loop_owner cimport LoopOwner
from minidem.engine.time_loop cimport ExternalForces, Loop, run_loop
from minidem.engine.wall_work cimport add_wall_work, force_of_wall, restore_wall_work
from minidem.rotation.scheme cimport Step
from minidem.state.state cimport State


class NotFinite(FloatingPointError):
    """The pose of a clump is not finite."""


cdef void call_python_forces(Loop *loop, double steps) noexcept with gil:
    """Call the external_forces of the Driver."""
    cdef Driver owner = <Driver> loop.owner
    try:
        owner.external_forces(owner, steps)
    except BaseException as error:
        owner.error = error
        loop.broad.reports[0].failure = IN_CALLBACK


cdef class Driver(LoopOwner):
    """A time loop over a fixed set of clumps.

    Parameters
    ----------
    state : State
    scheme : record of the rotation scheme;  parameters : list of floats
    first_step : number of the step at which it begins
    dt : step [s]
    law : (record of the contact law, its parameter values, PairTable); None: free bodies, no contacts, torques as given
    gravity : (3,) [m/s2]
    walls : WallElements of the walls of the PairTable
    threads : int
    history, dissipated, work, wall_work, force_work : what these methods returned; default: no contacts, zero
    servo_states : that of the WallTable; default: zero
    former_walls : WallTable of the loop before, optional
    population : Population; default: ids from 0 on, nothing removed
    external_forces : optional function of this Driver and the number of steps since it was made, called at every pose
        after the contacts and the prediction of velocities; adds to forces and torques, or overwrites them
    user_forces : UserForces, instead of external_forces
    started : (n_clumps,) bool, clumps whose velocities are half a step behind already; default: none
    forces_known : the forces in the state belong to its pose
    guard : Guard of the simulation, optional
    """
    cdef readonly object started
    cdef readonly bint all_started
    cdef readonly bint forces_known
    cdef readonly object user_forces, external_forces
    cdef Guard guard
    cdef public object copy             # what Simulation keeps to go back to, if a step fails
    cdef object saved                   # copies of blocks and wrenches, where a step calls Python
    cdef object error

    def __cinit__(self, State state, scheme, *others, external_forces=None, started=None, bint forces_known=False,
                  Guard guard=None, user_forces=None, work=None, wall_work=None, force_work=None, population=None,
                  **settings):
        cdef double[:, :, ::1] saved_blocks, saved_wrench
        cdef double[:, ::1] works
        self.started = np.zeros(state.n_clumps, dtype=bool) if started is None else np.array(started, dtype=bool)
        self.all_started = bool(self.started.all())
        self.forces_known = forces_known
        self.population = Population().with_new(state.n_clumps) if population is None else population
        self.guard = Guard() if guard is None else guard
        self.user_forces = user_forces
        if user_forces is not None:
            self.user_work = UserWork(self.first_step, state.column("position"), state.column("orientation"),
                                      np.zeros((state.n_clumps, 7)) if work is None else work)
            self.compiled_forces = CompiledForces(state, self.population.ids, user_forces.compiled, force_work)
            self.compiled_forces.bind(&self.loop)
            if state.n_clumps:
                self.compiled_forces.check_parameters(&self.loop)
            external_forces = user_forces if user_forces.in_python else None
        if external_forces is not None:
            self.external_forces = external_forces
            self.loop.owner = <void *> self
            self.loop.external_forces = call_python_forces
        if wall_work is not None and self.walls is not None:
            works = np.ascontiguousarray(wall_work, dtype=float)
            self.loop.contacts[0].wall_work = join_wide(&works[0, 0], self.loop.law.energy_unit)
            self.loop.contacts[0].wall_power = join_wide(&works[1, 0], self.loop.law.energy_unit)
        in_python = self.kernels.functions or self.law_kernels is not None and self.law_kernels.functions
        if (external_forces is not None or in_python) and state.n_clumps:
            saved_blocks, saved_wrench = self.saved = state.blocks.copy(), state.wrench.copy()
            self.loop.saved_blocks, self.loop.saved_wrench = &saved_blocks[0, 0, 0], &saved_wrench[0, 0, 0]
            if self.compiled_forces is not None:
                self.loop.saved_force_work = &self.compiled_forces.saved[0, 0]

    @property
    def undoes_steps(self):
        """Whether a step that raises is undone, because it calls Python."""
        return self.saved is not None

    def run(self, long long steps):
        """Advance by so many steps; returns how many were completed.

        If Python code called by a step raises, the state is restored to the beginning of the step.
        """
        cdef long long before = self.loop.steps_done
        if steps <= 0:
            return 0
        most = steps if self.walls is None or self.walls.most_steps is None else self.walls.most_steps
        while self.loop.steps_done - before < steps:
            self.run_piece(min(steps - (self.loop.steps_done - before), most, self.wrap_if_due()))
        return self.loop.steps_done - before

    cdef object run_piece(self, long long steps):
        """As run; few enough steps for one table of the poses of walls."""
        cdef int t
        servo_states = None if self.walls is None else self.walls.servo_states.copy()
        try:
            self.start_walls(steps)
        except BaseException:                           # from the function of a motion
            self.walls.servo_states[:] = servo_states
            raise
        self.sort_if_due()
        self.contacts_known = False
        try:
            self.advance(steps)
        except NotFinite:
            raise
        except BaseException as error:
            if self.broken is None and self.saved is not None:
                self.restore(self.saved[0], self.saved[1])
                for t in range(self.loop.n_threads):
                    restore_wall_work(self.loop.contacts + t)
                if self.compiled_forces is not None:
                    self.compiled_forces.restore()
                if servo_states is not None:
                    self.walls.servo_states[:] = servo_states
            elif self.broken is None:
                cause = "memory was exhausted" if isinstance(error, MemoryError) else "the contact law failed"
                self.broken = f"in step {self.step_count + 1} {cause}, and forces are missing"
                self.release_lists()
            raise
        self.contacts_known = True
        if servo_states is not None:
            self.walls.move_servos(steps * self.loop.step.dt)

    cdef object start_walls(self, long long steps):
        """Poses of the walls for so many steps, and new velocities of those that a force moves."""
        cdef bint servos = self.walls is not None and bool(self.walls.servos)
        if servos:
            if not self.contacts_known:
                self.evaluate()
            self.walls.accelerate([self.wall_force(k) for k in self.walls.servos], self.loop.step.dt)
        self.prepare_walls(steps)
        if servos:
            self.reset_power()

    cdef object wall_force(self, int wall):
        """(3,) force of all clumps on a wall at the present pose [N]."""
        cdef Vec3 force = force_of_wall(&self.loop, wall)
        return np.array([-force.x, -force.y, -force.z])

    cdef object reset_power(self):
        """The power of walls with new velocities."""
        cdef int t
        for t in range(self.loop.n_threads):
            add_wall_work(&self.loop, t, True)

    cdef object advance(self, long long steps):
        """Run the time loop for so many steps; -1: forces at the present pose."""
        self.guard.during_step = True
        with nogil:
            run_loop(&self.loop, steps)
        self.guard.during_step = False
        if self.loop.broad.reports[0].failure == SMALL_TEAM:            # no step was done
            self.loop.broad.reports[0].failure = NO_FAILURE
            self.use_one_thread()
            self.advance(steps)
        else:
            self.raise_failure()

    cdef object restore(self, blocks, wrench):
        """Restore saved arrays, and the history of the contacts; contacts and lists are no longer valid."""
        cdef int t
        self.state.blocks[:] = blocks
        self.state.wrench[:] = wrench
        for t in range(self.loop.n_threads):
            restore_stored(&self.loop.contacts[t].stored)
        self.loop.broad.valid = self.contacts_known = False

    def evaluate(self):
        """Evaluate contacts at the present pose, and the forces unless they are known.

        Known forces are kept: forces that depend on velocities were computed with predicted ones, which differ in the
        last bits from those of the whole step. So are those on started clumps if no new one touches them: the same
        holds for onset corrections.
        """
        cdef bint has_forces = self.loop.external_forces != NULL or self.loop.n_forces > 0
        cdef bint calls_forces = has_forces and not self.forces_known
        cdef ExternalForces saved_forces = self.loop.external_forces
        cdef int n_forces = self.loop.n_forces
        cdef const unsigned char[::1] started = np.append(self.started, False).view(np.uint8)
        self.prepare_walls(0)
        blocks = self.state.blocks.copy() if calls_forces else self.state.blocks
        keeps_some = not has_forces and bool(self.started.any())
        wrench = self.state.wrench.copy() if calls_forces or self.forces_known or keeps_some else self.state.wrench
        self.contacts_known = self.loop.broad.valid = False
        try:
            if calls_forces:
                for name, rate in zip(("predicted_velocity", "predicted"), self.rates()):
                    self.state.set_column(name, rate)
            if not calls_forces:
                self.loop.external_forces, self.loop.n_forces = NULL, 0
            self.loop.started = &started[0]
            self.advance(-1)
        except BaseException:
            self.restore(blocks, wrench)
            raise
        finally:
            self.loop.external_forces, self.loop.n_forces = saved_forces, n_forces
        if self.forces_known:
            self.state.wrench[:] = wrench
        elif keeps_some and not self.new_touch_started():
            block, lane = np.divmod(self.state.clump_slot[self.started], LANES)
            self.state.wrench[block, :, lane] = wrench[block, :, lane]
        self.forces_known = self.contacts_known = True

    cdef bint new_touch_started(self):
        """Whether a clump not yet started is in contact with a started one."""
        pairs = self.contacts()
        pairs = pairs[pairs["clump_j"] >= 0]
        return bool(np.any(self.started[pairs["clump_i"]] != self.started[pairs["clump_j"]]))

    cdef object raise_failure(self):
        cdef int t, failure = NO_FAILURE, clump = -1
        for t in range(self.loop.n_threads):
            failure = max(failure, self.loop.broad.reports[t].failure, self.loop.broad.threads[t].failure)
            clump = max(clump, self.loop.broad.reports[t].lost - 1)
            self.loop.broad.reports[t].failure = self.loop.broad.threads[t].failure = NO_FAILURE
            self.loop.broad.reports[t].lost = 0
        error, self.error = self.error, None
        self.kernels.raise_error()
        if self.law_kernels is not None:
            self.law_kernels.raise_error()
        if error is not None:
            raise error
        if failure == OUT_OF_MEMORY:
            self.loop.broad.valid = False
            raise MemoryError("no memory for the lists of candidates and contacts")
        if failure == FORCE_AFTER_END:
            self.loop.broad.valid = False
            self.raise_force_after_end()
        if clump >= 0:
            raise NotFinite(f"the position or orientation of clump {clump} is not finite")

    cdef object raise_force_after_end(self):
        cdef Stored *stored
        cdef int t, i = 0, j = 0
        force = (0.0, 0.0, 0.0)
        for t in range(self.loop.n_threads):
            stored = &self.loop.contacts[t].stored
            if stored.has_force_after_end:
                i, j, force = stored.pair_after_end[0], stored.pair_after_end[1], tuple(stored.force_after_end)
            stored.has_force_after_end = False
        other = f"clump {self.clump_number(j)}" if j >= 0 else f"wall {self.walls.wall_of[-1 - j]}"
        raise ValueError(f"the contact law left the force {force} N, or a couple, on clump "
                         f"{self.clump_number(i)} in its contact with {other}, which has ended: the force must "
                         "be zero where the overlap is not positive")

    cdef int clump_number(self, int sphere):
        return self.state.view.clump_number[clump_of(&self.state.view, slot_of(&self.state.view, sphere))]

    def start(self, double dt):
        """Half a step back, and `start` of the rotation scheme, for the clumps not started; forces must be known.

        dt : the step, or 0 to omit the half step.
        """
        cdef Step step = self.loop.step
        step.dt = dt
        if not self.all_started:
            started = np.ones_like(self.started)
            start_clumps(self.state, self.kernels, step, self.started.view(np.uint8))
            self.started, self.all_started = started, True

    def rates(self):
        """(velocity (n, 3) lab, angular velocity (n, 3) principal body frame) at the instant of the pose.

        Computed with the present forces; for clumps not yet started, the given velocities.
        """
        if self.all_started:
            return self.synchronise()
        given = self.state.column("velocity"), self.state.column("angular_velocity")
        if not self.started.any():
            return given
        started = self.started[:, None]
        return tuple(np.where(started, s, g) for g, s in zip(given, self.synchronise()))

    def synchronise(self):
        """The same where all clumps are started."""
        return synchronised(self.state, self.kernels, self.loop.step)
