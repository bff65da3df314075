# distutils: extra_compile_args = -O1
"""Python's handle on the time loop: it owns the loop's memory, starts, runs and reads it."""
from libc.stdlib cimport calloc, free

import numpy as np

from minidem import ordering
from minidem.contact import listing
from minidem.state import aligned

from minidem cimport openmp
from minidem.broadphase.broadphase cimport (
    IN_CALLBACK, NO_FAILURE, OUT_OF_MEMORY, SMALL_TEAM, Broadphase, create_broadphase, free_broadphase,
    keep_experience,
)
from minidem.broadphase.ghosts cimport slot_of
from minidem.broadphase.neighbours cimport owns
from minidem.contact.contacts cimport Contacts, cover_own, create_contacts, free_contacts
from minidem.contact.hertz cimport hertz_energy
from minidem.contact.touch cimport Touch, touch
from minidem.pose cimport pose_range
from minidem.rotation.scheme cimport Kernels, Step
from minidem.rows cimport FORCE, LANES, LOAD_ROWS, MASS, ORIENTATION, PREDICTED, SCRATCH, TORQUE, VELOCITY
from minidem.state cimport State, fixed_rows, loads_of
from minidem.time_loop cimport (
    BLOCKS, CONTACTS, LISTS, N_PHASES, OUTSIDE, WAITING, Loop, lap, run_loop,
)
from minidem.translation.leapfrog cimport kick

SPHERES_PER_THREAD = 2000           # with fewer, one more thread costs more than it brings
ORDERED_BLOCKS = 64                 # with fewer, all clumps stay in the caches wherever they stand
SLOTS_IN_CACHE = 200000             # with fewer, the caches hold what a step needs, and slabs bring nothing
LOG_SLAB = 13                       # half a megabyte of spheres and their clumps; 11 to 15 are equally good
LISTS_PER_ORDER = 50                # outer lists after which the clumps have mixed enough to be ordered anew


