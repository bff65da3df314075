# distutils: extra_compile_args = -O1
"""Driver: runs and reads the time loop for Python.

Each change of the state is complete or does not happen, whatever raises: a user function, Ctrl-C, exhausted memory.
Python handles signals between two of its own instructions, so compiled code is interrupted only where it calls Python.
"""
from dataclasses import replace

import numpy as np

from minidem.engine.columns import columns_of
from minidem.engine.failures import NotFinite, require_sound
from minidem.engine.snapshot import Snapshot
from minidem.fields.field import field_rows, keep_rates
from minidem.holds.hold import immovable
from minidem.state.state import row_major

from minidem.broadphase.broadphase cimport drop_lists, list_memory, list_statistics, take_over
from minidem.contact.blocks cimport bytes_of
from minidem.contact.contacts cimport GROUPS, release_room
from minidem.contact.effective_mass cimport effective_inertia
from minidem.contact.history cimport copy_contacts, read_history
from minidem.contact.listing cimport deepest_overlap, list_contacts
from minidem.core.guard cimport Guard
from minidem.engine.failures cimport raise_failure
from minidem.engine.fractures cimport Fractures
from minidem.engine.half_step cimport begin_steps, rates_at_pose
from minidem.engine.ledger cimport read_ledger, write_ledger
from minidem.engine.phases cimport Options, list_phases
from minidem.engine.undo cimport Undo
from minidem.fields.rates cimport FieldRates
from minidem.forces.user_forces cimport ForceCalls
from minidem.holds.hold cimport follow, held_wrench
from minidem.loop.bare_loop cimport BareLoop
from minidem.loop.loop cimport Loop, run_loop
from minidem.onset.onset_pass cimport OnsetCorrection
from minidem.rotation.scheme cimport Step
from minidem.state.pose cimport pose_range
from minidem.state.state cimport State
from minidem.steering.course cimport Steering
from minidem.steering.work cimport add_wall_work
from minidem.walls.wall_table cimport WallPrimitives, deepest_in_walls

MIN_SORTED_BLOCKS = 64              # with fewer, all clumps are in cache in any order
REBUILDS_PER_SORT = 50              # outer rebuilds after which the clumps have mixed enough to be sorted again
STEPS_PER_WRAP = 32768              # rounding errors of 32768 steps are a small part of those far from the origin


