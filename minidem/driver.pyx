# distutils: extra_compile_args = -O1
"""Python's handle on the time loop: it owns the loop's memory, starts, runs and reads it.

Each change of the state is made whole or not at all, whatever raises: an error of the user's function, Ctrl-C, want of
memory. Python answers signals between two of its own instructions, so compiled code is not interrupted unless it calls
Python. What calls Python works on copies, or keeps one to put back.
"""
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from minidem import ordering
from minidem.layout import aligned
from minidem.threads import has_openmp

from minidem cimport openmp
from minidem.broadphase.broadphase cimport (
    IN_CALLBACK, NO_FAILURE, OUT_OF_MEMORY, SMALL_TEAM, Broadphase, drop_lists, keep_experience,
)
from minidem.contact.contacts cimport Contacts, forget, forget_all
from minidem.contact.listing cimport list_contacts, list_last
from minidem.contact.touch cimport Law
from minidem.guard cimport Guard
from minidem.half_steps cimport start_clumps, synchronised
from minidem.loop_lists cimport create_lists, free_lists, weigh
from minidem.pose cimport pose_range
from minidem.rotation.scheme cimport Kernels, Step
from minidem.rows cimport LANES, LOAD_ROWS, ORIENTATION, SCRATCH
from minidem.state cimport Order, State, StateView
from minidem.time_loop cimport (
    BLOCKS, CONTACTS, LISTS, N_PHASES, OUTSIDE, WAITING, Ask, Loop, lap, run_loop,
)

SPHERES_PER_THREAD = 2000           # with fewer, one more thread costs more than it brings
ORDERED_BLOCKS = 64                 # with fewer, all clumps stay in the caches wherever they stand
SLOTS_IN_CACHE = 200000             # with fewer, the caches hold what a step needs, and slabs bring nothing
LOG_SLAB = 13                       # half a megabyte of spheres and their clumps; 11 to 15 are equally good
LISTS_PER_ORDER = 50                # outer lists after which the clumps have mixed enough to be ordered anew


class NotFinite(FloatingPointError):
    """The pose of a clump is not finite."""


cdef void ask_python(Loop *loop, double steps) noexcept with gil:
    """Forces and torques from the Python function of the Driver."""
    cdef Driver owner = <Driver> loop.owner
    try:
        owner.ask(owner, steps)
    except BaseException as error:
        owner.error = error
        loop.broad.reports[0].failure = IN_CALLBACK


cdef int log_slab_for(const StateView *state):
    return LOG_SLAB if state.n_members * LANES > SLOTS_IN_CACHE else 0


