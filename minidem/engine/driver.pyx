# distutils: extra_compile_args = -O1
"""Driver: makes, runs and reads the time loop for Python.

Each change of the state is complete or does not happen, whatever raises: a user function, Ctrl-C, exhausted memory.
Python handles signals between two of its own instructions, so compiled code is interrupted only where it calls Python.

One way back: `keep` copies all that steps change, and `go_back` restores it. A loop that calls Python in its steps
makes a copy before each step, so that a step that fails is undone. Other loops make a copy now and then, and return to
an earlier step if memory is refused.
"""
from dataclasses import replace
from time import perf_counter

import numpy as np

from minidem.contact.gather import with_history
from minidem.engine.loop_memory import NotFinite
from minidem.engine.population import field_rows, field_values, keep_rates, require_sound
from minidem.engine.snapshot import Snapshot
from minidem.engine.user_forces import UserWork
from minidem.state.layout import row_major
from minidem.state.state import COLUMNS

from minidem.broadphase.broadphase cimport IN_CALLBACK, drop_lists
from minidem.contact.contacts cimport release_copy, release_room, restore_contacts, save_contacts
from minidem.contact.gather cimport deepest_overlap, list_contacts, list_slopes
from minidem.core.guard cimport Guard
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vectors cimport require_memory
from minidem.engine.compiled_forces cimport CompiledForces
from minidem.engine.leapfrog cimport kick
from minidem.engine.ledger cimport add_wall_work, read_ledger, take_fractures, write_ledger
from minidem.engine.loop cimport ExternalForces, Loop, run_loop
from minidem.engine.loop_memory cimport LoopMemory, export_history, list_statistics
from minidem.engine.onset_pass cimport list_onsets, take_onsets
from minidem.engine.schedule cimport Schedule
from minidem.rotation.scheme cimport START, SYNC, Kernels, Step, call_scheme
from minidem.state.hold cimport follow_rates, held_wrench
from minidem.state.pose cimport pose_range
from minidem.state.rows cimport ClumpBlock, WrenchBlock
from minidem.state.state cimport State, StateView, constants_of, hold_of, wrench_of
from minidem.walls.surface cimport WallPose
from minidem.walls.wall_table cimport WallPrimitives, deepest_in_walls

BETWEEN_COPIES = 200    # durations of a copy between two of a run, which cost 0.5 % of its time
MOST_COPIED = 300_000   # spheres of a loop that makes such copies, 0.7 kB each in a bed with friction


cdef void call_python_forces(Loop *loop, double steps) noexcept with gil:
    """Call the external_forces of the Driver."""
    cdef Driver owner = <Driver> loop.owner
    try:
        owner.external_forces(owner, steps)
    except BaseException as error:
        owner.error = error
        loop.broad.threads[0].failure = IN_CALLBACK