cdef void ask_python(Loop *loop, double steps) noexcept with gil:
    """Forces and torques from the Python function of the Driver."""
    cdef Driver owner = <Driver> loop.owner
    try:
        owner.ask(steps)
    except BaseException as error:
        owner.error = error
        loop.broad.reports[0].failure = IN_CALLBACK


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
    ask : optional function of the number of steps since the loop was made, called at every pose when
        contacts are done and predicted velocities known; adds to forces and torques, or writes them.
    """
    cdef Loop loop
    cdef readonly State state
    cdef Kernels kernels
    cdef long long next_order           # number of the outer list at which clumps are ordered anew
    cdef object keep
    cdef object gravity
    cdef object weights
    cdef object ask
    cdef object error

    def __cinit__(self, State state, scheme, parameters, double dt, long long first_step=0, modulus=None,
                  gravity=(0.0, 0.0, 0.0), planes=None, int threads=1, ask=None):
        cdef Kernels kernels = scheme.kernels
        cdef double[:, ::1] points, normals
        cdef double[::1] moduli
        cdef int k
        self.state = state
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
        useful = state.n_spheres // SPHERES_PER_THREAD if has_openmp() else 1
        self.allocate(max(1, min(threads, useful, self.loop.state.n_blocks)))

    cdef object allocate(self, int n_threads):
        self.loop.n_threads = n_threads
        self.loop.contacts = <Contacts *> calloc(n_threads, sizeof(Contacts))
        if self.loop.contacts == NULL:
            raise MemoryError("no memory for the contacts of the time loop")
        self.create_lists()

    cdef object create_lists(self):
        """All that depends on which templates the clumps in the slots have."""
        cdef double[:, :, ::1] weights = aligned((len(self.state.fixed) + 1, LOAD_ROWS, LANES))
        cdef int log_slab = LOG_SLAB if self.loop.state.n_members * LANES > SLOTS_IN_CACHE else 0
        cdef bint fine = create_broadphase(&self.loop.broad, &self.loop.state, self.loop.n_threads, log_slab)
        cdef int t
        masses = self.state.fixed[:, MASS, None]
        np.asarray(weights)[:-1, FORCE:FORCE + 3] = masses * self.gravity[:, None]
        self.weights = weights                          # keeps them
        self.loop.weights = &weights[0, 0, 0]
        for t in range(self.loop.n_threads if fine else 0):
            fine &= create_contacts(self.loop.contacts + t, &self.loop.state)
            cover_own(self.loop.contacts + t, self.loop.broad.threads + t, &self.loop.state)
        if not fine:
            raise MemoryError("no memory for the lists of the time loop")

    cdef object free_lists(self):
        cdef int t
        for t in range(self.loop.n_threads if self.loop.contacts != NULL else 0):
            free_contacts(self.loop.contacts + t)
        free_broadphase(&self.loop.broad)

    def __dealloc__(self):
        self.free_lists()
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
        """Advance by so many steps; returns how many were completed."""
        cdef long long before = self.loop.steps_done
        if (steps > 0 and self.loop.contacts_matter and self.loop.state.n_blocks > ORDERED_BLOCKS
                and self.loop.broad.n_outer >= self.next_order):
            self.order()
        with nogil:
            run_loop(&self.loop, steps)
        self.raise_failure()
        return self.loop.steps_done - before

    def order(self):
        """Let neighbours in space be neighbours in memory.

        Contacts are unknown after it, until the next step.
        """
        cdef int t
        cdef Broadphase old
        same = self.state.permute(ordering.row_major(self.state.standing("position")))
        self.loop.state = self.state.view
        if same:
            self.loop.broad.valid = False
            for t in range(self.loop.n_threads):
                self.loop.contacts[t].pairs.size = 0
        else:
            old = self.loop.broad
            shares = self.shares
            self.free_lists()
            self.create_lists()
            keep_experience(&self.loop.broad, &old)
            self.share_out(shares, old.keep_shares)
        self.next_order = self.loop.broad.n_outer + LISTS_PER_ORDER

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
        """Forces, torques and contacts at the present pose, whatever was there before."""
        self.loop.broad.valid = False
        with nogil:
            run_loop(&self.loop, -1)
        self.raise_failure()

    cdef object raise_failure(self):
        cdef int t, failure = NO_FAILURE, clump = -1
        if self.kernels.error is not None:              # of a scheme written in Python
            error, self.kernels.error = self.kernels.error, None
            raise error
        for t in range(self.loop.n_threads):
            failure = max(failure, self.loop.broad.reports[t].failure, self.loop.broad.threads[t].failure)
            clump = max(clump, self.loop.broad.reports[t].lost - 1)
            self.loop.broad.reports[t].failure = self.loop.broad.threads[t].failure = NO_FAILURE
            self.loop.broad.reports[t].lost = 0
        if failure == IN_CALLBACK:
            error, self.error = self.error, None
            raise error
        if failure == OUT_OF_MEMORY:
            self.loop.broad.valid = False
            raise MemoryError("no memory for the lists of candidates and contacts")
        if failure == SMALL_TEAM:
            raise RuntimeError(f"OpenMP gave fewer than the {self.loop.n_threads} threads asked for; "
                               "lower `threads` or raise OMP_THREAD_LIMIT")
        if clump >= 0:
            raise FloatingPointError(f"the position or orientation of clump {clump} is not finite")

    def start(self, new, double dt):
        """Half a step back, and the scheme's own start; forces must be known.

        new : (n_clumps,) bool, the clumps to start
        dt : the step, or 0 to leave out the half step.
        """
        cdef double[:, ::1] block
        cdef const double *loads
        cdef const double *fixed
        cdef Step step = self.loop.step
        step.dt = dt
        lanes = np.zeros((self.loop.state.n_blocks, LANES), dtype=bool)
        lanes.reshape(-1)[self.state.clump_slot] = new
        for number in np.flatnonzero(lanes.any(axis=1)):
            block = self.state.blocks[number].copy()
            loads, fixed = loads_of(&self.state.view, number), fixed_rows(&self.state.view, number)
            kick(&block[0, 0], loads + FORCE * LANES, fixed, -0.5 * dt)
            if self.kernels.start != NULL:
                self.kernels.start(&block[0, 0], loads + TORQUE * LANES, fixed, &step)
            self.state.blocks[number][:, lanes[number]] = np.asarray(block)[:, lanes[number]]
        self.raise_failure()

    def synchronise(self):
        """(velocity (n, 3) lab, angular velocity (n, 3) principal body frame) at the instant of the pose."""
        cdef double[:, :, ::1] copy = self.state.blocks.copy()
        cdef const double *loads
        cdef const double *fixed
        cdef Py_ssize_t b
        for b in range(copy.shape[0]):
            loads, fixed = loads_of(&self.state.view, b), fixed_rows(&self.state.view, b)
            kick(&copy[b, 0, 0], loads + FORCE * LANES, fixed, 0.5 * self.loop.step.dt)
            self.kernels.sync(&copy[b, 0, 0], loads + TORQUE * LANES, fixed, &self.loop.step)
        self.raise_failure()
        rows = np.asarray(copy).transpose(0, 2, 1).reshape(-1, copy.shape[1])[self.state.clump_slot]
        return rows[:, VELOCITY:VELOCITY + 3].copy(), rows[:, PREDICTED:PREDICTED + 3].copy()

    def pose(self):
        """Put all spheres where their clumps are."""
        pose_range(&self.loop.state, 0, self.loop.state.n_blocks)

    @property
    def steps_done(self):
        """Steps since this loop was made."""
        return self.loop.steps_done

    @property
    def contacts_known(self):
        """Whether contacts have been looked for at the present pose."""
        return self.loop.broad.n_inner > 0

    def contacts(self):
        """Contacts at the present pose, a structured array (contact/listing.py)."""
        cdef Py_ssize_t count = 0, k
        cdef int t, i, j
        cdef const Contacts *contacts
        cdef Touch contact
        cdef int[:, ::1] pair
        cdef double[:, ::1] values
        for t in range(self.loop.n_threads):
            count += self.loop.contacts[t].pairs.size // 2
        pair, values = np.empty((count, 2), dtype=np.int32), np.empty((count, 6))
        count = 0
        for t in range(self.loop.n_threads):
            contacts = self.loop.contacts + t
            for k in range(0, contacts.pairs.size, 2):
                i, j = contacts.pairs.data[k], contacts.pairs.data[k + 1]
                if owns(self.loop.broad.threads + t, &self.loop.state, i):                  # else its owner lists it
                    pair[count, 0], pair[count, 1] = i, slot_of(&self.loop.state, j)
                    contact = touch(self.loop.state.spheres, i, j, &contacts.law)
                    values[count, 0], values[count, 1] = contact.overlap, contact.force
                    values[count, 2] = hertz_energy(contact.force, contact.overlap)
                    values[count, 3], values[count, 4] = contact.normal.x, contact.normal.y
                    values[count, 5] = contact.normal.z
                    count += 1
        return listing.describe(self.state, np.asarray(pair)[:count], np.asarray(values)[:count])


def has_openmp():
    """Whether this build can use more than one thread."""
    return openmp.has_openmp()


def most_threads():
    """Processors that this process may use; 1 in a build without OpenMP."""
    return openmp.processors() if has_openmp() else 1
