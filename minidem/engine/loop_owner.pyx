# distutils: extra_compile_args = -O1
"""What a time loop owns: its settings, the memory of its lists, and the order in which the clumps stand."""
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from minidem.state import spatial_sort
from minidem.state.layout import aligned
from minidem.core.threads import has_openmp

from minidem.core cimport openmp
from minidem.broadphase.broadphase cimport Broadphase, drop_lists, keep_experience
from minidem.contact.narrow_phase cimport Contacts, forget, forget_all
from minidem.contact.contact_list cimport list_contacts, list_last
from minidem.contact.evaluate cimport Law
from minidem.engine.loop_lists cimport create_lists, free_lists, weigh
from minidem.state.pose cimport pose_range
from minidem.rotation.scheme cimport Kernels
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport LOAD_ROWS, ORIENTATION, SCRATCH
from minidem.state.state cimport Order, State, StateView
from minidem.engine.time_loop cimport BLOCKS, CONTACTS, LISTS, N_PHASES, OUTSIDE, WAITING, lap

SPHERES_PER_THREAD = 2000           # with fewer, one more thread costs more than it brings
ORDERED_BLOCKS = 64                 # with fewer, all clumps stay in the caches wherever they stand
SLOTS_IN_CACHE = 200000             # with fewer, the caches hold what a step needs, and slabs bring nothing
LOG_SLAB = 13                       # half a megabyte of spheres and their clumps; 11 to 15 are equally good
LISTS_PER_ORDER = 50                # outer lists after which the clumps have mixed enough to be ordered anew


cdef int log_slab_for(const StateView *state):
    return LOG_SLAB if state.n_members * LANES > SLOTS_IN_CACHE else 0


cdef class LoopOwner:
    """See `Driver`, which has the parameters and adds what runs."""

    def __cinit__(self, State state, scheme, parameters, double dt, long long first_step=0, modulus=None,
                  gravity=(0.0, 0.0, 0.0), planes=None, int threads=1, **of_driver):
        cdef double[:, ::1] points, normals
        cdef double[::1] moduli
        self.state = state
        self.loop.state = state.view
        self.loop.first_step = first_step
        self.loop.step.dt = dt
        self.set_scheme(scheme, parameters)
        self.keep = []
        self.gravity = np.array(gravity, dtype=float)
        self.loop.contacts_matter = modulus is not None
        if modulus is not None:
            self.loop.modulus = modulus
            if planes is not None and len(planes[2]):
                points, normals, moduli = (np.array(a, dtype=float, order="C") for a in planes)
                self.loop.planes.count = len(moduli)
                self.loop.planes.point = &points[0, 0]
                self.loop.planes.normal = &normals[0, 0]
                self.loop.planes.modulus = &moduli[0]
                self.keep += [points, normals, moduli]
        useful = state.n_spheres // SPHERES_PER_THREAD if has_openmp() else 1
        self.allocate(max(1, min(threads, useful, self.loop.state.n_blocks, openmp.thread_limit())))

    cdef object set_scheme(self, scheme, parameters):
        cdef Kernels kernels = scheme.kernels.own()
        cdef int k
        self.kernels = kernels
        kernels.set_parameters(&self.loop.step, parameters)
        self.loop.move = kernels.move
        self.loop.finish = kernels.finish
        self.loop.predict = kernels.predict
        self.loop.keeps_norm = scheme.keeps_norm
        stored = scheme.orientation_scratch
        self.loop.stored_orientation = ORIENTATION if stored is None else SCRATCH + <int> stored
        self.loop.n_stages = len(scheme.stages)
        for k in range(self.loop.n_stages):
            self.loop.fraction[k] = scheme.stages[k]
        self.loop.scheme_failed = &kernels.failed

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

    cdef object order_if_due(self):
        if (self.loop.contacts_matter and self.loop.state.n_blocks > ORDERED_BLOCKS
                and self.loop.broad.n_outer >= self.next_order):
            self.order()

    def order(self):
        """Let neighbours in space be neighbours in memory.

        What may fail or be interrupted comes first. Then the new order takes the place of the old one without any
        Python code or allocation in between, so that the clumps stand in the one or in the other. Contacts are unknown
        after it, until the next step.
        """
        cdef long long next_order = self.loop.broad.n_outer + LISTS_PER_ORDER
        cdef int t
        cdef Order new
        order = spatial_sort.row_major(self.state.standing("position"))
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
        """Contacts at the present pose, a structured array (contact/contact_table.py)."""
        return list_contacts(self.state, self.loop.contacts, self.loop.broad.threads, self.loop.n_threads)

    def contacts_of_last(self, Py_ssize_t n):
        """Contacts of the n clumps added last at the present pose, without forces on clumps."""
        cdef Law law
        law.planes, law.modulus, law.dt = &self.loop.planes, self.loop.modulus, self.loop.step.dt
        self.pose()
        return list_last(self.state, n, &law)