cdef class Driver:
    """A time loop over a fixed set of clumps.

    Its parts are the `Loop`, which compiled code shares, and its memory (loop_memory.pyx); the `State`; where walls and
    box are (`Schedule`); user forces (user_forces.py, compiled_forces.pyx); and the ledger of energies (ledger.pyx).

    Parameters
    ----------
    settings : Settings
    snapshot : Snapshot
        At which it begins; its state is that of the loop from now on.
    like : Driver, optional
        A loop of the same clumps at the same instant, whose skins, shares and counters this one takes over.
    """
    cdef LoopMemory memory
    cdef Loop *loop                     # that of the memory
    cdef readonly object settings
    cdef readonly double dt             # [s]
    cdef readonly long long first_step  # number of the step at which this loop was made
    cdef readonly int threads           # that it uses
    cdef readonly State state
    cdef readonly WallPrimitives walls    # None: free bodies
    cdef Schedule schedule
    cdef readonly object pair_table     # PairTable of the contact law; None: free bodies
    cdef readonly object user_forces, external_forces
    cdef CompiledForces compiled_forces     # None: there are no user forces
    cdef readonly object user_work      # UserWork; None: there are no user forces
    cdef public object population       # Population: ids, and energies of removed clumps
    cdef Guard guard
    cdef object fractures               # see Snapshot; without what the threads have noted since
    cdef object onsets                  # see Snapshot, where contacts are not known; None: not known
    cdef readonly object started
    cdef readonly bint all_started
    cdef readonly bint forces_known     # the forces in the state belong to its pose
    cdef readonly bint contacts_known   # the stored contacts belong to the pose
    cdef readonly object broken         # why the state is incomplete; None: it is complete
    cdef public object due              # step whose callback has not returned; None: there is none
    cdef object error                   # raised by external_forces
    cdef bint calls_python              # in each step
    cdef bint makes_copies              # now and then, if not in each step
    cdef object kept                    # see `keep`: what are no arrays; None: there is nothing to go back to
    cdef list copies                    # see `keep`: the arrays
    cdef double copy_due                # when a run makes the next copy [s]

    def __cinit__(self, settings, snapshot, Driver like=None):
        cdef State state = snapshot.state
        self.settings, self.state, self.guard, self.population = settings, state, settings.guard, snapshot.population
        if settings.law is not None:
            snapshot.pair_table.require_pairs(settings.law, settings.law_values, state.material_index)
        self.memory = LoopMemory(settings, snapshot, None if like is None else like.memory)
        self.schedule = Schedule(settings, snapshot)
        self.loop, self.walls, self.pair_table = &self.memory.loop, snapshot.walls, snapshot.pair_table
        self.dt, self.first_step, self.threads = settings.dt, snapshot.step, self.loop.n_threads
        self.loop.course = &self.schedule.course
        self.schedule.prepare(self.loop, 0)
        self.started, self.all_started = snapshot.started, bool(snapshot.started.all())
        self.forces_known, self.onsets = snapshot.forces_known, snapshot.onsets
        self.due = like.due if like is not None else snapshot.step if snapshot.callback_due else None
        self.fractures = np.zeros((0, 6)) if snapshot.fractures is None else snapshot.fractures
        if settings.law is not None:
            write_ledger(self.loop, np.concatenate(
                [np.zeros((n, 2)) if entries is None else entries
                 for n, entries in ((5, snapshot.dissipated), (2, snapshot.wall_work))]))
        self.set_forces(snapshot)
        if like is None and state.n_clumps and self.compiled_forces is not None:
            self.compiled_forces.check_parameters(self.loop)
        self.calls_python = state.n_clumps and (self.external_forces is not None or self.memory.calls_python())
        self.makes_copies, self.copies = state.n_spheres <= MOST_COPIED, []

    cdef object set_forces(self, snapshot):
        """Forces besides those of contacts."""
        cdef State state = self.state
        self.user_forces, external_forces = snapshot.user_forces, self.settings.loads
        if self.user_forces.expected:
            self.user_work = UserWork(self.first_step, state.column("position"), state.column("orientation"),
                                      np.zeros((state.n_clumps, 7)) if snapshot.work is None else snapshot.work)
            self.compiled_forces = CompiledForces(state, self.population.ids, self.user_forces.compiled,
                                                  snapshot.force_work)
            self.compiled_forces.bind(self.loop)
            external_forces = self.user_forces if self.user_forces.in_python else None
        if external_forces is not None:
            self.external_forces, self.loop.owner = external_forces, <void *> self
            self.loop.external_forces = call_python_forces

    cdef list changing(self):
        """Arrays that steps change."""
        arrays = [self.state.wrench, self.state.blocks, self.state.shift]
        if self.compiled_forces is not None:
            arrays.append(self.compiled_forces.lines)
        return arrays

    cdef object keep(self, list arrays):
        """Copy these arrays and all else that steps change, for `go_back`."""
        cdef int t
        cdef double began = perf_counter()
        kept = (arrays, self.loop.steps_done, self.forces_known, self.keep_onsets(), self.take_fractures(),
                None if self.user_work is None else self.user_work.now,
                self.schedule.state(self.step_count))
        self.kept = None
        if len(self.copies) != len(arrays):
            self.copies = [array.copy() for array in arrays]
        for copy, array in zip(self.copies, arrays):
            copy[...] = array
        for t in range(self.loop.n_threads):
            save_contacts(self.loop.contacts + t, self.loop.law.history != NULL)
        require_memory("a copy of the contacts")
        self.kept = kept
        self.copy_due = perf_counter() + BETWEEN_COPIES * (perf_counter() - began)

    cdef object go_back(self):
        """Restore what `keep` has copied. Contacts are unknown, and lists are rebuilt before they are used."""
        cdef int t
        cdef long long steps_done
        arrays, steps_done, self.forces_known, self.onsets, self.fractures, work, course = self.kept
        for copy, array in zip(self.copies, arrays):
            array[...] = copy
        for t in range(self.loop.n_threads):
            restore_contacts(self.loop.contacts + t, self.loop.law.history != NULL)
        drop_lists(&self.loop.broad)
        self.contacts_known, self.kept = False, None
        if self.user_work is not None:
            self.user_work.now = work
        if steps_done != self.loop.steps_done:
            self.loop.steps_done, self.due = steps_done, None
            self.schedule.begin(self.step_count, course)

    cdef object forget(self):
        """Free the copies."""
        cdef int t
        self.kept, self.copies = None, []
        for t in range(self.loop.n_threads):
            release_copy(self.loop.contacts + t)

    def run(self, long long steps):
        """Advance by `steps`.

        If Python code called by a step raises, the state is restored to the beginning of the step.
        """
        cdef long long end = self.loop.steps_done + steps
        if steps <= 0:
            return
        if self.calls_python and not self.loop.course.steered:
            self.schedule.prepare(self.loop, steps)     # for all of its steps at once
        while self.loop.steps_done < end:
            self.run_piece(min(end - self.loop.steps_done, 1 if self.calls_python else steps,
                               self.memory.wrap_if_due()))

    cdef object run_piece(self, long long steps):
        """Run at most this many steps, as many as the schedule has poses of walls and box for."""
        cdef long long begun = self.loop.steps_done
        if self.loop.course.steered and not self.contacts_known:
            self.evaluate()                             # for the forces that move walls and box
        if self.calls_python or self.makes_copies and (self.kept is None or perf_counter() >= self.copy_due):
            self.keep(self.changing())
        steps = self.schedule.prepare(self.loop, steps)
        self.contacts_known = False
        try:
            self.advance(steps)
        except NotFinite:
            raise
        except BaseException as error:
            if self.calls_python:
                self.loop.steps_done = begun            # a step may be counted though it has failed
            self.fail(error)
            raise
        self.contacts_known = True
        if self.loop.steps_done == begun:              # a pressure would move the box too fast, or too far
            self.schedule.refuse(self.step_count)
        if self.memory.run_has_ended():                 # when all else is complete
            require_sound(self.state, self.population.components, self.step_count)

    cdef object fail(self, error):
        """Go back after an error within steps; without a copy, the loop is broken."""
        step = self.step_count + 1
        if self.kept is None:
            cause = "memory was exhausted" if isinstance(error, MemoryError) else "the contact law failed"
            self.broken = f"in step {step} {cause}, and forces are missing"
            drop_lists(&self.loop.broad)
            self.onsets = None
            return
        self.go_back()
        if not self.calls_python:
            time = self.step_count * self.dt
            error.args = (f"{error} in step {step}: the simulation is back at step {self.step_count} (time {time:.6g} "
                          "s), where it can be read, saved and run on with equal bits",)

    def return_to_last_step(self):
        """After a step to a pose that is not finite: go back, and repeat the steps before it."""
        end = self.loop.steps_done
        if self.kept is not None:
            self.go_back()
            self.run(end - self.loop.steps_done)

    @property
    def box(self):
        """The present Box, or None."""
        return self.schedule.box_at(self.step_count)

    @property
    def moves(self):
        """Whether a wall or the periodic box moves, or a clump is held, and may do work."""
        return self.loop.course.walls > 0 or self.loop.course.boxes > 0 or self.loop.state.holds != NULL

    @property
    def servo_states(self):
        """(walls, 2) displacements [m] and velocities [m/s] of walls that a force moves, along its direction."""
        return self.schedule.servo_state(self.step_count)

    @property
    def fields(self):
        """Values of the fields of the clumps by name, a dict of copies."""
        return field_values(self.state, self.population.components)

    def spheres(self):
        """(n_spheres, 4) centres and radii, in the user's order, next to the centres of the clumps.

        Centres are those of the last step, or of the last `pose()`.
        """
        state = self.state
        spheres = state.spheres.reshape(-1, 4).take(state.sphere_slot, axis=0)
        if state.box is not None:
            sizes = state.bodies.sizes[state.template_index]
            spheres[:, :3] += np.repeat(state.shift * state.box.start.length, sizes, axis=0)
        return spheres

    cdef object advance(self, long long steps):
        """Run the time loop for `steps`; -1: evaluate the forces at the present pose."""
        self.guard.during_step = True
        with nogil:
            run_loop(self.loop, steps)
        self.guard.during_step = False
        error, self.error = self.error, None
        self.memory.raise_failure(error)

    def evaluate(self, bint rates_known=True):
        """Evaluate contacts at the present pose, and the forces unless they are known.

        Known forces persist: forces that depend on velocities were computed with predicted velocities, which differ in
        the last bits from those of the whole step. Forces on started clumps persist too if no new clump touches them.
        The same holds for onset corrections.

        rates_known : the rates of all fields are known if the forces are; else those of clumps that have done a step.

        If it fails, forces, contacts, energies and rates are those of before, whichever thread has failed.
        """
        cdef bint has_forces = self.loop.external_forces != NULL or self.loop.n_forces > 0
        cdef bint calls_forces = has_forces and not self.forces_known
        cdef ExternalForces external_forces = self.loop.external_forces
        cdef int n_forces = self.loop.n_forces
        cdef const unsigned char[::1] started = np.append(self.started, False).view(np.uint8)
        self.schedule.prepare(self.loop, 0)
        rates = field_rows(self.state, self.population.components)
        keeps_forces = self.forces_known or not has_forces and bool(self.started.any())
        self.keep(self.changing() if calls_forces or self.population.fields else
                  [self.state.wrench] if keeps_forces else [])
        self.contacts_known = self.loop.broad.valid = False
        try:
            if calls_forces:
                for name, rate in zip(("predicted_velocity", "predicted"), self.last_rates()):
                    self.state.set_column(name, rate)
            else:
                self.loop.external_forces, self.loop.n_forces = NULL, 0
            self.loop.started = &started[0]
            self.advance(-1)
            keep_rates(self.state, self.population.components, rates, self.forces_known and rates_known)
            if keeps_forces and (self.forces_known or not self.new_touch_started()):
                self.take_known_forces(NULL if self.forces_known else &started[0])
        except BaseException:                           # also a signal, which may interrupt Python
            self.go_back()
            raise
        finally:
            self.loop.external_forces, self.loop.n_forces = external_forces, n_forces
        self.forget()
        self.forces_known = self.contacts_known = True

    cdef object take_known_forces(self, const unsigned char *clumps):
        """Replace forces by those before an evaluation. clumps : (n_clumps,) of which they are known; NULL: of all."""
        cdef int t
        if clumps == NULL:
            self.state.wrench[...] = self.copies[0]
        else:
            block, lane = np.divmod(self.state.clump_slot[self.started], LANES)
            self.state.wrench[block, :, lane] = self.copies[0][block, :, lane]
        for t in range(self.loop.n_threads if self.onsets is not None or self.state.hold is not None else 0):
            if self.onsets is not None:
                take_onsets(self.loop, t, self.onsets, clumps)
            add_wall_work(self.loop, t, True)

    def evaluate_forces(self):
        """Forces at the present pose, unless they are known."""
        if not self.forces_known:
            self.evaluate()

    cdef bint new_touch_started(self):
        """Whether a clump not yet started is in contact with a started one."""
        pairs = self.deep_contacts(-np.inf)
        pairs = pairs[pairs["clump_j"] >= 0]
        return bool(np.any(self.started[pairs["clump_i"]] != self.started[pairs["clump_j"]]))

    @property
    def is_unsorted(self):
        """Whether the clumps have mixed so much that it is time to sort them."""
        return self.loop.broad.n_outer >= self.memory.next_sort

    def sorted(self):
        """A snapshot in which neighbours in space are neighbours in memory.

        Lists and copies of this loop are freed, as another one of the snapshot needs much memory.
        """
        cdef int t
        position, snapshot = self.state.in_slot_order("position"), self.snapshot()
        order = row_major(position if self.state.box is None else self.box.wrapped(position))
        self.forget()
        for t in range(self.loop.n_threads):
            release_room(self.loop.contacts + t)
        drop_lists(&self.loop.broad)
        return replace(snapshot, state=self.state.sorted(order))

    def set_shares(self, shares, bint keep=True):
        """Set the fraction of the clumps of each thread from the next rebuild on; keep : without load balance then."""
        cdef int t
        for t in range(self.loop.n_threads):
            self.loop.broad.shares[t].part = shares[t]
        self.loop.broad.fixed_shares = keep
        self.loop.broad.valid = False

    def start(self, double dt):
        """Half a step back, and `start` of the rotation scheme, for the clumps not started; forces must be known.

        dt : the step, or 0 to omit the half step.

        If a scheme written in Python raises, no clump is changed.
        """
        cdef Step step = self.loop.step
        cdef double[:, :, ::1] blocks = self.state.blocks, after
        cdef const int[::1] slots
        cdef Py_ssize_t k, row
        step.dt = dt
        if not self.all_started:
            started, slots = np.ones_like(self.started), self.state.clump_slot[~self.started]
            after = after_kick(self.state, self.memory.kernels, step, -0.5 * dt, START)
            for k in range(slots.shape[0]):             # in C: see layout.pyx
                for row in range(blocks.shape[1]):
                    blocks[row_of(slots[k]), row, lane_of(slots[k])] = after[row_of(slots[k]), row, lane_of(slots[k])]
            self.started, self.all_started = started, True

    def rates(self):
        """(velocity (n, 3) lab, angular velocity (n, 3) principal body frame) at the instant of the pose; for clumps
        not yet started, the given velocities."""
        if self.started.any():
            self.evaluate_forces()
        return self.last_rates()

    def last_rates(self):
        """The same with the last forces, which may be those of an earlier pose."""
        given = self.state.column("velocity"), self.state.column("angular_velocity")
        if not self.started.any():
            return given
        self.schedule.prepare(self.loop, 0)             # the poses of walls that carry clumps
        blocks = after_kick(self.state, self.memory.kernels, self.loop.step, 0.5 * self.loop.step.dt, SYNC,
                            self.loop.contacts.walls.now)
        rates = tuple(self.state.rows(blocks, *COLUMNS[name]) for name in ("velocity", "predicted"))
        return rates if self.all_started else tuple(
            np.where(self.started[:, None], rate, old) for rate, old in zip(rates, given))

    @property
    def shares(self):
        """(threads,) fraction of the clumps that each thread owns."""
        return [self.loop.broad.shares[t].part for t in range(self.loop.n_threads)]

    @property
    def step_count(self):
        """Number of the present step."""
        return self.loop.first_step + self.loop.steps_done

    @property
    def statistics(self):
        """Sizes of the neighbor lists and numbers of their rebuilds, a dict."""
        return list_statistics(&self.loop.broad) | {"threads": self.threads, "shares": self.shares}

    def history(self):
        """Contacts of a law with a history, see export_history (loop_memory.pyx); None: the law has none."""
        return None if self.loop.law.history == NULL else export_history(self.loop, self.state)

    def ledger(self):
        """Energies since the start by name, those of a `Snapshot` that may differ from zero."""
        energies, ledger = read_ledger(self.loop), {}
        if self.loop.law.history != NULL:
            ledger["dissipated"], ledger["fractures"] = energies[:-2], self.take_fractures()
        if self.walls is not None and self.moves:
            ledger["wall_work"] = energies[-2:]
        if self.user_forces.expected:
            ledger |= {"work": self.user_work.now[3], "force_work": self.compiled_forces.work()}
        return ledger

    def take_fractures(self):
        """What broke so far, see `Snapshot`."""
        if self.loop.law.history != NULL:
            self.fractures = take_fractures(self.loop, self.fractures, self)
        return self.fractures

    cdef object keep_onsets(self):
        """Onset corrections at the present pose, see `Snapshot`."""
        if self.contacts_known and self.loop.law.ends > 0.0:
            self.onsets = list_onsets(self.loop)
        return self.onsets

    def snapshot(self):
        """The simulation at this instant. Its state is that of the loop, which the next step changes."""
        return Snapshot(self.state, self.pair_table, self.step_count, self.started, self.forces_known,
                        self.due == self.step_count, self.population, self.user_forces, self.history(),
                        self.keep_onsets(), walls=self.walls, **self.ledger(),
                        servo_states=self.servo_states.copy() if self.loop.course.n_servos else None,
                        box_state=self.schedule.box_state(self.step_count) if self.loop.course.boxes else None)

    def pose(self):
        """Compute the positions of all spheres."""
        pose_range(&self.loop.state, 0, self.loop.state.n_blocks)

    def contacts(self):
        """Contacts at the present pose, a structured array (contact/gather.pyx); of a user-defined law with their
        history."""
        if not self.contacts_known:
            self.evaluate()
        found = self.deep_contacts(-np.inf)
        return with_history(found, self.history()["records"]) if self.memory.law_kernels.sees_bodies else found

    def deep_contacts(self, double above):
        """Those with an overlap above a limit [m], without history; contacts must be known."""
        return self.of_walls(list_contacts(self.state, &self.loop.state, self.loop.contacts, self.loop.n_threads,
                                           above))

    def rate_slopes(self, changes):
        """Derivatives of the rates of fields in the present contacts, see list_slopes; None: they change no field."""
        return None if self.loop.law.fields.sums == NULL else list_slopes(&self.loop.state, self.loop.contacts,
                                                                          self.loop.n_threads, changes)

    def deepest_in_walls(self, spheres):
        """Largest overlaps of spheres (n, 4) with walls (n,) [m], and the numbers of these walls (n,)."""
        self.schedule.prepare(self.loop, 0)
        return deepest_in_walls(self.loop.walls, spheres)

    def of_walls(self, contacts):
        """Return contacts (n,) with the numbers of walls instead of the numbers of their primitives."""
        for name in ("clump_j", "sphere_j"):
            at_wall = contacts[name] < 0
            contacts[name][at_wall] = -1 - self.walls.wall_of.take(-1 - contacts[name][at_wall])     # see new_memory
        return contacts

    def extremes(self):
        """Largest speed of a clump half a step before the pose [m/s], largest overlap [m], corners of the bounding box
        of the centres of mass [m], two tuples; contacts must be known."""
        speed, *corners = self.state.extremes()
        return speed, deepest_overlap(&self.loop.state, self.loop.contacts, self.loop.n_threads), *corners


cdef object after_kick(State state, Kernels kernels, Step step, double dt, int role, const WallPose *walls=NULL):
    """A copy of the blocks after a kick by dt and a role of the rotation scheme; forces must be known.

    walls : their poses, for SYNC.
    """
    cdef const StateView *view = &state.view
    copy = state.blocks.copy()
    cdef double[:, :, ::1] blocks = copy
    cdef ClumpBlock *clumps
    cdef WrenchBlock held
    cdef const WrenchBlock *wrench
    cdef Py_ssize_t b
    for b in range(blocks.shape[0]):
        clumps, wrench = <ClumpBlock *> &blocks[b, 0, 0], held_wrench(view, b, wrench_of(view, b), &held)
        kick(clumps, wrench.force, constants_of(view, b), dt)
        if role != START or kernels.roles >> START & 1:
            call_scheme(kernels.function, kernels.roles, role, clumps, wrench, constants_of(view, b), &step)
        if role == SYNC:
            follow_rates(hold_of(view, b), clumps, walls, clumps.velocity)
    kernels.raise_error()
    return copy
