# distutils: extra_compile_args = -O1
"""Driver: makes, runs and reads the time loop for Python.

Each change of the state is complete or does not happen, whatever raises: a user function, Ctrl-C, exhausted memory.
Python handles signals between two of its own instructions, so compiled code is interrupted only where it calls Python.
Such code works on copies, or saves a copy to restore.
"""
import math
from time import perf_counter

from libc.string cimport memcpy

import numpy as np

from minidem.contact.contact_list import with_history
from minidem.engine.loop_memory import NotFinite
from minidem.engine.population import field_rows, field_values, keep_rates, require_sound
from minidem.engine.snapshot import Snapshot
from minidem.engine.user_forces import UserWork
from minidem.state.state import COLUMNS

from minidem.broadphase.broadphase cimport IN_CALLBACK, NO_FAILURE, SMALL_TEAM
from minidem.contact.contact_list cimport deepest_overlap, list_contacts, list_slopes
from minidem.contact.contacts cimport restore_contacts
from minidem.core.guard cimport Guard
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vectors cimport require_memory
from minidem.engine.compiled_forces cimport CompiledForces
from minidem.engine.leapfrog cimport kick
from minidem.engine.ledger cimport add_wall_work, read_ledger, take_fractures, write_ledger
from minidem.engine.loop cimport (
    BLOCKS, CONTACTS, LISTS, N_PHASES, OUTSIDE, WAITING, ExternalForces, Loop, record_phase, run_loop,
)
from minidem.engine.loop_memory cimport LoopMemory
from minidem.engine.onset_pass cimport note_onsets, noted_onsets, take_onsets
from minidem.engine.schedule cimport Schedule
from minidem.rotation.scheme cimport START, SYNC, Kernels, Step, call_scheme
from minidem.state.pose cimport pose_range
from minidem.state.rows cimport ClumpBlock
from minidem.state.state cimport State, StateView, constants_of, wrench_of
from minidem.walls.wall_table cimport WallElements, deepest_in_walls