cdef class Driver:
    """A time loop over a fixed set of clumps.

    Its parts are the `BareLoop`, with the struct that compiled code shares; the `State`; where walls and box are
    (`Steering`); and what is optional: see `Options` (phases.pxd).

    Parameters
    ----------
    settings : Settings
    snapshot : Snapshot
        At which it begins; from now on the loop owns its state.
    like : Driver, optional
        A loop of the same clumps at the same instant, whose skins, shares and counters this one takes over, and its
        contacts with history, which the snapshot then has not.
    """
    cdef BareLoop bare
    cdef Loop *loop                     # of it
    cdef readonly object settings
    cdef readonly long long first_step  # number of the step at which this loop was made
    cdef readonly State state
    cdef readonly WallPrimitives walls  # None: free bodies
    cdef readonly Steering steering
    cdef readonly object pair_table     # PairTable of the contact law; None: free bodies
    cdef readonly object gravity
    cdef readonly object user_forces
    cdef readonly ForceCalls force_calls        # None: there are no user forces
    cdef readonly FieldRates field_rates        # None: there are no fields
    cdef public object population       # Population: ids, and energies of removed clumps
    cdef Guard guard
    cdef Fractures fractures
    cdef Options options
    cdef OnsetCorrection onset_correction
    cdef object onsets                  # see Snapshot, where contacts are not known; None: not known
    cdef readonly object started
    cdef readonly bint forces_known     # the forces in the state belong to its pose
    cdef bint contacts_known            # the stored contacts belong to the pose
    cdef readonly object broken         # why the state is incomplete; None: it is complete
    cdef public object due              # step whose callback has not returned; None: there is none
    cdef bint calls_python              # in each step
    cdef long long next_sort            # number of the outer rebuild at which clumps are sorted again
    cdef Undo undo

    def __cinit__(self, settings, snapshot, Driver like=None):
        cdef State state = snapshot.state.with_columns(columns_of(settings, snapshot))
        snapshot = replace(snapshot, state=state)
        self.settings, self.state, self.walls = settings, state, snapshot.walls
        self.guard, self.population, self.pair_table = settings.guard, snapshot.population, snapshot.pair_table
        self.gravity = snapshot.gravity
        self.first_step, self.bare = snapshot.step, BareLoop(settings, snapshot)
        self.loop, kernels = &self.bare.loop, self.bare.law_kernels
        if state.hold is not None:
            self.loop.restrain, self.loop.follow = held_wrench, follow
        if settings.law is not None:
            self.bare.set_exclusions(self.pair_table.exclusions, immovable(state))
        self.set_fields(snapshot.user_forces.fluxes)
        if like is not None:                            # the clumps have been sorted
            take_over(&self.loop.broad, &like.loop.broad)
            if self.loop.law.history != NULL:
                copy_contacts(state, self.loop.contacts, like.state, like.loop.contacts, like.loop.n_threads)
            self.next_sort = self.loop.broad.n_outer + REBUILDS_PER_SORT
        if settings.law is None or state.view.n_blocks <= MIN_SORTED_BLOCKS:
            self.next_sort = 2 ** 62
        self.steering = Steering(settings, snapshot)
        self.steering.attach(self.loop)
        self.options.moving = &self.steering.own
        if settings.law is not None and settings.law.corrects_onsets(settings.law_values):
            self.onset_correction = OnsetCorrection()
            self.onset_correction.attach(self.loop, settings.law.power)
            self.options.onsets, self.options.moving.corrected = &self.onset_correction.own, True
        self.started, self.forces_known, self.onsets = snapshot.started, snapshot.forces_known, snapshot.onsets
        self.due = like.due if like is not None else snapshot.step if snapshot.callback_due else None
        self.fractures = Fractures()
        self.fractures.attach(self.loop, np.zeros((0, 6)) if snapshot.fractures is None else snapshot.fractures,
                              kernels is not None and (self.loop.law.rare_records > 0 or kernels.sees_bodies))
        if settings.law is not None:
            write_ledger(self.loop, snapshot.dissipated, snapshot.wall_work)
        self.user_forces, function = snapshot.user_forces, settings.loads
        if self.user_forces.expected:
            function = self.user_forces if self.user_forces.in_python else None
        if self.user_forces.expected or function is not None:
            self.force_calls = ForceCalls()
            self.force_calls.attach(self.loop, function, self)
            self.options.forces = &self.force_calls.own
        if self.user_forces.expected:
            self.force_calls.bind(state, self.user_forces, self.population.ids, self.field_rates,
                                  like is None and state.n_clumps)
        self.calls_python = state.n_clumps and (
            function is not None or bool(self.bare.kernels.functions)
            or any(flux.address is None for flux in snapshot.user_forces.fluxes)
            or kernels is not None and bool(kernels.functions))
        changing = [self.force_calls.blocks] if self.user_forces.expected else []
        self.undo = Undo([state.wrench, state.blocks, state.shift, *changing], state.n_spheres)

    def set_fields(self, fluxes):
        """Fields of clumps, which forces read in any loop, and what laws with history and fluxes need besides."""
        kernels = self.bare.law_kernels
        if kernels is None or not (self.population.fields or fluxes or kernels.sees_bodies):
            return
        self.field_rates = FieldRates()
        self.field_rates.attach(self.loop, self.population, fluxes, kernels)
        if self.field_rates.own.n > 0:
            self.options.fields = &self.field_rates.own

    cdef object keep(self, bint rebuilds=False):
        """Copy all that steps change, for `go_back`; rebuilds : as of save_contacts."""
        self.undo.keep(self.loop, (self.loop.steps_done, self.forces_known, self.keep_onsets(), self.broken_bonds(),
                                   self.steering.states(self.step_count)), rebuilds)

    cdef object go_back(self):
        """Restore what `keep` has copied. Contacts are then unknown."""
        cdef long long steps_done
        steps_done, self.forces_known, self.onsets, broken, moved = self.undo.go_back(self.loop)
        self.fractures.go_back(broken)
        self.contacts_known = False
        if steps_done != self.loop.steps_done:
            self.loop.steps_done, self.due = steps_done, None
            self.steering.go_back(self.step_count, moved)

    def run(self, long long steps):
        """Advance by `steps`.

        If Python code called by a step raises, the state is restored to the beginning of the step.
        """
        cdef long long end = self.loop.steps_done + steps
        if steps <= 0:
            return
        if self.calls_python and not self.steering.steered:
            self.steering.prepare(self.loop, steps)     # for all of its steps at once
        while self.loop.steps_done < end:
            past = self.step_count % STEPS_PER_WRAP     # bits depend on nothing but the number of the step
            if past == 0:
                self.state.wrap()                       # lists remain valid: nearest images do not change
            self.run_piece(min(end - self.loop.steps_done, 1 if self.calls_python else steps, STEPS_PER_WRAP - past))

    cdef object run_piece(self, long long steps):
        """Run at most this many steps, as many as the course has poses of walls and box for."""
        cdef long long begun = self.loop.steps_done
        if self.steering.steered and not self.contacts_known:
            self.evaluate()                             # for the forces that move walls and box
        if self.calls_python or self.undo.is_due():
            self.keep()
        steps = self.steering.prepare(self.loop, steps)
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
            self.steering.refuse(self.step_count)
        if self.loop.broad.threads[0].ends_run:         # as in all threads: when all else is complete
            require_sound(self.state, self.population.components, self.step_count)

    cdef object fail(self, error):
        """Go back after an error within steps; without a copy, the loop is broken."""
        step = self.step_count + 1
        if self.undo.values is None:
            cause = "memory was exhausted" if isinstance(error, MemoryError) else "the contact law failed"
            self.broken = f"in step {step} {cause}, and forces are missing"
            drop_lists(&self.loop.broad)
            self.onsets = None
            return
        self.go_back()
        if not self.calls_python:
            time = self.step_count * self.loop.step.dt
            error.args = (f"{error} in step {step}: the simulation is back at step {self.step_count} (time {time:.6g} "
                          "s), where it can be read, saved and run on with equal bits",)

    def return_to_last_step(self):
        """After a step to a pose that is not finite: go back, and repeat the steps before it."""
        end = self.loop.steps_done
        if self.undo.values is not None:
            self.go_back()
            self.run(end - self.loop.steps_done)

    @property
    def box(self):
        """The present Box, or None."""
        return self.steering.box_at(self.step_count)

    @property
    def moves(self):
        """Whether a wall or the periodic box moves, or a clump is held, and may do work."""
        return self.loop.course.walls > 0 or self.loop.course.boxes > 0 or self.loop.state.holds != NULL

    def steered_speeds(self):
        """Speeds or rates (walls,) that forces give to walls, strain rates (3,) of the box, at this instant."""
        if self.steering.steered and not self.contacts_known:
            self.evaluate()
        return self.steering.speeds(self.loop)

    cdef object advance(self, long long steps, bint between=False):
        """Run the time loop for `steps`; between : evaluate the forces at the present pose instead."""
        self.guard.during_step = True
        list_phases(self.loop, &self.options, between)
        with nogil:
            run_loop(self.loop, steps, between)
        self.guard.during_step = False
        error = None if self.force_calls is None else self.force_calls.take_error()
        raise_failure(self.loop, self.bare.kernels, self.bare.law_kernels, error, self.walls)

    def evaluate(self, bint rates_known=True, bint renews=False):
        """Evaluate the contacts at the present pose, and the forces that are not known.

        What is known persists with its bits: another evaluation would not find it again. In a step, user forces and
        onset corrections have seen velocities that were predicted, and clumps that were removed at the end of it.

        rates_known : the rates of all fields are known if the forces are; else only for clumps that have done a step.
        renews : forces of contacts are not known, because materials have changed.

        If it fails, whichever thread has failed, forces, contacts, energies and rates are as before.
        """
        cdef bint has_forces = self.force_calls is not None and self.force_calls.own.calls
        cdef bint calls_forces = has_forces and not self.forces_known
        cdef int t
        self.steering.prepare(self.loop, 0)
        rates = field_rows(self.state)
        self.keep(True)
        self.contacts_known = self.loop.broad.valid = False
        try:
            for t in range(self.loop.n_threads):
                self.loop.contacts[t].renews = renews
            if calls_forces:
                self.predict_velocities()
            elif has_forces:
                self.force_calls.own.calls = False
            if self.onset_correction is not None:
                self.onset_correction.prepare(self.started)
            self.advance(0, True)
            keep_rates(self.state, rates, self.forces_known and rates_known)
            if not calls_forces:
                self.take_known_forces()
        except BaseException:                           # also a signal, which may interrupt Python
            self.go_back()
            raise
        finally:
            for t in range(self.loop.n_threads):
                self.loop.contacts[t].renews = False
            if has_forces:
                self.force_calls.own.calls = True
        self.undo.forget(self.loop)
        self.forces_known = self.contacts_known = True

    cdef object predict_velocities(self):
        """Velocities that user forces see, at the instant of the pose."""
        velocity, angular_velocity = self.last_rates()
        change = self.steering.flow_change(self.step_count, self.state.column("position"))
        share = np.where(self.started, 0.5, 1.0)[:, None]       # new clumps have velocities of before it
        self.state.set_column("predicted_velocity", velocity + share * change)
        self.state.set_column("predicted", angular_velocity)

    cdef object take_known_forces(self):
        """Put back forces and onset corrections after an evaluation without user forces.

        If they were not known, clumps have been added: those of started clumps persist, unless a new clump touches one.
        """
        cdef int t
        if not self.forces_known and (not self.started.any() or self.new_touch_started()):
            return
        clumps = self.started | self.forces_known
        self.state.wrench[:] = np.where(self.state.lanes_of(clumps), self.undo.copies[0], self.state.wrench)
        if self.onsets is not None:
            self.onset_correction.take(self.onsets, clumps)
        for t in range(self.loop.n_threads if self.onsets is not None or self.state.hold is not None else 0):
            add_wall_work(self.loop, t, &self.steering.own, True)

    def evaluate_forces(self):
        """Forces at the present pose, unless they are known."""
        if not self.forces_known:
            self.evaluate()

    cdef bint new_touch_started(self):
        """Whether a clump not yet started is in contact with a started one."""
        pairs = list_contacts(self.state, &self.loop.state, self.loop.contacts, self.loop.n_threads, -np.inf)
        pairs = pairs[pairs["clump_j"] >= 0]
        return bool(np.any(self.started[pairs["clump_i"]] != self.started[pairs["clump_j"]]))

    @property
    def is_unsorted(self):
        """Whether the clumps have mixed so much that it is time to sort them."""
        return self.loop.broad.n_outer >= self.next_sort

    def sorted(self):
        """A snapshot in which neighbours in space are neighbours in memory.

        Lists and copies of this loop are freed, as another one of the snapshot needs much memory.
        """
        cdef int t
        position, snapshot = self.state.in_slot_order("position"), self.snapshot(False)
        order = row_major(position if self.state.box is None else self.box.wrapped(position))
        self.undo.forget(self.loop)
        for t in range(self.loop.n_threads):
            release_room(self.loop.contacts + t)
        drop_lists(&self.loop.broad)
        return replace(snapshot, state=self.state.sorted(order))

    def set_shares(self, shares, bint keep=True):
        """Set the fraction of the clumps of each thread from the next rebuild on; keep : without load balance then."""
        cdef int t
        for t in range(self.loop.n_threads):
            self.loop.broad.shares[t].fraction = shares[t]
        self.loop.broad.fixed_shares = keep
        self.loop.broad.valid = False

    def start(self, double dt):
        """Half a step back for the clumps not started; forces must be known. dt : the step, or 0 to omit the half step.
        """
        cdef Step step = self.loop.step
        step.dt = dt
        if not self.started.all():
            started = np.ones_like(self.started)
            begin_steps(self.state, self.bare.kernels, step, ~self.started)
            self.started = started

    def rates(self):
        """Velocities at the instant of the pose, see `rates_at_pose`."""
        if self.started.any():
            self.evaluate_forces()
        return self.last_rates()

    def last_rates(self):
        """The same with the last forces, which may belong to an earlier pose."""
        self.steering.prepare(self.loop, 0)             # for the poses of walls
        return rates_at_pose(self.state, self.bare.kernels, self.loop.step, self.started, self.loop.contacts.walls.now)

    @property
    def step_count(self):
        """Number of the present step."""
        return self.loop.first_step + self.loop.steps_done

    @property
    def threads(self):
        """Number of threads."""
        return self.loop.n_threads

    @property
    def phases(self):
        """Names of the phases of a step, in their order: see phases.pyx."""
        cdef int k
        list_phases(self.loop, &self.options, False)
        return tuple([self.loop.phases[k].name.decode() for k in range(self.loop.n_phases)])

    @property
    def statistics(self):
        """Sizes of the neighbor lists and numbers of their rebuilds, and memory in use [bytes] by topic, a dict."""
        cdef Py_ssize_t sums = 0, contacts = 0, copies = sum([array.nbytes for array in self.undo.copies])
        cdef int t, group
        for t in range(self.loop.n_threads):
            sums += self.loop.contacts[t].capacity
            for group in range(<int> GROUPS):
                contacts += bytes_of(&self.loop.contacts[t].groups[group])
                copies += bytes_of(&self.loop.contacts[t].saved[group])
        return list_statistics(&self.loop.broad) | {"memory": {
            "state": self.state.nbytes, "loop": self.bare.size, "lists": list_memory(&self.loop.broad),
            "contacts": contacts, "sums": sums, "copies": copies}}

    def effective_inertia(self, pairs, normals):
        """(mass, rolling inertia), (n,) each, of contacts between spheres (n, 2); normals : (n, 3) unit vectors."""
        return effective_inertia(&self.loop.law, self.state, pairs, normals)

    def history(self):
        """Contacts of the last step, a dict of arrays, see `read_history`; None: the law has no history."""
        return read_history(self.state, self.loop.contacts, self.loop.n_threads)

    def ledger(self):
        """Energies since the start by name, as in a `Snapshot`, without what is always zero."""
        energies, ledger = read_ledger(self.loop), {}
        if self.loop.law.history != NULL:
            ledger["dissipated"], ledger["fractures"] = energies[:-2], self.broken_bonds()
        if self.walls is not None and self.moves:
            ledger["wall_work"] = energies[-2:]
        return ledger

    def broken_bonds(self):
        """What broke so far, see `Snapshot.fractures`."""
        return self.fractures.take(self)

    cdef object keep_onsets(self):
        """Onset corrections at the present pose, see `Snapshot`."""
        if self.contacts_known and self.onset_correction is not None:
            self.onsets = self.onset_correction.listed()
        return self.onsets

    def snapshot(self, bint history=True):
        """The simulation at this instant. It shares the state of the loop, which the next step changes.

        history : with the contacts of laws with a history
        """
        return Snapshot(self.state, self.pair_table, self.gravity, self.step_count, self.started, self.forces_known,
                        self.due == self.step_count, self.population, self.user_forces,
                        self.history() if history else None, self.keep_onsets(), walls=self.walls,
                        **self.ledger(), **self.steering.states(self.step_count))

    def pose(self):
        """Compute the positions of all spheres."""
        pose_range(&self.loop.state, 0, self.loop.state.n_blocks)

    def contacts(self, double above=-np.inf):
        """Contacts at the present pose with an overlap above a limit [m], a structured array (contact/listing.pyx)."""
        if not self.contacts_known:
            self.evaluate()
        return list_contacts(self.state, &self.loop.state, self.loop.contacts, self.loop.n_threads, above)

    def deepest_in_walls(self, spheres):
        """Largest overlaps of spheres (n, 4) with walls (n,) [m], and the numbers of these walls (n,)."""
        self.steering.prepare(self.loop, 0)
        return deepest_in_walls(self.loop.walls, spheres)

    def deepest_overlap(self):
        """The largest overlap of all contacts [m], which must be known."""
        return deepest_overlap(&self.loop.state, self.loop.contacts, self.loop.n_threads)