cdef class Driver:
    """A time loop over a fixed set of clumps.

    Parameters
    ----------
    state : State
    scheme : record of the rotation scheme;  parameters : list of floats
    first_step : number of the step at which it begins
    dt : step [s]
    modulus : effective modulus between clumps [Pa]; None: free bodies, no contacts, torques as they stand
    gravity : (3,) [m/s2]
    planes : (points (k, 3), unit normals (k, 3), effective moduli (k,))
    threads : int
    ask : optional function of this Driver and the number of steps since it was made, called at every pose when
        contacts are done and predicted velocities known; adds to forces and torques, or writes them
    started : (n_clumps,) bool, the clumps whose velocities stand half a step behind already; default: none
    forces_known : whether those in the state are those of its pose
    guard : Guard of the simulation that this belongs to, optional
    """
    cdef Loop loop
    cdef readonly State state
    cdef readonly object started
    cdef readonly bint all_started
    cdef readonly bint forces_known
    cdef readonly bint contacts_known   # contacts have been looked for at the present pose
    cdef readonly object broken         # why the state is not whole; None: it is
    cdef Kernels kernels
    cdef Guard guard
    cdef long long next_order           # number of the outer list at which clumps are ordered anew
    cdef object keep
    cdef object step_began              # copies of blocks and loads, where a step calls Python
    cdef object gravity
    cdef object weights
    cdef readonly object ask
    cdef object error

    def __cinit__(self, State state, scheme, parameters, double dt, long long first_step=0, modulus=None,
                  gravity=(0.0, 0.0, 0.0), planes=None, int threads=1, ask=None, started=None, bint forces_known=False,
                  Guard guard=None):
        cdef Kernels kernels = scheme.kernels.own()
        cdef double[:, ::1] points, normals
        cdef double[:, :, ::1] kept_blocks, kept_loads
        cdef double[::1] moduli
        cdef int k
        self.state = state
        self.started = np.zeros(state.n_clumps, dtype=bool) if started is None else np.array(started, dtype=bool)
        self.all_started = bool(self.started.all())
        self.forces_known = forces_known
        self.guard = Guard() if guard is None else guard
        self.loop.state = state.view
        self.loop.step.dt = dt
        for k in range(len(parameters)):
            self.loop.step.parameters[k] = parameters[k]
        self.loop.move = kernels.move
        self.loop.finish = kernels.finish
        self.loop.predict = kernels.predict
        self.loop.keeps_norm = scheme.keeps_norm
        stored = scheme.orientation_scratch
        self.loop.stored_orientation = ORIENTATION if stored is None else SCRATCH + <int> stored
        self.loop.first_step = first_step
        self.loop.n_stages = len(scheme.stages)
        for k in range(self.loop.n_stages):
            self.loop.fraction[k] = scheme.stages[k]
        self.loop.contacts_matter = modulus is not None
        self.kernels = kernels
        self.loop.step.context = <void *> kernels
        self.loop.scheme_failed = &kernels.failed
        self.keep = []
        self.gravity = np.array(gravity, dtype=float)
        if modulus is not None:
            self.loop.modulus = modulus
            if planes is not None and len(planes[2]):
                points, normals, moduli = (np.array(a, dtype=float, order="C") for a in planes)
                self.loop.planes.count = len(moduli)
                self.loop.planes.point = &points[0, 0]
                self.loop.planes.normal = &normals[0, 0]
                self.loop.planes.modulus = &moduli[0]
                self.keep += [points, normals, moduli]
        if ask is not None:
            self.ask = ask
            self.loop.owner = <void *> self
            self.loop.ask = ask_python
        if (ask is not None or kernels.functions) and state.n_clumps:
            kept_blocks, kept_loads = self.step_began = state.blocks.copy(), state.loads.copy()
            self.loop.kept_blocks, self.loop.kept_loads = &kept_blocks[0, 0, 0], &kept_loads[0, 0, 0]
        useful = state.n_spheres // SPHERES_PER_THREAD if has_openmp() else 1
        self.allocate(max(1, min(threads, useful, self.loop.state.n_blocks, openmp.thread_limit())))

    cdef object allocate(self, int n_threads):
        self.loop.n_threads = n_threads
        self.loop.contacts = <Contacts *> calloc(n_threads, sizeof(Contacts))
        if self.loop.contacts == NULL:
            raise MemoryError("no memory for the contacts of the time loop")
        self.fill()

    cdef object fill(self):
        """All that depends on which bodies the clumps in the slots are."""
        cdef double[:, :, ::1] rows
        self.weights = rows = self.weights_of(self.state.layout.fixed)
        self.loop.weights = &rows[0, 0, 0]
        if not create_lists(&self.loop.broad, self.loop.contacts, &self.loop.state, self.loop.n_threads,
                            log_slab_for(&self.loop.state)):
            raise MemoryError("no memory for the lists of the time loop")

    cdef object weights_of(self, fixed):
        """Loads of clumps without a contact, (mixtures + 1, LOAD_ROWS, LANES)."""
        weights = aligned((len(fixed) + 1, LOAD_ROWS, LANES))
        weigh(fixed, self.gravity, weights)
        return weights

    def __dealloc__(self):
        free_lists(&self.loop.broad, self.loop.contacts, self.loop.n_threads)
        free(self.loop.contacts)

    @property
    def threads(self):
        """Threads that the loop really uses."""
        return self.loop.n_threads

    @property
    def statistics(self):
        """What the candidate lists look like and how often they were made."""
        cdef int t, source
        pairs = outer = active = 0
        for t in range(self.loop.n_threads):
            pairs += self.loop.broad.threads[t].pairs.size // 2
            active += self.loop.broad.threads[t].active.size
            for source in range(self.loop.n_threads):
                outer += self.loop.broad.threads[source].found[t].size // 2
                outer += self.loop.broad.threads[source].across[t].size // 2
        return {"outer_skin": self.loop.broad.outer_skin, "inner_skin": self.loop.broad.inner_skin,
                "outer_lists": self.loop.broad.n_outer, "inner_lists": self.loop.broad.n_inner,
                "outer_pairs": outer, "inner_pairs": pairs, "active_slots": active * LANES,
                "threads": self.loop.n_threads, "shares": self.shares}

    def time_phases(self, bint on=True):
        """From here on, keep the time that thread 0 spends in each phase of a step, or stop it.

        The clock is read four times in a step, at about 30 ns each; without this call never.
        """
        cdef int phase
        self.loop.timed = on
        lap(&self.loop, OUTSIDE)
        for phase in range(<int> N_PHASES):
            self.loop.seconds[phase] = 0.0

    @property
    def phase_seconds(self):
        """Time of thread 0 by phase since `time_phases` (time_loop.pxd says what each is), a dict [s]."""
        phases = {"blocks": BLOCKS, "lists": LISTS, "contacts": CONTACTS, "waiting": WAITING, "outside": OUTSIDE}
        return {name: self.loop.seconds[<int> phase] for name, phase in phases.items()}

    def run(self, long long steps):
        """Advance by so many steps; returns how many were completed.

        Where a step calls Python and that fails, the state is the one at which the step began.
        """
        cdef long long before = self.loop.steps_done
        if steps <= 0:
            return 0
        if (self.loop.contacts_matter and self.loop.state.n_blocks > ORDERED_BLOCKS
                and self.loop.broad.n_outer >= self.next_order):
            self.order()
        self.contacts_known = False
        try:
            self.work(steps)
        except NotFinite:
            raise
        except BaseException:
            if self.broken is not None:
                self.broken = f"in step {self.step_count + 1} {self.broken}"
            elif self.step_began is not None:
                self.put_back(self.step_began[0], self.step_began[1])
            raise
        self.contacts_known = True
        return self.loop.steps_done - before

    cdef object work(self, long long steps):
        """The time loop for so many steps, -1: forces at the present pose."""
        self.guard.amid_step = True
        with nogil:
            run_loop(&self.loop, steps)
        self.guard.amid_step = False
        if self.loop.broad.reports[0].failure == SMALL_TEAM:            # nothing has been done
            self.loop.broad.reports[0].failure = NO_FAILURE
            self.use_one_thread()
            self.work(steps)
        else:
            self.raise_failure()

    cdef object put_back(self, blocks, loads):
        """The state as it was, without its contacts."""
        self.state.blocks[:] = blocks
        self.state.loads[:] = loads
        self.loop.broad.valid = self.contacts_known = False

    cdef object use_one_thread(self):
        """In the place of a team that OpenMP does not give. No bit of a run depends on it."""
        cdef Broadphase old = self.loop.broad
        free_lists(&self.loop.broad, self.loop.contacts, self.loop.n_threads)
        free(self.loop.contacts)
        self.loop.contacts = NULL
        self.broken = "there was no memory for its lists"
        self.allocate(1)
        self.broken = None
        keep_experience(&self.loop.broad, &old)

    def order(self):
        """Let neighbours in space be neighbours in memory.

        What may fail or be interrupted comes first. Then the new order takes the place of the old one without any
        Python code or allocation in between, so that the clumps stand in the one or in the other. Contacts are unknown
        after it, until the next step.
        """
        cdef long long next_order = self.loop.broad.n_outer + LISTS_PER_ORDER
        cdef int t
        cdef Order new
        order = ordering.row_major(self.state.standing("position"))
        if self.state.layout.is_mixed:                  # room for a second layout: the lists are made anew in any case
            self.forget_lists()
        new = self.state.prepare(order)
        if new.layout.same:
            self.state.put(new)
            self.loop.state = self.state.view
            self.loop.broad.valid = self.contacts_known = False
            for t in range(self.loop.n_threads):
                forget(self.loop.contacts + t)
        else:
            self.order_with_lists(new)
        self.next_order = next_order

    cdef object forget_lists(self):
        """Forget contacts and candidates, which are looked for anew when they are needed."""
        cdef int t
        self.contacts_known = False
        drop_lists(&self.loop.broad)
        for t in range(self.loop.n_threads):
            forget_all(self.loop.contacts + t)

    cdef object order_with_lists(self, Order new):
        """The same where a slot gets a body of another kind, so that all lists have to be others."""
        weights = self.weights_of(new.layout.fixed)
        cdef double[:, :, ::1] rows = weights
        cdef int t, n_threads = self.loop.n_threads, log_slab = log_slab_for(&new.view)
        cdef Broadphase broad, old = self.loop.broad
        cdef Contacts *contacts = <Contacts *> calloc(n_threads, sizeof(Contacts))
        memset(&broad, 0, sizeof(broad))
        if contacts == NULL or not create_lists(&broad, contacts, &new.view, n_threads, log_slab):
            free_lists(&broad, contacts, n_threads)
            free(contacts)
            raise MemoryError("no memory to put the clumps in order of space")
        keep_experience(&broad, &old)
        for t in range(n_threads):
            broad.shares[t].part = old.shares[t].part
        broad.keep_shares = old.keep_shares
        self.state.put(new)                             # from here on nothing fails
        self.loop.state = self.state.view
        self.loop.broad = broad
        self.loop.contacts, contacts = contacts, self.loop.contacts
        self.weights, self.loop.weights = weights, &rows[0, 0, 0]
        free_lists(&old, contacts, n_threads)
        free(contacts)

    @property
    def shares(self):
        """(threads,) parts of the clumps that each owns, together 1."""
        return [self.loop.broad.shares[t].part for t in range(self.loop.n_threads)]

    def share_out(self, shares, bint keep=True):
        """Give each thread such a part of the clumps with the next lists. No bit of a run depends on it.

        keep : whatever the threads get done; else they are soon shared out anew.
        """
        cdef int t
        for t in range(self.loop.n_threads):
            self.loop.broad.shares[t].part = shares[t]
        self.loop.broad.keep_shares = keep
        self.loop.broad.valid = False

    def evaluate(self):
        """Contacts at the present pose, whatever was there before; forces too, unless they are known.

        Known forces stay as they are: where they depend on velocities, those of the whole step are not, to the last
        bit, the ones that were predicted when the forces were found.
        """
        cdef bint asks = self.loop.ask != NULL and not self.forces_known
        cdef Ask asked = self.loop.ask
        blocks = self.state.blocks.copy() if asks else self.state.blocks
        loads = self.state.loads.copy() if asks or self.forces_known else self.state.loads
        self.contacts_known = self.loop.broad.valid = False
        try:
            if asks:
                for name, rate in zip(("predicted_velocity", "predicted"), self.rates()):
                    self.state.set_column(name, rate)
            if not asks:
                self.loop.ask = NULL
            self.work(-1)
        except BaseException:
            self.put_back(blocks, loads)
            raise
        finally:
            self.loop.ask = asked
            self.broken = None
        if self.forces_known:
            self.state.loads[:] = loads
        self.forces_known = self.contacts_known = True

    cdef object raise_failure(self):
        cdef int t, failure = NO_FAILURE, clump = -1
        for t in range(self.loop.n_threads):
            failure = max(failure, self.loop.broad.reports[t].failure, self.loop.broad.threads[t].failure)
            clump = max(clump, self.loop.broad.reports[t].lost - 1)
            self.loop.broad.reports[t].failure = self.loop.broad.threads[t].failure = NO_FAILURE
            self.loop.broad.reports[t].lost = 0
        error, self.error = self.error, None
        self.kernels.raise_error()
        if error is not None:
            raise error
        if failure == OUT_OF_MEMORY:
            self.loop.broad.valid = False
            if self.step_began is None:
                self.broken = "memory was exhausted, and forces are missing"
            raise MemoryError("no memory for the lists of candidates and contacts")
        if clump >= 0:
            raise NotFinite(f"the position or orientation of clump {clump} is not finite")

    def start(self, double dt):
        """Half a step back, and the scheme's own start, for the clumps not started; forces must be known.

        dt : the step, or 0 to leave out the half step.
        """
        cdef Step step = self.loop.step
        step.dt = dt
        if not self.all_started:
            lanes = np.zeros((self.loop.state.n_blocks, LANES), dtype=np.uint8)
            # An index of another type NumPy converts in a buffer, and does not look whether there was memory for it.
            lanes.reshape(-1)[self.state.clump_slot.astype(np.intp)] = ~self.started
            started = np.ones_like(self.started)
            start_clumps(self.state, self.kernels, step, lanes)
            self.started, self.all_started = started, True

    def rates(self):
        """(velocity (n, 3) lab, angular velocity (n, 3) principal body frame) at the instant of the pose.

        With the forces as they stand; clumps not yet started: as given.
        """
        given = self.state.column("velocity"), self.state.column("angular_velocity")
        if not self.started.any():
            return given
        new = ~self.started[:, None]
        return tuple(np.where(new, g, s) for g, s in zip(given, self.synchronise()))

    def synchronise(self):
        """The same for clumps that are all started."""
        return synchronised(self.state, self.kernels, self.loop.step)

    def pose(self):
        """Put all spheres where their clumps are."""
        pose_range(&self.loop.state, 0, self.loop.state.n_blocks)

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

    def contacts(self):
        """Contacts at the present pose, a structured array (contact/listing.pyx)."""
        return list_contacts(self.state, self.loop.contacts, self.loop.broad.threads, self.loop.n_threads)

    def contacts_of_last(self, Py_ssize_t n):
        """Contacts of the n clumps added last at the present pose, without forces on clumps."""
        cdef Law law
        law.planes, law.modulus, law.dt = &self.loop.planes, self.loop.modulus, self.loop.step.dt
        self.pose()
        return list_last(self.state, n, &law)