PIECE = 0.05        # of a long run [s]


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

    Its parts are the `Loop`, which compiled code shares; the `State`; `Lists` of candidates and contacts
    (loop_memory.pyx); contacts with records as arrays (loop_memory.pyx); where walls and box are (`Schedule`); user
    forces (user_forces.py, compiled_forces.pyx); and the ledger of energies (ledger.pyx).

    Parameters
    ----------
    settings : Settings
    snapshot : Snapshot
        At which it begins; its state is that of the loop from now on.
    """
    cdef LoopMemory memory
    cdef Loop *loop                     # that of the memory
    cdef readonly object settings
    cdef readonly State state
    cdef readonly WallElements walls    # None: free bodies
    cdef Schedule schedule
    cdef readonly object user_forces, external_forces
    cdef CompiledForces compiled_forces     # None: there are no user forces
    cdef readonly object user_work      # UserWork, likewise
    cdef public object population       # Population: ids, and energies of removed clumps
    cdef Guard guard
    cdef object fractures               # see Snapshot; without what the threads have noted since
    cdef object onsets                  # see Snapshot, where contacts are not known; None: nor are these
    cdef readonly object started
    cdef readonly bint all_started
    cdef readonly bint forces_known     # the forces in the state belong to its pose
    cdef readonly bint contacts_known   # likewise the contacts
    cdef readonly object broken         # why the state is incomplete; None: it is complete
    cdef public object due              # step whose callback has not returned; None: there is none
    cdef public object copy             # what Simulation keeps to go back to, if a step fails
    cdef object saved                   # copies of blocks and wrenches, where a step calls Python
    cdef object error                   # raised by external_forces

    def __cinit__(self, settings, snapshot):
        cdef State state = snapshot.state
        self.settings, self.state, self.guard, self.population = settings, state, settings.guard, snapshot.population
        if settings.law is not None:
            snapshot.pair_table.require_pairs(settings.law, settings.law_values, state.material_index)
        self.memory, self.schedule = LoopMemory(settings, snapshot), Schedule(settings, snapshot)
        self.loop, self.walls = &self.memory.loop, self.memory.walls
        self.loop.course = &self.schedule.course
        self.schedule.prepare(self.loop, 0)
        self.started, self.all_started = snapshot.started, bool(snapshot.started.all())
        self.forces_known, self.onsets = snapshot.forces_known, snapshot.onsets
        self.due = snapshot.step if snapshot.callback_due else None
        self.fractures = np.zeros((0, 6)) if snapshot.fractures is None else snapshot.fractures
        if settings.law is not None:
            write_ledger(self.loop, np.concatenate(
                [np.zeros((n, 2)) if entries is None else entries
                 for n, entries in ((5, snapshot.dissipated), (2, snapshot.wall_work))]))
        self.set_forces(snapshot)

    cdef object set_forces(self, snapshot):
        """Forces besides those of contacts, and the copies from which a step that calls Python is undone."""
        cdef double[:, :, ::1] blocks, wrench
        cdef State state = self.state
        self.user_forces, external_forces = snapshot.user_forces, self.settings.loads
        if self.user_forces.expected:
            self.user_work = UserWork(self.first_step, state.column("position"), state.column("orientation"),
                                      np.zeros((state.n_clumps, 7)) if snapshot.work is None else snapshot.work)
            self.compiled_forces = CompiledForces(state, self.population.ids, self.user_forces.compiled,
                                                  snapshot.force_work)
            self.compiled_forces.bind(self.loop)
            if state.n_clumps:
                self.compiled_forces.check_parameters(self.loop)
            external_forces = self.user_forces if self.user_forces.in_python else None
        if external_forces is not None:
            self.external_forces, self.loop.owner = external_forces, <void *> self
            self.loop.external_forces = call_python_forces
        if (external_forces is not None or self.memory.calls_python()) and state.n_clumps:
            blocks, wrench = self.saved = state.blocks.copy(), state.wrench.copy()
            self.loop.saved_blocks, self.loop.saved_wrench = &blocks[0, 0, 0], &wrench[0, 0, 0]
            if self.compiled_forces is not None:
                self.compiled_forces.save(self.loop)

    def run(self, long long steps):
        """Advance by so many steps; returns how many were completed.

        If Python code called by a step raises, the state is restored to the beginning of the step.
        """
        cdef long long before = self.loop.steps_done
        if steps <= 0:
            return 0
        while self.loop.steps_done - before < steps:
            self.run_piece(min(steps - (self.loop.steps_done - before), self.memory.wrap_if_due()))
        return self.loop.steps_done - before

    cdef object run_piece(self, long long steps):
        """As run, or fewer steps, as many as are in the schedule."""
        cdef long long before = self.loop.steps_done
        cdef int t
        self.memory.sort_if_due(self)
        if not self.contacts_known and (
                self.loop.course.steered or self.saved is not None and self.loop.law.ends > 0.0):
            self.evaluate()                             # a step needs forces and onset corrections before it
        steps = self.schedule.prepare(self.loop, steps)
        if self.saved is not None:
            self.keep_onsets()
        self.contacts_known = False
        try:
            self.advance(steps)
        except NotFinite:
            raise
        except BaseException as error:
            if self.broken is None and self.saved is not None:
                self.restore(self.saved[0], self.saved[1])
                if self.loop.law.ends > 0.0:
                    self.onsets = noted_onsets(self.loop)
                for t in range(self.loop.n_threads):
                    self.loop.contacts[t].ledger = self.loop.contacts[t].saved_ledger
                if self.compiled_forces is not None:
                    self.compiled_forces.restore()
            elif self.broken is None:
                cause = "memory was exhausted" if isinstance(error, MemoryError) else "the contact law failed"
                self.broken = f"in step {self.step_count + 1} {cause}, and forces are missing"
                self.memory.release_lists()
                self.contacts_known, self.onsets = False, None
            raise
        self.contacts_known = True
        if self.loop.steps_done == before:              # a pressure would move the box too fast, or too far
            self.schedule.refuse(self.step_count)
        if self.memory.run_has_ended():                 # when all else is complete
            require_sound(self.state, self.population.components, self.step_count)

    @property
    def box(self):
        """The present Box, or None."""
        return self.schedule.box_at(self.step_count)

    @property
    def moves(self):
        """Whether a wall or the periodic box moves, and does work."""
        return self.loop.course.walls > 0 or self.loop.course.boxes > 0

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
        """Run the time loop for so many steps; -1: forces at the present pose."""
        self.guard.during_step = True
        with nogil:
            run_loop(self.loop, steps)
        self.guard.during_step = False
        if self.loop.broad.threads[0].failure == SMALL_TEAM:            # no step was done
            self.loop.broad.threads[0].failure = NO_FAILURE
            self.keep_from_lists()
            self.memory.use_one_thread()
            if steps > 0:
                self.run_piece(steps)                   # it may need the contacts again
            else:
                self.advance(steps)
        else:
            error, self.error = self.error, None
            self.memory.raise_failure(error)

    cdef object restore(self, blocks, wrench):
        """Restore saved arrays, and the history of the contacts; contacts and lists are no longer valid."""
        cdef int t
        self.state.blocks[:] = blocks
        self.state.wrench[:] = wrench
        for t in range(self.loop.n_threads):
            restore_contacts(self.loop.contacts + t)
        self.loop.broad.valid = self.contacts_known = False

    def evaluate(self, bint rates_known=True):
        """Evaluate contacts at the present pose, and the forces unless they are known.

        Known forces are kept: forces that depend on velocities were computed with predicted ones, which differ in the
        last bits from those of the whole step. So are those on started clumps if no new one touches them. The same
        holds for onset corrections.

        rates_known : the rates of all fields are known if the forces are; else those of clumps that have done a step.

        If it fails, forces, contacts, energies and rates are those of before, whichever thread has failed.
        """
        cdef bint has_forces = self.loop.external_forces != NULL or self.loop.n_forces > 0
        cdef bint calls_forces = has_forces and not self.forces_known
        cdef ExternalForces saved_forces = self.loop.external_forces
        cdef int n_forces = self.loop.n_forces
        cdef const unsigned char[::1] started = np.append(self.started, False).view(np.uint8)
        cdef const double[:, ::1] onsets
        cdef int t
        self.schedule.prepare(self.loop, 0)
        onsets = np.append(np.zeros((0, 3)) if self.onsets is None else self.onsets, np.zeros((1, 3)), axis=0)
        blocks = self.state.blocks.copy() if calls_forces or self.population.fields else self.state.blocks
        keeps_some = not has_forces and bool(self.started.any())
        wrench = self.state.wrench.copy() if calls_forces or self.forces_known or keeps_some else self.state.wrench
        rates = field_rows(self.state, self.population.components)
        self.contacts_known = self.loop.broad.valid = False
        try:
            if calls_forces:
                for name, rate in zip(("predicted_velocity", "predicted"), self.last_rates()):
                    self.state.set_column(name, rate)
            else:
                self.loop.external_forces, self.loop.n_forces = NULL, 0
            self.loop.started, self.loop.keeps_onsets = &started[0], self.forces_known
            if self.onsets is not None:
                self.loop.known_onsets, self.loop.n_known_onsets = &onsets[0, 0], len(self.onsets)
            self.advance(-1)
            keep_rates(self.state, self.population.components, rates, self.forces_known and rates_known)
            if self.forces_known:
                self.state.wrench[:] = wrench
            elif keeps_some and not self.new_touch_started():
                block, lane = np.divmod(self.state.clump_slot[self.started], LANES)
                self.state.wrench[block, :, lane] = wrench[block, :, lane]
                for t in range(self.loop.n_threads):
                    take_onsets(self.loop, t, &started[0])
                    add_wall_work(self.loop, t, True)
                require_memory("the onset corrections")
        except BaseException:                           # also a signal, which may interrupt Python
            self.restore(blocks, wrench)
            raise
        finally:
            self.loop.external_forces, self.loop.n_forces = saved_forces, n_forces
            self.loop.known_onsets, self.loop.n_known_onsets, self.loop.keeps_onsets = NULL, 0, False
        for t in range(self.loop.n_threads):
            self.loop.contacts[t].has_saved = False
        self.forces_known = self.contacts_known = True

    def evaluate_forces(self):
        """Forces at the present pose, unless they are known."""
        if not self.forces_known:
            self.evaluate()

    cdef bint new_touch_started(self):
        """Whether a clump not yet started is in contact with a started one."""
        pairs = self.listed_contacts()
        pairs = pairs[pairs["clump_j"] >= 0]
        return bool(np.any(self.started[pairs["clump_i"]] != self.started[pairs["clump_j"]]))

    def sort_clumps(self):
        """Spatial sort: neighbours in space become neighbours in memory. Contacts are unknown until the next step."""
        self.memory.sort(self)

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
        """
        cdef Step step = self.loop.step
        step.dt = dt
        if not self.all_started:
            started = np.ones_like(self.started)
            start_clumps(self.state, self.memory.kernels, step, self.started.view(np.uint8))
            self.started, self.all_started = started, True

    def rates(self):
        """(velocity (n, 3) lab, angular velocity (n, 3) principal body frame) at the instant of the pose; for clumps
        not yet started, the given velocities."""
        if self.started.any():
            self.evaluate_forces()
        return self.last_rates()

    def last_rates(self):
        """The same with the last forces, which may be those of an earlier pose."""
        if self.all_started:
            return self.synchronise()
        given = self.state.column("velocity"), self.state.column("angular_velocity")
        if not self.started.any():
            return given
        started = self.started[:, None]
        return tuple(np.where(started, s, g) for g, s in zip(given, self.synchronise()))

    def synchronise(self):
        """The same where all clumps are started."""
        return synchronised(self.state, self.memory.kernels, self.loop.step)

    @property
    def undoes_steps(self):
        """Whether a step that raises is undone, because it calls Python."""
        return self.saved is not None

    @property
    def threads(self):
        """Threads that the loop uses."""
        return self.loop.n_threads

    @property
    def shares(self):
        """(threads,) fraction of the clumps that each thread owns."""
        return [self.loop.broad.shares[t].part for t in range(self.loop.n_threads)]

    @property
    def steps_done(self):
        """Steps since this loop was made."""
        return self.loop.steps_done

    @property
    def first_step(self):
        """Number of the step at which this loop was made."""
        return self.loop.first_step

    @property
    def step_count(self):
        """Number of the present step."""
        return self.loop.first_step + self.loop.steps_done

    @property
    def dt(self):
        """[s]"""
        return self.loop.step.dt

    @property
    def statistics(self):
        """Sizes of the lists of candidates and numbers of their rebuilds, a dict."""
        return self.memory.statistics() | {"threads": self.threads, "shares": self.shares}

    def time_phases(self, bint on=True):
        """Start or stop recording the time that thread 0 spends in each phase of a step.

        The clock is then read six times in a step, at about 30 ns each.
        """
        cdef int phase
        self.loop.timed = on
        record_phase(self.loop, OUTSIDE)
        for phase in range(<int> N_PHASES):
            self.loop.seconds[phase] = 0.0

    @property
    def phase_seconds(self):
        """Time of thread 0 by phase since `time_phases`, a dict [s]; the phases are in loop.pxd."""
        phases = {"blocks": BLOCKS, "lists": LISTS, "contacts": CONTACTS, "waiting": WAITING, "outside": OUTSIDE}
        return {name: self.loop.seconds[<int> phase] for name, phase in phases.items()}

    @property
    def pair_table(self):
        """PairTable of the contact law; None: free bodies."""
        return self.memory.pair_table

    def history(self):
        """Contacts of a law with records, a dict of arrays (loop_memory.pyx); None if the law has none."""
        return self.memory.history()

    def ledger(self):
        """Energies since the start by name, those of a `Snapshot` that may differ from zero."""
        energies, ledger = read_ledger(self.loop), {}
        if self.memory.contacts is not None:
            ledger["dissipated"], ledger["fractures"] = energies[:-2], self.take_fractures()
        if self.walls is not None and self.moves:
            ledger["wall_work"] = energies[-2:]
        if self.user_forces.expected:
            ledger |= {"work": self.user_work.rows(self.step_count), "force_work": self.compiled_forces.work()}
        return ledger

    def take_fractures(self):
        """What broke so far, see `Snapshot`."""
        if self.memory.contacts is not None:
            self.fractures = take_fractures(self.loop, self.fractures, self)
        return self.fractures

    cdef object keep_onsets(self):
        """Onset corrections at the present pose, see `Snapshot`."""
        cdef int t
        if self.contacts_known and self.loop.law.ends > 0.0:
            for t in range(self.loop.n_threads):
                note_onsets(self.loop.contacts + t, &self.loop.state)
            self.onsets = noted_onsets(self.loop)
        return self.onsets

    def keep_from_lists(self):
        """Keep what the lists of the threads hold, before they are replaced; contacts are no longer known."""
        self.take_fractures()
        self.keep_onsets()
        self.contacts_known = False

    def snapshot(self):
        """The simulation at this instant. Its state is that of the loop, which the next step changes."""
        return Snapshot(self.state, self.pair_table, self.step_count, self.started, self.forces_known,
                        self.due == self.step_count, self.population, self.user_forces, self.history(),
                        self.keep_onsets(), **self.ledger(),
                        servo_states=self.servo_states.copy() if self.loop.course.n_servos else None,
                        box_state=self.schedule.box_state(self.step_count) if self.loop.course.boxes else None)

    def pose(self):
        """Compute the positions of all spheres."""
        pose_range(&self.loop.state, 0, self.loop.state.n_blocks)

    def contacts(self):
        """Contacts at the present pose, a structured array (contact/contact_list.pyx); of a user-defined law with their
        history."""
        if not self.contacts_known:
            self.evaluate()
        return self.listed_contacts()

    cdef object listed_contacts(self):
        """The same; contacts must be known."""
        found = self.of_walls(list_contacts(self.state, &self.loop.state, self.loop.contacts, self.loop.n_threads))
        return with_history(found, self.history()["records"]) if self.memory.law_kernels.sees_bodies else found

    def rate_slopes(self, changes):
        """Derivatives of the rates of fields in the present contacts, see list_slopes; None: they change no field."""
        return None if self.loop.law.fields.sums == NULL else list_slopes(&self.loop.state, self.loop.contacts,
                                                                          self.loop.n_threads, changes)

    def deepest_in_walls(self, spheres):
        """Largest overlaps of spheres (n, 4) with walls (n,) [m], and the numbers of these walls (n,)."""
        self.schedule.prepare(self.loop, 0)
        return deepest_in_walls(self.loop.walls, spheres)

    def of_walls(self, contacts):
        """Contacts (n,) with the numbers of walls instead of those of their elements."""
        for name in ("clump_j", "sphere_j"):
            at_wall = contacts[name] < 0
            contacts[name][at_wall] = -1 - self.walls.wall_of.take(-1 - contacts[name][at_wall])     # see new_memory
        return contacts

    def extremes(self):
        """Largest speed of a clump half a step before the pose [m/s], largest overlap [m], corners of the bounding box
        of the centres of mass [m], two tuples; contacts must be known."""
        speed, *corners = self.state.extremes()
        return speed, deepest_overlap(&self.loop.state, self.loop.contacts, self.loop.n_threads), *corners


