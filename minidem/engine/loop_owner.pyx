# distutils: extra_compile_args = -O1
"""Base class of the Driver: settings of the time loop, memory of its lists, and the order of clumps in memory."""
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from minidem.contact.law_properties import sphere_units
from minidem.contact.onset_series import zeta_polynomials
from minidem.core.threads import has_openmp
from minidem.engine.history_memory import no_history
from minidem.state import spatial_sort
from minidem.state.layout import aligned

from minidem.broadphase.broadphase cimport Broadphase, carry_over_skins, drop_lists
from minidem.contact.blocks cimport set_stride
from minidem.contact.law cimport Law, LawKernels
from minidem.contact.law_properties cimport set_properties, set_units
from minidem.contact.narrow_phase cimport Contacts, clear_contacts, release_contacts
from minidem.contact.stored cimport GROUPS, WALLS
from minidem.core cimport openmp
from minidem.core.lanes cimport LANES
from minidem.engine.history_memory cimport HistoryMemory
from minidem.engine.loop_lists cimport create_lists, free_lists, set_body_force
from minidem.engine.loop_reader cimport LoopReader
from minidem.engine.wall_work cimport add_wall_works
from minidem.rotation.scheme cimport Kernels
from minidem.state.rows cimport ORIENTATION, SCRATCH, WRENCH_ROWS
from minidem.state.state cimport Layout, Reordering, State, StateView
from minidem.walls.wall_table cimport WallTable

SPHERES_PER_THREAD = 2000           # with fewer, another thread costs more than it gains
MIN_SORTED_BLOCKS = 64                 # with fewer, all clumps are in cache in any order
SLOTS_IN_CACHE = 200000             # with fewer, a step stays in cache, and slabs gain nothing
LOG_SLAB = 13                       # 2^13 slots: half a megabyte of spheres and clumps; 11 to 15 are equally good
STEPS_PER_WRAP = 32768              # rounding errors of 32768 steps are a small part of those far from the origin
REBUILDS_PER_SORT = 50                # outer rebuilds after which the clumps have mixed enough to be sorted again


cdef int log_slab_for(const StateView *state):
    return LOG_SLAB if state.n_members * LANES > SLOTS_IN_CACHE else 0


cdef inline void prepare_contacts(Contacts *contacts, const Law *law, const StateView *state) noexcept nogil:
    cdef int hole = 2 * <int> state.n_members * LANES, group
    contacts.own_law, contacts.law = law[0], &contacts.own_law
    if law.walls != NULL:
        contacts.walls, contacts.own_law.walls = law.walls[0], &contacts.walls
    contacts.stored.n_records = law.n_records
    for group in range(<int> GROUPS):
        set_stride(&contacts.stored.groups[group], law.n_records, hole, -1 if group == <int> WALLS else hole + 1)
        set_stride(&contacts.stored.spare[group], law.n_records, hole, -1 if group == <int> WALLS else hole + 1)