class Pacer:
    """Calls `advance(steps)` in pieces of a twentieth of a second, so that Python reacts to Ctrl-C in between.

    How a run is cut does not change its result.
    """

    def __init__(self):
        self.steps = 1

    def run(self, advance, steps):
        while steps > 0:
            piece = min(self.steps, steps)
            began = perf_counter()
            advance(piece)
            spent = perf_counter() - began
            if piece == self.steps or spent > PIECE:
                self.steps = max(1, int(piece * min(4.0, PIECE / max(spent, 1e-9))))
            steps -= piece


def steps_to_reach(time, dt):
    """The fewest steps dt that reach `time`; a quotient that is whole but for rounding counts as whole."""
    quotient = time / dt
    nearest = round(quotient)
    # 0.7 s / 0.1 s is 6.999999999999999: numerator, denominator and quotient each carry half a unit.
    return nearest if abs(quotient - nearest) <= 2 * math.ulp(quotient) else math.ceil(quotient)


cdef bint any_lane(const unsigned char *lanes) noexcept nogil:
    cdef int lane, found = 0
    for lane in range(LANES):
        found |= lanes[lane]
    return found != 0


cdef object start_clumps(State state, Kernels kernels, Step step, const unsigned char[::1] started):
    """Half a step back, and `start` of the rotation scheme; forces must be known.

    started : (n_clumps,) 0 for each clump to start
    step : with dt = 0 the half step is omitted.

    If a scheme written in Python raises, no clump is changed.
    """
    cdef const StateView *view = &state.view
    cdef Py_ssize_t b, size = view.n_rows * LANES
    cdef int lane, row
    cdef double *block
    cdef ClumpBlock *clumps = NULL
    cdef double[::1] room = np.empty(size)
    cdef unsigned char[:, ::1] new = np.zeros((view.n_blocks, LANES), dtype=np.uint8)
    cdef const int[::1] slots = state.clump_slot
    changed = state.blocks.copy() if kernels.functions else state.blocks
    cdef double[:, :, ::1] blocks = changed
    for b in range(slots.shape[0]):
        new[row_of(slots[b]), lane_of(slots[b])] = not started[b]
    # From here on only a scheme in Python, which may be interrupted, calls Python; it works on a copy.
    for b in range(blocks.shape[0]):
        if not any_lane(&new[b, 0]):
            continue
        block = &blocks[b, 0, 0]
        memcpy(&room[0], block, size * sizeof(double))
        clumps = <ClumpBlock *> &room[0]
        kick(clumps, wrench_of(view, b).force, constants_of(view, b), -0.5 * step.dt)
        if kernels.roles >> START & 1:
            call_scheme(kernels.function, kernels.roles, START, clumps, wrench_of(view, b), constants_of(view, b),
                        &step)
        for row in range(view.n_rows):
            for lane in range(LANES):
                if new[b, lane]:
                    block[row * LANES + lane] = room[row * LANES + lane]
    kernels.raise_error()
    if changed is not state.blocks:
        state.blocks[:] = changed


cdef object synchronised(State state, Kernels kernels, Step step):
    """(velocity (n, 3) lab, angular velocity (n, 3) principal body frame) at the instant of the pose."""
    cdef const StateView *view = &state.view
    copy = state.blocks.copy()
    cdef double[:, :, ::1] blocks = copy
    cdef ClumpBlock *clumps
    cdef Py_ssize_t b
    for b in range(blocks.shape[0]):
        clumps = <ClumpBlock *> &blocks[b, 0, 0]
        kick(clumps, wrench_of(view, b).force, constants_of(view, b), 0.5 * step.dt)
        call_scheme(kernels.function, kernels.roles, SYNC, clumps, wrench_of(view, b), constants_of(view, b), &step)
    kernels.raise_error()
    return state.rows(copy, *COLUMNS["velocity"]), state.rows(copy, *COLUMNS["predicted"])