cdef class LoopOwner(LoopReader):
    """See `Driver`, which documents the parameters and runs the loop."""

    def __cinit__(self, State state, scheme, parameters, double dt, long long first_step=0, law=None,
                  gravity=(0.0, 0.0, 0.0), walls=None, int threads=1, history=None, dissipated=None, servo_states=None,
                  former_walls=None, guard=None, **of_driver):
        self.state = state
        self.loop.state = state.view
        self.loop.first_step = first_step
        self.loop.step.dt = dt
        self.set_scheme(scheme, parameters)
        self.keep = []
        self.gravity = np.array(gravity, dtype=float)
        self.loop.has_contacts = law is not None
        if law is not None:
            record, values, self.pair_table = law
            self.walls = WallTable(walls, dt, first_step, servo_states, former_walls, guard)
            self.set_law(record, values)
        if self.loop.law.history != NULL:
            self.memory = self.new_memory(
                state.layout, no_history(self.loop.law.n_records) if history is None else history,
                np.zeros((4, 2)) if dissipated is None else dissipated)
        useful = state.n_spheres // SPHERES_PER_THREAD if has_openmp() else 1
        self.allocate(max(1, min(threads, useful, self.loop.state.n_blocks, openmp.thread_limit())))

    cdef object set_scheme(self, scheme, parameters):
        cdef Kernels kernels = scheme.kernels.own()
        cdef int k
        self.kernels = kernels
        kernels.set_parameters(&self.loop.step, parameters)
        self.loop.scheme, self.loop.roles = kernels.function, kernels.roles
        self.loop.keeps_norm = scheme.keeps_norm
        stored = scheme.orientation_scratch
        self.loop.stored_orientation = ORIENTATION if stored is None else SCRATCH + <int> stored
        self.loop.n_stages = len(scheme.stages)
        for k in range(self.loop.n_stages):
            self.loop.fraction[k] = scheme.stages[k]
        self.loop.scheme_failed = self.loop.law_failed = &kernels.failed

    cdef object set_law(self, law, values):
        """law, values : record of the contact law, and its parameters."""
        cdef LawKernels kernels = law.kernels_for(values).own()
        cdef Py_ssize_t n_slots = self.loop.state.n_blocks * LANES
        self.law_kernels, self.loop.law_failed = kernels, &kernels.failed
        self.law_settings = law, values
        kernels.fill(&self.loop.law, values)
        self.keep += set_properties(&self.loop.law, self.walls, kernels, law, values, self.pair_table,
                                    self.state.material_index)
        self.keep.append(set_units(&self.loop.law, law, values, self.pair_table, self.state))
        self.loop.walls = &self.walls.walls
        self.loop.law.energy_factor = 1.0 / (1.0 + law.power)
        if law.corrects_onsets(values):
            kernels.correct_onsets(&self.loop.law, law.power, zeta_polynomials(law.power), self.loop.step.dt)
            self.twists, self.motions = aligned((4 * n_slots + 2 * LANES, 4)), aligned((n_slots + 1, 16))
            self.loop.motions, self.loop.twists = &self.motions[0, 0], &self.twists[0, 0]
            self.take_view()

    cdef HistoryMemory new_memory(self, Layout layout, history, dissipated):
        """Contacts as arrays, for `bind`."""
        cdef State state = self.state
        # `take`: indexing with other than intp crashes in NumPy where there is no memory
        of_spheres = np.repeat(state.material_index, state.bodies.sizes.take(state.template_index))
        return HistoryMemory(layout, state.material_index, of_spheres,
                             self.pair_table.wall_index.take(self.walls.wall_of), self.loop.law.n_materials,
                             self.units_of(of_spheres), history, dissipated)

    cdef object units_of(self, of_spheres):
        """(n_spheres, 2) units of their sums; of_spheres (n_spheres,) are their materials."""
        radius = self.state.spheres.reshape(-1, 4)[:, 3].take(self.state.sphere_slot)
        return np.column_stack(sphere_units(*self.law_settings, self.pair_table, of_spheres, radius))

    cdef void take_view(self) noexcept:
        """Use the arrays of the state."""
        self.loop.state = self.state.view
        self.loop.state.twists = self.loop.twists
        if self.memory is not None:
            self.memory.bind(&self.loop)

    cdef object allocate(self, int n_threads):
        cdef int t
        self.loop.n_threads = n_threads
        self.loop.contacts = <Contacts *> calloc(n_threads, sizeof(Contacts))
        if self.loop.contacts == NULL:
            raise MemoryError("no memory for the contacts of the time loop")
        for t in range(n_threads):
            prepare_contacts(self.loop.contacts + t, &self.loop.law, &self.loop.state)
        self.take_view()
        self.fill()

    cdef object fill(self):
        """Allocate all that depends on the layout."""
        cdef double[:, :, ::1] rows
        self.body_force = rows = self.body_force_of(self.state.layout.fixed)
        self.loop.body_force = &rows[0, 0, 0]
        if not create_lists(&self.loop.broad, self.loop.contacts, &self.loop.state, self.loop.n_threads,
                            log_slab_for(&self.loop.state)):
            raise MemoryError("no memory for the lists of the time loop")
        self.loop.broad.reach = self.loop.law.reach

    cdef object body_force_of(self, fixed):
        """Wrenches of clumps without a contact, (block types + 1, WRENCH_ROWS, LANES)."""
        body_force = aligned((len(fixed) + 1, WRENCH_ROWS, LANES))
        set_body_force(fixed, self.gravity, body_force)
        return body_force

    def __dealloc__(self):
        free_lists(&self.loop.broad, self.loop.contacts, self.loop.n_threads)
        free(self.loop.contacts)

    cdef long long wrap_if_due(self) except -1:
        """Wrap positions where the number of the step is a multiple of STEPS_PER_WRAP; returns the steps to the next.

        By the number of the step, so that bits depend on nothing else. The lists remain valid: nearest images do not
        change, and a displacement plus lengths of the box is a displacement to the same nearest images.
        """
        cdef long long past = self.step_count % STEPS_PER_WRAP
        if past == 0:
            self.state.wrap()
        return STEPS_PER_WRAP - past

    cdef object sort_if_due(self):
        if (self.loop.has_contacts and self.loop.state.n_blocks > MIN_SORTED_BLOCKS
                and self.loop.broad.n_outer >= self.next_sort):
            self.sort_clumps()

    def sort_clumps(self):
        """Spatial sort: neighbours in space become neighbours in memory.

        All that may fail or be interrupted comes first. Then the new order replaces the old one without Python code or
        allocation in between. Contacts are unknown after it, until the next step.
        """
        cdef long long next_sort = self.loop.broad.n_outer + REBUILDS_PER_SORT
        cdef int t
        cdef Reordering new
        cdef HistoryMemory memory = None
        position = self.state.in_slot_order("position")
        order = spatial_sort.row_major(position if self.state.box is None else self.state.box.wrapped(position))
        history, dissipated = self.history(), self.dissipated()
        if self.state.layout.is_mixed:                  # room for a second layout: the lists are rebuilt anyway
            if self.memory is not None:
                memory = self.new_memory(self.state.layout, history, dissipated)
            self.release_lists()
            if memory is not None:
                self.memory = memory
                memory.bind(&self.loop)
        new = self.state.prepare(order)
        if self.memory is not None:
            memory = self.new_memory(new.layout, history, dissipated)
        if new.layout.same:
            self.state.put(new)
            self.memory = memory
            self.take_view()
            self.loop.broad.valid = self.contacts_known = False
            for t in range(self.loop.n_threads):
                clear_contacts(self.loop.contacts + t)
        else:
            self.sort_with_lists(new, memory)
        self.next_sort = next_sort

    cdef object release_lists(self):
        """Free contacts and candidates; they are rebuilt before the next use."""
        cdef int t
        self.contacts_known = False
        drop_lists(&self.loop.broad)
        for t in range(self.loop.n_threads):
            release_contacts(self.loop.contacts + t)

    cdef object sort_with_lists(self, Reordering new, HistoryMemory memory):
        """The same where a slot gets another body, so that the lists must be allocated again."""
        body_force = self.body_force_of(new.layout.fixed)
        cdef double[:, :, ::1] rows = body_force
        cdef int t, n_threads = self.loop.n_threads, log_slab = log_slab_for(&new.view)
        cdef Broadphase broad, old = self.loop.broad
        cdef Contacts *contacts = <Contacts *> calloc(n_threads, sizeof(Contacts))
        memset(&broad, 0, sizeof(broad))
        if contacts == NULL or not create_lists(&broad, contacts, &new.view, n_threads, log_slab):
            free_lists(&broad, contacts, n_threads)
            free(contacts)
            raise MemoryError("no memory for the spatial sort of the clumps")
        carry_over_skins(&broad, &old)
        for t in range(n_threads):
            broad.shares[t].part = old.shares[t].part
            prepare_contacts(contacts + t, &self.loop.law, &new.view)
        broad.fixed_shares = old.fixed_shares
        add_wall_works(contacts, self.loop.contacts, n_threads)
        self.state.put(new)                             # nothing fails from here on
        self.memory = memory
        self.loop.contacts, contacts = contacts, self.loop.contacts
        self.take_view()
        self.loop.broad = broad
        self.body_force, self.loop.body_force = body_force, &rows[0, 0, 0]
        free_lists(&old, contacts, n_threads)
        free(contacts)

    def set_shares(self, shares, bint keep=True):
        """Set the fraction of the clumps of each thread from the next rebuild on. Results do not depend on it.

        keep : without load balance from here on.
        """
        cdef int t
        for t in range(self.loop.n_threads):
            self.loop.broad.shares[t].part = shares[t]
        self.loop.broad.fixed_shares = keep
        self.loop.broad.valid = False

    cdef object use_one_thread(self):
        """Replace a team of threads that OpenMP does not provide. Results do not depend on it."""
        cdef Broadphase old = self.loop.broad
        cdef Contacts works
        history, dissipated = self.history(), self.dissipated()
        memset(&works, 0, sizeof(works))
        add_wall_works(&works, self.loop.contacts, self.loop.n_threads)
        free_lists(&self.loop.broad, self.loop.contacts, self.loop.n_threads)
        free(self.loop.contacts)
        self.loop.contacts = NULL
        self.broken = "there was no memory for its lists"
        if self.memory is not None:
            self.memory = self.new_memory(self.state.layout, history, dissipated)
        self.allocate(1)
        add_wall_works(self.loop.contacts, &works, 1)
        self.broken = None
        carry_over_skins(&self.loop.broad, &old)
